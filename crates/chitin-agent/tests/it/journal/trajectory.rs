//! Trajectories: where they are, what they say, how they are read back.

use super::{Plan, SESSION, Scene, events, order};
use chitin_agent::journal::{self, RunEnded, RunError, TurnMoment, TurnStop};
use chitin_contract::{OversizeEvents, TraceRules};
use chitin_protocol::message::Message;
use proptest::prelude::*;
use serde_json::{Value, json};

#[test]
fn a_turn_has_its_events_in_order() {
    let base = "session.started trace.metadata context.compiled prompt.submitted";
    let end = "model.completed trace.artifacts session.ended";
    for (rules, middle) in [
        (TraceRules::OPENCLAW_2026_4, " "),
        (TraceRules::OPENCLAW_2026_9, " tool.call tool.result "),
        (
            TraceRules::CANONICAL,
            " model.request tool.call tool.result model.request ",
        ),
    ] {
        let scene = Scene::new(rules);
        let mut journal = scene.journal(&[]);
        scene.turn(&mut journal, &Plan::default());
        let once = format!("{base}{middle}{end}");
        assert_eq!(order(&events(&scene.trajectory()), "type"), once);
        let second = Plan {
            run_id: "run-2".to_owned(),
            ..Plan::default()
        };
        scene.turn(&mut journal, &second);
        let events = events(&scene.trajectory());
        assert_eq!(order(&events, "type"), format!("{once} {once}"));
        assert_eq!(events[events.len() / 2]["seq"], 1, "every turn counts anew");
    }
}

#[test]
fn it_stands_where_the_contract_or_the_user_says() {
    let scene = Scene::new(TraceRules::CANONICAL);
    let logs = scene.state().join("logs/trajectory");
    assert_eq!(scene.trajectory(), logs.join(format!("{SESSION}.jsonl")));

    let beside = Scene::new(TraceRules::OPENCLAW_2026_4);
    beside.turn(&mut beside.journal(&[]), &Plan::default());
    let sessions = beside.state().join("agents/main/sessions");
    let file = sessions.join(format!("{SESSION}.trajectory.jsonl"));
    assert_eq!(beside.trajectory(), file);
    let pointer = std::fs::read(sessions.join(format!("{SESSION}.trajectory-path.json"))).unwrap();
    let pointer: Value = serde_json::from_slice(&pointer).unwrap();
    assert_eq!(
        pointer,
        json!({
            "traceSchema": "openclaw-trajectory-pointer",
            "schemaVersion": 1,
            "sessionId": SESSION,
            "runtimeFile": file.to_str(),
        })
    );

    let named = Scene::new(TraceRules::OPENCLAW_2026_4);
    let variables = [("OPENCLAW_TRAJECTORY_DIR", "kept")];
    named.turn(&mut named.journal(&variables), &Plan::default());
    let kept = named.env.path().join(format!("kept/{SESSION}.jsonl"));
    assert_eq!(events(&kept).len(), 7);
}

#[test]
fn it_says_what_the_turn_cost_and_how_it_ended() {
    let scene = Scene::new(TraceRules::CANONICAL);
    let mut journal = scene.journal(&[]);
    scene.turn(&mut journal, &Plan::default());
    let events = events(&scene.trajectory());
    let artifacts = &events[9]["data"];
    assert_eq!(
        artifacts["usage"],
        json!({"input": 200, "output": 20, "cacheRead": 40, "cacheWrite": 0, "total": 260, "cost": {"total": 0.5}})
    );
    assert_eq!(
        artifacts["toolMetas"],
        json!([{"toolName": "read", "meta": "from note.txt"}])
    );
    assert_eq!(
        artifacts["assistantTexts"],
        json!(["Let me see.", "A kumquat."])
    );
    assert_eq!(artifacts["itemLifecycle"]["activeCount"], 0);
    assert_eq!(events[10]["data"]["status"], "success");

    let summary = journal::summarize(&scene.trajectory()).unwrap().unwrap();
    assert_eq!((summary.turns, summary.input, summary.output), (1, 200, 20));
    assert_eq!(summary.cost, Some(0.5));
    assert_eq!(summary.status.as_deref(), Some("success"));
    assert_eq!(summary.model, "mock/mock-1");
}

#[test]
fn a_turn_that_is_stopped_or_fails_says_so() {
    let end = |stopped: Option<TurnStop>, error: Option<RunError<'_>>| {
        let scene = Scene::new(TraceRules::OPENCLAW_2026_9);
        let mut journal = scene.journal(&[]);
        scene.begin(&mut journal, &Plan::default());
        journal.observe(TurnMoment::RunEnded(&RunEnded {
            stop_reason: None,
            stopped,
            error,
            prompt: "hi",
            messages: &[],
            spending: None,
        }));
        events(&scene.trajectory()).pop().unwrap()["data"].clone()
    };
    let by_user = end(Some(TurnStop::ByCaller), None);
    assert_eq!(by_user["status"], "interrupted");
    assert_eq!(by_user["externalAbort"], true);
    assert_eq!(by_user["timedOut"], false);
    let idle = end(Some(TurnStop::Idle), None);
    assert_eq!(
        (&idle["timedOut"], &idle["idleTimedOut"]),
        (&json!(true), &json!(true))
    );
    let failed = RunError {
        source: "model",
        message: "401",
    };
    assert_eq!(end(None, Some(failed))["status"], "error");
}

#[test]
fn a_context_after_a_summary_is_told_anew() {
    let scene = Scene::new(TraceRules::CANONICAL);
    let mut journal = scene.journal(&[]);
    let plan = Plan::default();
    scene.begin(&mut journal, &plan);
    let messages = [Message::user("hi", super::NOON)];
    scene.request(&mut journal, &plan, 1, &messages);
    journal.observe(TurnMoment::Compacted);
    scene.request(&mut journal, &plan, 2, &messages);
    let file = journal::read(&scene.trajectory()).unwrap();
    let turn = file.runs().next().unwrap();
    assert_eq!(turn.run().contexts().count(), 2);
}

/// A history that is longer than an event may be.
fn long_history() -> Vec<Message> {
    (0..40)
        .map(|n| Message::user(format!("{n} {}", "lantern ".repeat(1000)), n))
        .collect()
}

#[test]
fn an_event_that_is_too_long_loses_its_data_or_only_what_is_long_in_it() {
    for rules in [TraceRules::OPENCLAW_2026_4, TraceRules::CANONICAL] {
        let scene = Scene::new(rules);
        let plan = Plan {
            history: long_history(),
            ..Plan::default()
        };
        scene.turn(&mut scene.journal(&[]), &plan);
        let text = std::fs::read_to_string(scene.trajectory()).unwrap();
        assert!(
            text.lines()
                .all(|line| line.len() <= rules.trajectory_event_bytes)
        );
        let context = &events(&scene.trajectory())[2]["data"];
        let left_out = match rules.trajectory_oversize {
            OversizeEvents::Data => {
                assert!(context.get("systemPrompt").is_none());
                context
            }
            OversizeEvents::Fields => {
                assert_eq!(context["systemPrompt"], "Be brief.");
                assert_eq!(context["tools"][0]["name"], "read", "tools stand by name");
                &context["messages"]
            }
        };
        assert_eq!(left_out["truncated"], true);
        assert_eq!(left_out["limitBytes"], 256 * 1024);
        assert_eq!(left_out["reason"], "trajectory-event-size-limit");
        assert!(left_out["originalBytes"].as_u64().unwrap() > 256 * 1024);
    }
}

#[test]
fn a_request_that_is_too_long_for_an_event_is_recorded_all_the_same() {
    let scene = Scene::new(TraceRules::CANONICAL);
    let mut journal = scene.journal(&[]);
    let long = Plan {
        history: long_history(),
        ..Plan::default()
    };
    let bodies = scene.turn(&mut journal, &long);
    let recorded = journal::read(&scene.trajectory()).unwrap();
    let requests: Vec<_> = recorded.requests().collect();
    assert_eq!(requests.len(), 2);
    for (request, body) in requests.iter().zip(&bodies) {
        assert!(request.is_exact());
        assert_eq!(request.body.as_ref(), Some(body));
    }
    let turn = recorded.runs().next().unwrap();
    let event = turn.run().event("model.request").unwrap();
    assert_eq!(event.data()["body"]["truncated"], true);
}

#[test]
fn a_full_trajectory_takes_no_more_and_says_so_once() {
    let mut rules = TraceRules::CANONICAL;
    rules.trajectory_bytes = 1500;
    let scene = Scene::new(rules);
    let mut journal = scene.journal(&[]);
    scene.turn(&mut journal, &Plan::default());
    scene.turn(&mut journal, &Plan::default());
    let length = std::fs::metadata(scene.trajectory()).unwrap().len();
    assert!(length <= 1500, "{length}");
    let notes = scene.notes.lock().unwrap().clone();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].contains("as long as it may get"));
}

#[test]
fn a_write_that_a_crash_cut_short_costs_only_itself() {
    let scene = Scene::new(TraceRules::CANONICAL);
    scene.turn(&mut scene.journal(&[]), &Plan::default());
    let path = scene.trajectory();
    let mut text = std::fs::read_to_string(&path).unwrap();
    text.truncate(text.len() - 20);
    std::fs::write(&path, &text).unwrap();
    scene.turn(&mut scene.journal(&[]), &Plan::default());
    let file = journal::read(&path).unwrap();
    // The end of a turn is three events, written at once.
    assert_eq!((file.damaged, file.len()), (1, 19));
    assert_eq!(journal::summarize(&path).unwrap().unwrap().turns, 2);
}

#[test]
fn a_turn_has_the_same_events_whichever_way_it_is_read() {
    let scene = Scene::new(TraceRules::CANONICAL);
    scene.turn(&mut scene.journal(&[]), &Plan::default());
    let path = scene.trajectory();
    let text = std::fs::read_to_string(&path).unwrap();
    // A field that comes twice is somebody else's, and an event all the same.
    let first = text.lines().next().unwrap();
    let twice = first.replacen('{', "{\"type\":\"x\",", 1);
    std::fs::write(&path, format!("{twice}\n{text}")).unwrap();
    let file = journal::read(&path).unwrap();
    let turns = journal::RecordedTurns::read(&path).unwrap();
    assert_eq!((file.runs().count(), turns.len()), (1, 1));
    let events = turns.turn(0).unwrap().run().events.len();
    assert_eq!(events, file.len());
}

#[test]
fn all_trajectories_of_a_state_directory_are_found() {
    let scene = Scene::new(TraceRules::CANONICAL);
    let (one, other) = (
        scene.env.file("state/logs/trajectory/a.jsonl", ""),
        scene
            .env
            .file("state/agents/x/sessions/b.trajectory.jsonl", ""),
    );
    scene.env.file("state/agents/x/sessions/b.jsonl", "");
    scene.env.file("state/agents/not-a-directory", "");
    let named = scene.env.file("elsewhere/c.jsonl", "");
    let state = one.ancestors().nth(3).unwrap();
    let mut expected = vec![one.clone(), other, named.clone()];
    expected.sort();
    let found = journal::find(Some(state), named.parent()).unwrap();
    assert_eq!(found, expected);
    assert_eq!(journal::summarize(&one).unwrap(), None);
    let nowhere = scene.env.path().join("nowhere");
    assert_eq!(journal::find(Some(&nowhere), None).unwrap().len(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Whatever is said: every request can be put together again, to the byte.
    #[test]
    fn requests_come_back_to_the_byte(
        system in "\\PC{0,60}",
        prompts in prop::collection::vec("\\PC{1,40}", 1..4),
        output in "\\PC{0,80}",
    ) {
        let scene = Scene::new(TraceRules::CANONICAL);
        let mut journal = scene.journal(&[]);
        let mut bodies = Vec::new();
        for (number, prompt) in prompts.iter().enumerate() {
            bodies.extend(scene.turn(&mut journal, &Plan {
                run_id: format!("run-{number}"),
                system: system.clone(),
                prompt: prompt.clone(),
                tool_output: output.clone(),
                ..Plan::default()
            }));
        }
        let recorded = journal::read(&scene.trajectory()).unwrap();
        let requests: Vec<_> = recorded.requests().collect();
        prop_assert_eq!(requests.len(), bodies.len());
        for (request, body) in requests.iter().zip(&bodies) {
            // A text that looks like a secret by chance is the one exception.
            if request.is_exact() {
                prop_assert_eq!(request.body.as_ref(), Some(body));
            } else {
                let clean = journal::JournalRedactor::default();
                let mut value: Value = serde_json::from_str(body).unwrap();
                prop_assert!(clean.value(&mut value), "only secrets make a difference: {}", body);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn turns_are_found_as_if_every_event_had_been_read(lines in prop::collection::vec((0_u8..5, 0_u8..8), 0..40)) {
        let env = chitin_test::TestEnv::new();
        let line = |(number, (run, kind)): (usize, &(u8, u8))| match kind {
            0 => "{\"traceSchema\":\"openclaw-trajectory\",\"ty".to_owned(),
            1 => String::new(),
            2 => json!({"traceSchema": "another", "type": "x", "sessionId": SESSION, "runId": "run-0"}).to_string(),
            3 => json!({"traceSchema": "openclaw-trajectory", "type": "x", "sessionId": SESSION, "data": {"runId": "inner"}}).to_string(),
            _ => json!({
                "data": {"text": "\u{1f980} \\ \" {", "number": number}, "traceSchema": "openclaw-trajectory", "type": "x",
                "sessionId": SESSION, "runId": format!("run-\n{run}"),
            })
            .to_string(),
        };
        let text: Vec<_> = lines.iter().enumerate().map(line).collect();
        let path = env.file("state/s.trajectory.jsonl", text.join("\n"));
        let (file, turns) = (journal::read(&path).unwrap(), journal::RecordedTurns::read(&path).unwrap());
        let mut runs: Vec<(String, Vec<_>)> = Vec::new();
        for event in file.events() {
            match runs.iter_mut().find(|(run, _)| *run == event.run_id()) {
                Some((_, events)) => events.push(event),
                None => runs.push((event.run_id().to_owned(), vec![event])),
            }
        }
        prop_assert_eq!(turns.len(), runs.len());
        for (at, (run, events)) in runs.iter().enumerate() {
            prop_assert_eq!(turns.position(run), Some(at));
            let turn = turns.turn(at).unwrap();
            prop_assert_eq!(turn.run().run_id, run);
            prop_assert_eq!(turn.run().events, events.iter().collect::<Vec<_>>());
        }
        prop_assert!(turns.turn(runs.len()).is_none());
    }
}
