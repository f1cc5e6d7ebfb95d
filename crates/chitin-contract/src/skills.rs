//! The part of a contract that is about skills.

use super::catalogue::CatalogueRules;
use crate::constants::constants;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How skills are found and read (S1–S64).
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SkillRules {
    /// Where skills come from, lowest precedence first; a later source replaces a skill of the same name (S1, S2).
    pub sources: &'static [SkillSource],
    /// Whether `~/.agents/skills` counts when the state directory was moved (S1).
    pub personal_root: PersonalRoot,
    /// What becomes of a root of the workspace that is a link out of it.
    pub linked_roots: LinkedRoots,
    /// How many levels below a root skills are looked for; 1 is direct children only (S3).
    pub group_depth: usize,
    /// The same for an extra directory that is not itself called `skills` (S3).
    pub extra_group_depth: usize,
    /// When `skills` inside a root takes the root's place (S4).
    pub nested_root: NestedRoot,
    /// What a SKILL.md directly in a root means (S5).
    pub root_file: RootFile,
    /// Whether directories whose names start with a dot, and `node_modules`, are looked into (S6).
    pub hidden_directories: HiddenDirectories,
    /// Whether SKILL.md itself may be a link (S7).
    pub file_link: SkillFileLink,
    /// Sources whose directories may be links to anywhere (S7).
    pub uncontained_sources: &'static [SkillSource],
    /// Sources that honour `skills.load.allowSymlinkTargets` (S7).
    pub link_target_sources: &'static [SkillSource],
    /// Sources from which a file with a second name is refused; if there are any, plugins are among them (S7).
    pub no_hardlink_sources: &'static [SkillSource],
    /// What the limit per source counts (S8).
    pub source_limit: SourceLimit,
    /// How names of skills are ordered (S9).
    pub name_order: NameOrder,
    /// How directories inside one source are ordered; of two with one name the later wins (S2).
    pub directory_order: NameOrder,
    /// What becomes of front matter that is not well formed (S10, S15–S17).
    pub front_matter: FrontMatterRule,
    /// Keys whose line is quoted and tried again: the first in any trouble, the others when a colon is the trouble (S18).
    pub repaired_keys: &'static [&'static str],
    /// The members of `metadata` that are read, the first that is there wins (S20).
    pub metadata_members: &'static [&'static str],
    /// Which skills of an installed release are in the catalogue (S1).
    pub release: ReleaseSkills,
    /// Whether a download may state a `sha256` sum (S22).
    pub download_sum: DownloadSum,
    /// Whether a variable that holds only blanks counts as set (S32).
    pub blank_variable: BlankVariable,
    /// Whether a session may add and remove single skills (S40).
    pub session_overlay: SessionOverlay,
    /// How long the description of a slash command may be, in UTF-16 units (S62).
    pub max_command_description: Option<usize>,
    /// How skills are listed in the prompt (S50–S59).
    pub catalogue: CatalogueRules,
}

constants! {
    SkillRules, "skills":
    /// How many directories a root may hold before it is called too large (S8); configuration may change it.
    MAX_CANDIDATES_PER_ROOT: usize = 300;
    /// How many skills a source may give (S8); configuration may change it.
    MAX_SKILLS_PER_SOURCE: usize = 200;
    /// The largest SKILL.md that is read, in bytes (S8); configuration may change it.
    MAX_FILE_BYTES: u64 = 256_000;
}

/// Where a skill comes from.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub enum SkillSource {
    /// Directories that configuration or a plugin adds.
    #[serde(rename = "openclaw-extra")]
    Extra,
    /// What ships with the runtime.
    #[serde(rename = "openclaw-bundled")]
    Bundled,
    /// What ships with the runtime for the agent that looks after it.
    #[serde(rename = "openclaw-custodian")]
    Custodian,
    /// The agent's own workshop.
    #[serde(rename = "openclaw-workshop")]
    Workshop,
    /// `skills` in the state directory.
    #[serde(rename = "openclaw-managed")]
    Managed,
    /// `~/.agents/skills`.
    #[serde(rename = "agents-skills-personal")]
    Personal,
    /// `.agents/skills` in the workspace.
    #[serde(rename = "agents-skills-project")]
    Project,
    /// `skills` in the workspace.
    #[serde(rename = "openclaw-workspace")]
    Workspace,
}

impl SkillSource {
    /// Every source, lowest precedence first.
    pub const ALL: [Self; 8] = [
        Self::Extra,
        Self::Bundled,
        Self::Custodian,
        Self::Workshop,
        Self::Managed,
        Self::Personal,
        Self::Project,
        Self::Workspace,
    ];

    /// Returns the tag that the recorded programs know the source by.
    pub const fn tag(self) -> &'static str {
        match self {
            Self::Extra => "openclaw-extra",
            Self::Bundled => "openclaw-bundled",
            Self::Custodian => "openclaw-custodian",
            Self::Workshop => "openclaw-workshop",
            Self::Managed => "openclaw-managed",
            Self::Personal => "agents-skills-personal",
            Self::Project => "agents-skills-project",
            Self::Workspace => "openclaw-workspace",
        }
    }

    /// Returns the source of that tag.
    pub fn from_tag(tag: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.tag() == tag)
    }
}

impl std::fmt::Display for SkillSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.tag())
    }
}

/// Which skills of an installed release are in the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReleaseSkills {
    /// None.
    None,
    /// What it brings, and what its plugins bring that are on.
    Bundled,
    /// The same, and for the agent that looks after the machine what it brings for that.
    WithCustodian,
}

/// Whether `~/.agents/skills` counts when the state directory was moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PersonalRoot {
    /// Always.
    Always,
    /// Only when the state directory is the default one.
    DefaultStateOnly,
}

/// When `skills` inside a root takes the root's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NestedRoot {
    /// Whenever it holds a skill; skills beside it are lost.
    Always,
    /// When it holds a skill and none stands beside it; otherwise both count.
    WhenAlone,
    /// Never.
    Never,
}

/// What a SKILL.md directly in a root means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RootFile {
    /// The root is one skill, and its children are not looked at.
    WholeRoot,
    /// Nothing.
    Ignored,
}

/// Whether directories whose names start with a dot, and `node_modules`, are looked into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HiddenDirectories {
    /// They are passed over.
    Skipped,
    /// They count like any other.
    Counted,
}

/// Whether SKILL.md itself may be a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SkillFileLink {
    /// It may not.
    Refuse,
    /// It may, when it ends inside the skill's directory.
    InsideSkill,
}

/// What the limit per source counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SourceLimit {
    /// Directories, so empty ones use it up.
    Directories,
    /// Skills that were read.
    Skills,
}

/// How names are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NameOrder {
    /// As a dictionary in English orders them.
    Locale,
    /// By UTF-16 code unit.
    CodeUnit,
    /// By code point.
    CodePoint,
}

/// What becomes of front matter that is not well formed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FrontMatterRule {
    /// It is read line by line, and nothing is an error.
    Lenient,
    /// The skill is refused.
    Strict,
}

/// Whether a download may state a `sha256` sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DownloadSum {
    /// The field is not known.
    Unknown,
    /// It is read; an entry with a malformed sum is dropped.
    Checked,
}

/// Whether a variable that holds only blanks counts as set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BlankVariable {
    /// It counts.
    Set,
    /// It does not.
    Missing,
}

/// Whether a session may add and remove single skills.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SessionOverlay {
    /// There is no such thing.
    Unknown,
    /// By skill key: true adds, false removes.
    ByKey,
}

/// What becomes of a skill root of the workspace that is a link out of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LinkedRoots {
    /// Its skills are used, with a warning.
    Followed,
    /// Its skills are not used, unless it lies in a trusted root.
    Refused,
}

impl SkillRules {
    /// Recorded in 2026.4.23; also what 2026.2 is taken to do.
    pub const A: Self = Self {
        sources: &[
            SkillSource::Extra,
            SkillSource::Bundled,
            SkillSource::Managed,
            SkillSource::Personal,
            SkillSource::Project,
            SkillSource::Workspace,
        ],
        personal_root: PersonalRoot::Always,
        linked_roots: LinkedRoots::Followed,
        group_depth: 1,
        extra_group_depth: 1,
        nested_root: NestedRoot::Always,
        root_file: RootFile::WholeRoot,
        hidden_directories: HiddenDirectories::Skipped,
        file_link: SkillFileLink::Refuse,
        uncontained_sources: &[],
        link_target_sources: &[],
        no_hardlink_sources: &[],
        source_limit: SourceLimit::Directories,
        name_order: NameOrder::Locale,
        directory_order: NameOrder::CodeUnit,
        front_matter: FrontMatterRule::Lenient,
        repaired_keys: &[],
        metadata_members: &["openclaw"],
        release: ReleaseSkills::Bundled,
        download_sum: DownloadSum::Unknown,
        blank_variable: BlankVariable::Set,
        session_overlay: SessionOverlay::Unknown,
        max_command_description: Some(100),
        catalogue: CatalogueRules::A,
    };
    /// Recorded in 2026.9.6.
    pub const B: Self = Self {
        sources: &SkillSource::ALL,
        personal_root: PersonalRoot::DefaultStateOnly,
        group_depth: 6,
        extra_group_depth: 2,
        nested_root: NestedRoot::WhenAlone,
        file_link: SkillFileLink::InsideSkill,
        uncontained_sources: &[SkillSource::Managed, SkillSource::Personal],
        link_target_sources: &[
            SkillSource::Extra,
            SkillSource::Project,
            SkillSource::Workspace,
        ],
        no_hardlink_sources: &[SkillSource::Bundled, SkillSource::Custodian],
        source_limit: SourceLimit::Skills,
        directory_order: NameOrder::Locale,
        front_matter: FrontMatterRule::Strict,
        repaired_keys: &["description", "read_when", "summary"],
        metadata_members: &["openclaw", "clawdbot"],
        release: ReleaseSkills::WithCustodian,
        download_sum: DownloadSum::Checked,
        blank_variable: BlankVariable::Missing,
        session_overlay: SessionOverlay::ByKey,
        max_command_description: None,
        catalogue: CatalogueRules::B,
        ..Self::A
    };
    /// Canonical: A, with names ordered by code point. Skills may be sorted into groups, as 2026.9 allows, and `skills` inside a
    /// root is a group like any other unless it is alone, so that no skill hides the others.
    pub const CANONICAL: Self = Self {
        linked_roots: LinkedRoots::Refused,
        group_depth: 6,
        extra_group_depth: 2,
        nested_root: NestedRoot::WhenAlone,
        source_limit: SourceLimit::Skills,
        name_order: NameOrder::CodePoint,
        directory_order: NameOrder::CodePoint,
        release: ReleaseSkills::None,
        catalogue: CatalogueRules::CANONICAL,
        ..Self::A
    };
    /// The bridge: two roots in the workspace, one level deep.
    pub const ATMOSPHERE: Self = Self {
        sources: &[SkillSource::Project, SkillSource::Workspace],
        group_depth: 1,
        extra_group_depth: 1,
        source_limit: SourceLimit::Directories,
        nested_root: NestedRoot::Never,
        root_file: RootFile::Ignored,
        hidden_directories: HiddenDirectories::Counted,
        ..Self::CANONICAL
    };
}
