//! Contexts of arbitrary texts, limits and turns, by every contract and in both units.

use crate::novelty;
use crate::recipe::Recipe;
use chitin_context::budget::{BudgetLimits, LimitUnit};
use chitin_context::degrade::{ShrinkPlan, assemble_within};
use chitin_context::files::FileOutcome;
use chitin_context::memory_results::MemoryResult;
use chitin_context::sections::{PromptFacts, PromptMode};
use chitin_context::{Assembler, BudgetDecision, TellCuts, TurnInputs, assemble};
use chitin_contract::ALL;
use chitin_protocol::record::{FileRefusal, OversizeFile};
use chitin_workspace::Workspace;
use chitin_workspace::filter::TurnFacts;
use chitin_workspace::snapshot::{FileContent, Record, RecordState};
use std::sync::Arc;

/// What holds for every context; the tests of the crate check it too.
#[path = "../../chitin-context/tests/it/promises.rs"]
mod promises;

/// What rules and cuts look for.
pub const DICTIONARY: &[&str] = &[
    "\n",
    "\r\n",
    "\n\n\n\n",
    "---\n",
    "\u{c}",
    "\u{1f600}",
    "\u{feff}",
    "\u{85}",
    "\u{a0}",
    "\u{0}",
    "- must never\n",
    "- entry <!-- project: b -->\n",
    "  continued\n",
    "Default heartbeat prompt:\n`Read HEARTBEAT.md if it exists; else HEARTBEAT_OK.`\n",
    "```\n",
    "# AGENTS.md\n",
    "禁止",
];

/// Takes choices from the first line, then one text per form feed.
pub fn run(data: &[u8]) {
    let mut choices = Recipe::new(Recipe::new(data).line());
    let contract = ALL[usize::from(choices.byte()) % ALL.len()];
    let limits = limits(&mut choices);
    let (mode, injection) = (choices.byte(), choices.byte());
    let (plan, allowed) = (choices.byte(), usize::from(choices.byte()) * 32);
    let first_line = data.iter().position(|byte| *byte == b'\n');
    let texts = first_line.map_or(&[][..], |end| &data[end + 1..]);
    let mut records = Vec::new();
    let mut extras = Vec::new();
    for (at, text) in texts.split(|byte| *byte == 0xc).enumerate().take(16) {
        let (found, is_extra) = record(at, choices.byte(), text);
        if is_extra {
            extras.push(found);
        } else {
            records.push(found);
        }
    }
    let snippet = extras
        .first()
        .and_then(|one| one.content())
        .map(|one| one.text.to_string());
    let memory: Vec<MemoryResult> = snippet
        .into_iter()
        .map(|snippet| MemoryResult {
            path: "memory/a.md".to_owned(),
            start_line: 1,
            end_line: 1,
            score: f64::from(mode) / 3.0,
            snippet,
        })
        .collect();
    let prompt = Arc::new(PromptFacts {
        mode: [PromptMode::Full, PromptMode::Minimal, PromptMode::None][usize::from(mode % 3)],
        ..PromptFacts::default()
    });
    let facts = TurnFacts {
        context_injection: [None, Some("continuation-skip"), Some("never")]
            [usize::from(injection % 3)],
        marked: injection & 4 != 0,
        bootstrap_full: injection & 8 != 0,
        ..TurnFacts::default()
    };
    let workspace = Arc::new(Workspace::from_records("/w", contract, records));
    let turn = TurnInputs {
        workspace: &workspace,
        extras: &extras,
        facts: &facts,
        limits: &limits,
        projects: &[],
        prompt: &prompt,
        memory: &memory,
        cuts: TellCuts::Yes,
    };
    check(&turn, plan, allowed);
}

fn check(turn: &TurnInputs<'_>, plan: u8, allowed: usize) {
    let context = assemble(turn);
    promises::check(&context);
    for (at, outcome) in context.files.outcomes.iter().enumerate() {
        let decision = context
            .fragment_of(at)
            .map(|(_, fragment)| match &fragment.decision {
                BudgetDecision::BuiltIn => 0,
                BudgetDecision::Whole => 1,
                BudgetDecision::Cut { .. } => 2,
                BudgetDecision::Missing => 3,
                BudgetDecision::Refused { .. } => 4,
            });
        let regions = context.regions(at).len().min(6);
        novelty::note((
            matches!(outcome, FileOutcome::LeftOut(_)),
            decision,
            regions,
        ));
    }
    let mut assembler = Assembler::default();
    let first = assembler.assemble(turn);
    assert_eq!(first.system(), context.system());
    assert!(Arc::ptr_eq(&first, &assembler.assemble(turn)));
    let half = BudgetLimits {
        per_file: turn.limits.per_file / 2,
        ..turn.limits.clone()
    };
    let halved = TurnInputs {
        limits: &half,
        ..*turn
    };
    assert_eq!(
        assembler.assemble(&halved).system(),
        assemble(&halved).system()
    );
    if let Some(plan) =
        ShrinkPlan::built_in(ShrinkPlan::NAMES[usize::from(plan) % ShrinkPlan::NAMES.len()])
    {
        let (context, degraded) = assemble_within(turn, &plan, allowed);
        promises::check(&context);
        assert!(degraded.fits() || degraded.taken == plan.steps.len());
        novelty::note((degraded.taken, degraded.fits()));
    }
}

fn limits(choices: &mut Recipe<'_>) -> BudgetLimits {
    let unit = if choices.byte().is_multiple_of(2) {
        LimitUnit::Characters
    } else {
        LimitUnit::Tokens
    };
    let per_file = bound(choices).unwrap_or(usize::MAX);
    let (total, user) = (bound(choices), bound(choices));
    let files = bound(choices).map(|bound| ("SOUL.md".to_owned(), bound));
    BudgetLimits {
        unit,
        per_file,
        total,
        user,
        files: files.into_iter().collect(),
        planned: Vec::new(),
    }
}

/// A small bound, a larger one, one without end, or none.
fn bound(choices: &mut Recipe<'_>) -> Option<usize> {
    match choices.byte() {
        0..16 => None,
        16..24 => Some(usize::MAX),
        byte @ 24..160 => Some(usize::from(byte - 24)),
        byte => Some(usize::from(byte - 160) * 24),
    }
}

fn record(at: usize, kind: u8, text: &[u8]) -> (Record, bool) {
    let name = promises::NAMES[(at + usize::from(kind >> 5)) % promises::NAMES.len()];
    let extra = kind & 8 != 0;
    let content = FileContent {
        oversize: (kind & 4 != 0).then_some(OversizeFile {
            size: 3_000_000,
            kept: text.len() as u64,
        }),
        ..FileContent::in_memory(String::from_utf8_lossy(text))
    };
    let state = match kind & 3 {
        2 if kind & 16 != 0 => RecordState::Missing,
        3 if kind & 16 != 0 => RecordState::Refused(FileRefusal::TooLarge),
        _ => RecordState::Present(Arc::new(content)),
    };
    let directory = if extra { "/w/a" } else { "/w" };
    let record = Record {
        name: name.into(),
        path: format!("{directory}/{name}").into(),
        state,
        extra,
    };
    (record, extra)
}
