//! The adapter that artifacts of ours are made for.

use super::table::adapter;
use crate::error::{ErrorClass, PackError};
use serde_json::{Map, Value};

/// Options of the one who lays the artifact out, which a definition may preset (rule P33). They travel in the adapter's
/// `config`, where other tools look for hints only.
pub const PRESETS: [&str; 5] = [
    "exact",
    "writeSkills",
    "writeMemory",
    "writeBootstrap",
    "strictMissingSurfaces",
];

/// What a definition may set.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OpenClawOptions {
    /// The model that the agent was made for.
    pub model: Option<String>,
    /// Settings of that model.
    pub model_params: Option<Value>,
    /// The workspace's directory.
    pub workspace: Option<String>,
    /// Hints for the runtime.
    pub config: Map<String, Value>,
    /// Options of the one who lays the artifact out, by name.
    pub presets: Map<String, Value>,
    /// Names that nothing here knows, sorted.
    pub unknown: Vec<String>,
}

impl OpenClawOptions {
    /// Reads options.
    pub fn parse(value: &Value) -> Result<Self, PackError> {
        let Value::Object(given) = value else {
            return Err(wrong("options"));
        };
        let mut options = Self::default();
        for (name, value) in given.iter().filter(|(_, value)| !value.is_null()) {
            let text = || value.as_str().map(str::to_owned).ok_or_else(|| wrong(name));
            let object = || value.as_object().cloned().ok_or_else(|| wrong(name));
            match name.as_str() {
                "model" => options.model = Some(text()?),
                "modelParams" => options.model_params = Some(Value::Object(object()?)),
                "workspace" => options.workspace = Some(text()?),
                "config" => options.config = object()?,
                preset if PRESETS.contains(&preset) => {
                    value.as_bool().ok_or_else(|| wrong(name))?;
                    options.presets.insert(name.clone(), value.clone());
                }
                _ => options.unknown.push(name.clone()),
            }
        }
        options.unknown.sort_unstable();
        Ok(options)
    }
}

fn wrong(name: &str) -> PackError {
    let message = format!("the adapter's option `{name}` has the wrong type");
    PackError::new(ErrorClass::InvalidField, message)
}

/// Returns the OpenClaw adapter's object in a config (rule P33).
pub fn openclaw(options: &OpenClawOptions) -> Value {
    adapter("openclaw").map_or(Value::Null, |known| known.config(options))
}
