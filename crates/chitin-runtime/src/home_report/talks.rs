//! Agents, their workspaces, and what was said.

use super::HomeLine;
use chitin_contract::Contract;
use chitin_guard::Root;
use chitin_openclaw::{HomeContents, HomeSession, StoredIn};

pub(super) fn agents(contents: &HomeContents, contract: &Contract) -> Vec<HomeLine> {
    let agents = contents.agents.iter();
    agents
        .map(|agent| {
            let line = match agent.from {
                "directory" => HomeLine::differs(
                    &agent.id,
                    "no configuration names it; only its history is there",
                ),
                "agents.entries" if !contract.agents.entries_map => HomeLine::differs(
                    &agent.id,
                    "`agents.entries` is read with `--contract openclaw-2026.9`; or name its workspace: `chitin run DIR`",
                ),
                _ => HomeLine::works(&agent.id),
            };
            line.kept(agent.from)
        })
        .collect()
}

pub(super) fn workspaces(contents: &HomeContents) -> Vec<HomeLine> {
    let agents = contents
        .agents
        .iter()
        .filter(|agent| agent.from != "directory");
    agents
        .map(|agent| {
            let line = if Root::open(&agent.workspace).is_ok() {
                HomeLine::works(&agent.id)
            } else {
                HomeLine::unsupported(&agent.id, "the directory is not there, or cannot be opened")
            };
            line.kept(agent.workspace.display().to_string())
        })
        .collect()
}

pub(super) fn sessions(contents: &HomeContents) -> Vec<HomeLine> {
    contents.sessions.iter().map(session).collect()
}

fn session(session: &HomeSession) -> HomeLine {
    let records = session.summary.records;
    let place = match session.from {
        StoredIn::File => "file",
        StoredIn::Db => "SQLite",
    };
    let mut line = match session.from {
        StoredIn::File => HomeLine::differs(
            &session.key,
            "`chitin sessions --openclaw` reads it; `chitin sessions import` continues a copy",
        ),
        StoredIn::Db => HomeLine::unsupported(
            &session.key,
            "read for this report; nothing continues a session from SQLite yet",
        ),
    };
    let unreadable = session.summary.unreadable();
    if unreadable > 0 {
        let note = line.note.take().unwrap_or_default();
        line = line.noted(format!("{note}; unreadable records: {unreadable}"));
    }
    line.kept(format!("{place}, {records} records"))
}

pub(super) fn transcripts(contents: &HomeContents) -> Vec<HomeLine> {
    let others = contents.other_transcripts.iter();
    others
        .map(|other| {
            let name = format!("{} of {}: {}", other.kind, other.agent, other.name);
            let is_plain = other.place == "file" && !other.name.ends_with(".zst");
            let line = if is_plain {
                HomeLine::differs(name, "`chitin sessions import FILE --as KEY` takes a copy")
            } else {
                HomeLine::unsupported(
                    name,
                    "it stays where it is; nothing reads compressed transcripts yet",
                )
            };
            line.kept(format!("{}, {} records", other.place, other.records))
        })
        .collect()
}
