//! Fragments: every byte that the model sees, with where it came from and why it is there.
//!
//! The prompt is a list of [`Fragment`]s until the last moment, when their texts are joined end to end. Each carries the
//! separator that stands before it, so joining adds nothing.

use chitin_protocol::record::FileRefusal;
use chitin_workspace::snapshot::FileContent;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A named part of what the model sees.
#[derive(Debug, Clone)]
pub struct Fragment {
    /// Which part it is.
    pub origin: FragmentOrigin,
    /// Where in the request it stands.
    pub role: FragmentRole,
    /// How long it stays the same.
    pub cache: CacheClass,
    /// What separates it from the fragment before it.
    pub lead: &'static str,
    /// The text, piece by piece, each with its source.
    pub pieces: Arc<[FragmentPiece]>,
    /// What there was before budgets, for files; otherwise the same as `injected`.
    pub raw: Size,
    /// What the model gets, headings and separators included.
    pub injected: Size,
    /// What budgets and rules made of it.
    pub decision: BudgetDecision,
}

impl Fragment {
    /// Makes a fragment of one of our own sections.
    pub fn section(key: &'static str, cache: CacheClass, pieces: Vec<FragmentPiece>) -> Self {
        let size = pieces
            .iter()
            .map(|piece| Size::of(piece.text.as_str()))
            .sum();
        Self {
            origin: FragmentOrigin::Section { key },
            role: FragmentRole::System,
            cache,
            lead: "",
            pieces: pieces.into(),
            raw: size,
            injected: size,
            decision: BudgetDecision::BuiltIn,
        }
    }

    /// Puts a separator before it.
    #[must_use]
    pub fn led_by(mut self, lead: &'static str) -> Self {
        self.injected = self.injected + Size::of(lead);
        self.lead = lead;
        self
    }

    /// Appends the text to a buffer, its separator first.
    pub fn write(&self, out: &mut String) {
        out.push_str(self.lead);
        for piece in &*self.pieces {
            out.push_str(piece.text.as_str());
        }
    }

    /// Returns the length of the text in bytes, its separator included.
    pub fn bytes(&self) -> usize {
        let pieces = self.pieces.iter().map(|piece| piece.text.as_str().len());
        self.lead.len() + pieces.sum::<usize>()
    }

    /// Returns the text.
    pub fn text(&self) -> String {
        let mut out = String::with_capacity(self.bytes());
        self.write(&mut out);
        out
    }
}

/// Which part of the prompt a fragment is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum FragmentOrigin {
    /// One of our own sections, by its key, such as `safety`.
    Section {
        /// The key, which configuration knows it by.
        key: &'static str,
    },
    /// A file of the workspace, with its heading.
    File {
        /// The name, such as `AGENTS.md`.
        name: Arc<str>,
        /// The path, as the record spells it.
        path: Arc<str>,
        /// Whether configuration added it from below the root.
        extra: bool,
    },
    /// The line below which nothing is cached.
    Boundary,
}

/// Where in the request a fragment stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FragmentRole {
    /// In the system prompt.
    System,
    /// In the conversation: a message of its own that the first turn puts there and later turns send again.
    Conversation,
    /// Before the user's own words.
    BeforeUser,
    /// After the user's own words.
    AfterUser,
    /// At the end of the first message of the conversation, where the model's wire format has it there.
    FirstMessage,
}

/// How long a fragment stays the same, which decides whether a provider can reuse it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CacheClass {
    /// Until somebody edits the workspace or the configuration.
    Stable,
    /// Until the session ends.
    Session,
    /// Any turn may change it.
    Dynamic,
}

/// A run of text with one source.
#[derive(Debug, Clone)]
pub struct FragmentPiece {
    /// The text.
    pub text: Text,
    /// Where it came from.
    pub source: FragmentSource,
}

impl FragmentPiece {
    /// Makes a piece of text that is ours.
    pub const fn ours(text: &'static str) -> Self {
        Self {
            text: Text::Fixed(text),
            source: FragmentSource::Ours,
        }
    }

    /// Makes a piece of text that was put together here: a heading, a marker.
    pub fn made(text: impl Into<Arc<str>>) -> Self {
        Self {
            text: Text::Shared(text.into()),
            source: FragmentSource::Ours,
        }
    }

    /// Makes a piece that the caller handed in: a description, a search result.
    pub fn given(text: impl Into<Arc<str>>) -> Self {
        Self {
            text: Text::Shared(text.into()),
            source: FragmentSource::Given,
        }
    }

    /// Makes a piece that is a range of a file's text, to the byte.
    pub const fn file(content: Arc<FileContent>, range: Range<usize>) -> Self {
        Self {
            text: Text::Slice {
                content,
                start: range.start,
                end: range.end,
            },
            source: FragmentSource::File {
                start: range.start,
                end: range.end,
            },
        }
    }
}

/// Where a piece came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum FragmentSource {
    /// It is ours: a heading, a marker, guidance, a separator.
    Ours,
    /// It was handed in with the turn: tools, skills, search results.
    Given,
    /// It is exactly this byte range of the fragment's file, as decoded.
    File {
        /// The first byte.
        start: usize,
        /// One past the last byte.
        end: usize,
    },
    /// It was made of this byte range of the fragment's file, shortened or tidied.
    Rewritten {
        /// The first byte.
        start: usize,
        /// One past the last byte.
        end: usize,
    },
}

/// Text that is shared, not copied.
#[derive(Clone)]
pub enum Text {
    /// Part of the program.
    Fixed(&'static str),
    /// Made for this prompt.
    Shared(Arc<str>),
    /// A range of a file's text.
    Slice {
        /// The file's content.
        content: Arc<FileContent>,
        /// The first byte.
        start: usize,
        /// One past the last byte.
        end: usize,
    },
}

impl Text {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Fixed(text) => text,
            Self::Shared(text) => text,
            Self::Slice {
                content,
                start,
                end,
            } => content.text.get(*start..*end).unwrap_or_default(),
        }
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

/// A length in the units that limits and files are measured in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Size {
    /// UTF-16 code units, as the contract's runtime counts them.
    pub units: usize,
    /// Bytes of UTF-8.
    pub bytes: usize,
}

impl Size {
    /// Measures a text.
    pub fn of(text: &str) -> Self {
        Self {
            units: chitin_protocol::text::utf16_len(text),
            bytes: text.len(),
        }
    }
}

impl std::ops::Add for Size {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            units: self.units + other.units,
            bytes: self.bytes + other.bytes,
        }
    }
}

impl std::iter::Sum for Size {
    fn sum<I: Iterator<Item = Self>>(sizes: I) -> Self {
        sizes.fold(Self::default(), |sum, size| sum + size)
    }
}

/// What budgets and rules made of a part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum BudgetDecision {
    /// It is ours and no budget applies.
    BuiltIn,
    /// It is there, whole.
    Whole,
    /// It is there in part.
    Cut {
        /// What it was cut to, in units.
        limit: usize,
        /// Why.
        causes: Vec<CutCause>,
    },
    /// It is not there, and the prompt says so.
    Missing,
    /// It was not read, and the prompt says so.
    Refused {
        /// Why.
        reason: FileRefusal,
    },
}

/// Why a file is not there whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CutCause {
    /// It is longer than one file may be.
    PerFileLimit,
    /// What was left of the budget of all files was not enough.
    TotalLimit,
    /// The plan for small windows shortens it.
    Plan,
}
