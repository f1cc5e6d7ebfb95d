//! The part of a contract that is about how files stand in the prompt.

use super::NameOrder;
use schemars::JsonSchema;
use serde::Serialize;

/// How files stand in the prompt.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Rendering {
    /// What the block of files looks like.
    pub layout: BlockLayout,
    /// The order of files (W33, CN8).
    pub order: PromptOrder,
    /// How names that the order does not know are compared.
    pub ties: NameOrder,
    /// Whether files that configuration added stand after all others.
    pub extras_last: bool,
    /// Whether several user files keep the order in which they were given.
    pub user_files_keep_order: bool,
    /// What stands in the heading of a file (W36).
    pub headings: HeadingStyle,
    /// The files whose absence is said in the prompt (W28, CN9).
    pub missing_marked: MissingMarked,
    /// The files, in lower case, that have a line of guidance at the head of the block (W35).
    pub guided: &'static [&'static str],
    /// Whether three or more line feeds become two (W37).
    pub squeeze: bool,
    /// Which block that documents the default heartbeat prompt is taken out (W37).
    pub heartbeat_prompt: HeartbeatPrompt,
    /// The files, in lower case, whose entries for other projects are left out (W39).
    pub project_entries: &'static [&'static str],
    /// Whether the heartbeat file stands below the cache boundary, in a block of its own (W38).
    pub dynamic_heartbeat: bool,
    /// Whether there is a line that marks the cache boundary (W38).
    pub boundary: bool,
    /// Whether search results of memory have a block of their own (CN12).
    pub memory_results: bool,
    /// Whether the text of `SKILLS.md` is in the prompt.
    pub skills_file: bool,
}

/// Which block that documents the default heartbeat prompt is taken out of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum HeartbeatPrompt {
    /// None: such a block stays.
    Kept,
    /// The one block of the release's old template. It is known by its digest, since the text is not ours to carry.
    Known {
        /// The BLAKE3 digest of the block, from its title to the closing back quote.
        digest: &'static str,
    },
    /// Every block that begins and ends as such prompts do.
    AnyLikeIt,
}

/// What the block of files looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BlockLayout {
    /// A block `# Project Context` with a heading per file.
    ProjectContext,
    /// Titled sections without paths, as the bridge composes them.
    Composition,
}

/// The order of files in the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PromptOrder {
    /// As they were loaded.
    Loaded,
    /// By the name's fixed place: agents, soul, identity, user, tools, bootstrap, memory, others.
    ByName,
}

/// What stands in the heading of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HeadingStyle {
    /// The path.
    Path,
    /// The bare name.
    Name,
}

/// The files whose absence is said in the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MissingMarked {
    /// Every file that has a record.
    All,
    /// Every file but those that may well be absent: heartbeat, bootstrap, memory.
    NotOptional,
    /// None, and no refusal either: what cannot be read is simply not there (B3).
    Nothing,
}
