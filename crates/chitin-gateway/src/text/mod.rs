//! Text on its way out: cut into pieces that a surface takes (R50–R58).

/// How a surface wants text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// As it is.
    Plain,
    /// As Markdown.
    Markdown,
    /// As Discord reads it.
    Discord,
    /// As Slack reads it.
    Slack,
    /// As Telegram reads it.
    Telegram,
}
