//! The runtimes that an artifact can be made for, and what each of them can hold (rules P12, P33, P80).

mod detect;
mod openclaw;
mod table;

pub use detect::{Detected, DetectedFile, DetectedKind, DetectedScope, detect};
pub use openclaw::{OpenClawOptions, PRESETS, openclaw};
pub use table::{ADAPTER_VERSION, Adapter, AdapterTarget, Support, TargetKind, adapter, all};

use crate::error::{ErrorClass, PackError};
use crate::warning::PackWarning;
use serde_json::{Map, Value, json};

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

/// Options that a definition cannot preset, and why.
const OTHERS: [(&str, &str); 1] = [(
    "workspaceRoot",
    "the directory is chosen when the artifact is laid out",
)];

/// A warning: a member of the adapter is not used.
const ADAPTER_OPTION_UNKNOWN: &str = "ADAPTER_OPTION_UNKNOWN";

/// Completes what a definition says of its adapter. `{"use": name, "options": {…}}` is that adapter with its defaults, and
/// options may stand beside `use` as well; anything else is taken as it stands, without the members that no config holds.
/// What is not used is said.
pub fn expand(value: &Value) -> Result<(Value, Vec<PackWarning>), PackError> {
    let Value::Object(members) = value else {
        return Err(PackError::new(
            ErrorClass::MissingAdapter,
            "the adapter is not a JSON object",
        ));
    };
    if let Some(named) = members.get("use") {
        return named_adapter(named.as_str().unwrap_or_default(), members);
    }
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
    let is_kept = |name: &str| KEPT.contains(&name);
    let others: Map<String, Value> = members
        .iter()
        .filter(|(name, _)| !is_kept(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let options = OpenClawOptions::parse(&Value::Object(others))?;
    let mut kept: Map<String, Value> = members
        .iter()
        .filter(|(name, value)| is_kept(name) && !value.is_null())
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let presets = options.presets.iter().chain(
        options
            .workspace
            .is_some()
            .then(|| members.get_key_value("workspace"))
            .flatten(),
    );
    for (name, value) in presets {
        if let Value::Object(config) = kept.entry("config").or_insert_with(|| json!({})) {
            config.insert(name.clone(), value.clone());
        }
    }
    Ok((Value::Object(kept), unknown(&options)))
}

fn named_adapter(
    name: &str,
    members: &Map<String, Value>,
) -> Result<(Value, Vec<PackWarning>), PackError> {
    let Some(known) = adapter(name) else {
        let message = format!("`{}` is not a known adapter", name.escape_debug());
        let names = all().iter().map(|known| known.name);
        return Err(PackError::new(ErrorClass::UnsupportedAdapter, message)
            .about(names.clone())
            .hint(format!(
                "use one of: {}",
                names.collect::<Vec<_>>().join(", ")
            )));
    };
    let mut given = match members.get("options") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(options)) => options.clone(),
        Some(other) => return OpenClawOptions::parse(other).map(|_| (Value::Null, Vec::new())),
    };
    for (name, value) in members {
        if !matches!(name.as_str(), "use" | "options") && !given.contains_key(name) {
            given.insert(name.clone(), value.clone());
        }
    }
    let options = OpenClawOptions::parse(&Value::Object(given))?;
    Ok((known.config(&options), unknown(&options)))
}

/// Says which names were not understood, and what was perhaps meant.
fn unknown(options: &OpenClawOptions) -> Vec<PackWarning> {
    const KNOWN: [&str; 4] = ["model", "modelParams", "workspace", "config"];
    let warning = |name: &String| {
        let reason = OTHERS.iter().find(|(known, _)| known == name);
        let reason = if let Some((_, reason)) = reason {
            (*reason).to_owned()
        } else {
            let known = KNOWN.into_iter().chain(PRESETS);
            match chitin_protocol::nearest::nearest(name, known) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "nothing here knows it".to_owned(),
            }
        };
        let message = format!("`adapter.{}` is not used: {reason}", name.escape_debug());
        PackWarning::new(ADAPTER_OPTION_UNKNOWN, message)
    };
    options.unknown.iter().map(warning).collect()
}
