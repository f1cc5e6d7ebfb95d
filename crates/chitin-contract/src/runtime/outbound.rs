//! How text leaves (R50–R58, R70–R77).

use crate::constants::constants;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How text leaves (R50–R58, R70–R77). Lengths count UTF-16 units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OutboundRules {
    /// Where a text may be cut (R50, R53).
    pub cuts: Cuts,
    /// What becomes of short paragraphs in mode `newline` (R52).
    pub paragraphs: Paragraphs,
    /// Which blank lines part paragraphs (R52).
    pub paragraph_breaks: ParagraphBreaks,
    /// Which lines end a code block (R51).
    pub fence_ends: FenceEnds,
    /// What a code block is opened with again, and what it takes to be closed (R51, R57).
    pub fence_wraps: FenceWraps,
    /// Whether the line that opens a code block may be cut (R51).
    pub fence_openings: FenceOpenings,
    /// When a stream may break between words (R57).
    pub stream_words: StreamWords,
    /// Where a message for Discord goes on inside a code block (R54).
    pub discord_lines: DiscordLines,
    /// How Markdown is read and rendered (R55, R56).
    pub markdown: MarkdownRules,
    /// What means "say nothing" (R70, R71).
    pub silence: Silence,
    /// Where the settings of a channel are looked for (R58, R74).
    pub settings: ChannelSettings,
    /// What is shown of an answer while it is written, when nothing is said.
    pub previews: Previews,
}

/// What is shown of an answer while it is written, channel by channel, when nothing is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Previews {
    /// On Discord.
    pub discord: PreviewMode,
    /// On Slack.
    pub slack: PreviewMode,
    /// On Telegram.
    pub telegram: PreviewMode,
}

constants! {
    Previews, "runtime.outbound.previews":
    /// Everywhere else.
    OTHERS: PreviewMode = PreviewMode::Off;
}

/// What is shown of an answer while it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PreviewMode {
    /// Nothing.
    Off,
    /// All that is there, in one message that is changed again and again.
    Partial,
    /// The same in larger steps.
    Block,
    /// That something is done, and none of the words.
    Progress,
}

/// Where a text may be cut (R50, R53). No release of ours cuts inside a character, whatever was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cuts {
    /// Between characters. The last piece of a plain text keeps the blanks at its end.
    Characters,
    /// Between what a reader sees as characters: a flag, a family or a line end stays whole. No piece of a plain text ends
    /// in blanks.
    Graphemes,
}

/// What becomes of short paragraphs in mode `newline` (R52).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Paragraphs {
    /// Each is a piece of its own.
    OneEach,
    /// As many as fit go together.
    Packed,
}

/// Which blank lines part paragraphs (R52).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ParagraphBreaks {
    /// Those outside of fenced code.
    OutsideFences,
    /// Those outside of any code; Unicode's own separators of lines and paragraphs count as line ends.
    OutsideCode,
}

/// Which lines end a code block (R51).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FenceEnds {
    /// Any line with the block's marker, whatever follows it. Lines that end in CR are no fences.
    AnyMarker,
    /// Only a marker with nothing behind it.
    BareMarker,
}

/// What a code block is opened with again, and what it takes to be closed (R51, R57).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FenceWraps {
    /// Its own opening line, however long. While streaming, the closing line may make a piece too long.
    WholeLine,
    /// Its own opening line, if that leaves room, or else the bare marker; what is added counts against the limit. Blanks at
    /// a cut stay in the code.
    Fitting,
}

/// Whether the line that opens a code block may be cut (R51).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FenceOpenings {
    /// When nothing before it breaks well.
    MayBeCut,
    /// Not while there is anything before it.
    Whole,
}

/// When a stream may break between words (R57).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StreamWords {
    /// As soon as there is enough for a block, unless lines are preferred.
    WhenEnough,
    /// Only when a block is full.
    WhenFull,
}

/// Where a message for Discord goes on inside a code block (R54).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DiscordLines {
    /// Right behind the opening line, where it is taken for the name of a language.
    BehindOpening,
    /// On a line of its own.
    OwnLine,
}

/// How Markdown is read and rendered (R55, R56).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MarkdownRules {
    /// Which blank lines inside and behind lists and quotations are kept.
    pub spacing: Spacing,
    /// What becomes of HTML in Markdown.
    pub html: Html,
    /// Which links are kept, and which file names are taken for links.
    pub links: LinkRules,
    /// Whether emphasis may stand against Chinese, Japanese and Korean characters, and emoji count as signs.
    pub cjk_emphasis: bool,
    /// Whether code blocks name their language.
    pub languages: bool,
    /// How a text is cut whose rendering is too long.
    pub splitting: Splitting,
    /// What becomes of a character whose markup leaves no room for it.
    pub no_room: NoRoom,
}

/// Which blank lines inside and behind lists and quotations are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Spacing {
    /// Paragraphs of one item run together; a quotation holds the blank line behind it.
    Tight,
    /// Paragraphs of an item stay apart; a quotation ends with its words and holds its links; a numbered list or a heading
    /// right behind a bullet is parted from it.
    Source,
}

/// What becomes of HTML in Markdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Html {
    /// It is text like any other.
    Text,
    /// A tag is one piece of text; those that Telegram knows are kept as tags there.
    Tags,
}

/// Which links are kept, and which file names are taken for links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LinkRules {
    /// All, but for file names whose link is their own name.
    Any,
    /// Those that Telegram can open; a file name that the author linked stays a link.
    Openable,
}

/// How a text is cut whose rendering is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Splitting {
    /// By its own length first; blanks at the cuts go. What is still too long is cut again.
    DropBlanks,
    /// Every character stays; code is cut so that no piece begins or ends in blanks of it.
    KeepBlanks,
}

/// What becomes of a character whose markup leaves no room for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NoRoom {
    /// It is sent with its markup, too long.
    TooLong,
    /// It is sent without.
    WithoutMarkup,
}

/// What means "say nothing" (R70, R71).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Silence {
    /// The token alone, or an object with nothing but the token as action. A token that is glued to text is taken off.
    Exact,
    /// Also repeated, between punctuation, as a JSON string or behind reasoning. A token on a line above text is taken off.
    Lenient,
}

/// Where the settings of a channel are looked for (R58, R74).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ChannelSettings {
    /// In all places that were ever used: `channels.X` or `X`, with `chunkMode` and `dm.replyToMode` among them.
    WithLegacy,
    /// In `channels.X` and its accounts, with all about streaming below `streaming`.
    CurrentOnly,
}

impl OutboundRules {
    /// What the seed documents say: nothing about these, so that of OpenClaw 2026.4. Some follow 2026.9 on purpose: no cut
    /// inside what a reader takes for one character, and no piece longer than its limit (R51, R53). Some follow neither:
    /// code that goes on in the next message for Discord stays code there, the line that opens it is not cut, and no markup
    /// makes a piece too long.
    pub const CANONICAL: Self = Self {
        cuts: Cuts::Graphemes,
        fence_ends: FenceEnds::BareMarker,
        fence_wraps: FenceWraps::Fitting,
        fence_openings: FenceOpenings::Whole,
        discord_lines: DiscordLines::OwnLine,
        markdown: MarkdownRules {
            no_room: NoRoom::WithoutMarkup,
            ..Self::OPENCLAW_2026_4.markdown
        },
        // The seeds say that sessions stream what a model says to their surface (E8).
        previews: Previews {
            discord: PreviewMode::Partial,
            slack: PreviewMode::Partial,
            telegram: PreviewMode::Partial,
        },
        ..Self::OPENCLAW_2026_4
    };
    /// What OpenClaw 2026.4 does; 2026.2 and the bridge, which were not recorded here, follow it.
    pub const OPENCLAW_2026_4: Self = Self {
        cuts: Cuts::Characters,
        paragraphs: Paragraphs::OneEach,
        paragraph_breaks: ParagraphBreaks::OutsideFences,
        fence_ends: FenceEnds::AnyMarker,
        fence_wraps: FenceWraps::WholeLine,
        fence_openings: FenceOpenings::MayBeCut,
        stream_words: StreamWords::WhenEnough,
        discord_lines: DiscordLines::BehindOpening,
        markdown: MarkdownRules {
            spacing: Spacing::Tight,
            html: Html::Text,
            links: LinkRules::Any,
            cjk_emphasis: false,
            languages: false,
            splitting: Splitting::DropBlanks,
            no_room: NoRoom::TooLong,
        },
        silence: Silence::Exact,
        settings: ChannelSettings::WithLegacy,
        previews: Previews {
            discord: PreviewMode::Off,
            slack: PreviewMode::Partial,
            telegram: PreviewMode::Partial,
        },
    };
    /// What OpenClaw 2026.9 does.
    pub const OPENCLAW_2026_9: Self = Self {
        cuts: Cuts::Graphemes,
        paragraphs: Paragraphs::Packed,
        paragraph_breaks: ParagraphBreaks::OutsideCode,
        fence_ends: FenceEnds::BareMarker,
        fence_wraps: FenceWraps::Fitting,
        fence_openings: FenceOpenings::MayBeCut,
        stream_words: StreamWords::WhenFull,
        discord_lines: DiscordLines::BehindOpening,
        markdown: MarkdownRules {
            spacing: Spacing::Source,
            html: Html::Tags,
            links: LinkRules::Openable,
            cjk_emphasis: true,
            languages: true,
            splitting: Splitting::KeepBlanks,
            no_room: NoRoom::TooLong,
        },
        silence: Silence::Lenient,
        settings: ChannelSettings::CurrentOnly,
        previews: Previews {
            discord: PreviewMode::Off,
            slack: PreviewMode::Progress,
            telegram: PreviewMode::Progress,
        },
    };
}
