//! What the one who lays out may choose (rule P33).

use crate::adapters::PRESETS;
use crate::artifact::Artifact;
use crate::compat::PRESET;
use crate::error::{ErrorClass, PackError};
use crate::warning::PackWarning;
use serde_json::{Map, Value};

/// How true to the bytes the result must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayoutMode {
    /// Surfaces as they are; nothing is merged or made up.
    Exact,
    /// Prompt, rules and persona find a place in the files.
    Permissive,
}

/// What an absent surface means (rule P39).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingSurfaces {
    /// A warning each.
    Warn,
    /// Failure, with all of them named.
    Refuse,
}

/// Whether a part is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteLayer {
    /// It is.
    Yes,
    /// It is left where it is.
    No,
}

/// How much of an agent a layout keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayoutFidelity {
    /// All that the target has a place for: Chitin's own layers are laid out, the persona is composed into the file that the
    /// runtime reads, skills stand where it finds them, and `BOOTSTRAP.md` is optional.
    Whole,
    /// What `stax` itself writes, file by file (rules P34–P39, P80).
    Stax,
}

/// The adapter's options.
#[derive(Debug, Clone, PartialEq)]
pub struct LayoutOptions {
    /// How much of the agent is kept.
    pub layout: LayoutFidelity,
    /// The adapter; without a name the artifact's own.
    pub adapter: Option<String>,
    /// The mode; without one the adapter's own: exact for OpenClaw, permissive for all others.
    pub mode: Option<LayoutMode>,
    /// Whether skills are written.
    pub skills: WriteLayer,
    /// Whether memory is written.
    pub memory: WriteLayer,
    /// Whether `BOOTSTRAP.md` is written and expected.
    pub bootstrap: WriteLayer,
    /// What absent surfaces mean.
    pub missing: MissingSurfaces,
    /// The model, for layouts that have a place for it.
    pub model: Option<String>,
    /// The model's parameters, for layouts that have a place for them.
    pub model_params: Map<String, Value>,
    /// Hints for the adapter, such as `memoryFile`.
    pub config: Map<String, Value>,
}

impl Default for LayoutOptions {
    fn default() -> Self {
        Self {
            layout: LayoutFidelity::Whole,
            adapter: None,
            mode: None,
            skills: WriteLayer::Yes,
            memory: WriteLayer::Yes,
            bootstrap: WriteLayer::Yes,
            missing: MissingSurfaces::Warn,
            model: None,
            model_params: Map::new(),
            config: Map::new(),
        }
    }
}

impl LayoutOptions {
    /// Returns the options that an artifact's maker preset, for a layout by the named adapter or, without a name, by the
    /// artifact's own. What is about exactness holds for its own adapter only. With them comes what to tell the user.
    pub fn preset(
        artifact: &Artifact,
        adapter: Option<&str>,
    ) -> Result<(Self, Vec<PackWarning>), PackError> {
        let made_for = &artifact.config["adapter"];
        let is_own = adapter.is_none_or(|name| made_for["type"] == name);
        let nothing = Map::new();
        let config = made_for["config"].as_object().unwrap_or(&nothing);
        let mut given = Map::new();
        for (name, value) in config {
            let is_about_layers = matches!(name.as_str(), "writeSkills" | "writeMemory");
            if PRESETS.contains(&name.as_str()) && (is_own || is_about_layers) {
                given.insert(name.clone(), value.clone());
            }
        }
        let says = |(name, value): (&String, &Value)| {
            let message = format!("the artifact's maker set `{name}` to `{value}`");
            PackWarning::new(PRESET, message)
        };
        let warnings = given.iter().map(says).collect();
        for name in ["model", "modelParams"] {
            if let Some(value) = made_for.get(name).filter(|value| !value.is_null()) {
                given.insert(name.to_owned(), value.clone());
            }
        }
        given.insert("config".into(), Value::Object(config.clone()));
        let mut options = Self::from_json(&Value::Object(given))?;
        options.adapter = adapter.map(str::to_owned);
        Ok((options, warnings))
    }

    /// Reads the options as the contract spells them. Members that it does not know are passed over.
    pub fn from_json(value: &Value) -> Result<Self, PackError> {
        let mut options = Self::default();
        let Value::Object(members) = value else {
            return Err(wrong("the adapter's options are not an object"));
        };
        for (name, value) in members {
            let flag = || {
                value
                    .as_bool()
                    .ok_or_else(|| wrong(&format!("`{name}` is neither true nor false")))
            };
            let layer = || flag().map(|on| if on { WriteLayer::Yes } else { WriteLayer::No });
            let object = || {
                let found = value.as_object().cloned();
                found.ok_or_else(|| wrong(&format!("`{name}` is not an object")))
            };
            match name.as_str() {
                "exact" => {
                    options.mode = Some(if flag()? {
                        LayoutMode::Exact
                    } else {
                        LayoutMode::Permissive
                    });
                }
                "writeSkills" => options.skills = layer()?,
                "writeMemory" => options.memory = layer()?,
                "writeBootstrap" => options.bootstrap = layer()?,
                "strictMissingSurfaces" => {
                    options.missing = if flag()? {
                        MissingSurfaces::Refuse
                    } else {
                        MissingSurfaces::Warn
                    };
                }
                "model" => {
                    let model = value.as_str().map(str::to_owned);
                    options.model = Some(model.ok_or_else(|| wrong("`model` is not a text"))?);
                }
                "modelParams" => options.model_params = object()?,
                "config" => options.config = object()?,
                _ => {}
            }
        }
        Ok(options)
    }
}

fn wrong(message: &str) -> PackError {
    PackError::new(ErrorClass::InvalidField, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn options_are_read_as_the_contract_spells_them() {
        let read = LayoutOptions::from_json(&json!({
            "exact": false,
            "writeSkills": false,
            "strictMissingSurfaces": true,
            "config": { "memoryFile": "surfaces/memory.md" },
            "workspaceRoot": "/elsewhere",
        }));
        let expected = LayoutOptions {
            mode: Some(LayoutMode::Permissive),
            skills: WriteLayer::No,
            missing: MissingSurfaces::Refuse,
            config: Map::from_iter([("memoryFile".into(), json!("surfaces/memory.md"))]),
            ..LayoutOptions::default()
        };
        assert_eq!(read.unwrap(), expected);
        let error = LayoutOptions::from_json(&json!({ "exact": "yes" })).unwrap_err();
        assert_eq!(error.class(), ErrorClass::InvalidField);
    }
}
