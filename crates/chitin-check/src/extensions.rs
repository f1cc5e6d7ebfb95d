//! Extension files: what in them has no effect, contradicts itself, or stops the agent.

use super::CheckInput;
use super::finding::{Draft, Findings, Severity};
use super::names::EXTENSION_NAMES;
use super::rules;
use super::skills::SkillFile;
use super::skills_file;
use super::subject::{FileRole, Subject};
use chitin_guard::{ReadPolicy, Root};
use chitin_protocol::nearest::nearest;
use chitin_workspace::extensions::LiveText;
use chitin_workspace::extensions::line::{pair, span, statements};
use chitin_workspace::extensions::permissions::{self, Pattern};
use chitin_workspace::extensions::suggestion::{self, plain};
use chitin_workspace::extensions::{channels, lookalike, mcp, runtime, skills};
use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// The keys of `PERMISSIONS.md` that count once.
const SINGLE: [&str; 5] = [
    "message-length",
    "rate-limit",
    "concurrency-limit",
    "time-window",
    "kill-switch",
];

/// How many lines of a file are compared with each other. More patterns than half of that are refused anyway.
const MOST_RULES: usize = 2000;

/// The roles that senders have.
const ROLES: [&str; 2] = ["owner", "guest"];

/// Providers whose models are files of the machine.
const FILE_PROVIDERS: [&str; 2] = ["scripted", "replay"];

/// A line `key: value`.
struct Setting<'a> {
    key: String,
    value: &'a str,
    key_span: Range<usize>,
    value_span: Range<usize>,
}

/// Looks at one text, if it is an extension file. Without skills, what it says of them is not judged.
pub(crate) fn check(
    subject: &Subject<'_>,
    skills: Option<&[SkillFile]>,
    providers: &[String],
    findings: &mut Findings,
) {
    match (subject.path, skills) {
        (permissions::FILE, _) => check_permissions(subject, findings),
        (runtime::FILE, _) => check_runtime(subject, providers, findings),
        (channels::FILE, _) => check_channels(subject, findings),
        (mcp::FILE, _) => check_servers(subject, findings),
        (skills::FILE, Some(skills)) => skills_file::check(subject, skills, findings),
        _ => {}
    }
}

/// Reports extension files that are there and were not looked at.
pub(crate) fn check_unread(input: &CheckInput<'_>, findings: &mut Findings) {
    for (name, reason) in input.unusable {
        findings.about(name, unusable(name, reason));
    }
    for name in EXTENSION_NAMES {
        let is_there = input.names.iter().any(|found| found == name);
        let is_reported = input.unusable.iter().any(|(found, _)| found == name);
        if is_there && !is_reported && !input.files.iter().any(|file| file.path == *name) {
            let message = format!("`{name}` exists and cannot be read.");
            findings.about(name, Draft::new(&rules::REFUSED, message));
        }
    }
}

/// Looks at the files that guard an agent in a workspace which is composed with its own: the rules of both hold.
pub(crate) fn check_composed(root: &Root, policy: &ReadPolicy, findings: &mut Findings) {
    for name in [permissions::FILE, channels::FILE] {
        match LiveText::read(root, name, policy) {
            LiveText::Absent => {}
            LiveText::Unreadable(reason) => {
                findings.about(name, unusable(name, reason.as_ref()));
            }
            LiveText::Text(text) => {
                let subject = Subject::new(name, FileRole::Other, &text, None);
                check(&subject, None, &[], findings);
                findings.end_of(&subject);
            }
        }
    }
}

/// Says what a file that cannot be used means: the two that guard the agent let nothing through then.
fn unusable(name: &str, reason: &str) -> Draft {
    let message = format!("`{name}` cannot be used ({reason})");
    let remedy = "Replace it by a plain UTF-8 file of moderate size.";
    match name {
        permissions::FILE => Draft::new(
            &rules::BROKEN_PERMISSION,
            format!("{message}, so nothing is allowed."),
        )
        .remedy(remedy),
        channels::FILE => Draft::new(
            &rules::REFUSED,
            format!("{message}, so no channel can reach the agent."),
        )
        .remedy(remedy),
        _ => Draft::new(&rules::REFUSED, format!("{message} and has no effect.")).remedy(remedy),
    }
}

/// Returns what a turn reads of a text: a byte order mark does not count.
fn read(text: &str) -> &str {
    text.trim_start_matches('\u{feff}')
}

fn settings(text: &str) -> impl Iterator<Item = Setting<'_>> {
    statements(read(text))
        .filter_map(pair)
        .filter(|(key, value)| !key.is_empty() && !value.is_empty())
        .map(move |(key, value)| Setting {
            key: key.to_lowercase(),
            value,
            key_span: span(text, key),
            value_span: span(text, value),
        })
}

/// Reports a key that is none and looks like one.
fn misspelt<'a>(
    subject: &Subject<'_>,
    setting: &Setting<'_>,
    known: impl IntoIterator<Item = &'a str>,
    findings: &mut Findings,
) {
    // Prose has spaces before its colons.
    if setting.key.contains(char::is_whitespace) {
        return;
    }
    if let Some(near) = nearest(&setting.key, known) {
        let message = format!("`{}` is not a key; did you mean `{near}`?", setting.key);
        let draft = Draft::new(&rules::UNKNOWN_KEY, message);
        findings.at(subject, setting.key_span.clone(), draft);
    }
}

fn check_permissions(subject: &Subject<'_>, findings: &mut Findings) {
    let all: Vec<Setting<'_>> = settings(subject.text).take(MOST_RULES).collect();
    let mut dressed = Vec::new();
    for found in lookalike::rules(read(subject.text)).take(MOST_RULES) {
        let message = match found.value {
            "" => format!("`{}` has no value, so the line guards nothing.", found.name),
            _ => format!(
                "This looks like the rule `{}` but is not one, so it guards nothing.",
                found.name
            ),
        };
        let remedy = match found.value {
            "" => format!("Write `- {}: …`, the value in the same line.", found.name),
            _ => format!("Write `{}`.", found.spelled()),
        };
        let at = span(subject.text, found.line);
        let draft = Draft::new(&rules::LOOKS_LIKE_A_RULE, message).remedy(remedy);
        findings.at(subject, at.clone(), draft);
        dressed.push(at);
    }
    let mut is_empty = true;
    for (at, setting) in all.iter().enumerate() {
        let key = setting.key.as_str();
        if !permissions::KEYS.contains(&key) {
            // What looks like a rule in other clothes is reported as that.
            if !dressed
                .iter()
                .any(|one| one.contains(&setting.key_span.start))
            {
                misspelt(subject, setting, permissions::KEYS, findings);
            }
            continue;
        }
        is_empty = false;
        if SINGLE.contains(&key) && all[at + 1..].iter().any(|later| later.key == key) {
            let message = format!("A later line sets `{key}` again and is used instead.");
            let draft = Draft::new(&rules::REPEATED_KEY, message);
            findings.at(subject, setting.key_span.clone(), draft);
        }
        if let Some(problem) = permissions::problem(key, setting.value) {
            let message = format!("{problem}, so nothing is allowed.");
            let draft = Draft::new(&rules::BROKEN_PERMISSION, message);
            findings.at(subject, setting.value_span.clone(), draft);
        }
        if matches!(key, "require-role" | "role") && !ROLES.contains(&setting.value) {
            let near = nearest(setting.value, ROLES);
            let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            let message = format!("There is no role `{}`{hint}", setting.value);
            let draft = Draft::new(&rules::UNKNOWN_ROLE, ended(message));
            findings.at(subject, setting.value_span.clone(), draft);
        }
    }
    if is_empty && !read(subject.text).trim().is_empty() {
        let message = "No line of the file is a rule, so nothing is guarded.";
        findings.whole(subject, Draft::new(&rules::NO_PERMISSIONS, message));
    }
    contradictions(subject, &all, findings);
}

fn contradictions(subject: &Subject<'_>, all: &[Setting<'_>], findings: &mut Findings) {
    let of = |keys: [&'static str; 2]| {
        all.iter()
            .filter(move |setting| keys.contains(&setting.key.as_str()))
    };
    // Most files allow nothing by name: then no expression is compiled.
    let denied = LazyCell::new(|| {
        of(["deny", "deny-regex"])
            .filter_map(|setting| {
                let pattern = match setting.key.as_str() {
                    "deny" => Some(Pattern::phrase(setting.value)),
                    _ => Pattern::expression(setting.value).ok(),
                };
                pattern.map(|pattern| (pattern, setting))
            })
            .collect::<Vec<_>>()
    });
    for allow in of(["allow", "allow-regex"]) {
        let denied = denied.iter().find(|(pattern, deny)| {
            let is_same = deny.value.eq_ignore_ascii_case(allow.value);
            is_same || (allow.key == "allow" && pattern.finds(allow.value))
        });
        if let Some((_, deny)) = denied {
            let line = subject.place(deny.key_span.clone()).line;
            let message = format!("This is allowed here and denied in line {line}; deny wins.");
            let draft = Draft::new(&rules::CONTRADICTING_PERMISSIONS, message);
            findings.at(subject, allow.value_span.clone(), draft);
        }
    }
    let mut roles = of(["require-role", "role"]).filter(|role| ROLES.contains(&role.value));
    if let Some(first) = roles.next()
        && let Some(other) = roles.find(|role| role.value != first.value)
    {
        let message = "No sender is both `owner` and `guest`, so every message is refused.";
        let draft =
            Draft::new(&rules::CONTRADICTING_PERMISSIONS, message).severity(Severity::Error);
        findings.at(subject, other.value_span.clone(), draft);
    }
}

fn check_runtime(subject: &Subject<'_>, providers: &[String], findings: &mut Findings) {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let is_local = settings(subject.text)
        .find(|setting| setting.key == "mode")
        .is_some_and(|mode| mode.value.eq_ignore_ascii_case("local"));
    for setting in settings(subject.text) {
        let key = plain(&setting.key);
        if !suggestion::KEYS.contains(&key) {
            misspelt(subject, &setting, suggestion::KEYS, findings);
            continue;
        }
        let line = subject.place(setting.key_span.clone()).line;
        if let Some(first) = seen.get(key) {
            let message = format!("`{key}` is already set in line {first}, which is used.");
            let draft = Draft::new(&rules::REPEATED_KEY, message);
            findings.at(subject, setting.key_span.clone(), draft);
            continue;
        }
        seen.insert(key.to_owned(), line);
        let mut value = |rule, message: String| {
            findings.at(
                subject,
                setting.value_span.clone(),
                Draft::new(rule, message),
            );
        };
        match key {
            "api-key" => value(
                &rules::RUNTIME_SECRET,
                "A key has no effect here.".to_owned(),
            ),
            "base-url" => value(
                &rules::RUNTIME_SECRET,
                "An address has no effect here.".to_owned(),
            ),
            "mode"
                if !["remote", "local", "fake"]
                    .iter()
                    .any(|mode| setting.value.eq_ignore_ascii_case(mode)) =>
            {
                value(
                    &rules::RUNTIME_VALUE,
                    "The modes are `remote`, `local` and `fake`.".to_owned(),
                );
            }
            "max-tokens" if setting.value.parse::<u64>().ok().is_none_or(|n| n == 0) => value(
                &rules::RUNTIME_VALUE,
                format!("`{}` is not a positive whole number.", setting.value),
            ),
            "temperature" | "top-p" | "stop" => value(
                &rules::RUNTIME_VALUE,
                format!("`{key}` has no effect: the provider's own value is used."),
            ),
            "model" => {
                if let Some(message) = model_problem(setting.value, is_local, providers) {
                    value(&rules::RUNTIME_MODEL, message);
                }
            }
            _ => {}
        }
    }
}

fn model_problem(model: &str, is_local: bool, providers: &[String]) -> Option<String> {
    let suggested = suggestion::Suggestion {
        model: Some((model.to_owned(), 0)),
        mode: is_local.then(|| "local".to_owned()),
        ..suggestion::Suggestion::default()
    };
    let Ok(name) = suggested.full_name()? else {
        return Some(format!("`{model}` names no provider."));
    };
    let provider = name.split('/').next().unwrap_or_default();
    if FILE_PROVIDERS.contains(&provider) {
        return Some(format!(
            "`{provider}` answers from a local file, which a workspace may not name."
        ));
    }
    if providers.is_empty() || provider == "offline" || providers.iter().any(|id| id == provider) {
        return None;
    }
    let near = nearest(provider, providers.iter().map(String::as_str));
    let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    Some(ended(format!("There is no provider `{provider}`{hint}")))
}

fn check_channels(subject: &Subject<'_>, findings: &mut Findings) {
    // Without any name the file means every channel.
    let names_none = channels::parse(read(subject.text)).is_empty();
    for found in lookalike::channel_lines(read(subject.text)).take(MOST_RULES) {
        let (severity, effect) = if names_none {
            (Severity::Error, "so every channel can reach the agent")
        } else {
            (Severity::Warning, "so the channel is excluded")
        };
        let message = format!(
            "This looks like the channel `{}` but does not name one, {effect}.",
            found.name
        );
        let draft = Draft::new(&rules::LOOKS_LIKE_A_RULE, message)
            .severity(severity)
            .remedy(format!(
                "Write `{}`, each channel on a line of its own.",
                found.spelled()
            ));
        findings.at(subject, span(subject.text, found.line), draft);
    }
    for line in statements(read(subject.text)) {
        let word = match line.find(':') {
            Some(at) if at > 0 => &line[..at],
            _ => line,
        };
        let [name] = channels::parse(line)
            .try_into()
            .unwrap_or_else(|_| [String::new()]);
        if name.is_empty() || channels::known().any(|known| known == name) {
            continue;
        }
        let near = nearest(&name, channels::known());
        let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        let message = ended(format!("There is no channel `{name}`{hint}"));
        let draft = Draft::new(&rules::UNKNOWN_CHANNEL, message);
        findings.at(subject, span(subject.text, word.trim()), draft);
    }
}

fn check_servers(subject: &Subject<'_>, findings: &mut Findings) {
    let mut names = HashSet::new();
    for (name, value) in statements(read(subject.text)).filter_map(pair) {
        if name.is_empty() || name.contains(char::is_whitespace) {
            continue;
        }
        let shown = subject.excerpt(span(subject.text, name));
        let mut at = |part: &str, rule, message: String| {
            let draft = Draft::new(rule, message);
            findings.at(subject, span(subject.text, part), draft);
        };
        if value.is_empty() {
            at(
                name,
                &rules::BAD_SERVER,
                format!("`{shown}` has no address."),
            );
            continue;
        }
        let read = mcp::parse(&format!("{name}: {value}"));
        match read.skipped.first().map(|skipped| skipped.reason) {
            Some(mcp::SkipReason::BadUri) => at(
                value,
                &rules::BAD_SERVER,
                "The address cannot be parsed.".to_owned(),
            ),
            // A value of several words is prose.
            Some(mcp::SkipReason::NotHttp) if !value.contains(char::is_whitespace) => at(
                value,
                &rules::BAD_SERVER,
                "The address does not start with `http://` or `https://`.".to_owned(),
            ),
            None if !names.insert(name) => at(
                name,
                &rules::REPEATED_KEY,
                format!("`{shown}` is already defined; the first line is used."),
            ),
            Some(mcp::SkipReason::NotHttp) | None => {}
        }
    }
}

/// Ends a sentence that does not ask.
pub(super) fn ended(mut message: String) -> String {
    if !message.ends_with('?') {
        message.push('.');
    }
    message
}
