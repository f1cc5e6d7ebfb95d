//! What never happens, tried on arbitrary workspaces.

use crate::given::{Given, extra, file, missing, oversize, refused};
use crate::promises::{self, NAMES};
use chitin_context::budget::{BudgetLimits, LimitUnit};
use chitin_context::cache::common_prefix;
use chitin_context::degrade::{ShrinkPlan, assemble_within};
use chitin_context::memory_results::{self, MemoryResult};
use chitin_context::sections::{PromptFacts, PromptMode};
use chitin_context::{Assembler, TellCuts, tokens};
use chitin_contract::{ALL, ATMOSPHERE, CANONICAL, Contract};
use chitin_protocol::record::FileRefusal;
use chitin_workspace::adapter::{Sections, system_prompt};
use chitin_workspace::filter::{ContextMode, RunKind, TurnFacts};
use chitin_workspace::seed::BootstrapMode;
use chitin_workspace::snapshot::Record;
use proptest::prelude::*;
use proptest::sample::select;
use std::sync::Arc;

/// What texts are made of: every kind of line end, blank, width and rule.
const SCRAPS: [&str; 22] = [
    "a",
    "word ",
    "\n",
    "\r\n",
    "\n\n\n\n",
    "😀",
    "語",
    "é",
    "\u{0}",
    "\u{feff}",
    "\u{a0}\u{3000}",
    "\u{85}",
    "\u{1}",
    "---\n",
    "name: x\n---\n",
    "- never push\n",
    "必須 tell\n",
    "```\n",
    "\n- entry <!-- project: other -->\n  more of it\n",
    "\nDefault heartbeat prompt:\n`Read HEARTBEAT.md if it exists; else HEARTBEAT_OK.`\n",
    "prose before\n# Heading\n",
    "A rather long line which says that tests must be run before anything is committed to the repository.\n",
];

fn text() -> impl Strategy<Value = String> {
    let scraps = prop::collection::vec(select(&SCRAPS[..]), 0..30);
    (scraps, prop_oneof![4 => Just(1usize), 1 => 1usize..40])
        .prop_map(|(scraps, times)| scraps.concat().repeat(times))
}

fn record(name: &'static str) -> impl Strategy<Value = Record> {
    prop_oneof![
        6 => text().prop_map(move |text| file(name, text)),
        1 => text().prop_map(move |text| oversize(name, &text, 4_000_000)),
        1 => Just(missing(name)),
        1 => select(vec![FileRefusal::OutsideRoot, FileRefusal::TooLarge])
            .prop_map(move |reason| refused(name, reason)),
    ]
}

fn records() -> impl Strategy<Value = Vec<Record>> {
    let each: Vec<_> = NAMES
        .iter()
        .map(|name| prop::option::weighted(0.7, record(name)))
        .collect();
    each.prop_map(|found| found.into_iter().flatten().collect())
}

fn extras() -> impl Strategy<Value = Vec<Record>> {
    let one = (select(vec!["a", "B", "_", "a/b"]), select(&NAMES[..8])).prop_flat_map(
        |(directory, name)| record(name).prop_map(move |found| extra(directory, found)),
    );
    prop::collection::vec(one, 0..4)
}

fn bound() -> impl Strategy<Value = usize> {
    prop_oneof![
        0usize..90,
        60usize..900,
        0usize..6000,
        usize::MAX - 3..=usize::MAX
    ]
}

fn limits() -> impl Strategy<Value = BudgetLimits> {
    (
        select(vec![LimitUnit::Characters, LimitUnit::Tokens]),
        bound(),
        prop::option::weighted(0.8, bound()),
        prop::option::of(bound()),
        prop::collection::vec((select(&NAMES[..]).prop_map(str::to_owned), bound()), 0..2),
    )
        .prop_map(|(unit, per_file, total, user, files)| BudgetLimits {
            unit,
            per_file,
            total,
            user,
            files,
            planned: Vec::new(),
        })
}

fn facts() -> impl Strategy<Value = TurnFacts<'static>> {
    let keys = vec![
        None,
        Some("agent:main:main"),
        Some("agent:main:subagent:1"),
        Some("agent:main:cron:nightly"),
        Some("agent:main:telegram:group:7"),
    ];
    let injection = vec![None, Some("continuation-skip"), Some("never"), Some("odd")];
    (select(keys), select(injection), any::<[bool; 6]>()).prop_map(
        |(session_key, context_injection, [marked, light, heartbeat, done, full, off])| TurnFacts {
            session_key,
            context_injection,
            marked,
            context_mode: if light && heartbeat {
                ContextMode::Lightweight
            } else {
                ContextMode::Full
            },
            run_kind: if heartbeat {
                RunKind::Heartbeat
            } else {
                RunKind::Default
            },
            setup_complete: done,
            bootstrap_full: full,
            heartbeat_off: off,
            ..TurnFacts::default()
        },
    )
}

fn prompt() -> impl Strategy<Value = Arc<PromptFacts>> {
    let modes = vec![
        PromptMode::Full,
        PromptMode::Full,
        PromptMode::Minimal,
        PromptMode::None,
    ];
    let pending = vec![BootstrapMode::None, BootstrapMode::Full];
    (
        select(modes),
        select(pending),
        prop::option::of(Just("tides".into())),
    )
        .prop_map(|(mode, bootstrap, extra)| {
            Arc::new(PromptFacts {
                mode,
                bootstrap,
                extra,
                workspace: "/w".into(),
                ..PromptFacts::default()
            })
        })
}

fn memory() -> impl Strategy<Value = Vec<MemoryResult>> {
    let one = (text(), -1.0f64..1.0).prop_map(|(snippet, score)| MemoryResult {
        path: "memory/2026-03-01.md".to_owned(),
        start_line: 1,
        end_line: 2,
        score,
        snippet,
    });
    prop::collection::vec(one, 0..2)
}

fn given_under(contract: impl Strategy<Value = &'static Contract>) -> impl Strategy<Value = Given> {
    (
        contract,
        records(),
        extras(),
        facts(),
        limits(),
        prompt(),
        memory(),
        any::<bool>(),
    )
        .prop_map(
            |(contract, records, extras, facts, limits, prompt, memory, tells)| Given {
                extras,
                facts,
                limits,
                prompt,
                memory,
                cuts: if tells { TellCuts::Yes } else { TellCuts::No },
                projects: vec!["mine".to_owned()],
                ..Given::new(contract, records)
            },
        )
}

fn given() -> impl Strategy<Value = Given> {
    given_under(select(&ALL[..]))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_context_keeps_every_promise(given in given()) {
        promises::check(&given.context());
    }

    /// Plans shorten, and promises hold for what they make too.
    #[test]
    fn a_plan_takes_as_few_steps_as_it_can(
        given in given(),
        name in select(&ShrinkPlan::NAMES[..]),
        allowed in 0usize..4000,
    ) {
        let plan = ShrinkPlan::built_in(name).unwrap();
        let (context, degraded) = assemble_within(&given.turn(), &plan, allowed);
        promises::check(&context);
        prop_assert!(degraded.fits() || degraded.taken == plan.steps.len());
        if degraded.taken > 0 {
            let fewer = ShrinkPlan { steps: plan.steps[..degraded.taken - 1].to_vec(), ..plan };
            let (_, before) = assemble_within(&given.turn(), &fewer, allowed);
            prop_assert!(!before.fits());
        }
    }

    /// Remembering what did not change makes no difference to what comes out.
    #[test]
    fn the_assembler_says_what_assembling_anew_says(
        base in given(),
        turns in prop::collection::vec((0u8..8, extras(), facts(), limits(), prompt(), memory(), record("MEMORY.md")), 1..7),
    ) {
        let mut assembler = Assembler::default();
        let mut given = base;
        for (what, extras, facts, limits, prompt, memory, edited) in turns {
            match what {
                0 => given.extras = extras,
                1 => given.facts = facts,
                2 => given.limits = limits,
                3 => given.prompt = prompt,
                4 => given.memory = memory,
                5 => {
                    let mut records = given.workspace.records().to_vec();
                    records.retain(|record| *record.name != *"MEMORY.md");
                    records.push(edited);
                    given = given.reread(records);
                }
                6 => given.limits.per_file /= 2,
                _ => {}
            }
            let (kept, fresh) = (assembler.assemble(&given.turn()), given.context());
            prop_assert_eq!(kept.system(), fresh.system());
            prop_assert_eq!(kept.user_message("hi"), fresh.user_message("hi"));
            prop_assert_eq!(&kept.files.outcomes, &fresh.files.outcomes);
            prop_assert_eq!(&kept.files.report, &fresh.files.report);
            prop_assert_eq!(&kept.files.warnings, &fresh.files.warnings);
            let again = assembler.assemble(&given.turn());
            prop_assert!(Arc::ptr_eq(&kept, &again));
        }
    }

    /// Where files stand has nothing to do with the order in which they were found.
    #[test]
    fn the_order_of_loading_does_not_move_files_of_the_prompt(
        given in given_under(Just(&CANONICAL)),
        turn in 0usize..9,
    ) {
        let mut given = given;
        given.limits = BudgetLimits { total: None, ..BudgetLimits::of(&CANONICAL) };
        given.extras.dedup_by(|one, other| one.path == other.path);
        let mut records = given.workspace.records().to_vec();
        let by = turn.min(records.len());
        records.rotate_left(by);
        let other = given.reread(records);
        prop_assert_eq!(given.context().system(), other.context().system());
    }

    /// An edit leaves every byte before its file alone.
    #[test]
    fn an_edit_breaks_the_prefix_at_its_own_file(
        given in given_under(Just(&CANONICAL)),
        at in 0usize..9,
        added in text(),
    ) {
        let mut given = given;
        given.limits = BudgetLimits { total: None, per_file: 1_000_000, ..BudgetLimits::of(&CANONICAL) };
        let mut records = given.workspace.records().to_vec();
        let at = at.min(records.len());
        records.truncate(at);
        records.push(file("TOOLS.md", "Begin."));
        given = given.reread(records.clone());
        records[at] = file("TOOLS.md", format!("Begin.{added}."));
        let (before, after) = (given.context(), given.reread(records).context());
        let prefix = common_prefix(&before, &after);
        let (left, right) = (before.system(), after.system());
        prop_assert_eq!(&left[..prefix.bytes], &right[..prefix.bytes]);
        if let (Some((index, _)), Some(broken)) = (after.fragment_of(at), &prefix.broken_by)
            && before.fragment_of(at).is_some()
        {
            prop_assert_eq!(broken.after, Some(index));
            let start: usize = after.fragments[..index].iter().map(|one| one.injected.bytes).sum();
            prop_assert!(prefix.bytes >= start);
        }
    }

    /// Two ways to the same text: the adapter composes strings, the context composes fragments.
    #[test]
    fn the_composition_is_the_adapters(
        identity in text(), persona in text(), user in text(), rules in text(),
    ) {
        let records = vec![
            file("IDENTITY.md", identity.clone()),
            file("SOUL.md", persona.clone()),
            file("USER.md", user.clone()),
            file("AGENTS.md", rules.clone()),
        ];
        let composed = system_prompt(Sections {
            identity: &identity,
            persona: &persona,
            user_profile: &user,
            operating_rules: &rules,
        });
        let system = Given::new(&ATMOSPHERE, records).context().system();
        prop_assert!(system.ends_with(&composed), "{:?} is not the end of {:?}", composed, system);
        prop_assert!(!composed.is_empty() || !system.contains("## Identity"));
    }
}

proptest! {
    /// What memory may take is a bound, and a result is shown with the lines that it has.
    #[test]
    fn results_of_memory_never_take_more_than_their_tokens(
        snippets in proptest::collection::vec("(\\PC{0,40}\n){0,12}\\PC{0,40}", 0..6),
        most in 0_usize..400,
    ) {
        let results: Vec<MemoryResult> = snippets
            .iter()
            .map(|snippet| MemoryResult {
                path: "memory/2026-03-01.md".to_owned(),
                start_line: 7,
                end_line: 6 + snippet.split('\n').count() as u64,
                score: 0.5,
                snippet: snippet.clone(),
            })
            .collect();
        let kept = memory_results::within(results.clone(), most);
        let block: String = memory_results::pieces(&kept).iter().map(|piece| piece.text.as_str().to_owned()).collect();
        prop_assert!(kept.is_empty() || tokens::estimate(&block) <= most);
        for (kept, given) in kept.iter().zip(&results) {
            prop_assert!(given.snippet.starts_with(&kept.snippet));
            prop_assert_eq!(kept.end_line, 6 + kept.snippet.split('\n').count() as u64);
        }
    }
}
