//! One policy: deny first, then allow (R63).

use super::layers::PolicyLayer;
use super::profile::group;
use super::verdict::{RemovalReason, UnknownEntry};
use super::{COMPANIONS, COMPANIONS_OF};
use chitin_contract::{ToolRules, WriteCoversPatch};
use chitin_protocol::nearest::nearest;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Stands for every tool that a plugin brings.
const PLUGINS_GROUP: &str = "group:plugins";

/// An allow list and a deny list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolPolicy {
    /// Only these; absent or empty means all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow: Option<Vec<String>>,
    /// None of these, whatever is allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deny: Option<Vec<String>>,
}

/// Returns a tool's name as policies compare it: trimmed, in lower case, aliases resolved.
pub fn normalize_name(rules: &ToolRules, name: &str) -> String {
    let name = name.trim().to_lowercase();
    rules
        .aliases
        .iter()
        .find(|alias| alias.alias == name)
        .map_or(name, |alias| alias.tool.to_owned())
}

/// The names that take part.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Every tool, in order.
    pub(super) start: Vec<String>,
    /// The tools of each plugin.
    pub(super) plugins: BTreeMap<String, Vec<String>>,
    /// The tools of all plugins, in order.
    pub(super) plugin_tools: Vec<String>,
}

/// An entry of a list, and what it stands for.
#[derive(Debug)]
struct Entry {
    /// As it was written.
    written: String,
    /// Names and patterns.
    patterns: Vec<String>,
}

/// A policy ready to judge names.
pub(super) struct Matcher<'a> {
    rules: &'a ToolRules,
    names: &'a Names,
    allow: Vec<Entry>,
    deny: Vec<Entry>,
}

impl<'a> Matcher<'a> {
    pub(super) fn new(rules: &'a ToolRules, names: &'a Names, policy: &ToolPolicy) -> Self {
        let expand = |list: &Option<Vec<String>>| {
            list.iter()
                .flatten()
                .map(|written| expand(rules, names, written))
                .filter(|entry| !entry.patterns.is_empty())
                .collect()
        };
        Self {
            rules,
            names,
            allow: expand(&policy.allow),
            deny: expand(&policy.deny),
        }
    }

    /// Says why a tool may not be used; `None` when it may.
    pub(super) fn judge(&self, tool: &str) -> Option<RemovalReason> {
        let name = normalize_name(self.rules, tool);
        let covers = |entries: &[Entry], covered_by: Option<&str>| {
            entries
                .iter()
                .find(|entry| entry.covers(&name) || covered_by.is_some_and(|by| entry.covers(by)))
                .map(|entry| entry.written.clone())
        };
        let companion = COMPANIONS
            .contains(&name.as_str())
            .then_some(COMPANIONS_OF)
            .filter(|_| !self.names.plugin_tools.contains(&name));
        let patch = (name == "apply_patch").then_some("write");
        let denying = match self.rules.write_covers_patch {
            WriteCoversPatch::AllowAndDeny => patch.or(companion),
            WriteCoversPatch::AllowOnly => companion,
        };
        if let Some(entry) = covers(&self.deny, denying) {
            return Some(RemovalReason::Denied { entry });
        }
        let allowed = self.allow.is_empty() || covers(&self.allow, patch.or(companion)).is_some();
        (!allowed).then_some(RemovalReason::NotAllowed)
    }

    /// Finds entries of the allow list that name nothing that there is.
    pub(super) fn unknown(&self, layer: &PolicyLayer) -> Vec<UnknownEntry> {
        let names: Vec<String> = self
            .names
            .start
            .iter()
            .map(|name| normalize_name(self.rules, name))
            .collect();
        self.allow
            .iter()
            .filter(|entry| !layer.built_in.contains(&entry.written))
            .filter(|entry| !names.iter().any(|name| entry.covers(name)))
            .map(|entry| UnknownEntry {
                path: layer.path_of(&RemovalReason::NotAllowed),
                entry: entry.written.clone(),
                nearest: nearest(entry.written.trim(), names.iter().map(String::as_str))
                    .map(str::to_owned),
            })
            .collect()
    }
}

impl Entry {
    fn covers(&self, name: &str) -> bool {
        self.patterns.iter().any(|pattern| matches(pattern, name))
    }
}

/// Replaces the id of a plugin, and then a group, by the tools that it stands for.
fn expand(rules: &ToolRules, names: &Names, written: &str) -> Entry {
    let entry = normalize_name(rules, written);
    let from_plugins = match entry.as_str() {
        PLUGINS_GROUP if !names.plugin_tools.is_empty() => names.plugin_tools.clone(),
        _ => match names.plugins.get(&entry) {
            Some(tools) if !tools.is_empty() => tools.clone(),
            _ => vec![entry],
        },
    };
    let mut patterns = Vec::new();
    for pattern in from_plugins {
        match group(rules, &pattern) {
            Some(tools) => patterns.extend(tools.into_iter().map(str::to_owned)),
            None if pattern.is_empty() => {}
            None => patterns.push(pattern),
        }
    }
    Entry {
        written: written.to_owned(),
        patterns,
    }
}

/// Matches a name against a pattern in which `*` stands for any run of characters.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    let mut pieces: Vec<&str> = pieces.collect();
    let Some(last) = pieces.pop() else {
        return rest.is_empty();
    };
    for piece in pieces {
        match rest.find(piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_stands_for_any_run() {
        assert!(matches("*", "") && matches("*", "read"));
        assert!(matches("sessions_*", "sessions_list") && !matches("sessions_*", "session_status"));
        assert!(matches("*_generate", "image_generate") && !matches("*_generate", "generate"));
        assert!(matches("a*b*c", "aXbYc") && !matches("a*b*c", "acb"));
        assert!(!matches("aa*aa", "aaa") && matches("aa*aa", "aaaa"));
        assert!(matches("read", "read") && !matches("read", "reads"));
    }
}
