//! `PERMISSIONS.md` and `CHANNELS.md` where several messages and several ways in meet: each sender learns the fate of its own message.

use super::{PATIENCE, Serving, place};
use crate::run::{Talk, text};
use chitin_test::model_server::Format;
use serde_json::{Value, json};

/// An agent with rules whose first turn takes a while, and a server for it.
fn busy(rules: &str, first: Value) -> (Talk, Serving) {
    let script = [first, json!({"times": 0, "text": "Fine."})];
    let talk = Talk::new(Format::Anthropic, &script);
    talk.env.files([("PERMISSIONS.md", rules)]);
    let serving = Serving::start(&talk, &[]);
    serving.say("yard", "Begin.");
    assert!(talk.server.wait_for_requests(1, PATIENCE));
    (talk, serving)
}

fn slow() -> Value {
    json!({"when": "Begin.", "delayMs": 1500, "text": "Begun."})
}

/// Sends messages while a turn runs, and returns how each ended, in their order.
fn send_all(serving: &Serving, texts: &[&str], queue: Option<&str>) -> Vec<Value> {
    let send = |words: &str| {
        let mut body = json!({"text": words, "from": place("yard"), "wait": true});
        if let Some(queue) = queue {
            body["queue"] = queue.into();
        }
        serving.ask("POST", "/api/messages", Some(&body)).1
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = texts
            .iter()
            .map(|words| scope.spawn(|| send(words)))
            .collect();
        threads.into_iter().map(|one| one.join().unwrap()).collect()
    })
}

/// Returns the rule that refused each message, or `ok`.
fn fates(ended: &[Value]) -> Vec<String> {
    let fate = |one: &Value| match one["refused"]["rule"].as_str() {
        Some(rule) => {
            assert_eq!(one["status"], "failed", "{one}");
            rule.to_owned()
        }
        None => one["status"].to_string().trim_matches('"').to_owned(),
    };
    ended.iter().map(fate).collect()
}

#[test]
fn messages_that_are_given_one_turn_count_as_one_under_way() {
    let (talk, serving) = busy("concurrency-limit: 1\n", slow());
    let ended = send_all(&serving, &["one", "two", "three"], None);
    assert_eq!(fates(&ended), ["ok", "ok", "ok"], "{ended:?}");
    let last = talk.server.requests().pop().unwrap();
    for word in ["one", "two", "three"] {
        assert!(text(&last.body).contains(word));
    }
}

#[test]
fn of_several_messages_only_those_over_the_rate_are_refused() {
    let (_talk, serving) = busy("rate-limit: 3/3600\n", slow());
    let mut fates = fates(&send_all(&serving, &["one", "two", "three"], None));
    fates.sort();
    assert_eq!(fates, ["ok", "ok", "rate-limit"]);
}

#[test]
fn a_refused_message_takes_none_of_those_that_wait_with_it_along() {
    let (talk, serving) = busy("deny: swordfish\n", slow());
    let ended = send_all(&serving, &["one", "the swordfish", "three"], None);
    assert_eq!(fates(&ended), ["ok", "deny", "ok"], "{ended:?}");
    for request in talk.server.requests() {
        assert!(!text(&request.body).contains("swordfish"));
    }
}

#[test]
fn a_message_for_a_turn_that_runs_is_no_second_turn_and_its_sender_learns_its_fate() {
    let call = json!([{"name": "read", "arguments": {"path": "board.md"}}]);
    let first = json!({"when": "Begin.", "delayMs": 1500, "toolCalls": call});
    let (talk, serving) = busy("deny: swordfish\nconcurrency-limit: 1\n", first);
    let ended = send_all(&serving, &["the swordfish", "and the larch"], Some("steer"));
    assert_eq!(fates(&ended), ["deny", "ok"], "{ended:?}");
    let [refused, heard] = ended.as_slice() else {
        unreachable!("two were sent")
    };
    assert_eq!(refused["refused"]["line"], 1, "{refused}");
    assert_eq!(refused["text"], "", "{refused}");
    let error = refused["error"].as_str().unwrap();
    assert!(error.contains("rule `deny`, line 1"), "{error}");
    assert_eq!(heard["text"], "Fine.", "{heard}");
    let last = talk.server.requests().pop().unwrap();
    assert!(text(&last.body).contains("and the larch"));
}

#[test]
fn a_message_that_the_rules_refuse_interrupts_nothing() {
    let (talk, serving) = busy("deny: swordfish\n", slow());
    let ended = send_all(&serving, &["the swordfish"], Some("interrupt"));
    assert_eq!(fates(&ended), ["deny"], "{ended:?}");
    let ended = send_all(&serving, &["and the larch"], None);
    assert_eq!(fates(&ended), ["ok"], "{ended:?}");
    let last = talk.server.requests().pop().unwrap();
    assert!(text(&last.body).contains("Begun."), "the first turn ended");
}

#[test]
fn what_comes_over_http_is_judged_as_http_whatever_it_claims() {
    let talk = Talk::new(Format::Anthropic, &[json!({"times": 0, "text": "Fine."})]);
    talk.env.files([("CHANNELS.md", "- discord\n")]);
    let serving = Serving::start(&talk, &[]);
    let claim = |channel: &str| {
        let from = json!({"channel": channel, "peer": {"kind": "direct", "id": "ada"}});
        let body = json!({"text": "hello", "from": from, "wait": true});
        serving.ask("POST", "/api/messages", Some(&body))
    };
    for channel in ["discord", "terminal", "internal", "web"] {
        let (status, refused) = claim(channel);
        assert_eq!(status, 403, "{channel}: {refused}");
        let said = refused.to_string();
        assert!(said.contains("channel `web`"), "{channel}: {said}");
    }
    talk.env.files([("CHANNELS.md", "- http\n")]);
    assert_eq!(claim("discord").0, 200, "it addresses a session there");
    assert_eq!(talk.server.requests().len(), 1);
}
