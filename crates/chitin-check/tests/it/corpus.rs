//! The corpus of malicious and honest skills: what the rules catch, and what they leave alone.
//! `UPDATE_REFERENCE=1 cargo test -p chitin-check corpus` writes the page of figures anew.
#![expect(
    clippy::disallowed_methods,
    reason = "the corpus and its page are files of this repository"
)]

mod measure;

use measure::{Half, Kind, Rate};
use std::path::Path;

/// The rates that must hold, in tenths of a percent: caught at least, false alarms at most, for each half.
const LIMITS: [(Half, usize, usize); 2] = [(Half::Tuning, 980, 20), (Half::HeldOut, 900, 30)];

const INTRODUCTION: &str = "# Security checks\n\n\
`chitin check` reads skills before an agent does. What its rules catch is measured with \
[a corpus](../crates/chitin-check/corpus/README.md)\nof malicious and honest skills, written for this purpose by technique. \
This page is made by `UPDATE_REFERENCE=1 cargo test -p chitin-check corpus`.\n\n\
An *alarm* is an error or a warning with one of the codes CH504 to CH599 (dangerous commands) or CH701 to CH799 (hidden and injected\n\
instructions), on any file of a skill. A malicious skill with an alarm is caught; an honest skill with one is a false alarm. Problems of form\n\
and secrets are reported too and do not count.\n\n\
Techniques are split in halves by the hash of their names. Rules are tuned on one half only, and misses of the other are not looked at. Both\n\
were written by the authors of the rules, so the figures say how well the rules carry over to techniques they were not tuned on. They are no\n\
promise about the next campaign: review skills before you install them, and keep the sandbox on.\n";

#[test]
fn the_rules_catch_what_is_stated_and_leave_honest_skills_alone() {
    let techniques = measure::load();
    let skills = |kind| {
        let chosen = techniques.iter().filter(|t| t.kind == kind);
        chosen.map(|t| t.skills.len()).sum::<usize>()
    };
    assert!(skills(Kind::Malicious) >= 120 && skills(Kind::Honest) >= 120);
    for (half, caught, alarms) in LIMITS {
        let malicious = Rate::of(&techniques, Kind::Malicious, half);
        assert!(malicious.per_mille() >= caught, "{half:?}: {malicious:?}");
        let honest = Rate::of(&techniques, Kind::Honest, half);
        assert!(honest.per_mille() <= alarms, "{half:?}: {honest:?}");
    }
}

#[test]
fn the_page_of_figures_is_up_to_date() {
    let techniques = measure::load();
    let page = format!(
        "{INTRODUCTION}\n## Figures\n\n{}\n## Malicious skills\n\n{}\n## Honest skills\n\n{}",
        measure::summary(&techniques),
        measure::by_technique(&techniques, Kind::Malicious),
        measure::by_technique(&techniques, Kind::Honest),
    );
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/security-checks.md");
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == page,
        "docs/security-checks.md is out of date: run with UPDATE_REFERENCE=1"
    );
}

/// Nothing in the stored files can be copied and run, and no host in them can be reached.
#[test]
fn the_stored_corpus_is_harmless() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/malicious");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stored = std::fs::read_to_string(&path).unwrap();
        for command in [
            "curl ",
            "wget ",
            "| sh",
            "| bash",
            "/dev/tcp",
            "base64 -",
            "powershell",
        ] {
            assert!(!stored.contains(command), "{}: {command}", path.display());
        }
    }
    for technique in measure::load() {
        for (_, text) in technique.skills.iter().flat_map(|skill| &skill.files) {
            if technique.kind == Kind::Malicious {
                for address in text.split("://").skip(1) {
                    let host = address.split(['/', ':', '"', '\'', ' ', '`', ')', '\n']);
                    let host = host.into_iter().next().unwrap();
                    assert!(is_reserved(host), "{}: {host}", technique.name);
                }
            }
        }
    }
}

fn is_reserved(host: &str) -> bool {
    const NUMBERS: [&str; 6] = [
        "192.0.2.",
        "198.51.100.",
        "203.0.113.",
        "169.254.",
        "0xC00002",
        "3221225991",
    ];
    host.is_empty()
        || host == "localhost"
        || host.trim_end_matches('.').ends_with(".example")
        || host.ends_with(".test")
        // `.example` turned by thirteen letters.
        || host.ends_with(".rknzcyr")
        || NUMBERS.iter().any(|number| host.starts_with(number))
}
