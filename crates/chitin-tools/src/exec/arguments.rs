//! Arguments of a tool: types in, schema and values out.

use chitin_protocol::tool::ToolSpec;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Makes what the model is told from a type.
pub(crate) fn schema<T: JsonSchema>(name: &str, description: &str) -> ToolSpec {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut parameters = settings.into_generator().into_root_schema_for::<T>();
    parameters.remove("title");
    parameters.remove("description");
    ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters: parameters.to_value(),
    }
}

/// Reads the arguments of a call, or says what is wrong with them in words for the model.
pub(crate) fn read<T: DeserializeOwned>(tool: &str, arguments: Value) -> Result<T, String> {
    serde_json::from_value(arguments)
        .map_err(|error| format!("The arguments of `{tool}` are not right: {error}."))
}
