//! Payload log, raw stream log, cache trace and summaries.

use super::{EVERYTHING, Plan, Scene, lines, order};
use chitin_agent::journal::TurnMoment;
use chitin_contract::TraceRules;
use chitin_model::Api;
use serde_json::json;

#[test]
fn the_payload_log_holds_the_bytes_that_were_sent_and_their_digest() {
    let scene = Scene::new(TraceRules::OPENCLAW_2026_4);
    let mut journal = scene.journal(&EVERYTHING);
    let bodies = scene.turn(&mut journal, &Plan::default());
    let text = scene.env.read("state/logs/anthropic-payload.jsonl");
    let records = scene.log("anthropic-payload.jsonl");
    assert_eq!(order(&records, "stage"), "request request usage");
    for (line, body) in text.lines().zip(&bodies) {
        assert!(line.contains(body), "to the byte");
    }
    // The usage is that of the last call, not of all.
    assert_eq!(records[2]["usage"]["cacheRead"], 40);
    assert_eq!(records[2]["usage"]["input"], 100);
}

#[test]
fn the_seeds_want_answers_too_and_every_wire_format() {
    let plan = Plan {
        api: Api::Ollama,
        ..Plan::default()
    };
    for (rules, expected) in [
        (
            TraceRules::CANONICAL,
            "request response request response usage",
        ),
        (TraceRules::OPENCLAW_2026_4, ""),
        (TraceRules::OPENCLAW_2026_9, ""),
    ] {
        let scene = Scene::new(rules);
        scene.turn(&mut scene.journal(&EVERYTHING), &plan);
        assert_eq!(
            order(&scene.log("anthropic-payload.jsonl"), "stage"),
            expected
        );
    }
}

#[test]
fn an_answer_is_logged_with_the_bytes_that_came_over_the_wire_and_so_is_a_failure() {
    let scene = Scene::new(TraceRules::CANONICAL);
    let mut journal = scene.journal(&EVERYTHING);
    let plan = Plan::default();
    scene.begin(&mut journal, &plan);
    let messages = [chitin_protocol::message::Message::user("hi", super::NOON)];
    scene.request(&mut journal, &plan, 1, &messages);
    let tee = journal.tee().unwrap();
    tee.0.as_ref()(b"event: message_st");
    tee.0.as_ref()(b"art\n\n<html>");
    journal.observe(TurnMoment::NotAnswered {
        call: 1,
        error: "not understood",
    });
    let records = scene.log("anthropic-payload.jsonl");
    assert_eq!(records[1]["error"], "not understood");
    assert_eq!(records[1]["raw"], "event: message_start\n\n<html>");

    // Contracts without answers, and journals without a payload log, want no copy of the stream.
    let silent = Scene::new(TraceRules::OPENCLAW_2026_9);
    assert!(silent.journal(&EVERYTHING).tee().is_none());
    assert!(scene.journal(&[]).tee().is_none());
}

#[test]
fn the_raw_stream_keeps_the_order_and_tells_of_tools_where_the_contract_does() {
    for (rules, expected) in [
        (
            TraceRules::OPENCLAW_2026_4,
            "text_start text_delta text_delta text_end - text_start text_delta text_delta text_end -",
        ),
        (
            TraceRules::OPENCLAW_2026_9,
            "text_start text_delta text_delta text_end commentary_update - \
             text_start text_delta text_delta text_end -",
        ),
        (
            TraceRules::CANONICAL,
            "text_start text_delta text_delta text_end toolcall_start toolcall_end - - \
             text_start text_delta text_delta text_end -",
        ),
    ] {
        let scene = Scene::new(rules);
        scene.turn(&mut scene.journal(&EVERYTHING), &Plan::default());
        let records = scene.log("raw-stream.jsonl");
        assert_eq!(order(&records, "evtType"), expected);
        let times: Vec<i64> = records
            .iter()
            .map(|one| one["ts"].as_i64().unwrap())
            .collect();
        assert!(times.is_sorted(), "lines stand in the order of their times");
    }
}

#[test]
fn the_cache_trace_has_its_stages_in_order() {
    for (rules, expected) in [
        (
            TraceRules::OPENCLAW_2026_4,
            "session:loaded session:sanitized session:limited cache:state prompt:before prompt:images \
             stream:context stream:context session:after cache:result",
        ),
        (
            TraceRules::OPENCLAW_2026_9,
            "session:loaded session:sanitized session:limited prompt:before prompt:images \
             cache:state stream:context cache:result cache:state stream:context cache:result session:after",
        ),
    ] {
        let scene = Scene::new(rules);
        scene.turn(&mut scene.journal(&EVERYTHING), &Plan::default());
        let records = scene.log("cache-trace.jsonl");
        assert_eq!(order(&records, "stage"), expected);
        let numbers = records.iter().map(|one| one["seq"].as_u64().unwrap());
        assert!(numbers.eq(1..=records.len() as u64));
        let context = records
            .iter()
            .find(|one| one["stage"] == "stream:context")
            .unwrap();
        assert_eq!(
            context["options"]["breakpoints"],
            json!(["system[0]", "messages[0]"])
        );
    }
}

#[test]
fn a_cache_that_lost_its_prefix_is_told_with_what_changed() {
    let scene = Scene::new(TraceRules::OPENCLAW_2026_9);
    let mut journal = scene.journal(&EVERYTHING);
    scene.turn(&mut journal, &Plan::default());
    let edited = Plan {
        run_id: "run-2".to_owned(),
        system: "Be very brief.".to_owned(),
        cache_read: [0, 0],
        ..Plan::default()
    };
    scene.turn(&mut journal, &edited);
    let records = scene.log("cache-trace.jsonl");
    let results: Vec<_> = records
        .iter()
        .filter(|one| one["stage"] == "cache:result")
        .map(|one| &one["options"])
        .collect();
    let broke: Vec<_> = results.iter().map(|one| &one["broke"]).collect();
    assert_eq!(broke, [false, false, true, false]);
    assert_eq!(results[2]["changes"][0]["code"], "systemPrompt");
    assert_eq!(results[2]["previousCacheRead"], 40);
    assert!(results[3]["changes"].is_null());
}

#[test]
fn what_the_user_did_not_ask_for_is_left_out_of_the_cache_trace() {
    let scene = Scene::new(TraceRules::CANONICAL);
    let variables = [
        ("OPENCLAW_CACHE_TRACE", "yes"),
        ("CHITIN_CACHE_TRACE_MESSAGES", "0"),
    ];
    scene.turn(&mut scene.journal(&variables), &Plan::default());
    for record in scene.log("cache-trace.jsonl") {
        for absent in ["system", "prompt", "messages"] {
            assert!(record.get(absent).is_none(), "{absent} in {record}");
        }
    }
    let loaded = &scene.log("cache-trace.jsonl")[0];
    assert_eq!(loaded["systemDigest"].as_str().unwrap().len(), 64);
    assert_eq!(loaded["messageCount"], 0);
}

#[test]
fn a_fingerprint_does_not_depend_on_the_order_of_fields() {
    let prints = |line: &str| {
        let scene = Scene::new(TraceRules::OPENCLAW_2026_4);
        let plan = Plan {
            history: vec![serde_json::from_str(line).unwrap()],
            ..Plan::default()
        };
        scene.turn(&mut scene.journal(&EVERYTHING), &plan);
        scene.log("cache-trace.jsonl")[0]["messageFingerprints"].clone()
    };
    let one = prints(r#"{"role":"user","content":"hi","timestamp":1}"#);
    assert_eq!(
        one,
        prints(r#"{"timestamp":1,"content":"hi","role":"user"}"#)
    );
    assert_ne!(
        one,
        prints(r#"{"timestamp":1,"content":"ho","role":"user"}"#)
    );
}

#[test]
fn summaries_say_sizes_then_tools_then_the_body() {
    let said = |detail: &str| {
        let scene = Scene::new(TraceRules::CANONICAL);
        let variables = [("OPENCLAW_DEBUG_MODEL_PAYLOAD", detail)];
        scene.turn(&mut scene.journal(&variables), &Plan::default());
        let said = scene.summaries.lock().unwrap().clone();
        assert!(scene.notes.lock().unwrap().is_empty());
        said
    };
    assert_eq!(said("summary").len(), 2);
    assert!(said("summary")[0].contains("messages=1 (user:1) tools=2"));
    assert!(said("tools")[1].ends_with("tools count=2 names=write,read"));
    let full = said("full-redacted");
    assert!(full[2].contains("What is in the note?"), "{}", full[2]);
}

#[test]
fn openclaws_switch_for_summaries_holds_where_its_contract_has_it_and_ours_everywhere() {
    let said = |rules: TraceRules, name: &str, api: Api| {
        let scene = Scene::new(rules);
        let plan = Plan {
            api,
            ..Plan::default()
        };
        scene.turn(&mut scene.journal(&[(name, "summary")]), &plan);
        scene.summaries.lock().unwrap().len()
    };
    let (theirs, ours) = ("OPENCLAW_DEBUG_MODEL_PAYLOAD", "CHITIN_DEBUG_MODEL_PAYLOAD");
    let anthropic = Api::AnthropicMessages;
    assert_eq!(said(TraceRules::OPENCLAW_2026_4, theirs, anthropic), 0);
    assert_eq!(said(TraceRules::OPENCLAW_2026_4, ours, anthropic), 2);
    assert_eq!(said(TraceRules::OPENCLAW_2026_9, theirs, anthropic), 0);
    assert_eq!(
        said(TraceRules::OPENCLAW_2026_9, theirs, Api::OpenaiResponses),
        2
    );
}

#[test]
fn a_file_that_the_user_names_is_used_and_no_other() {
    let scene = Scene::new(TraceRules::OPENCLAW_2026_4);
    let variables = [
        ("OPENCLAW_RAW_STREAM", "on"),
        ("OPENCLAW_RAW_STREAM_PATH", "~/deep/below/stream.jsonl"),
        ("OPENCLAW_TRAJECTORY", "0"),
    ];
    scene.turn(&mut scene.journal(&variables), &Plan::default());
    let named = scene.env.home().join("deep/below/stream.jsonl");
    assert_eq!(lines(&named).len(), 10);
    assert!(!scene.state().exists());
}
