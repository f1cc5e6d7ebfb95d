//! The six built-in contracts.

use super::config::ConfigRules;
use super::openclaw_2026_8::OPENCLAW_2026_8;
use super::runtime::RuntimeRules;
use super::{
    Absent, Agents, BlockLayout, BootFile, BootstrapFile, BootstrapModeRule, Budgets,
    ContinuationBulk, ContinuationExempt, Contract, CutRule, DefaultAgent, DefaultDirectory,
    DigestLines, Evidence, ExtraDuplicates, ExtraOrder, Extras, FiguresBy, Filtered, Filters,
    Freshness, FrontMatterHandling, GroupMemory, HardlinkRule, HeadingStyle, HeartbeatPrompt,
    Lightweight, LinkRule, LinkedMemory, Loading, LowerMemory, MarkedTurns, MissingMarked,
    NameOrder, NoticePlace, OtherAgents, OversizeRule, PairRule, PendingInUse, PromptOrder,
    PromptRules, ReadErrorRule, RefusalStyle, Rendering, SeedState, Seeding, SkillRules,
    TotalCause, Turns, UnknownInjection, UnparsableKey, VanishedRule,
};
use chitin_protocol::session_key::KeyGrammar;

/// Every built-in contract; the first is the default.
pub const ALL: [&Contract; 6] = [
    &CANONICAL,
    &OPENCLAW_2026_2,
    &OPENCLAW_2026_4,
    &OPENCLAW_2026_8,
    &OPENCLAW_2026_9,
    &ATMOSPHERE,
];

/// Returns the built-in contract of that name.
pub fn by_name(name: &str) -> Option<&'static Contract> {
    ALL.into_iter().find(|contract| contract.name == name)
}

const TWO_MIB: u64 = 2 * 1024 * 1024;

const fn file(name: &'static str) -> BootFile {
    BootFile {
        name,
        absent: Absent::Record,
        always_read: false,
    }
}

const fn heartbeat() -> BootFile {
    BootFile {
        name: "HEARTBEAT.md",
        absent: Absent::Record,
        always_read: true,
    }
}

const fn if_there(name: &'static str) -> BootFile {
    BootFile {
        name,
        absent: Absent::Silent,
        always_read: false,
    }
}

const EIGHT: &[BootFile] = &[
    file("AGENTS.md"),
    file("SOUL.md"),
    file("TOOLS.md"),
    file("IDENTITY.md"),
    file("USER.md"),
    heartbeat(),
    file("BOOTSTRAP.md"),
    if_there("MEMORY.md"),
];

const SPAWNED: &[&str] = &["AGENTS.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "USER.md"];
const SIX_TEMPLATES: &[&str] = &[
    "AGENTS.md",
    "SOUL.md",
    "TOOLS.md",
    "IDENTITY.md",
    "USER.md",
    "HEARTBEAT.md",
];

/// The default: what the seed documents state, and 2026.4 where they are silent.
pub const CANONICAL: Contract = Contract {
    name: "canonical",
    summary: "what the design documents state; refusals and cuts are always visible",
    session_keys: KeyGrammar::Lenient,
    loading: Loading {
        files: EIGHT,
        lower_memory: LowerMemory::UnlessSameFile,
        links: LinkRule::EveryHopInside,
        hardlinks: HardlinkRule::Refuse,
        max_bytes: Some(TWO_MIB),
        oversize: OversizeRule::Keep,
        refusals: RefusalStyle::Named,
        read_errors: ReadErrorRule::Fail,
        front_matter: FrontMatterHandling::Stripped,
        persona_swap: false,
        adapters: true,
    },
    filters: Filters {
        subagent_files: SPAWNED,
        cron_files: Some(SPAWNED),
        session_id_stands_in: false,
        group_memory: GroupMemory::Kept,
        lightweight: Lightweight::HeartbeatOnly,
        lightweight_extras: Filtered::Yes,
        heartbeat_switch: false,
        linked_memory: LinkedMemory::AsAnyLink,
        setup_hides_bootstrap: false,
        bootstrap_file: BootstrapFile::Rendered,
    },
    extras: Extras {
        known: true,
        glob_characters: &['*', '?', '{'],
        order: ExtraOrder::BaseNameThenPath,
        duplicates: ExtraDuplicates::SameFileDropped,
    },
    turns: Turns {
        injection_values: &["always", "continuation-skip", "never"],
        unknown_injection: UnknownInjection::Always,
        continuation_files: &["SOUL.md", "IDENTITY.md", "USER.md", "HEARTBEAT.md"],
        continuation_exempt: ContinuationExempt::Nobody,
        continuation_bulk: ContinuationBulk::Conversation,
        per_agent: false,
        marked_turns: MarkedTurns::Full,
        marker_voided_by: &["compaction"],
        freshness: Freshness::NextTurn,
    },
    budgets: Budgets {
        max_chars: 12_000,
        total_max_chars: Some(60_000),
        user_max_chars: None,
        per_agent: false,
        warning_modes: true,
        least: 1,
        cut: CutRule::Fitted,
        pairs: PairRule::LeftOut,
        digest: None,
        digest_lines: DigestLines::WithLead,
        figures: FiguresBy::File,
        total_cause: TotalCause::UsedUp,
        notice: NoticePlace::UserPrompt,
    },
    rendering: Rendering {
        ties: NameOrder::CodePoint,
        extras_last: true,
        missing_marked: MissingMarked::NotOptional,
        memory_results: true,
        skills_file: true,
        ..RENDERING_2026_4
    },
    agents: Agents {
        others: OtherAgents::StateDirectory,
        ..AGENTS_2026_4
    },
    seeding: Seeding {
        vanished: VanishedRule::RefuseWhenAllGone,
        ..SEEDING_2026_4
    },
    skills: SkillRules::CANONICAL,
    prompt: PromptRules::CANONICAL,
    config: ConfigRules::Keys2026_4,
    runtime: RuntimeRules::CANONICAL,
};

const RENDERING_2026_4: Rendering = Rendering {
    layout: BlockLayout::ProjectContext,
    order: PromptOrder::ByName,
    ties: NameOrder::Locale,
    extras_last: false,
    user_files_keep_order: false,
    headings: HeadingStyle::Path,
    missing_marked: MissingMarked::All,
    guided: &["soul.md"],
    squeeze: true,
    heartbeat_prompt: HeartbeatPrompt::Kept,
    project_entries: &[],
    dynamic_heartbeat: true,
    boundary: true,
    memory_results: false,
    skills_file: false,
};

const AGENTS_2026_4: Agents = Agents {
    default_agent: DefaultAgent::FirstMarkedOrFirst,
    system_agent: false,
    others: OtherAgents::BelowDefaults,
    entries_map: false,
    default_directory: DefaultDirectory::ProfileSuffix,
    null_words_unset: true,
    strip_nul: true,
    state_variables: &["OPENCLAW_STATE_DIR"],
    legacy_state: &[".clawdbot"],
    unparsable_key: UnparsableKey::Main,
};

const SEEDING_2026_4: Seeding = Seeding {
    files: SIX_TEMPLATES,
    not_after_completion: &[],
    not_new: &[
        Evidence::MemoryDirectory,
        Evidence::MemoryFile,
        Evidence::Git,
    ],
    in_use: Some(&[
        Evidence::IdentityEdited,
        Evidence::UserEdited,
        Evidence::MemoryDirectory,
        Evidence::Git,
        Evidence::MemoryFile,
    ]),
    state: SeedState::WorkspaceFile,
    pending_in_use: PendingInUse::Stays,
    vanished: VanishedRule::SeedAgain,
    bootstrap_mode: BootstrapModeRule::NoneWithoutRead,
};

/// What 2026.4.23 does.
pub const OPENCLAW_2026_4: Contract = Contract {
    name: "openclaw-2026.4",
    summary: "what OpenClaw 2026.4.23 does, as recorded",
    session_keys: KeyGrammar::Lenient,
    loading: Loading {
        files: EIGHT,
        lower_memory: LowerMemory::Ignored,
        links: LinkRule::EndInside,
        hardlinks: HardlinkRule::Refuse,
        max_bytes: Some(TWO_MIB),
        oversize: OversizeRule::Refuse,
        refusals: RefusalStyle::Missing,
        read_errors: ReadErrorRule::Refusal,
        front_matter: FrontMatterHandling::Kept,
        persona_swap: false,
        adapters: false,
    },
    filters: Filters {
        subagent_files: SPAWNED,
        cron_files: Some(SPAWNED),
        session_id_stands_in: true,
        group_memory: GroupMemory::Kept,
        lightweight: Lightweight::HeartbeatOnly,
        lightweight_extras: Filtered::No,
        heartbeat_switch: true,
        linked_memory: LinkedMemory::AsAnyLink,
        setup_hides_bootstrap: false,
        bootstrap_file: BootstrapFile::Notice,
    },
    extras: Extras {
        known: true,
        glob_characters: &['*', '?', '{'],
        order: ExtraOrder::Found,
        duplicates: ExtraDuplicates::Kept,
    },
    turns: Turns {
        injection_values: &["always", "continuation-skip"],
        unknown_injection: UnknownInjection::Kept,
        continuation_files: &[],
        continuation_exempt: ContinuationExempt::Heartbeats,
        continuation_bulk: ContinuationBulk::Dropped,
        per_agent: false,
        marked_turns: MarkedTurns::BootstrapFull,
        marker_voided_by: &["compaction"],
        freshness: Freshness::NextSession,
    },
    budgets: Budgets {
        max_chars: 12_000,
        total_max_chars: Some(60_000),
        user_max_chars: None,
        per_agent: false,
        warning_modes: true,
        least: 1,
        cut: CutRule::Fitted,
        pairs: PairRule::HalfCounts,
        digest: None,
        digest_lines: DigestLines::WithLead,
        figures: FiguresBy::PathThenName,
        total_cause: TotalCause::UsedUp,
        notice: NoticePlace::UserPrompt,
    },
    rendering: Rendering {
        heartbeat_prompt: HeartbeatPrompt::Known {
            digest: "512625ba86f84ee8d52b1d90b05d48427543ab4f8e8b5d4b5272c01237228cee",
        },
        ..RENDERING_2026_4
    },
    agents: AGENTS_2026_4,
    seeding: SEEDING_2026_4,
    skills: SkillRules::A,
    prompt: PromptRules::OPENCLAW_2026_4,
    config: ConfigRules::Keys2026_4,
    runtime: RuntimeRules::OPENCLAW_2026_4,
};

/// What 2026.2.9 does.
pub const OPENCLAW_2026_2: Contract = Contract {
    name: "openclaw-2026.2",
    summary: "what OpenClaw 2026.2.9 does, as recorded; it follows links out of the workspace",
    session_keys: KeyGrammar::Strict,
    loading: Loading {
        files: &[
            file("AGENTS.md"),
            file("SOUL.md"),
            file("TOOLS.md"),
            file("IDENTITY.md"),
            file("USER.md"),
            heartbeat(),
            file("BOOTSTRAP.md"),
            BootFile {
                name: "MEMORY.md",
                absent: Absent::SilentUnlessReachable,
                always_read: false,
            },
        ],
        lower_memory: LowerMemory::UnlessSamePath,
        links: LinkRule::Anywhere,
        hardlinks: HardlinkRule::Allow,
        max_bytes: None,
        oversize: OversizeRule::Refuse,
        refusals: RefusalStyle::Missing,
        read_errors: ReadErrorRule::Refusal,
        front_matter: FrontMatterHandling::Kept,
        persona_swap: true,
        adapters: false,
    },
    filters: Filters {
        subagent_files: &["AGENTS.md", "TOOLS.md"],
        cron_files: None,
        session_id_stands_in: true,
        group_memory: GroupMemory::Kept,
        lightweight: Lightweight::Unknown,
        lightweight_extras: Filtered::No,
        heartbeat_switch: false,
        linked_memory: LinkedMemory::AsAnyLink,
        setup_hides_bootstrap: false,
        bootstrap_file: BootstrapFile::Rendered,
    },
    extras: Extras {
        known: false,
        glob_characters: &[],
        order: ExtraOrder::Found,
        duplicates: ExtraDuplicates::Kept,
    },
    turns: Turns {
        injection_values: &["always"],
        unknown_injection: UnknownInjection::Kept,
        continuation_files: &[],
        continuation_exempt: ContinuationExempt::Heartbeats,
        continuation_bulk: ContinuationBulk::Dropped,
        per_agent: false,
        marked_turns: MarkedTurns::Nothing,
        marker_voided_by: &[],
        freshness: Freshness::NextTurn,
    },
    budgets: Budgets {
        max_chars: 20_000,
        total_max_chars: None,
        user_max_chars: None,
        per_agent: false,
        warning_modes: false,
        least: 0,
        cut: CutRule::FixedShares,
        pairs: PairRule::HalfCounts,
        digest: None,
        digest_lines: DigestLines::WithLead,
        figures: FiguresBy::Name,
        total_cause: TotalCause::Untold,
        notice: NoticePlace::Nowhere,
    },
    rendering: Rendering {
        order: PromptOrder::Loaded,
        headings: HeadingStyle::Name,
        squeeze: false,
        dynamic_heartbeat: false,
        boundary: false,
        ..RENDERING_2026_4
    },
    agents: Agents {
        others: OtherAgents::StateDirectory,
        null_words_unset: false,
        strip_nul: false,
        state_variables: &["OPENCLAW_STATE_DIR", "CLAWDBOT_STATE_DIR"],
        legacy_state: &[".clawdbot", ".moltbot", ".moldbot"],
        ..AGENTS_2026_4
    },
    seeding: Seeding {
        files: SIX_TEMPLATES,
        not_after_completion: &[],
        not_new: &[],
        in_use: None,
        state: SeedState::Nowhere,
        pending_in_use: PendingInUse::Stays,
        vanished: VanishedRule::SeedAgain,
        bootstrap_mode: BootstrapModeRule::Unknown,
    },
    skills: SkillRules::A,
    prompt: PromptRules::OPENCLAW_2026_2,
    config: ConfigRules::Keys2026_2,
    runtime: RuntimeRules::OPENCLAW_2026_4,
};

/// What 2026.9.6 does.
pub const OPENCLAW_2026_9: Contract = Contract {
    name: "openclaw-2026.9",
    summary: "what OpenClaw 2026.9.6 does, as recorded; tools and heartbeat files are no longer read",
    session_keys: KeyGrammar::Exact,
    loading: Loading {
        files: &[
            file("AGENTS.md"),
            file("SOUL.md"),
            file("IDENTITY.md"),
            if_there("USER.md"),
            file("BOOTSTRAP.md"),
            if_there("MEMORY.md"),
        ],
        lower_memory: LowerMemory::Ignored,
        links: LinkRule::NotTheFile,
        hardlinks: HardlinkRule::Refuse,
        max_bytes: Some(TWO_MIB),
        oversize: OversizeRule::Refuse,
        refusals: RefusalStyle::Unreadable,
        read_errors: ReadErrorRule::Refusal,
        front_matter: FrontMatterHandling::Kept,
        persona_swap: false,
        adapters: false,
    },
    filters: Filters {
        subagent_files: &["AGENTS.md"],
        cron_files: Some(&["AGENTS.md", "SOUL.md", "IDENTITY.md", "USER.md"]),
        session_id_stands_in: true,
        group_memory: GroupMemory::Dropped,
        lightweight: Lightweight::Nothing,
        lightweight_extras: Filtered::No,
        heartbeat_switch: false,
        linked_memory: LinkedMemory::LeftOut,
        setup_hides_bootstrap: true,
        bootstrap_file: BootstrapFile::FullModeOnly,
    },
    extras: Extras {
        known: true,
        glob_characters: &['*', '?', '{', '}'],
        order: ExtraOrder::Found,
        duplicates: ExtraDuplicates::SamePathDropped,
    },
    turns: Turns {
        injection_values: &["always", "continuation-skip", "never"],
        unknown_injection: UnknownInjection::Kept,
        continuation_files: &[],
        continuation_exempt: ContinuationExempt::Heartbeats,
        continuation_bulk: ContinuationBulk::Dropped,
        per_agent: true,
        marked_turns: MarkedTurns::BootstrapFull,
        marker_voided_by: &["compaction", "reset"],
        freshness: Freshness::NextTurn,
    },
    budgets: Budgets {
        max_chars: 20_000,
        total_max_chars: Some(60_000),
        user_max_chars: Some(4_000),
        per_agent: true,
        warning_modes: false,
        least: 1,
        cut: CutRule::Fitted,
        pairs: PairRule::LeftOut,
        digest: Some("AGENTS.md"),
        digest_lines: DigestLines::WithLead,
        figures: FiguresBy::Path,
        total_cause: TotalCause::LeftTooLittle,
        notice: NoticePlace::SystemPrompt,
    },
    rendering: Rendering {
        user_files_keep_order: true,
        guided: &["soul.md", "memory.md", "user.md"],
        heartbeat_prompt: HeartbeatPrompt::AnyLikeIt,
        project_entries: &["memory.md", "user.md"],
        dynamic_heartbeat: false,
        ..RENDERING_2026_4
    },
    agents: Agents {
        default_agent: DefaultAgent::ExactlyOne,
        system_agent: true,
        entries_map: true,
        default_directory: DefaultDirectory::ProfileStateDirectory,
        unparsable_key: UnparsableKey::Error,
        ..AGENTS_2026_4
    },
    seeding: Seeding {
        files: &["AGENTS.md", "SOUL.md", "IDENTITY.md", "USER.md"],
        not_after_completion: &["SOUL.md", "IDENTITY.md", "USER.md"],
        not_new: &[
            Evidence::MemoryDirectory,
            Evidence::MemoryFile,
            Evidence::Skills,
        ],
        in_use: Some(&[
            Evidence::IdentityEdited,
            Evidence::UserEdited,
            Evidence::SoulEdited,
            Evidence::MemoryDirectory,
            Evidence::Git,
            Evidence::MemoryFile,
            Evidence::Skills,
        ]),
        state: SeedState::StateDirectory,
        pending_in_use: PendingInUse::Retired,
        vanished: VanishedRule::RefuseAfterCompletion,
        bootstrap_mode: BootstrapModeRule::LimitedWithoutRead,
    },
    skills: SkillRules::B,
    prompt: PromptRules::OPENCLAW_2026_9,
    config: ConfigRules::Keys2026_9,
    runtime: RuntimeRules::OPENCLAW_2026_9,
};

/// What the Atmosphere bridge takes from a directory; its composition is an adapter's work.
pub const ATMOSPHERE: Contract = Contract {
    name: "atmosphere",
    summary: "what the Atmosphere bridge takes: identity, persona, user, rules; missing files are simply empty",
    loading: Loading {
        files: &[
            if_there("IDENTITY.md"),
            if_there("SOUL.md"),
            if_there("USER.md"),
            if_there("AGENTS.md"),
        ],
        lower_memory: LowerMemory::Ignored,
        read_errors: ReadErrorRule::Refusal,
        front_matter: FrontMatterHandling::Kept,
        ..CANONICAL.loading
    },
    filters: Filters {
        subagent_files: &["IDENTITY.md", "SOUL.md", "USER.md", "AGENTS.md"],
        cron_files: None,
        lightweight: Lightweight::Unknown,
        ..CANONICAL.filters
    },
    extras: Extras {
        known: false,
        ..CANONICAL.extras
    },
    turns: Turns {
        injection_values: &["always"],
        continuation_bulk: ContinuationBulk::Dropped,
        ..CANONICAL.turns
    },
    budgets: Budgets {
        cut: CutRule::Never,
        total_max_chars: None,
        notice: NoticePlace::Nowhere,
        ..CANONICAL.budgets
    },
    rendering: Rendering {
        layout: BlockLayout::Composition,
        order: PromptOrder::Loaded,
        missing_marked: MissingMarked::Nothing,
        guided: &[],
        squeeze: false,
        dynamic_heartbeat: false,
        boundary: false,
        memory_results: false,
        ..CANONICAL.rendering
    },
    skills: SkillRules::ATMOSPHERE,
    prompt: PromptRules::ATMOSPHERE,
    ..CANONICAL
};
