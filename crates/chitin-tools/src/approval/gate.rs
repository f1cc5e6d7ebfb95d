//! The gate: rules, and somebody who is asked.

use super::harm::harm;
use super::rules::{ApprovalRules, CommandDecision, Held};
use super::wider::pattern_of;
use crate::tool::{Approval, ApprovalRequest, Approver};
use chitin_protocol::settings::ApprovalSetting;
use std::collections::BTreeMap;
use std::fmt::Write;

/// How much of a command is shown to whoever is asked.
const SHOWN: usize = 16_000;

/// Lets commands through, or not.
#[derive(Debug, Default)]
pub struct Gate {
    rules: ApprovalRules,
}

/// A command that asks to be run.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// The tool.
    pub tool: &'a str,
    /// The command line.
    pub command: &'a str,
    /// The variables that are set for it.
    pub environment: &'a BTreeMap<String, String>,
    /// Where it would run, when that is not the workspace.
    pub workdir: Option<&'a str>,
    /// Whether a sandbox holds it.
    pub held: Held,
    /// Tells whether there is a file whose content could not be brought back if the command replaced it, by a path relative to where
    /// the command would run.
    pub at_stake: &'a (dyn Fn(&str) -> bool + Send + Sync),
}

impl Gate {
    /// Makes a gate of rules.
    pub const fn new(rules: ApprovalRules) -> Self {
        Self { rules }
    }

    /// Returns the rules.
    pub fn rules(&self) -> &ApprovalRules {
        &self.rules
    }

    /// Lets a command through, after asking where the rules want it, or says why not.
    pub async fn admit(
        &self,
        question: Question<'_>,
        approver: &dyn Approver,
    ) -> Result<(), String> {
        let Question {
            tool,
            command,
            environment,
            workdir,
            held,
            at_stake,
        } = question;
        let why = match self.rules.decide(command, environment, held) {
            CommandDecision::Allow => match self.rules.harm(command, environment, at_stake) {
                Some(harm) if approver.is_there() => harm,
                Some(_) | None => return Ok(()),
            },
            CommandDecision::Deny(why) => return Err(format!("The command was not run. {why}")),
            // What the command does says more than why it is asked about.
            CommandDecision::Ask(why) => match harm(command, at_stake) {
                Some(harm) => format!("{why} {harm}"),
                None => why,
            },
        };
        let every_time = self.rules.approvals == Some(ApprovalSetting::AlwaysAsk);
        let what = shown(command, environment, workdir);
        // What is shown cut short would stand for other commands as well.
        let exact = format!("={what}");
        let is_plain = environment.is_empty() && workdir.is_none() && held == Held::Firmly;
        let kind = if is_plain {
            pattern_of(command, at_stake)
        } else {
            None
        };
        let pattern = Some(kind.as_deref().unwrap_or(&exact))
            .filter(|_| !every_time && command.len() < SHOWN / 2);
        let request = ApprovalRequest {
            session_key: "",
            tool,
            what: &what,
            why: &why,
            diff: None,
            pattern,
            covered_by: &|pattern| pattern == exact || kind.as_deref() == Some(pattern),
        };
        match approver.ask(request).await {
            Approval::Once | Approval::Session | Approval::Always => Ok(()),
            denied @ Approval::Denied(_) => Err(format!(
                "The command was not run: {}.",
                denied.refusal().trim_end_matches('.')
            )),
            nobody @ Approval::Nobody(_) => Err(format!(
                "The command was not run: {}. {why} The owner can add it to `exec.allow`, or set `exec.approvals`, in \
                 `chitin.json5`.",
                nobody.refusal()
            )),
        }
    }
}

/// Returns a command in one line, with nothing in it that a terminal would act on.
fn shown(command: &str, environment: &BTreeMap<String, String>, workdir: Option<&str>) -> String {
    let mut text = String::new();
    for (name, value) in environment {
        let _ = write!(text, "{}={} ", name.escape_debug(), value.escape_debug());
    }
    for c in command.chars() {
        // Marks that turn the direction of writing could show another command than the one that runs.
        let hidden = matches!(c, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}');
        if c.is_control() || hidden || c == '\\' {
            text.extend(c.escape_default());
        } else {
            text.push(c);
        }
    }
    if let Some(workdir) = workdir {
        let _ = write!(text, "  (in {})", workdir.escape_debug());
    }
    if let Some((end, _)) = text.char_indices().nth(SHOWN) {
        let all = text.chars().count();
        text.truncate(end);
        let _ = write!(text, "… (truncated: {all} characters in total)");
    }
    text
}
