//! When a prompt is too large for its window: files shrink by plan, step by step, and never in silence.

use crate::given::{Given, extra, file};
use chitin_context::budget::LimitUnit;
use chitin_context::degrade::{ShrinkPlan, ShrinkStep, Which, assemble_within};
use chitin_context::view::{FileState, view};
use chitin_context::{BudgetDecision, CutCause, tokens};
use chitin_contract::{CANONICAL, OPENCLAW_2026_9};
use std::fmt::Write as _;

fn harbor() -> Given {
    let text = |what: &str, times: usize| format!("A line about the {what}.\n").repeat(times);
    let mut given = Given::new(
        &CANONICAL,
        vec![
            file("AGENTS.md", text("rules", 60)),
            file("SOUL.md", "Calm."),
            file("MEMORY.md", text("tides", 150)),
        ],
    );
    given.extras = vec![extra("docs", file("AGENTS.md", text("boats", 80)))];
    given
}

#[expect(clippy::unwrap_used, reason = "the plan is built in")]
fn memory_first() -> ShrinkPlan {
    ShrinkPlan::built_in("memory-first").unwrap()
}

#[test]
fn a_prompt_that_fits_is_left_alone() {
    let (context, degraded) = assemble_within(&harbor().turn(), &memory_first(), 1_000_000);
    assert_eq!((degraded.taken, degraded.before), (0, degraded.after));
    assert_eq!(context.system(), harbor().context().system());
}

/// The tighter the window, the more steps; each shortens what it names and nothing else.
#[test]
fn steps_are_taken_in_order_until_the_prompt_fits() {
    let mut told = String::new();
    for allowed in [2500, 2000, 1500, 1200, 900, 100] {
        let (context, degraded) = assemble_within(&harbor().turn(), &memory_first(), allowed);
        let _ = writeln!(
            told,
            "{allowed}: {} steps, fits: {}",
            degraded.taken,
            degraded.fits()
        );
        for file in view(&context, &mut tokens::estimate).files {
            let _ = writeln!(told, "  {} {:?} {}", file.path, file.state, file.reason);
        }
    }
    insta::assert_snapshot!(told);
}

/// An extra file may have the name of one in the root. Leaving it out leaves the other alone.
#[test]
fn a_step_about_extras_does_not_touch_the_root_file_of_the_same_name() {
    let plan = ShrinkPlan {
        name: "no-extras".to_owned(),
        steps: vec![ShrinkStep {
            files: vec![Which::Extras],
            keep: 0,
        }],
    };
    let (context, degraded) = assemble_within(&harbor().turn(), &plan, 1);
    assert_eq!((degraded.taken, degraded.fits()), (1, false));
    assert_eq!(context.files.files[0].decision, BudgetDecision::Whole);
    let left = &context.files.files[3];
    assert_eq!(
        left.decision,
        BudgetDecision::Cut {
            limit: 0,
            causes: vec![CutCause::Plan]
        }
    );
    assert!(left.body.text().starts_with("[LEFT OUT]"));
    assert!(context.system().contains("Read it at: /w/docs/AGENTS.md"));
    let shown = view(&context, &mut tokens::estimate);
    assert_eq!(shown.files[3].state, FileState::Cut);
    insta::assert_snapshot!(shown.files[3].reason, @"truncated to 0: the plan for small windows shortens it");
    let figures = &context.files.report.files[3];
    assert!(figures.truncated);
    assert_eq!(figures.causes, [CutCause::Plan]);
    let line = context.explain_file_line("docs/AGENTS.md", 1).unwrap();
    assert_eq!(
        line[0].reasons,
        ["cut: the plan for small windows shortens it"]
    );
}

/// To say that a file was left out takes a line; a file that is shorter than that stays.
#[test]
fn a_short_file_is_not_replaced_by_a_longer_excuse() {
    let plan = ShrinkPlan {
        name: "nothing".to_owned(),
        steps: vec![ShrinkStep {
            files: vec![Which::All],
            keep: 0,
        }],
    };
    let (context, _) = assemble_within(&harbor().turn(), &plan, 1);
    let decisions: Vec<_> = context
        .files
        .files
        .iter()
        .map(|file| file.body.text())
        .collect();
    assert_eq!(decisions[1], "Calm.");
    assert!(decisions[0].starts_with("[LEFT OUT]"));
    assert!(decisions[2].starts_with("[LEFT OUT]"));
}

/// Even lines that say what is left out come out of the limit of all files.
#[test]
fn plans_and_totals_hold_together() {
    let mut given = harbor();
    given.limits.total = Some(2000);
    let plan = ShrinkPlan {
        name: "nothing".to_owned(),
        steps: vec![ShrinkStep {
            files: vec![Which::parse("MEMORY.md")],
            keep: 0,
        }],
    };
    let (context, _) = assemble_within(&given.turn(), &plan, 1);
    assert!(context.files.report.injected <= 2000);
    assert_eq!(context.files.report.files[0].causes, []);
}

/// Scripts in which every character is a token are measured as such.
#[test]
fn plans_work_in_tokens_and_in_other_scripts() {
    let text = "港口的潮汐表每天早上更新。\n".repeat(60);
    let mut given = Given::new(
        &OPENCLAW_2026_9,
        vec![file("AGENTS.md", text.clone()), file("MEMORY.md", text)],
    );
    given.limits.unit = LimitUnit::Tokens;
    let whole = tokens::estimate(&given.context().system());
    let (context, degraded) = assemble_within(&given.turn(), &memory_first(), whole - 200);
    assert!(degraded.fits() && degraded.taken == 1, "{degraded:?}");
    assert_eq!(context.files.files[0].decision, BudgetDecision::Whole);
    assert!(context.system().contains("truncated MEMORY.md"));
}
