//! A piece with its score, and what the score is made of.

use crate::search::MemoryChunk;

/// What a score can be made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScorePart {
    /// How rare and how frequent the words are (BM25).
    Text,
    /// How near the meaning is.
    Vector,
    /// What a closer look at lines and words saw, against what both lists said.
    Closer,
    /// How many of the query's words the text has.
    Overlap,
    /// How much of the text these words are.
    Density,
    /// Words in the path, or in the headings above.
    Path,
    /// How much text there is.
    Length,
    /// The query names the day.
    Day,
    /// Words that stand together.
    Together,
    /// What is over 1 and taken off again.
    Cap,
    /// How old it is.
    Decay,
    /// How much it matters.
    Importance,
    /// Whether it belongs to the project at hand.
    Project,
    /// The query names the file.
    Named,
}

impl ScorePart {
    /// Every part, in the order in which they come to a score.
    pub const ALL: [Self; 14] = [
        Self::Text,
        Self::Vector,
        Self::Closer,
        Self::Overlap,
        Self::Density,
        Self::Path,
        Self::Length,
        Self::Day,
        Self::Together,
        Self::Cap,
        Self::Decay,
        Self::Importance,
        Self::Project,
        Self::Named,
    ];

    /// Returns its name, for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Vector => "vector",
            Self::Closer => "closer look",
            Self::Overlap => "overlap",
            Self::Density => "density",
            Self::Path => "path",
            Self::Length => "length",
            Self::Day => "day",
            Self::Together => "together",
            Self::Cap => "cap",
            Self::Decay => "decay",
            Self::Importance => "importance",
            Self::Project => "project",
            Self::Named => "named",
        }
    }
}

/// What each part adds to a score or takes off it. Together they are the score.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ScoreParts([f64; ScorePart::ALL.len()]);

impl ScoreParts {
    /// Returns what a part adds.
    pub fn of(&self, part: ScorePart) -> f64 {
        self.0[part as usize]
    }

    /// Returns the parts that add or take off something.
    pub fn telling(&self) -> impl Iterator<Item = (ScorePart, f64)> + '_ {
        ScorePart::ALL
            .into_iter()
            .map(|part| (part, self.of(part)))
            .filter(|(_, amount)| *amount != 0.0)
    }

    /// Returns what all of them come to.
    pub fn total(&self) -> f64 {
        self.0.iter().sum()
    }
}

/// How exactly a query names a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum NameMatch {
    /// It does not.
    #[default]
    Not,
    /// By its name without ending.
    Stem,
    /// By its name.
    Name,
    /// By its path.
    Path,
}

/// A piece that was found, with its score.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The piece.
    pub piece: MemoryChunk,
    /// How well it fits: 0 is not at all, 1 is best.
    pub score: f64,
    /// What the score is made of.
    pub parts: ScoreParts,
    /// How well its words fit, if words were looked for and found.
    pub text_score: Option<f64>,
    /// How near its meaning is, if that was looked for and found.
    pub vector_score: Option<f64>,
    /// Whether the query names the file.
    pub naming: NameMatch,
}

impl Hit {
    /// Makes a hit without a score.
    pub fn new(piece: MemoryChunk) -> Self {
        Self {
            piece,
            score: 0.0,
            parts: ScoreParts::default(),
            text_score: None,
            vector_score: None,
            naming: NameMatch::Not,
        }
    }

    /// Adds to the score.
    pub fn add(&mut self, part: ScorePart, amount: f64) {
        self.score += amount;
        self.parts.0[part as usize] += amount;
    }

    /// Multiplies the score.
    pub fn multiply(&mut self, part: ScorePart, factor: f64) {
        let before = self.score;
        self.score *= factor;
        self.parts.0[part as usize] += self.score - before;
    }

    /// Sets the score, and says which part made the difference.
    pub fn set(&mut self, part: ScorePart, score: f64) {
        self.parts.0[part as usize] += score - self.score;
        self.score = score;
    }

    /// Takes off what is over 1.
    pub fn cap(&mut self) {
        if self.score > 1.0 {
            self.set(ScorePart::Cap, 1.0);
        }
    }
}
