//! Decisions about command lines.

use super::compat;
use super::harm::harm;
use super::indirect::{is_opaque, may_be_program, without_global_options};
use super::pattern::{CommandPattern, Fit};
use super::shell::{Script, SimpleCommand, Word, split};
use chitin_protocol::settings::{ApprovalSetting, ExecSettings};
use chitin_workspace::extensions::permissions::{self, Permissions};
use serde_json::Value;
use std::collections::BTreeMap;

/// What becomes of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandDecision {
    /// It runs.
    Allow,
    /// Somebody is asked, for this reason.
    Ask(String),
    /// It does not run, for this reason.
    Deny(String),
}

/// What decides about commands. Plain data: it asks nobody and remembers nothing.
#[derive(Debug, Clone, Default)]
pub struct ApprovalRules {
    /// What is done with a command that no list names; nothing means: by what holds it.
    pub approvals: Option<ApprovalSetting>,
    /// What runs.
    pub allow: Vec<CommandPattern>,
    /// What never runs.
    pub deny: Vec<CommandPattern>,
    /// What the workspace's own file says.
    pub permissions: Option<Permissions>,
}

/// Variables that change nothing but the look of an output.
const HARMLESS: [&str; 6] = ["LANG", "TZ", "TERM", "NO_COLOR", "CI", "CLICOLOR"];

/// Programs that run what their arguments say. A pattern of what is denied is looked for in their arguments as well.
pub(super) const RUNNERS: [&str; 24] = [
    "env", "sudo", "doas", "su", "nice", "ionice", "nohup", "timeout", "time", "command", "exec",
    "builtin", "xargs", "parallel", "find", "setsid", "stdbuf", "busybox", "toybox", "chroot",
    "unshare", "watch", "strace", "flock",
];

/// Programs that read a program from their arguments or their input.
pub(super) const INTERPRETERS: [&str; 26] = [
    "sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "python", "python3", "perl", "ruby", "node",
    "deno", "bun", "php", "lua", "tclsh", "Rscript", "pwsh", "awk", "gawk", "mawk", "nawk", "ed",
    "ex", "ssh",
];

/// The most words of a command that runs others that are looked through for what is denied.
const MOST_WORDS: usize = 500;

impl ApprovalRules {
    /// Puts the layers together: `openclaw.json` (the value of `tools.exec`), then Chitin's own settings, then the
    /// workspace's file. Lists are added up; of the mode the later layer's word counts.
    pub fn new(
        openclaw_exec: Option<&Value>,
        settings: &ExecSettings,
        permissions: Option<Permissions>,
    ) -> Self {
        let patterns = |list: &Option<Vec<String>>| -> Vec<CommandPattern> {
            list.iter()
                .flatten()
                .filter_map(|text| CommandPattern::new(text))
                .collect()
        };
        Self {
            approvals: settings
                .approvals
                .or_else(|| openclaw_exec.and_then(compat::approvals)),
            allow: patterns(&settings.allow),
            deny: patterns(&settings.deny),
            permissions,
        }
    }

    /// Decides about a command line and the variables that are set for it. `held` says whether a sandbox holds it.
    pub fn decide(
        &self,
        command: &str,
        environment: &BTreeMap<String, String>,
        held: Held,
    ) -> CommandDecision {
        if let Some(reason) = self.screened(command) {
            return CommandDecision::Deny(reason);
        }
        if let Some(reason) = environment.values().find_map(|value| self.screened(value)) {
            return CommandDecision::Deny(reason);
        }
        let script = split(command);
        let doubt = match self.denied(command, script.as_ref().ok()) {
            Fit::Yes => {
                return CommandDecision::Deny("`exec.deny` lists it.".to_owned());
            }
            Fit::Maybe => Some("It is unclear whether `exec.deny` covers it."),
            Fit::No => None,
        };
        let mode = self.approvals.unwrap_or(match held {
            Held::Firmly => ApprovalSetting::Full,
            Held::Not => ApprovalSetting::Ask,
        });
        let miss = || match &script {
            Err(unsure) => format!("Could not compare the command with `exec.allow`: {unsure}."),
            Ok(_) => "`exec.allow` does not list all of it.".to_owned(),
        };
        match mode {
            ApprovalSetting::Deny => CommandDecision::Deny(
                "The settings allow no commands (`exec.approvals`).".to_owned(),
            ),
            ApprovalSetting::AlwaysAsk => {
                CommandDecision::Ask("The settings require approval of every command.".to_owned())
            }
            ApprovalSetting::Full => match doubt {
                Some(doubt) => CommandDecision::Ask(doubt.to_owned()),
                None => CommandDecision::Allow,
            },
            ApprovalSetting::AllowList | ApprovalSetting::Ask => {
                if doubt.is_none() && self.allowed(script.as_ref().ok(), environment) {
                    CommandDecision::Allow
                } else if mode == ApprovalSetting::AllowList {
                    CommandDecision::Deny(miss())
                } else if held == Held::Not && self.approvals.is_none() {
                    CommandDecision::Ask("It would run without a sandbox.".to_owned())
                } else {
                    CommandDecision::Ask(doubt.map_or_else(miss, str::to_owned))
                }
            }
        }
    }

    /// Returns why the workspace's own file refuses a text.
    pub fn screened(&self, text: &str) -> Option<String> {
        match self.permissions.as_ref()?.screen_tool_arguments(text) {
            permissions::MessageDecision::Admit => None,
            permissions::MessageDecision::Refuse {
                rule, line, reason, ..
            } => {
                let line = line.map_or_else(String::new, |line| format!(", line {line}"));
                Some(format!(
                    "`PERMISSIONS.md` refuses it (rule `{rule}`{line}): {reason}."
                ))
            }
        }
    }

    /// Says what a command destroys, where nobody has said how to treat commands and no list names it.
    pub(super) fn harm(
        &self,
        command: &str,
        environment: &BTreeMap<String, String>,
        at_stake: &dyn Fn(&str) -> bool,
    ) -> Option<String> {
        if self.approvals.is_some() || self.allowed(split(command).as_ref().ok(), environment) {
            return None;
        }
        harm(command, at_stake)
    }

    fn allowed(&self, script: Option<&Script>, environment: &BTreeMap<String, String>) -> bool {
        let harmless = |name: &String| HARMLESS.contains(&name.as_str()) || name.starts_with("LC_");
        environment.keys().all(harmless)
            && script.is_some_and(|script| {
                script.commands.iter().all(|command| {
                    // Who allows `find *` thinks of names of files, not of what `-exec` runs.
                    let opaque = is_opaque(&command.words);
                    self.allow
                        .iter()
                        .filter(|pattern| !opaque || pattern.means_it())
                        .any(|pattern| pattern.fits(command) == Fit::Yes)
                })
            })
    }

    fn denied(&self, line: &str, script: Option<&Script>) -> Fit {
        if self.deny.is_empty() {
            return Fit::No;
        }
        let Some(script) = script else {
            // What can't be read may still be plain enough at its beginning and between its operators.
            let rough = line.split([';', '&', '|', '\n', '(', ')', '`', '{', '}']);
            let named = rough
                .filter_map(|part| split(without_assignments(part)).ok())
                .any(|script| {
                    script
                        .commands
                        .iter()
                        .any(|command| self.names(command) == Fit::Yes)
                });
            return if named { Fit::Yes } else { Fit::Maybe };
        };
        script
            .commands
            .iter()
            .map(|command| self.names(command))
            .max()
            .unwrap_or(Fit::No)
    }

    /// Says whether the list of what is denied names a command, by its path or by its bare name.
    fn names(&self, command: &SimpleCommand) -> Fit {
        let Some(Word::Exact(program)) = command.words.first() else {
            return Fit::Maybe;
        };
        let bare = program.rsplit('/').next().unwrap_or(program);
        let words = &command.words;
        let own = self.fits(words).max(doubt(words));
        if !RUNNERS.contains(&bare) {
            return own;
        }
        // Every word of it may begin a command, so the time grows with the square of their number.
        if words.len() > MOST_WORDS {
            return own.max(Fit::Maybe);
        }
        let inner = (1..words.len()).map(|from| {
            let inner = &words[from..];
            let hidden = if may_be_program(words, from) {
                doubt(inner)
            } else {
                Fit::No
            };
            self.fits(inner).max(hidden)
        });
        let open = if words.contains(&Word::Open) {
            Fit::Maybe
        } else {
            Fit::No
        };
        own.max(inner.max().unwrap_or(Fit::No)).max(open)
    }

    /// Says whether the list of what is denied names words as they are, by the bare name of the program, or without the options
    /// that stand before what counts.
    fn fits(&self, words: &[Word]) -> Fit {
        let by_name = by_bare_name(words);
        let plain = without_global_options(&by_name);
        self.deny
            .iter()
            .map(|pattern| {
                let fits = pattern.fits_words(words).max(pattern.fits_words(&by_name));
                plain
                    .as_ref()
                    .map_or(fits, |plain| fits.max(pattern.fits_words(plain)))
            })
            .max()
            .unwrap_or(Fit::No)
    }
}

/// Says whether words may run something that no list of what is denied can see.
fn doubt(words: &[Word]) -> Fit {
    let Some(Word::Exact(program)) = words.first() else {
        return Fit::Maybe;
    };
    let bare = program.rsplit('/').next().unwrap_or(program);
    if INTERPRETERS.contains(&bare) || is_opaque(words) {
        Fit::Maybe
    } else {
        Fit::No
    }
}

/// Takes variables off that are set for a command.
fn without_assignments(line: &str) -> &str {
    let mut rest = line.trim_start();
    while let Some((word, after)) = rest.split_once([' ', '\t'])
        && let Some((name, value)) = word.split_once('=')
        && !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !value.contains(['\'', '"', '\\'])
    {
        rest = after.trim_start();
    }
    rest
}

/// Whether a sandbox holds a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// Files and network are shut.
    Firmly,
    /// They are not.
    Not,
}

pub(super) fn by_bare_name(words: &[Word]) -> Vec<Word> {
    let mut words = words.to_vec();
    if let Some(Word::Exact(program)) = words.first_mut()
        && let Some((_, bare)) = program.rsplit_once('/')
    {
        *program = bare.to_owned();
    }
    words
}
