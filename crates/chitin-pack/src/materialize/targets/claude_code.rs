//! Claude Code: one instructions file with sections, skills, servers and agents in files of their own.

use super::shared::{
    INSTRUCTIONS, Typed, agents, append, document, json_servers, other_surfaces, pretty, settings,
    skills, surface, text_part,
};
use crate::definition::is_name;
use crate::error::PackError;
use crate::materialize::options::Options;
use crate::materialize::plan::Draft;
use crate::materialize::rules;
use crate::materialize::servers::servers;
use crate::materialize::source::Source;
use serde_json::{Map, Value};

const SECTIONS: [(&str, &str); 4] = [
    ("tools.md", "Tools"),
    ("identity.md", "Identity"),
    ("user.md", "User"),
    ("heartbeat.md", "Heartbeat"),
];

pub(super) fn lay_out(
    source: &Source<'_>,
    options: &Options,
    draft: &mut Draft,
) -> Result<(), PackError> {
    let mut text = text_part(source, draft)?;
    append(&mut text, rules::joined(&rules::read(source)?).as_bytes());
    for (name, title) in SECTIONS {
        if let Some(content) = surface(source, name)?.filter(|content| !content.is_empty()) {
            let mut section = format!("## {title}\n\n").into_bytes();
            section.extend_from_slice(&content);
            append(&mut text, &section);
            draft.lose();
        }
    }
    document(draft, "CLAUDE.md", text);
    let mut preferences = Map::new();
    if let Some(model) = &options.model {
        preferences.insert("model".into(), Value::from(model.as_str()));
    }
    draft.document(".claude/settings.json", pretty(&preferences)?);
    let servers = servers(source.mcp.as_ref())?;
    if !servers.is_empty() {
        let written = json_servers(&servers, Typed::Remote);
        draft.document(".mcp.json", settings("mcpServers", &written)?);
    }
    skills(source, options, ".claude/skills/", draft);
    agents(
        source,
        draft,
        |name| format!(".claude/agents/{name}.md"),
        |name, agent| {
            let description = Value::from(agent.description.as_str());
            let instructions = &agent.instructions;
            let name = if is_name(name) {
                name.to_owned()
            } else {
                Value::from(name).to_string()
            };
            format!("---\nname: {name}\ndescription: {description}\n---\n\n{instructions}")
        },
    )?;
    let mut held = vec![INSTRUCTIONS];
    held.extend(SECTIONS.iter().map(|(name, _)| *name));
    other_surfaces(source, &held, draft);
    Ok(())
}
