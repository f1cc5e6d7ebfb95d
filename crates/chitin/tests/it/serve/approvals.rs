//! Questions for permission under `chitin serve`: an event that goes out, and an answer from wherever the owner is.

use super::Serving;
use crate::process::{chitin, command};
use crate::run::{Talk, text};
use chitin_test::model_server::Format;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;
use std::sync::{Arc, Mutex};

const RULES: &str = "message-length: 4000\n";

fn call(name: &str, arguments: Value) -> Value {
    Value::from_iter([("name", name.into()), ("arguments", arguments)])
}

fn skills(content: &str) -> Value {
    json!([call(
        "write",
        json!({"path": "SKILLS.md", "content": content})
    )])
}

fn exec(command: &str) -> Value {
    json!([call("exec", json!({"command": command}))])
}

fn when(words: &str, calls: &Value) -> Value {
    json!({"when": words, "toolCalls": calls})
}

/// An agent with a rule, and a model that calls tools when it hears a word and then says something.
fn talk(replies: &[Value]) -> Talk {
    let mut script = replies.to_vec();
    script.push(json!({"times": 0, "text": "Well."}));
    let talk = Talk::new(Format::Anthropic, &script);
    talk.env.files([("PERMISSIONS.md", RULES)]);
    talk
}

/// Somebody who hears everything and can answer.
type Heard = Arc<Mutex<Vec<Value>>>;

fn watch(serving: &Serving) -> Heard {
    serving.listen_to("/api/events?answers=approvals")
}

fn say(serving: &Serving, session: &str, words: &str) -> Value {
    let body = json!({"text": words, "session": format!("agent:main:{session}")});
    let (status, accepted) = serving.ask("POST", "/api/messages", Some(&body));
    assert_eq!(status, 202, "{accepted}");
    accepted
}

fn pending(serving: &Serving) -> Vec<Value> {
    let (status, listed) = serving.ask("GET", "/api/approvals", None);
    assert_eq!(status, 200, "{listed}");
    listed["pending"].as_array().unwrap().clone()
}

fn remembered(serving: &Serving) -> Vec<Value> {
    let (_, listed) = serving.ask("GET", "/api/approvals", None);
    listed["remembered"].as_array().unwrap().clone()
}

/// Waits until so many questions wait, and returns them.
fn questions(serving: &Serving, count: usize) -> Vec<Value> {
    serving.wait_until("the questions are asked", |serving| {
        pending(serving).len() == count
    });
    pending(serving)
}

fn id(question: &Value) -> &str {
    question["id"].as_str().unwrap()
}

fn answer(serving: &Serving, question: &Value, body: &Value) -> (u16, Value) {
    let path = format!("/api/approvals/{}", id(question));
    serving.ask("POST", &path, Some(body))
}

/// What was told of a kind.
fn told(heard: &Heard, kind: &str) -> Vec<Value> {
    let heard = heard.lock().unwrap();
    let of_kind = heard.iter().filter(|event| event["kind"] == kind);
    of_kind.cloned().collect()
}

/// What the model was told of the last call in a session.
fn result(serving: &Serving, session: &str) -> String {
    let (_, shown) = serving.ask("GET", &format!("/api/sessions/agent:main:{session}"), None);
    let records = shown["history"].as_array().unwrap().clone();
    let mut results = records
        .iter()
        .filter(|record| record["message"]["role"] == "toolResult");
    results.next_back().unwrap()["message"]["content"].to_string()
}

#[test]
fn a_question_is_an_event_and_an_answer_lets_the_turn_go_on() {
    let talk = talk(&[when("ALPHA", &skills("ALPHA"))]);
    let serving = Serving::start(&talk, &[]);
    let heard = watch(&serving);
    let accepted = say(&serving, "main", "ALPHA");
    let asked = questions(&serving, 1).remove(0);
    for (field, is) in [
        ("agentId", json!("main")),
        ("sessionKey", json!("agent:main:main")),
        ("jobId", accepted["jobId"].clone()),
        ("tool", json!("write")),
        ("what", json!("change `SKILLS.md`")),
        ("pattern", json!("`SKILLS.md`")),
    ] {
        assert_eq!(asked[field], is, "{field}: {asked}");
    }
    assert!(asked["diff"].to_string().contains("+ALPHA"), "{asked}");
    assert!(asked["why"].to_string().contains("what the agent may do"));
    let waits = asked["expiresAt"].as_i64().unwrap() - asked["askedAt"].as_i64().unwrap();
    assert_eq!(waits, 600_000);
    assert!(!talk.env.workspace().join("SKILLS.md").exists());

    let (status, resolved) = answer(&serving, &asked, &json!({"answer": "once"}));
    assert_eq!(
        (status, &resolved["outcome"], &resolved["by"]),
        (200, &json!("once"), &json!("token")),
        "{resolved}"
    );
    serving.rest();
    assert_eq!(talk.env.read("workspace/SKILLS.md"), "ALPHA");
    assert_eq!(remembered(&serving), [] as [Value; 0]);
    serving.wait_until("it is told", |_| {
        !told(&heard, "approval-resolved").is_empty()
    });
    let requested = told(&heard, "approval-requested").remove(0);
    assert_eq!(requested["approval"], asked);
    let told = told(&heard, "approval-resolved").remove(0);
    assert_eq!(told["approval"], resolved);
    assert_eq!(told["sessionKey"], "agent:main:main");
}

#[test]
fn a_no_and_its_reason_reach_the_model() {
    let talk = talk(&[when("ALPHA", &skills("ALPHA"))]);
    let serving = Serving::start(&talk, &[]);
    let _heard = watch(&serving);
    say(&serving, "main", "ALPHA");
    let asked = questions(&serving, 1).remove(0);
    let no = json!({"answer": "no", "why": "ask me on Monday"});
    assert_eq!(answer(&serving, &asked, &no).0, 200);
    serving.rest();
    let said = result(&serving, "main");
    assert!(
        said.contains("the user denied it and said: ask me on Monday"),
        "{said}"
    );
    assert!(!talk.env.workspace().join("SKILLS.md").exists());
}

#[test]
fn an_answer_for_the_session_holds_in_that_session_alone() {
    let talk = talk(&[
        when("ALPHA", &skills("ALPHA")),
        when("BRAVO", &skills("BRAVO")),
        when("CHARLIE", &skills("CHARLIE")),
    ]);
    let serving = Serving::start(&talk, &[]);
    let _heard = watch(&serving);
    say(&serving, "main", "ALPHA");
    let asked = questions(&serving, 1).remove(0);
    assert_eq!(
        answer(&serving, &asked, &json!({"answer": "session"})).0,
        200
    );
    serving.rest();
    say(&serving, "main", "BRAVO");
    serving.rest();
    assert_eq!(talk.env.read("workspace/SKILLS.md"), "BRAVO");
    assert_eq!(remembered(&serving), [] as [Value; 0]);
    say(&serving, "other", "CHARLIE");
    assert_eq!(questions(&serving, 1)[0]["sessionKey"], "agent:main:other");
}

#[test]
fn an_answer_for_a_session_is_forgotten_with_it() {
    let talk = talk(&[
        when("ALPHA", &skills("ALPHA")),
        when("BETA", &skills("BETA")),
    ]);
    let serving = Serving::start(&talk, &[]);
    let _heard = watch(&serving);
    say(&serving, "main", "ALPHA");
    let asked = questions(&serving, 1).remove(0);
    assert_eq!(
        answer(&serving, &asked, &json!({"answer": "session"})).0,
        200
    );
    serving.rest();
    let path = "/api/sessions/agent:main:main/delete";
    let (status, deleted) = serving.ask("POST", path, Some(&json!({})));
    assert_eq!((status, &deleted["left"]), (200, &json!([])), "{deleted}");
    say(&serving, "main", "BETA");
    let asked = questions(&serving, 1).remove(0);
    assert_eq!(answer(&serving, &asked, &json!({"answer": "no"})).0, 200);
    serving.rest();
    assert_eq!(talk.env.read("workspace/SKILLS.md"), "ALPHA");
}

#[test]
fn an_answer_for_good_survives_a_restart_and_is_revoked_over_http_and_by_command() {
    let talk = talk(&[
        when("ALPHA", &skills("ALPHA")),
        when("BRAVO", &skills("BRAVO")),
        when("CHARLIE", &skills("CHARLIE")),
    ]);
    let serving = Serving::start(&talk, &[]);
    let _heard = watch(&serving);
    say(&serving, "main", "ALPHA");
    let asked = questions(&serving, 1).remove(0);
    assert_eq!(
        answer(&serving, &asked, &json!({"answer": "always"})).0,
        200
    );
    serving.rest();
    serving.kill();

    // Nobody can be asked now, and nobody needs to be.
    let serving = Serving::start(&talk, &[]);
    say(&serving, "main", "BRAVO");
    serving.rest();
    assert_eq!(talk.env.read("workspace/SKILLS.md"), "BRAVO");
    let kept = remembered(&serving).remove(0);
    assert_eq!(
        (&kept["tool"], &kept["pattern"], &kept["agentId"]),
        (&json!("write"), &json!("`SKILLS.md`"), &json!("main"))
    );
    let listed = chitin(&talk.env, &["approvals", "list", "--json"]);
    assert!(text(&listed.stdout).contains(id(&kept)), "{listed:?}");
    let revoke = json!({"id": kept["id"]});
    let revoked = serving.ask("POST", "/api/approvals/revoke", Some(&revoke));
    assert_eq!(revoked.0, 200, "{revoked:?}");
    assert_eq!(remembered(&serving), [] as [Value; 0]);
    let again = serving.ask("POST", "/api/approvals/revoke", Some(&revoke));
    assert_eq!(again.0, 404, "{again:?}");
    say(&serving, "main", "CHARLIE");
    serving.rest();
    assert_eq!(talk.env.read("workspace/SKILLS.md"), "BRAVO");
}

#[test]
fn a_question_that_nobody_answers_becomes_a_refusal() {
    let talk = talk(&[when("ALPHA", &skills("ALPHA"))]);
    talk.configure(json!({"server": {"approvalSeconds": 1}}));
    let serving = Serving::start(&talk, &[]);
    let heard = watch(&serving);
    say(&serving, "main", "ALPHA");
    let asked = questions(&serving, 1).remove(0);
    serving.rest();
    let said = result(&serving, "main");
    assert!(said.contains("nobody answered within 1 s"), "{said}");
    let (status, late) = answer(&serving, &asked, &json!({"answer": "once"}));
    assert_eq!(
        (status, &late["error"]["code"], &late["resolved"]["outcome"]),
        (410, &json!("approval_over"), &json!("expired")),
        "{late}"
    );
    assert_eq!(
        told(&heard, "approval-resolved")[0]["approval"]["outcome"],
        "expired"
    );
    assert!(!talk.env.workspace().join("SKILLS.md").exists());
}

#[test]
fn a_question_is_answered_once_and_only_with_the_token() {
    let talk = talk(&[when("ALPHA", &skills("ALPHA"))]);
    let serving = Serving::start(&talk, &[]);
    let _heard = watch(&serving);
    say(&serving, "main", "ALPHA");
    let asked = questions(&serving, 1).remove(0);
    let path = format!("/api/approvals/{}", id(&asked));
    let yes = json!({"answer": "once"}).to_string();
    for head in [vec![], vec![("authorization", "Bearer wrong".to_owned())]] {
        let (status, refused) = serving.ask_raw("POST", &path, &head, Some(&yes));
        assert_eq!(status, 401, "{refused}");
        assert_eq!(serving.ask_raw("GET", "/api/approvals", &head, None).0, 401);
    }
    for (body, status) in [
        (json!({"answer": "maybe"}), 400),
        (json!({"answer": "no", "why": "x".repeat(2_001)}), 400),
    ] {
        assert_eq!(answer(&serving, &asked, &body).0, status, "{body}");
    }
    assert_eq!(pending(&serving).len(), 1);
    let unknown = serving.ask(
        "POST",
        "/api/approvals/nothing",
        Some(&json!({"answer": "no"})),
    );
    assert_eq!(
        (unknown.0, &unknown.1["error"]["code"]),
        (404, &json!("unknown_approval"))
    );
    assert_eq!(answer(&serving, &asked, &json!({"answer": "no"})).0, 200);
    let (status, second) = answer(&serving, &asked, &json!({"answer": "always"}));
    assert_eq!(
        (
            status,
            &second["error"]["code"],
            &second["resolved"]["outcome"],
            &second["resolved"]["by"]
        ),
        (
            409,
            &json!("answered_before"),
            &json!("no"),
            &json!("token")
        ),
        "{second}"
    );
    serving.rest();
    assert!(!talk.env.workspace().join("SKILLS.md").exists());
    assert_eq!(remembered(&serving), [] as [Value; 0]);
}

#[test]
fn two_sessions_ask_at_once_and_each_gets_its_own_answer() {
    let write = |path: &str| json!([call("write", json!({"path": path, "content": "x"}))]);
    let talk = talk(&[
        when("ALPHA", &write("SKILLS.md")),
        when("BRAVO", &write("MCP.md")),
    ]);
    let serving = Serving::start(&talk, &[]);
    let _heard = watch(&serving);
    say(&serving, "one", "ALPHA");
    say(&serving, "two", "BRAVO");
    let asked = questions(&serving, 2);
    let of = |session: &str| {
        let key = format!("agent:main:{session}");
        let mut asked = asked.iter();
        asked.find(|one| one["sessionKey"] == *key).unwrap().clone()
    };
    assert_eq!(
        answer(&serving, &of("two"), &json!({"answer": "once"})).0,
        200
    );
    questions(&serving, 1);
    assert_eq!(
        answer(&serving, &of("one"), &json!({"answer": "no"})).0,
        200
    );
    serving.rest();
    assert_eq!(talk.env.read("workspace/MCP.md"), "x");
    assert!(!talk.env.workspace().join("SKILLS.md").exists());
}

#[test]
fn a_turn_that_is_stopped_takes_its_question_back() {
    let talk = talk(&[when("ALPHA", &skills("ALPHA"))]);
    let serving = Serving::start(&talk, &[]);
    let heard = watch(&serving);
    say(&serving, "main", "ALPHA");
    let asked = questions(&serving, 1).remove(0);
    let (status, stopped) = serving.ask("POST", "/api/sessions/agent:main:main/stop", None);
    assert_eq!((status, &stopped["stopped"]), (200, &json!(1)));
    questions(&serving, 0);
    serving.rest();
    let (status, late) = answer(&serving, &asked, &json!({"answer": "once"}));
    assert_eq!(
        (status, &late["resolved"]["outcome"]),
        (410, &json!("withdrawn")),
        "{late}"
    );
    assert_eq!(
        told(&heard, "approval-resolved")[0]["approval"]["outcome"],
        "withdrawn"
    );
    assert!(!talk.env.workspace().join("SKILLS.md").exists());
}

#[test]
fn a_server_that_is_killed_while_it_asks_goes_on_after_a_restart_and_asks_anew() {
    let talk = talk(&[
        json!({
            "when": "The program stopped while this call ran", "toolCalls": skills("ALPHA"), "delayMs": 3_000,
        }),
        when("ALPHA", &skills("ALPHA")),
    ]);
    let serving = Serving::start(&talk, &[]);
    let heard = watch(&serving);
    let accepted = say(&serving, "main", "ALPHA");
    let before = questions(&serving, 1).remove(0);
    serving.kill();
    drop(heard);

    // The model thinks for a while: somebody is there before it calls again.
    let serving = Serving::start(&talk, &[]);
    let _heard = watch(&serving);
    let anew = questions(&serving, 1).remove(0);
    assert_ne!(id(&anew), id(&before));
    assert_eq!(anew["jobId"], accepted["jobId"]);
    let (status, gone) = answer(&serving, &before, &json!({"answer": "once"}));
    assert_eq!(status, 404, "{gone}");
    assert!(!talk.env.workspace().join("SKILLS.md").exists());
    assert_eq!(answer(&serving, &anew, &json!({"answer": "once"})).0, 200);
    serving.rest();
    assert_eq!(talk.env.read("workspace/SKILLS.md"), "ALPHA");
}

#[test]
fn questions_have_a_bound_and_one_too_many_is_a_refusal() {
    const MOST: usize = 64;
    let replies: Vec<Value> = (0..=MOST).map(|_| when("ALPHA", &skills("x"))).collect();
    let talk = talk(&replies);
    talk.env.file(
        "home/.openclaw/openclaw.json",
        json!({"agents": {"defaults": {"maxConcurrent": 100}}}).to_string(),
    );
    let serving = Serving::start(&talk, &[]);
    let _heard = watch(&serving);
    for number in 0..MOST {
        say(&serving, &format!("s{number}"), "ALPHA");
    }
    questions(&serving, MOST);
    say(&serving, "more", "ALPHA");
    serving.wait_until("one is refused", |serving| {
        let (_, status) = serving.ask("GET", "/api/status", None);
        status["busy"]
            .as_array()
            .is_some_and(|busy| busy.len() == MOST)
    });
    let said = result(&serving, "more");
    assert!(
        said.contains("64 questions wait for an answer already"),
        "{said}"
    );
    assert_eq!(pending(&serving).len(), MOST);
}

#[test]
fn secrets_in_a_question_leave_the_server_nowhere() {
    const SECRET: &str = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    let talk = talk(&[when("ALPHA", &exec(&format!("rm -r logs # {SECRET}")))]);
    talk.env.file("workspace/logs/a", "x");
    let serving = Serving::start(&talk, &[]);
    let heard = watch(&serving);
    say(&serving, "main", "ALPHA");
    let asked = questions(&serving, 1).remove(0);
    let (_, listed) = serving.ask("GET", "/api/approvals", None);
    serving.wait_until("it is told", |_| {
        !told(&heard, "approval-requested").is_empty()
    });
    let events = json!(told(&heard, "approval-requested")).to_string();
    let shown = text(&chitin(&talk.env, &["approvals"]).stdout);
    for (place, said) in [
        ("the list", listed.to_string()),
        ("the events", events),
        ("the command line", shown),
    ] {
        assert!(said.contains("rm -r logs"), "{place}: {said}");
        assert!(!said.contains("abcdefghijklmnop"), "{place}: {said}");
    }
    // It is the command that runs, not what is shown of it.
    assert_eq!(
        answer(&serving, &asked, &json!({"answer": "always"})).0,
        200
    );
    serving.rest();
    assert!(!talk.env.workspace().join("logs").exists());
    let (_, kept) = serving.ask("GET", "/api/approvals", None);
    assert!(!kept.to_string().contains("abcdefghijklmnop"), "{kept}");
}

#[test]
fn the_command_line_hears_lists_and_answers_questions() {
    let talk = talk(&[
        when("ALPHA", &skills("ALPHA")),
        when("BRAVO", &skills("BRAVO")),
    ]);
    let none = chitin(&talk.env, &["approvals", "answer", "1", "once"]);
    assert_eq!(none.status.code(), Some(3), "{none:?}");
    assert!(text(&none.stderr).contains("No server is running"));
    let serving = Serving::start(&talk, &[]);
    // Nobody but `watch` can answer.
    let mut watching = command(&talk.env, &["approvals", "watch"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut begun = [0; 9];
    watching
        .stderr
        .take()
        .unwrap()
        .read_exact(&mut begun)
        .unwrap();
    let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    serving.wait_until("it listens", |serving| {
        serving.ask("GET", "/api/status", None).1["streams"] == 1
    });
    say(&serving, "main", "ALPHA");
    let mut shown = String::new();
    while !shown.contains("answers:") {
        shown += &lines.next().unwrap().unwrap();
    }
    assert!(
        shown.contains("change `SKILLS.md`") && shown.contains("+ALPHA"),
        "{shown}"
    );
    let asked = questions(&serving, 1).remove(0);
    let listed = text(&chitin(&talk.env, &["approvals"]).stdout);
    assert!(
        listed.contains(id(&asked)) && listed.contains("change `SKILLS.md`"),
        "{listed}"
    );
    let start = &id(&asked)[..8];
    let answered = chitin(
        &talk.env,
        &["approvals", "answer", start, "no", "--why", "not now"],
    );
    assert!(answered.status.success(), "{answered:?}");
    serving.rest();
    let said = result(&serving, "main");
    assert!(said.contains("said: not now"), "{said}");
    let second = chitin(&talk.env, &["approvals", "answer", id(&asked), "once"]);
    assert_eq!(second.status.code(), Some(3), "{second:?}");
    assert!(
        text(&second.stderr).contains("was answered with `no` with the token before"),
        "{second:?}"
    );
    // Another token is no token.
    talk.env
        .file("wrong-token", "0123456789abcdef0123456789abcdef");
    let file = talk.env.path().join("wrong-token");
    let file = file.to_str().unwrap();
    let refused = chitin(
        &talk.env,
        &["approvals", "answer", "x", "once", "--token-file", file],
    );
    assert_eq!(refused.status.code(), Some(3), "{refused:?}");
    watching.kill().unwrap();
    watching.wait().unwrap();
    serving.wait_until("nobody listens", |serving| {
        serving.ask("GET", "/api/status", None).1["streams"] == 0
    });
    say(&serving, "main", "BRAVO");
    serving.rest();
    let said = result(&serving, "main");
    assert!(said.contains("there is nobody to ask"), "{said}");
}

#[test]
fn where_nobody_can_answer_a_question_is_a_refusal_at_once() {
    let talk = talk(&[
        when("ALPHA", &skills("ALPHA")),
        when("BRAVO", &exec("rm -r logs")),
    ]);
    talk.env.file("workspace/logs/a", "x");
    let serving = Serving::start(&talk, &[]);
    // It only listens.
    let heard = serving.listen();
    say(&serving, "main", "ALPHA");
    serving.rest();
    let said = result(&serving, "main");
    assert!(
        said.contains("there is nobody to ask") && said.contains("`chitin approvals watch`"),
        "{said}"
    );
    // What is asked about for caution's sake runs, as it does wherever nobody is.
    say(&serving, "main", "BRAVO");
    serving.rest();
    assert!(!talk.env.workspace().join("logs").exists());
    assert_eq!(told(&heard, "approval-requested"), [] as [Value; 0]);
}

#[test]
fn a_command_that_destroys_is_asked_about_in_the_owners_own_turns() {
    let talk = talk(&[when("ALPHA", &exec("rm -r logs"))]);
    talk.env.file("workspace/logs/a", "x");
    let serving = Serving::start(&talk, &[]);
    let _heard = watch(&serving);
    say(&serving, "main", "ALPHA");
    let asked = questions(&serving, 1).remove(0);
    assert_eq!(asked["what"], "rm -r logs");
    assert!(
        asked["why"].to_string().contains("deletes directories"),
        "{asked}"
    );
    assert_eq!(answer(&serving, &asked, &json!({"answer": "no"})).0, 200);
    serving.rest();
    assert!(talk.env.workspace().join("logs/a").exists());
}

#[test]
fn what_destroys_is_not_done_unasked_while_a_page_is_away_after_a_restart() {
    let talk = talk(&[
        json!({"when": "The program stopped while this call ran", "toolCalls": exec("rm -r logs")}),
        when("ALPHA", &exec("rm -r logs")),
    ]);
    talk.env.file("workspace/logs/a", "x");
    let serving = Serving::start(&talk, &[]);
    let heard = watch(&serving);
    say(&serving, "main", "ALPHA");
    questions(&serving, 1);
    serving.kill();
    drop(heard);

    let serving = Serving::start(&talk, &[]);
    serving.rest();
    assert!(talk.env.workspace().join("logs/a").exists());
    let said = result(&serving, "main");
    assert!(said.contains("nobody"), "{said}");
}

#[test]
fn a_question_that_waits_when_the_server_restarts_is_asked_anew_by_the_next_process() {
    let talk = talk(&[
        json!({"when": "call the tool again", "toolCalls": exec("rm -r logs"), "delayMs": 3_000}),
        when("ALPHA", &exec("rm -r logs")),
    ]);
    talk.env.file("workspace/logs/a", "x");
    let serving = Serving::start(&talk, &[]);
    let heard = watch(&serving);
    say(&serving, "main", "ALPHA");
    let first = questions(&serving, 1).remove(0);
    serving.begin_anew();
    serving.wait_until("it restarted", |_| {
        Serving::log(&talk).contains("serves from now on")
    });
    drop(heard);
    // The stream ends, and its client opens it again.
    let _heard = watch(&serving);
    serving.wait_until("it is asked anew", |serving| {
        let asked = pending(serving);
        asked.len() == 1 && asked[0]["id"] != first["id"]
    });
    let second = pending(&serving).remove(0);
    assert!(talk.env.workspace().join("logs/a").exists());
    let yes = json!({"answer": "once"});
    assert_eq!(answer(&serving, &second, &yes).0, 200);
    serving.rest();
    assert!(!talk.env.workspace().join("logs").exists());
    assert_eq!(serving.end(), Some(0));
}

#[test]
fn questions_that_wait_do_not_keep_others_from_their_turns() {
    let replies: Vec<Value> = (0..6).map(|_| when("ALPHA", &skills("x"))).collect();
    let talk = talk(&replies);
    let serving = Serving::start(&talk, &[]);
    let _heard = watch(&serving);
    for number in 0..6 {
        say(&serving, &format!("s{number}"), "ALPHA");
    }
    questions(&serving, 6);
    let body = json!({"text": "Hello", "session": "agent:main:other", "wait": true});
    let (status, said) = serving.ask("POST", "/api/messages", Some(&body));
    assert_eq!(status, 200, "{said}");
    assert!(said.to_string().contains("Well."), "{said}");
}

/// The status of a session's last turn, as whoever asks under the message's key is told.
fn outcome(serving: &Serving, key: &str) -> Value {
    let body = json!({"text": "Hello", "session": format!("agent:main:{key}")}).to_string();
    let head = [
        ("authorization", format!("Bearer {}", serving.token)),
        ("idempotency-key", key.to_owned()),
    ];
    serving
        .ask_raw("POST", "/api/messages", &head, Some(&body))
        .1
}

#[test]
fn messages_over_the_concurrency_limit_wait_for_their_time_and_none_fails() {
    let talk = talk(&[when("ALPHA", &skills("x"))]);
    talk.env
        .files([("PERMISSIONS.md", "concurrency-limit: 1\n")]);
    // Those that wait do not keep anybody else from a turn: there is room for one.
    talk.env.file(
        "home/.openclaw/openclaw.json",
        json!({"agents": {"defaults": {"maxConcurrent": 1}}}).to_string(),
    );
    let mailbox = talk.env.path().join("mailbox");
    let serving = Serving::start(&talk, &["--files", mailbox.to_str().unwrap()]);
    let heard = watch(&serving);
    say(&serving, "main", "ALPHA");
    let asked = questions(&serving, 1).remove(0);
    let waiting = ["one", "two", "three", "stopped"];
    for key in waiting {
        assert_eq!(outcome(&serving, key)["place"], "runs");
    }
    let before = talk.server.requests().len();
    let guest = json!({"text": "Hello", "peer": {"kind": "channel", "id": "yard"}, "owner": false, "sender": "ada"});
    let written = talk.env.file("mailbox/1.json", guest.to_string());
    std::fs::rename(written, mailbox.join("in/1.json")).unwrap();
    serving.wait_until("somebody else has a turn", |_| {
        talk.server.requests().len() > before
    });
    let stop = "/api/sessions/agent:main:stopped/stop";
    let (status, stopped) = serving.ask("POST", stop, None);
    assert_eq!((status, &stopped["stopped"]), (200, &json!(1)));
    serving.wait_until("it is stopped", |serving| {
        outcome(serving, "stopped")["status"] == "stopped"
    });
    for key in ["one", "two", "three"] {
        assert_eq!(outcome(&serving, key)["place"], "known", "{key} waits");
    }
    assert_eq!(talk.server.requests().len(), before + 1);

    assert_eq!(answer(&serving, &asked, &json!({"answer": "no"})).0, 200);
    serving.rest();
    for key in ["one", "two", "three"] {
        let ended = outcome(&serving, key);
        assert_eq!(ended["status"], "ok", "{ended}");
        assert_eq!(ended["text"], "Well.", "{ended}");
    }
    assert_eq!(told(&heard, "refused"), [] as [Value; 0]);
}
