//! A contract as rows for people: path, value, meaning. One table feeds text, JSON and the difference of two contracts.

use super::{Contract, constants};
use serde::Serialize;
use serde_json::Value;

/// One field of a contract.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The field, dotted, as it stands in JSON.
    pub path: String,
    /// Its value.
    pub value: Value,
    /// What the field means, from its documentation.
    pub meaning: String,
}

/// A field in which two contracts differ.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ContractDifference {
    /// The field.
    pub path: String,
    /// The value in the first contract.
    pub left: Value,
    /// The value in the second one.
    pub right: Value,
    /// What the field means.
    pub meaning: String,
}

/// Returns the fields of a contract in their order of declaration, and what is the same in every contract behind them.
pub fn describe(contract: &Contract) -> Vec<Row> {
    let schema = schemars::schema_for!(Contract).to_value();
    let value = serde_json::to_value(contract).unwrap_or_default();
    let mut rows = Vec::new();
    collect("", &value, &schema, &schema, &mut rows);
    constants::insert(&mut rows);
    rows
}

/// Returns the fields in which two contracts differ, their names and summaries aside.
pub fn differences(left: &Contract, right: &Contract) -> Vec<ContractDifference> {
    describe(left)
        .into_iter()
        .zip(describe(right))
        .filter(|(a, b)| a.value != b.value && a.path != "name" && a.path != "summary")
        .map(|(a, b)| ContractDifference {
            path: a.path,
            left: a.value,
            right: b.value,
            meaning: a.meaning,
        })
        .collect()
}

/// Walks objects; anything else is a value to show.
fn collect(path: &str, value: &Value, schema: &Value, whole: &Value, rows: &mut Vec<Row>) {
    let described = resolve(schema, whole);
    match (value, described.get("properties")) {
        (Value::Object(fields), Some(properties)) => {
            for (name, field) in fields {
                let below = if path.is_empty() {
                    name.clone()
                } else {
                    format!("{path}.{name}")
                };
                let null = Value::Null;
                collect(
                    &below,
                    field,
                    properties.get(name).unwrap_or(&null),
                    whole,
                    rows,
                );
            }
        }
        _ => rows.push(Row {
            path: path.to_owned(),
            value: value.clone(),
            meaning: meaning(schema),
        }),
    }
}

fn resolve<'a>(schema: &'a Value, whole: &'a Value) -> &'a Value {
    schema
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|reference| whole.pointer(reference.trim_start_matches('#')))
        .unwrap_or(schema)
}

fn meaning(schema: &Value) -> String {
    let text = schema
        .get("description")
        .and_then(Value::as_str)
        .unwrap_or_default();
    text.replace('\n', " ")
}
