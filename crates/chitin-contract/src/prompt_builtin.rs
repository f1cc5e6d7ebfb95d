//! The sections of the built-in contracts.

use super::prompt::{
    BootstrapNotice, DelegationRule, PromptPart, PromptPlace, PromptRules, RecallGuidance,
    RuntimeLineRule, SectionKey as Key, SectionModes, SectionRule, SectionWhen as When,
};
use SectionModes::{Both, Full, Minimal};

const fn part(key: Key, heading: &'static str, modes: SectionModes, when: When) -> PromptPart {
    PromptPart::Section(SectionRule {
        key,
        heading: Some(heading),
        modes,
        when,
    })
}

const INTRO: PromptPart = PromptPart::Section(SectionRule {
    key: Key::Intro,
    heading: None,
    modes: SectionModes::Every,
    when: When::Always,
});
const PROJECT_CONTEXT: PromptPart = PromptPart::Place(PromptPlace::ProjectContext);
const BOUNDARY: PromptPart = PromptPart::Place(PromptPlace::Boundary);
const MEMORY_RESULTS: PromptPart = PromptPart::Place(PromptPlace::MemoryResults);
const DYNAMIC_CONTEXT: PromptPart = PromptPart::Place(PromptPlace::DynamicContext);

const MEMORY_TOOLS: When = When::AnyTool(&["memory_search", "memory_get"]);
const MESSAGE_TOOLS: When = When::AnyTool(&["message", "exec", "sessions_send"]);
const PRESENTING_TOOLS: When = When::AnyTool(&["screen", "show_widget", "dashboard", "portal"]);
const WEB_CHAT: When = When::Channel("webchat");

const TOOLING: PromptPart = part(Key::Tooling, "## Tooling", Both, When::Always);
const TOOL_CALL_STYLE: PromptPart =
    part(Key::ToolCallStyle, "## Tool Call Style", Both, When::Always);
const EXECUTION_BIAS: PromptPart =
    part(Key::ExecutionBias, "## Execution Bias", Full, When::Always);
const SAFETY: PromptPart = part(Key::Safety, "## Safety", Both, When::Always);
const CLI_REFERENCE: PromptPart = part(
    Key::Control,
    "## OpenClaw CLI Quick Reference",
    Both,
    When::Always,
);
const MEMORY_RECALL: PromptPart = part(Key::MemoryRecall, "## Memory Recall", Full, MEMORY_TOOLS);
const SELF_UPDATE: PromptPart = part(
    Key::SelfUpdate,
    "## OpenClaw Self-Update",
    Full,
    When::AnyTool(&["gateway"]),
);
const MODEL_ALIASES: PromptPart = part(
    Key::ModelAliases,
    "## Model Aliases",
    Full,
    When::ModelAliases,
);
const WORKSPACE: PromptPart = part(Key::Workspace, "## Workspace", Both, When::Always);
const DOCUMENTATION: PromptPart = part(
    Key::Documentation,
    "## Documentation",
    Full,
    When::Documentation,
);
const SANDBOX: PromptPart = part(Key::Sandbox, "## Sandbox", Both, When::Sandbox);
const OWNERS: PromptPart = part(Key::Owners, "## Authorized Senders", Full, When::Owners);
const TIME: PromptPart = part(Key::Time, "## Current Date & Time", Both, When::TimeZone);
const WORKSPACE_FILES: PromptPart = part(
    Key::WorkspaceFiles,
    "## Workspace Files (injected)",
    Both,
    When::Always,
);
const OUTPUT_DIRECTIVES: PromptPart = part(
    Key::OutputDirectives,
    "## Assistant Output Directives",
    Full,
    When::Always,
);
const CONTROL_UI_EMBED: PromptPart =
    part(Key::ControlUiEmbed, "## Control UI Embed", Full, WEB_CHAT);
const MESSAGING: PromptPart = part(Key::Messaging, "## Messaging", Full, When::Always);
const VOICE: PromptPart = part(Key::Voice, "## Voice (TTS)", Full, When::Voice);
const REACTIONS: PromptPart = part(Key::Reactions, "## Reactions", Both, When::Reactions);
const REASONING_FORMAT: PromptPart = part(
    Key::ReasoningFormat,
    "## Reasoning Format",
    Both,
    When::ReasoningTags,
);
const SILENT_REPLIES: PromptPart =
    part(Key::SilentReplies, "## Silent Replies", Full, When::Always);
const GROUP_CONTEXT: PromptPart = part(
    Key::ExtraContext,
    "## Group Chat Context",
    Full,
    When::ExtraPrompt,
);
const SUBAGENT_CONTEXT: PromptPart = part(
    Key::ExtraContext,
    "## Subagent Context",
    Minimal,
    When::ExtraPrompt,
);
const HEARTBEATS: PromptPart = part(Key::Heartbeats, "## Heartbeats", Full, When::Heartbeats);
const RUNTIME: PromptPart = part(Key::Runtime, "## Runtime", Both, When::Always);

// Sections that 2026.8 and 2026.9 have in common.
const BARE_MODEL: PromptPart = PromptPart::Section(SectionRule {
    key: Key::Model,
    heading: None,
    modes: SectionModes::Bare,
    when: When::Model,
});
const TOOLING_FULL: PromptPart = part(Key::Tooling, "## Tooling", Full, When::Always);
const TOOLING_MINIMAL: PromptPart = part(Key::Tooling, "## Tooling", Minimal, When::Tools);
const TOOL_CALL_STYLE_FULL: PromptPart =
    part(Key::ToolCallStyle, "## Tool Call Style", Full, When::Always);
const TOOL_CALL_STYLE_MINIMAL: PromptPart = part(
    Key::ToolCallStyle,
    "## Tool Call Style",
    Minimal,
    When::Tools,
);
const PROMISED_WORK: PromptPart = part(Key::PromisedWork, "## Promised Work", Both, When::Always);
const CONTROL: PromptPart = part(Key::Control, "## OpenClaw Control", Both, When::Always);
const READABLE_SKILLS: PromptPart = part(Key::Skills, "## Skills", Both, When::ReadableSkills);
const SKILL_WORKSHOP: PromptPart = part(
    Key::SkillWorkshop,
    "## Skill Workshop",
    Both,
    When::AnyTool(&["skill_workshop"]),
);
const DOCUMENTATION_ALWAYS: PromptPart =
    part(Key::Documentation, "## Documentation", Full, When::Always);
const BOOTSTRAP_PENDING: PromptPart = part(
    Key::Bootstrap,
    "## Bootstrap Pending",
    Both,
    When::BootstrapPending,
);
const FILES_CUT: PromptPart = part(
    Key::FilesCut,
    "## Bootstrap Context Notice",
    Both,
    When::FilesCut,
);
const TEMPORAL_CONTEXT: PromptPart = part(Key::Time, "## Temporal Context", Both, When::Date);
const DELEGATION: PromptPart = part(
    Key::Delegation,
    "## Delegation",
    Full,
    When::Delegating(&["sessions_spawn"]),
);
const CONVERSATION_CONTEXT: PromptPart = part(
    Key::ExtraContext,
    "## Conversation Context",
    Full,
    When::ExtraPrompt,
);

impl PromptRules {
    /// Recorded in 2026.2.9.
    pub const OPENCLAW_2026_2: Self = Self {
        parts: &[
            INTRO,
            TOOLING,
            TOOL_CALL_STYLE,
            SAFETY,
            CLI_REFERENCE,
            part(Key::Skills, "## Skills (mandatory)", Full, When::Skills),
            MEMORY_RECALL,
            SELF_UPDATE,
            MODEL_ALIASES,
            WORKSPACE,
            DOCUMENTATION,
            SANDBOX,
            part(Key::Owners, "## User Identity", Full, When::Owners),
            TIME,
            WORKSPACE_FILES,
            part(Key::ReplyTags, "## Reply Tags", Full, When::Always),
            MESSAGING,
            VOICE,
            GROUP_CONTEXT,
            SUBAGENT_CONTEXT,
            REACTIONS,
            REASONING_FORMAT,
            PROJECT_CONTEXT,
            SILENT_REPLIES,
            part(Key::Heartbeats, "## Heartbeats", Full, When::Always),
            RUNTIME,
        ],
        recall: RecallGuidance::Short,
        runtime_line: RuntimeLineRule::Plain,
        runtime_line_session: false,
        delegation: DelegationRule::Suggested,
        bootstrap: BootstrapNotice::CommitReminder,
    };
    /// Recorded in 2026.4.23.
    pub const OPENCLAW_2026_4: Self = Self {
        parts: &[
            INTRO,
            TOOLING,
            TOOL_CALL_STYLE,
            EXECUTION_BIAS,
            SAFETY,
            CLI_REFERENCE,
            part(Key::Skills, "## Skills (mandatory)", Both, When::Skills),
            MEMORY_RECALL,
            SELF_UPDATE,
            MODEL_ALIASES,
            WORKSPACE,
            DOCUMENTATION,
            SANDBOX,
            OWNERS,
            TIME,
            WORKSPACE_FILES,
            OUTPUT_DIRECTIVES,
            CONTROL_UI_EMBED,
            MESSAGING,
            VOICE,
            REACTIONS,
            REASONING_FORMAT,
            PROJECT_CONTEXT,
            SILENT_REPLIES,
            BOUNDARY,
            DYNAMIC_CONTEXT,
            GROUP_CONTEXT,
            SUBAGENT_CONTEXT,
            HEARTBEATS,
            RUNTIME,
        ],
        recall: RecallGuidance::Short,
        runtime_line: RuntimeLineRule::Plain,
        runtime_line_session: false,
        delegation: DelegationRule::Suggested,
        bootstrap: BootstrapNotice::BeforeUser,
    };
    /// Recorded in 2026.8.2; the section on the companion was read in its sources.
    pub const OPENCLAW_2026_8: Self = Self {
        parts: &[
            INTRO,
            BARE_MODEL,
            TOOLING_FULL,
            TOOLING_MINIMAL,
            DELEGATION,
            TOOL_CALL_STYLE_FULL,
            TOOL_CALL_STYLE_MINIMAL,
            EXECUTION_BIAS,
            PROMISED_WORK,
            SAFETY,
            CONTROL,
            READABLE_SKILLS,
            SKILL_WORKSHOP,
            MEMORY_RECALL,
            MODEL_ALIASES,
            WORKSPACE,
            DOCUMENTATION_ALWAYS,
            SANDBOX,
            BOOTSTRAP_PENDING,
            FILES_CUT,
            WORKSPACE_FILES,
            OUTPUT_DIRECTIVES,
            REASONING_FORMAT,
            PROJECT_CONTEXT,
            SILENT_REPLIES,
            BOUNDARY,
            TEMPORAL_CONTEXT,
            OWNERS,
            CONTROL_UI_EMBED,
            part(
                Key::ControlUiSideChat,
                "## Control UI Session Companion",
                Full,
                WEB_CHAT,
            ),
            MESSAGING,
            VOICE,
            CONVERSATION_CONTEXT,
            SUBAGENT_CONTEXT,
            REACTIONS,
            RUNTIME,
        ],
        recall: RecallGuidance::WithSessions,
        runtime_line: RuntimeLineRule::Plain,
        runtime_line_session: true,
        delegation: DelegationRule::PreferredInMain,
        bootstrap: BootstrapNotice::Section,
    };
    /// Recorded in 2026.9.6; the section on the side chat was read in its sources.
    pub const OPENCLAW_2026_9: Self = Self {
        parts: &[
            INTRO,
            BARE_MODEL,
            TOOLING_FULL,
            TOOLING_MINIMAL,
            TOOL_CALL_STYLE_FULL,
            TOOL_CALL_STYLE_MINIMAL,
            EXECUTION_BIAS,
            PROMISED_WORK,
            SAFETY,
            part(
                Key::RuntimeContext,
                "## Runtime Context",
                Both,
                When::Always,
            ),
            CONTROL,
            READABLE_SKILLS,
            SKILL_WORKSHOP,
            MEMORY_RECALL,
            MODEL_ALIASES,
            WORKSPACE,
            DOCUMENTATION_ALWAYS,
            SANDBOX,
            BOOTSTRAP_PENDING,
            FILES_CUT,
            WORKSPACE_FILES,
            REASONING_FORMAT,
            PROJECT_CONTEXT,
            BOUNDARY,
            TEMPORAL_CONTEXT,
            DELEGATION,
            OUTPUT_DIRECTIVES,
            SILENT_REPLIES,
            OWNERS,
            part(
                Key::UiPresentation,
                "## UI Presentation",
                Full,
                PRESENTING_TOOLS,
            ),
            CONTROL_UI_EMBED,
            part(
                Key::ControlUiSideChat,
                "## Control UI Side Chat",
                Full,
                WEB_CHAT,
            ),
            MESSAGING,
            part(Key::Messaging, "## Messaging", Minimal, MESSAGE_TOOLS),
            VOICE,
            CONVERSATION_CONTEXT,
            SUBAGENT_CONTEXT,
            REACTIONS,
            RUNTIME,
            PromptPart::Section(SectionRule {
                key: Key::RuntimeLine,
                heading: None,
                modes: Both,
                when: When::Always,
            }),
        ],
        recall: RecallGuidance::WithSessions,
        runtime_line: RuntimeLineRule::Apart,
        runtime_line_session: true,
        delegation: DelegationRule::PreferredInMain,
        bootstrap: BootstrapNotice::Section,
    };
    /// Ours: the order of 2026.4, with fewer sections; what can change from turn to turn stands below the boundary.
    pub const CANONICAL: Self = Self {
        parts: &[
            INTRO,
            part(Key::Tooling, "## Tooling", Both, When::Tools),
            SAFETY,
            part(Key::Skills, "## Skills", Both, When::ReadableSkills),
            MEMORY_RECALL,
            WORKSPACE,
            SANDBOX,
            OWNERS,
            part(Key::Time, "## Time", Both, When::TimeZone),
            MESSAGING,
            VOICE,
            REACTIONS,
            REASONING_FORMAT,
            PROJECT_CONTEXT,
            SILENT_REPLIES,
            BOUNDARY,
            MEMORY_RESULTS,
            DYNAMIC_CONTEXT,
            GROUP_CONTEXT,
            SUBAGENT_CONTEXT,
            HEARTBEATS,
            RUNTIME,
        ],
        recall: RecallGuidance::Short,
        runtime_line: RuntimeLineRule::Dated,
        runtime_line_session: false,
        delegation: DelegationRule::Suggested,
        bootstrap: BootstrapNotice::Silent,
    };
    /// The bridge: nothing of our own; its composition is an adapter's work.
    pub const ATMOSPHERE: Self = Self {
        parts: &[PROJECT_CONTEXT],
        recall: RecallGuidance::Short,
        runtime_line: RuntimeLineRule::Dated,
        runtime_line_session: false,
        delegation: DelegationRule::Suggested,
        bootstrap: BootstrapNotice::Silent,
    };
}
