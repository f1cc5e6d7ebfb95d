//! What the prompt's own sections need to know of this machine and this configuration.

use super::model::ModelFigures;
use super::{Own, TurnArgs};
use crate::error::{CliError, Kind};
use crate::host::Host;
use crate::printer::plain;
use crate::setup::Setup;
use chitin_context::sections::{HostFacts, PromptFacts, ToolFact, section_keys};
use chitin_workspace::nearest::nearest;
use std::path::Path;
use std::sync::Arc;

/// The tools that a run offers unless told otherwise.
const TOOLS: [(&str, &str); 8] = [
    ("read", "read a file"),
    ("write", "write a file, whole"),
    ("edit", "replace text in a file"),
    ("apply_patch", "change several files at once"),
    ("exec", "run a command"),
    ("process", "look after commands in the background"),
    ("search", "find files and lines"),
    ("session_status", "time, model and cost of this session"),
];

/// Gathers the facts that do not depend on the files of this turn.
pub(super) fn facts(
    turn: &TurnArgs,
    host: &Host,
    setup: &Setup,
    own: &Own,
    model: &ModelFigures,
) -> Result<PromptFacts, CliError> {
    let rules = &setup.contract().prompt;
    for key in &own.sections_off {
        if !section_keys(rules).any(|known| known == key) && !is_known_elsewhere(key) {
            let key = plain(key, '\u{fffd}');
            let error = CliError::new(Kind::Config, format!("There is no section called `{key}`."));
            let names: Vec<&str> = section_keys(rules).collect();
            return Err(match nearest(&key, names.iter().copied()) {
                Some(near) => error.hint(format!("did you mean `{near}`?")),
                None => error.hint(format!("there are `{}`", names.join("`, `"))),
            });
        }
    }
    let config = setup.configuration.value();
    let zone = config["agents"]["defaults"]["userTimezone"]
        .as_str()
        .map(str::to_owned)
        .or_else(|| host.time_zone());
    Ok(PromptFacts {
        tools: tools(turn),
        workspace: setup.directory.to_string_lossy().into(),
        time_zone: zone.map(Into::into),
        host: HostFacts {
            program: Some(concat!("chitin ", env!("CARGO_PKG_VERSION")).into()),
            agent: Some(setup.agent.as_str().into()),
            machine: None,
            os: Some(std::env::consts::OS.into()),
            arch: Some(std::env::consts::ARCH.into()),
            shell: shell(host),
            model: model.name().map(Into::into),
        },
        switched_off: own.sections_off.clone(),
        ..PromptFacts::default()
    })
}

/// A key that another contract knows is no slip of the finger.
fn is_known_elsewhere(key: &str) -> bool {
    chitin_workspace::contract::ALL
        .iter()
        .any(|contract| section_keys(&contract.prompt).any(|known| known == key))
}

fn tools(turn: &TurnArgs) -> Vec<ToolFact> {
    let fact = |name: &str, summary: &str| ToolFact {
        name: name.into(),
        summary: summary.into(),
    };
    match &turn.tools {
        None => TOOLS
            .iter()
            .map(|(name, summary)| fact(name, summary))
            .collect(),
        Some(names) => names
            .iter()
            .map(|name| name.trim())
            .filter(|name| !name.is_empty())
            .map(|name| {
                let known = TOOLS.iter().find(|(known, _)| *known == name);
                fact(name, known.map_or("", |(_, summary)| summary))
            })
            .collect(),
    }
}

fn shell(host: &Host) -> Option<Arc<str>> {
    let shell = host.env.get("SHELL")?;
    let name = Path::new(shell).file_name()?.to_string_lossy();
    Some(name.into_owned().into())
}
