//! What is laid out: an agent alone, or together with its packages.

use crate::artifact::Artifact;
use crate::packages::Merged;

/// An agent and, where it builds on packages, what came of merging them.
#[derive(Debug, Clone, Copy)]
pub struct Contents<'a> {
    pub(super) agent: &'a Artifact,
    /// From the lowest precedence to the highest; the agent is the last.
    pub(super) sources: &'a [Artifact],
    pub(super) merged: Option<&'a Merged>,
}

impl<'a> From<&'a Artifact> for Contents<'a> {
    fn from(agent: &'a Artifact) -> Self {
        Self {
            agent,
            sources: std::slice::from_ref(agent),
            merged: None,
        }
    }
}

impl<'a> From<&'a Merged> for Contents<'a> {
    fn from(merged: &'a Merged) -> Self {
        Self {
            agent: merged.agent(),
            sources: merged.sources(),
            merged: Some(merged),
        }
    }
}
