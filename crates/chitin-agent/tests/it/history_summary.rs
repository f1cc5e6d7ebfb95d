//! Compaction from start to end, with a model that works, one that fails, and conversations that do not fit.

use crate::history_odd::{RULES, branch, record, turn};
use chitin_agent::compat::SUMMARY_SECTIONS;
use chitin_agent::engine::{
    CompactError, CompactOrder, Compacted, CompactionOutcome, Summarizer, SummaryError, When,
    compact,
};
use chitin_agent::history::{
    Assembling, Author, Compacting, PlanOptions, SummaryRequest, branch_tokens, messages_for_model,
};
use chitin_contract::{HistoryRules, SummaryRules};
use chitin_protocol::message::Message;
use chitin_protocol::text::utf16_len;
use chitin_protocol::transcript::{EntryBody, TranscriptEntry};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use proptest::prelude::*;
use serde_json::json;
use std::sync::Mutex;

const RULES_HERE: HistoryRules = HistoryRules::CANONICAL;

/// Answers with what it is told to, and remembers what it was asked.
struct Scripted {
    answer: Result<String, SummaryError>,
    asked: Mutex<Vec<SummaryRequest>>,
}

impl Scripted {
    fn new(answer: Result<&str, SummaryError>) -> Self {
        Self {
            answer: answer.map(str::to_owned),
            asked: Mutex::new(Vec::new()),
        }
    }

    fn asked(&self) -> Vec<SummaryRequest> {
        self.asked.lock().unwrap().clone()
    }
}

impl Summarizer for Scripted {
    fn summarize(&self, request: SummaryRequest) -> BoxFuture<'_, Result<String, SummaryError>> {
        self.asked.lock().unwrap().push(request);
        let answer = self.answer.clone();
        async move { answer }.boxed()
    }
}

fn order<'a>(
    branch: &'a [TranscriptEntry],
    window: u64,
    keep: u64,
    rules: &'a HistoryRules,
) -> CompactOrder<'a> {
    let mut options = PlanOptions::new(window);
    options.compacting = Compacting {
        enabled: true,
        reserve_tokens: window / 10,
        keep_recent_tokens: keep,
    };
    options.preserved_turns = 1;
    CompactOrder {
        branch,
        tokens: branch_tokens(branch, rules).total(),
        options,
        overhead_tokens: 0,
        when: When::Now,
        rules,
    }
}

fn done(outcome: CompactionOutcome) -> Compacted {
    let compacted = match outcome {
        CompactionOutcome::Compacted(compacted) => Ok(*compacted),
        CompactionOutcome::Nothing { reason } => Err(reason),
    };
    compacted.unwrap()
}

fn run(order: &CompactOrder<'_>, summarizer: &Scripted) -> Result<CompactionOutcome, CompactError> {
    compact(order, summarizer).now_or_never().unwrap()
}

fn conversation(turns: usize) -> Vec<TranscriptEntry> {
    (0..turns)
        .flat_map(|number| turn(number, &"word ".repeat(100), &"data ".repeat(100)))
        .collect()
}

#[test]
fn a_summary_is_asked_for_and_stored_with_files_turns_and_rules() {
    let branch = conversation(8);
    let mut order = order(&branch, 100_000, 600, &RULES_HERE);
    order.options.agents_file = Some("## Red Lines\nnever on Sundays\n");
    order.options.instructions = Some("mind the winch");
    let model = Scripted::new(Ok("## Decisions\nthe hull is nylon"));
    let compacted = done(run(&order, &model).unwrap());
    let asked = model.asked();
    assert!(
        asked[0]
            .user
            .starts_with("<conversation>\n[User]: ask 0: word")
    );
    assert!(
        asked[0]
            .user
            .contains("[Assistant calls]: read(path=\"file-0.txt\")")
    );
    assert!(asked[0].user.contains("mind the winch"));
    assert!(!asked[0].user.contains("<previous-summary>"));
    let headings = SUMMARY_SECTIONS.map(|section| asked[0].user.find(section).unwrap());
    assert!(headings.is_sorted());
    let record = &compacted.record;
    assert!(
        record
            .summary
            .starts_with("## Decisions\nthe hull is nylon\n\n")
    );
    assert!(
        record
            .summary
            .contains("## Recent turns preserved verbatim\n- User: ask")
    );
    assert!(record.summary.contains("<read-files>\nfile-0.txt\n"));
    assert!(
        record
            .summary
            .ends_with("## Red Lines\nnever on Sundays\n</workspace-critical-rules>")
    );
    assert_eq!(record.details.as_ref().unwrap()["summaryBy"], "model");
    assert_eq!(record.tokens_before, order.tokens);
    assert!(compacted.tokens_after < record.tokens_before);
    assert!(
        branch
            .iter()
            .any(|entry| entry.id == record.first_kept_entry_id)
    );
}

#[test]
fn a_later_summary_brings_the_earlier_one_up_to_date() {
    let mut branch = conversation(6);
    let first = done(
        run(
            &order(&branch, 100_000, 600, &RULES_HERE),
            &Scripted::new(Ok("first notes")),
        )
        .unwrap(),
    );
    let kept = branch
        .iter()
        .position(|entry| entry.id == first.record.first_kept_entry_id)
        .unwrap();
    branch.push(TranscriptEntry {
        extra: chitin_protocol::message::Extra::new(),
        id: "c1".to_owned(),
        parent_id: None,
        timestamp: String::new(),
        body: EntryBody::Compaction(first.record),
    });
    let again = run(
        &order(&branch, 100_000, 600, &RULES_HERE),
        &Scripted::new(Ok("x")),
    )
    .unwrap();
    assert!(
        matches!(again, CompactionOutcome::Nothing { .. }),
        "right after a compaction there is nothing to do"
    );
    for number in 6..12 {
        branch.extend(turn(number, &"word ".repeat(100), &"data ".repeat(100)));
    }
    let model = Scripted::new(Ok("second notes"));
    let second = done(run(&order(&branch, 100_000, 600, &RULES_HERE), &model).unwrap());
    let asked = &model.asked()[0].user;
    assert!(asked.contains("<previous-summary>\nfirst notes\n\n"));
    // It goes on where the earlier one stopped, and files are carried over.
    assert!(
        asked.contains("ask 5") && !asked.contains("ask 0: "),
        "{kept}"
    );
    assert!(second.record.summary.contains("file-0.txt"));
}

#[test]
fn a_turn_that_is_cut_in_two_is_summarised_apart() {
    let mut branch = vec![record(
        0,
        &json!({ "role": "user", "content": "move the buoy" }),
    )];
    for number in 1..40 {
        branch.extend(
            turn(number, "x", &"data ".repeat(60))
                .into_iter()
                .skip(1)
                .take(2),
        );
    }
    let model = Scripted::new(Ok("notes"));
    let compacted = done(run(&order(&branch, 100_000, 300, &RULES_HERE), &model).unwrap());
    let asked = model.asked();
    assert_eq!(asked.len(), 1, "there is no history before the turn");
    assert!(asked[0].user.contains("[User]: move the buoy"));
    assert!(
        compacted
            .record
            .summary
            .contains("\n\n**Turn Context (split turn):**\n\nnotes")
    );
}

#[test]
fn a_model_that_fails_leaves_what_the_records_say_and_that_is_told() {
    let branch = conversation(8);
    for failing in [
        Err(SummaryError::Failed("429 from the provider".to_owned())),
        Ok("  \n"),
    ] {
        let compacted = done(
            run(
                &order(&branch, 100_000, 600, &RULES_HERE),
                &Scripted::new(failing),
            )
            .unwrap(),
        );
        assert!(matches!(compacted.author, Author::Records { .. }));
        let details = compacted.record.details.unwrap();
        assert_eq!(details["summaryBy"], "records");
        assert!(
            details["summaryFailure"]
                .as_str()
                .is_some_and(|reason| !reason.is_empty())
        );
        assert!(
            SUMMARY_SECTIONS
                .iter()
                .all(|section| compacted.record.summary.contains(section))
        );
        assert!(
            compacted.record.summary.contains("ask 5: word"),
            "the last ask is there"
        );
    }
}

#[test]
fn somebody_who_stops_it_gets_no_record() {
    let branch = conversation(8);
    let outcome = run(
        &order(&branch, 100_000, 600, &RULES_HERE),
        &Scripted::new(Err(SummaryError::Cancelled)),
    );
    assert_eq!(outcome, Err(CompactError::Cancelled));
}

#[test]
fn nothing_happens_while_there_is_room() {
    let branch = conversation(2);
    let mut order = order(&branch, 100_000, 600, &RULES_HERE);
    order.when = When::IfNeeded;
    let model = Scripted::new(Ok("x"));
    assert!(matches!(
        run(&order, &model).unwrap(),
        CompactionOutcome::Nothing { .. }
    ));
    assert_eq!(model.asked(), []);
}

#[test]
fn less_is_kept_until_it_fits_and_the_model_is_asked_once() {
    let branch = conversation(30);
    // Everything is to be kept, but the window takes a small part of it.
    let order = order(&branch, 3000, 1_000_000, &RULES_HERE);
    let model = Scripted::new(Ok("notes"));
    let compacted = done(run(&order, &model).unwrap());
    assert!(compacted.tokens_after <= 2700, "{}", compacted.tokens_after);
    assert!(model.asked().len() <= 9, "{}", model.asked().len());
    assert!(
        model
            .asked()
            .iter()
            .all(|request| utf16_len(&request.user) < 3000 * 4)
    );
}

#[test]
fn a_newest_message_that_is_too_long_by_itself_is_a_clear_error() {
    let mut branch = conversation(3);
    branch.push(record(
        90,
        &json!({ "role": "user", "content": "word ".repeat(50_000) }),
    ));
    let model = Scripted::new(Ok("notes"));
    let error = run(&order(&branch, 10_000, 500, &RULES_HERE), &model).unwrap_err();
    assert!(
        matches!(
            error,
            CompactError::TooLong {
                needed: 60_000..,
                budget: 9000
            }
        ),
        "{error:?}"
    );
    assert_eq!(model.asked(), [], "the model is not asked in vain");
    assert!(error.to_string().contains("Start a new session"));
}

#[test]
fn a_long_tool_result_at_the_end_does_not_hold_a_compaction_up() {
    let mut branch = conversation(3);
    branch.extend(
        turn(50, "read it", &"data ".repeat(50_000))
            .into_iter()
            .take(3),
    );
    for rules in RULES {
        let compacted = done(
            run(
                &order(&branch, 40_000, 500, &rules),
                &Scripted::new(Ok("notes")),
            )
            .unwrap(),
        );
        assert_eq!(
            compacted.record.first_kept_entry_id, "r201",
            "the call stays with its result"
        );
    }
}

#[test]
fn a_compacted_branch_sends_the_summary_and_what_was_kept() {
    let mut branch = conversation(8);
    let compacted = done(
        run(
            &order(&branch, 100_000, 600, &RULES_HERE),
            &Scripted::new(Ok("notes")),
        )
        .unwrap(),
    );
    let first = compacted.record.first_kept_entry_id.clone();
    let kept = branch.iter().position(|entry| entry.id == first).unwrap();
    let expected = branch.len() - kept + 1;
    branch.push(TranscriptEntry {
        extra: chitin_protocol::message::Extra::new(),
        id: "c1".to_owned(),
        parent_id: None,
        timestamp: String::new(),
        body: EntryBody::Compaction(compacted.record),
    });
    let options = Assembling {
        window: 100_000,
        ..Assembling::default()
    };
    let sent = messages_for_model(&branch, &options, &RULES_HERE).messages;
    assert_eq!(sent.len(), expected);
    assert!(
        matches!(&sent[0], Message::User(user) if user.content.text().contains("<summary>\nnotes"))
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_branch_is_compacted_or_refused_and_that_ends(branch in branch(), window in 0u64..60_000, keep in 0u64..60_000, works in any::<bool>()) {
        for rules in RULES {
            let model = Scripted::new(if works { Ok("notes") } else { Err(SummaryError::Failed("no".to_owned())) });
            let order = order(&branch, window, keep, &rules);
            match run(&order, &model) {
                Ok(CompactionOutcome::Compacted(compacted)) => {
                    prop_assert!(utf16_len(&compacted.record.summary) <= SummaryRules::MAX_CHARS);
                    let kept = branch.iter().find(|entry| entry.id == compacted.record.first_kept_entry_id).unwrap();
                    prop_assert!(!matches!(&kept.body, EntryBody::Message(Message::ToolResult(_))));
                    prop_assert!(model.asked().len() <= 9);
                }
                Ok(CompactionOutcome::Nothing { .. }) | Err(CompactError::TooLong { .. }) => {}
                Err(CompactError::Cancelled) => prop_assert!(false, "nobody stopped it"),
            }
        }
    }
}
