//! The workspace as the agent's turns see it.

use super::{Eye, Place, Run, RunningTurn, TurnArgs, WhichTurn};
use crate::error::CliError;
use crate::host::Host;
use crate::setup::Setup;
use chitin_agent::source::{Ask, ContextSource, Seen, SourceError};
use chitin_context::sections::ToolFact;
use chitin_workspace::filter::{ContextMode, RunKind};
use std::sync::{Arc, Mutex, PoisonError};

/// Looks at a workspace on this machine, turn after turn.
#[derive(Debug)]
pub(crate) struct WorkspaceSource {
    host: Arc<Host>,
    setup: Arc<Setup>,
    turn: TurnArgs,
    /// Whether the user named a model: only then does the prompt speak of it.
    model_named: bool,
    eye: Mutex<Eye>,
}

impl WorkspaceSource {
    pub(crate) fn new(
        host: Arc<Host>,
        setup: Arc<Setup>,
        turn: TurnArgs,
        model_named: bool,
    ) -> Self {
        Self {
            host,
            setup,
            turn,
            model_named,
            eye: Mutex::new(Eye::lasting()),
        }
    }
}

impl ContextSource for WorkspaceSource {
    fn look(&self, ask: &Ask<'_>) -> Result<Seen, SourceError> {
        let turn = TurnArgs {
            session: Some(ask.session_key.to_owned()),
            turn: if ask.marked {
                WhichTurn::Next
            } else {
                WhichTurn::First
            },
            run: match ask.occasion.run {
                RunKind::Heartbeat => Run::Heartbeat,
                RunKind::Cron => Run::Cron,
                RunKind::Default => self.turn.run,
            },
            light: self.turn.light || ask.occasion.context == ContextMode::Lightweight,
            ..self.turn.clone()
        };
        let tools = ask.tools.iter().map(|tool| ToolFact {
            name: tool.name.as_str().into(),
            summary: first_sentence(&tool.description).into(),
        });
        let mut eye = self.eye.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = turn
            .look_with(
                &mut eye,
                &self.host,
                &self.setup,
                Place::Here,
                Some(RunningTurn {
                    model: ask.model.to_owned(),
                    named: self.model_named,
                    tools: tools.collect(),
                    channel: ask.occasion.channel.as_deref().map(Arc::from),
                    extra: ask.occasion.extra.clone(),
                    memory: ask.memory,
                }),
            )
            .map_err(|error| said(&error))?;
        Ok(Seen {
            context: seen.context,
            notes: seen.notes,
            mark_when_done: seen.mark_when_done,
        })
    }

    fn release(&self, session_key: &str) {
        let mut eye = self.eye.lock().unwrap_or_else(PoisonError::into_inner);
        eye.release(session_key);
    }
}

fn said(error: &CliError) -> SourceError {
    SourceError {
        message: error.with_causes(),
        hint: error.hints().first().cloned(),
    }
}

/// Returns the first sentence of a tool's description, without its stop.
fn first_sentence(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default();
    let end = line.find(". ").unwrap_or(line.len());
    line[..end].trim_end_matches('.')
}
