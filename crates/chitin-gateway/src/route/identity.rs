//! Who is the same person on several channels (R8), found without a walk through all of them.

use chitin_protocol::session_key::IdentityLinks;
use chitin_protocol::text::trim_js;
use serde_json::Value;
use std::collections::HashMap;

/// The names of people by the ids under which channels know them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PeopleById {
    /// Id in lower case, with or without its channel → the place of the name in the configuration, and the name.
    names: HashMap<String, (usize, String)>,
}

impl PeopleById {
    /// Reads `session.identityLinks`.
    pub(super) fn read(links: &Value) -> Self {
        let mut names = HashMap::new();
        for (place, (name, ids)) in links.as_object().into_iter().flatten().enumerate() {
            let name = trim_js(name).to_lowercase();
            if name.is_empty() {
                continue;
            }
            for id in ids.as_array().into_iter().flatten() {
                let id = id.as_str().map(|id| trim_js(id).to_lowercase());
                if let Some(id) = id.filter(|id| !id.is_empty()) {
                    // The first one who claims an id has it.
                    names.entry(id).or_insert_with(|| (place, name.clone()));
                }
            }
        }
        Self { names }
    }

    /// Returns the links that matter to one person: none or one.
    pub(super) fn links(&self, channel: &str, id: &str) -> IdentityLinks {
        let id = trim_js(id).to_lowercase();
        if id.is_empty() || self.names.is_empty() {
            return IdentityLinks::new();
        }
        let bare = self.names.get(&id);
        let scoped = self
            .names
            .get(&format!("{channel}:{id}"))
            .filter(|_| !channel.is_empty());
        let first = match (bare, scoped) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        first
            .map(|(_, name)| (name.clone(), vec![id]))
            .into_iter()
            .collect()
    }
}
