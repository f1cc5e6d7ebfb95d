//! `write`: a whole file at once.

use super::change::{Change, change_all, created_parents, take_back_parents};
use super::consent::{Consent, Planned};
use super::roots::{FileOptions, Problem, Settled};
use super::task::with_changes;
use crate::schema::spec_on_file;
use crate::tool::{CallContext, ToolOutcome, TypedTool};
use chitin_protocol::tool::ToolSpec;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;

crate::schema_on_file!(Arguments, "write.json");

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// The file, relative to the workspace or absolute. Directories on the way are made.
    #[serde(alias = "file_path")]
    path: String,
    /// All that the file is to hold.
    content: String,
}

/// Writes a file.
#[derive(Debug)]
pub struct WriteTool {
    spec: ToolSpec,
    options: Arc<FileOptions>,
}

impl WriteTool {
    /// Makes the tool.
    pub fn new(options: Arc<FileOptions>) -> Self {
        let description = "Creates a file or replaces its whole content. To change part of a file, use \
                           `edit` or `apply_patch`.";
        Self {
            spec: spec_on_file("write", description, PARAMETERS),
            options,
        }
    }
}

impl TypedTool for WriteTool {
    type Arguments = Arguments;

    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(
        &self,
        asked: Arguments,
        context: &CallContext<'_>,
    ) -> Result<ToolOutcome, String> {
        with_changes(
            context,
            &self.options,
            &self.spec.name,
            move |space, approved| {
                let settled = space.place(&asked.path)?.settle()?;
                settled.check_writable()?;
                let bytes = asked.content.as_bytes();
                let is_new = settled.found.is_none();
                if settled.guarded.is_some() {
                    replace_guarded(settled, bytes, approved)?;
                } else {
                    let parents = created_parents(&settled)?;
                    if let Err(error) = settled.root.replace(&settled.relative, bytes) {
                        take_back_parents(&settled, &parents);
                        return Err(settled.problem(error));
                    }
                }
                let size = bytes.len();
                let did = if is_new { "Made" } else { "Replaced" };
                Ok(
                    ToolOutcome::text(format!("{did} `{}`: {size} bytes.", asked.path))
                        .with_details(json!({"path": asked.path, "size": size, "isNew": is_new})),
                )
            },
        )
        .await
    }
}

/// Writes a file that the owner must approve a change of: exactly what was approved, over exactly what was shown.
fn replace_guarded(
    settled: Settled<'_>,
    content: &[u8],
    approved: &Consent,
) -> Result<(), Problem> {
    let read = settled.found.map(|_| settled.read()).transpose()?;
    approved.check([Planned {
        target: &settled,
        before: read.as_ref().map(|read| read.bytes.as_slice()),
        after: Some(content),
    }])?;
    change_all(&[Change {
        target: settled,
        before: read.map(|read| (read.fingerprint, read.mode)),
        after: Some(content.to_vec()),
        mode: None,
    }])
}
