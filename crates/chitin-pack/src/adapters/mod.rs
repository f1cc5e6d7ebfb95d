//! The runtimes that an artifact can be made for, and what each of them can hold (rules P12, P33, P80).

mod detect;
mod openclaw;
mod table;

pub use detect::{Detected, detect};
pub use openclaw::{OpenClawOptions, openclaw};
pub use table::{ADAPTER_VERSION, Adapter, Support, Target, TargetKind, adapter, all};

use crate::error::{ErrorClass, PackError};
use serde_json::{Map, Value};

/// What an adapter's object keeps (rule P12). Everything else in it belongs to the reader.
const KEPT: [&str; 11] = [
    "type",
    "runtime",
    "adapterVersion",
    "model",
    "modelParams",
    "importMode",
    "fidelity",
    "config",
    "features",
    "targets",
    "runtimeVersionRange",
];

/// Completes what a definition says of its adapter: `{"use": name, "options": {…}}` is that adapter with its defaults,
/// anything else is taken as it stands, without the members that no config holds.
pub fn expand(value: &Value) -> Result<Value, PackError> {
    if let Some(named) = value.get("use") {
        let name = named.as_str().unwrap_or_default();
        let Some(known) = adapter(name) else {
            let message = format!("`{}` is no adapter that is known here", name.escape_debug());
            let names = all().iter().map(|known| known.name);
            return Err(PackError::new(ErrorClass::UnsupportedAdapter, message)
                .about(names.clone())
                .hint(format!(
                    "use one of: {}",
                    names.collect::<Vec<_>>().join(", ")
                )));
        };
        let nothing = Value::Object(Map::new());
        let options = value.get("options").unwrap_or(&nothing);
        return Ok(known.config(&OpenClawOptions::parse(options)?));
    }
    let Value::Object(members) = value else {
        return Err(PackError::new(
            ErrorClass::MissingAdapter,
            "the adapter is not a JSON object",
        ));
    };
    for needed in ["type", "runtime", "adapterVersion"] {
        match members.get(needed) {
            Some(Value::String(text)) if !text.is_empty() => {}
            _ => {
                let message = format!("the adapter does not say its `{needed}`");
                return Err(PackError::new(ErrorClass::InvalidField, message)
                    .hint("write `\"adapter\": { \"use\": \"openclaw\" }` for the usual one"));
            }
        }
    }
    let kept = members
        .iter()
        .filter(|(name, value)| KEPT.contains(&name.as_str()) && !value.is_null());
    Ok(Value::Object(
        kept.map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
    ))
}
