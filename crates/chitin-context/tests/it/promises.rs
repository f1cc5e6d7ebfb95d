//! What holds for every context, whatever it was made of. The fuzz target of the same name checks it too.

use chitin_context::budget::embedded;
use chitin_context::cache::{common_prefix, volatile_above_boundary};
use chitin_context::explain::Whence;
use chitin_context::files::FileOutcome;
use chitin_context::view::{FileState, view};
use chitin_context::{
    BudgetDecision, Context, FragmentOrigin, FragmentRole, FragmentSource, Size, tokens,
};
use chitin_contract::{CutRule, PairRule, TotalCause};
use std::collections::BTreeSet;

/// Every name that some contract loads.
pub(crate) const NAMES: [&str; 9] = [
    "AGENTS.md",
    "SOUL.md",
    "TOOLS.md",
    "IDENTITY.md",
    "USER.md",
    "HEARTBEAT.md",
    "BOOTSTRAP.md",
    "MEMORY.md",
    "memory.md",
];

/// Panics when a promise is broken.
pub(crate) fn check(context: &Context) {
    fragments_make_the_prompt(context);
    sources_are_true(context);
    regions_tile_every_file(context);
    budgets_hold(context);
    the_report_adds_up(context);
    views_agree(context);
    lines_lead_to_files_and_back(context);
    let prefix = common_prefix(context, context);
    assert_eq!(prefix.bytes, context.system().len());
    assert_eq!(prefix.broken_by, None);
}

fn fragments_make_the_prompt(context: &Context) {
    let system = context.system();
    let mut joined = String::new();
    for fragment in &context.fragments {
        let text = fragment.text();
        assert_eq!(fragment.injected.bytes, text.len());
        // A release that counts the half of a character which a cut has lost has one at either side of it.
        let lost = fragment.injected.units - Size::of(&text).units;
        let halves = match (&fragment.decision, context.contract.budgets.pairs) {
            (BudgetDecision::BuiltIn, _) | (_, PairRule::LeftOut) => 0,
            (_, PairRule::HalfCounts) => 2,
        };
        assert!(lost <= halves, "{lost} units too many in {text:?}");
        if fragment.role == FragmentRole::System {
            joined.push_str(&text);
        }
    }
    assert_eq!(system, joined);
    if let Some(boundary) = context.boundary() {
        assert!(system[boundary..].starts_with("\n<!-- "));
    }
    let above = context.boundary().unwrap_or(0);
    let mut at = 0;
    for (index, fragment) in context.fragments.iter().enumerate() {
        if volatile_above_boundary(context).contains(&index) {
            assert!(at < above);
        }
        at += fragment.injected.bytes;
    }
}

/// Each file that is in has a fragment of its own, whose pieces are what they say.
fn sources_are_true(context: &Context) {
    let mut seen = BTreeSet::new();
    for (record, outcome) in context.files.outcomes.iter().enumerate() {
        let is_in = matches!(outcome, FileOutcome::In { .. });
        let Some((index, fragment)) = context.fragment_of(record) else {
            // The barest prompt has no place for files.
            assert!(!is_in || files_are_nowhere(context));
            let why = context.why_left_out(record);
            assert!(why.is_some_and(|why| !why.is_empty()));
            continue;
        };
        assert!(is_in && context.why_left_out(record).is_none());
        assert!(seen.insert(index), "two files share a fragment");
        let text = context.files.records[record]
            .content()
            .map_or("", |content| &*content.text);
        for piece in &*fragment.pieces {
            match piece.source {
                FragmentSource::File { start, end } => {
                    assert_eq!(piece.text.as_str(), &text[start..end]);
                }
                FragmentSource::Rewritten { start, end } => {
                    assert!(!text[start..end].trim().is_empty());
                }
                FragmentSource::Ours | FragmentSource::Given => {}
            }
        }
    }
    let of_files = |index: &usize| {
        matches!(
            context.fragments[*index].origin,
            FragmentOrigin::File { .. }
        )
    };
    let all: BTreeSet<usize> = (0..context.fragments.len()).filter(of_files).collect();
    assert_eq!(seen, all);
}

fn files_are_nowhere(context: &Context) -> bool {
    context
        .fragments
        .iter()
        .all(|fragment| !matches!(fragment.origin, FragmentOrigin::File { .. }))
}

fn regions_tile_every_file(context: &Context) {
    for (at, record) in context.files.records.iter().enumerate() {
        let regions = context.regions(at);
        let Some(read) = record.content() else {
            assert!(regions.is_empty());
            continue;
        };
        let mut end = 0;
        let mut kept = 0;
        for region in &regions {
            assert_eq!(region.start, end, "{regions:?}");
            assert!(region.start < region.end || read.text.is_empty());
            if region.missing.is_none() {
                kept += region.end - region.start;
            }
            end = region.end;
        }
        assert_eq!(end, read.text.len(), "{regions:?}");
        let shown: BTreeSet<usize> = context
            .fragment_of(at)
            .into_iter()
            .flat_map(|(_, fragment)| fragment.pieces.iter())
            .flat_map(|piece| match piece.source {
                FragmentSource::File { start, end } => start..end,
                FragmentSource::Ours | FragmentSource::Given | FragmentSource::Rewritten { .. } => {
                    0..0
                }
            })
            .collect();
        assert_eq!(kept, shown.len(), "{regions:?}");
    }
}

fn budgets_hold(context: &Context) {
    let (contract, limits) = (context.contract, &context.limits);
    let mut sum = 0;
    for file in &context.files.files {
        let record = &context.files.records[file.record];
        let measure = limits.measure(&file.body);
        sum += measure;
        let whole = embedded(record, contract).map(|body| body.text());
        match &file.decision {
            BudgetDecision::Whole => assert_eq!(Some(file.body.text()), whole),
            BudgetDecision::Cut { causes, .. } => assert!(!causes.is_empty()),
            BudgetDecision::Missing | BudgetDecision::Refused { .. } => {
                assert_eq!(whole, None);
                continue;
            }
            BudgetDecision::BuiltIn => unreachable!("files are not built in"),
        }
        if contract.budgets.cut == CutRule::Fitted && limits.plan_for(&file.path) != Some(0) {
            let bound = limits.of_record(record).max(1);
            assert!(measure <= bound, "{measure} of {bound}: {file:?}");
        }
    }
    if let (CutRule::Fitted, Some(total)) = (contract.budgets.cut, limits.total) {
        assert!(sum <= total.max(1), "{sum} of {total}");
    }
}

fn the_report_adds_up(context: &Context) {
    let report = &context.files.report;
    let present = || report.files.iter().filter(|file| file.present);
    assert_eq!(report.raw, present().map(|file| file.raw).sum::<usize>());
    if context.contract.budgets.total_cause == TotalCause::Untold {
        return;
    }
    assert_eq!(
        report.injected,
        present().map(|file| file.injected).sum::<usize>()
    );
    for file in &report.files {
        assert_eq!(file.truncated, file.present && file.injected < file.raw);
        assert!(file.truncated || file.causes.is_empty());
    }
    let told = report.warning_lines(context.contract, &context.limits);
    assert_eq!(told.is_empty(), report.truncated().next().is_none());
}

fn views_agree(context: &Context) {
    let system = context.system();
    let view = view(context, &mut tokens::estimate);
    assert_eq!(view.total.bytes, system.len());
    let mut at = 0;
    let in_system = view
        .fragments
        .iter()
        .filter(|one| one.role == FragmentRole::System);
    for (shown, fragment) in in_system.zip(context.system_fragments()) {
        assert_eq!(shown.start, at);
        assert_eq!(system[shown.start..shown.end], fragment.text());
        let lead = shown.start + fragment.lead.len();
        assert_eq!(shown.line, 1 + system[..lead].matches('\n').count());
        at = shown.end;
    }
    assert_eq!(at, system.len());
    for (file, record) in view.files.iter().zip(&context.files.records) {
        let says_why = match file.state {
            FileState::Whole => false,
            FileState::Cut | FileState::Missing | FileState::Refused | FileState::LeftOut => true,
        };
        assert_eq!(says_why, !file.reason.is_empty(), "{file:?}");
        assert!(file.state != FileState::Whole || record.content().is_some());
    }
}

/// How many lines at either end of a prompt are followed; what is between them is more of the same.
const FOLLOWED: usize = 60;

fn lines_lead_to_files_and_back(context: &Context) {
    let system = context.system();
    let lines: Vec<&str> = system.split('\n').collect();
    // A release that asks for the last zero units shows some text twice.
    let repeats = context.contract.budgets.cut == CutRule::FixedShares;
    let ends = (0..lines.len()).filter(|at| *at < FOLLOWED || at + FOLLOWED > lines.len());
    for at in ends {
        let number = at + 1;
        let explained = context.explain_prompt_line(number);
        assert!(explained.is_some(), "line {number} is not explained");
        let Some(explained) = explained else { continue };
        assert_eq!(explained.text, lines[at]);
        let parts: String = explained.parts.iter().map(|part| &*part.text).collect();
        assert_eq!(parts, lines[at]);
        assert!(!explained.parts.is_empty() || number == lines.len());
        for part in &explained.parts {
            assert_eq!(context.fragments[part.fragment].role, FragmentRole::System);
            let Whence::File { path, line } = &part.from else {
                continue;
            };
            let found = context.explain_file_line(path, *line).unwrap_or_default();
            let leads_back = found.iter().any(|one| {
                let back = one.prompt_line;
                back == Some(number) || repeats || (!one.whole && back <= Some(number))
            });
            assert!(leads_back, "{number}: {explained:?} but {found:?}");
        }
    }
    assert_eq!(context.explain_prompt_line(lines.len() + 1), None);
    assert_eq!(context.explain_prompt_line(0), None);
}
