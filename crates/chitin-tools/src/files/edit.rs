//! `edit`: pieces of a file replaced by others.

use super::change::{Change, change_all};
use super::consent::{Consent, Planned};
use super::media_type::{MediaType, SNIFFED, kind};
use super::replace::{Occurrences, Replacement, replace};
use super::roots::{FileOptions, Problem, Space};
use super::task::with_changes;
use crate::schema::spec_on_file;
use crate::tool::{CallContext, ToolOutcome, TypedTool};
use chitin_protocol::tool::ToolSpec;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;

crate::schema_on_file!(Arguments, "edit.json");

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("required" = ["path", "edits"]))]
pub struct Arguments {
    /// The file, relative to the workspace or absolute.
    #[serde(alias = "file_path")]
    path: String,
    /// What to replace. Each text is looked for in the file as it is before all edits; either all are made, or none.
    #[serde(default)]
    edits: Vec<OneEdit>,
    /// Some models send a single edit without the list.
    #[serde(default, alias = "old_string", alias = "old_text")]
    #[schemars(skip)]
    old_text: Option<String>,
    #[serde(default, alias = "new_string", alias = "new_text")]
    #[schemars(skip)]
    new_text: Option<String>,
    #[serde(default, alias = "replace_all")]
    #[schemars(skip)]
    replace_all: Option<bool>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct OneEdit {
    /// Exactly the text that is there, with enough around it to be found only once.
    #[serde(alias = "old_string", alias = "old_text")]
    old_text: String,
    /// The text that is to be there.
    #[serde(alias = "new_string", alias = "new_text")]
    new_text: String,
    /// Replace every place instead of the only one.
    #[serde(default, alias = "replace_all")]
    replace_all: Option<bool>,
}

impl Arguments {
    fn replacements(self) -> (String, Vec<Replacement>) {
        let single = match (self.old_text, self.new_text) {
            (Some(old_text), Some(new_text)) => Some(OneEdit {
                old_text,
                new_text,
                replace_all: self.replace_all,
            }),
            _ => None,
        };
        let edits = self
            .edits
            .into_iter()
            .chain(single)
            .map(|edit| Replacement {
                old: edit.old_text,
                new: edit.new_text,
                places: match edit.replace_all {
                    Some(true) => Occurrences::All,
                    Some(false) | None => Occurrences::Only,
                },
            })
            .collect();
        (self.path, edits)
    }
}

/// Edits a file.
#[derive(Debug)]
pub struct EditTool {
    spec: ToolSpec,
    options: Arc<FileOptions>,
}

impl EditTool {
    /// Makes the tool.
    pub fn new(options: Arc<FileOptions>) -> Self {
        let description = "Replaces text in a file. Each old text must occur in the file exactly once. Line endings and \
                           everything else stay as they are.";
        Self {
            spec: spec_on_file("edit", description, PARAMETERS),
            options,
        }
    }
}

impl TypedTool for EditTool {
    type Arguments = Arguments;

    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(
        &self,
        asked: Arguments,
        context: &CallContext<'_>,
    ) -> Result<ToolOutcome, String> {
        let (path, edits) = asked.replacements();
        if edits.is_empty() {
            return Err("`edits` is empty.".to_owned());
        }
        with_changes(
            context,
            &self.options,
            &self.spec.name,
            move |space, consent| edit(space, &path, &edits, consent),
        )
        .await
    }
}

fn edit(
    space: &Space,
    path: &str,
    edits: &[Replacement],
    consent: &Consent,
) -> Result<ToolOutcome, Problem> {
    let target = space.place(path)?.settle()?;
    let read = target.read()?;
    if let MediaType::Binary(what) | MediaType::Image(what) =
        kind(&read.bytes[..read.bytes.len().min(SNIFFED)])
    {
        return Err(Problem::Other(format!(
            "`{path}` is not edited: it is {what}."
        )));
    }
    let replaced = replace(&read.bytes, edits)
        .map_err(|problem| Problem::Other(format!("`{path}`, {problem}.")))?;
    consent.check([Planned {
        target: &target,
        before: Some(&read.bytes),
        after: Some(&replaced.bytes),
    }])?;
    let details = json!({
        "path": path,
        "lines": replaced.lines,
        "diff": diff(&read.bytes, &replaced.bytes),
    });
    let lines: Vec<String> = replaced
        .lines
        .iter()
        .take(20)
        .map(usize::to_string)
        .collect();
    change_all(&[Change {
        target,
        before: Some((read.fingerprint, read.mode)),
        after: Some(replaced.bytes),
        mode: None,
    }])?;
    let count = replaced.lines.len();
    let text = format!(
        "Edited `{path}`: {count} {}, at line {}{}.",
        if count == 1 { "place" } else { "places" },
        lines.join(", "),
        if count > lines.len() { " and more" } else { "" }
    );
    Ok(ToolOutcome::text(text).with_details(details))
}

/// So much is compared to show people what changed.
const MOST_COMPARED: usize = 256 * 1024;

/// Shows what changed, for people; `None` when that would take too long.
pub(super) fn diff(before: &[u8], after: &[u8]) -> Option<String> {
    if before.len() + after.len() > MOST_COMPARED {
        return None;
    }
    let (before, after) = (
        String::from_utf8_lossy(before),
        String::from_utf8_lossy(after),
    );
    let diff = similar::TextDiff::configure()
        .timeout(std::time::Duration::from_millis(100))
        .diff_lines(before.as_ref(), after.as_ref());
    Some(diff.unified_diff().context_radius(2).to_string())
}
