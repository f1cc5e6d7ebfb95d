//! What came of the layers, and why.

use super::layers::PolicyLayerKind;
use chitin_contract::ToolAlias;
use chitin_protocol::nearest::nearest;
use std::collections::BTreeMap;

/// Which tools a run has, and why it lacks the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolVerdict {
    /// Every tool that takes part, in catalogue order.
    pub known: Vec<String>,
    /// The tools that may be used, in catalogue order.
    pub allowed: Vec<String>,
    /// For every other tool, what took it away.
    pub removed: BTreeMap<String, ToolRemoval>,
    /// Entries of allow lists that name nothing that there is.
    pub unknown: Vec<UnknownEntry>,
    pub(super) aliases: &'static [ToolAlias],
}

/// What took a tool away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolRemoval {
    /// The layer.
    pub layer: PolicyLayerKind,
    /// Where the configuration says it, such as `tools.profile (coding)`.
    pub path: String,
    /// Why.
    pub reason: RemovalReason,
}

/// Why a layer took a tool away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RemovalReason {
    /// An entry of the deny list.
    Denied {
        /// The entry, as it was written.
        entry: String,
    },
    /// There is an allow list, and the tool is not on it.
    NotAllowed,
}

/// An entry of an allow list that names nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownEntry {
    /// Where it stands.
    pub path: String,
    /// The entry, as it was written.
    pub entry: String,
    /// What was probably meant.
    pub nearest: Option<String>,
}

impl ToolVerdict {
    /// Tells whether a tool may be used.
    pub fn allows(&self, name: &str) -> bool {
        self.allowed.iter().any(|allowed| allowed == name)
    }

    /// Says in a sentence or two whether a tool may be used and, if not, what took it away.
    pub fn explain(&self, name: &str) -> String {
        let written = name.trim().to_lowercase();
        let alias = self.aliases.iter().find(|alias| alias.alias == written);
        let name = alias.map_or(written.as_str(), |alias| alias.tool);
        if self.allows(name) {
            return format!("`{name}` is allowed.");
        }
        let Some(removal) = self.removed.get(name) else {
            let hint = nearest(name, self.known.iter().map(String::as_str))
                .map(|near| format!(" Did you mean `{near}`?"))
                .unwrap_or_default();
            return format!("There is no tool `{name}`.{hint}");
        };
        removal.explain(name)
    }
}

impl ToolRemoval {
    /// Says what took the tool away, and what would give it back.
    pub fn explain(&self, name: &str) -> String {
        let path = &self.path;
        let why = match (&self.reason, self.layer) {
            (_, PolicyLayerKind::Owner) => {
                return format!("`{name}` is not allowed: only the owner can use it.");
            }
            (_, PolicyLayerKind::Guest) => {
                return format!(
                    "`{name}` is not allowed: this turn answers a guest, and guests do not have it. The owner can allow it by \
                     name in `{path}`."
                );
            }
            (_, PolicyLayerKind::Subagent) => {
                return format!("`{name}` is not allowed: subagents do not have it.");
            }
            (RemovalReason::Denied { entry }, _) => format!("`{path}` denies `{entry}`"),
            (RemovalReason::NotAllowed, _) => format!("`{path}` does not include it"),
        };
        let remedy = match (&self.reason, self.layer) {
            (RemovalReason::NotAllowed, PolicyLayerKind::Profile) => {
                format!(" Add `{name}` to `tools.alsoAllow` to use it with this profile.")
            }
            (RemovalReason::NotAllowed, PolicyLayerKind::ProviderProfile) => {
                format!(
                    " Add `{name}` to `alsoAllow` of the same provider to use it with this profile."
                )
            }
            _ => String::new(),
        };
        format!("`{name}` is not allowed: {why}.{remedy}")
    }
}
