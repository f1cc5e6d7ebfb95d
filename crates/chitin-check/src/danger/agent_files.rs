//! Changes to the files that rule the agent: its identity, its memory, its guardrails.

use super::Danger;
use crate::phrases::Hit;
use crate::rules;
use crate::subject::Subject;
use crate::surroundings::has;

/// Words of texts that ask first.
const CONSENT: &[&str] = &[
    "ask whether",
    "ask if",
    "propose",
    "suggest",
    "confirm",
    "approval",
    "show the",
    "together with",
    "let the user",
    "offer",
    "only the owner",
    "help with",
    "the user wants",
    "user asks",
    "user's request",
];

/// Words that no honest skill has the agent learn by heart.
const LASTING: &[&str] = &[
    "obey",
    "without asking",
    "don't bother",
    "do not bother",
    "allow: *",
    "only rule",
    "role owner",
    "trusted",
    "no longer",
    "never needs",
    "approved all",
    "always run",
    "never say",
    "never tell",
    "://",
    "deny",
    "of no use",
    "verified",
];

/// A file that rules the agent, and a change of it.
pub(super) fn changed(subject: &Subject<'_>, hit: &Hit) -> Option<Danger> {
    let at = hit.span.start;
    // `config-mcp.md` is another file.
    if subject.lower[..at].ends_with(['-', '_', '.']) {
        return None;
    }
    let phrase = &subject.lower[hit.span.clone()];
    let guards = has(
        phrase,
        &[
            "soul",
            "agents",
            "identity",
            "permissions",
            "channels",
            "mcp",
            "heartbeat",
        ],
    );
    let command = subject.command_around(at);
    let line = subject.small(command.clone());
    let before = &line[..at - command.start];
    let is_changed = if subject.is_prose(at) {
        told_to_change(subject, at)
    } else {
        let after = subject.small(hit.span.end..hit.span.end + 200);
        let writes = before
            .trim_end_matches(|c: char| !c.is_whitespace())
            .trim_end()
            .ends_with('>')
            || has(before, &["tee ", "sed -i", "cp ", "mv ", "ln -s"])
            || has(
                after,
                &["write_text(", "\"a\")", "'a')", "writefile", "appendfile"],
            );
        let lasting = || has(subject.small(at.saturating_sub(300)..at + 300), LASTING);
        let told = subject.is_markdown() && told_to_change(subject, at);
        (writes && (guards || lasting())) || told
    };
    is_changed.then(|| {
        Danger::new(
            &rules::AGENT_FILES,
            hit.span.clone(),
            "is changed by this skill, and every later turn with it",
        )
    })
}

fn told_to_change(subject: &Subject<'_>, at: usize) -> bool {
    let text = subject.small(subject.paragraph_around(at));
    let before = subject.small(at.saturating_sub(120)..at);
    let verb = has(
        before,
        &[
            "append",
            "replace",
            "overwrite",
            "edit ",
            "modify",
            "remove",
            "delete",
            "rewrite",
            "insert",
            "add ",
            "write ",
            "put ",
            "remember",
        ],
    );
    verb && has(text, LASTING) && !has(text, CONSENT)
}
