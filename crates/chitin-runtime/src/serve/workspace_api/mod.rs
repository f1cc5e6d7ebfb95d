//! What the page asks about workspaces, answered from what the commands know: files, prompts, skills, memory, traces.

mod diff;
mod files;
mod lens;
mod memory;
mod parts;
mod preview;
mod prompt;
mod recorded;
mod request;
mod skills;
mod traces;
mod turns;

use crate::error::RuntimeError;
use crate::{AgentCache, AgentFactory, Host, ServeHost};
use chitin_server::{Ask, Desk, DeskError, Trouble};
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;

/// Answers what the page asks about workspaces.
pub struct WorkspaceApi {
    agents: Arc<ServeHost>,
    host: Arc<Host>,
    traces: traces::Summaries,
}

impl WorkspaceApi {
    /// Answers about the agents of a server.
    pub fn new(agents: &Arc<ServeHost>, host: &Arc<Host>) -> Self {
        Self {
            agents: Arc::clone(agents),
            host: Arc::clone(host),
            traces: traces::Summaries::default(),
        }
    }

    fn cache(&self, agent: &str) -> Result<Arc<AgentCache>, DeskError> {
        Ok(self.agents.cache(agent)?)
    }

    fn at<T>(
        &self,
        agent: &str,
        work: impl FnOnce(&AgentFactory) -> Result<T, DeskError>,
    ) -> Result<T, DeskError> {
        work(&self.cache(agent)?.factory)
    }
}

impl Desk for WorkspaceApi {
    fn answer(&self, ask: Ask) -> Result<Value, DeskError> {
        match ask {
            Ask::Turns { agent, session } => {
                self.at(&agent, |factory| turns::list(&self.host, factory, &session))
            }
            Ask::Lens {
                agent,
                session,
                turn,
            } => {
                let named = self.agents.names_model();
                self.at(&agent, |factory| {
                    lens::look(&self.host, factory, &session, turn.as_deref(), named)
                })
            }
            Ask::Files { agent } => self.at(&agent, |factory| files::list(&self.host, factory)),
            Ask::File { agent, path } => self.at(&agent, |factory| files::read(factory, &path)),
            Ask::Save {
                agent,
                path,
                text,
                version,
            } => self.at(&agent, |factory| {
                files::save(factory, &path, &text, version.as_deref())
            }),
            Ask::Preview {
                agent,
                path,
                text,
                session,
            } => self.at(&agent, |factory| {
                preview::look(&self.host, factory, &path, &text, session.as_deref())
            }),
            Ask::Skills { agent } => self.at(&agent, |factory| skills::list(&self.host, factory)),
            Ask::Findings { agent } => {
                self.at(&agent, |factory| skills::findings(&self.host, factory))
            }
            Ask::Memory {
                agent,
                query,
                limit,
            } => self.at(&agent, |factory| {
                memory::answer(factory, query.as_deref(), limit)
            }),
            Ask::Traces {
                agent,
                session,
                limit,
            } => self
                .traces
                .list(self, agent.as_deref(), session.as_deref(), limit),
            Ask::Trace { id } => traces::show(self, &id),
        }
    }
}

impl From<RuntimeError> for DeskError {
    fn from(error: RuntimeError) -> Self {
        Self {
            hint: error.hints().first().cloned(),
            ..Self::new(Trouble::Failed, error.with_causes())
        }
    }
}

/// Makes of an answer what is sent.
fn value(answer: &impl Serialize) -> Result<Value, DeskError> {
    serde_json::to_value(answer)
        .map_err(|_| DeskError::new(Trouble::Failed, "Could not show the answer."))
}

/// Shortens a text to so many bytes, at a character.
fn at_most(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}
