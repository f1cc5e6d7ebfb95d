//! The adapter that artifacts of ours are made for.

use super::table::adapter;
use crate::error::{ErrorClass, PackError};
use serde_json::{Map, Value};

/// What a definition may set. Options of the reader (`exact`, `writeSkills` and the like) are not among them: they belong
/// to whoever lays the artifact out.
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
}

impl OpenClawOptions {
    /// Reads options. Those of the reader are passed over.
    pub fn parse(value: &Value) -> Result<Self, PackError> {
        let wrong = |name: &str| {
            let message = format!("the adapter's option `{name}` has the wrong type");
            PackError::new(ErrorClass::InvalidField, message)
        };
        if !value.is_object() {
            return Err(wrong("options"));
        }
        let text = |name: &str| match value.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(wrong(name)),
        };
        let object = |name: &str| match value.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Object(members)) => Ok(Some(members.clone())),
            Some(_) => Err(wrong(name)),
        };
        Ok(Self {
            model: text("model")?,
            model_params: object("modelParams")?.map(Value::Object),
            workspace: text("workspace")?,
            config: object("config")?.unwrap_or_default(),
        })
    }
}

/// Returns the OpenClaw adapter's object in a config (rule P33).
pub fn openclaw(options: &OpenClawOptions) -> Value {
    adapter("openclaw").map_or(Value::Null, |known| known.config(options))
}
