//! What is looked up for a message before the model sees it, and put below the cache boundary.

use super::AgentMemory;
use super::options::RecallOptions;
use chitin_agent::source::Recalled;
use chitin_context::memory_results::{MemoryResult, within};
use chitin_memory::keeper::{Effort, MemoryListing};
use chitin_memory::search::{
    ChunkSource, FindError, SearchMode, SearchRequest, SearchResults, Within, shown,
};
use chitin_protocol::session_key;
use std::sync::Arc;
use std::time::Duration;

/// How long a message waits while notes are brought into the index.
const PATIENCE: Duration = Duration::from_millis(1_500);
/// Fewer letters are no question.
const SHORTEST: usize = 3;

/// A message that something may be remembered for.
#[derive(Debug, Clone, Copy)]
pub struct RecallMessage<'a> {
    /// The session's key.
    pub session: &'a str,
    /// Empty if there is none yet.
    pub session_id: &'a str,
    /// What was said.
    pub words: &'a str,
    /// Whether past conversations are searched.
    pub past: PastSessions,
}

/// Whether past conversations are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PastSessions {
    /// They are, where the session may see them.
    Open,
    /// They are not: a run on tape, which is one of them when it is played again, must give the same request.
    Shut,
}

impl AgentMemory {
    /// Finds what fits a message. Nothing is made or opened unless there is something to find.
    pub async fn recall(self: &Arc<Self>, message: RecallMessage<'_>) -> Recalled {
        let Some((options, within)) = self.worth_it(message) else {
            return Recalled::default();
        };
        let (kit, words) = (Arc::clone(self), message.words.to_owned());
        let looking = tokio::task::spawn_blocking(move || kit.look_up(&words, within, options));
        looking.await.unwrap_or_default()
    }

    /// The same, for a thread that may wait.
    pub(crate) fn recall_now(&self, message: RecallMessage<'_>) -> Recalled {
        self.worth_it(message)
            .map_or_else(Recalled::default, |(options, within)| {
                self.look_up(message.words, within, options)
            })
    }

    /// Says where to look, if there is anything to find there.
    fn worth_it(&self, message: RecallMessage<'_>) -> Option<(RecallOptions, Within)> {
        let options = self.options.recall.filter(|_| self.options.enabled)?;
        let grammar = self.setup.contract().session_keys;
        if message.words.trim().chars().count() < SHORTEST
            || session_key::is_subagent(message.session, grammar)
        {
            return None;
        }
        let mut within = self.within(message.session);
        if message.past == PastSessions::Shut {
            within.sources.remove(&ChunkSource::Sessions);
        }
        let archive = within.sources.contains(&ChunkSource::Sessions);
        let listing = MemoryListing::of(
            &self.setup.directory,
            &self.options.extra_paths,
            &self.setup.contract().runtime.memory.files,
            self.transcripts().filter(|_| archive).as_deref(),
        );
        self.leave_out_what_is_seen(&listing, &mut within);
        let has_notes = listing
            .files
            .iter()
            .any(|file| !within.without.contains(&file.path));
        let has_past = archive && listing.has_conversation_besides(message.session_id);
        if !has_notes && !has_past {
            return None;
        }
        if archive && !message.session_id.is_empty() {
            let own = self.conversation_path(message.session_id);
            within.without.insert(own);
        }
        Some((options, within))
    }

    /// A memory file that is in the prompt as a whole need not be found again.
    fn leave_out_what_is_seen(&self, listing: &MemoryListing, within: &mut Within) {
        let contract = self.setup.contract();
        let most = u64::from(contract.budgets.max_chars);
        let seen = listing
            .files
            .iter()
            .filter(|file| !file.path.contains('/') && file.size <= most);
        within.without.extend(seen.map(|file| file.path.clone()));
    }

    fn look_up(&self, words: &str, within: Within, options: RecallOptions) -> Recalled {
        let made = self.made();
        let ask = SearchRequest {
            query: words,
            max_results: Some(options.results),
            min_score: Some(options.min_score),
            within,
            now_ms: jiff::Timestamp::now().as_millisecond(),
            project: None,
        };
        let answer = made.memory.search(&ask, &Effort::within(PATIENCE));
        recalled(self, answer, made.memory.setting(), options)
    }
}

fn recalled(
    kit: &AgentMemory,
    answer: Result<SearchResults, FindError>,
    setting: &chitin_memory::keeper::Setting,
    options: RecallOptions,
) -> Recalled {
    let answer = match answer {
        Ok(answer) => answer,
        Err(error) => {
            return Recalled {
                results: Vec::new(),
                notes: vec![error.to_string()],
                paths: Vec::new(),
            };
        }
    };
    let paths = kit.paths_of(&answer.hits);
    let results = answer.hits.into_iter().map(|hit| MemoryResult {
        snippet: shown(&hit.piece.text).to_owned(),
        path: hit.piece.path,
        start_line: hit.piece.start_line.into(),
        end_line: hit.piece.end_line.into(),
        score: hit.score,
    });
    Recalled {
        results: within(results.collect(), options.tokens),
        // That vectors could not be made is told when somebody searches; here it would be told with every message.
        notes: match (answer.mode, &setting.embedder) {
            (SearchMode::Lexical, Some(_)) => Vec::new(),
            _ => answer.notes,
        },
        paths,
    }
}
