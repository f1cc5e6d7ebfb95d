//! Commands that a text asks to run: downloads that are started, protections that are switched off.

use super::finding::{Draft, Findings, Severity};
use super::phrases::{Hit, Meaning};
use super::rules::{self, CheckRule};
use super::subject::{FileRole, Subject, floor_boundary};
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

/// No command is longer.
const MAX_COMMAND: usize = 2_000;

/// Reports commands that nobody should run unseen.
pub(crate) fn check(subject: &Subject<'_>, findings: &mut Findings) {
    let mut last_end = 0;
    for hit in &subject.hits {
        if hit.span.start < last_end {
            continue;
        }
        let found = match hit.meaning {
            Meaning::Fetch => fetch(subject, hit),
            Meaning::Decode => decode(subject, hit),
            Meaning::RunText => run_text(subject, hit),
            Meaning::ProtectionOff => Some(Found::new(
                &rules::PROTECTION_OFF,
                hit.span.clone(),
                "disables a system protection",
            )),
            Meaning::Paste => paste(subject, hit),
            Meaning::Password => locked_archive(subject, hit),
            Meaning::Override
            | Meaning::Conceal
            | Meaning::Order
            | Meaning::AutoRead
            | Meaning::FillIn
            | Meaning::Todo => None,
        };
        if let Some(found) = found {
            last_end = found.span.end;
            let severity = severity(subject.role, &found);
            let quoted = subject.excerpt(found.span.clone());
            let message = format!("`{quoted}` {}.", found.what);
            findings.at(
                subject,
                found.span,
                Draft::new(found.rule, message).severity(severity),
            );
        }
    }
}

struct Found {
    rule: &'static CheckRule,
    span: Range<usize>,
    what: &'static str,
    well_known: bool,
}

impl Found {
    const fn new(rule: &'static CheckRule, span: Range<usize>, what: &'static str) -> Self {
        Self {
            rule,
            span,
            what,
            well_known: false,
        }
    }
}

/// Skills come from strangers; what stands elsewhere was probably written by the user.
fn severity(role: FileRole, found: &Found) -> Severity {
    if role.is_skill() && !found.well_known {
        found.rule.severity
    } else {
        found.rule.severity.max(Severity::Warning)
    }
}

/// Returns the command that holds a place: its code span, or its line and those that a backslash ties to it.
fn command_around(subject: &Subject<'_>, at: usize) -> Range<usize> {
    if let Some(span) = subject.code.span_around(at) {
        let text = &subject.lower[span.clone()];
        let start = span.end - text.trim_start_matches('`').len();
        let end = span.start + text.trim_end_matches('`').len();
        if start <= at && at < end && end - start <= MAX_COMMAND {
            return start..end;
        }
    }
    let number = subject.lines.of(at);
    let line = subject.lines.range(number);
    let mut end = line.end;
    let mut next = number + 1;
    while next < subject.lines.count()
        && subject.lower[line.start..end].trim_end().ends_with('\\')
        && end - line.start < MAX_COMMAND
    {
        end = subject.lines.range(next).end;
        next += 1;
    }
    let start = floor_boundary(&subject.lower, at.saturating_sub(MAX_COMMAND)).max(line.start);
    let end = floor_boundary(&subject.lower, end.min(at + MAX_COMMAND));
    let trimmed = subject.lower[at..end].trim_end().len();
    start..at + trimmed
}

/// `curl … | sh`, `bash <(curl …)`, `wget … && sh …`, and a download that a later line starts.
fn fetch(subject: &Subject<'_>, hit: &Hit) -> Option<Found> {
    let lower = &*subject.lower;
    let command = command_around(subject, hit.span.start);
    let rest = &lower[hit.span.end..command.end];
    let before = lower[command.start..hit.span.start].trim_end();
    // The name of a command is followed by something; `curl` in a list of tools is not.
    if !rest.starts_with([' ', '\t', '(', '.']) {
        return None;
    }
    let substituted = runs_substitution(before);
    let runs = substituted
        || feeds_interpreter(rest)
        || runs_afterwards(rest)
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
    found.well_known = KNOWN_INSTALLERS.iter().any(|host| rest.contains(host));
    Some(found)
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

/// Tells whether a later part of the pipeline is an interpreter without a program of its own.
fn feeds_interpreter(rest: &str) -> bool {
    // `||` is no pipe.
    rest.replace("||", "\n")
        .split('|')
        .skip(1)
        .any(starts_interpreter)
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
    // `| python3 -m json.tool` and `| perl -ne …` bring the program themselves.
    let own_program = !matches!(
        name,
        "sh" | "bash" | "zsh" | "dash" | "fish" | "ksh" | "iex"
    ) && words
        .next()
        .is_some_and(|option| option.starts_with('-') && option.len() > 1);
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
            || (starts_interpreter(part) && !part.contains(" -c "))
    })
}

/// Looks in the next lines for the file that a command saved being made executable or started.
fn started_later(lower: &str, command: &Range<usize>, rest: &str) -> Option<usize> {
    const REACH: usize = 500;
    let name = saved_name(rest)?;
    let end = floor_boundary(lower, lower.len().min(command.end + REACH));
    let mut at = command.end;
    for line in lower[command.end..end].split_inclusive('\n') {
        let text = line.trim().trim_start_matches(['$', '>', '`', ' ']);
        let text = text.strip_prefix("sudo ").unwrap_or(text);
        let names_it = text.contains(name);
        let starts = text.starts_with("chmod +x")
            || text.starts_with("chmod a+x")
            || text.starts_with("chmod 755")
            || text.starts_with("./")
            || starts_interpreter(text);
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

/// `base64 -d | sh`, `eval "$(… | base64 -d)"`, `powershell -EncodedCommand …`, `exec(base64.b64decode(…))`.
fn decode(subject: &Subject<'_>, hit: &Hit) -> Option<Found> {
    let lower = &*subject.lower;
    let command = command_around(subject, hit.span.start);
    let whole = &lower[command.clone()];
    let rest = &lower[hit.span.end..command.end];
    let before = &lower[command.start..hit.span.start];
    let runs = if lower[hit.span.clone()].starts_with("encodedcommand") {
        before.contains("powershell") || before.contains("pwsh")
    } else {
        let decodes = [" -d", " --decode"]
            .iter()
            .any(|option| rest.starts_with(option));
        let evaluates = (before.contains("$(") || before.contains("<("))
            && ["eval ", "bash ", "sh ", "source "]
                .iter()
                .any(|word| before.contains(word));
        (decodes && (feeds_interpreter(rest) || evaluates))
            || (rest.starts_with(".b64decode")
                && (before.contains("exec(") || before.contains("eval(")))
    };
    let start = command.start + (whole.len() - whole.trim_start().len());
    runs.then(|| {
        Found::new(
            &rules::DECODED_AND_RUN,
            start..command.end,
            "decodes something and runs it",
        )
    })
}

/// `iex (iwr …)`, `Invoke-Expression ((New-Object …).DownloadString(…))`.
fn run_text(subject: &Subject<'_>, hit: &Hit) -> Option<Found> {
    let command = command_around(subject, hit.span.start);
    let rest = &subject.lower[hit.span.end..command.end];
    let fetches = [
        "iwr",
        "irm",
        "invoke-webrequest",
        "invoke-restmethod",
        "downloadstring",
    ]
    .iter()
    .any(|word| rest.contains(word));
    (fetches && rest.contains("http")).then(|| {
        Found::new(
            &rules::DOWNLOAD_AND_RUN,
            hit.span.start..command.end,
            "downloads something and runs it",
        )
    })
}

/// `paste this into your terminal`.
fn paste(subject: &Subject<'_>, hit: &Hit) -> Option<Found> {
    if subject.role == FileRole::Bootstrap {
        return None;
    }
    let end = floor_boundary(&subject.lower, subject.lower.len().min(hit.span.end + 80));
    let rest = &subject.lower[hit.span.end..end];
    let sentence = rest.split(['.', '!', '?', '\n']).next().unwrap_or(rest);
    let place = [
        "terminal",
        "shell",
        "command prompt",
        "console",
        "run dialog",
    ]
    .iter()
    .filter_map(|place| sentence.find(place).map(|at| at + place.len()))
    .min()?;
    let before = subject.near(hit.span.start);
    let forbids = ["never ", "not ", "n't ", "avoid ", "without "]
        .iter()
        .any(|word| before.contains(word));
    (!forbids).then(|| {
        Found::new(
            &rules::PASTE_INTO_TERMINAL,
            hit.span.start..hit.span.end + place,
            "has the user run a command by hand",
        )
    })
}

/// A download, an archive and its password, close together.
fn locked_archive(subject: &Subject<'_>, hit: &Hit) -> Option<Found> {
    let window = |reach: usize| {
        let start = floor_boundary(&subject.lower, hit.span.start.saturating_sub(reach));
        let end = floor_boundary(
            &subject.lower,
            subject.lower.len().min(hit.span.end + reach),
        );
        &subject.lower[start..end]
    };
    let close = window(120);
    let has = |text: &str, words: &[&str]| words.iter().any(|word| text.contains(word));
    let archive = has(close, &["archive", ".zip", ".rar", ".7z", " zip"]);
    let unpack = has(close, &["extract", "unzip", "unpack", "open it with"]);
    let download = has(window(300), &["download", "http"]);
    (archive && unpack && download && subject.role != FileRole::Bootstrap).then(|| {
        let line = subject.lines.range(subject.lines.of(hit.span.start));
        let start = line.start.max(floor_boundary(
            &subject.lower,
            hit.span.start.saturating_sub(120),
        ));
        Found::new(
            &rules::LOCKED_ARCHIVE,
            start..hit.span.end,
            "mentions a download in an archive with a password",
        )
    })
}
