//! Claude Code: one instructions file with sections, skills, servers and agents in files of their own.

use super::shared::{
    INSTRUCTIONS, Kinds, agents, description, document, json_servers, model, model_of,
    other_surfaces, pretty, section, settings, skills, surface, text_part,
};
use crate::error::PackError;
use crate::materialize::options::{LayoutFidelity, LayoutOptions};
use crate::materialize::plan::Draft;
use crate::materialize::rules;
use crate::materialize::servers::servers;
use crate::materialize::source::AgentContent;
use serde_json::{Map, Value};

const SECTIONS: [(&str, &str); 4] = [
    ("tools.md", "Tools"),
    ("identity.md", "Identity"),
    ("user.md", "User"),
    ("heartbeat.md", "Heartbeat"),
];

pub(super) fn lay_out(
    source: &AgentContent<'_>,
    options: &LayoutOptions,
    draft: &mut Draft,
) -> Result<(), PackError> {
    let mut text = text_part(source, options, draft)?;
    section(&mut text, rules::joined(&rules::read(source)?).as_bytes());
    let sections = match options.layout {
        LayoutFidelity::Stax => &SECTIONS[..],
        LayoutFidelity::Whole => &[],
    };
    for (name, title) in sections {
        if let Some(content) = surface(source, name)?.filter(|content| !content.is_empty()) {
            section(&mut text, format!("## {title}").as_bytes());
            section(&mut text, &content);
            draft.lose();
        }
    }
    document(draft, options, "CLAUDE.md", text);
    let mut preferences = Map::new();
    if let Some(model) = model_of("anthropic", options, draft) {
        preferences.insert("model".into(), Value::from(model));
    }
    if options.layout == LayoutFidelity::Stax || !preferences.is_empty() {
        draft.document(".claude/settings.json", pretty(&preferences)?);
    }
    let servers = servers(source.mcp.as_ref())?;
    if !servers.is_empty() {
        let written = json_servers(&servers, Kinds::Transport);
        draft.document(".mcp.json", settings("mcpServers", &written)?);
    }
    skills(source, options, ".claude/skills/", draft)?;
    agents(
        source,
        draft,
        |name| format!(".claude/agents/{name}.md"),
        |name, agent| match options.layout {
            LayoutFidelity::Stax => format!(
                "# {name}\n\n{}\n\n{}",
                agent.description, agent.instructions
            ),
            LayoutFidelity::Whole => {
                let head = format!("name: {name}\n{}{}", description(agent), model(agent));
                format!("---\n{head}---\n\n{}\n", agent.instructions)
            }
        },
    )?;
    let mut held = vec![INSTRUCTIONS];
    held.extend(SECTIONS.iter().map(|(name, _)| *name));
    other_surfaces(source, options, &held, draft);
    Ok(())
}
