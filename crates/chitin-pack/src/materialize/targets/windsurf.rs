//! Windsurf: one instructions file, rules with a trigger, skills as workflows of one file each.

use super::shared::{INSTRUCTIONS, document, file_stem, other_surfaces, remark, text_part};
use crate::compat::SKILL_FILE;
use crate::error::PackError;
use crate::layer::LayerKind;
use crate::materialize::options::{Options, WriteLayer};
use crate::materialize::plan::Draft;
use crate::materialize::rules::{self, Rule, Scope};
use crate::materialize::source::Source;
use serde_json::Value;
use std::fmt::Write as _;

pub(super) fn lay_out(
    source: &Source<'_>,
    options: &Options,
    draft: &mut Draft,
) -> Result<(), PackError> {
    let text = text_part(source, draft)?;
    document(draft, "AGENTS.md", text);
    for rule in rules::read(source)? {
        draft.document(
            format!(".windsurf/rules/{}.md", file_stem(&rule.id)),
            written(&rule),
        );
        draft.lose();
    }
    if options.skills == WriteLayer::Yes {
        workflows(source, draft);
    }
    if source.has(LayerKind::Mcp) {
        let message = "Windsurf keeps MCP servers in a file of the user, which is never written";
        remark(LayerKind::Mcp, message, draft);
    }
    other_surfaces(source, &[INSTRUCTIONS], draft);
    Ok(())
}

/// A workflow is one file, so what else a skill holds stays behind.
fn workflows(source: &Source<'_>, draft: &mut Draft) {
    let mut others = false;
    for file in source.files(LayerKind::Skills) {
        match file.path.split_once('/') {
            Some((skill, SKILL_FILE)) => {
                draft.archived(
                    format!(".windsurf/workflows/{skill}.md"),
                    LayerKind::Skills,
                    file,
                );
            }
            _ => others = true,
        }
    }
    if others {
        let message = "a workflow is one file; other files of skills are not laid out";
        remark(LayerKind::Skills, message, draft);
    }
}

fn written(rule: &Rule) -> String {
    let mut head = match rule.scope {
        Scope::Always => "trigger: always_on\n",
        Scope::Auto => "trigger: model_decision\n",
        Scope::Glob => "trigger: glob\n",
        Scope::Manual => "trigger: manual\n",
    }
    .to_owned();
    if let Some(description) = &rule.description {
        let _ = writeln!(head, "description: {}", Value::from(description.as_str()));
    }
    if !rule.globs.is_empty() {
        let _ = writeln!(head, "globs: {}", rule.globs.join(","));
    }
    format!("---\n{head}---\n\n{}", rule.body)
}
