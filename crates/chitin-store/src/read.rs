//! Reads a transcript: its first line, and the active branch as far back as is needed.

use crate::disk::{File, damaged};
use crate::measure::{BranchMeasure, Passed};
use crate::reverse::{MAX_LINE_BYTES, ReverseLines, ReversedLine};
use crate::store::{Branch, StoreError, StoreNote};
use chitin_protocol::transcript::{EntryBody, Header, TranscriptEntry, is_json};
use memchr::memchr;
use std::collections::HashSet;

/// How far back a branch is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BranchReach {
    /// As far as the model may need it: to the first record that the last compaction kept, else to the first of all.
    #[default]
    Needed,
    /// The same, and no further than so much.
    Bounded {
        /// So many bytes of the file.
        bytes: u64,
        /// So many records of the branch.
        records: usize,
    },
    /// To the first record of all.
    Whole,
}

/// What is in a transcript.
#[derive(Debug, Clone, PartialEq)]
pub struct TranscriptInspection {
    /// The first line.
    pub header: Header,
    /// The active branch.
    pub branch: Branch,
    /// What is not as it should be.
    pub notes: Vec<StoreNote>,
}

/// How much is read to find the end of the first line; then twice as much each time.
const HEADER_CHUNK: usize = 4 << 10;

/// Reads the first line. Returns it and where the records begin.
pub(crate) fn header(file: &File) -> Result<(Header, u64), StoreError> {
    let mut buffer = vec![0; HEADER_CHUNK];
    loop {
        let read = file.read_at(&mut buffer, 0)?;
        if let Some(end) = memchr(b'\n', &buffer[..read]) {
            let header = Header::from_line(trim(&buffer[..end])).map_err(|problem| {
                damaged(
                    file.path().to_path_buf(),
                    format!("its first line is no header: {problem}"),
                )
            })?;
            return Ok((header, end as u64 + 1));
        }
        if read < buffer.len() || buffer.len() as u64 >= MAX_LINE_BYTES {
            let reason = if read == 0 {
                "it is empty"
            } else {
                "its first line is no header"
            };
            return Err(damaged(file.path().to_path_buf(), reason));
        }
        let length = buffer.len() * 2;
        buffer.resize(length, 0);
    }
}

/// Takes off what programs of other systems write before a line end.
fn trim(line: &[u8]) -> &[u8] {
    line.trim_ascii()
}

/// Returns where the last line ends that is JSON: what comes after it is torn. `begin` is where the records begin.
pub(crate) fn good_end(file: &File, begin: u64, length: u64) -> Result<u64, StoreError> {
    let mut lines = ReverseLines::before(file, length)?;
    let mut last = [0];
    let ends = length > begin && file.read_at(&mut last, length - 1)? == 1 && last == *b"\n";
    let mut fragment = length > begin && !ends;
    while let Some(line) = lines.next_line()? {
        if line.offset < begin {
            break;
        }
        let is_good = match line.text {
            _ if fragment => false,
            Some(text) => trim(text).is_empty() || is_json(trim(text)),
            None => false,
        };
        if is_good {
            return Ok(line.offset + line.bytes + 1);
        }
        fragment = false;
    }
    Ok(begin.min(length))
}

/// Where a record's line is, without its line end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
}

/// Reads the active branch that ends at the last record before `end`.
pub(crate) fn branch(
    file: &File,
    begin: u64,
    end: u64,
    reach: BranchReach,
) -> Result<(Branch, Vec<StoreNote>), StoreError> {
    located_branch(file, begin, end, reach).map(|(branch, _, notes)| (branch, notes))
}

/// The same, and no more of it than a measure says.
pub(crate) fn measured_branch(
    file: &File,
    begin: u64,
    end: u64,
    measure: &mut dyn BranchMeasure,
) -> Result<(Branch, Vec<StoreNote>), StoreError> {
    let reach = BranchReach::Needed;
    let read = walk(file, begin, end, reach, Some(measure));
    read.map(|(branch, _, notes)| (branch, notes))
}

/// Reads the active branch that ends at the last record before `end`, and says where each record is.
pub(crate) fn located_branch(
    file: &File,
    begin: u64,
    end: u64,
    reach: BranchReach,
) -> Result<(Branch, Vec<Span>, Vec<StoreNote>), StoreError> {
    walk(file, begin, end, reach, None)
}

fn walk(
    file: &File,
    begin: u64,
    end: u64,
    reach: BranchReach,
    mut measure: Option<&mut dyn BranchMeasure>,
) -> Result<(Branch, Vec<Span>, Vec<StoreNote>), StoreError> {
    // Which records were lost in a damaged line is known only once the whole file was looked through.
    let mut lost = Lost::Known(HashSet::new());
    loop {
        let mut walk = Walk::new(reach, &lost);
        if let Some(measure) = again(&mut measure) {
            measure.begin();
        }
        let mut lines = ReverseLines::before(file, end)?;
        while let Some(line) = lines.next_line()? {
            if line.offset < begin || walk.is_beyond(end - line.offset) {
                break;
            }
            walk.take(line, again(&mut measure));
            if walk.is_done() {
                break;
            }
        }
        match walk.finish() {
            Walked::Done(branch, spans, mut notes) => {
                notes.reverse();
                return Ok((branch, spans, notes));
            }
            Walked::Lost(id) => lost.add(id),
        }
    }
}

fn again<'m>(measure: &'m mut Option<&mut dyn BranchMeasure>) -> Option<&'m mut dyn BranchMeasure> {
    match measure {
        Some(measure) => Some(&mut **measure),
        None => None,
    }
}

/// How many records are looked for in vain before every damaged line counts as the record that is looked for.
const MAX_LOST: usize = 8;

/// Records that were lost in damaged lines.
enum Lost {
    Known(HashSet<String>),
    Many,
}

impl Lost {
    fn add(&mut self, id: String) {
        if let Self::Known(ids) = self {
            ids.insert(id);
            if ids.len() > MAX_LOST {
                *self = Self::Many;
            }
        }
    }

    fn holds(&self, id: &str) -> bool {
        match self {
            Self::Known(ids) => ids.contains(id),
            Self::Many => true,
        }
    }
}

/// The way from the leaf to the root.
struct Walk<'a> {
    reach: BranchReach,
    lost: &'a Lost,
    /// The branch, the last record first.
    entries: Vec<TranscriptEntry>,
    spans: Vec<Span>,
    notes: Vec<StoreNote>,
    next: Next,
    /// Whether a damaged line was passed while the next record was looked for.
    passed_damage: bool,
    /// The first record that the last compaction kept.
    kept_from: Option<String>,
    saw_compaction: bool,
    stopped: bool,
    /// Whether a measure said that it is enough: from then on records are only shown to it.
    is_passing: bool,
    has_passed: bool,
    /// Which of them it held, the last one first.
    older: Vec<TranscriptEntry>,
    /// How many of them it counted.
    counted: usize,
}

/// Which record comes next on the way.
enum Next {
    /// Whichever comes: there is none yet, or the next one was lost.
    Any,
    /// This one.
    Id(String),
    /// None: that was the root.
    Root,
}

enum Walked {
    Done(Branch, Vec<Span>, Vec<StoreNote>),
    Lost(String),
}

impl<'a> Walk<'a> {
    const fn new(reach: BranchReach, lost: &'a Lost) -> Self {
        Self {
            reach,
            lost,
            entries: Vec::new(),
            spans: Vec::new(),
            notes: Vec::new(),
            next: Next::Any,
            passed_damage: false,
            kept_from: None,
            saw_compaction: false,
            stopped: false,
            is_passing: false,
            has_passed: false,
            older: Vec::new(),
            counted: 0,
        }
    }

    /// Tells whether so many bytes from the end are more than allowed. The last record is always read.
    fn is_beyond(&mut self, bytes_back: u64) -> bool {
        match self.reach {
            BranchReach::Bounded { bytes, records } => {
                let is_over = bytes_back > bytes || self.entries.len() >= records;
                self.stopped |= is_over && !self.entries.is_empty();
                is_over && !self.entries.is_empty()
            }
            BranchReach::Needed | BranchReach::Whole => false,
        }
    }

    fn is_done(&self) -> bool {
        self.stopped || matches!(self.next, Next::Root)
    }

    fn take(&mut self, line: ReversedLine<'_>, measure: Option<&mut dyn BranchMeasure>) {
        let entry = match line.text.map(trim) {
            Some([]) => return,
            Some(text) => TranscriptEntry::from_line(text).map_err(|problem| problem.to_string()),
            None => Err("it is too long".to_owned()),
        };
        match entry {
            Ok(entry) if self.is_next(&entry) => {
                let span = Span {
                    offset: line.offset,
                    bytes: line.bytes,
                };
                self.push(entry, span, measure);
            }
            Ok(_) => {}
            Err(reason) => {
                self.notes.push(StoreNote::DamagedLine {
                    offset: line.offset,
                    bytes: line.bytes,
                    reason,
                });
                self.passed_damage = true;
                if let Next::Id(id) = &self.next
                    && self.lost.holds(id)
                {
                    self.notes.push(StoreNote::LostParent { id: id.clone() });
                    self.next = Next::Any;
                }
            }
        }
    }

    fn is_next(&self, entry: &TranscriptEntry) -> bool {
        match &self.next {
            Next::Any => true,
            Next::Id(id) => *id == entry.id,
            Next::Root => false,
        }
    }

    fn push(
        &mut self,
        entry: TranscriptEntry,
        span: Span,
        measure: Option<&mut dyn BranchMeasure>,
    ) {
        if let EntryBody::Compaction(compaction) = &entry.body
            && !self.saw_compaction
        {
            self.saw_compaction = true;
            self.kept_from = Some(compaction.first_kept_entry_id.clone());
        }
        self.next = match &entry.parent_id {
            Some(id) => Next::Id(id.clone()),
            None => Next::Root,
        };
        self.passed_damage = false;
        let is_first_kept = self.kept_from.as_ref() == Some(&entry.id);
        self.stopped |= is_first_kept && self.reach != BranchReach::Whole;
        match measure {
            Some(measure) if self.is_passing => {
                self.has_passed = true;
                match measure.pass(&entry) {
                    Passed::LetGo => {}
                    Passed::Counted => self.counted += 1,
                    Passed::Held => self.older.push(entry),
                }
            }
            measure => {
                self.is_passing =
                    measure.is_some_and(|measure| measure.is_enough(&entry, span.bytes));
                // What a compaction kept is needed in any case: without it the summary says too little.
                self.is_passing &= !self.saw_compaction;
                self.spans.push(span);
                self.entries.push(entry);
            }
        }
    }

    fn finish(mut self) -> Walked {
        let mut has_older = self.has_passed;
        if let Next::Id(id) = &self.next {
            if self.stopped {
                has_older = true;
            } else if self.passed_damage && !self.lost.holds(id) {
                return Walked::Lost(id.clone());
            } else {
                self.notes.push(StoreNote::LostParent { id: id.clone() });
            }
        }
        self.entries.reverse();
        self.spans.reverse();
        self.older.reverse();
        let branch = Branch {
            entries: self.entries,
            has_older,
            older: self.older,
            counted: self.counted,
        };
        Walked::Done(branch, self.spans, self.notes)
    }
}
