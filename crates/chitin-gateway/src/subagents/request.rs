//! What a model asks for when it begins a child (R30), and what that comes to (R33).

use super::announce::CompletionTarget;
use crate::jobs::{ChildMode, Cleanup};
use chitin_protocol::origin::Origin;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The longest task, in bytes.
const MOST_TASK: usize = 256 * 1024;
/// The longest label, in characters.
const MOST_LABEL: usize = 200;
/// The longest time that a run may be given: what an agent may take at all (R32), in seconds.
const MOST_SECONDS: f64 = 172_800.0;

/// What a model asks for when it begins a child.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SpawnRequest {
    /// Where texts come from that the session holds which asks, and that are not the owner's. Nothing that a model says.
    #[serde(skip)]
    pub origins: Vec<Origin>,
    /// What the child is to do. It knows nothing but this and the files of its workspace.
    pub task: String,
    /// What the child is called.
    #[serde(default)]
    pub label: Option<String>,
    /// A short stable name of the task.
    #[serde(default)]
    pub task_name: Option<String>,
    /// What runs the child; only `subagent` is there.
    #[serde(default)]
    pub runtime: Option<ChildRuntime>,
    /// The agent that the child is of; left out, this one.
    #[serde(default)]
    pub agent_id: Option<String>,
    /// Not supported: a child begins anew.
    #[serde(default)]
    pub resume_session_id: Option<String>,
    /// The child's model, as `provider/name`; left out, its agent's.
    #[serde(default)]
    pub model: Option<String>,
    /// How deeply the child's model thinks.
    #[serde(default)]
    pub thinking: Option<String>,
    /// Another workspace for the child, one of those that the user allows. Its files, skills, tools and memory are those of that
    /// workspace; left out, the child has yours.
    #[serde(default)]
    pub workspace: Option<String>,
    /// The directory that the child works in, inside of its workspace; left out, the workspace.
    #[serde(default)]
    pub cwd: Option<String>,
    /// How long the child may take, in seconds; 0 is without end.
    #[serde(default)]
    pub run_timeout_seconds: Option<f64>,
    /// The same as `runTimeoutSeconds`.
    #[serde(default)]
    pub timeout_seconds: Option<f64>,
    /// Whether the child gets a thread of its own where this session speaks.
    #[serde(default)]
    pub thread: Option<bool>,
    /// `run` ends with the task; `session` stays and hears what is said in its thread.
    #[serde(default)]
    pub mode: Option<ChildMode>,
    /// Whether the child's session is kept when it is done.
    #[serde(default)]
    pub cleanup: Option<Cleanup>,
    /// `require` is refused unless the child is sure to run in a sandbox.
    #[serde(default)]
    pub sandbox: Option<ChildSandbox>,
    /// `isolated` begins with nothing; `fork` begins with a copy of this conversation.
    #[serde(default)]
    pub context: Option<SpawnContext>,
    /// Not supported: a child's words come when it is done.
    #[serde(default)]
    pub stream_to: Option<StreamTo>,
    /// Whether the child gets a short context.
    #[serde(default)]
    pub light_context: Option<bool>,
    /// Files for the child, written below its workspace.
    #[serde(default)]
    pub attachments: Vec<Attachment>,
    /// Where the files are put.
    #[serde(default)]
    pub attach_as: Option<AttachAs>,
    /// Whether you hear when the child is done; left out, you do.
    #[serde(default)]
    pub expects_completion_message: Option<bool>,
    /// `parent` keeps the result between the child and you.
    #[serde(default)]
    pub completion_target: Option<ResultTarget>,
    /// Whether the child's words appear in its own thread while it works.
    #[serde(default)]
    pub progress: Option<bool>,
    /// What you want to be told to do with the result; left out, the usual words.
    #[serde(default)]
    pub action: Option<String>,
}

/// What runs a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChildRuntime {
    /// This program.
    Subagent,
    /// Another program.
    Acp,
}

/// Whether a child must run in a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChildSandbox {
    /// As its parent does.
    Inherit,
    /// It must.
    Require,
}

/// What a child begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SpawnContext {
    /// Nothing.
    Isolated,
    /// A copy of its parent's conversation.
    Fork,
}

/// Where a child's words go while it works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StreamTo {
    /// To its parent.
    Parent,
}

/// For whom a child's result is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ResultTarget {
    /// For its parent alone.
    Parent,
}

/// A file for a child.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Attachment {
    /// Its name, without directories.
    pub name: String,
    /// What is in it.
    pub content: String,
    /// How that is written; left out, as plain text.
    #[serde(default)]
    pub encoding: Option<AttachmentEncoding>,
    /// What kind of file it is.
    #[serde(default)]
    pub mime_type: Option<String>,
}

/// How the content of a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AttachmentEncoding {
    /// As plain text.
    Utf8,
    /// In base64.
    Base64,
}

/// Where files are put.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AttachAs {
    /// A directory inside of the child's workspace.
    #[serde(default)]
    pub mount_path: Option<String>,
}

/// Why no child was begun, as a model reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{error}")]
pub struct SpawnRefusal {
    /// Whether it is not allowed, or not possible.
    pub status: RefusalKind,
    /// Why, as a sentence.
    pub error: String,
}

/// Whether something is not allowed, or not possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RefusalKind {
    /// It is not allowed.
    Forbidden,
    /// It is not possible.
    Error,
}

impl SpawnRefusal {
    /// Something that is not allowed.
    pub fn forbidden(error: impl Into<String>) -> Self {
        Self {
            status: RefusalKind::Forbidden,
            error: error.into(),
        }
    }

    /// Something that is not possible.
    pub fn error(error: impl Into<String>) -> Self {
        Self {
            status: RefusalKind::Error,
            error: error.into(),
        }
    }
}

/// What a request comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpawnPlan {
    /// The task.
    pub task: String,
    /// What the child is called.
    pub label: Option<String>,
    /// Whether it gets a thread.
    pub thread: bool,
    /// Whether it stays.
    pub mode: ChildMode,
    /// What becomes of its session.
    pub cleanup: Cleanup,
    /// What it begins with.
    pub context: SpawnContext,
    /// How long it may take, in milliseconds, when the request says so; 0 is without end.
    pub timeout_ms: Option<u64>,
    /// For whom its result is.
    pub target: CompletionTarget,
}

impl SpawnRequest {
    /// Says what the request comes to, or what of it cannot be done.
    pub fn plan(&self) -> Result<SpawnPlan, SpawnRefusal> {
        let task = self.task.trim();
        if task.is_empty() {
            return Err(SpawnRefusal::error("The task is empty."));
        }
        if task.len() > MOST_TASK {
            return Err(SpawnRefusal::error(format!(
                "The task has {} bytes, and {MOST_TASK} are taken. Put what is long into a file or an attachment.",
                task.len()
            )));
        }
        if let Some(what) = self.unsupported() {
            return Err(SpawnRefusal::error(what));
        }
        let thread = self.thread.unwrap_or(false);
        let mode = self.mode.unwrap_or(if thread {
            ChildMode::Session
        } else {
            ChildMode::Run
        });
        if mode == ChildMode::Session && !thread {
            return Err(SpawnRefusal::error(
                "Mode `session` needs `thread: true`: a child that stays is spoken to in its thread.",
            ));
        }
        if self.progress == Some(true) && !thread {
            return Err(SpawnRefusal::error(
                "`progress` needs `thread: true`: only in its own thread does a child speak while it works.",
            ));
        }
        let label = [&self.label, &self.task_name];
        let label = label.into_iter().flatten().map(|label| label.trim());
        let label = label.into_iter().find(|label| !label.is_empty());
        Ok(SpawnPlan {
            task: task.to_owned(),
            label: label.map(|label| label.chars().take(MOST_LABEL).collect()),
            thread,
            mode,
            cleanup: match mode {
                ChildMode::Session => Cleanup::Keep,
                ChildMode::Run => self.cleanup.unwrap_or(Cleanup::Keep),
            },
            context: self.context.unwrap_or(SpawnContext::Isolated),
            timeout_ms: self.timeout_ms()?,
            target: match self.completion_target {
                Some(ResultTarget::Parent) => CompletionTarget::Parent,
                None => CompletionTarget::Usual,
            },
        })
    }

    fn unsupported(&self) -> Option<&'static str> {
        if self.runtime == Some(ChildRuntime::Acp) {
            return Some("Runtime `acp` is not here: children are subagents. Leave `runtime` out.");
        }
        if self.resume_session_id.is_some() {
            return Some(
                "`resumeSessionId` belongs to runtime `acp`, which is not here. Use `context: \"fork\"`, or `sessions_send` to a session that is there.",
            );
        }
        if self.stream_to.is_some() {
            return Some(
                "`streamTo` belongs to runtime `acp`, which is not here. A child's result comes to you when it is done.",
            );
        }
        if self.sandbox == Some(ChildSandbox::Require) {
            return Some(
                "A sandbox cannot be promised for a child. Use `sandbox: \"inherit\"`: its commands run as yours do.",
            );
        }
        None
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between nothing and the most"
    )]
    fn timeout_ms(&self) -> Result<Option<u64>, SpawnRefusal> {
        let Some(seconds) = self.run_timeout_seconds.or(self.timeout_seconds) else {
            return Ok(None);
        };
        if !seconds.is_finite() || seconds < 0.0 {
            return Err(SpawnRefusal::error(
                "`runTimeoutSeconds` is a number of seconds, 0 for no end.",
            ));
        }
        Ok(Some((seconds.min(MOST_SECONDS) * 1000.0) as u64))
    }
}
