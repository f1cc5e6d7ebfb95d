//! Windsurf: one instructions file, rules with a trigger, skills as workflows of one file each.

use super::shared::{
    INSTRUCTIONS, document, file_stem, model_not_written, other_surfaces, remark, settings, skills,
    text_part,
};
use crate::compat::SKILL_FILE;
use crate::error::PackError;
use crate::layer::LayerKind;
use crate::materialize::options::{LayoutFidelity, LayoutOptions, WriteLayer};
use crate::materialize::plan::Draft;
use crate::materialize::rules::{self, Rule, Scope};
use crate::materialize::servers::{Server, servers};
use crate::materialize::source::AgentContent;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Where Windsurf keeps servers, below the user's home.
const SERVERS: &str = ".codeium/windsurf/mcp_config.json";

pub(super) fn lay_out(
    source: &AgentContent<'_>,
    options: &LayoutOptions,
    draft: &mut Draft,
) -> Result<(), PackError> {
    let text = text_part(source, options, draft)?;
    document(draft, options, "AGENTS.md", text);
    model_not_written(options, draft);
    for rule in rules::read(source)? {
        draft.document(
            format!(".windsurf/rules/{}.md", file_stem(&rule.id)),
            written(&rule),
        );
        draft.lose();
    }
    match (options.layout, options.skills) {
        (LayoutFidelity::Whole, _) => skills(source, options, ".windsurf/skills/", draft)?,
        (LayoutFidelity::Stax, WriteLayer::Yes) => workflows(source, draft)?,
        (LayoutFidelity::Stax, WriteLayer::No) => {}
    }
    let servers = servers(source.mcp.as_ref())?;
    if !servers.is_empty() {
        draft.document(SERVERS, settings("mcpServers", &written_servers(&servers))?);
        let message = "Windsurf reads MCP servers from the user's home only; the file is laid out here to be put there by hand";
        remark(LayerKind::Mcp, message, draft);
    }
    other_surfaces(source, options, &[INSTRUCTIONS], draft);
    Ok(())
}

/// A workflow is one file under its name, so what else a skill holds stays behind.
fn workflows(source: &AgentContent<'_>, draft: &mut Draft) -> Result<(), PackError> {
    let is_document = |path: &str| matches!(path.split_once('/'), Some((_, SKILL_FILE)));
    for (path, bytes) in source.contents(LayerKind::Skills, is_document)? {
        let name = path.split('/').next().unwrap_or(&path);
        let mut workflow = format!("# {name}\n\n").into_bytes();
        workflow.extend_from_slice(&bytes);
        draft.document(format!(".windsurf/workflows/{name}.md"), workflow);
        draft.lose();
    }
    if source
        .files(LayerKind::Skills)
        .iter()
        .any(|file| !is_document(&file.path))
    {
        let message = "a workflow is one file; other files of skills are not laid out";
        remark(LayerKind::Skills, message, draft);
    }
    Ok(())
}

/// A server as Windsurf has it: one that speaks HTTP is told apart by the name of its address.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WindsurfServer<'s> {
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'s str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<&'s [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    server_url: Option<&'s str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'s str>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    env: &'s BTreeMap<String, String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    headers: &'s BTreeMap<String, String>,
}

fn written_servers(servers: &BTreeMap<String, Server>) -> BTreeMap<&str, WindsurfServer<'_>> {
    let written = servers.iter().map(|(name, server)| {
        let is_http = server.transport.as_deref() == Some("http");
        let is_local = server.url.is_none();
        let server = WindsurfServer {
            command: server.command.as_deref().filter(|_| is_local),
            args: is_local.then_some(server.args.as_slice()),
            server_url: server.url.as_deref().filter(|_| is_http),
            url: server.url.as_deref().filter(|_| !is_http),
            env: &server.env,
            headers: &server.headers,
        };
        (name.as_str(), server)
    });
    written.collect()
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
