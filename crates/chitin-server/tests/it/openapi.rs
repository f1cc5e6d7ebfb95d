//! The committed OpenAPI document, and the page's types that are made of it, are those of the program.
//! `UPDATE_REFERENCE=1 cargo test -p chitin-server openapi` writes them anew.

use crate::client::Served;
use crate::stage::Setting;
use crate::typescript;
use chitin_server::openapi::openapi_document;
use chitin_server::operations::{OPERATIONS, Verb};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

const DOCUMENT: &str = "docs/reference/openapi.json";
const TYPES: &str = "web/src/api/schema.ts";

fn compare(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(name);
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == text,
        "{name} is out of date: run UPDATE_REFERENCE=1 cargo test -p chitin-server openapi"
    );
}

#[test]
fn the_committed_openapi_document_and_the_types_of_the_page_are_current() {
    let document = openapi_document();
    let text = serde_json::to_string_pretty(&document).unwrap() + "\n";
    compare(DOCUMENT, &text);
    compare(TYPES, &typescript::types(&document));
}

#[test]
fn the_openapi_document_has_every_operation_and_names_no_schema_that_is_not_there() {
    let document = openapi_document();
    let methods = document["paths"].as_object().unwrap().values();
    let methods = methods.map(|methods| methods.as_object().unwrap().len());
    assert_eq!(methods.sum::<usize>(), OPERATIONS.len());
    let mut named = BTreeSet::new();
    references(&document, &mut named);
    for name in &named {
        let schema = name.strip_prefix("#").map(|name| document.pointer(name));
        assert!(schema.flatten().is_some(), "{name}");
    }
    let schemas = document["components"]["schemas"].as_object().unwrap();
    for name in [
        "SocketCommand",
        "SocketMessage",
        "StreamEvent",
        "TurnEvent",
        "ErrorBody",
    ] {
        assert!(schemas.contains_key(name), "{name}");
    }
}

fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (key, field) in fields {
                match field {
                    Value::String(name) if key == "$ref" => drop(found.insert(name.clone())),
                    field => references(field, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}

#[tokio::test]
async fn the_server_serves_the_openapi_document_to_whoever_has_the_token() {
    let served = Served::new(Setting::replies(&[]));
    let plain = served.get("/openapi.json").await;
    assert_eq!(plain.status, 200);
    assert_eq!(plain.header("content-type"), Some("application/json"));
    assert!(plain.json() == openapi_document());
    let zipped = [("accept-encoding", "gzip")];
    let mut client = served.connect().await;
    let zipped = client.ask("GET", "/openapi.json", &zipped, "").await;
    assert_eq!(zipped.header("content-encoding"), Some("gzip"));
    assert!(zipped.bytes.len() < 64 << 10, "{}", zipped.bytes.len());
    let mut client = served.connect().await;
    let stranger = client.ask("GET", "/openapi.json", &[("authorization", "")], "");
    assert_eq!(stranger.await.problem(), "401 unauthorized");
}

#[tokio::test]
async fn every_operation_of_the_table_is_routed_and_refuses_other_methods() {
    let served = Served::new(Setting::replies(&[]));
    for operation in OPERATIONS {
        let path = operation.path.replace("{*model}", "chitin%2Fmain");
        let path = path.replace("{agent}", "main").replace("{key}", "main");
        let path = path.replace("{id}", "5f0c");
        let mut client = served.connect().await;
        let refused = client.ask("DELETE", &path, &[], "").await;
        assert_eq!(refused.problem(), "405 method_not_allowed", "{path}");
        let allowed = refused.header("allow").unwrap();
        for method in operation.verb.methods() {
            let mut methods = allowed.split(", ");
            assert!(methods.any(|one| one == *method), "{path}: {allowed}");
        }
        if operation.verb == Verb::Get {
            let answer = served.get(&path).await;
            let known = answer.status != 405 && answer.problem() != "404 not_found";
            let trace = path.starts_with("/api/traces/");
            assert!(known || trace, "{path}: {}", answer.body);
        }
    }
}
