//! Cursor: one instructions file, each rule in a file that says when it applies.

use super::compose::{self, Section};
use super::shared::{
    INSTRUCTIONS, Kinds, document, file_stem, json_servers, model_not_written, other_surfaces,
    settings, skills, text_part,
};
use crate::error::PackError;
use crate::materialize::options::{LayoutFidelity, LayoutOptions};
use crate::materialize::plan::Draft;
use crate::materialize::rules::{self, Rule, Scope};
use crate::materialize::servers::servers;
use crate::materialize::source::AgentContent;
use serde_json::Value;
use std::fmt::Write as _;

pub(super) fn lay_out(
    source: &AgentContent<'_>,
    options: &LayoutOptions,
    draft: &mut Draft,
) -> Result<(), PackError> {
    match options.layout {
        LayoutFidelity::Stax => {
            let text = text_part(source, options, draft)?;
            document(draft, options, "AGENTS.md", text);
        }
        LayoutFidelity::Whole => {
            let text = compose::instructions(source, draft)?;
            document(draft, options, "AGENTS.md", text);
            for section in compose::sections(source, options)? {
                let path = format!(".cursor/rules/{}.mdc", section.slug);
                draft.document(path, always(&section));
                draft.lose();
            }
        }
    }
    model_not_written(options, draft);
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
    skills(source, options, ".cursor/skills/", draft)?;
    other_surfaces(source, options, &[INSTRUCTIONS], draft);
    Ok(())
}

/// A part of the persona as a rule that is always there.
fn always(section: &Section) -> Vec<u8> {
    let description = Value::from(format!("{} of the agent ({})", section.title, section.file));
    let head = format!("---\ndescription: {description}\nalwaysApply: true\n---\n\n");
    [head.as_bytes(), &section.body, b"\n"].concat()
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
