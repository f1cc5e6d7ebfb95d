//! The part of a contract that is about the system prompt's own sections.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use std::fmt;

/// Which sections of its own a system prompt has, and where files and results stand among them (W50, W56).
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptRules {
    /// Sections and places in the order of the prompt, with what a section depends on.
    #[schemars(with = "Vec<String>")]
    pub parts: &'static [PromptPart],
    /// How much the section on memory says (M61).
    pub recall: RecallGuidance,
    /// What the line about program, machine and model says, and where it stands.
    pub runtime_line: RuntimeLineRule,
    /// How a run is told that the workspace is still to be set up (W20, W50).
    pub bootstrap: BootstrapNotice,
}

/// One entry of a prompt; it serializes as a short text for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptPart {
    /// A section in our words.
    Section(SectionRule),
    /// Where something stands that is not ours.
    Place(PromptPlace),
}

impl fmt::Display for PromptPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rule = match self {
            Self::Section(rule) => rule,
            Self::Place(place) => return write!(f, "<{place}>"),
        };
        let mode = match rule.modes {
            SectionModes::Every | SectionModes::Both => "",
            SectionModes::Full => " in full prompts",
            SectionModes::Minimal => " in minimal prompts",
            SectionModes::Bare => " in bare prompts",
        };
        write!(f, "{}{mode}{}", rule.key.name(), rule.when)
    }
}

impl Serialize for PromptPart {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Where something stands in a prompt that is not ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptPlace {
    /// The files that seldom change.
    ProjectContext,
    /// The line below which nothing is cached.
    Boundary,
    /// What a search of the memory found.
    MemoryResults,
    /// The files that change often.
    DynamicContext,
}

impl fmt::Display for PromptPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ProjectContext => "project context",
            Self::Boundary => "boundary",
            Self::MemoryResults => "memory results",
            Self::DynamicContext => "dynamic project context",
        })
    }
}

/// When a section is there, and under which heading.
///
/// A section may have two rules, one for full prompts and one for those of spawned runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SectionRule {
    /// Which section it is.
    pub key: SectionKey,
    /// The heading line; the first line of the prompt has none.
    pub heading: Option<&'static str>,
    /// The prompts that have it.
    pub modes: SectionModes,
    /// What must be known for it.
    pub when: SectionWhen,
}

/// The prompts that have a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SectionModes {
    /// Every prompt, even the barest.
    Every,
    /// Full prompts and those of spawned runs.
    Both,
    /// Full prompts only.
    Full,
    /// Prompts of spawned runs only.
    Minimal,
    /// The barest prompts only.
    Bare,
}

/// What must be known for a section to be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SectionWhen {
    /// Nothing.
    Always,
    /// Any tool at all.
    Tools,
    /// One of these tools.
    AnyTool(&'static [&'static str]),
    /// One of these tools, and the wish that work is handed on.
    Delegating(&'static [&'static str]),
    /// A catalogue of skills.
    Skills,
    /// A catalogue of skills, and a tool to read them with.
    ReadableSkills,
    /// Which model answers.
    Model,
    /// Names that stand for models.
    ModelAliases,
    /// Where the documentation lies.
    Documentation,
    /// That tools run fenced in.
    Sandbox,
    /// Who may give orders.
    Owners,
    /// The user's time zone.
    TimeZone,
    /// The user's time zone and the date.
    Date,
    /// That the conversation is on this channel.
    Channel(&'static str),
    /// How speech is to be written.
    Voice,
    /// Text of the group chat or of the task.
    ExtraPrompt,
    /// That reactions are possible.
    Reactions,
    /// That reasoning goes between tags.
    ReasoningTags,
    /// That there are heartbeats.
    Heartbeats,
    /// That the workspace is still to be set up.
    BootstrapPending,
    /// That files were cut.
    FilesCut,
}

impl fmt::Display for SectionWhen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Always => "",
            Self::Tools => " with any tool",
            Self::AnyTool(names) => return write!(f, " with {}", names.join(" or ")),
            Self::Delegating(names) => {
                return write!(f, " when delegating, with {}", names.join(" or "));
            }
            Self::Skills => " with skills",
            Self::ReadableSkills => " with skills and read",
            Self::Model => " with a model",
            Self::ModelAliases => " with aliases",
            Self::Documentation => " with documentation",
            Self::Sandbox => " in a sandbox",
            Self::Owners => " with owners",
            Self::TimeZone => " with a time zone",
            Self::Date => " with a date",
            Self::Channel(name) => return write!(f, " on {name}"),
            Self::Voice => " with a voice",
            Self::ExtraPrompt => " with extra text",
            Self::Reactions => " with reactions",
            Self::ReasoningTags => " with reasoning tags",
            Self::Heartbeats => " with heartbeats",
            Self::BootstrapPending => " while set-up is pending",
            Self::FilesCut => " when files were cut",
        })
    }
}

/// How much the section on memory says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RecallGuidance {
    /// When to search, and how to cite.
    Short,
    /// Past conversations and incomplete results too.
    WithSessions,
}

/// What the line about program, machine and model says, and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RuntimeLineRule {
    /// In the section on the runtime.
    Plain,
    /// In the section on the runtime, with the date.
    Dated,
    /// Below that section, between marks, so that it can be moved.
    Apart,
}

/// How a run is told that the workspace is still to be set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BootstrapNotice {
    /// Not at all: the bootstrap file speaks for itself.
    Silent,
    /// Not at all; while the bootstrap file is there, the workspace section asks for commits.
    CommitReminder,
    /// By a notice before the user's prompt.
    BeforeUser,
    /// By a section.
    Section,
}

macro_rules! section_keys {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal,)+) => {
        /// Which section it is; the name is what configuration switches it off by.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum SectionKey {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl SectionKey {
            /// Every section that any contract has.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Returns the name.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }
    };
}

section_keys! {
    /// Who the agent is.
    Intro = "intro",
    /// Which model answers.
    Model = "model",
    /// Which tools there are.
    Tooling = "tooling",
    /// When to speak about tool calls.
    ToolCallStyle = "tool-call-style",
    /// To act rather than to plan.
    ExecutionBias = "execution-bias",
    /// To keep promises of later work.
    PromisedWork = "promised-work",
    /// What is never done.
    Safety = "safety",
    /// Where notes of the runtime come from.
    RuntimeContext = "runtime-context",
    /// How the runtime itself is run.
    Control = "control",
    /// Which skills there are.
    Skills = "skills",
    /// How skills are written.
    SkillWorkshop = "skill-workshop",
    /// When to search the memory.
    MemoryRecall = "memory-recall",
    /// When to update the runtime.
    SelfUpdate = "self-update",
    /// Short names of models.
    ModelAliases = "model-aliases",
    /// The directory.
    Workspace = "workspace",
    /// Where documentation lies.
    Documentation = "documentation",
    /// What the fence means.
    Sandbox = "sandbox",
    /// Who may give orders.
    Owners = "owners",
    /// The time zone, and in some contracts the date.
    Time = "time",
    /// That the workspace is still to be set up.
    Bootstrap = "bootstrap",
    /// That files were cut.
    FilesCut = "files-cut",
    /// That files of the workspace follow.
    WorkspaceFiles = "workspace-files",
    /// When to hand work on.
    Delegation = "delegation",
    /// Marks that make a reply an answer to a certain message.
    ReplyTags = "reply-tags",
    /// Marks in a reply that the channel acts on.
    OutputDirectives = "output-directives",
    /// What the user interface can show.
    UiPresentation = "ui-presentation",
    /// How web pages are put into a reply.
    ControlUiEmbed = "control-ui-embed",
    /// That the user can ask beside the conversation.
    ControlUiSideChat = "control-ui-side-chat",
    /// Where replies go.
    Messaging = "messaging",
    /// How speech is written.
    Voice = "voice",
    /// The group chat, or the task of a spawned run.
    ExtraContext = "extra-context",
    /// When to react.
    Reactions = "reactions",
    /// Where reasoning goes.
    ReasoningFormat = "reasoning-format",
    /// How to say nothing.
    SilentReplies = "silent-replies",
    /// How to answer a heartbeat.
    Heartbeats = "heartbeats",
    /// Which program, machine and model this is.
    Runtime = "runtime",
    /// The line about program, machine and model, which may be moved elsewhere.
    RuntimeLine = "runtime-line",
}

const fn part(
    key: SectionKey,
    heading: &'static str,
    modes: SectionModes,
    when: SectionWhen,
) -> PromptPart {
    PromptPart::Section(SectionRule {
        key,
        heading: Some(heading),
        modes,
        when,
    })
}

const INTRO: PromptPart = PromptPart::Section(SectionRule {
    key: SectionKey::Intro,
    heading: None,
    modes: SectionModes::Every,
    when: SectionWhen::Always,
});
const PROJECT_CONTEXT: PromptPart = PromptPart::Place(PromptPlace::ProjectContext);
const BOUNDARY: PromptPart = PromptPart::Place(PromptPlace::Boundary);
const MEMORY_RESULTS: PromptPart = PromptPart::Place(PromptPlace::MemoryResults);
const DYNAMIC_CONTEXT: PromptPart = PromptPart::Place(PromptPlace::DynamicContext);

use SectionKey as Key;
use SectionModes::{Both, Full, Minimal};
use SectionWhen as When;

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
        bootstrap: BootstrapNotice::BeforeUser,
    };
    /// Recorded in 2026.9.6; the section on the side chat was read in its sources.
    pub const OPENCLAW_2026_9: Self = Self {
        parts: &[
            INTRO,
            PromptPart::Section(SectionRule {
                key: Key::Model,
                heading: None,
                modes: SectionModes::Bare,
                when: When::Model,
            }),
            part(Key::Tooling, "## Tooling", Full, When::Always),
            part(Key::Tooling, "## Tooling", Minimal, When::Tools),
            part(Key::ToolCallStyle, "## Tool Call Style", Full, When::Always),
            part(
                Key::ToolCallStyle,
                "## Tool Call Style",
                Minimal,
                When::Tools,
            ),
            EXECUTION_BIAS,
            part(Key::PromisedWork, "## Promised Work", Both, When::Always),
            SAFETY,
            part(
                Key::RuntimeContext,
                "## Runtime Context",
                Both,
                When::Always,
            ),
            part(Key::Control, "## OpenClaw Control", Both, When::Always),
            part(Key::Skills, "## Skills", Both, When::ReadableSkills),
            part(
                Key::SkillWorkshop,
                "## Skill Workshop",
                Both,
                When::AnyTool(&["skill_workshop"]),
            ),
            MEMORY_RECALL,
            MODEL_ALIASES,
            WORKSPACE,
            part(Key::Documentation, "## Documentation", Full, When::Always),
            SANDBOX,
            part(
                Key::Bootstrap,
                "## Bootstrap Pending",
                Both,
                When::BootstrapPending,
            ),
            part(
                Key::FilesCut,
                "## Bootstrap Context Notice",
                Both,
                When::FilesCut,
            ),
            WORKSPACE_FILES,
            REASONING_FORMAT,
            PROJECT_CONTEXT,
            BOUNDARY,
            part(Key::Time, "## Temporal Context", Both, When::Date),
            part(
                Key::Delegation,
                "## Delegation",
                Full,
                When::Delegating(&["sessions_spawn"]),
            ),
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
            part(
                Key::ExtraContext,
                "## Conversation Context",
                Full,
                When::ExtraPrompt,
            ),
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
        bootstrap: BootstrapNotice::Silent,
    };
    /// The bridge: nothing of our own; its composition is an adapter's work.
    pub const ATMOSPHERE: Self = Self {
        parts: &[PROJECT_CONTEXT],
        recall: RecallGuidance::Short,
        runtime_line: RuntimeLineRule::Dated,
        bootstrap: BootstrapNotice::Silent,
    };
}
