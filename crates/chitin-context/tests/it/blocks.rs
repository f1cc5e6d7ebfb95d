//! How files stand in the prompt, and what rules take out of them on the way.

use crate::given::{Given, extra, file, files_part};
use chitin_context::files::FileOutcome;
use chitin_contract::{
    ALL, ATMOSPHERE, CANONICAL, Contract, HeartbeatPrompt, OPENCLAW_2026_4, OPENCLAW_2026_9,
    Rendering,
};
use std::fmt::Write as _;

fn shown(contract: &'static Contract, name: &str, text: &str, projects: &[&str]) -> String {
    let mut given = Given::new(contract, vec![file(name, text)]);
    given.projects = projects.iter().map(|key| (*key).to_owned()).collect();
    let context = given.context();
    let text = context.fragment_of(0).map(|(_, fragment)| fragment.text());
    let heading = format!("\n## /w/{name}");
    let below = text.as_deref().and_then(|text| text.strip_prefix(&heading));
    below
        .map_or("nothing", |text| text.trim_start_matches('\n'))
        .to_owned()
}

#[test]
fn every_contract_has_its_own_layout() {
    let mut all = String::new();
    for contract in ALL {
        let mut given = Given::new(
            contract,
            vec![
                file("AGENTS.md", "---\ntitle: x\n---\nRules.\n"),
                file("SOUL.md", "Calm.\n\n\n\n\nKind.  \n"),
                file("IDENTITY.md", "Lantern."),
                file("USER.md", "Ines."),
                file("MEMORY.md", "Tides."),
            ],
        );
        given.extras = vec![extra("docs", file("AGENTS.md", "More rules."))];
        let system = given.context().system();
        let start = system
            .find("# Project Context")
            .or_else(|| system.find("## Identity"));
        let _ = writeln!(all, "--- {}\n{}", contract.name, &system[start.unwrap()..]);
    }
    insta::assert_snapshot!(all);
}

/// An entry lasts until the next line with `- ` or the next heading, whatever stands in between.
#[test]
fn entries_of_other_projects_are_left_out_with_all_that_follows_them() {
    let notes = "# Notes\n- mine <!-- project: a -->\n- other <!-- project: b -->\n  and more of it\n\n1. numbered\n\
                 * starred\n- nobody's\n## Third <!-- project: c -->\nof it\n- last";
    let of = |projects: &[&str]| shown(&OPENCLAW_2026_9, "MEMORY.md", notes, projects);
    insta::assert_snapshot!(of(&["a"]), @"
    # Notes
    - mine <!-- project: a -->
    - nobody's
    - last
    ");
    insta::assert_snapshot!(of(&["b"]), @"
    # Notes
    - other <!-- project: b -->
      and more of it

    1. numbered
    * starred
    - nobody's
    - last
    ");
    assert_eq!(of(&["a", "b", "c"]), notes);
    assert_eq!(shown(&OPENCLAW_2026_9, "AGENTS.md", notes, &[]), notes);
    assert_eq!(shown(&OPENCLAW_2026_4, "MEMORY.md", notes, &[]), notes);
}

/// All projects that an entry names must be active, and what cannot be read names none that is.
#[test]
fn an_entry_stays_only_if_all_its_projects_are_active() {
    let is_kept = |annotation: &str, projects: &[&str]| {
        let notes = format!("- plain\n- fact {annotation}");
        shown(&OPENCLAW_2026_9, "USER.md", &notes, projects) == notes
    };
    for stays in [
        "<!-- project: a;b -->",
        "<!--PROJECT : a-->",
        "<!-- project: a --> <!-- project: b -->",
        "<!-- project: GitHub.com/acme/app -->",
        "<!-- project: path:/W/x -->",
        "<!-- trigger: c -->",
        "project: c",
    ] {
        let active = ["a", " b ", "GITHUB.com/acme/app", "path:/W/x"];
        assert!(is_kept(stays, &active), "{stays}");
    }
    for goes in [
        "<!-- project: a; c -->",
        "<!-- project: a --> <!-- project: c -->",
        "<!-- project: -->",
        "<!-- project: a; -->",
        "<!-- project: a",
        "<!-- project: a <!-- project: a -->",
        "<!-- project: github.com/Acme/app -->",
        "<!-- project: path:/w/x -->",
    ] {
        let active = ["a", "b", "github.com/acme/app", "path:/W/x"];
        assert!(!is_kept(goes, &active), "{goes}");
    }
}

#[test]
fn a_list_of_other_projects_leaves_nothing_behind() {
    let all = "- one <!-- project: b -->\n- two <!-- project: b -->\n- three <!-- project: b -->";
    assert_eq!(shown(&OPENCLAW_2026_9, "USER.md", all, &[]), "");
    let after = format!("Ines.\n{all}");
    assert_eq!(shown(&OPENCLAW_2026_9, "USER.md", &after, &[]), "Ines.");
}

#[test]
fn surplus_empty_lines_go_but_those_with_carriage_returns_stay() {
    assert_eq!(
        shown(&CANONICAL, "SOUL.md", "a\n\n\n\nb\n\nc", &[]),
        "a\n\nb\n\nc"
    );
    let crlf = "a\r\n\r\n\r\n\r\nb";
    assert_eq!(shown(&CANONICAL, "SOUL.md", crlf, &[]), crlf);
}

#[test]
fn the_documented_heartbeat_prompt_is_no_instruction() {
    let text = "Before.\nDefault heartbeat prompt:\n`Read HEARTBEAT.md if it exists. If idle, say HEARTBEAT_OK.`\nAfter.";
    assert_eq!(
        shown(&OPENCLAW_2026_9, "SOUL.md", text, &[]),
        "Before.\n\nAfter."
    );
    assert_eq!(shown(&CANONICAL, "SOUL.md", text, &[]), text);
    let other = "Default heartbeat prompt:\n`Do as you like.`";
    assert_eq!(shown(&OPENCLAW_2026_9, "SOUL.md", other, &[]), other);
}

/// The text of the release's own block is not ours to carry, so one of ours stands in its place here.
#[test]
fn the_one_known_heartbeat_block_is_recognised_by_its_digest() {
    let block = "Default heartbeat prompt:\n`Look at the lamp.`";
    let digest = blake3::hash(block.as_bytes()).to_hex().to_string();
    let contract = Contract {
        rendering: Rendering {
            heartbeat_prompt: HeartbeatPrompt::Known {
                digest: digest.leak(),
            },
            ..OPENCLAW_2026_4.rendering
        },
        ..OPENCLAW_2026_4
    };
    let contract: &'static Contract = Box::leak(Box::new(contract));
    let text = format!("Before.\n\n{block}\n\nAfter. {block}");
    let cleaned = "Before.\n\nAfter. ";
    assert_eq!(shown(contract, "AGENTS.md", &text, &[]), cleaned);
    for kept in [
        "Default heartbeat prompt:\n`Look at the lamp!`",
        "Default heartbeat prompt:\r\n`Look at the lamp.`",
        "Default heartbeat prompt:\n`Look at the lamp.",
    ] {
        assert_eq!(shown(contract, "AGENTS.md", kept, &[]), kept);
        assert_eq!(shown(&OPENCLAW_2026_4, "AGENTS.md", kept, &[]), kept);
    }
    assert!(matches!(
        OPENCLAW_2026_4.rendering.heartbeat_prompt,
        HeartbeatPrompt::Known { .. }
    ));
}

/// The bridge is a Java program, and Java has its own idea of what is blank.
#[test]
fn the_composition_trims_as_the_bridge_does() {
    let given = Given::new(
        &ATMOSPHERE,
        vec![
            file("IDENTITY.md", "\u{1}Lantern\u{1}"),
            file("SOUL.md", "\u{2003}\u{3000}"),
            file("USER.md", "\u{a0}"),
            file("AGENTS.md", "\u{2003}Rules\u{2003}\n"),
        ],
    );
    let context = given.context();
    assert!(context.system().ends_with(
        "## Identity\n\nLantern\n\n## User\n\n\u{a0}\n\n## Operating rules\n\n\u{2003}Rules\u{2003}"
    ));
    assert!(matches!(context.files.outcomes[1], FileOutcome::LeftOut(_)));
    assert_eq!(context.why_left_out(1).unwrap(), "it is blank");
}

#[test]
fn two_files_of_one_path_are_two_parts() {
    let mut given = Given::new(&OPENCLAW_2026_4, Vec::new());
    given.extras = ["First.", "Second."]
        .map(|text| extra("a", file("USER.md", text)))
        .into();
    let context = given.context();
    assert!(files_part(&context).contains("## /w/a/USER.md\nFirst.\n## /w/a/USER.md\nSecond."));
    assert_ne!(
        context.fragment_of(0).unwrap().0,
        context.fragment_of(1).unwrap().0
    );
}
