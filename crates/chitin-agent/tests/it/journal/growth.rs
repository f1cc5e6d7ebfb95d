//! Recordings grow with what was said: they hold what is new, and every request to the byte.

use super::{Plan, SESSION, Scene, events};
use chitin_agent::journal::{self, JournalRedactor, TurnMoment};
use chitin_contract::TraceRules;
use chitin_protocol::message::Message;
use serde_json::json;
use std::io::Write as _;

/// What somebody says in a turn: words enough that they are no template.
fn words(turn: usize) -> String {
    let word = |at: usize| format!("w{}", (turn * 7919 + at * 104_729) % 100_003);
    let words: Vec<String> = (0..150).map(word).collect();
    words.join(" ")
}

fn said(turn: usize) -> [Message; 2] {
    let now = i64::try_from(turn).unwrap();
    let asked = Message::user(words(2 * turn), now);
    let answer = super::answer(
        vec![chitin_protocol::message::Block::text(words(2 * turn + 1))],
        chitin_protocol::message::StopReason::Stop,
        0,
    );
    [asked, Message::Assistant(answer)]
}

/// A session of many turns, a process each, as `chitin run -m` has them: the history grows, is pruned in its middle and compacted.
fn session(scene: &Scene, turns: usize) -> (Vec<String>, usize) {
    let mut history: Vec<Message> = Vec::new();
    let (mut bodies, mut transcript) = (Vec::new(), 0);
    for turn in 0..turns {
        if turn % 45 == 30 {
            let at = history.len() / 2;
            history[at] = Message::user("[old result removed]", 1);
        }
        if turn % 60 == 50 {
            let kept = history.split_off(history.len() - 20);
            history = vec![Message::user(format!("A summary of {turn} turns."), 2)];
            history.extend(kept);
        }
        let plan = Plan {
            run_id: format!("run-{turn}"),
            system: format!(
                "Be brief.\n\n{}\nIt is turn {turn}.",
                words(999_999).repeat(8)
            ),
            prompt: words(2 * turn),
            history: history.clone(),
            tool_output: words(1_000_000 + turn),
            ..Plan::default()
        };
        bodies.extend(scene.turn(&mut scene.journal(&[]), &plan));
        let said = said(turn);
        transcript += json!(said).to_string().len() + plan.tool_output.len();
        history.extend(said);
    }
    (bodies, transcript)
}

#[test]
fn a_recording_grows_with_what_was_said_and_holds_every_request_to_the_byte() {
    for (rules, turns) in [
        (TraceRules::CANONICAL, 200),
        (TraceRules::OPENCLAW_2026_4, 60),
        (TraceRules::OPENCLAW_2026_9, 60),
    ] {
        let scene = Scene::new(rules);
        let (bodies, transcript) = session(&scene, turns);
        let path = scene.trajectory();
        let length = usize::try_from(std::fs::metadata(&path).unwrap().len()).unwrap();
        assert!(length < 2 * transcript, "{length} for {transcript}");
        let file = journal::read(&path).unwrap();
        assert_eq!((file.damaged, file.lost, file.turns().len()), (0, 0, turns));
        let mut requests = file.requests();
        for body in &bodies {
            let request = requests.next().unwrap();
            assert!(request.is_exact());
            assert_eq!(request.body.as_ref(), Some(body));
        }
        assert!(requests.next().is_none());
    }
}

#[test]
fn events_are_what_they_would_be_if_they_were_written_out() {
    for rules in [TraceRules::CANONICAL, TraceRules::OPENCLAW_2026_9] {
        // A second journal has the file at the same time: what does not own it writes its events out.
        let (packed, plain) = (Scene::new(rules), Scene::new(rules));
        session(&packed, 70);
        let holder = plain.hold(&plain.trajectory());
        session(&plain, 70);
        drop(holder);
        let text = std::fs::read_to_string(plain.trajectory()).unwrap();
        assert!(!text.contains("{\"p1\":"));
        let place = |scene: &Scene, text: String| {
            text.replace(scene.env.path().to_str().unwrap(), "/there")
        };
        let read = events(&packed.trajectory());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(read.len(), lines.len());
        for (event, line) in read.iter().zip(lines) {
            assert_eq!(
                place(&packed, event.to_string()),
                place(&plain, line.to_owned())
            );
        }
        let file = journal::read(&packed.trajectory()).unwrap();
        let newest = file.newest(25, usize::MAX);
        let last: Vec<_> = newest.into_iter().map(|event| event.value).collect();
        assert_eq!(last, read[read.len() - 25..]);
        assert_eq!(file.newest(usize::MAX, 10).len(), 1);
        assert_eq!(file.newest(usize::MAX, usize::MAX).len(), read.len());
    }
}

#[test]
fn a_write_that_was_killed_costs_only_its_line() {
    let scene = Scene::new(TraceRules::CANONICAL);
    let (bodies, _) = session(&scene, 6);
    let path = scene.trajectory();
    let whole = std::fs::read(&path).unwrap();
    for cut in [1, 30, 700] {
        std::fs::write(&path, &whole[..whole.len() - cut]).unwrap();
        let plan = Plan {
            run_id: "after".to_owned(),
            ..Plan::default()
        };
        let more = scene.turn(&mut scene.journal(&[]), &plan);
        let file = journal::read(&path).unwrap();
        assert_eq!(file.turns().len(), 7, "cut by {cut}");
        assert!(file.damaged <= 1 && file.lost == 0, "{file:?}");
        let read: Vec<_> = file.requests().map(|one| one.body.unwrap()).collect();
        let before = read.strip_suffix(more.as_slice()).unwrap();
        assert!(bodies.starts_with(before) && before.len() + 1 >= bodies.len());
    }
}

#[test]
fn damage_costs_what_leans_on_it_is_said_and_ends_with_the_segment() {
    let scene = Scene::new(TraceRules::CANONICAL);
    let (bodies, _) = session(&scene, 120);
    let path = scene.trajectory();
    let text = std::fs::read_to_string(&path).unwrap();
    let segment_of = |line: &str| -> String {
        let rest = line.strip_prefix("{\"p1\":[").unwrap();
        rest.split(',').next().unwrap().to_owned()
    };
    let segments: Vec<String> = text.lines().map(segment_of).collect();
    let of_first = segments.iter().filter(|one| **one == segments[0]).count();
    assert!(of_first > 20 && of_first < segments.len(), "{segments:?}");
    // A letter of the line that begins the third turn: a turn has five.
    let at = text.match_indices("\"z\":\"").nth(10).unwrap().0 + 20;
    let mut bytes = text.into_bytes();
    bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
    std::fs::write(&path, &bytes).unwrap();
    let file = journal::read(&path).unwrap();
    assert_eq!((file.damaged, file.lost), (1, of_first - 11));
    let read: Vec<_> = file.requests().collect();
    assert!(read.iter().all(journal::LoggedRequest::is_exact));
    let read: Vec<_> = read.into_iter().map(|one| one.body.unwrap()).collect();
    assert_eq!(read[..4], bodies[..4], "what is before it");
    let after = read.len() - 4;
    assert!(after > 20, "{after}");
    assert_eq!(
        read[4..],
        bodies[bodies.len() - after..],
        "what is in other segments"
    );
    let summary = journal::summarize(&path).unwrap().unwrap();
    // A segment may begin within a turn, whose beginning is lost then.
    assert!(summary.turns + 1 >= 2 + after / 2, "{}", summary.turns);
}

#[test]
fn what_older_versions_wrote_is_read_before_what_is_added() {
    let (old, scene) = (
        Scene::new(TraceRules::CANONICAL),
        Scene::new(TraceRules::CANONICAL),
    );
    let holder = old.hold(&old.trajectory());
    let (mut bodies, _) = session(&old, 3);
    drop(holder);
    let text = std::fs::read(old.trajectory()).unwrap();
    scene.env.file(
        &format!("state/logs/trajectory/{SESSION}.jsonl"),
        text.as_slice(),
    );
    let plan = Plan {
        run_id: "new".to_owned(),
        ..Plan::default()
    };
    bodies.extend(scene.turn(&mut scene.journal(&[]), &plan));
    let file = journal::read(&scene.trajectory()).unwrap();
    assert_eq!((file.turns().len(), file.damaged), (4, 0));
    let read: Vec<_> = file.requests().map(|one| one.body.unwrap()).collect();
    assert_eq!(read, bodies);
}

#[test]
fn arguments_of_any_depth_are_recorded() {
    let scene = Scene::new(TraceRules::CANONICAL);
    let mut journal = scene.journal(&[]);
    let plan = Plan::default();
    scene.begin(&mut journal, &plan);
    let mut deep = json!("the bottom");
    for _ in 0..100 {
        deep = json!([deep]);
    }
    let message: Message = serde_json::from_value(json!({
        "role": "assistant",
        "content": [{"type": "toolCall", "id": "t", "name": "read", "arguments": {"deep": deep}}],
    }))
    .unwrap();
    let body = scene.request(&mut journal, &plan, 1, &[message]);
    journal.observe(TurnMoment::Compacted);
    drop(journal);
    let file = journal::read(&scene.trajectory()).unwrap();
    let read: Vec<_> = file.requests().map(|one| one.body.unwrap()).collect();
    assert_eq!((read, file.damaged, file.lost), (vec![body], 0, 0));
}

#[test]
fn a_secret_that_becomes_known_is_taken_out_and_the_rest_stays() {
    let scene = Scene::new(TraceRules::CANONICAL);
    session(&scene, 40);
    let path = scene.trajectory();
    let before = std::fs::read(&path).unwrap();
    let said = words(41);
    let secret = said.split(' ').nth(3).unwrap();
    let known = secret.to_owned();
    let clean = JournalRedactor::new(move |text: &str| text.replace(&known, "[redacted]").into());
    let found = events(&path);
    let (after, lines) = journal::cleaned(&before, &clean).unwrap();
    assert!(lines > 0);
    std::fs::File::create(&path)
        .unwrap()
        .write_all(&after)
        .unwrap();
    let requests = journal::read(&path).unwrap();
    let bodies: Vec<_> = requests.requests().map(|one| one.body.unwrap()).collect();
    assert_eq!(bodies.len(), 80);
    assert!(bodies.iter().all(|body| !body.contains(secret)));
    let mut expected = found;
    for event in &mut expected {
        clean.value(event);
    }
    for (after, expected) in events(&path).iter().zip(&expected) {
        assert_eq!(after.to_string(), expected.to_string());
    }
    assert_eq!(events(&path).len(), expected.len());
    assert!(journal::cleaned(&std::fs::read(&path).unwrap(), &clean).is_none());
}
