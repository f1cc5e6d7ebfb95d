//! `write`: a whole file at once.

use super::change::{created_parents, take_back_parents};
use super::roots::FileOptions;
use super::task::{Leave, with_space};
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
        with_space(context, &self.options, Leave::WhenDone, move |space, _| {
            let settled = space.place(&asked.path)?.settle()?;
            settled.check_writable()?;
            let parents = created_parents(&settled)?;
            let written = settled
                .root
                .replace(&settled.relative, asked.content.as_bytes());
            if let Err(error) = written {
                take_back_parents(&settled, &parents);
                return Err(settled.problem(error));
            }
            let size = asked.content.len();
            let (did, is_new) = match settled.found {
                Some(_) => ("Replaced", false),
                None => ("Made", true),
            };
            Ok(
                ToolOutcome::text(format!("{did} `{}`: {size} bytes.", asked.path))
                    .with_details(json!({"path": asked.path, "size": size, "isNew": is_new})),
            )
        })
        .await
    }
}
