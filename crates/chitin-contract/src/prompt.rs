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
    /// Whether that line names the session, by its key and id.
    pub runtime_line_session: bool,
    /// How readily work is handed on to subagents when the configuration says nothing.
    pub delegation: DelegationRule,
    /// How a run is told that the workspace is still to be set up (W20, W50).
    pub bootstrap: BootstrapNotice,
}

impl PromptRules {
    /// Tells whether a section says which day it is.
    pub fn tells_date(&self) -> bool {
        let mut parts = self.parts.iter();
        parts
            .any(|part| matches!(part, PromptPart::Section(rule) if rule.when == SectionWhen::Date))
    }
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
                return write!(f, " when delegating with {}", names.join(" or "));
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

/// How readily work is handed on to subagents when the configuration says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DelegationRule {
    /// When it is useful.
    Suggested,
    /// In the main session whenever it is possible, elsewhere when it is useful.
    PreferredInMain,
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
