//! Cursor: one instructions file, each rule in a file that says when it applies.

use super::shared::{
    INSTRUCTIONS, Kinds, document, file_stem, json_servers, other_surfaces, settings, skills,
    text_part,
};
use crate::error::PackError;
use crate::materialize::options::Options;
use crate::materialize::plan::Draft;
use crate::materialize::rules::{self, Rule, Scope};
use crate::materialize::servers::servers;
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
            format!(".cursor/rules/{}.mdc", file_stem(&rule.id)),
            written(&rule),
        );
        draft.lose();
    }
    let servers = servers(source.mcp.as_ref())?;
    if !servers.is_empty() {
        let written = json_servers(&servers, Kinds::Transport);
        draft.document(".cursor/mcp.json", settings("mcpServers", &written)?);
    }
    skills(source, options, ".cursor/skills/", draft);
    other_surfaces(source, &[INSTRUCTIONS], draft);
    Ok(())
}

fn written(rule: &Rule) -> String {
    let mut head = String::new();
    if let Some(description) = &rule.description {
        let _ = writeln!(head, "description: {}", Value::from(description.as_str()));
    }
    if !rule.globs.is_empty() {
        let _ = writeln!(head, "globs: {}", rule.globs.join(","));
    }
    let always = rule.scope == Scope::Always;
    format!("---\n{head}alwaysApply: {always}\n---\n\n{}", rule.body)
}
