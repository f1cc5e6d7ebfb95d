//! The part of a contract that is about how much text is let through.

use schemars::JsonSchema;
use serde::Serialize;

/// How much text is let through, in UTF-16 units.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Budgets {
    /// The default bound of one file.
    pub max_chars: u32,
    /// The default bound of all files together; none means no such bound.
    pub total_max_chars: Option<u32>,
    /// A lower bound of its own for the user file.
    pub user_max_chars: Option<u32>,
    /// Whether an agent's own entry may set the bounds.
    pub per_agent: bool,
    /// Whether the user can choose when a truncation is announced; otherwise it always is.
    pub warning_modes: bool,
    /// The least that a file may be cut to, whatever the bounds say.
    pub least: u32,
    /// What is left of a file over its bound (W23, W24).
    pub cut: CutRule,
    /// What becomes of a character of two units when a cut falls between them (W25).
    pub pairs: PairRule,
    /// The file whose rules are gathered into a digest when it is cut (W29).
    pub digest: Option<&'static str>,
    /// Which lines such a digest takes (W29).
    pub digest_lines: DigestLines,
    /// How a report finds what became of a file (W31).
    pub figures: FiguresBy,
    /// When the budget of all files counts as a cause of a cut (W31).
    pub total_cause: TotalCause,
    /// Where a truncation is announced to the model (W32).
    pub notice: NoticePlace,
}

/// What is left of a file over its bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CutRule {
    /// Head and tail with a marker between, fitted to the bound.
    Fitted,
    /// Fixed shares of head and tail with a marker between, which may come out longer than the bound.
    FixedShares,
    /// The file is never cut.
    Never,
}

/// Which lines a digest of rules takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DigestLines {
    /// Headings, list entries and lines with an English rule word, each line alone.
    EnglishAlone,
    /// Rule words of Chinese too; a line of prose right above a rule goes with it, and fences of code are never taken.
    WithLead,
}

/// What becomes of a character of two units when a cut falls between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PairRule {
    /// It is lost, and its half still counts.
    HalfCounts,
    /// It is left out whole.
    LeftOut,
}

/// How a report finds what became of a file. It matters only where two files share a path or a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FiguresBy {
    /// Each file speaks for itself.
    File,
    /// The last file of a name speaks for all.
    Name,
    /// The first file of a path speaks for all.
    Path,
    /// The same; a path that gave nothing looks for the first file of its name.
    PathThenName,
}

/// When the budget of all files counts as a cause of a cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TotalCause {
    /// Causes are not told.
    Untold,
    /// When the whole budget is used up.
    UsedUp,
    /// When what was left before the file was less than its bound and its length.
    LeftTooLittle,
}

/// Where a truncation is announced to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NoticePlace {
    /// Nowhere but in the marker itself.
    Nowhere,
    /// After the user's words.
    UserPrompt,
    /// In a section of the system prompt.
    SystemPrompt,
}
