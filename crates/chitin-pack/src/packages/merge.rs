//! Whole units replace whole units, never parts of them (rules P50, P51).
//!
//! A unit is all that one level has under one key: a skill's directory with all its files, one MCP server, one rule.

use crate::layer::LayerKind;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// All that one level has under one key.
#[derive(Debug, Clone, PartialEq)]
pub struct Unit<T> {
    /// The level that it comes from, counted from the lowest.
    pub level: usize,
    /// What it is replaced by.
    pub key: String,
    /// What belongs to it, in the order of its level.
    pub items: Vec<T>,
}

/// Merges levels, from the lowest to the highest. A unit that is replaced keeps its place among the others and takes the
/// level of its replacement.
pub fn merge<T>(levels: impl IntoIterator<Item = Vec<(String, T)>>) -> Vec<Unit<T>> {
    let mut units: Vec<Unit<T>> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for (level, items) in levels.into_iter().enumerate() {
        for (key, item) in items {
            if let Some(place) = places.get(&key) {
                let unit = &mut units[*place];
                if unit.level < level {
                    unit.level = level;
                    unit.items.clear();
                }
                unit.items.push(item);
            } else {
                places.insert(key.clone(), units.len());
                units.push(Unit {
                    level,
                    key,
                    items: vec![item],
                });
            }
        }
    }
    units
}

/// Puts rules in order: by level, then by priority, then by the bytes of the path, or of the id where there is no path.
pub fn in_rule_order<'r, T>(
    units: &'r [Unit<T>],
    facts: impl Fn(&'r T) -> (f64, &'r str),
) -> Vec<(usize, &'r T)> {
    let mut rules: Vec<_> = units
        .iter()
        .flat_map(|unit| unit.items.iter().map(|item| (unit.level, item)))
        .collect();
    rules.sort_by(|(left_level, left), (right_level, right)| {
        let ((left_priority, left_name), (right_priority, right_name)) =
            (facts(left), facts(right));
        left_level
            .cmp(right_level)
            .then(left_priority.total_cmp(&right_priority))
            .then_with(|| left_name.as_bytes().cmp(right_name.as_bytes()))
    });
    rules
}

/// Returns the member of a document layer that holds its units by name; `None` for layers that are not merged so.
pub const fn units_member(kind: LayerKind) -> Option<&'static str> {
    match kind {
        LayerKind::Mcp => Some("servers"),
        LayerKind::Subagents => Some("agents"),
        _ => None,
    }
}

/// Merges documents whose units are the members of one object, such as MCP servers. What else a document says is taken from
/// the highest one that says it.
pub fn merge_members<'d>(
    documents: impl IntoIterator<Item = &'d Value>,
    member: &str,
) -> Option<Value> {
    let mut merged: Option<Map<String, Value>> = None;
    for document in documents {
        let Value::Object(members) = document else {
            continue;
        };
        let merged = merged.get_or_insert_default();
        for (key, value) in members {
            match (merged.get_mut(key), value) {
                (Some(Value::Object(units)), Value::Object(more)) if key == member => {
                    units.extend(more.clone());
                }
                _ => {
                    merged.insert(key.clone(), value.clone());
                }
            }
        }
    }
    merged.map(Value::Object)
}

/// Merges declarations of secrets by their key.
pub fn merge_secrets(lists: impl IntoIterator<Item = Vec<Value>>) -> Vec<Value> {
    let units = merge(lists.into_iter().map(|list| keyed(list, "key")));
    units.into_iter().flat_map(|unit| unit.items).collect()
}

fn keyed(list: Vec<Value>, member: &str) -> Vec<(String, Value)> {
    list.into_iter()
        .map(|item| {
            let key = item.get(member).and_then(Value::as_str);
            (key.unwrap_or_default().to_owned(), item)
        })
        .collect()
}
