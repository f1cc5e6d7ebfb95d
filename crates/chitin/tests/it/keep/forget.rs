//! `chitin sessions delete`: what was deleted is in no file of the home, and what is left is said.

use super::{call, code, everything, files, holders, home, json_of, shown};
use crate::process::chitin;
use crate::run::Talk;
use crate::serve::Serving;
use chitin_test::model_server::Format;
use serde_json::{Value, json};

const SAID: &str = "zq-said-7f31aa90-plum";
const WRITTEN: &str = "zq-written-1c44e2-quince";
const PRINTED: &str = "zq-printed-9be07d-medlar";
const ANSWERED: &str = "zq-answered-55d1b8-sloe";
const OTHER: &str = "zq-other-e3907c-damson";
const MARKS: [&str; 4] = [SAID, WRITTEN, PRINTED, ANSWERED];

/// A long text, which is kept compressed.
fn long(mark: &str) -> String {
    format!("{mark}\n{}", "the same line again and again\n".repeat(80))
}

fn turn() -> Vec<Value> {
    vec![
        call(
            "write",
            json!({"path": "plan.md", "content": long(WRITTEN)}),
        ),
        call(
            "exec",
            json!({"command": format!("printf '%s%s\\n' {} {}", &PRINTED[..12], &PRINTED[12..])}),
        ),
        json!({"text": format!("It is planned: {ANSWERED}.")}),
    ]
}

fn talk() -> Talk {
    let mut script = vec![json!({"text": "Noted."})];
    script.extend(turn());
    script.extend(vec![json!({"text": "Again."}); 40]);
    let talk = Talk::new(Format::Anthropic, &script);
    talk.configure(everything());
    talk
}

/// Has one conversation that stays and one that is to be forgotten, the latter reset once, and searches both.
fn conversations(talk: &Talk) {
    let say = |words: &str, more: &[&str]| {
        let output = talk.say_with(words, more);
        assert!(output.status.success(), "{}", shown(&output));
    };
    say(
        &format!("Keep {OTHER} in mind."),
        &["--session", "agent:main:stays"],
    );
    say(&format!("Plan {SAID} for me."), &[]);
    say("What was it?", &["--new"]);
    say(&format!("And {SAID} again."), &[]);
    for mark in [SAID, OTHER] {
        let word = mark.rsplit('-').next().unwrap();
        let found = chitin(
            &talk.env,
            &["--json", "memory", "search", word, "workspace"],
        );
        assert_eq!(code(&found), 0, "{}", shown(&found));
    }
    for mark in MARKS {
        assert!(
            !holders(&home(talk), mark).is_empty(),
            "{mark} was never there"
        );
    }
    let databases = holders(&home(talk), SAID);
    assert!(
        databases.iter().any(|name| name.contains(".sqlite")),
        "{databases:?}"
    );
}

fn nothing_is_left(talk: &Talk) {
    for mark in MARKS {
        assert_eq!(holders(&home(talk), mark), Vec::<String>::new(), "{mark}");
    }
    let kept = holders(&home(talk), OTHER);
    for part in ["sessions/", "logs/", "memory/"] {
        assert!(
            kept.iter().any(|name| name.contains(part)),
            "{part}: {kept:?}"
        );
    }
}

#[test]
fn a_deleted_session_is_in_no_file_of_the_home_and_others_stay() {
    let talk = talk();
    conversations(&talk);
    let before = files(&home(&talk));
    let ids: Vec<String> = ids(&talk);
    let plan = chitin(&talk.env, &["sessions", "delete", "main", "--dry-run"]);
    assert_eq!(code(&plan), 0, "{}", shown(&plan));
    let text = shown(&plan);
    for part in [
        "agent:main:main: 2 transcripts",
        "2 recordings",
        "1 turn of `chitin undo`",
        "Would delete 1 session.",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let after = files(&home(&talk));
    let changed =
        |name: &&String| before.get(*name) != after.get(*name) && !name.contains("sqlite");
    assert_eq!(
        after.keys().find(changed),
        None,
        "a dry run changes nothing"
    );

    let asked = chitin(&talk.env, &["sessions", "delete", "main"]);
    assert_eq!(code(&asked), 2, "{}", shown(&asked));
    let done = chitin(
        &talk.env,
        &["--json", "sessions", "delete", "main", "--yes"],
    );
    let report = json_of(&done);
    assert_eq!(code(&done), 0, "{report:#}");
    assert_eq!(report["left"], json!([]), "{report:#}");
    assert!(
        report["searched"]["words"].as_u64().unwrap() > 4,
        "{report:#}"
    );
    nothing_is_left(&talk);
    for id in ids {
        assert_eq!(holders(&home(&talk), &id), Vec::<String>::new(), "{id}");
    }
    let left = std::fs::read_to_string(talk.env.workspace().join("plan.md")).unwrap();
    assert!(left.contains(WRITTEN), "the workspace is the user's");
    let gone = chitin(&talk.env, &["sessions", "delete", "main", "--yes"]);
    assert_eq!(code(&gone), 3, "{}", shown(&gone));
    // Life goes on.
    talk.answer("Hello.");
    let listed = chitin(&talk.env, &["changes"]);
    assert!(!shown(&listed).contains(SAID), "{}", shown(&listed));
}

/// The ids of the transcripts of the main session.
fn ids(talk: &Talk) -> Vec<String> {
    let keys =
        std::fs::read_to_string(home(talk).join("agents/main/sessions/sessions.keys")).unwrap();
    let lines = keys
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines
        .filter(|line| line["key"] == "agent:main:main")
        .map(|line| line["transcript"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_running_server_deletes_a_session_everywhere_and_forgets_its_outcomes() {
    let talk = talk();
    conversations(&talk);
    let serving = Serving::start(&talk, &[]);
    let body = json!({"text": format!("Once more {SAID}."), "wait": true});
    let (status, answer) = serving.send("plum-key", &body);
    assert_eq!(status, 200, "{answer}");
    serving.rest();
    let done = chitin(
        &talk.env,
        &["--json", "sessions", "delete", "main", "--yes"],
    );
    let report = json_of(&done);
    assert_eq!(code(&done), 0, "{report:#}");
    assert_eq!(report["jobs"]["outcomes"], 1, "{report:#}");
    nothing_is_left(&talk);
    // Whoever sends the key again is told nothing that was forgotten.
    let (status, again) = serving.send("plum-key", &body);
    assert_eq!((status, again["place"] == "known"), (200, false), "{again}");
    let (status, listed) = serving.ask("GET", "/api/sessions/agent:main:main", None);
    assert_eq!(status, 200, "{listed}");
    assert!(!listed.to_string().contains(ANSWERED), "{listed}");
    assert_eq!(serving.end(), Some(0));
}

#[test]
fn a_session_with_a_running_turn_is_refused_unless_it_is_stopped() {
    let slow = json!({"text": "Slowly.", "delayMs": 60_000});
    let talk = Talk::new(Format::Anthropic, &[json!({"text": "Quick."}), slow]);
    let serving = Serving::start(&talk, &[]);
    let wait = json!({"text": "Hello.", "wait": true});
    assert_eq!(serving.ask("POST", "/api/messages", Some(&wait)).0, 200);
    let body = json!({"text": format!("Wait for {SAID}.")});
    assert_eq!(serving.ask("POST", "/api/messages", Some(&body)).0, 202);
    serving.wait_until("the turn runs", |_| talk.server.requests().len() == 2);
    let refused = chitin(&talk.env, &["sessions", "delete", "main", "--yes"]);
    assert_eq!(code(&refused), 5, "{}", shown(&refused));
    assert!(!holders(&home(&talk), SAID).is_empty());
    let path = "/api/sessions/agent:main:main/delete";
    let (status, conflict) = serving.ask("POST", path, Some(&json!({})));
    assert_eq!(
        (status, conflict["error"]["code"].as_str()),
        (409, Some("busy")),
        "{conflict}"
    );
    let (status, unknown) = serving.ask(
        "POST",
        "/api/sessions/agent:main:nobody/delete",
        Some(&json!({})),
    );
    assert_eq!(status, 404, "{unknown}");
    let stopped = chitin(
        &talk.env,
        &["sessions", "delete", "main", "--yes", "--stop"],
    );
    assert_eq!(code(&stopped), 0, "{}", shown(&stopped));
    assert_eq!(holders(&home(&talk), SAID), Vec::<String>::new());
}

#[test]
fn messages_that_nobody_answered_are_deleted_only_if_that_is_asked_for() {
    let down = json!({"error": {"status": 402, "message": "no credit"}, "times": 1000});
    let talk = Talk::new(Format::Anthropic, &[json!({"text": "Heard."}), down]);
    let serving = Serving::start(&talk, &[]);
    let wait = json!({"text": "Hello.", "wait": true});
    assert_eq!(serving.ask("POST", "/api/messages", Some(&wait)).0, 200);
    let body = json!({"text": format!("Wait for {SAID}.")});
    assert_eq!(serving.ask("POST", "/api/messages", Some(&body)).0, 202);
    serving.wait_until("it is tried", |_| talk.server.requests().len() > 1);
    serving.kill();
    let refused = chitin(&talk.env, &["sessions", "delete", "main", "--yes"]);
    assert_eq!(code(&refused), 5, "{}", shown(&refused));
    let done = chitin(
        &talk.env,
        &["--json", "sessions", "delete", "main", "--yes", "--stop"],
    );
    let report = json_of(&done);
    assert_eq!(
        (code(&done), &report["jobs"]["open"]),
        (0, &json!(1)),
        "{report:#}"
    );
    assert_eq!(holders(&home(&talk), SAID), Vec::<String>::new());
}

#[test]
fn what_is_left_elsewhere_is_said() {
    let talk = talk();
    conversations(&talk);
    let quoted = format!("As we said: Plan {SAID} for me.");
    let output = talk.say_with(&quoted, &["--session", "agent:main:quotes"]);
    assert!(output.status.success(), "{}", shown(&output));
    let done = chitin(
        &talk.env,
        &["--json", "sessions", "delete", "main", "--yes"],
    );
    let report = json_of(&done);
    assert_eq!(code(&done), 1, "{report:#}");
    let left = report["left"].as_array().unwrap();
    assert!(
        left.iter().any(|one| one["keptBy"] == "session"),
        "{report:#}"
    );
    assert!(left.iter().all(|one| one["isId"] == false), "{report:#}");
    for one in left {
        let path = one["path"].as_str().unwrap();
        let of_quotes = std::fs::read_to_string(path).is_ok_and(|text| text.contains("As we said"));
        assert!(of_quotes || path.contains("sqlite"), "{one}");
    }
    // A backup that somebody put there is named as one.
    let talk = super::forget::talk();
    conversations(&talk);
    let backup = chitin(&talk.env, &["backup", "away.tar.gz"]);
    assert_eq!(code(&backup), 0, "{}", shown(&backup));
    std::fs::rename(
        talk.env.path().join("away.tar.gz"),
        home(&talk).join("away.tar.gz"),
    )
    .unwrap();
    let done = chitin(
        &talk.env,
        &["--json", "sessions", "delete", "main", "--yes"],
    );
    let report = json_of(&done);
    assert_eq!(report["left"].as_array().unwrap().len(), 1, "{report:#}");
    assert_eq!(report["left"][0]["keptBy"], "backup", "{report:#}");
}

#[test]
fn the_sessions_that_a_session_began_go_with_it_and_a_child_names_its_parent() {
    let env = chitin_test::TestEnv::new();
    let id = |number: u32| format!("{number}1111111-1111-4111-8111-111111111111");
    let keys = [
        ("main", "agent:main:main", None),
        ("main", "agent:main:subagent:one", Some("agent:main:main")),
        (
            "other",
            "agent:other:subagent:two",
            Some("agent:main:subagent:one"),
        ),
        (
            "main",
            "agent:main:subagent:else",
            Some("agent:main:elsewhere"),
        ),
    ];
    for agent in ["main", "other"] {
        let mut index = serde_json::Map::new();
        for (number, (of, key, parent)) in (1..).zip(keys) {
            if of != agent {
                continue;
            }
            let mut entry = json!({"sessionId": id(number), "updatedAt": 5});
            if let Some(parent) = parent {
                entry["spawnedBy"] = json!(parent);
            }
            index.insert(key.to_owned(), entry);
            let header = json!({"type": "session", "version": 3, "id": id(number), "timestamp": "2026-03-01T09:00:00.000Z", "cwd": "/w"});
            let sessions = format!("home/.chitin/agents/{agent}/sessions");
            env.file(
                &format!("{sessions}/{}.jsonl", id(number)),
                format!("{header}\n"),
            );
        }
        let sessions = format!("home/.chitin/agents/{agent}/sessions/sessions.json");
        env.file(&sessions, Value::Object(index).to_string());
    }
    let home = env.home().join(".chitin");
    let left = |number| holders(&home, &id(number)).len();
    let done = chitin(
        &env,
        &[
            "sessions",
            "delete",
            "subagent:else",
            "--yes",
            "--agent",
            "main",
        ],
    );
    assert_eq!(code(&done), 0, "{}", shown(&done));
    assert!(
        shown(&done).contains("begun by `agent:main:elsewhere`"),
        "{}",
        shown(&done)
    );
    assert_eq!((left(4), left(1)), (0, 2));
    let done = chitin(
        &env,
        &[
            "--json", "sessions", "delete", "main", "--yes", "--agent", "main",
        ],
    );
    let report = json_of(&done);
    assert_eq!(code(&done), 0, "{report:#}");
    let sessions = report["sessions"].as_array().unwrap();
    let deleted: Vec<&str> = sessions
        .iter()
        .map(|one| one["key"].as_str().unwrap())
        .collect();
    assert_eq!(
        deleted,
        [
            "agent:main:main",
            "agent:main:subagent:one",
            "agent:other:subagent:two"
        ]
    );
    assert_eq!([1, 2, 3].map(left), [0, 0, 0]);
}
