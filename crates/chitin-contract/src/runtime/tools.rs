//! Which tools there are and who may use them (R60–R68).

mod catalogue;

use schemars::JsonSchema;
use serde::Serialize;

/// Which tools there are and who may use them (R60–R68).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolRules {
    /// Every tool that the runtime knows, in the order in which a model is told of them (R60).
    pub catalogue: &'static [CatalogueTool],
    /// Other names for tools (R61).
    pub aliases: &'static [ToolAlias],
    /// What the profile `full` comes to (R62).
    pub full_profile: FullProfile,
    /// Tools that only the owner's messages may use (R64, layer 0).
    pub owner_only: &'static [&'static str],
    /// Whether a policy for single senders is asked (R64, layer 8).
    pub sender_layer: SenderLayer,
    /// How far a word about `write` carries over to `apply_patch` (R63).
    pub write_covers_patch: WriteCoversPatch,
    /// Sections of the configuration whose mere presence adds tools to a profile (R65).
    pub implied: &'static [ImpliedTools],
    /// What no subagent has (R66).
    pub subagent_deny: &'static [&'static str],
    /// What a subagent that may not spawn lacks besides (R66).
    pub leaf_deny: &'static [&'static str],
    /// Whether the configuration can lift a name off those two lists (R67).
    pub subagent_lift: SubagentLift,
    /// How deep subagents may be nested when the configuration is silent (R32).
    pub max_spawn_depth: u32,
    /// The name of the tool that lists a directory: releases that have one of their own call it `ls`.
    pub list_tool: &'static str,
}

/// A tool that a runtime knows, whether or not Chitin has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CatalogueTool {
    /// Its name.
    pub id: &'static str,
    /// Its section, which is also the name of a group.
    pub section: ToolSection,
    /// The profiles that hold it.
    pub profiles: &'static [ToolProfile],
    /// Whether the group of the runtime's own tools holds it.
    pub own_group: OwnGroup,
}

/// A part of the catalogue. `group:<section>` in a policy stands for all tools of the section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ToolSection {
    /// Files.
    Fs,
    /// Commands.
    Runtime,
    /// The web.
    Web,
    /// Memory.
    Memory,
    /// Sessions and subagents.
    Sessions,
    /// What people see.
    Ui,
    /// Messages to people.
    Messaging,
    /// Things that happen by themselves.
    Automation,
    /// Other machines.
    Nodes,
    /// Agents and their plans.
    Agents,
    /// Pictures, sound and film.
    Media,
}

impl ToolSection {
    /// Every section, in order.
    pub const ALL: [Self; 11] = [
        Self::Fs,
        Self::Runtime,
        Self::Web,
        Self::Memory,
        Self::Sessions,
        Self::Ui,
        Self::Messaging,
        Self::Automation,
        Self::Nodes,
        Self::Agents,
        Self::Media,
    ];

    /// Returns the name as it stands after `group:`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fs => "fs",
            Self::Runtime => "runtime",
            Self::Web => "web",
            Self::Memory => "memory",
            Self::Sessions => "sessions",
            Self::Ui => "ui",
            Self::Messaging => "messaging",
            Self::Automation => "automation",
            Self::Nodes => "nodes",
            Self::Agents => "agents",
            Self::Media => "media",
        }
    }
}

/// A ready-made set of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ToolProfile {
    /// Next to nothing.
    Minimal,
    /// Work on files.
    Coding,
    /// Talk to people.
    Messaging,
    /// No restriction.
    Full,
}

impl ToolProfile {
    /// Every profile.
    pub const ALL: [Self; 4] = [Self::Minimal, Self::Coding, Self::Messaging, Self::Full];

    /// Returns the name as it stands in a configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Minimal => "minimal",
            Self::Coding => "coding",
            Self::Messaging => "messaging",
            Self::Full => "full",
        }
    }

    /// Finds a profile by its name, letter case and blanks included.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|profile| profile.as_str() == name)
    }
}

/// Whether the group of the runtime's own tools holds a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OwnGroup {
    /// It does.
    Held,
    /// It does not.
    Apart,
}

/// Another name for a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ToolAlias {
    /// What people write.
    pub alias: &'static str,
    /// The tool.
    pub tool: &'static str,
}

/// What the profile `full` comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum FullProfile {
    /// No policy at all.
    NoPolicy,
    /// A policy that allows `*`.
    AllowAll,
}

/// Whether a policy for single senders is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SenderLayer {
    /// There is none.
    Absent,
    /// It is asked after that of the group.
    AfterGroup,
}

/// How far a word about `write` carries over to `apply_patch`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum WriteCoversPatch {
    /// Who may write may patch, and who may not write may not patch.
    AllowAndDeny,
    /// Who may write may patch; a ban on writing says nothing about patches.
    AllowOnly,
}

/// Tools that the presence of a section of the configuration adds to a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ImpliedTools {
    /// The section below `tools`.
    pub section: &'static str,
    /// The tools.
    pub tools: &'static [&'static str],
}

/// Whether the configuration can lift a name off the lists of what subagents lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SubagentLift {
    /// Naming the tool in `allow` or `alsoAllow` lifts it.
    ByName,
    /// Nothing lifts it.
    Never,
}

const BASH: ToolAlias = ToolAlias {
    alias: "bash",
    tool: "exec",
};
const APPLY_PATCH: ToolAlias = ToolAlias {
    alias: "apply-patch",
    tool: "apply_patch",
};

impl ToolRules {
    /// What the seed documents say; where they are silent, what 2026.4 does.
    pub const CANONICAL: Self = Self::OPENCLAW_2026_4;
    /// What OpenClaw 2026.4 does; 2026.2 and the bridge, which were not recorded here, follow it.
    pub const OPENCLAW_2026_4: Self = Self {
        catalogue: catalogue::OPENCLAW_2026_4,
        aliases: &[BASH, APPLY_PATCH],
        full_profile: FullProfile::NoPolicy,
        owner_only: &["cron", "gateway", "nodes"],
        sender_layer: SenderLayer::Absent,
        write_covers_patch: WriteCoversPatch::AllowAndDeny,
        implied: &[
            ImpliedTools {
                section: "exec",
                tools: &["exec", "process"],
            },
            ImpliedTools {
                section: "fs",
                tools: &["read", "write", "edit"],
            },
        ],
        subagent_deny: &[
            "gateway",
            "agents_list",
            "session_status",
            "cron",
            "sessions_send",
        ],
        leaf_deny: &[
            "subagents",
            "sessions_list",
            "sessions_history",
            "sessions_spawn",
        ],
        subagent_lift: SubagentLift::ByName,
        max_spawn_depth: 1,
        list_tool: "list",
    };
    /// What OpenClaw 2026.9 does.
    pub const OPENCLAW_2026_9: Self = Self {
        catalogue: catalogue::OPENCLAW_2026_9,
        aliases: &[
            BASH,
            APPLY_PATCH,
            ToolAlias {
                alias: "cron",
                tool: "automations",
            },
        ],
        full_profile: FullProfile::AllowAll,
        owner_only: &[],
        sender_layer: SenderLayer::AfterGroup,
        write_covers_patch: WriteCoversPatch::AllowOnly,
        implied: &[],
        subagent_deny: &[
            "gateway",
            "agents_list",
            "openclaw",
            "session_status",
            "progress_card",
            "automations",
            "message",
            "sessions_send",
            "conversations_list",
            "conversations_send",
            "conversations_turn",
        ],
        leaf_deny: &[
            "subagents",
            "sessions_list",
            "sessions_history",
            "sessions_search",
            "sessions_spawn",
        ],
        subagent_lift: SubagentLift::Never,
        max_spawn_depth: 5,
        list_tool: "ls",
    };
}
