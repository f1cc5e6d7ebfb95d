//! Programs that run code which they decoded or fetched.

use super::Danger;
use crate::phrases::Hit;
use crate::rules;
use crate::subject::Subject;
use crate::surroundings::has;

const DECODERS: &[&str] = &[
    "b64decode",
    "frombase64",
    "buffer.from(",
    "atob(",
    "fromhex",
    "unhexlify",
    "decompress(",
    "gunzip",
    "inflate",
    "codecs.decode",
    "rot13",
];

const FETCHERS: &[&str] = &[
    "urlopen(",
    "requests.get(",
    "httpx.get(",
    "await fetch(",
    "http.get(",
    "https.get(",
    "axios.get(",
    "urlretrieve(",
];

/// How long the argument of a call may be.
const ARGUMENT: usize = 160;

/// `exec(base64.b64decode(…))`, `eval(compile(code, …))` after `code = urlopen(…)`.
pub(super) fn loaded(subject: &Subject<'_>, hit: &Hit) -> Option<Danger> {
    let rest = subject.small(hit.span.end..hit.span.end + ARGUMENT);
    let rest = rest.split('\n').next().unwrap_or(rest);
    let program = subject.program_around(hit.span.start);
    let command = subject.command_around(hit.span.start);
    let start = program.map_or(command.start, |program| program.start);
    let before = subject.small(start.max(hit.span.start.saturating_sub(600))..hit.span.start);
    if rest.contains("base64.b64decode") {
        // Reported with the command that decodes.
        return None;
    }
    let (rule, what) = if has(rest, DECODERS) {
        (&rules::DECODED_AND_RUN, "decodes something and runs it")
    } else if has(rest, FETCHERS)
        || is_fetched(before, rest)
        || (has(before, FETCHERS) && starts_file(rest))
    {
        (&rules::DOWNLOAD_AND_RUN, "downloads something and runs it")
    } else {
        return None;
    };
    Some(Danger::new(
        rule,
        hit.span.start..command.end.max(hit.span.end),
        what,
    ))
}

/// Tells whether a name in the argument was given to something fetched.
fn is_fetched(before: &str, argument: &str) -> bool {
    argument
        .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|name| name.len() >= 3)
        .take(6)
        .any(|name| {
            before.lines().any(|line| {
                let line = line.trim_start();
                line.strip_prefix(name)
                    .is_some_and(|rest| rest.trim_start().starts_with('=') && has(rest, FETCHERS))
            })
        })
}

/// Tells whether a call starts a file in a temporary place.
fn starts_file(argument: &str) -> bool {
    has(
        argument,
        &[
            "sh /tmp",
            "bash /tmp",
            "'/tmp/",
            "\"/tmp/",
            "python /tmp",
            "chmod +x",
        ],
    )
}

/// PowerShell that hides itself, or that runs what nobody can read.
pub(super) fn power_shell(subject: &Subject<'_>, hit: &Hit) -> Option<Danger> {
    let command = subject.command_around(hit.span.start);
    let rest = subject.small(hit.span.end..command.end);
    let hidden = has(
        rest,
        &[
            " -enc ",
            " -e ",
            " -ec ",
            " -encoded ",
            "-w hidden",
            "-windowstyle hidden",
            " -ep bypass",
            " -exec bypass",
            "frombase64string",
        ],
    );
    hidden.then(|| {
        Danger::new(
            &rules::DECODED_AND_RUN,
            hit.span.start..command.end,
            "runs PowerShell so that nobody sees what it does",
        )
    })
}
