//! What an agent does by itself, and what it may and can do.

use super::{HomeLine, is_spoken};
use chitin_openclaw::{HomeContents, ScheduledJob, StoredIn};
use serde_json::Value;
use std::fmt::Write as _;

pub(super) fn schedules(contents: &HomeContents) -> Vec<HomeLine> {
    contents.cron.iter().map(job).collect()
}

fn job(job: &ScheduledJob) -> HomeLine {
    let name = job.name.as_deref().unwrap_or(&job.id);
    let state = if job.enabled { "on" } else { "off" };
    let place = format!("{}, {state}", when(&job.schedule));
    let line = match (&job.managed, job.payload_kind.as_deref()) {
        (Some(managed), _) if managed.starts_with("heartbeat:") => HomeLine::differs(
            name,
            "OpenClaw's own; Chitin times heartbeats by their settings",
        ),
        (Some(_), _) => HomeLine::unsupported(name, "OpenClaw's own, not yours; nothing is lost"),
        (None, Some("agentTurn" | "systemEvent")) => HomeLine::differs(name, how(job)),
        (None, other) => HomeLine::unsupported(
            name,
            format!(
                "a job of the kind `{}` has no counterpart",
                other.unwrap_or("?")
            ),
        ),
    };
    line.kept(place)
}

fn how(job: &ScheduledJob) -> String {
    let mut how = match job.from {
        StoredIn::File => {
            "put the job into `cron/jobs.json` in Chitin's home, which has the same form"
        }
        StoredIn::Db => {
            "write the job into `cron/jobs.json` in Chitin's home, in the form of 2026.4"
        }
    }
    .to_owned();
    let channel = job
        .delivery
        .as_ref()
        .and_then(|delivery| delivery["channel"].as_str());
    if let Some(channel) = channel.filter(|channel| *channel != "last" && !is_spoken(channel)) {
        let _ = write!(how, "; its answer cannot go to {channel}");
    }
    how
}

/// Says when a job runs.
fn when(schedule: &Value) -> String {
    let text = |key: &str| schedule[key].as_str().unwrap_or("?");
    match schedule["kind"].as_str() {
        Some("every") => match schedule["everyMs"].as_u64() {
            Some(every) if every % 60_000 == 0 => format!("every {} min", every / 60_000),
            Some(every) => format!("every {} s", every / 1_000),
            None => "every ?".to_owned(),
        },
        Some("cron") => match schedule["tz"].as_str() {
            Some(zone) => format!("{} ({zone})", text("expr")),
            None => text("expr").to_owned(),
        },
        Some("at") => format!("at {}", text("at")),
        Some(_) | None => "?".to_owned(),
    }
}

pub(super) fn heartbeats(contents: &HomeContents) -> Vec<HomeLine> {
    const STOP: &str = "begun by `chitin serve`; stop OpenClaw first, or both have one";
    let every = |settings: &Value| match settings["every"].as_str() {
        Some(every) => format!("every {every}"),
        None => "every 30m".to_owned(),
    };
    let mut lines = Vec::new();
    if let Some(settings) = &contents.heartbeat {
        lines.push(
            HomeLine::works("for all agents")
                .noted(STOP)
                .kept(every(settings)),
        );
    }
    for own in &contents.agent_heartbeats {
        lines.push(
            HomeLine::works(&own.agent)
                .noted(STOP)
                .kept(every(&own.heartbeat)),
        );
    }
    for scratch in &contents.heartbeat_scratch {
        let job = contents.cron.iter().find(|job| job.id == scratch.job_id);
        let name = job
            .and_then(|job| job.name.as_deref())
            .unwrap_or(&scratch.job_id);
        lines.push(
            HomeLine::unsupported(
                format!("notes of {name}"),
                "OpenClaw moved them into SQLite; write them into `HEARTBEAT.md` of the workspace again",
            )
            .kept("SQLite"),
        );
    }
    lines
}

pub(super) fn approvals(contents: &HomeContents) -> Vec<HomeLine> {
    const OWN: &str = "not read; Chitin runs commands in a sandbox and asks by its own rules: `exec.allow`, `exec.approvals` in `chitin.json5`";
    let Some(approvals) = &contents.exec_approvals else {
        return Vec::new();
    };
    let rules = |rules: &serde_json::Map<String, Value>| {
        let rules = rules.iter();
        let rules = rules.filter_map(|(key, value)| Some(format!("{key} {}", value.as_str()?)));
        rules.collect::<Vec<_>>().join(", ")
    };
    let mut lines = Vec::new();
    if !approvals.defaults.is_empty() {
        lines.push(HomeLine::unsupported("for all agents", OWN).kept(rules(&approvals.defaults)));
    }
    for (agent, own) in &approvals.agents {
        lines.push(HomeLine::unsupported(agent, OWN).kept(rules(&own.rules)));
        for pattern in &own.allowlist {
            lines.push(HomeLine::unsupported(format!("{agent}: {pattern}"), OWN).kept("allowed"));
        }
    }
    lines
}

pub(super) fn skills(contents: &HomeContents) -> Vec<HomeLine> {
    let skills = contents.skills.iter();
    skills
        .map(|skill| HomeLine::works(&skill.name).kept(&skill.scope))
        .collect()
}

pub(super) fn hooks(contents: &HomeContents) -> Vec<HomeLine> {
    let mut lines = Vec::new();
    if contents.hooks.enabled == Some(true) {
        lines.push(HomeLine::unsupported(
            "webhooks",
            "no webhooks; programs send messages over the HTTP API of `chitin serve`",
        ));
    }
    for hook in &contents.hooks.internal {
        lines.push(match hook.as_str() {
            "bootstrap-extra-files" | "soul-evil" => HomeLine::works(hook),
            "session-memory" => HomeLine::differs(
                hook,
                "nothing is written at a reset; notes are written before a compaction, and transcripts are searched",
            ),
            "command-logger" => {
                HomeLine::differs(hook, "no log of its own; `chitin trace` and `chitin changes` show what was done")
            }
            _ => HomeLine::unsupported(hook, "it is not run"),
        });
    }
    lines
}

pub(super) fn memory(contents: &HomeContents) -> Vec<HomeLine> {
    let workspaces = contents.workspace_markdown.iter();
    workspaces
        .map(|(agent, files)| {
            let notes = files
                .iter()
                .filter(|file| file.as_str() == "MEMORY.md" || file.starts_with("memory/"));
            HomeLine::works(agent)
                .kept(format!("{} files", notes.count()))
                .noted("the files are searched; the index is made anew")
        })
        .collect()
}
