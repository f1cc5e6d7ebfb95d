//! The prompt's own sections: what a run is told, in which order, at which price.

use chitin_context::sections::{
    Confinement, Delegation, HostFacts, ModelAlias, Placed, PromptFacts, PromptMode, Reactions,
    Reasoning, ReplyCitations, Slot, ToolFact, bootstrap_notice, section_keys, sections,
};
use chitin_context::{CacheClass, Fragment, FragmentOrigin, FragmentRole, FragmentSource, Size};
use chitin_contract::{
    ALL, ATMOSPHERE, CANONICAL, Contract, OPENCLAW_2026_2, OPENCLAW_2026_4, OPENCLAW_2026_9,
    SectionKey,
};
use chitin_workspace::seed::BootstrapMode;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn tool(name: &str, summary: &str) -> ToolFact {
    ToolFact {
        name: name.into(),
        summary: summary.into(),
    }
}

/// An agent on a small server, in a group chat.
fn harbor() -> PromptFacts {
    PromptFacts {
        tools: vec![
            tool("read", "Reads a file."),
            tool("write", "Writes a file."),
            tool("exec", "Runs a command."),
            tool("message", "Sends a message."),
            tool("memory_search", "Searches the memory."),
            tool("memory_get", "Reads lines of a memory file."),
        ],
        skills: Some("<available_skills>\n  <skill>\n    <name>tides</name>\n    <location>skills/tides/SKILL.md</location>\n  </skill>\n</available_skills>\n".into()),
        time_zone: Some("Europe/Lisbon".into()),
        date: Some("2026-03-02".into()),
        workspace: "/srv/harbor".into(),
        channel: Some("telegram".into()),
        host: HostFacts {
            program: Some("chitin 0.1.0".into()),
            agent: Some("main".into()),
            os: Some("linux".into()),
            arch: Some("x86_64".into()),
            shell: Some("bash".into()),
            model: Some("ollama/qwen3".into()),
            ..HostFacts::default()
        },
        heartbeats: true,
        extra: Some("The group is called Pier 4.".into()),
        ..PromptFacts::default()
    }
}

/// Everything that can be known, known.
fn rich() -> PromptFacts {
    PromptFacts {
        deferred_tools: Some("- calendar: Plans.".into()),
        citations: ReplyCitations::Hidden,
        bootstrap_file: true,
        documentation: Some("/usr/share/doc".into()),
        owners: vec!["+351 1".to_owned(), "+351 2".to_owned()],
        model_aliases: vec![ModelAlias {
            alias: "fast".into(),
            model: "ollama/qwen3".into(),
        }],
        reactions: Some(Reactions::Free),
        voice: Some("Short sentences.".into()),
        reasoning: Reasoning::Tagged,
        confinement: Confinement::Sandboxed,
        delegation: Delegation::Preferred,
        bootstrap: BootstrapMode::Full,
        files_cut: true,
        channel: Some("webchat".into()),
        tools: harbor()
            .tools
            .into_iter()
            .chain(
                ["gateway", "sessions_spawn", "skill_workshop", "dashboard"]
                    .map(|name| tool(name, "")),
            )
            .collect(),
        ..harbor()
    }
}

/// Joins the parts as the assembler does; places show as their names.
fn joined(contract: &Contract, facts: &PromptFacts) -> String {
    let parts: Vec<String> = sections(&contract.prompt, facts)
        .into_iter()
        .map(|part| match part {
            Placed::Section(fragment) => fragment.text(),
            Placed::Slot(slot) => format!("{{{slot}}}"),
        })
        .collect();
    parts.join("\n")
}

fn fragments(contract: &Contract, facts: &PromptFacts) -> Vec<Fragment> {
    sections(&contract.prompt, facts)
        .into_iter()
        .filter_map(|part| match part {
            Placed::Section(fragment) => Some(fragment),
            Placed::Slot(_) => None,
        })
        .collect()
}

fn keys(contract: &Contract, facts: &PromptFacts) -> Vec<&'static str> {
    fragments(contract, facts)
        .iter()
        .map(|fragment| match fragment.origin {
            FragmentOrigin::Section { key } => key,
            FragmentOrigin::File { .. } | FragmentOrigin::Boundary => "not a section",
        })
        .collect()
}

/// What stands above the boundary, and what stands below it.
fn halves(contract: &Contract, facts: &PromptFacts) -> (String, String) {
    let text = joined(contract, facts);
    let boundary = format!("{{{}}}", Slot::Boundary);
    match text.split_once(&boundary) {
        Some((above, below)) => (above.to_owned(), below.to_owned()),
        None => (text, String::new()),
    }
}

#[test]
fn a_full_prompt() {
    insta::assert_snapshot!("canonical-full", joined(&CANONICAL, &harbor()));
}

#[test]
fn a_prompt_of_a_spawned_run_is_shorter() {
    let facts = PromptFacts {
        mode: PromptMode::Minimal,
        extra: Some("Find out when the tide turns.".into()),
        ..harbor()
    };
    insta::assert_snapshot!("canonical-minimal", joined(&CANONICAL, &facts));
}

#[test]
fn the_barest_prompt_is_one_line() {
    let facts = PromptFacts {
        mode: PromptMode::None,
        ..rich()
    };
    for contract in [&CANONICAL, &OPENCLAW_2026_2, &OPENCLAW_2026_4] {
        let text = joined(contract, &facts);
        assert_eq!(text.lines().count(), 1, "{}: {text}", contract.name);
    }
    insta::assert_snapshot!(joined(&OPENCLAW_2026_9, &facts), @r"
    You are a personal agent, at work in a directory of files: your workspace.
    The model that answers is ollama/qwen3.
    ");
}

#[test]
fn the_bridge_has_no_sections_of_ours() {
    assert_eq!(joined(&ATMOSPHERE, &rich()), "{project context}");
}

#[test]
fn every_release_has_its_own_sections_in_its_own_order() {
    let releases = [&OPENCLAW_2026_2, &OPENCLAW_2026_4, &OPENCLAW_2026_9];
    let modes = [PromptMode::Full, PromptMode::Minimal];
    let lists = releases.into_iter().flat_map(|contract| {
        modes.map(|mode| {
            let text = joined(contract, &PromptFacts { mode, ..rich() });
            let headings: Vec<&str> = text
                .lines()
                .filter(|line| line.starts_with(['#', '{']) || line.starts_with("<!--"))
                .collect();
            format!("{} {mode:?}\n  {}\n", contract.name, headings.join("\n  "))
        })
    });
    let report: String = lists.collect();
    insta::assert_snapshot!("headings-of-releases", report);
}

#[test]
fn any_section_can_be_switched_off_and_nothing_else_changes() {
    for contract in ALL {
        let facts = rich();
        let before = keys(contract, &facts);
        for key in section_keys(&contract.prompt) {
            let facts = PromptFacts {
                switched_off: vec![key.to_owned()],
                ..facts.clone()
            };
            let expected: Vec<_> = before.iter().copied().filter(|&kept| kept != key).collect();
            assert_eq!(
                keys(contract, &facts),
                expected,
                "{} without {key}",
                contract.name
            );
        }
    }
}

#[test]
fn keys_are_named_once_and_every_key_belongs_to_a_contract() {
    let mut used = BTreeSet::new();
    for contract in ALL {
        let keys: Vec<_> = section_keys(&contract.prompt).collect();
        let distinct: BTreeSet<_> = keys.iter().copied().collect();
        assert_eq!(keys.len(), distinct.len(), "{}", contract.name);
        used.extend(distinct);
    }
    let all: BTreeSet<_> = SectionKey::ALL.iter().map(|key| key.name()).collect();
    assert_eq!(used, all);
}

#[test]
fn without_facts_nothing_optional_is_said() {
    assert_eq!(
        keys(&CANONICAL, &PromptFacts::default()),
        [
            "intro",
            "safety",
            "workspace",
            "messaging",
            "silent-replies",
            "runtime"
        ]
    );
}

#[test]
fn skills_are_shown_only_to_a_run_that_can_read_them() {
    let facts = PromptFacts {
        skills: harbor().skills,
        ..PromptFacts::default()
    };
    assert!(!keys(&CANONICAL, &facts).contains(&"skills"));
    assert!(keys(&OPENCLAW_2026_4, &facts).contains(&"skills"));
    let readable = PromptFacts {
        tools: vec![tool("Read", "")],
        ..facts
    };
    assert!(keys(&CANONICAL, &readable).contains(&"skills"));
}

#[test]
fn memory_is_spoken_of_as_far_as_tools_reach() {
    let recall = |contract: &Contract, names: &[&str], citations| {
        let facts = PromptFacts {
            tools: names.iter().map(|name| tool(name, "")).collect(),
            citations,
            ..PromptFacts::default()
        };
        let found = fragments(contract, &facts).into_iter().find(|fragment| {
            fragment.origin
                == FragmentOrigin::Section {
                    key: "memory-recall",
                }
        });
        found.map(|fragment| fragment.text()).unwrap_or_default()
    };
    for contract in [&CANONICAL, &OPENCLAW_2026_4, &OPENCLAW_2026_9] {
        assert_eq!(recall(contract, &["read"], ReplyCitations::Shown), "");
        let search = recall(contract, &["memory_search"], ReplyCitations::Shown);
        assert!(search.contains("memory_search") && !search.contains("memory_get"));
        assert!(search.contains("Source: <path#line>"));
        let get = recall(contract, &["memory_get"], ReplyCitations::Hidden);
        assert!(get.contains("memory_get") && !get.contains("memory_search"));
        assert!(!get.contains("Source:"));
    }
}

#[test]
fn a_pending_set_up_is_announced_where_the_contract_says() {
    let notice = |contract: &Contract, mode| bootstrap_notice(&contract.prompt, mode);
    let full = notice(&OPENCLAW_2026_4, BootstrapMode::Full).unwrap();
    assert!(full.text().starts_with("[Bootstrap pending]\n"));
    assert_eq!(full.role, FragmentRole::BeforeUser);
    let limited = notice(&OPENCLAW_2026_4, BootstrapMode::Limited).unwrap();
    assert_ne!(full.text(), limited.text());
    assert!(notice(&OPENCLAW_2026_4, BootstrapMode::None).is_none());
    for contract in [&CANONICAL, &OPENCLAW_2026_2, &OPENCLAW_2026_9, &ATMOSPHERE] {
        assert!(
            notice(contract, BootstrapMode::Full).is_none(),
            "{}",
            contract.name
        );
    }
    assert!(keys(&OPENCLAW_2026_9, &rich()).contains(&"bootstrap"));
    let with_file = |bootstrap_file| PromptFacts {
        bootstrap_file,
        ..harbor()
    };
    let reminded = joined(&OPENCLAW_2026_2, &with_file(true));
    assert!(reminded.len() > joined(&OPENCLAW_2026_2, &with_file(false)).len());
    assert_eq!(
        joined(&CANONICAL, &with_file(true)),
        joined(&CANONICAL, &with_file(false))
    );
}

#[test]
fn equal_facts_give_equal_bytes() {
    for contract in ALL {
        for facts in [PromptFacts::default(), harbor(), rich()] {
            assert_eq!(joined(contract, &facts), joined(contract, &facts.clone()));
        }
    }
}

#[test]
fn what_changes_from_turn_to_turn_stands_below_the_boundary() {
    let before = rich();
    let after = PromptFacts {
        date: Some("2026-03-03".into()),
        extra: Some("The group is called Pier 5 now.".into()),
        host: HostFacts {
            model: Some("anthropic/other".into()),
            shell: Some("zsh".into()),
            ..before.host.clone()
        },
        ..before.clone()
    };
    for contract in [&CANONICAL, &OPENCLAW_2026_4, &OPENCLAW_2026_9] {
        let (above, below) = halves(contract, &before);
        let (above_next, below_next) = halves(contract, &after);
        assert_eq!(above, above_next, "{}", contract.name);
        assert_ne!(below, below_next, "{}", contract.name);
        let parts = sections(&contract.prompt, &before);
        let cached = parts
            .iter()
            .take_while(|part| !matches!(part, Placed::Slot(Slot::Boundary)));
        for part in cached {
            if let Placed::Section(fragment) = part {
                assert_ne!(fragment.cache, CacheClass::Dynamic, "{:?}", fragment.origin);
            }
        }
    }
}

#[test]
fn our_own_words_stay_cheap() {
    let own = |contract: &Contract, facts: &PromptFacts| -> usize {
        fragments(contract, facts)
            .iter()
            .flat_map(|fragment| fragment.pieces.iter())
            .filter(|piece| piece.source == FragmentSource::Ours)
            .map(|piece| Size::of(piece.text.as_str()).units)
            .sum()
    };
    let full = own(&CANONICAL, &harbor());
    let minimal = own(
        &CANONICAL,
        &PromptFacts {
            mode: PromptMode::Minimal,
            ..harbor()
        },
    );
    assert!(full < 2_500, "{full} units on every turn");
    assert!(
        minimal < 1_500,
        "{minimal} units on every turn of a spawned run"
    );
    for contract in ALL {
        let most = own(contract, &rich());
        assert!(most < 6_500, "{}: {most} units", contract.name);
    }
}

#[test]
fn sizes_and_sources_are_told() {
    for fragment in fragments(&CANONICAL, &harbor()) {
        assert_eq!(fragment.injected, Size::of(&fragment.text()));
        assert_eq!(fragment.role, FragmentRole::System);
        for piece in &*fragment.pieces {
            assert!(matches!(
                piece.source,
                FragmentSource::Ours | FragmentSource::Given
            ));
        }
    }
}

proptest! {
    #[test]
    fn a_value_never_starts_a_line_of_its_own(value in "\\PC{0,20}[\n\r\u{2028}]{1,3}## \\PC{1,20}") {
        let facts = PromptFacts {
            tools: vec![tool(&value, &value)],
            workspace: value.as_str().into(),
            owners: vec![value.clone()],
            time_zone: Some(value.as_str().into()),
            date: Some(value.as_str().into()),
            channel: Some(value.as_str().into()),
            documentation: Some(value.as_str().into()),
            model_aliases: vec![ModelAlias { alias: value.as_str().into(), model: value.as_str().into() }],
            host: HostFacts { model: Some(value.as_str().into()), ..HostFacts::default() },
            ..PromptFacts::default()
        };
        let harmless = PromptFacts {
            tools: vec![tool("x", "x")],
            workspace: "x".into(),
            owners: vec!["x".to_owned()],
            time_zone: Some("x".into()),
            date: Some("x".into()),
            channel: Some("x".into()),
            documentation: Some("x".into()),
            model_aliases: vec![ModelAlias { alias: "x".into(), model: "x".into() }],
            host: HostFacts { model: Some("x".into()), ..HostFacts::default() },
            ..PromptFacts::default()
        };
        for contract in ALL {
            let lines = |facts| joined(contract, facts).split(['\n', '\r', '\u{2028}']).count();
            prop_assert_eq!(lines(&facts), lines(&harmless));
        }
    }

    #[test]
    fn no_section_begins_or_ends_with_a_line_break(text in "\\s{0,3}\\PC{0,40}\\s{0,3}") {
        let facts = PromptFacts {
            extra: Some(text.as_str().into()),
            skills: Some(text.as_str().into()),
            voice: Some(text.as_str().into()),
            ..rich()
        };
        for contract in ALL {
            for fragment in fragments(contract, &facts) {
                let text = fragment.text();
                prop_assert!(!text.is_empty() && text.trim() == text, "{:?}", text);
            }
        }
    }
}
