//! A plugin as a context engine.

use crate::lab::{Lab, SESSION, block_on, talk};
use chitin_agent::engine::{
    CompactOrder, CompactionOutcome, EngineRegistry, Summarizer, SummaryError, When,
};
use chitin_agent::history::{Author, PlanOptions, SummaryRequest};
use chitin_contract::CANONICAL;
use chitin_protocol::message::Message;
use chitin_protocol::transcript::{EntryBody, TranscriptEntry};
use chitin_test::needs;
use futures_util::future::BoxFuture;

#[test]
fn the_example_engine_shows_the_first_message_and_the_newest() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let lab = Lab::new();
    lab.reload([lab.example("window", "window_engine.py")]);
    let messages: Vec<_> = (0..20)
        .map(|at| Message::user(format!("m{at}"), at))
        .collect();
    let context = lab.assemble(messages.clone()).unwrap();
    let mut expected = vec![messages[0].clone()];
    expected.extend_from_slice(&messages[12..]);
    assert_eq!(context.messages, expected);
    let addition = context.system_prompt_addition.unwrap();
    assert!(addition.contains("not shown: 11."), "{addition}");
    let short = lab.assemble(messages[..3].to_vec()).unwrap();
    assert_eq!(short.messages, messages[..3]);
    assert_eq!(short.system_prompt_addition, None);
}

#[test]
fn an_engine_is_registered_under_the_name_of_its_plugin_and_starts_when_it_is_asked() {
    let lab = Lab::with("");
    let mut registry = EngineRegistry::new();
    let taken = lab
        .set
        .register_engines(&mut registry, &lab.env.workspace());
    assert_eq!(taken, Vec::<String>::new());
    let resolved = registry.resolve("p").unwrap();
    assert_eq!((resolved.note, &*resolved.engine.info().id), (None, "p"));
    assert!(lab.set.status("p").unwrap().handshake.is_none());
    assert!(registry.resolve("q").unwrap().note.is_some());
}

#[test]
fn methods_that_an_engine_does_without_are_not_errors() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let lab = Lab::with("");
    let engine = lab.engine();
    block_on(async {
        assert!(!engine.bootstrap(SESSION, &[]).await.unwrap().bootstrapped);
        let message = Message::user("hi", 0);
        assert!(!engine.ingest(SESSION, &message).await.unwrap().ingested);
    });
    assert_eq!(engine.info().id, "p");
    let error = lab.assemble(talk()).unwrap_err().to_string();
    assert!(
        error.contains("`p`") && error.contains("assemble"),
        "{error}"
    );
}

#[test]
fn bootstrap_and_ingest_reach_the_plugin() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let lab = Lab::with(
        r#"
seen = []
def answer(method, params, id):
    assert params.get("session", {"key": "agent:main:main"})["key"] == "agent:main:main"
    if method == "engine/bootstrap":
        seen.extend(entry["message"]["content"] for entry in params["entries"])
        return {"bootstrapped": True, "importedMessages": len(seen)}
    if method == "engine/ingest": seen.append(params["message"]["content"]); return {"ingested": True}
    if method == "engine/assemble":
        return {"messages": [len(params["messages"]) - 1], "systemPromptAddition": "+".join(seen), "estimatedTokens": 7}
"#,
    );
    let engine = lab.engine();
    let branch = records(2);
    block_on(async {
        let done = engine.bootstrap(SESSION, &branch).await.unwrap();
        assert_eq!((done.bootstrapped, done.imported_messages), (true, Some(2)));
        let message = Message::user("new", 3);
        assert!(engine.ingest(SESSION, &message).await.unwrap().ingested);
    });
    let context = lab.assemble(talk()).unwrap();
    assert_eq!(context.messages, talk()[2..]);
    assert_eq!(context.estimated_tokens, 7);
    assert_eq!(context.system_prompt_addition.as_deref(), Some("r0+r1+new"));
}

struct Model;

impl Summarizer for Model {
    fn summarize(&self, _: SummaryRequest) -> BoxFuture<'_, Result<String, SummaryError>> {
        Box::pin(async { Ok("built in".to_owned()) })
    }
}

fn records(count: usize) -> Vec<TranscriptEntry> {
    let one = |at: usize| {
        let parent = at.checked_sub(1).map(|before| format!("e{before}"));
        let message = Message::user(format!("r{at}"), 0);
        TranscriptEntry::new(
            format!("e{at}"),
            parent,
            "2026-01-01T00:00:00.000Z".to_owned(),
            EntryBody::Message(message),
        )
    };
    (0..count).map(one).collect()
}

#[test]
fn compaction_is_the_engines_where_its_summary_fits_and_else_the_built_in_one() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let rules = &CANONICAL.runtime.history;
    let branch: Vec<_> = records(30);
    for (answer, by_engine, noted) in [
        (
            r#"{"outcome": "summary", "summary": "Sum.", "firstKeptEntryId": "e28"}"#,
            true,
            false,
        ),
        (r#"{"outcome": "builtIn"}"#, false, false),
        (
            r#"{"outcome": "summary", "summary": "Sum.", "firstKeptEntryId": "e99"}"#,
            false,
            true,
        ),
        (
            r#"{"outcome": "summary", "summary": "", "firstKeptEntryId": "e28"}"#,
            false,
            true,
        ),
        (r#"{"outcome": "summary", "summary": "Sum."}"#, false, true),
        (
            r#"{"outcome": "summary", "summary": "long " * 20000, "firstKeptEntryId": "e28"}"#,
            false,
            true,
        ),
        (r#"{"summary": "Sum."}"#, false, true),
    ] {
        let lab = Lab::with(&format!(
            "def answer(method, params, id):\n    if method == 'engine/compact': return {answer}"
        ));
        let mut options = PlanOptions::new(4_000);
        options.compacting.keep_recent_tokens = 2;
        let order = CompactOrder {
            branch: &branch,
            options,
            tokens: 3_900,
            overhead_tokens: 10,
            when: When::Now,
            rules,
        };
        let engine = lab.engine();
        let outcome = block_on(engine.compact(SESSION, &order, &Model)).unwrap();
        let CompactionOutcome::Compacted(compacted) = outcome else {
            panic!("{answer}: {outcome:?}");
        };
        assert_eq!(compacted.author == Author::Engine, by_engine, "{answer}");
        if by_engine {
            assert_eq!(compacted.record.summary, "Sum.");
            assert_eq!(compacted.record.first_kept_entry_id, "e28");
            assert_eq!(compacted.record.tokens_before, 3_900);
        } else {
            assert!(compacted.record.summary.contains("built in"), "{answer}");
        }
        assert_eq!(!lab.notes().is_empty(), noted, "{answer}");
    }
}

#[test]
fn a_future_that_is_dropped_leaves_the_engine_usable() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let lab = Lab::with(
        "def answer(method, params, id):\n    time.sleep(0.2)\n    if method == 'engine/assemble': return {'messages': [0, 1, 2]}",
    );
    let engine = lab.engine();
    block_on(async {
        let asked = engine.assemble(SESSION, crate::lab::assembly(talk()));
        let soon = std::time::Duration::from_millis(20);
        assert!(tokio::time::timeout(soon, asked).await.is_err());
    });
    assert_eq!(lab.assemble(talk()).unwrap().messages, talk());
}
