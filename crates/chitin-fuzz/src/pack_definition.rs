//! Definitions of agents and their parts: JSON that somebody else wrote.

use crate::novelty;
use chitin_pack::definition::{Definition, DocumentKind, check, portable, secret_in};
use serde_json::Value;

/// What the rules look for.
pub const DICTIONARY: &[&str] = &[
    "\"name\":\"a\"",
    "\"version\":\"1.0.0\"",
    "\"version\":\"1.0.0-rc.1+b\"",
    "\"description\":\"x\"",
    "\"adapter\":{\"use\":\"openclaw\",\"options\":{}}",
    "\"adapterFallback\":[",
    "\"type\":\"t\",\"runtime\":\"r\",\"adapterVersion\":\"1.0.0\"",
    "\"kind\":\"package\"",
    "\"kind\":\"profile\",\"profileType\":\"openclaw\",\"openclaw\":{",
    "\"tags\":[\"a\",\"a\"]",
    "\"workspaceSources\":[{\"id\":\"s\",\"ref\":\"r\",\"mountPath\":\"/a\"}]",
    "\"packages\":[\"reg.example/p:1\"]",
    "\"secrets\":[{\"key\":\"K\",\"required\":true,\"kind\":\"api-key\"}]",
    "\"exposeAs\":{\"env\":\"K\"}",
    "\"value\":\"hush\"",
    "\"displayName\":\"A\",\"role\":\"r\"",
    "\"personality\":{\"verbosity\":\"max\"}",
    "\"voice\":{\"codeComments\":\"none\"}",
    "\"servers\":{\"s\":{\"enabledTools\":[\"a\"],\"disabledTools\":[\"a\"]}}",
    "\"agents\":{\"a\":{\"description\":\"d\",\"instructions\":\"i\"}}",
    "\"token\":\"x\"",
    "\"apiKey\":",
    "\"accessToken\":{",
    "\"persona\":\"./p.json\"",
    "\"skills\":\"../..\"",
    "\"specVersion\":\"1.0.0\"",
    "null",
    "[",
    "{",
    "}",
    "]",
    ",",
    "1e999",
    "\\u0000",
    "\\ud800",
    "\u{130}",
];

/// Judges a document by every kind, builds a definition from it, and takes the part that may travel.
pub fn run(data: &[u8]) {
    let Ok(value) = serde_json::from_slice::<Value>(data) else {
        return;
    };
    for kind in DocumentKind::ALL {
        match check(kind, &value) {
            Ok(complete) => {
                novelty::note(kind.name());
                assert!(complete["specVersion"].is_string());
                assert_eq!(check(kind, &complete).ok(), Some(complete));
            }
            Err(error) => {
                novelty::note(error.class().as_str());
                assert!(!error.to_string().is_empty());
            }
        }
    }
    if let Ok(definition) = Definition::parse(&value) {
        novelty::note("definition");
        assert!(!holds_null(&definition.config), "{}", definition.config);
        for secret in &definition.secrets {
            assert!(secret.get("value").is_none(), "{secret}");
        }
        assert!(definition.paths.is_sorted_by_key(|(kind, _)| *kind));
    }
    let kept = portable(&value);
    assert_eq!(secret_in(&kept), None, "{kept}");
}

fn holds_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        // A list keeps its places.
        Value::Array(items) => items.iter().any(|item| !item.is_null() && holds_null(item)),
        Value::Object(members) => members.values().any(holds_null),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
