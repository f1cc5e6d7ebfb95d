//! Signs of malice in what a skill says and does: data that is sent away, ways in, ways to stay, protections that are switched off.

mod addresses;
mod agent_files;
mod flows;
mod outflow;
mod packages;
mod persistence;
mod programs;
mod remote;
mod shells;

use super::finding::{Draft, Findings, Severity};
use super::phrases::{Hit, Meaning, Sign};
use super::rules::{self, CheckRule};
use super::subject::Subject;
use super::surroundings::has;
use std::ops::Range;

/// What was found where.
struct Danger {
    rule: &'static CheckRule,
    span: Range<usize>,
    what: &'static str,
}

impl Danger {
    const fn new(rule: &'static CheckRule, span: Range<usize>, what: &'static str) -> Self {
        Self { rule, span, what }
    }
}

/// Reports signs of malice.
pub(crate) fn check(subject: &Subject<'_>, findings: &mut Findings) {
    let mut last: Option<(&str, usize)> = None;
    let mut sent = Vec::new();
    for hit in &subject.hits {
        let Meaning::Sign(sign) = hit.meaning else {
            continue;
        };
        let Some(danger) = judge(subject, hit, sign) else {
            continue;
        };
        // One command is one finding, however many signs it has.
        let here = (danger.rule.code, subject.lines.of(danger.span.start));
        if last == Some(here) || subject.is_described(hit.span.start) {
            continue;
        }
        last = Some(here);
        if danger.rule.code == rules::SENDS_DATA.code {
            sent.push(here.1);
        }
        report(subject, danger, findings);
    }
    addresses::check(subject, sent, findings);
}

fn report(subject: &Subject<'_>, danger: Danger, findings: &mut Findings) {
    let severity = if subject.role.is_skill() {
        danger.rule.severity
    } else {
        danger.rule.severity.max(Severity::Warning)
    };
    let quoted = subject.excerpt(danger.span.clone());
    let message = format!("`{quoted}` {}.", danger.what);
    findings.at(
        subject,
        danger.span,
        Draft::new(danger.rule, message).severity(severity),
    );
}

fn judge(subject: &Subject<'_>, hit: &Hit, sign: Sign) -> Option<Danger> {
    let phrase = &subject.lower[hit.span.clone()];
    let command = || subject.command_around(hit.span.start);
    let near = |before: usize, after: usize| {
        subject.small(hit.span.start.saturating_sub(before)..hit.span.end + after)
    };
    match sign {
        Sign::Private | Sign::Settings | Sign::Words => flows::taken(subject, hit, sign),
        Sign::Lookup => flows::looked_up(subject, hit),
        Sign::Shell => shells::remote(subject, hit),
        Sign::Startup => persistence::startup(subject, hit),
        // Outside skills these files speak of each other as they should.
        Sign::OwnFile if !subject.role.is_skill() => None,
        Sign::OwnFile => agent_files::changed(subject, hit),
        Sign::Obey => remote::obeyed(subject, hit),
        Sign::RunCode => programs::loaded(subject, hit),
        Sign::PowerShell => programs::power_shell(subject, hit),
        Sign::Package => packages::installed(subject, hit),
        Sign::PackageScript => packages::script(subject, hit),
        // These are of the rules about injected instructions.
        Sign::Person | Sign::Rules => None,
        Sign::Erase => {
            let command = command();
            let rest = subject.small(hit.span.end..command.end);
            erases_much(phrase, rest)
                .then(|| Danger::new(&rules::ERASES, hit.span.start..command.end, "destroys data"))
        }
        Sign::Sandbox => {
            let rest = near(0, 40);
            let off = has(rest, &["off", "full", "none", "\"never"])
                && has(
                    near(60, 0),
                    &["set ", "config", "change", "switch", "turn", "{", "=", ":"],
                );
            let asked = has(near(200, 200), &["warn", "safest", "modes are", "default"]);
            (off && !asked).then(|| {
                Danger::new(
                    &rules::APPROVALS_OFF,
                    hit.span.clone(),
                    "is switched off by this text",
                )
            })
        }
        Sign::ApprovalsOff => Some(Danger::new(
            &rules::APPROVALS_OFF,
            hit.span.clone(),
            "switches approvals or the sandbox off",
        ))
        .filter(|_| !has(near(40, 0), &["never use", "not use", "without `"])),
        Sign::Protection => {
            let around = near(80, 40);
            let off = has(
                around,
                &[
                    "turn off",
                    "switch off",
                    "disable",
                    "deactivate",
                    "click",
                    "ignore",
                    "bypass",
                ],
            );
            let kept = has(around, &["do not ", "don't ", "never "]) && !around.contains("delete");
            (off && !kept).then(|| {
                Danger::new(
                    &rules::PROTECTION_OFF,
                    hit.span.clone(),
                    "is a protection that somebody is to switch off",
                )
            })
        }
        Sign::Escape => {
            let rest = near(0, 300);
            let harmless = (phrase.starts_with("--unix") && !has(rest, &["create", "binds", "exec"]))
                || (phrase == "nsenter" && !has(rest, &["-t 1", "target 1"]))
                // One command without a password is not all of them.
                || (phrase.starts_with("nopasswd") && has(rest.get(phrase.len()..).unwrap_or_default().trim_start().get(..1).unwrap_or_default(), &["/"]));
            (!harmless).then(|| {
                Danger::new(
                    &rules::ESCAPE,
                    hit.span.start..command().end.max(hit.span.end),
                    "takes rights that a skill should not have",
                )
            })
        }
        Sign::Mine => {
            let mines =
                phrase != "--wallet" || has(near(120, 120), &["--pool", "--coin", "hashrate"]);
            mines.then(|| {
                Danger::new(
                    &rules::MINES,
                    hit.span.clone(),
                    "is a sign of mining on this machine",
                )
            })
        }
        Sign::Watch => Some(Danger::new(
            &rules::WATCHES,
            hit.span.clone(),
            "reads keys or passwords of the user",
        )),
        Sign::Loader => Some(Danger::new(
            &rules::DOWNLOAD_AND_RUN,
            hit.span.start..command().end.max(hit.span.end),
            "downloads something and runs it",
        )),
    }
}

/// What is more than a folder of its own.
const WHOLE: &[&str] = &[
    "/",
    "/*",
    "~",
    "~/",
    "~/*",
    "$home",
    "$home/",
    "$home/*",
    "/home",
    "/etc",
    "/usr",
    "/var",
    "/var/log",
    "/var/log/*",
    "/boot",
    "~/documents",
    "~/work",
    "~/desktop",
];

/// Tells whether a command erases a home, a system or its traces, rather than a folder of its own.
fn erases_much(phrase: &str, rest: &str) -> bool {
    if !phrase.starts_with("rm") {
        let discards_traces = phrase == "history -c" || phrase == "shred -u";
        return match phrase {
            _ if phrase.starts_with("dd ") => rest.contains("of=/dev/"),
            "mkfs." => rest.contains("/dev/"),
            _ => !discards_traces || has(rest, &["$", "history", "log", "&&", ";"]),
        };
    }
    rest.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ';' | '&' | '|' | '`'))
        .any(|word| WHOLE.contains(&word))
}
