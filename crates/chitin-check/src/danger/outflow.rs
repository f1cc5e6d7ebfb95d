//! What goes to an address: files of credentials with a body or a pipe, and all requests to a model.

use super::Danger;
use super::flows::{SENT, sends};
use crate::rules;
use crate::subject::Subject;
use crate::surroundings::has;
use std::ops::Range;

/// How far from a home a file of it is named.
const REACH: usize = 160;

/// How the home of the user is written in shells and programs.
const HOMES: &[&str] = &[
    "~/",
    "find ~",
    "$home",
    "${home}",
    "%userprofile%",
    "$env:userprofile",
    "expanduser(",
    "homedir()",
    "path.home()",
    "process.env.home",
    "environ[\"home\"]",
    "getenv(\"home\")",
    "dir.home",
];

/// What the names of files with credentials hold.
const CREDENTIALS: &[&str] = &[
    "credential",
    "token",
    "secret",
    "auth.json",
    "hosts.yml",
    ".pem",
    ".aws",
    ".azure",
    ".gnupg",
    ".kube",
    ".netrc",
    ".npmrc",
    ".pgpass",
    ".pypirc",
    ".ssh",
    "config/gcloud",
    "cookies",
    "docker/config",
    "keychain",
    "keyring",
    "history",
    "places.sqlite",
    "password",
    "_key",
];

/// Commands that print credentials.
const PRINTERS: &[&str] = &[
    "gh auth token",
    "gcloud auth print",
    "aws configure export",
    "aws configure get",
    "az account get-access-token",
    "find-generic-password",
    "find-internet-password",
    "git credential fill",
    "git config --list",
    "git config -l",
    "get secret",
    "secret-tool lookup",
    "pass show",
    "op read",
    "kubectl config view",
];

/// Services whose credentials go to hosts of one name only.
const SERVICES: &[(&str, &str)] = &[
    ("gh ", "github."),
    ("/gh/", "github."),
    ("gcloud", "googleapis."),
    ("aws", "amazonaws."),
    ("azure", "azure."),
    ("ssh", "\0"),
    ("kube", "\0"),
    ("pgpass", "\0"),
];

/// Words in paths that say nothing about whose they are.
const COMMON: &[&str] = &[
    "config",
    "credential",
    "credentials",
    "default",
    "expanduser",
    "home",
    "homedir",
    "json",
    "local",
    "path",
    "process",
    "read",
    "readfilesync",
    "secret",
    "share",
    "text",
    "token",
    "tokens",
    "toml",
    "yaml",
];

/// Names in which a program says that a request has a body.
const BODIES: &[&str] = &[
    "data=",
    "json=",
    "files=",
    "body",
    ".post(",
    ".put(",
    "\"post\"",
    "'post'",
    "\"put\"",
    "'put'",
    ".sendall(",
    ".send(",
    "storbinary(",
    "\"-d\"",
    "\"--data",
    "\"-f\"",
    "\"-t\"",
    "btoa(",
    "b64encode(",
    "'base64'",
    "'hex'",
];

/// Variables and settings that say where requests to a model go, at the end of their names.
const ENDPOINTS: &[&str] = &[
    "base_url",
    "baseurl",
    "base-url",
    "api_base",
    "api_host",
    "api_url",
    "_endpoint",
];

const MODELS: &[&str] = &[
    "anthropic",
    "openai",
    "claude",
    "gemini",
    "mistral",
    "openrouter",
    "deepseek",
    "llm_",
];

/// Where the makers and resellers of models are.
const PROVIDERS: &[&str] = &[
    "anthropic.com",
    "openai.com",
    "openai.azure.com",
    "googleapis.com",
    "amazonaws.com",
    "mistral.ai",
    "openrouter.ai",
    "deepseek.com",
    "groq.com",
    "x.ai",
];

/// How programs name a host without writing an address.
const CONNECTS: &[&str] = &["connection(", "connect((", "hostname:", "host:"];

/// More connections than this in one text are not looked at.
const MAX_CONNECTIONS: usize = 200;

/// Returns the hosts that programs connect to without an address, and where they are named.
pub(super) fn connections<'s>(subject: &'s Subject<'_>) -> Vec<(&'s str, Range<usize>)> {
    let places = CONNECTS.iter().flat_map(|call| {
        let found = memchr::memmem::find_iter(subject.lower.as_bytes(), call.as_bytes());
        found.take(MAX_CONNECTIONS).map(|at| at + call.len())
    });
    places
        .filter(|at| !subject.is_prose(*at) && !subject.is_described(*at))
        .filter_map(|at| host_behind(subject, at))
        .collect()
}

/// Returns the host that is named in quotes right behind a place, and where it is.
fn host_behind<'s>(subject: &'s Subject<'_>, at: usize) -> Option<(&'s str, Range<usize>)> {
    let rest = subject.small(at..at + 80);
    let name = rest.trim_start();
    let quote = name.chars().next()?;
    if !matches!(quote, '"' | '\'' | '`') {
        return None;
    }
    let (host, _) = name[1..].split_once(quote)?;
    let begin = at + (rest.len() - name.len()) + 1;
    let is_host = host.contains('.') && !host.contains(char::is_whitespace);
    is_host.then(|| (host, begin..begin + host.len()))
}

/// Judges what goes to an address.
pub(super) fn judge(subject: &Subject<'_>, host: &str, span: &Range<usize>) -> Option<Danger> {
    if is_near(host) {
        return None;
    }
    if redirects_model(subject, host, span) {
        return Some(Danger::new(
            &rules::SENDS_DATA,
            span.clone(),
            "gets every request to the model, and the key with it",
        ));
    }
    let at = span.start;
    let sender = subject.command_around(at);
    let around = match subject.program_around(at) {
        Some(program) => program,
        // In prose the command itself must send; what it sends may be named before it.
        None if sends(subject.small(sender.clone())) => subject.paragraph_around(at),
        None => return None,
    };
    let text = subject.small(around);
    let address = subject.small(span.clone());
    let is_program = subject.program_around(at).is_some();
    let carries = sends(subject.small(sender))
        || (is_program
            && (has(text, BODIES)
                || sends(text)
                || has(address, &["${", "={", "=$"])
                || address.ends_with('=')));
    let source = source_in(text).filter(|_| carries)?;
    (!is_owner(&source, host)).then(|| Danger::new(&rules::SENDS_DATA, span.clone(), SENT))
}

/// Finds what is private in a text: a file of credentials in a home, a search for such, or a command that prints some. What
/// comes back is written as paths, however a program puts them together.
fn source_in(text: &str) -> Option<String> {
    if let Some(at) = PRINTERS.iter().find_map(|printer| text.find(printer)) {
        let line = text[at..].lines().next().unwrap_or_default();
        return Some(cut(line, 0, REACH).to_owned());
    }
    HOMES.iter().find_map(|home| {
        text.match_indices(home).find_map(|(at, _)| {
            let near = cut(text, at.saturating_sub(REACH), at + REACH);
            // Addresses are no files.
            let words = near.split_whitespace();
            let words: Vec<_> = words.filter(|word| !word.contains("://")).collect();
            let path = as_path(&words.join(" "));
            has(&path, CREDENTIALS).then_some(path)
        })
    })
}

fn cut(text: &str, begin: usize, end: usize) -> &str {
    let begin = crate::subject::floor_boundary(text, begin.min(text.len()));
    let end = crate::subject::floor_boundary(text, end.min(text.len()));
    &text[begin..end]
}

/// Joins the parts that a program puts a path together from: `join(home, ".docker", "config.json")`.
fn as_path(text: &str) -> String {
    let is_part =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '$' | '~' | ' ');
    let text = text
        .replace("\", \"", "/")
        .replace("', '", "/")
        .replace("\" / \"", "/");
    text.chars()
        .map(|c| if is_part(c) { c } else { '/' })
        .collect()
}

/// Tells whether a credential is that of the host it goes to: `~/.config/tasks/token` and `api.tasks.example`.
fn is_owner(source: &str, host: &str) -> bool {
    let service = SERVICES.iter().find(|(name, _)| source.contains(name));
    if let Some((_, home)) = service {
        return host.contains(home);
    }
    let files = source
        .split_whitespace()
        .filter(|word| has(word, CREDENTIALS) || word.contains(".config/"));
    files
        .flat_map(|file| file.split(|c: char| !c.is_ascii_alphanumeric()))
        .filter(|word| word.len() >= 4 && !COMMON.contains(word))
        .any(|word| host.contains(word))
}

/// Tells whether requests to a model are sent to somebody who does not make it.
fn redirects_model(subject: &Subject<'_>, host: &str, span: &Range<usize>) -> bool {
    let before = subject.small(span.start.saturating_sub(100)..span.start);
    let named = ENDPOINTS
        .iter()
        .filter_map(|name| before.rfind(name).map(|at| (at, at + name.len())))
        .max();
    let Some((name, end)) = named else {
        return false;
    };
    // Nothing but the signs of an assignment stands between the name and the address.
    let joint = before[end..]
        .trim_end_matches("://")
        .trim_end_matches("https")
        .trim_end_matches("http");
    let is_joint = |word: &str| matches!(word, "" | "to" | "is" | "as" | "f" | "set");
    let assigned = joint
        .split(|c: char| !c.is_ascii_alphanumeric())
        .all(is_joint);
    let is_provider = PROVIDERS
        .iter()
        .any(|known| host == *known || host.ends_with(&format!(".{known}")));
    let is_placeholder = has(host, &["your", "company", "<", "$", "{"]);
    assigned && has(&before[..name], MODELS) && !is_provider && !is_placeholder
}

/// Tells whether a host is this machine or one of the same network.
fn is_near(host: &str) -> bool {
    let starts = [
        "localhost",
        "127.",
        "10.",
        "192.168.",
        "172.16.",
        "172.17.",
        "172.18.",
        "172.19.",
        "172.2",
        "172.30.",
        "172.31.",
        "0.0.0.0",
        "[::1]",
    ];
    let ends = [".local", ".internal", ".lan", ".localhost"];
    starts.iter().any(|start| host.starts_with(start))
        || ends.iter().any(|end| host.ends_with(end))
        || (!host.contains('.') && !host.contains(['$', '{']))
}
