//! Codex: one instructions file with the rules in it, skills, and servers in TOML.

use super::shared::{INSTRUCTIONS, document, model_of, other_surfaces, section, skills, text_part};
use crate::error::PackError;
use crate::materialize::options::{LayoutFidelity, LayoutOptions};
use crate::materialize::plan::Draft;
use crate::materialize::rules;
use crate::materialize::servers::{Server, servers};
use crate::materialize::source::AgentContent;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

pub(super) fn lay_out(
    source: &AgentContent<'_>,
    options: &LayoutOptions,
    draft: &mut Draft,
) -> Result<(), PackError> {
    let mut text = text_part(source, options, draft)?;
    section(&mut text, rules::joined(&rules::read(source)?).as_bytes());
    document(draft, options, "AGENTS.md", text);
    let servers = servers(source.mcp.as_ref())?;
    let model = match options.layout {
        LayoutFidelity::Whole => model_of("openai", options, draft),
        LayoutFidelity::Stax => None,
    };
    // The format's own tool writes its settings even when there is nothing to set.
    if options.layout == LayoutFidelity::Stax || !servers.is_empty() || model.is_some() {
        let model = model.map(|model| format!("model = {}\n", quoted(&model)));
        let text = model.unwrap_or_default() + &settings(&servers);
        draft.document(".codex/config.toml", text);
    }
    skills(source, options, ".agents/skills/", draft)?;
    other_surfaces(source, options, &[INSTRUCTIONS], draft);
    Ok(())
}

fn settings(servers: &BTreeMap<String, Server>) -> String {
    let mut text = String::new();
    for (name, server) in servers {
        let _ = writeln!(text, "\n[mcp_servers.{}]", key(name));
        let lines = [
            ("command", &server.command),
            ("url", &server.url),
            ("transport", &server.transport),
        ];
        for (member, value) in lines {
            if let Some(value) = value {
                let _ = writeln!(text, "{member} = {}", quoted(value));
            }
            if member == "command" && !server.args.is_empty() {
                let args: Vec<_> = server.args.iter().map(|arg| quoted(arg)).collect();
                let _ = writeln!(text, "args = [{}]", args.join(", "));
            }
        }
        for (member, table) in [("env", &server.env), ("http_headers", &server.headers)] {
            if !table.is_empty() {
                let _ = writeln!(text, "\n[mcp_servers.{}.{member}]", key(name));
            }
            for (name, value) in table {
                let _ = writeln!(text, "{} = {}", key(name), quoted(value));
            }
        }
    }
    text
}

/// A basic string of TOML is escaped as one of JSON, but for one character.
fn quoted(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

fn key(name: &str) -> String {
    let is_bare = !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    if is_bare {
        name.to_owned()
    } else {
        quoted(name)
    }
}
