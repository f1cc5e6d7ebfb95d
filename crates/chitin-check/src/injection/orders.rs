//! Short orders: a verb at the beginning, and something that a remark for the next author has no use for.

use crate::surroundings::has;

/// Longer comments are texts; the words of [`super::comments`] are looked for in them.
const MAX_ORDER: usize = 300;

/// Words before the verb.
const OPENERS: &[&str] = &[
    "please",
    "also",
    "first",
    "then",
    "and",
    "now",
    "note",
    "important",
    "always",
    "never",
    "quietly",
    "silently",
    "just",
    "secretly",
    "finally",
    "hidden",
];

/// Takes something out.
const OUT: &[&str] = &[
    "send", "post", "email", "mail", "forward", "upload", "submit", "transmit", "push", "share",
    "report", "copy", "deliver",
];

/// Shows what is private.
const SHOW: &[&str] = &[
    "read", "cat", "print", "quote", "include", "attach", "show", "paste", "reveal", "put",
    "append", "output", "repeat", "collect", "gather",
];

/// Starts something.
const RUN: &[&str] = &[
    "run", "execute", "call", "start", "invoke", "launch", "source", "bash", "sh", "use",
];

/// Brings something in.
const FETCH: &[&str] = &[
    "fetch", "download", "load", "curl", "wget", "open", "visit", "read", "get",
];

/// Makes the agent say something.
const SAY: &[&str] = &[
    "tell",
    "say",
    "answer",
    "reply",
    "respond",
    "recommend",
    "claim",
    "mention",
    "suggest",
    "praise",
    "rate",
    "rank",
    "promote",
    "advise",
    "convince",
    "add",
    "hide",
];

/// Opens the agent.
const ALLOW: &[&str] = &[
    "approve", "allow", "trust", "skip", "bypass", "disable", "accept", "grant", "ignore", "obey",
];

const PRIVATE: &[&str] = &[
    "memory.md",
    "soul.md",
    "user.md",
    "agents.md",
    "api key",
    "password",
    "credential",
    "secret",
    "conversation",
    "system prompt",
    "private key",
    "~/.",
    "openclaw.json",
    "chat history",
    "the user's mail",
];

/// When or how an agent acts; no author does.
const MOMENTS: &[&str] = &[
    "no need to ask",
    "without asking",
    "before answering",
    "before you answer",
    "before replying",
    "each reply",
    "every reply",
    "each answer",
    "every answer",
    "each turn",
    "every turn",
    "when this skill",
    "when the skill",
    "at the start of",
    "on every message",
    "on each message",
    "silently",
    "quietly",
    "in the background",
    "do not ask",
    "don't ask",
    "as soon as",
];

const WHOM: &[&str] = &[
    "the user",
    "users",
    "they ask",
    "anyone who",
    "anybody who",
    "whatever",
    "no matter",
    "when asked",
    "if asked",
    "each answer",
    "every answer",
    "each reply",
    "every reply",
    "competitor",
];

const GUARDS: &[&str] = &[
    "approval",
    "confirmation",
    "permission",
    "sandbox",
    "every command",
    "all commands",
    "any command",
    "commands from",
    "requests from",
    "messages from",
    "instructions from",
    "safety",
];

/// What readers may send to the authors of a page.
const FEEDBACK: &[&str] = &[
    "correction",
    "feedback",
    "bug",
    "issue",
    "question",
    "patch",
    "comments",
    "suggestion",
    "translation",
];

/// How a condition begins that an agent meets.
const CONDITIONS: &[&str] = &[
    "if ",
    "when",
    "whatever",
    "no matter",
    "in every ",
    "in each ",
    "in your ",
    "on every ",
    "on each ",
    "before ",
    "after each ",
    "after every ",
    "each time",
    "every time",
    "at the ",
    "from now",
];

/// Whom or what such a condition speaks of.
const SITUATIONS: &[&str] = &[
    "user", "ask", "answer", "reply", "link", "message", "turn", "session", "skill", "request",
];

/// Tells whether a comment, in small letters and without its marks, orders an agent to do something.
pub(super) fn is_order(comment: &str) -> bool {
    let text = comment.trim().trim_matches(['(', ')', '"', '\'', '[', ']']);
    if text.len() > MAX_ORDER {
        return false;
    }
    let clauses = || {
        text.split([',', ';', ':'])
            .flat_map(|part| part.split(". "))
            .map(str::trim)
    };
    let is_condition = |clause: &str| {
        CONDITIONS.iter().any(|begin| clause.starts_with(begin)) && has(clause, SITUATIONS)
    };
    let depends = clauses().any(is_condition);
    clauses().any(|clause| orders(clause, text, depends))
}

/// Tells whether a part of a comment begins with an order; `depends` says that another part is a condition of an agent.
fn orders(clause: &str, text: &str, depends: bool) -> bool {
    let mut lasting = false;
    let mut words = clause
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '-')
        .filter(|word| !word.is_empty());
    let verb = words.find(|word| {
        lasting |= matches!(*word, "always" | "never");
        !OPENERS.contains(word)
    });
    let Some(verb) = verb else {
        return false;
    };
    let is = |verbs: &[&str]| verbs.contains(&verb);
    // Private things are taken wherever the verb stands: "in your next request include the conversation".
    let takes = clause
        .split_whitespace()
        .any(|word| OUT.contains(&word) || SHOW.contains(&word));
    let has_address = text.contains("://");
    let has_mailbox = text.split_whitespace().any(|word| {
        word.find('@')
            .is_some_and(|at| at > 0 && word[at..].contains('.'))
    });
    let is_private = has(text, PRIVATE);
    (is(OUT) && (is_private || ((has_address || has_mailbox) && !has(clause, FEEDBACK))))
        || (takes && is_private && (depends || has_address || has_mailbox || has(text, CARRIERS)))
        || (is(RUN) && (depends || has(text, MOMENTS)))
        || (is(FETCH) && has_address && has(text, OBEYED))
        || (is(SAY) && (lasting || depends || has(clause, WHOM)))
        || (is(ALLOW) && has(text, GUARDS))
}

/// What an agent sends that something can be put into.
const CARRIERS: &[&str] = &[
    "answer", "reply", "request", "query", "address", "message", "url", "link", "image",
];

/// What is done with something that was fetched.
const OBEYED: &[&str] = &[
    "and do ",
    "and follow",
    "and run",
    "and obey",
    "and apply",
    "and execute",
    "then do ",
    "then follow",
    "then run",
    "then obey",
    "follow it",
    "do what",
    "do as",
];
