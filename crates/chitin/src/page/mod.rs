//! The context as one page: what the model gets, from which file, what was cut and why.
//!
//! The page is a single file that needs no network. What it shows is the [`Page`] value, embedded as JSON; its script
//! only ever puts that into the document as text. [`render`] makes the bytes, and the same value gives the same bytes.

mod html;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod page_tests;

use serde::Serialize;

/// Stands near the beginning of every page of ours.
pub(crate) const GENERATOR: &str = "<meta name=\"generator\" content=\"chitin";

/// Renders the page: one HTML file that needs nothing else.
pub(crate) fn render(page: &Page) -> String {
    html::document(page)
}

/// Everything that the page shows.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Page {
    /// What the page is about, usually the name of the directory.
    pub title: String,
    /// The directory, as it may be shown.
    pub directory: String,
    /// The session key, if one was given.
    pub session: Option<String>,
    /// Which turn this is, in words: `first turn`.
    pub turn: String,
    /// Who wrote the page: name and version.
    pub generator: String,
    /// The same workspace through the eyes of one contract each; the first is shown first.
    pub views: Vec<View>,
    /// The files as they are on disk, for whoever wants to see what was cut.
    pub texts: Vec<FileText>,
}

/// The text of one file, as decoded.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct FileText {
    /// The path, spelled as in [`FileView::path`].
    pub path: String,
    /// The name to show.
    pub name: String,
    /// The whole text.
    pub text: String,
}

/// What one contract makes of the workspace.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct View {
    /// What the switcher calls it.
    pub label: String,
    /// The name of the contract.
    pub contract: String,
    /// One sentence about it.
    pub summary: String,
    /// The model that shares and prices are for.
    pub model: ModelLine,
    /// How tokens were counted, in words: `counted with o200k`, `estimated from characters`.
    pub tokens_basis: String,
    /// The system prompt and the notices beside the message, headings and separators included.
    pub size: Size,
    /// The whole request: the system prompt and what is sent with it.
    pub request: Request,
    /// What stands above the cache boundary; all of the system prompt when there is none.
    pub cached: Size,
    /// The byte of the system prompt at which the reusable part ends.
    pub boundary: Option<usize>,
    /// Every part, in the order of the prompt.
    pub fragments: Vec<FragmentView>,
    /// Every file that the contract knows of, whether it is in the prompt or not.
    pub files: Vec<FileView>,
    /// Sentences that the reader should see first.
    pub warnings: Vec<String>,
}

/// The whole request in figures.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Request {
    /// All parts that are known.
    pub size: Size,
    /// Whether no part is unknown.
    pub complete: bool,
    /// The parts besides the system prompt.
    pub parts: Vec<RequestPart>,
}

/// A part of the request besides the system prompt.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct RequestPart {
    /// What it is.
    pub name: String,
    /// How many there are, and what is not counted.
    pub note: String,
    /// How many tokens it has; none if that is unknown.
    pub tokens: Option<usize>,
}

/// What the request means for one model.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ModelLine {
    /// The model's name.
    pub name: String,
    /// Its window, in tokens; none if it is unknown.
    pub window: Option<u64>,
    /// How much of the window the request takes, in thousandths.
    pub share_permille: Option<u64>,
    /// What the request costs each turn, with its currency, ready to show.
    pub price_per_turn: Option<String>,
    /// The same when the reusable part comes from the cache.
    pub price_cached: Option<String>,
}

/// A length in the units that limits, files and models are measured in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Size {
    /// UTF-16 code units.
    pub units: usize,
    /// Bytes of UTF-8.
    pub bytes: usize,
    /// Tokens, on the basis that the view names.
    pub tokens: usize,
    /// Lines.
    pub lines: usize,
}

/// One part of the prompt.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct FragmentView {
    /// A name that is the same in every view, so that a selection survives a change of contract.
    pub id: String,
    /// What kind of part it is.
    pub kind: FragmentKind,
    /// The name to show.
    pub title: String,
    /// The file that it was made of.
    pub path: Option<String>,
    /// Where in the request it stands.
    pub role: Role,
    /// How long it stays the same.
    pub cache: Cache,
    /// What there was before budgets.
    pub raw: Size,
    /// What the model gets.
    pub injected: Size,
    /// What was done with it, in a word or two: `whole`, `cut`, `built in`.
    pub decision: String,
    /// Why, as a sentence; empty when there is nothing to say.
    pub reason: String,
    /// The text, piece by piece. Joined end to end, the pieces of all parts of a role are what is sent.
    pub pieces: Vec<PieceView>,
}

/// What kind of part a fragment is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FragmentKind {
    /// A file of the workspace, with its heading.
    File,
    /// One of our own sections.
    Section,
    /// The line below which nothing is reused.
    Boundary,
}

/// Where in the request a part stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Role {
    /// In the system prompt.
    System,
    /// Before the user's own words.
    BeforeUser,
    /// After the user's own words.
    AfterUser,
}

/// How long a part stays the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Cache {
    /// Until somebody edits the workspace or the configuration.
    Stable,
    /// Until the session ends.
    Session,
    /// Any turn may change it.
    Dynamic,
}

/// A run of text with one source.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct PieceView {
    /// The text, as it is sent.
    pub text: String,
    /// Where it came from.
    pub source: PieceSource,
    /// The line of the file on which it begins, counted from one.
    pub first_line: Option<usize>,
}

/// Where a piece came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PieceSource {
    /// Our own words: a heading, a marker, guidance.
    Ours,
    /// Handed in with the turn: tools, skills, search results.
    Given,
    /// The file, to the byte.
    File,
    /// The file, shortened or tidied.
    Rewritten,
}

/// One file, whether it is in the prompt or not.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct FileView {
    /// The name to show.
    pub name: String,
    /// The path.
    pub path: String,
    /// What became of it.
    pub state: FileState,
    /// Its size on disk.
    pub raw: Size,
    /// How much of it is sent.
    pub injected: Size,
    /// Why, as a sentence; empty when there is nothing to say.
    pub reason: String,
    /// Which of the view's fragments holds it.
    pub fragment: Option<usize>,
    /// The whole file in order, split at every place where keeping turns into cutting. Empty when it was not read.
    pub regions: Vec<Region>,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FileState {
    /// It is there, whole.
    Whole,
    /// It is there in part.
    Cut,
    /// It does not exist.
    Missing,
    /// It was not read.
    Refused,
    /// It exists, and this session or turn does not get it.
    LeftOut,
}

/// A run of a file's text that was kept or cut.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Region {
    /// Whether the model gets it.
    pub kept: bool,
    /// The line on which it begins, counted from one.
    pub start_line: usize,
    /// The line on which it ends.
    pub end_line: usize,
    /// The text. The texts of all regions, joined, are the file.
    pub text: String,
    /// Why it was cut, in a few words: `per-file limit`. Empty when it was kept.
    pub why: String,
}
