//! OpenCode: one instructions file with the rules in it, skills and agents, and servers in its settings.

use super::shared::{
    INSTRUCTIONS, agents, description, document, model, other_surfaces, pretty, section, skills,
    text_part,
};
use crate::error::PackError;
use crate::materialize::options::{LayoutFidelity, LayoutOptions};
use crate::materialize::plan::Draft;
use crate::materialize::rules;
use crate::materialize::servers::{Server, servers};
use crate::materialize::source::AgentContent;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct Settings<'s> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'s str>,
    mcp: BTreeMap<&'s str, OpencodeServer<'s>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum OpencodeServer<'s> {
    Remote {
        url: &'s str,
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        headers: &'s BTreeMap<String, String>,
    },
    Local {
        command: Vec<&'s str>,
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        environment: &'s BTreeMap<String, String>,
    },
}

pub(super) fn lay_out(
    source: &AgentContent<'_>,
    options: &LayoutOptions,
    draft: &mut Draft,
) -> Result<(), PackError> {
    let mut text = text_part(source, options, draft)?;
    section(&mut text, rules::joined(&rules::read(source)?).as_bytes());
    document(draft, options, "AGENTS.md", text);
    let servers = servers(source.mcp.as_ref())?;
    if !servers.is_empty() || options.model.is_some() {
        let settings = Settings {
            schema: "https://opencode.ai/config.json",
            model: options.model.as_deref(),
            mcp: servers
                .iter()
                .map(|(name, server)| (name.as_str(), written(server)))
                .collect(),
        };
        draft.document("opencode.jsonc", pretty(&settings)?);
    }
    let below = match options.layout {
        LayoutFidelity::Whole => ".opencode/skills/",
        LayoutFidelity::Stax => ".opencode/skill/",
    };
    skills(source, options, below, draft)?;
    agents(
        source,
        draft,
        |name| format!(".opencode/agent/{name}.md"),
        |_, agent| {
            let head = model(agent) + &description(agent);
            format!("---\n{head}---\n\n{}", agent.instructions)
        },
    )?;
    other_surfaces(source, options, &[INSTRUCTIONS], draft);
    Ok(())
}

fn written(server: &Server) -> OpencodeServer<'_> {
    match &server.url {
        Some(url) => OpencodeServer::Remote {
            url,
            headers: &server.headers,
        },
        None => OpencodeServer::Local {
            command: server
                .command
                .iter()
                .chain(&server.args)
                .map(String::as_str)
                .collect(),
            environment: &server.env,
        },
    }
}
