//! GitHub Copilot: the same instructions in two places, each rule, skill and agent in a file of its own.

use super::shared::{
    INSTRUCTIONS, Kinds, agents, description, document, file_stem, json_servers, model,
    other_surfaces, settings, skills, text_part,
};
use crate::error::PackError;
use crate::materialize::options::Options;
use crate::materialize::plan::Draft;
use crate::materialize::rules;
use crate::materialize::servers::servers;
use crate::materialize::source::Source;
use serde_json::Value;

pub(super) fn lay_out(
    source: &Source<'_>,
    options: &Options,
    draft: &mut Draft,
) -> Result<(), PackError> {
    let text = text_part(source, draft)?;
    document(draft, ".github/copilot-instructions.md", text.clone());
    document(draft, "AGENTS.md", text);
    for rule in rules::read(source)? {
        let mut written = String::new();
        if !rule.globs.is_empty() {
            let globs = Value::from(rule.globs.join(","));
            written = format!("---\napplyTo: {globs}\n---\n\n");
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
    skills(source, options, ".github/skills/", draft);
    agents(
        source,
        draft,
        |name| format!(".github/agents/{name}.agent.md"),
        |_, agent| {
            let head = description(agent) + &model(agent);
            format!("---\n{head}---\n\n{}", agent.instructions)
        },
    )?;
    other_surfaces(source, &[INSTRUCTIONS], draft);
    Ok(())
}
