//! Ways to be started again: timers, profiles, hooks, keys, preloaded libraries.

use super::Danger;
use super::flows::sends;
use crate::phrases::Hit;
use crate::rules;
use crate::subject::Subject;
use crate::surroundings::has;

/// What honest programs do not start at every login.
const HIDDEN: &[&str] = &[
    "/tmp/",
    "/var/tmp/",
    "/dev/shm/",
    ".cache/.",
    "share/.",
    "config/.",
    "lib/.",
    "%appdata%",
    "%temp%",
    "-w hidden",
    "alias sudo",
    "alias ssh",
    "com.apple.",
    "sudo=",
];

/// A place from which things are started, and something that should not be started.
pub(super) fn startup(subject: &Subject<'_>, hit: &Hit) -> Option<Danger> {
    let at = hit.span.start;
    let phrase = &subject.lower[hit.span.clone()];
    let command = subject.command_around(at);
    let line = subject.small(command.clone());
    let number = subject.lines.of(at);
    let whole_line = subject.small(subject.lines.range(number));
    // A unit or a profile is often written by the lines that follow.
    let below = subject.small(at..subject.lines.range(number + 6).end.min(at + 600));
    let fetches = has(
        line,
        &["curl ", "wget ", "iwr ", "invoke-webrequest", "base64 "],
    );
    let persists = match phrase {
        "authorized_keys" => adds_key(subject, at, line, whole_line),
        "ld.so.preload" => has(whole_line, &[">", "tee"]),
        "ld_preload" | "dyld_insert_libraries" => {
            let rest = subject.small(hit.span.end..hit.span.end + 60);
            has(rest, &["/tmp", "/var/tmp", "/.", "~/", "$home"])
        }
        "pre-push hook" | "post-checkout hook" => {
            let text = subject.small(subject.paragraph_around(at));
            has(text, &["sends", "uploads", "posts"]) && text.contains("://")
        }
        "core.hookspath" => has(line, HIDDEN),
        "git/hooks" => fetches || has(line, HIDDEN) || sends(line),
        "crontab" => {
            let rest = subject.small(hit.span.end..command.end);
            // Listing the table to keep a copy of it adds nothing to it.
            let lists = rest.starts_with(" -l >") || rest.starts_with(" -l 2>/dev/null >");
            let writes = has(line, &["| crontab", "|crontab"]) || rest.trim_end() == " -";
            writes && !lists && (fetches || has(line, HIDDEN))
        }
        _ => fetches || has(whole_line, HIDDEN) || has(below, HIDDEN),
    };
    persists.then(|| {
        Danger::new(
            &rules::PERSISTS,
            at..command.end.max(hit.span.end),
            "starts something again that does not show itself",
        )
    })
}

/// Tells whether somebody else's key is let in.
fn adds_key(subject: &Subject<'_>, at: usize, line: &str, whole_line: &str) -> bool {
    let writes = has(line, &[">>", "tee -a"])
        && has(
            line,
            &[
                "curl ",
                "wget ",
                "ssh-ed25519 aaaa",
                "ssh-rsa aaaa",
                "echo \"ssh-",
                "echo 'ssh-",
            ],
        );
    let told = subject.is_prose(at)
        && has(whole_line, &["put ", "add ", "append ", "copy "])
        && has(
            whole_line,
            &[
                "maintainer",
                "our key",
                "support",
                "author's",
                "team's",
                "my key",
            ],
        );
    writes || told
}
