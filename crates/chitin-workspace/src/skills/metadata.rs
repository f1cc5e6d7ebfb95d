//! What a skill says about itself beyond name and description: the release's member of `metadata`, and the invocation flags.

use super::front_matter::SkillFrontMatter;
use super::install::InstallSpec;
use super::yaml_value::js_number;
use chitin_config::json5_depth;
use chitin_contract::SkillRules;
use chitin_protocol::text::trim_js;
use serde::Serialize;
use serde_json::{Map, Value};
use thiserror::Error;

/// Deeper than this no honest metadata goes.
const MAX_DEPTH: usize = 64;

/// The member of a skill's metadata that the release reads (S20, S21).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// Whether what it requires is not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub always: Option<bool>,
    /// A picture for menus.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub emoji: Option<String>,
    /// Where to read more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub homepage: Option<String>,
    /// The name of its entry in configuration, when it is not the skill's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skill_key: Option<String>,
    /// The variable that `apiKey` in configuration stands for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary_env: Option<String>,
    /// Operating systems it runs on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub os: Option<Vec<String>>,
    /// What it needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requires: Option<Requirements>,
    /// How to install what it needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub install: Option<Vec<InstallSpec>>,
}

/// Metadata that is not JSON5.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the metadata is not JSON5: {message}")]
pub struct MalformedMetadata {
    /// What the reader said.
    pub message: String,
}

/// What a skill needs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Requirements {
    /// Programs that must all be there.
    pub bins: Vec<String>,
    /// Programs of which one must be there.
    pub any_bins: Vec<String>,
    /// Variables that must be set.
    pub env: Vec<String>,
    /// Config paths that must hold something.
    pub config: Vec<String>,
}

/// Who may start a skill (S12).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Invocation {
    /// Whether it has a slash command.
    pub user_invocable: bool,
    /// Whether the model is not told of it.
    pub disable_model_invocation: bool,
}

impl Metadata {
    /// Reads the metadata of a front matter; `None` when there is none, or it is malformed.
    pub fn from_front_matter(front_matter: &SkillFrontMatter, rules: &SkillRules) -> Option<Self> {
        Self::read(front_matter, rules).ok().flatten()
    }

    /// Reads the metadata of a front matter, and tells no metadata from what is not JSON5.
    pub fn read(
        front_matter: &SkillFrontMatter,
        rules: &SkillRules,
    ) -> Result<Option<Self>, MalformedMetadata> {
        let Some(text) = front_matter.get("metadata").filter(|text| !text.is_empty()) else {
            return Ok(None);
        };
        if json5_depth(text) > MAX_DEPTH {
            return Err(MalformedMetadata {
                message: format!("it nests deeper than {MAX_DEPTH} levels"),
            });
        }
        let parsed: Value = json5::from_str(text).map_err(|error| MalformedMetadata {
            message: error.to_string(),
        })?;
        // The first member that can hold something is the one that counts.
        let mut members = rules.metadata_members.iter();
        Ok(members.find_map(|name| match parsed.get(name)? {
            Value::Object(member) => Some(Self::from_member(member, rules)),
            Value::Array(_) => Some(Self::default()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        }))
    }

    /// Reads the member itself.
    pub fn from_member(member: &Map<String, Value>, rules: &SkillRules) -> Self {
        let string = |name: &str| member.get(name).and_then(Value::as_str).map(str::to_owned);
        let os = string_list(member.get("os"));
        let install: Vec<_> = member
            .get("install")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(|entry| InstallSpec::from_value(entry, rules))
            .collect();
        Self {
            always: member.get("always").and_then(Value::as_bool),
            emoji: string("emoji"),
            homepage: string("homepage"),
            skill_key: string("skillKey"),
            primary_env: string("primaryEnv"),
            os: (!os.is_empty()).then_some(os),
            requires: member.get("requires").and_then(Requirements::from_value),
            install: (!install.is_empty()).then_some(install),
        }
    }
}

impl Requirements {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Object(fields) => Some(Self {
                bins: string_list(fields.get("bins")),
                any_bins: string_list(fields.get("anyBins")),
                env: string_list(fields.get("env")),
                config: string_list(fields.get("config")),
            }),
            Value::Array(_) => Some(Self::default()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        }
    }
}

impl Invocation {
    /// Reads the flags of a front matter.
    pub fn from_front_matter(front_matter: &SkillFrontMatter) -> Self {
        let flag = |key: &str, default: bool| {
            front_matter.get(key).map_or(default, |text| {
                match trim_js(text).to_lowercase().as_str() {
                    "true" | "1" | "yes" | "on" => true,
                    "false" | "0" | "no" | "off" => false,
                    _ => default,
                }
            })
        };
        Self {
            user_invocable: flag("user-invocable", true),
            disable_model_invocation: flag("disable-model-invocation", false),
        }
    }
}

/// Reads a list of strings: an array whose members are turned into text, or text with commas.
pub(super) fn string_list(value: Option<&Value>) -> Vec<String> {
    let keep = |text: &str| Some(trim_js(text).to_owned()).filter(|text| !text.is_empty());
    match value {
        Some(Value::Array(items)) => items
            .iter()
            .filter_map(|item| keep(&js_text(item)))
            .collect(),
        Some(Value::String(text)) => text.split(',').filter_map(keep).collect(),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => {
            Vec::new()
        }
    }
}

/// Turns a value into text as `String(value)` does.
pub(super) fn js_text(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.as_f64().map(js_number).unwrap_or_default(),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<_> = items
                .iter()
                .map(|item| match item {
                    Value::Null => String::new(),
                    other => js_text(other),
                })
                .collect();
            items.join(",")
        }
        Value::Object(_) => "[object Object]".to_owned(),
    }
}
