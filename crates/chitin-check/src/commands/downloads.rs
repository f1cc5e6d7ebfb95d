//! Downloads that are started, in whatever way a shell offers.

use super::Found;
use crate::phrases::Hit;
use crate::rules;
use crate::subject::{Subject, floor_boundary};
use crate::surroundings::has;
use std::ops::Range;

/// Programs that run what they are fed.
const INTERPRETERS: &[&str] = &[
    "sh",
    "bash",
    "zsh",
    "dash",
    "fish",
    "ksh",
    "python",
    "python3",
    "node",
    "perl",
    "ruby",
    "php",
    "osascript",
    "pwsh",
    "powershell",
    "iex",
];

/// Installers that a great many people run this way; worth a word, not an alarm.
const KNOWN_INSTALLERS: &[&str] = &[
    "https://astral.sh/",
    "https://sh.rustup.rs",
    "https://get.docker.com",
    "https://bun.sh/",
    "https://deno.land/",
    "https://ollama.com/",
    "https://raw.githubusercontent.com/homebrew/",
    "https://raw.githubusercontent.com/nvm-sh/",
    "https://deb.nodesource.com/",
    "https://get.pnpm.io/",
    "https://mise.run",
    "https://openclaw.ai/",
];

/// `curl … | sh`, `bash <(curl …)`, `wget … && sh …`, and a download that a later line starts.
pub(super) fn started(subject: &Subject<'_>, hit: &Hit) -> Option<Found> {
    let lower = &*subject.lower;
    let command = subject.command_around(hit.span.start);
    let rest = lower.get(hit.span.end..command.end).unwrap_or_default();
    let before = lower[command.start..hit.span.start].trim_end();
    // The name of a command is followed by something; `curl` in a list of tools is not.
    if !rest.starts_with([' ', '\t', '(', '.']) {
        return None;
    }
    // `curl … | sh` speaks of a command and is none.
    if has(rest, &["…", " ... ", "..."]) && !has(rest, &["://", "$"]) {
        return None;
    }
    let substituted = runs_substitution(before);
    let runs = substituted
        || feeds_interpreter(rest)
        || runs_afterwards(rest)
        || runs_variable(subject, before, command.end)
        || (rest.contains("iex") && rest.contains('|'));
    let mut end = command.end;
    if !runs {
        end = started_later(lower, &command, rest)?;
    }
    let start = if substituted {
        command.start + leading_blanks(lower, &command)
    } else {
        hit.span.start
    };
    let mut found = Found::new(
        &rules::DOWNLOAD_AND_RUN,
        start..end.max(hit.span.end),
        "downloads something and runs it",
    );
    found.well_known = is_well_known(rest);
    Some(found)
}

/// Tells whether every address of a command is a well-known installer.
fn is_well_known(rest: &str) -> bool {
    let mut addresses = rest
        .match_indices("://")
        .map(|(at, _)| at.saturating_sub(if rest[..at].ends_with("https") { 5 } else { 4 }))
        .peekable();
    addresses.peek().is_some()
        && addresses.all(|at| {
            let address = rest.get(at..).unwrap_or_default();
            KNOWN_INSTALLERS.iter().any(|known| {
                let rest = address.strip_prefix(known);
                // `https://sh.rustup.rs.example` is another host.
                rest.is_some_and(|rest| {
                    known.ends_with('/')
                        || !rest.starts_with(|c: char| {
                            c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '@')
                        })
                })
            })
        })
}

fn leading_blanks(lower: &str, command: &Range<usize>) -> usize {
    let text = &lower[command.clone()];
    text.len() - text.trim_start().len()
}

/// Tells whether text before a command hands its output to an interpreter: `bash <(`, `sh -c "$(`, `eval "$(`.
fn runs_substitution(before: &str) -> bool {
    let opened = before
        .strip_suffix("<(")
        .or_else(|| before.strip_suffix("$("))
        .or_else(|| before.strip_suffix('`'));
    opened.is_some_and(|before| {
        before
            .split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '/')))
            .any(|word| {
                let name = word.rsplit('/').next().unwrap_or(word);
                INTERPRETERS.contains(&name) || matches!(name, "eval" | "source")
            })
    })
}

/// Tells whether what a command answers is kept in a variable that a later line runs: `c=$(curl …)`, `sh -c "$c"`.
fn runs_variable(subject: &Subject<'_>, before: &str, end: usize) -> bool {
    let Some(kept) = before.trim_end_matches('"').strip_suffix("=$(") else {
        return false;
    };
    let start = kept
        .trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '_')
        .len();
    let name = &kept[start..];
    !name.is_empty()
        && subject.small(end..end + 400).lines().any(|line| {
            let line = line.trim_start();
            let uses = [
                format!("\"${name}\""),
                format!("${name}"),
                format!("${{{name}}}"),
            ];
            uses.iter().any(|used| line.contains(used))
                && (has(line, &["sh -c ", "eval ", "| sh", "| bash"])
                    || uses.iter().any(|used| line.starts_with(used)))
        })
}

/// Tells whether a later part of the pipeline is an interpreter without a program of its own.
pub(crate) fn feeds_interpreter(rest: &str) -> bool {
    // `||` is no pipe.
    // `ba""sh` and `ba\sh` are `bash`.
    let plain = rest
        .replace("||", "\n")
        .replace("\"\"", "")
        .replace("''", "")
        .replace('\\', "");
    plain.split('|').skip(1).any(starts_interpreter)
}

fn starts_interpreter(part: &str) -> bool {
    let mut words = part
        .split(|c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'' | ')' | ';' | '&'))
        .filter(|word| !word.is_empty());
    let mut word = words.next().unwrap_or_default();
    while matches!(
        word,
        "sudo" | "env" | "-e" | "exec" | "command" | "nohup" | "\\"
    ) || word.contains('=')
    {
        word = words.next().unwrap_or_default();
    }
    let name = word.rsplit('/').next().unwrap_or(word);
    let is_shell = INTERPRETERS.contains(&name);
    // `| python3 -m json.tool`, `| perl -ne …` and `| python3 read.py` bring the program themselves.
    let reads_program = matches!(
        name,
        "sh" | "bash" | "zsh" | "dash" | "fish" | "ksh" | "iex"
    );
    let own_program = words.next().is_some_and(|next| {
        let option = next.starts_with('-') && next.len() > 1;
        let file = !next.starts_with(['-', '>', '<', '/', '2', '#']) && next.contains('.');
        file || (option && !reads_program)
    });
    is_shell && !own_program
}

/// Tells whether the same line goes on to start something: `&& sh x`, `; chmod +x x`, `&& ./x`.
fn runs_afterwards(rest: &str) -> bool {
    rest.replace("&&", ";").split(';').skip(1).any(|part| {
        let part = part.trim_start();
        let part = part.strip_prefix("sudo ").unwrap_or(part);
        part.starts_with("./")
            || part.starts_with("chmod +x")
            || part.starts_with("chmod a+x")
            || part.starts_with("chmod 755")
            || ((part.starts_with("/tmp/") || part.starts_with("/var/tmp/")) && part.len() > 6)
            || (starts_file(part) && !part.contains(" -c "))
    })
}

/// Tells whether a command starts a file with an interpreter, or takes its lines over.
fn starts_file(part: &str) -> bool {
    let mut words = part.split_whitespace();
    let name = words.next().unwrap_or_default();
    let name = name.rsplit('/').next().unwrap_or(name);
    (INTERPRETERS.contains(&name) || matches!(name, "source" | "."))
        && words.next().is_some_and(|file| !file.starts_with('-'))
}

/// Looks in the next lines for the file that a command saved being made executable or started.
fn started_later(lower: &str, command: &Range<usize>, rest: &str) -> Option<usize> {
    const REACH: usize = 500;
    // What is sent to an address is not saved from it.
    if has(
        rest,
        &[
            "-x post",
            "-x put",
            "-f \"file=",
            "://localhost",
            "://127.0.0.1",
        ],
    ) {
        return None;
    }
    let name = saved_name(rest)?;
    let end = floor_boundary(lower, lower.len().min(command.end + REACH));
    // What follows on the same line is prose about it.
    let rest_of_line = memchr::memchr(b'\n', &lower.as_bytes()[command.end..end])?;
    let mut at = command.end + rest_of_line;
    for line in lower[at..end].split_inclusive('\n') {
        let text = line.trim().trim_start_matches(['$', '>', '`', ' ']);
        let text = text.strip_prefix("sudo ").unwrap_or(text);
        let names_it = text.contains(name);
        let starts = text.starts_with("chmod +x")
            || text.starts_with("chmod a+x")
            || text.starts_with("chmod 755")
            || text.starts_with("./")
            || starts_file(text)
            || (text.starts_with(['/', '~', '.'])
                && text
                    .split_whitespace()
                    .next()
                    .is_some_and(|word| word.ends_with(name)));
        if names_it && starts {
            return Some(at + line.trim_end().len());
        }
        at += line.len();
    }
    None
}

/// Returns the name under which a download is kept.
fn saved_name(rest: &str) -> Option<&str> {
    let words: Vec<&str> = rest
        .split(|c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\''))
        .filter(|word| !word.is_empty())
        .collect();
    let given = words
        .iter()
        .position(|word| matches!(*word, "-o" | "--output" | "-outfile" | ">"))
        .and_then(|at| words.get(at + 1).copied());
    let from_address = words
        .iter()
        .find(|word| word.starts_with("http"))
        .and_then(|address| address.split(['?', '#']).next())
        .and_then(|address| address.rsplit('/').next());
    let name = given.or(from_address)?;
    let name = name.rsplit('/').next().unwrap_or(name);
    (name.len() >= 2).then_some(name)
}
