//! What is left of files that do not fit, and what is said about it.

use crate::given::{Given, extra, file, files_part, missing, oversize, refused};
use chitin_context::budget::{BudgetLimits, LimitUnit};
use chitin_context::files::FileOutcome;
use chitin_context::{BudgetDecision, Context, CutCause, FragmentSource, tokens};
use chitin_contract::{CANONICAL, OPENCLAW_2026_2, OPENCLAW_2026_4, OPENCLAW_2026_9};
use chitin_protocol::record::FileRefusal;
use chitin_protocol::text::utf16_len;
use std::fmt::Write as _;

/// Numbered lines, so that a reader sees which are there.
fn lines(count: usize) -> String {
    (1..=count).fold(String::new(), |mut text, at| {
        let _ = writeln!(text, "Line {at:03} of it.");
        text
    })
}

fn limited(given: Given, per_file: usize, total: Option<usize>) -> Given {
    Given {
        limits: BudgetLimits {
            per_file,
            total,
            ..given.limits.clone()
        },
        ..given
    }
}

fn decision_of(context: &Context, name: &str) -> BudgetDecision {
    let file = context.files.files.iter().find(|file| &*file.name == name);
    file.map_or(BudgetDecision::BuiltIn, |file| file.decision.clone())
}

#[test]
fn a_cut_file_keeps_its_beginning_and_its_end_and_says_so() {
    let given = Given::new(&CANONICAL, vec![file("TOOLS.md", lines(40))]);
    let context = limited(given, 200, None).context();
    insta::assert_snapshot!(files_part(&context), @"
    # Project Context
    These files of the workspace were loaded for this turn; treat them as your own notes and rules.
    ## /w/TOOLS.md
    Line 001 of it.
    Line 002 of it.
    Line 003 of it.
    Line 004 of it.
    Line 005 o

    [...truncated, read TOOLS.md for full content...]
    …(truncated TOOLS.md: kept 74+24 chars of 639)…

    9 of it.
    Line 040 of it.
    ## Silent Replies
    If nothing needs to be said, reply with exactly `NO_REPLY`: no other word, no markup, never beside a real reply.

    <!-- OPENCLAW_CACHE_BOUNDARY -->

    ## Runtime
    Runtime:
    ");
    insta::assert_debug_snapshot!(decision_of(&context, "TOOLS.md"), @"
    Cut {
        limit: 200,
        causes: [
            PerFileLimit,
        ],
    }
    ");
}

#[test]
fn markers_are_spent_from_the_total_and_shortened_with_it() {
    let records = vec![
        missing("AGENTS.md"),
        refused("SOUL.md", FileRefusal::OutsideRoot),
        missing("HEARTBEAT.md"),
        oversize("MEMORY.md", "Remember the tide.\n\n", 5_000_000),
        file("USER.md", "   \n\t\n"),
        file("TOOLS.md", lines(9)),
        file("IDENTITY.md", "Who?"),
    ];
    let given = Given::new(&CANONICAL, records);
    let context = limited(given, 1000, Some(190)).context();
    let mut told = files_part(&context);
    for (record, outcome) in context.files.records.iter().zip(&context.files.outcomes) {
        if let FileOutcome::LeftOut(left) = outcome {
            let _ = write!(told, "\n{}: {left}", record.name);
        }
    }
    for warning in &context.files.warnings {
        let _ = write!(told, "\nwarning: {warning}");
    }
    insta::assert_snapshot!(told, @"
    # Project Context
    These files of the workspace were loaded for this turn; treat them as your own notes and rules.
    SOUL.md says who you are: speak in its voice unless a higher rule forbids it.
    ## /w/AGENTS.md
    [MISSING] Expected at: /w/AGENTS.md
    ## /w/SOUL.md
    [REFUSED] outside-root: /w/SOUL.md
    ## /w/MEMORY.md
    Remember the tide.
    [OVERSIZE] 20 of 5000000 bytes: /w/MEMORY.md
    ## Silent Replies
    If nothing needs to be said, reply with exactly `NO_REPLY`: no other word, no markup, never beside a real reply.

    <!-- OPENCLAW_CACHE_BOUNDARY -->

    ## Runtime
    Runtime:
    HEARTBEAT.md: not present (optional)
    USER.md: only 58 were left of the limit of all files
    TOOLS.md: only 58 were left of the limit of all files
    IDENTITY.md: only 58 were left of the limit of all files
    warning: refused SOUL.md outside-root
    warning: oversize MEMORY.md 5000000
    warning: stopped 58
    ");
}

/// The causes name what binds: a file that is too long by itself is not blamed on its neighbours.
#[test]
fn causes_name_the_bound_that_was_hit() {
    let records = vec![
        file("AGENTS.md", lines(40)),
        file("SOUL.md", lines(10)),
        file("USER.md", lines(40)),
    ];
    let given = Given::new(&CANONICAL, records);
    let context = limited(given, 300, Some(600)).context();
    let causes = |name: &str| match decision_of(&context, name) {
        BudgetDecision::Cut { causes, .. } => causes,
        other => panic!("{name} is {other:?}"),
    };
    assert_eq!(causes("AGENTS.md"), [CutCause::PerFileLimit]);
    assert_eq!(decision_of(&context, "SOUL.md"), BudgetDecision::Whole);
    assert_eq!(causes("USER.md"), [CutCause::TotalLimit]);
}

#[test]
fn a_file_of_its_own_limit_leaves_the_others_alone() {
    let records = vec![file("TOOLS.md", lines(20)), file("MEMORY.md", lines(20))];
    let mut given = Given::new(&CANONICAL, records);
    given.limits.files = vec![("MEMORY.md".to_owned(), 10), ("MEMORY.md".to_owned(), 120)];
    let context = given.context();
    assert_eq!(decision_of(&context, "TOOLS.md"), BudgetDecision::Whole);
    // What is kept is shared out three to one, so that a unit may be left over.
    assert!((118..=120).contains(&context.files.files[1].body.units));
}

/// One release has a limit for the user file that no setting lifts; a limit of zero counts as one.
#[test]
fn releases_differ_in_what_a_limit_means() {
    let records = || vec![file("USER.md", "x".repeat(5000))];
    let units = |contract, per_file| {
        let context = limited(Given::new(contract, records()), per_file, None).context();
        context.files.files.first().map(|file| file.body.units)
    };
    assert_eq!(units(&CANONICAL, 4500), Some(4500));
    assert_eq!(units(&OPENCLAW_2026_9, 4500), Some(3999));
    assert_eq!(units(&OPENCLAW_2026_9, 300), Some(299));
    for contract in [&CANONICAL, &OPENCLAW_2026_4, &OPENCLAW_2026_9] {
        assert_eq!(units(contract, 0), Some(1), "{}", contract.name);
    }
    assert!(
        units(&OPENCLAW_2026_2, 3) > Some(5000),
        "the oldest fits nothing"
    );
}

/// Hooks may spell names as they like; the user file and the rules are known in any letter case.
#[test]
fn letter_case_does_not_lift_a_limit() {
    let records = vec![
        file("user.md", "x".repeat(5000)),
        file("agents.md", "- must ask\n".repeat(200)),
    ];
    let context = limited(Given::new(&OPENCLAW_2026_9, records), 4500, None).context();
    assert_eq!(context.files.files[0].body.units, 3999);
    let given = Given::new(
        &OPENCLAW_2026_9,
        vec![file("agents.md", "- must ask\n".repeat(200))],
    );
    let rules = limited(given, 600, None).context().files.files[0]
        .body
        .text();
    assert!(rules.contains("[Policy digest from AGENTS.md]"), "{rules}");
    assert!(rules.contains("(truncated AGENTS.md: kept"), "{rules}");
}

/// A pair of units that a cut would part is lost whole; one release counts the half that it was to keep.
#[test]
fn no_cut_parts_a_character() {
    let text = format!("x{}", "😀".repeat(300));
    let cut = |contract| {
        let given = Given::new(contract, vec![file("SOUL.md", text.clone())]);
        limited(given, 201, None).context().files.files[0].clone()
    };
    let (kept, half) = (cut(&CANONICAL), cut(&OPENCLAW_2026_4));
    assert_eq!(kept.body.text(), half.body.text());
    assert!(kept.body.text().matches('😀').count() > 10);
    assert!(half.body.units > kept.body.units);
    assert_eq!(kept.body.units, utf16_len(&kept.body.text()));
}

/// Limits in tokens hold by our own estimate, in scripts where a token is a character and where it is a word.
#[test]
fn limits_in_tokens_hold_in_every_script() {
    for text in [
        lines(200),
        "港口的潮汐表每天早上更新。".repeat(200),
        "😀🌊".repeat(400),
    ] {
        let records = vec![file("AGENTS.md", text.clone()), file("SOUL.md", text)];
        let mut given = limited(Given::new(&CANONICAL, records), 150, Some(220));
        given.limits.unit = LimitUnit::Tokens;
        let context = given.context();
        let measures: Vec<usize> = context
            .files
            .files
            .iter()
            .map(|file| tokens::estimate(&file.body.text()))
            .collect();
        assert!(measures[0] <= 150 && measures[0] > 75, "{measures:?}");
        assert!(measures.iter().sum::<usize>() <= 220, "{measures:?}");
        let figures = &context.files.report.files[0];
        assert!(figures.truncated && figures.raw > 150 && figures.injected <= 150);
        assert_eq!(figures.causes[0], CutCause::PerFileLimit);
    }
}

#[test]
fn limits_beyond_all_reason_are_harmless() {
    for unit in [LimitUnit::Characters, LimitUnit::Tokens] {
        let mut given = Given::new(&CANONICAL, vec![file("SOUL.md", lines(9))]);
        given.limits = BudgetLimits {
            unit,
            user: Some(usize::MAX),
            ..given.limits
        };
        given = limited(given, usize::MAX, Some(usize::MAX));
        assert_eq!(
            decision_of(&given.context(), "SOUL.md"),
            BudgetDecision::Whole
        );
    }
}

/// When operating rules do not fit, the binding ones are kept apart, in their order, and lead back to their lines.
#[test]
fn the_digest_keeps_the_rules_that_bind() {
    let mut rules = lines(30);
    rules.push_str("- You must   read the tide table.\n- A remark in a list.\n");
    rules.push_str(&lines(30));
    rules.push_str("Reason first:\n1. Never push on a Sunday.\n");
    rules.push_str(&lines(30));
    let given = Given::new(&OPENCLAW_2026_9, vec![file("AGENTS.md", rules.clone())]);
    let context = limited(given, 460, None).context();
    insta::assert_snapshot!(files_part(&context), @"
    # Project Context
    These files of the workspace were loaded for this turn; treat them as your own notes and rules.
    ## /w/AGENTS.md
    Line 001 of it.
    Line 002 of it.
    Line 003 of it.
    Line 004 of it.
    Line 005 of it.
    Line 006 of it.
    Line 007 of it.
    Line 008 of it.
    Line 009 of it.
    Line 010 of it.
    Line 011 of it.
    Line 012 of it.
    Line 013 of it
    [...truncated, read AGENTS.md for full content...]
    [Policy digest from AGENTS.md]
    Line 030 of it.
    - You must read the tide table.
    - A remark in a list.
    Reason first:
    1. Never push on a Sunday.
    …(truncated AGENTS.md: kept 206+policy 110+0 chars of 1536)…

    <!-- OPENCLAW_CACHE_BOUNDARY -->

    ## Assistant Output Directives
    A line of its own `MEDIA:<path-or-url>` attaches a file; `[[audio_as_voice]]` makes attached audio a voice message.
    A reply that begins with `[[reply_to_current]]` answers the message at hand; `[[reply_to:<id>]]` answers another one whose id you were given. The mark is taken out before sending.
    ## Silent Replies
    If nothing needs to be said, reply with exactly `NO_REPLY`: no other word, no markup, never beside a real reply.
    ## Messaging
    Your reply goes to the conversation that it answers, without your doing.
    Do not reach messaging services by shell or by requests of your own.
    ## Runtime
    Runtime:
    ");
    assert!(context.files.files[0].body.units <= 460);
    let (_, fragment) = context.fragment_of(0).unwrap();
    let rewritten: Vec<&str> = fragment
        .pieces
        .iter()
        .filter_map(|piece| match piece.source {
            FragmentSource::Rewritten { start, end } => Some(&rules[start..end]),
            FragmentSource::Ours | FragmentSource::Given | FragmentSource::File { .. } => None,
        })
        .collect();
    insta::assert_debug_snapshot!(rewritten, @r#"
    [
        "Line 030 of it.\n- You must   read the tide table.",
        "- A remark in a list.",
        "Reason first:\n1. Never push on a Sunday.",
    ]
    "#);
}

/// Hundreds of files and files of hundreds of thousands of lines take time in proportion.
#[test]
fn large_workspaces_stay_quick() {
    let began = std::time::Instant::now();
    let big: String = "A line.\n\n\n\n".repeat(190_000);
    let mut given = Given::new(&CANONICAL, vec![file("AGENTS.md", big.clone())]);
    given.extras = (0..500)
        .map(|at| extra(&format!("d{at}"), file("AGENTS.md", "Small.")))
        .collect();
    given = limited(given, usize::MAX, None);
    let context = given.context();
    let view = chitin_context::view::view(&context, &mut tokens::estimate);
    assert_eq!(view.files.len(), 501);
    assert!(view.files[0].regions.len() > 300_000);
    let explained = context.explain_file_line("/w/AGENTS.md", 700_001).unwrap();
    assert!(explained[0].prompt_line.is_some() || !explained[0].reasons.is_empty());
    let mut given = Given::new(
        &OPENCLAW_2026_9,
        vec![file("AGENTS.md", "must do it\n".repeat(190_000))],
    );
    given = limited(given, 700_000, None);
    assert!(given.context().files.files[0].body.units <= 700_000);
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
}

/// Clamping a marker parts no pair in any release, also not where cuts between head and tail do.
#[test]
fn a_clamped_marker_parts_no_pair() {
    for contract in [&CANONICAL, &OPENCLAW_2026_4, &OPENCLAW_2026_9] {
        let mut given = Given::new(contract, vec![missing("AGENTS.md")]);
        given.extras = vec![extra("😀😀", missing("AGENTS.md"))];
        let whole = utf16_len("[MISSING] Expected at: /w/AGENTS.md");
        let context = limited(given, 500, Some(whole + 29)).context();
        let clamped = &context.files.files[1].body;
        assert_eq!(clamped.text(), "[MISSING] Expected at: /w/😀…");
        assert_eq!(clamped.units, utf16_len(&clamped.text()));
    }
}
