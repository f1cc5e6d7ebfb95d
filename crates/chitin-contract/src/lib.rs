//! Contracts: how runtimes differ in what they make of a directory and a conversation, held as data.
//!
//! In: the name of a contract. Out: its fields, as values that code asks and as rows for people. This crate decides nothing
//! and touches nothing: no disk, no network, no clock, no environment.
//!
//! Code asks the [`Contract`]; it never asks which version it is. Each field is a small enum, a number or a list, with the
//! rule of the specification it comes from. Six contracts are built in; [`describe`] turns any of them into rows for
//! people, and [`differences`] two of them into a list. What concerns a directory and its prompt is in this module and beside it;
//! what concerns a running turn is [`RuntimeRules`], one file per part in `runtime/`.
//!
//! ```
//! use chitin_contract::{Absent, OPENCLAW_2026_4, OPENCLAW_2026_9, by_name, differences};
//!
//! let contract = by_name("openclaw-2026.9").ok_or("no such contract")?;
//! assert!(contract.loading.files.iter().any(|file| file.name == "SOUL.md" && file.absent == Absent::Record));
//! let differing = differences(&OPENCLAW_2026_4, &OPENCLAW_2026_9);
//! assert!(differing.iter().any(|difference| difference.path == "config"));
//! # Ok::<(), &str>(())
//! ```

mod budgets;
mod builtin;
mod catalogue;
mod config;
mod constants;
mod describe;
mod known;
mod openclaw_2026_8;
mod prompt;
mod prompt_builtin;
mod rendering;
mod runtime;
mod skills;

pub use budgets::{Budgets, CutRule, DigestLines, FiguresBy, NoticePlace, PairRule, TotalCause};
pub use openclaw_2026_8::OPENCLAW_2026_8;
pub use rendering::{
    BlockLayout, HeadingStyle, HeartbeatPrompt, MissingMarked, PromptOrder, Rendering,
};

pub use builtin::{
    ALL, ATMOSPHERE, CANONICAL, OPENCLAW_2026_2, OPENCLAW_2026_4, OPENCLAW_2026_9, by_name,
};
pub use catalogue::{
    CatalogueFitting, CatalogueRules, CountedProse, LocationNotes, RecordedLines, RecordedProse,
    WindowShare,
};
pub use config::ConfigRules;
pub use describe::{ContractDifference, Row, describe, differences};
pub use known::{KnownDifference, known_differences};
pub use prompt::{
    BootstrapNotice, DelegationRule, PromptPart, PromptPlace, PromptRules, RecallGuidance,
    RuntimeLineRule, SectionKey, SectionModes, SectionRule, SectionWhen,
};
pub use runtime::*;
pub use skills::{
    BlankVariable, DownloadSum, FrontMatterRule, HiddenDirectories, LinkedRoots, NameOrder,
    NestedRoot, PersonalRoot, ReleaseSkills, RootFile, SessionOverlay, SkillFileLink, SkillRules,
    SkillSource, SourceLimit,
};

use chitin_protocol::session_key::KeyGrammar;
use schemars::JsonSchema;
use serde::Serialize;

/// What one runtime, at one time, makes of a workspace directory.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Contract {
    /// The name that a user picks it by.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// How session keys are read (W12, W13, R1).
    pub session_keys: KeyGrammar,
    /// Which files are read, and what becomes of those that cannot be (W1–W11, CN1–CN5).
    pub loading: Loading,
    /// Which records a turn keeps (W12–W20, CN6).
    pub filters: Filters,
    /// Files from below the root that configuration adds (W51–W54, CN11).
    pub extras: Extras,
    /// What differs between a first turn and a later one (W55, W57, CN10).
    pub turns: Turns,
    /// How much text is let through (W21–W32, CN7).
    pub budgets: Budgets,
    /// How files stand in the prompt (W33–W39, CN8–CN12).
    pub rendering: Rendering,
    /// Where agents live (W41–W44, CN13).
    pub agents: Agents,
    /// How a new workspace is filled (W45–W50, CN19).
    pub seeding: Seeding,
    /// How skills are found and read (S1–S64).
    pub skills: SkillRules,
    /// Which sections of its own the system prompt has (W50, W56, M61).
    pub prompt: PromptRules,
    /// Which keys `openclaw.json` may have (R100–R104).
    pub config: ConfigRules,
    /// What happens once a turn runs (R15–R25, R60–R68, R110–R118, C1–C62, P1–P12).
    pub runtime: RuntimeRules,
}

/// Which files are read, and what becomes of those that cannot be.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Loading {
    /// The names, in load order, which is also the order in which budgets are spent.
    pub files: &'static [BootFile],
    /// What `memory.md` in lower case means.
    pub lower_memory: LowerMemory,
    /// What links may lead to.
    pub links: LinkRule,
    /// What becomes of a file with a second name.
    pub hardlinks: HardlinkRule,
    /// The size bound in bytes, inclusive; none means any size.
    pub max_bytes: Option<u64>,
    /// What becomes of a larger file.
    pub oversize: OversizeRule,
    /// How a refused file shows in the record.
    pub refusals: RefusalStyle,
    /// What becomes of a file that the operating system will not let be read.
    pub read_errors: ReadErrorRule,
    /// Whether front matter is taken off before text is embedded.
    pub front_matter: FrontMatterHandling,
    /// Whether a hook may put another persona in place of `SOUL.md` (W58).
    pub persona_swap: bool,
    /// Whether directories that are no OpenClaw workspace are agents too, by whichever adapter claims them (A2, A3).
    pub adapters: bool,
}

/// One name of the loaded set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BootFile {
    /// The exact name.
    pub name: &'static str,
    /// What there is to say when it is not there.
    pub absent: Absent,
    /// Whether it is read again on every load, whatever its fingerprint says.
    pub always_read: bool,
}

/// What there is to say about a file that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Absent {
    /// A record that says it is missing.
    Record,
    /// Nothing, unless a directory entry of that exact name exists.
    Silent,
    /// Nothing, unless something can be reached under that name, through links too.
    SilentUnlessReachable,
}

/// What `memory.md` in lower case means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LowerMemory {
    /// It is not looked for.
    Ignored,
    /// A second record, unless its real path is that of `MEMORY.md`.
    UnlessSamePath,
    /// A second record, unless both names end at the same file inside the root.
    UnlessSameFile,
}

/// What links may lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LinkRule {
    /// Every hop must name an entry inside the root.
    EveryHopInside,
    /// The end must lie inside the root.
    EndInside,
    /// The file itself may not be a link; directories on the way may.
    NotTheFile,
    /// Anywhere at all.
    Anywhere,
}

/// What becomes of a file with a second name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HardlinkRule {
    /// Refused.
    Refuse,
    /// Read.
    Allow,
}

/// What becomes of a file above the size bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OversizeRule {
    /// Refused whole.
    Refuse,
    /// Kept up to the bound, flagged and marked.
    Keep,
}

/// How a refused file shows in the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RefusalStyle {
    /// The record says missing; the reason travels beside it.
    Missing,
    /// The record has the reason as its content.
    Unreadable,
    /// The record says refused, with the reason.
    Named,
}

/// What becomes of a file that the operating system will not let be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReadErrorRule {
    /// The same as a refusal.
    Refusal,
    /// The whole load fails.
    Fail,
}

/// Whether front matter reaches the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FrontMatterHandling {
    /// It stays.
    Kept,
    /// It is taken off before anything is measured.
    Stripped,
}

/// Which records a turn keeps.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Filters {
    /// What a subagent session keeps.
    pub subagent_files: &'static [&'static str],
    /// What a cron session keeps; none means that such keys are nothing special.
    pub cron_files: Option<&'static [&'static str]>,
    /// Whether the session id is tested when there is no session key.
    pub session_id_stands_in: bool,
    /// What a group or channel chat sees of the root memory file.
    pub group_memory: GroupMemory,
    /// What a lightweight run keeps.
    pub lightweight: Lightweight,
    /// Whether a lightweight run filters extra files too.
    pub lightweight_extras: Filtered,
    /// Whether switching heartbeats off takes the heartbeat file away from the default agent.
    pub heartbeat_switch: bool,
    /// What becomes of a root memory or user file that is a link to something else than workspace memory.
    pub linked_memory: LinkedMemory,
    /// Whether a workspace whose set-up is complete loses its bootstrap file.
    pub setup_hides_bootstrap: bool,
    /// Whether the bootstrap file ever reaches the system prompt.
    pub bootstrap_file: BootstrapFile,
}

/// What a group or channel chat sees of the root memory file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GroupMemory {
    /// It stays.
    Kept,
    /// It is left out: others read along.
    Dropped,
}

/// What becomes of a root memory or user file that is a link to something else than workspace memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LinkedMemory {
    /// The same as of any other link.
    AsAnyLink,
    /// It is left out wholly when there is a configuration in which the memory plugin is on: nobody vouches for where its text comes from.
    LeftOut,
}

/// What a lightweight run keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Lightweight {
    /// There is no such mode.
    Unknown,
    /// The heartbeat file on a heartbeat run, nothing otherwise.
    HeartbeatOnly,
    /// Nothing.
    Nothing,
}

/// Whether a filter applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Filtered {
    /// It does.
    Yes,
    /// It does not.
    No,
}

/// When the bootstrap file reaches the system prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BootstrapFile {
    /// As long as it exists.
    Rendered,
    /// Never; a notice goes before the user's prompt.
    Notice,
    /// Only while set-up runs in full mode.
    FullModeOnly,
}

/// Files from below the root that configuration adds.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Extras {
    /// Whether there are any.
    pub known: bool,
    /// The characters that make a pattern a glob.
    pub glob_characters: &'static [char],
    /// The order of what is found.
    pub order: ExtraOrder,
    /// What becomes of a file that is there already.
    pub duplicates: ExtraDuplicates,
}

/// The order of extra files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ExtraOrder {
    /// As the patterns and the disk give them.
    Found,
    /// By base name, then by path, by code point.
    BaseNameThenPath,
}

/// What becomes of an extra file that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ExtraDuplicates {
    /// It stands twice.
    Kept,
    /// Dropped when the path is the same.
    SamePathDropped,
    /// Dropped when the real path is the same.
    SameFileDropped,
}

/// What differs between a first turn and a later one.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Turns {
    /// The values of `contextInjection` that mean something.
    pub injection_values: &'static [&'static str],
    /// What becomes of any other value.
    pub unknown_injection: UnknownInjection,
    /// What a continuation turn keeps.
    pub continuation_files: &'static [&'static str],
    /// Which turns have the full set although the session is marked.
    pub continuation_exempt: ContinuationExempt,
    /// Where a continuation turn has what it does not keep.
    pub continuation_bulk: ContinuationBulk,
    /// Whether an agent's own entry may set the value.
    pub per_agent: bool,
    /// Which turns leave a first-turn marker.
    pub marked_turns: MarkedTurns,
    /// The kinds of records after which an earlier first-turn marker no longer counts.
    pub marker_voided_by: &'static [&'static str],
    /// When an edit shows.
    pub freshness: Freshness,
}

/// What becomes of a value of `contextInjection` that means nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UnknownInjection {
    /// It counts as `always`.
    Always,
    /// It stays, with no effect.
    Kept,
}

/// Which turns have the full set although the session is marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ContinuationExempt {
    /// None.
    Nobody,
    /// Heartbeat runs, and runs that set the workspace up.
    Heartbeats,
}

/// Where a continuation turn has what it does not keep in the system prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ContinuationBulk {
    /// In the conversation that is sent: the first turn put it there.
    Conversation,
    /// Nowhere: the model does not see it again.
    Dropped,
}

/// Which turns leave a first-turn marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MarkedTurns {
    /// None.
    Nothing,
    /// Those that set the workspace up in full.
    BootstrapFull,
    /// Every turn whose context was not reduced.
    Full,
}

/// When an edit of a file shows in a running session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Freshness {
    /// On the next turn.
    NextTurn,
    /// When the session starts again.
    NextSession,
}

/// Where agents live.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Agents {
    /// Who the default agent is.
    pub default_agent: DefaultAgent,
    /// Whether `agents.defaults.systemAgent.agentId` names the default agent, before any mark (W41).
    pub system_agent: bool,
    /// Where an agent lives that is neither configured nor the default one.
    pub others: OtherAgents,
    /// Whether the map `agents.entries` is read, before `agents.list`.
    pub entries_map: bool,
    /// Where the default agent lives when nothing is configured.
    pub default_directory: DefaultDirectory,
    /// Whether the words `undefined` and `null` in a home variable count as unset.
    pub null_words_unset: bool,
    /// Whether NUL characters are taken out of paths.
    pub strip_nul: bool,
    /// The variables that name the state directory, first set one wins.
    pub state_variables: &'static [&'static str],
    /// State directories of earlier names, below home, used when they exist and the current one does not.
    pub legacy_state: &'static [&'static str],
    /// What an unparsable session key says about its agent.
    pub unparsable_key: UnparsableKey,
}

/// Who the default agent is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DefaultAgent {
    /// The first entry marked so, else the first entry, else `main`.
    FirstMarkedOrFirst,
    /// Exactly one entry marked so, else the only entry, else `main` without a roster; otherwise an error.
    ExactlyOne,
}

/// Where an agent lives that is neither configured nor the default one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OtherAgents {
    /// `workspace-<id>` in the state directory.
    StateDirectory,
    /// Below `agents.defaults.workspace` if that is set, else in the state directory.
    BelowDefaults,
}

/// Where the default agent lives when nothing is configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DefaultDirectory {
    /// `.openclaw/workspace` below home, with `-<profile>` appended when a profile is set.
    ProfileSuffix,
    /// A variable of its own, then the state directory, then a state directory per profile.
    ProfileStateDirectory,
}

/// What an unparsable session key says about its agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UnparsableKey {
    /// It belongs to `main`.
    Main,
    /// It is an error.
    Error,
}

/// How a new workspace is filled.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Seeding {
    /// The files that are written when absent.
    pub files: &'static [&'static str],
    /// The files that are not written again once set-up is complete.
    pub not_after_completion: &'static [&'static str],
    /// What makes a directory not brand new, beside the files above; a brand-new one gets a git repository.
    pub not_new: &'static [Evidence],
    /// What shows that a workspace is in use; such a one gets no bootstrap file. None: only a brand-new one gets it.
    pub in_use: Option<&'static [Evidence]>,
    /// Where the times of seeding and completion are kept.
    pub state: SeedState,
    /// What becomes of a pending bootstrap file once the workspace is in use.
    pub pending_in_use: PendingInUse,
    /// What becomes of a workspace whose files are gone.
    pub vanished: VanishedRule,
    /// Whether the prompt can speak of a pending bootstrap, and what a run without a read tool gets.
    pub bootstrap_mode: BootstrapModeRule,
}

/// What shows that somebody has worked in a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    /// A directory `memory/`.
    MemoryDirectory,
    /// A file `MEMORY.md`.
    MemoryFile,
    /// A git repository.
    Git,
    /// A skill of the workspace's own.
    Skills,
    /// IDENTITY.md differs from its template.
    IdentityEdited,
    /// USER.md differs from its template.
    UserEdited,
    /// SOUL.md differs from its template.
    SoulEdited,
}

/// Where the times of seeding and completion are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SeedState {
    /// Nowhere.
    Nowhere,
    /// `.openclaw/workspace-state.json` in the workspace.
    WorkspaceFile,
    /// The state directory, nothing in the workspace.
    StateDirectory,
}

/// What becomes of a pending bootstrap file once the workspace is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PendingInUse {
    /// It stays until the agent deletes it.
    Stays,
    /// Set-up counts as complete and the file is moved aside, into `.openclaw/`; nothing is deleted.
    Retired,
}

/// What becomes of a workspace whose files are gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VanishedRule {
    /// It is seeded again.
    SeedAgain,
    /// Seeding is refused when every file that was there is gone.
    RefuseWhenAllGone,
    /// Seeding is refused when any file is gone after set-up was complete.
    RefuseAfterCompletion,
}

/// What a run without a read tool gets to know of a pending bootstrap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BootstrapModeRule {
    /// There is no such mode.
    Unknown,
    /// Nothing.
    NoneWithoutRead,
    /// The limited notice; and a loaded file counts as pending and as access.
    LimitedWithoutRead,
}
