//! What the page asks about workspaces, answered from what the commands know: files, prompts, skills, memory, traces.

mod changes;
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

use crate::error::{ErrorKind, RuntimeError};
use crate::{AgentCache, AgentFactory, Host, ServeHost};
use chitin_server::workspace_api::{
    ChangeList, ChangeListRequest, FileList, FilePreview, FileRequest, FileText, FindingList, Lens,
    LensRequest, MemoryReply, MemoryRequest, PreviewRequest, SaveFileRequest, SavedFile, SkillList,
    TraceList, TraceListRequest, TraceReply, TurnChangesRequest, TurnDiff, TurnList, UndoMode,
    UndoReport, WorkspaceApi, WorkspaceApiError, WorkspaceApiErrorKind,
};
use std::sync::Arc;

/// The workspace API of a server: answers from what the commands know.
pub struct ServedWorkspaces {
    agents: Arc<ServeHost>,
    host: Arc<Host>,
    traces: traces::Summaries,
}

impl ServedWorkspaces {
    /// Answers about the agents of a server.
    pub fn new(agents: &Arc<ServeHost>, host: &Arc<Host>) -> Self {
        Self {
            agents: Arc::clone(agents),
            host: Arc::clone(host),
            traces: traces::Summaries::default(),
        }
    }

    fn cache(&self, agent: &str) -> Result<Arc<AgentCache>, WorkspaceApiError> {
        Ok(self.agents.cache(agent)?)
    }

    fn at<T>(
        &self,
        agent: &str,
        work: impl FnOnce(&AgentFactory) -> Result<T, WorkspaceApiError>,
    ) -> Result<T, WorkspaceApiError> {
        work(&self.cache(agent)?.factory)
    }
}

impl WorkspaceApi for ServedWorkspaces {
    fn turns(&self, agent: &str, session: &str) -> Result<TurnList, WorkspaceApiError> {
        self.at(agent, |factory| turns::list(&self.host, factory, session))
    }

    fn lens(&self, request: LensRequest) -> Result<Lens, WorkspaceApiError> {
        let named = self.agents.names_model();
        self.at(&request.agent, |factory| {
            lens::look(&self.host, factory, &request, named)
        })
    }

    fn files(&self, agent: &str) -> Result<FileList, WorkspaceApiError> {
        self.at(agent, |factory| files::list(&self.host, factory))
    }

    fn file(&self, request: FileRequest) -> Result<FileText, WorkspaceApiError> {
        self.at(&request.agent, |factory| {
            files::read(factory, &request.path)
        })
    }

    fn save_file(&self, request: SaveFileRequest) -> Result<SavedFile, WorkspaceApiError> {
        self.at(&request.agent, |factory| files::save(factory, &request))
    }

    fn preview(&self, request: PreviewRequest) -> Result<FilePreview, WorkspaceApiError> {
        self.at(&request.agent, |factory| {
            preview::look(&self.host, factory, &request)
        })
    }

    fn skills(&self, agent: &str) -> Result<SkillList, WorkspaceApiError> {
        self.at(agent, |factory| skills::list(&self.host, factory))
    }

    fn findings(&self, agent: &str) -> Result<FindingList, WorkspaceApiError> {
        self.at(agent, |factory| skills::findings(&self.host, factory))
    }

    fn changes(&self, request: ChangeListRequest) -> Result<ChangeList, WorkspaceApiError> {
        self.at(&request.agent, |factory| {
            changes::list(&self.host, factory, request.limit)
        })
    }

    fn turn_changes(&self, request: TurnChangesRequest) -> Result<TurnDiff, WorkspaceApiError> {
        self.at(&request.agent, |factory| {
            changes::show(&self.host, factory, request.turn)
        })
    }

    fn undo(
        &self,
        request: TurnChangesRequest,
        mode: UndoMode,
    ) -> Result<UndoReport, WorkspaceApiError> {
        self.at(&request.agent, |factory| {
            changes::undo(&self.host, factory, request.turn, mode)
        })
    }

    fn memory(&self, request: MemoryRequest) -> Result<MemoryReply, WorkspaceApiError> {
        self.at(&request.agent, |factory| memory::answer(factory, &request))
    }

    fn traces(&self, request: TraceListRequest) -> Result<TraceList, WorkspaceApiError> {
        self.traces.list(self, &request)
    }

    fn trace(&self, id: &str) -> Result<TraceReply, WorkspaceApiError> {
        traces::show(self, id)
    }
}

impl From<RuntimeError> for WorkspaceApiError {
    fn from(error: RuntimeError) -> Self {
        let kind = match error.kind() {
            ErrorKind::Usage => WorkspaceApiErrorKind::Bad,
            ErrorKind::User
            | ErrorKind::Config
            | ErrorKind::Refused
            | ErrorKind::Upstream
            | ErrorKind::Internal => WorkspaceApiErrorKind::Failed,
        };
        Self {
            hint: error.hints().first().cloned(),
            ..Self::new(kind, error.with_causes())
        }
    }
}

/// Shortens a text to so many bytes, at a character.
fn at_most(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}
