//! A definition that can be built.

use super::check::{DocumentKind, check, package_reference};
use super::field::{Members, given, members, wrong};
use crate::adapters;
use crate::error::{ErrorClass, PackError};
use crate::layer::{Format, LayerKind};
use crate::warning::PackWarning;
use serde_json::{Map, Value, json};

/// What a definition makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DefinitionKind {
    /// An agent.
    Agent,
    /// A package.
    Package,
}

/// Members of a definition that go into the config as they are, when they are given.
const CONFIG_MEMBERS: [&str; 6] = [
    "author",
    "license",
    "url",
    "tags",
    "hints",
    "workspaceSources",
];

/// The layers that a definition names a path for.
const PATH_MEMBERS: [LayerKind; 10] = [
    LayerKind::Knowledge,
    LayerKind::Rules,
    LayerKind::Skills,
    LayerKind::Mcp,
    LayerKind::InstructionTree,
    LayerKind::Surfaces,
    LayerKind::Prompt,
    LayerKind::Persona,
    LayerKind::Subagents,
    LayerKind::Memory,
];

/// A definition that follows the rules, taken apart for building.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// What it makes.
    pub kind: DefinitionKind,
    /// The name.
    pub name: String,
    /// The version.
    pub version: String,
    /// The config document, complete.
    pub config: Value,
    /// The paths that it names, in the order of the manifest's layers.
    pub paths: Vec<(LayerKind, String)>,
    /// The packages layer's entries.
    pub packages: Vec<Value>,
    /// Declarations of secrets.
    pub secrets: Vec<Value>,
    /// What of it is not used.
    pub warnings: Vec<PackWarning>,
}

/// Who an agent is that is packed straight from its workspace, without a definition.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PackIdentity {
    /// The name.
    pub name: String,
    /// The version.
    pub version: String,
    /// What it is for.
    pub description: String,
    /// The author.
    pub author: Option<String>,
    /// Under which licence.
    pub license: Option<String>,
    /// Where to read more.
    pub url: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// The model it was made for.
    pub model: Option<String>,
}

impl Definition {
    /// Reads a definition. A member `kind` says what it makes; without one it is an agent.
    pub fn parse(value: &Value) -> Result<Self, PackError> {
        let kind = match value.get("kind") {
            None | Some(Value::Null) => DefinitionKind::Agent,
            Some(Value::String(kind)) if kind == "agent" => DefinitionKind::Agent,
            Some(Value::String(kind)) if kind == "package" => DefinitionKind::Package,
            Some(_) => {
                return Err(wrong(
                    ErrorClass::InvalidEnum,
                    "`kind` is neither `agent` nor `package`",
                ));
            }
        };
        let document = match kind {
            DefinitionKind::Agent => DocumentKind::Agent,
            DefinitionKind::Package => DocumentKind::Package,
        };
        let complete = check(document, value)?;
        let members = members(&complete, "the definition")?;
        let word = |member: &str| {
            let text = given(members, member).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        let (config, warnings) = config(kind, members)?;
        Ok(Self {
            kind,
            name: word("name"),
            version: word("version"),
            config,
            warnings,
            paths: paths(members)?,
            packages: packages(members),
            secrets: secrets(members),
        })
    }

    /// Makes the definition of an agent whose layers come from its workspace.
    pub(crate) fn of_workspace(
        identity: &PackIdentity,
        adapter: &Value,
    ) -> Result<Self, PackError> {
        let mut value = json!({
            "name": identity.name,
            "version": identity.version,
            "description": identity.description,
            "adapter": adapter,
        });
        let optional = [
            ("author", &identity.author),
            ("license", &identity.license),
            ("url", &identity.url),
        ];
        for (member, text) in optional {
            if let Some(text) = text {
                value[member] = json!(text);
            }
        }
        if !identity.tags.is_empty() {
            value["tags"] = json!(identity.tags);
        }
        Self::parse(&value)
    }

    /// Returns the version of the contract that it follows.
    pub fn spec_version(&self) -> &str {
        self.config["specVersion"].as_str().unwrap_or_default()
    }

    /// Returns a text of the config, if it is there.
    pub fn config_text(&self, pointer: &str) -> Option<&str> {
        self.config.pointer(pointer).and_then(Value::as_str)
    }
}

fn config(
    kind: DefinitionKind,
    document: &Members,
) -> Result<(Value, Vec<PackWarning>), PackError> {
    let mut config = Map::new();
    let mut warnings = Vec::new();
    for member in ["specVersion", "name", "version", "description"] {
        config.insert(member.into(), document[member].clone());
    }
    let name = match kind {
        DefinitionKind::Agent => "agent",
        DefinitionKind::Package => "package",
    };
    config.insert("kind".into(), json!(name));
    for member in CONFIG_MEMBERS {
        if let Some(value) = given(document, member) {
            config.insert(member.into(), value.clone());
        }
    }
    if kind == DefinitionKind::Agent {
        let (adapter, unused) = adapters::expand(&document["adapter"])?;
        config.insert("adapter".into(), adapter);
        warnings.extend(unused);
        if let Some(Value::Array(fallback)) = given(document, "adapterFallback") {
            let mut expanded = Vec::new();
            for entry in fallback {
                let (adapter, unused) = adapters::expand(entry)?;
                expanded.push(adapter);
                warnings.extend(unused);
            }
            config.insert("adapterFallback".into(), Value::Array(expanded));
        }
    }
    Ok((without_nulls(Value::Object(config)), warnings))
}

/// Members that are unset are left out, never null (rule P12).
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(members) => members
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key, without_nulls(value)))
            .collect(),
        Value::Array(items) => items.into_iter().map(without_nulls).collect(),
        other => other,
    }
}

fn paths(document: &Members) -> Result<Vec<(LayerKind, String)>, PackError> {
    let mut paths = Vec::new();
    for kind in PATH_MEMBERS {
        match given(document, kind.name()) {
            None => {}
            Some(Value::String(path)) if !path.is_empty() => paths.push((kind, path.clone())),
            Some(_) => {
                let what = match kind.format() {
                    Format::Tar => "a directory",
                    Format::Json | Format::Raw => "a file",
                };
                let message = format!("`{}` does not name {what}", kind.name());
                return Err(wrong(ErrorClass::InvalidField, message));
            }
        }
    }
    Ok(paths)
}

fn packages(document: &Members) -> Vec<Value> {
    let listed = given(document, "packages").and_then(Value::as_array);
    listed
        .into_iter()
        .flatten()
        .map(|package| {
            let mut entry = json!({ "kind": "package", "ref": package_reference(package) });
            if let Some(digest) = package.get("digest").and_then(Value::as_str) {
                entry["digest"] = json!(digest);
            }
            entry
        })
        .collect()
}

fn secrets(document: &Members) -> Vec<Value> {
    let listed = given(document, "secrets").and_then(Value::as_array);
    listed
        .into_iter()
        .flatten()
        .cloned()
        .map(without_nulls)
        .collect()
}
