//! The workspace as the agent's turns see it.

use super::{ContextCache, FileSource, RunningTurn, Trigger, TurnRequest, WhichTurn};
use crate::error::RuntimeError;
use crate::host::Host;
use crate::memory::{AgentMemory, PastSessions, RecallMessage};
use crate::setup::Setup;
use chitin_agent::source::{
    ContextRequest, ContextSource, PreparedContext, RecallAsk, Recalled, SourceError,
};
use chitin_context::sections::ToolFact;
use chitin_workspace::adapter::{DefinitionError, LazyDefinition};
use chitin_workspace::filter::{ContextMode, RunKind};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use std::sync::{Arc, Mutex, PoisonError};

/// Looks at a workspace on this machine, turn after turn.
pub struct WorkspaceSource {
    host: Arc<Host>,
    setup: Arc<Setup>,
    turn: TurnRequest,
    /// Whether the user named a model: only then does the prompt speak of it.
    model_named: bool,
    cache: Mutex<ContextCache>,
    /// What is asked before the model is.
    memory: Option<(Arc<AgentMemory>, PastSessions)>,
}

impl WorkspaceSource {
    /// Makes the source of a workspace.
    pub fn new(host: Arc<Host>, setup: Arc<Setup>, turn: TurnRequest, model_named: bool) -> Self {
        Self {
            host,
            setup,
            turn,
            model_named,
            cache: Mutex::new(ContextCache::lasting()),
            memory: None,
        }
    }

    /// Returns the same source with a memory.
    #[must_use]
    pub fn remembering(mut self, memory: &Arc<AgentMemory>, past: PastSessions) -> Self {
        self.memory = Some((Arc::clone(memory), past));
        self
    }
}

impl ContextSource for WorkspaceSource {
    fn look(&self, ask: &ContextRequest<'_>) -> Result<PreparedContext, SourceError> {
        let turn = TurnRequest {
            session: Some(ask.session_key.to_owned()),
            turn: if ask.marked {
                WhichTurn::Next
            } else {
                WhichTurn::First
            },
            run: match ask.occasion.run {
                RunKind::Heartbeat => Trigger::Heartbeat,
                RunKind::Cron => Trigger::Cron,
                RunKind::Default => self.turn.run,
            },
            guest: ask.guest.is_some(),
            light: self.turn.light || ask.occasion.context == ContextMode::Lightweight,
            ..self.turn.clone()
        };
        let tools = ask.tools.iter().map(|tool| ToolFact {
            name: tool.name.as_str().into(),
            summary: first_sentence(&tool.description).into(),
        });
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = turn
            .build(
                &mut cache,
                &self.host,
                &self.setup,
                FileSource::Disk,
                Some(RunningTurn {
                    model: ask.model.to_owned(),
                    named: self.model_named,
                    tools: tools.collect(),
                    session_id: ask.session_id,
                    channel: ask.occasion.channel.as_deref().map(Arc::from),
                    extra: ask.occasion.extra.clone(),
                    memory: ask.memory,
                    is_told: &|notice| ask.is_told(notice),
                }),
            )
            .map_err(|error| said(&error))?;
        Ok(PreparedContext {
            context: seen.context,
            notes: seen.notes,
            skill_roots: seen.skill_roots,
            mark_when_done: seen.mark_when_done,
        })
    }

    fn definition(&self) -> LazyDefinition {
        let (host, setup) = (Arc::clone(&self.host), Arc::clone(&self.setup));
        LazyDefinition::new(move || {
            let made = setup.definition(&host);
            made.map_err(|error| DefinitionError(error.with_causes()))
        })
    }

    fn release(&self, session_key: &str) {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        cache.release(session_key);
    }

    fn recall<'a>(&'a self, ask: RecallAsk<'a>) -> BoxFuture<'a, Recalled> {
        async move {
            // A clock asks nothing.
            // Notes and past conversations are the owner's.
            let is_open = ask.guest.is_none_or(|guest| guest.memory);
            let is_asked = is_open
                && ask.occasion.run == RunKind::Default
                && ask.occasion.context == ContextMode::Full;
            match self.memory.as_ref().filter(|_| is_asked) {
                Some((memory, past)) => {
                    memory
                        .recall(RecallMessage {
                            session: ask.session_key,
                            session_id: ask.session_id,
                            words: ask.words,
                            past: *past,
                        })
                        .await
                }
                None => Recalled::default(),
            }
        }
        .boxed()
    }
}

fn said(error: &RuntimeError) -> SourceError {
    SourceError {
        message: error.with_causes(),
        hint: error.hints().first().cloned(),
    }
}

/// Returns the first sentence of a tool's description, without its stop.
pub fn first_sentence(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default();
    let end = line.find(". ").unwrap_or(line.len());
    line[..end].trim_end_matches('.')
}
