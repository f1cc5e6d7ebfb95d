//! The list of agents, read as the map that replaced it.
//!
//! 2026.9 knows `agents.entries`, a map by id, and still takes a well-formed `agents.list`: it moves each entry under its
//! id before it looks at anything. So findings about an entry stand below `agents.entries`, wherever the user wrote it.

use super::scan::Step;
use super::validate::Finding;
use serde_json::{Map, Value};
use std::collections::HashSet;

/// A configuration whose list was moved, and the ids in the order of the list.
pub(super) struct Moved {
    pub(super) value: Value,
    ids: Vec<String>,
}

/// Moves a list whose entries all have an id of their own; gives nothing when there is no such list. A map beside it is preferred.
pub(super) fn list_to_entries(config: &Value) -> Option<Moved> {
    let agents = config.get("agents")?.as_object()?;
    let list = agents.get("list")?.as_array()?;
    if agents.contains_key("entries") {
        let mut value = config.clone();
        value
            .get_mut("agents")?
            .as_object_mut()?
            .shift_remove("list");
        return Some(Moved {
            value,
            ids: Vec::new(),
        });
    }
    let mut ids = Vec::with_capacity(list.len());
    let mut entries = Map::with_capacity(list.len());
    for entry in list {
        let mut entry = entry.as_object()?.clone();
        let Some(Value::String(id)) = entry.shift_remove("id") else {
            return None;
        };
        if entries.contains_key(&id) {
            return None;
        }
        ids.push(id.clone());
        entries.insert(id, Value::Object(entry));
    }
    let mut value = config.clone();
    let agents = value.get_mut("agents")?.as_object_mut()?;
    agents.shift_remove("list");
    agents.insert("entries".to_owned(), Value::Object(entries));
    Some(Moved { value, ids })
}

/// Says what is wrong with a list that could not be moved; that its key is unknown would not help anybody.
pub(super) fn explain_unmoved(finding: &mut Finding) {
    let in_agents = matches!(finding.path.as_slice(), [Step::Key(key)] if key == "agents");
    if in_agents && finding.unknown_keys.iter().any(|key| key == "list") {
        "`list` has to be a list of objects, each with an `id` of its own."
            .clone_into(&mut finding.message);
        finding.hint = Some("`entries`, a map by id, is the newer spelling".to_owned());
    }
}

/// Finds the second of two agents with the same id: as entries of a map they would be one.
pub(super) fn find_repeated(config: &Value) -> Option<Finding> {
    let agents = config.get("agents")?.as_object()?;
    if agents.contains_key("entries") {
        return None;
    }
    let mut known = HashSet::new();
    for (index, entry) in agents.get("list")?.as_array()?.iter().enumerate() {
        let Some(id) = entry["id"].as_str() else {
            continue;
        };
        if known.insert(id) {
            continue;
        }
        let key = |name: &str| Step::Key(name.to_owned());
        let path = [key("agents"), key("entries")];
        let mut finding = Finding::soft(&path, format!("Two agents have the id `{id}`."));
        finding.point = Some(vec![
            key("agents"),
            key("list"),
            Step::Index(index),
            key("id"),
        ]);
        finding.hint = Some("give each agent an id of its own".to_owned());
        return Some(finding);
    }
    None
}

impl Moved {
    /// Points a finding about a moved entry at the place where the user wrote it.
    pub(super) fn point_back(&self, finding: &mut Finding) {
        if let [Step::Key(agents), Step::Key(entries)] = finding.pointed()
            && (agents.as_str(), entries.as_str()) == ("agents", "entries")
            && !self.ids.is_empty()
        {
            let list = ["agents", "list"].map(|key| Step::Key(key.to_owned()));
            finding.point = Some(list.to_vec());
            return;
        }
        let written = {
            let [
                Step::Key(agents),
                Step::Key(entries),
                Step::Key(id),
                rest @ ..,
            ] = finding.pointed()
            else {
                return;
            };
            let index = self.ids.iter().position(|known| known == id);
            let (true, Some(index)) = (agents == "agents" && entries == "entries", index) else {
                return;
            };
            let start = [
                Step::Key("agents".to_owned()),
                Step::Key("list".to_owned()),
                Step::Index(index),
            ];
            [start.as_slice(), rest].concat()
        };
        finding.point = Some(written);
    }
}
