//! `apply_patch`: changes of several files that happen together or not at all.

use super::change::{Change, change_all};
use super::consent::{Consent, Planned};
use super::edit::diff;
use super::hunks::apply_hunks;
use super::media_type::{MediaType, SNIFFED, kind};
use super::patch::{PatchedFile, parse_patch};
use super::roots::{FileOptions, Problem, Settled, Space};
use super::task::with_changes;
use crate::schema::spec_on_file;
use crate::tool::{CallContext, ToolOutcome, TypedTool};
use chitin_protocol::tool::ToolSpec;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

crate::schema_on_file!(Arguments, "apply_patch.json");

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// The whole patch.
    #[serde(alias = "patch")]
    input: String,
}

/// Applies a patch.
#[derive(Debug)]
pub struct ApplyPatchTool {
    spec: ToolSpec,
    options: Arc<FileOptions>,
}

impl ApplyPatchTool {
    /// Makes the tool.
    pub fn new(options: Arc<FileOptions>) -> Self {
        let description = "Changes several files at once, all or nothing. Put the patch between \
                           `*** Begin Patch` and `*** End Patch`. Each file starts with `*** Add File: PATH` (every line then \
                           starts with `+`), `*** Delete File: PATH`, or `*** Update File: PATH`, optionally followed by \
                           `*** Move to: PATH`. Each change starts with `@@`, if needed with a line that precedes it; its lines start with \
                           a space (kept), `-` (removed) or `+` (added). Unified diffs work too.";
        Self {
            spec: spec_on_file("apply_patch", description, PARAMETERS),
            options,
        }
    }
}

impl TypedTool for ApplyPatchTool {
    type Arguments = Arguments;

    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(
        &self,
        asked: Arguments,
        context: &CallContext<'_>,
    ) -> Result<ToolOutcome, String> {
        let changes =
            parse_patch(&asked.input).map_err(|error| format!("Nothing was changed: {error}."))?;
        with_changes(
            context,
            &self.options,
            &self.spec.name,
            move |space, consent| apply(space, changes.clone(), consent),
        )
        .await
    }
}

/// A file that the patch speaks of: how it was, and how it is to be.
#[derive(Debug)]
struct Touched<'s> {
    change: Change<'s>,
    /// What the file held.
    old: Vec<u8>,
    /// The permission bits that it has, or that it is to have.
    mode: Option<u32>,
}

impl Touched<'_> {
    fn is_there(&self) -> bool {
        self.change.after.is_some()
    }
}

/// Every file that the patch speaks of, in order; a later part sees what an earlier one did.
struct Files<'s> {
    space: &'s Space,
    touched: Vec<Touched<'s>>,
}

fn apply(
    space: &Space,
    changes: Vec<PatchedFile>,
    consent: &Consent,
) -> Result<ToolOutcome, Problem> {
    let mut files = Files {
        space,
        touched: Vec::new(),
    };
    let mut told = Vec::new();
    for change in changes {
        told.push(files.take_in(change)?);
    }
    consent.check(files.touched.iter().map(|file| Planned {
        target: &file.change.target,
        before: file.change.before.map(|_| file.old.as_slice()),
        after: file.change.after.as_deref(),
    }))?;
    let diffs: Vec<Value> = files
        .touched
        .iter()
        .map(|file| {
            let after = file.change.after.as_deref().unwrap_or_default();
            json!({"path": file.change.target.shown, "diff": diff(&file.old, after)})
        })
        .collect();
    let changes: Vec<Change<'_>> = files
        .touched
        .into_iter()
        .filter(|file| {
            let is_same = file.change.after.as_ref() == Some(&file.old);
            !(is_same && file.change.before.is_some())
        })
        .map(|file| file.change)
        .collect();
    change_all(&changes)?;
    Ok(ToolOutcome::text(told.join("\n")).with_details(json!({ "files": diffs })))
}

impl<'s> Files<'s> {
    /// Works one part of the patch into the picture and says what it does.
    fn take_in(&mut self, change: PatchedFile) -> Result<String, Problem> {
        match change {
            PatchedFile::Add { path, content } => {
                let file = self.file(&path)?;
                if file.is_there() {
                    return Err(Problem::Other(format!(
                        "Nothing was changed: `{path}` cannot be added because it already exists. Use `*** Update File: `."
                    )));
                }
                file.change.after = Some(content.into_bytes());
                Ok(format!("Added `{path}`."))
            }
            PatchedFile::Delete { path, hunks } => {
                let file = self.existing(&path)?;
                let content = file.change.after.take().unwrap_or_default();
                if !hunks.is_empty() {
                    let rest = apply_hunks(&content, &hunks).map_err(|p| not_applied(&path, &p))?;
                    if !rest.is_empty() {
                        return Err(not_applied(
                            &path,
                            &"the file has more content than the patch removes",
                        ));
                    }
                }
                Ok(format!("Deleted `{path}`."))
            }
            PatchedFile::Update {
                path,
                move_to,
                hunks,
            } => {
                let file = self.existing(&path)?;
                let content = file.change.after.take().unwrap_or_default();
                if let MediaType::Binary(what) | MediaType::Image(what) =
                    kind(&content[..content.len().min(SNIFFED)])
                {
                    return Err(not_applied(&path, &format!("it is {what}")));
                }
                let new = apply_hunks(&content, &hunks).map_err(|p| not_applied(&path, &p))?;
                let Some(to) = move_to else {
                    file.change.after = Some(new);
                    return Ok(format!("Updated `{path}`."));
                };
                let mode = file.mode;
                let target = self.file(&to)?;
                if target.is_there() {
                    return Err(not_applied(&path, &format!("`{to}` already exists")));
                }
                target.change.after = Some(new);
                target.change.mode = mode;
                target.mode = mode;
                Ok(format!("Updated `{path}` and moved it to `{to}`."))
            }
        }
    }

    fn existing(&mut self, path: &str) -> Result<&mut Touched<'s>, Problem> {
        let file = self.file(path)?;
        if file.is_there() {
            return Ok(file);
        }
        Err(match file.change.target.found {
            None => Problem::Other(format!("Nothing was changed: `{path}` does not exist.")),
            Some(_) => Problem::Other(format!(
                "Nothing was changed: an earlier part of the patch deleted or moved `{path}`."
            )),
        })
    }

    /// Returns a file as the parts so far leave it.
    fn file(&mut self, path: &str) -> Result<&mut Touched<'s>, Problem> {
        let target = self.space.place(path)?.settle()?;
        target.check_writable()?;
        let same = |file: &Touched<'_>| {
            let known = &file.change.target;
            known.relative == target.relative && std::ptr::eq(known.root, target.root)
        };
        if let Some(at) = self.touched.iter().position(same) {
            return Ok(&mut self.touched[at]);
        }
        self.touched.push(Touched::read(target)?);
        let last = self.touched.len() - 1;
        Ok(&mut self.touched[last])
    }
}

impl<'s> Touched<'s> {
    fn read(target: Settled<'s>) -> Result<Self, Problem> {
        let read = target.found.map(|_| target.read()).transpose()?;
        let (before, old) = read
            .map(|read| ((read.fingerprint, read.mode), read.bytes))
            .unzip();
        Ok(Self {
            mode: before.map(|(_, mode)| mode),
            old: old.clone().unwrap_or_default(),
            change: Change {
                target,
                before,
                after: old,
                mode: None,
            },
        })
    }
}

fn not_applied(path: &str, problem: &dyn std::fmt::Display) -> Problem {
    Problem::Other(format!("Nothing was changed: `{path}`: {problem}."))
}
