//! The keys that each release knows: names, kinds and ranges, as data.
//!
//! Sets share most of their groups. Where the inside of a section is not known for a release it is left open: a false
//! error is worse than a missed one.

mod agents;
mod channels;
mod models;
pub(super) mod networks;
mod session;
mod system;
mod tools;

use super::shape::{Check, Field, Shape};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which keys a configuration may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum ConfigRules {
    /// Those of 2026.4.23, with the channels left open: 2026.2.9 spells many of their keys in an earlier way.
    #[serde(rename = "2026.2")]
    Keys2026_2,
    /// Those of 2026.4.23.
    #[serde(rename = "2026.4")]
    Keys2026_4,
    /// Those of 2026.9.6.
    #[serde(rename = "2026.9")]
    Keys2026_9,
}

impl ConfigRules {
    pub(super) const fn shape(self) -> &'static Shape {
        match self {
            Self::Keys2026_2 => &ROOT_2,
            Self::Keys2026_4 => &ROOT_4,
            Self::Keys2026_9 => &ROOT_9,
        }
    }

    pub(super) const fn agent_list(self) -> AgentList {
        match self {
            Self::Keys2026_2 | Self::Keys2026_4 => AgentList::Known,
            Self::Keys2026_9 => AgentList::Moved,
        }
    }
}

/// What `agents.list` means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AgentList {
    /// A key like any other.
    Known,
    /// An earlier spelling of `agents.entries`.
    Moved,
}

const ROOT_2: Shape = Shape::Checked(
    &Shape::Object(&[SHARED, EARLIER, &[("channels", channels::OPEN)]]),
    Check::BroadcastAgents,
);

const ROOT_4: Shape = Shape::Checked(&Shape::Object(&[SHARED, EARLIER]), Check::BroadcastAgents);

const ROOT_9: Shape = Shape::Checked(
    &Shape::Object(&[SHARED, EARLIER, LATER]),
    Check::BindingAndBroadcastAgents,
);

/// Sections that both releases read the same way, as far as they are known.
const SHARED: &[Field] = &[
    ("$schema", Shape::Text),
    ("acp", Shape::Any),
    ("approvals", Shape::Any),
    ("auth", system::AUTH),
    ("broadcast", agents::BROADCAST),
    ("discovery", Shape::Any),
    ("env", system::ENV),
    ("heartbeat", Shape::Moved("agents.defaults.heartbeat")),
    ("hooks", system::HOOKS),
    ("mcp", Shape::Any),
    ("memorySearch", Shape::Moved("agents.defaults.memorySearch")),
    ("meta", Shape::Any),
    ("nodeHost", Shape::Any),
    ("proxy", Shape::Any),
    ("secrets", Shape::Any),
    ("surfaces", Shape::Any),
    ("talk", Shape::Any),
    ("ui", system::UI),
    ("wizard", Shape::Any),
];

/// Sections as 2026.4 reads them. 2026.9 no longer documents some; what it makes of those is not known, so they pass.
const EARLIER: &[Field] = &[
    ("agents", agents::AGENTS_4),
    ("audio", Shape::Any),
    ("bindings", agents::BINDINGS_4),
    ("browser", system::BROWSER_4),
    ("canvasHost", Shape::Any),
    ("channels", channels::CHANNELS_4),
    ("cli", Shape::Any),
    ("commands", session::COMMANDS_4),
    ("crestodian", Shape::Any),
    ("cron", system::CRON_4),
    ("diagnostics", system::DIAGNOSTICS_4),
    ("gateway", system::GATEWAY_4),
    ("logging", system::LOGGING_4),
    ("media", system::MEDIA),
    ("memory", system::MEMORY_4),
    ("messages", session::MESSAGES_4),
    ("models", models::MODELS_4),
    ("plugins", system::PLUGINS_4),
    ("session", session::SESSION_4),
    ("skills", system::SKILLS_4),
    ("tools", tools::TOOLS_4),
    ("update", system::UPDATE_4),
    ("web", system::WEB),
];

/// Sections as 2026.9 reads them.
const LATER: &[Field] = &[
    ("accessGroups", Shape::Any),
    ("agents", agents::AGENTS_9),
    ("attachments", system::ATTACHMENTS),
    ("bindings", agents::BINDINGS_9),
    ("browser", Shape::Any),
    ("channels", channels::OPEN),
    ("cloudWorkers", Shape::Any),
    ("commands", session::COMMANDS_9),
    ("commitments", Shape::Any),
    ("cron", system::CRON_9),
    ("desktop", Shape::Any),
    ("diagnostics", system::DIAGNOSTICS_9),
    ("gateway", system::GATEWAY_9),
    ("logging", system::LOGGING_9),
    ("memory", Shape::Any),
    ("messages", session::MESSAGES_9),
    ("models", models::MODELS_9),
    ("plugins", system::PLUGINS_9),
    ("security", Shape::Any),
    ("session", session::SESSION_9),
    ("skills", system::SKILLS_9),
    ("telemetry", Shape::Any),
    ("tools", tools::TOOLS_9),
    ("transcripts", Shape::Any),
    ("tts", Shape::Any),
    ("update", system::UPDATE_9),
    ("worktreeAcceleration", Shape::Any),
    ("worktreeRoot", Shape::Any),
];
