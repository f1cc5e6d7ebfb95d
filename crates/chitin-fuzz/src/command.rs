//! Command lines as models write them, and what is decided about them by rules of every kind.

use crate::novelty;
use chitin_protocol::settings::{ApprovalSetting, ExecSettings};
use chitin_tools::approval::{
    ApprovalRules, CommandDecision, CommandPattern, Gate, Held, Question, Word, split,
};
use chitin_tools::{Approval, ApprovalRequest, Approver};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use std::collections::BTreeMap;

/// What command lines are made of.
pub const DICTIONARY: &[&str] = &[
    "git status",
    "git log",
    "rm -rf /",
    "curl",
    "ls",
    "echo",
    ";",
    "&&",
    "||",
    "|",
    "&",
    "\n",
    "\\\n",
    "$(",
    "`",
    ")",
    "${",
    "}",
    "<<EOF\n",
    ">/dev/null",
    "2>&1",
    "<",
    ">",
    "'",
    "\"",
    "\\",
    "$'",
    "$",
    "*",
    "?",
    "[",
    "]",
    "~",
    "{a,b}",
    "!",
    "#",
    "A=1 ",
    "env ",
    "sudo ",
    "xargs ",
    "find . -exec ",
    "sh -c ",
    "eval ",
    "time ",
    "if ",
    "then",
    "\u{0}",
    "\r",
    "\u{b}",
    "\u{a0}",
    "\u{200b}",
];

/// Reads the first line as a pattern and the rest as a command.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (pattern, line) = text.split_once('\n').unwrap_or(("", &text));
    let script = split(line);
    match &script {
        Ok(script) => {
            assert!(!script.commands.is_empty(), "a script without commands");
            for command in &script.commands {
                assert!(
                    matches!(command.words.first(), Some(Word::Exact(program)) if !program.is_empty()),
                    "a program that is not exact: {command:?}"
                );
            }
            novelty::note((
                script.commands.len().min(5),
                script.commands[0].words.len().min(6),
            ));
        }
        Err(unsure) => novelty::note(std::mem::discriminant(unsure)),
    }
    let pattern = CommandPattern::new(pattern);
    let git = CommandPattern::new("git status *");
    let rules = |allow: &[Option<CommandPattern>], deny: &[Option<CommandPattern>]| ApprovalRules {
        allow: allow.iter().flatten().cloned().collect(),
        deny: deny.iter().flatten().cloned().collect(),
        ..ApprovalRules::new(
            None,
            &ExecSettings {
                approvals: Some(ApprovalSetting::AllowList),
                ..ExecSettings::default()
            },
            None,
        )
    };
    let none = BTreeMap::new();
    let decide = |rules: &ApprovalRules| rules.decide(line, &none, Held::Not);
    // What cannot be read is on no list, and nothing is on an empty one.
    let allowed = decide(&rules(&[pattern.clone(), git.clone()], &[]));
    novelty::note(std::mem::discriminant(&allowed));
    if allowed == CommandDecision::Allow {
        assert!(script.is_ok(), "a line that was not understood runs");
    }
    assert_ne!(
        decide(&rules(&[], &[])),
        CommandDecision::Allow,
        "an empty list allows"
    );
    // What is denied is never allowed as well.
    if pattern.is_some() {
        let list = std::slice::from_ref(&pattern);
        let both = decide(&rules(list, list));
        assert_ne!(both, CommandDecision::Allow, "denied and allowed");
    }
    admitted(line);
    let only_git = decide(&rules(&[git], &[]));
    if only_git == CommandDecision::Allow {
        let script = script.unwrap_or_else(|unsure| panic!("{unsure}"));
        for command in &script.commands {
            let program = command.words.first();
            assert!(
                matches!(program, Some(Word::Exact(name)) if name == "git" || name.ends_with("/git")),
                "`git status *` lets {program:?} run"
            );
        }
    }
}

/// Somebody who is there and says no.
struct No;

impl Approver for No {
    fn ask<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, Approval> {
        assert!(
            !request.what.contains(char::is_control),
            "a control character is shown"
        );
        assert!(
            !request.why.is_empty() && request.why.len() < 64 << 10,
            "why it is asked"
        );
        novelty::note(request.why.len());
        async { Approval::Denied(None) }.boxed()
    }

    fn is_there(&self) -> bool {
        true
    }
}

/// Lets a command through a gate without rules: harm is asked about.
fn admitted(line: &str) {
    let gate = Gate::new(ApprovalRules::default());
    let environment = BTreeMap::new();
    let question = Question {
        tool: "exec",
        command: line,
        environment: &environment,
        workdir: None,
        held: Held::Firmly,
        at_stake: &|file| file.len() % 2 == 0,
    };
    let admitted = gate.admit(question, &No).now_or_never();
    novelty::note(admitted.map(|admitted| admitted.is_ok()));
}
