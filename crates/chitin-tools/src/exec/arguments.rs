//! Arguments of a call.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// Reads the arguments of a call, or says what is wrong with them in words for the model.
pub(crate) fn read<T: DeserializeOwned>(tool: &str, arguments: Value) -> Result<T, String> {
    serde_json::from_value(arguments)
        .map_err(|error| format!("The arguments of `{tool}` are invalid: {error}."))
}
