//! What a session may do in the tree of sessions (R31).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a session is in the tree of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SessionRole {
    /// Nobody began it but a user.
    Main,
    /// A child that may begin others.
    Orchestrator,
    /// A child that may not.
    Leaf,
}

/// Whom a session may steer and stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ControlScope {
    /// Its children.
    Children,
    /// Nobody.
    None,
}

/// What a session may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionCapabilities {
    /// How many sessions are above it.
    pub depth: u32,
    /// What it is.
    pub role: SessionRole,
    /// Whom it may steer and stop.
    pub control_scope: ControlScope,
    /// Whether it may begin others.
    pub can_spawn: bool,
    /// Whether it may steer and stop its children.
    pub can_control_children: bool,
}

impl SessionRole {
    /// Returns the role at a depth.
    pub fn at(depth: u32, max_depth: u32) -> Self {
        match depth {
            0 => Self::Main,
            depth if depth < max_depth.max(1) => Self::Orchestrator,
            _ => Self::Leaf,
        }
    }

    /// Returns whom a session of this role may steer and stop.
    pub const fn control_scope(self) -> ControlScope {
        match self {
            Self::Main | Self::Orchestrator => ControlScope::Children,
            Self::Leaf => ControlScope::None,
        }
    }
}

impl SessionCapabilities {
    /// Returns what a session at a depth may do.
    pub fn at(depth: u32, max_depth: u32) -> Self {
        let role = SessionRole::at(depth, max_depth);
        let control_scope = role.control_scope();
        Self {
            depth,
            role,
            control_scope,
            can_spawn: role != SessionRole::Leaf,
            can_control_children: control_scope == ControlScope::Children,
        }
    }
}
