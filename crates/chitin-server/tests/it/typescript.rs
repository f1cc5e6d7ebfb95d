//! The types of the OpenAPI document in TypeScript, for the page.

use serde_json::{Map, Value};
use std::fmt::Write as _;

const HEAD: &str = "// Made of docs/reference/openapi.json: `UPDATE_REFERENCE=1 cargo test -p chitin-server openapi`. Not edited by hand.\n";

/// Makes a type of every schema, and a table of what each operation takes and replies with.
pub(crate) fn types(document: &Value) -> String {
    let mut text = HEAD.to_owned();
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        text.push('\n');
        comment(&mut text, schema, "");
        if is_interface(schema) {
            let _ = writeln!(text, "export interface {name} {}", object(schema, ""));
        } else {
            let _ = writeln!(text, "export type {name} = {};", of(schema, ""));
        }
    }
    text.push_str("\n/** What each operation replies with when it succeeds. */\n");
    text.push_str("export interface Replies {\n");
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let method = method.to_uppercase();
            if let Some(reply) = reply(operation) {
                let _ = writeln!(text, "  \"{method} {path}\": {reply};");
            }
        }
    }
    text.push_str("}\n");
    text
}

/// Returns the type of the first reply in JSON that is no failure.
fn reply(operation: &Value) -> Option<String> {
    let replies = operation["responses"].as_object()?.iter();
    let mut good = replies.filter(|(status, _)| status.starts_with('2'));
    let types: Vec<String> = good
        .by_ref()
        .filter_map(|(_, reply)| reply.pointer("/content/application~1json/schema"))
        .map(|schema| of(schema, ""))
        .collect();
    (!types.is_empty()).then(|| types.join(" | "))
}

fn is_interface(schema: &Value) -> bool {
    let plain = ["oneOf", "anyOf", "allOf", "$ref"];
    schema["properties"].is_object() && plain.iter().all(|key| schema.get(key).is_none())
}

fn comment(text: &mut String, schema: &Value, indent: &str) {
    if let Some(words) = schema["description"].as_str() {
        let words = words.replace('\n', " ").replace("*/", "* /");
        let _ = writeln!(text, "{indent}/** {words} */");
    }
}

fn of(schema: &Value, indent: &str) -> String {
    let Some(fields) = schema.as_object() else {
        return "unknown".to_owned();
    };
    let mut parts = Vec::new();
    if let Some(name) = fields.get("$ref").and_then(Value::as_str) {
        parts.push(name.rsplit('/').next().unwrap_or_default().to_owned());
    }
    for key in ["oneOf", "anyOf"] {
        if let Some(Value::Array(choices)) = fields.get(key) {
            parts.push(union(choices, indent));
        }
    }
    if let Some(Value::Array(all)) = fields.get("allOf") {
        parts.extend(all.iter().map(|one| of(one, indent)));
    }
    if let Some(value) = fields.get("const") {
        parts.push(value.to_string());
    } else if let Some(Value::Array(values)) = fields.get("enum") {
        let values: Vec<String> = values.iter().map(Value::to_string).collect();
        parts.push(values.join(" | "));
    } else if let Some(kind) = fields.get("type")
        && (parts.is_empty() || fields.contains_key("properties"))
    {
        parts.push(by_kind(kind, schema, fields, indent));
    } else if fields.contains_key("properties") {
        parts.push(object(schema, indent));
    }
    match parts.len() {
        0 => "unknown".to_owned(),
        1 => parts.swap_remove(0),
        _ => {
            let parts: Vec<String> = parts.into_iter().map(grouped).collect();
            parts.join(" & ")
        }
    }
}

fn union(choices: &[Value], indent: &str) -> String {
    let mut types: Vec<String> = Vec::new();
    for choice in choices {
        let one = of(choice, indent);
        // Whatever later versions add would make all of it unknown.
        if !types.contains(&one) && one != "unknown" {
            types.push(one);
        }
    }
    if types.is_empty() {
        "unknown".to_owned()
    } else {
        types.join(" | ")
    }
}

/// Puts a union in parentheses.
fn grouped(text: String) -> String {
    if text.contains(" | ") || text.contains(" & ") {
        format!("({text})")
    } else {
        text
    }
}

fn by_kind(kind: &Value, schema: &Value, fields: &Map<String, Value>, indent: &str) -> String {
    if let Value::Array(kinds) = kind {
        let mut kinds: Vec<String> = kinds
            .iter()
            .map(|kind| by_kind(kind, schema, fields, indent))
            .collect();
        kinds.dedup();
        return kinds.join(" | ");
    }
    match kind.as_str().unwrap_or_default() {
        "string" => "string".to_owned(),
        "integer" | "number" => "number".to_owned(),
        "boolean" => "boolean".to_owned(),
        "null" => "null".to_owned(),
        "array" => match (fields.get("prefixItems"), fields.get("items")) {
            (_, Some(items)) if items.is_object() => format!("{}[]", grouped(of(items, indent))),
            _ => "unknown[]".to_owned(),
        },
        "object" => object(schema, indent),
        other => unreachable!("no type of JSON: {other}"),
    }
}

fn object(schema: &Value, indent: &str) -> String {
    let Some(properties) = schema["properties"].as_object() else {
        let values = match &schema["additionalProperties"] {
            Value::Object(_) => of(&schema["additionalProperties"], indent),
            _ => "unknown".to_owned(),
        };
        return format!("Record<string, {values}>");
    };
    let required: Vec<&str> = schema["required"]
        .as_array()
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let inner = format!("{indent}  ");
    let mut text = "{\n".to_owned();
    for (name, property) in properties {
        comment(&mut text, property, &inner);
        let mark = if required.contains(&name.as_str()) {
            ""
        } else {
            "?"
        };
        let _ = writeln!(text, "{inner}{name}{mark}: {};", of(property, &inner));
    }
    let _ = write!(text, "{indent}}}");
    text
}
