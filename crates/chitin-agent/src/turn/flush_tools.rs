//! The tools during a memory flush: the agent may read, and append to one file.
//!
//! The model sees the same tool definitions as ever, because they come first in what providers cache. What a call
//! may do is decided here; a refusal is text for the model.

use super::Running;
use super::calls::usable_arguments;
use crate::compat::{LOOKING_TOOLS, WRITE_TOOL};
use crate::guard::sentence;
use crate::history::FlushPlan;
use chitin_protocol::event::RefusedPart;
use chitin_protocol::message::ToolCallBlock;
use chitin_tools::ToolOutcome;
use chitin_workspace::state::DailyNotes;
use serde_json::Value;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// The one file that can be written to.
#[derive(Debug, Clone)]
pub(super) struct Fence {
    pub(super) notes: Arc<DailyNotes>,
    pub(super) plan: Arc<FlushPlan>,
}

/// The result of a call.
pub(super) struct Fenced {
    pub(super) outcome: ToolOutcome,
    /// How many lines were added to the file.
    pub(super) lines: usize,
}

impl From<ToolOutcome> for Fenced {
    fn from(outcome: ToolOutcome) -> Self {
        Self { outcome, lines: 0 }
    }
}

impl Running<'_> {
    /// Tells whether the tool policy lets the agent write at all.
    pub(super) fn may_write(&self) -> bool {
        self.agent.parts.tools.get(WRITE_TOOL).is_some()
    }

    /// Runs a call, restricted.
    pub(super) async fn fenced(&self, call: &ToolCallBlock, fence: &Fence) -> Fenced {
        let parts = &self.agent.parts;
        let Some(tool) = parts.tools.get(&call.name) else {
            return self.outcome(call, None).await.into();
        };
        match tool.spec().name.as_str() {
            WRITE_TOOL => {
                let Some(arguments) = usable_arguments(call) else {
                    // The regular path reports what is wrong with them; nothing runs.
                    return self.outcome(call, None).await.into();
                };
                if let Some(by) = parts.guard.tool_call(&arguments) {
                    let text = sentence(RefusedPart::ToolCall, &by);
                    return ToolOutcome::error(format!("Not run: {text}")).into();
                }
                self.before_writing().await;
                fence.append(&parts.workspace, &arguments).await
            }
            name if LOOKING_TOOLS.contains(&name) => self.outcome(call, None).await.into(),
            name => ToolOutcome::error(format!(
                "Not run: `{name}` is not available now. Before the conversation is shortened you can look at files, and \
                 append to `{}` with `{WRITE_TOOL}`.",
                fence.plan.relative_path
            ))
            .into(),
        }
    }
}

impl Fence {
    async fn append(&self, workspace: &Path, arguments: &Value) -> Fenced {
        let path = &self.plan.relative_path;
        let text = |name: &str| arguments.get(name).and_then(Value::as_str);
        let asked = text("path").or_else(|| text("file_path"));
        let (Some(asked), Some(content)) = (asked, text("content")) else {
            return ToolOutcome::error("Not run: `path` and `content` are needed, both as text.")
                .into();
        };
        if !is_same(workspace, asked, Path::new(path)) {
            return ToolOutcome::error(format!(
                "Not written: before the conversation is shortened, `{WRITE_TOOL}` only appends to `{path}`. All other \
                 files stay as they are."
            ))
            .into();
        }
        let (notes, day, content) = (Arc::clone(&self.notes), self.plan.day, content.to_owned());
        let work = tokio::task::spawn_blocking(move || notes.append(day, &content));
        match work.await {
            Ok(Ok(appended)) => Fenced {
                outcome: ToolOutcome::text(format!(
                    "Appended to `{path}`: {}.",
                    lines(appended.lines)
                )),
                lines: appended.lines,
            },
            Ok(Err(error)) => ToolOutcome::error(format!("Not written: {error}.")).into(),
            Err(error) => ToolOutcome::error(format!("Not written: {error}.")).into(),
        }
    }
}

/// Describes a number of lines.
pub(super) fn lines(count: usize) -> String {
    match count {
        1 => "1 line".to_owned(),
        count => format!("{count} lines"),
    }
}

/// Tells whether a path that a model wrote names the file, relative to the workspace or in full. By its text alone: where
/// links lead is the guard's business.
fn is_same(workspace: &Path, asked: &str, file: &Path) -> bool {
    let plain = |path: &Path| {
        let mut plain = PathBuf::new();
        for component in path.components() {
            match component {
                Component::CurDir => {}
                Component::ParentDir => return None,
                Component::Normal(_) | Component::RootDir | Component::Prefix(_) => {
                    plain.push(component);
                }
            }
        }
        Some(plain)
    };
    plain(&workspace.join(asked.trim())) == plain(&workspace.join(file))
}
