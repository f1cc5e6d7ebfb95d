//! GitHub Copilot: the same instructions in two places, each rule, skill and agent in a file of its own.

use super::shared::{
    INSTRUCTIONS, Kinds, agents, description, document, file_stem, json_servers, model,
    model_not_written, other_surfaces, settings, skills, text_part,
};
use crate::error::PackError;
use crate::materialize::options::{LayoutFidelity, LayoutOptions};
use crate::materialize::plan::Draft;
use crate::materialize::rules::{self, Scope};
use crate::materialize::servers::servers;
use crate::materialize::source::AgentContent;
use serde_json::Value;

pub(super) fn lay_out(
    source: &AgentContent<'_>,
    options: &LayoutOptions,
    draft: &mut Draft,
) -> Result<(), PackError> {
    let text = text_part(source, options, draft)?;
    // Copilot reads both files: the same text twice would cost twice.
    if options.layout == LayoutFidelity::Stax {
        document(
            draft,
            options,
            ".github/copilot-instructions.md",
            text.clone(),
        );
        document(draft, options, "AGENTS.md", text);
    } else {
        document(draft, options, ".github/copilot-instructions.md", text);
    }
    model_not_written(options, draft);
    for rule in rules::read(source)? {
        let mut written = String::new();
        let globs = match (rule.globs.is_empty(), options.layout) {
            (false, _) => Some(rule.globs.join(",")),
            (true, LayoutFidelity::Whole) if rule.scope == Scope::Always => Some("**".to_owned()),
            (true, LayoutFidelity::Whole | LayoutFidelity::Stax) => None,
        };
        if let Some(globs) = globs {
            written = format!("---\napplyTo: {}\n---\n\n", Value::from(globs));
        }
        written.push_str(&rule.body);
        let path = format!(
            ".github/instructions/{}.instructions.md",
            file_stem(&rule.id)
        );
        draft.document(path, written);
        draft.lose();
    }
    let servers = servers(source.mcp.as_ref())?;
    if !servers.is_empty() {
        let written = json_servers(&servers, Kinds::Type);
        draft.document(".vscode/mcp.json", settings("servers", &written)?);
    }
    skills(source, options, ".github/skills/", draft)?;
    agents(
        source,
        draft,
        |name| format!(".github/agents/{name}.agent.md"),
        |_, agent| {
            let head = description(agent) + &model(agent);
            format!("---\n{head}---\n\n{}", agent.instructions)
        },
    )?;
    other_surfaces(source, options, &[INSTRUCTIONS], draft);
    Ok(())
}
