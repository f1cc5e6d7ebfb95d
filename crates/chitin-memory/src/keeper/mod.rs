//! An agent's memory as a whole: its files, its past conversations, and the index over both.
//!
//! Nothing is touched until something is asked. Every search looks first whether files changed, unless a watcher says that none did.

mod effort;
mod listing;
mod setting;
mod transcripts;
mod watching;

pub use effort::{Effort, WatcherTrust};
pub use listing::MemoryListing;
pub use setting::{Redact, Setting, TranscriptOwner};
pub use transcripts::conversation_path;

use crate::chunk;
use crate::files::ExtraPath;
use crate::index::{
    Figures, Index, IndexNote, JobFile, NewPiece, Shape, SyncJob, SyncReport, SyncStop,
};
use crate::read::{self, MemoryReadError, ReadWindow, Window};
use crate::search::{self, ChunkSource, FindError, SearchResults};
use chitin_guard::Root;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use watching::Watch;

/// How long transcripts are taken to be as they were: conversations grow all the time.
const TRANSCRIPTS_EVERY: Duration = Duration::from_secs(10);

/// An agent's memory.
#[derive(Debug)]
pub struct Memory {
    setting: Setting,
    held: Mutex<Held>,
}

/// What is made when it is first needed.
#[derive(Debug, Default)]
struct Held {
    index: Option<Index>,
    /// When transcripts were last brought into the index.
    transcripts: Option<Instant>,
    watch: Option<Watch>,
}

impl Memory {
    /// Makes a memory. Nothing is read or written yet.
    pub fn new(setting: Setting) -> Self {
        Self {
            setting,
            held: Mutex::default(),
        }
    }

    /// Returns what it is made of.
    pub const fn setting(&self) -> &Setting {
        &self.setting
    }

    /// Lists what there is to remember.
    pub fn list(&self) -> MemoryListing {
        MemoryListing::look(&self.setting, true)
    }

    /// Makes the index say what the files say.
    pub fn refresh(&self, effort: &Effort<'_>) -> Result<SyncReport, FindError> {
        let mut held = self.held();
        self.sync(&mut held, effort)
    }

    /// Throws the index away and makes it anew.
    pub fn rebuild(&self, effort: &Effort<'_>) -> Result<SyncReport, FindError> {
        let mut held = self.held();
        *held = Held::default();
        self.remove_index();
        self.sync(&mut held, effort)
    }

    /// Finds what fits a question, in what the files say now.
    pub fn search(
        &self,
        ask: &search::SearchRequest<'_>,
        effort: &Effort<'_>,
    ) -> Result<SearchResults, FindError> {
        let mut held = self.held();
        let report = self.sync(&mut held, effort)?;
        let mut answer = if let Ok(answer) = self.ask(&held, ask) {
            answer
        } else {
            // A search that meets damage leaves it to the next look at the files to begin anew.
            self.bring_in(&mut held, &MemoryListing::look(&self.setting, true), effort)?;
            self.ask(&held, ask)?
        };
        let notes = report.notes.iter().map(ToString::to_string);
        answer.notes.splice(..0, notes);
        if report.stopped.is_some() {
            answer.notes.push(
                "The memory index is not complete yet; what was indexed so far was searched."
                    .to_owned(),
            );
        }
        Ok(answer)
    }

    fn ask(
        &self,
        held: &Held,
        ask: &search::SearchRequest<'_>,
    ) -> Result<SearchResults, FindError> {
        let index = held.index.as_ref().ok_or_else(unopened)?;
        let embedder = self.setting.embedder.as_deref();
        search::search(index, embedder, ask, &self.setting.rules)
    }

    /// Reads a window of a memory file.
    pub fn read(&self, path: &str, window: Window) -> Result<ReadWindow, MemoryReadError> {
        let setting = &self.setting;
        let root = Root::open(&setting.workspace).map_err(MemoryReadError::Unreadable)?;
        let extra = ExtraPath::find(&root, &setting.extra_paths);
        read::read(&root, &extra, path, window, &setting.rules.reading)
    }

    /// Returns how much is in the index; nothing if there is none yet. Makes none.
    pub fn figures(&self) -> Result<Option<(Figures, Vec<IndexNote>)>, FindError> {
        let mut held = self.held();
        if held.index.is_none() && !self.has_index() {
            return Ok(None);
        }
        let notes = self.open(&mut held)?;
        let index = held.index.as_ref().ok_or_else(unopened)?;
        Ok(Some((index.figures()?, notes)))
    }

    fn has_index(&self) -> bool {
        let (Some(directory), Some(name)) = self.place() else {
            return false;
        };
        Root::open(directory).is_ok_and(|root| root.kind(Path::new(name)).is_some())
    }

    /// Takes the index off the disk. One that cannot be removed is found to be what it is when it is opened.
    fn remove_index(&self) {
        let (Some(directory), Some(name)) = self.place() else {
            return;
        };
        let Ok(root) = Root::open(directory) else {
            return;
        };
        for end in ["", "-wal", "-shm"] {
            let mut name = name.to_owned();
            name.push(end);
            let _ = root.remove_file(Path::new(&name));
        }
    }

    fn place(&self) -> (Option<&Path>, Option<&OsStr>) {
        let index = &self.setting.index;
        (index.parent(), index.file_name())
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self, held: &mut Held) -> Result<Vec<IndexNote>, FindError> {
        if held.index.is_some() {
            return Ok(Vec::new());
        }
        let opened = Index::open(&self.setting.index, &self.shape())?;
        held.index = Some(opened.index);
        Ok(opened.notes)
    }

    /// Returns everything that the index depends on beside the files.
    fn shape(&self) -> Shape {
        let setting = &self.setting;
        let rules = &setting.rules;
        let facts = serde_json::json!({
            "workspace": setting.workspace,
            "chunks": rules.chunks,
            "archive": rules.archive,
            "sizes": [setting.sizes.tokens, setting.sizes.overlap],
        });
        let shape = Shape::new(rules.index).with("setting", facts.to_string());
        match &setting.embedder {
            Some(embedder) => shape.embedded_by(embedder.as_ref()),
            None => shape,
        }
    }

    fn sync(&self, held: &mut Held, effort: &Effort<'_>) -> Result<SyncReport, FindError> {
        let mut notes = self.open(held)?;
        let is_quiet = effort.trust == WatcherTrust::Watcher
            && held.watch.as_ref().is_some_and(Watch::heard_nothing);
        if is_quiet && !self.transcripts_due(held) {
            return Ok(SyncReport::default());
        }
        // What happens from here on is heard again.
        if let Some(watch) = &held.watch {
            watch.forget();
        }
        let with_transcripts = effort.trust == WatcherTrust::Nobody || self.transcripts_due(held);
        let listing = MemoryListing::look(&self.setting, with_transcripts);
        // What lies outside the workspace is not watched.
        let is_watchable = self.setting.extra_paths.is_empty();
        if held.watch.is_none() && listing.is_large() && is_watchable {
            held.watch = Watch::start(&self.setting.workspace);
        }
        let mut report = self.bring_in(held, &listing, effort)?;
        if report.stopped == Some(SyncStop::Unwritten) {
            report = self.go_on_in_memory(held, report, effort)?;
        }
        if with_transcripts && report.stopped.is_none() {
            held.transcripts = Some(Instant::now());
        }
        notes.append(&mut report.notes);
        report.notes = notes;
        Ok(report)
    }

    /// Leaves an index that cannot be written alone, as it is on the disk, and makes one that lives with the process.
    fn go_on_in_memory(
        &self,
        held: &mut Held,
        failed: SyncReport,
        effort: &Effort<'_>,
    ) -> Result<SyncReport, FindError> {
        if held.index.as_ref().is_none_or(Index::is_volatile) {
            return Ok(failed);
        }
        held.index = Some(Index::volatile_of(&self.shape())?);
        let mut report = self.bring_in(held, &MemoryListing::look(&self.setting, true), effort)?;
        let why = "what is on the disk cannot be written".to_owned();
        report.notes.insert(0, IndexNote::InMemory(why));
        Ok(report)
    }

    fn transcripts_due(&self, held: &Held) -> bool {
        self.setting.transcripts.is_some()
            && held
                .transcripts
                .is_none_or(|last| last.elapsed() >= TRANSCRIPTS_EVERY)
    }

    fn bring_in(
        &self,
        held: &mut Held,
        listing: &MemoryListing,
        effort: &Effort<'_>,
    ) -> Result<SyncReport, FindError> {
        let setting = &self.setting;
        let index = held.index.as_mut().ok_or_else(unopened)?;
        let archive = setting
            .transcripts
            .as_deref()
            .and_then(|directory| Root::open(directory).ok());
        let mut sources = vec![ChunkSource::Memory];
        let mut files: Vec<JobFile<'_>> = listing.jobs().collect();
        if let Some(transcripts) = &listing.transcripts {
            sources.push(ChunkSource::Sessions);
            if let Some(root) = &archive {
                let jobs = transcripts.iter();
                files.extend(jobs.map(|one| transcripts::job(root, setting, one)));
            }
        }
        let cut = |path: &str, text: &str, out: &mut dyn FnMut(NewPiece<'_>)| {
            let rules = &setting.rules.chunks;
            for piece in chunk::of_file(path, text, setting.sizes, rules) {
                out(NewPiece {
                    start_line: piece.start_line,
                    end_line: piece.end_line,
                    text: &piece.text,
                    heading: piece.heading.as_deref(),
                });
            }
        };
        let report = index.sync(&SyncJob {
            embedder: setting.embedder.as_deref(),
            progress: effort.progress,
            cancelled: effort.cancelled,
            deadline: effort.deadline,
            ..SyncJob::new(files, &sources, &cut)
        });
        Ok(report)
    }
}

fn unopened() -> FindError {
    FindError("it is not open".to_owned())
}

/// Returns the name of an agent's index: one for each agent and workspace.
pub fn index_name(agent: &str, workspace: &Path) -> String {
    let hash = chunk::hash(&workspace.to_string_lossy());
    format!("{agent}-{}.sqlite", &hash[..12])
}
