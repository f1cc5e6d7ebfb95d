//! What the page asks about workspaces goes to whoever knows, and comes back as it is.

use crate::client::Served;
use crate::stage::Setting;
use chitin_gateway::route::{Inbound, Peer};
use chitin_gateway::{Incoming, Notice, Noticed};
use chitin_protocol::session_key::ChatType;
use chitin_server::{Ask, Attached, Desk, DeskError, Trouble};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// Answers with what it was asked.
#[derive(Default)]
struct Echo {
    asked: Mutex<Vec<Ask>>,
}

impl Desk for Echo {
    fn answer(&self, ask: Ask) -> Result<Value, DeskError> {
        self.asked.lock().unwrap().push(ask.clone());
        match ask {
            Ask::File { path, .. } if path == "gone.md" => {
                Err(DeskError::new(Trouble::Missing, "there is no `gone.md`").hint("Look again."))
            }
            Ask::File { path, .. } if path.contains("..") => {
                Err(DeskError::new(Trouble::Refused, "it leads out"))
            }
            Ask::Save { version: None, .. } => {
                let current = Box::new(json!({"version": "v2", "text": "theirs"}));
                Err(DeskError::new(
                    Trouble::Conflict { current },
                    "Somebody was quicker.",
                ))
            }
            Ask::Skills { .. } => unreachable!("a desk that falls over"),
            other => {
                Ok(json!({"text": "<script>alert(1)</script>", "asked": format!("{other:?}")}))
            }
        }
    }
}

fn served() -> (Served, Arc<Echo>) {
    let echo = Arc::new(Echo::default());
    let attached = Attached {
        desk: Some(Arc::clone(&echo) as Arc<dyn Desk>),
        ..Attached::default()
    };
    (Served::attached(Setting::replies(&[]), attached), echo)
}

#[tokio::test]
async fn every_question_of_the_page_reaches_the_desk() {
    let (served, echo) = served();
    let (main, key) = ("main".to_owned(), "agent:main:main".to_owned());
    let questions = [
        (
            "/api/sessions/main/turns",
            Ask::Turns {
                agent: main.clone(),
                session: key.clone(),
            },
        ),
        (
            "/api/sessions/main/lens?turn=next",
            Ask::Lens {
                agent: main.clone(),
                session: key.clone(),
                turn: None,
            },
        ),
        (
            "/api/sessions/main/lens?turn=run-1",
            Ask::Lens {
                agent: main.clone(),
                session: key.clone(),
                turn: Some("run-1".to_owned()),
            },
        ),
        (
            "/api/agents/main/files",
            Ask::Files {
                agent: main.clone(),
            },
        ),
        (
            "/api/agents/main/file?path=memory%2Fa%20b.md",
            Ask::File {
                agent: main.clone(),
                path: "memory/a b.md".to_owned(),
            },
        ),
        (
            "/api/agents/main/findings",
            Ask::Findings {
                agent: main.clone(),
            },
        ),
        (
            "/api/agents/main/memory?q=larch&limit=3",
            Ask::Memory {
                agent: main.clone(),
                query: Some("larch".to_owned()),
                limit: Some(3),
            },
        ),
        (
            "/api/agents/main/memory",
            Ask::Memory {
                agent: main.clone(),
                query: None,
                limit: None,
            },
        ),
        (
            "/api/traces?session=main&limit=9999",
            Ask::Traces {
                agent: None,
                session: Some(key.clone()),
                limit: 500,
            },
        ),
        (
            "/api/traces/5f0c",
            Ask::Trace {
                id: "5f0c".to_owned(),
            },
        ),
    ];
    for (path, question) in questions {
        let answer = served.get(path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        assert_eq!(echo.asked.lock().unwrap().last(), Some(&question), "{path}");
        // What people wrote stays text: no browser takes it for a page.
        assert_eq!(answer.header("content-type"), Some("application/json"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.json()["text"], "<script>alert(1)</script>");
    }
    let body = json!({"path": "SOUL.md", "text": "New.", "session": "main"});
    assert_eq!(
        served.post("/api/agents/main/preview", &body).await.status,
        200
    );
    let text = "New.".to_owned();
    let asked = Ask::Preview {
        agent: main,
        path: "SOUL.md".to_owned(),
        text,
        session: Some(key),
    };
    assert_eq!(echo.asked.lock().unwrap().last(), Some(&asked));
}

#[tokio::test]
async fn what_goes_wrong_is_said_and_a_conflict_shows_what_is_there() {
    let (served, echo) = served();
    let file = |path: &str| format!("/api/agents/main/file?path={path}");
    let gone = served.get(&file("gone.md")).await;
    assert_eq!(gone.problem(), "404 not_found");
    assert_eq!(gone.json()["error"]["message"], "There is no `gone.md`.");
    assert_eq!(gone.json()["error"]["hint"], "Look again.");
    assert_eq!(served.get(&file("../x")).await.problem(), "403 refused");
    let put = async |body: &str| {
        let mut connection = served.connect().await;
        connection.ask("PUT", &file("SOUL.md"), &[], body).await
    };
    let conflict = put(&json!({"text": "mine", "version": null}).to_string()).await;
    assert_eq!(conflict.problem(), "409 conflict");
    assert_eq!(conflict.json()["current"]["text"], "theirs");
    assert_eq!(
        put(&json!({"text": "mine", "version": "v1"}).to_string())
            .await
            .status,
        200
    );
    let long = json!({"text": "x".repeat(9 << 20), "version": "v1"}).to_string();
    assert_eq!(put(&long).await.problem(), "413 too_large");
    assert_eq!(put("{").await.problem(), "400 bad_json");
    assert_eq!(
        served.get("/api/agents/main/file").await.problem(),
        "400 bad_request"
    );
    assert_eq!(
        served.get("/api/agents/main/skills").await.problem(),
        "500 desk"
    );
    let asked = echo.asked.lock().unwrap().len();
    assert_eq!(
        served.get("/api/agents/nobody/files").await.problem(),
        "404 unknown_agent"
    );
    assert_eq!(
        served.get("/api/agents/main/else").await.problem(),
        "404 not_found"
    );
    assert_eq!(
        echo.asked.lock().unwrap().len(),
        asked,
        "these never reach the desk"
    );
}

/// Somebody whom nobody knows writes.
async fn somebody_writes(served: &Served, sender: &str) -> String {
    let inbound = Inbound {
        channel: "chat".to_owned(),
        peer: Some(Peer {
            kind: ChatType::Direct,
            id: sender.to_owned(),
        }),
        sender_id: Some(sender.to_owned()),
        ..Inbound::default()
    };
    let incoming = Incoming {
        inbound,
        text: "Open the sluice".to_owned(),
        ..Incoming::default()
    };
    let noticed = Noticed {
        incoming,
        ..Noticed::default()
    };
    let notice = served.stage.gateway.notice(noticed).await.unwrap();
    assert_eq!(notice, Notice::Unknown);
    let listed = served.get("/api/pairing").await.json();
    let pending = listed["pending"].as_array().unwrap();
    let own = pending.iter().find(|one| one["senderId"] == sender);
    own.unwrap()["code"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_owner_lets_people_in_and_out() {
    let served = Served::new(Setting::replies(&[]));
    let (ada, eve) = (
        somebody_writes(&served, "ada").await,
        somebody_writes(&served, "eve").await,
    );
    let away = served.get("/api/channels").await.json();
    assert_eq!(away["turnedAway"].as_array().unwrap().len(), 2);
    let metrics = served.get("/metrics").await.body;
    assert!(metrics.contains("chitin_messages_turned_away_total 2\n"));
    for (path, body, status) in [
        (
            "approve",
            json!({"channel": "chat", "code": "AAAAAAAA"}),
            404,
        ),
        ("approve", json!({"channel": "chat", "code": "x"}), 400),
        ("approve", json!({"channel": "chat"}), 400),
        ("approve", json!({"channel": "slack", "code": ada}), 404),
        (
            "approve",
            json!({"channel": "chat", "code": ada, "owner": true}),
            200,
        ),
        (
            "approve",
            json!({"channel": "chat", "code": ada, "owner": true}),
            404,
        ),
        ("reject", json!({"channel": "chat", "code": eve}), 200),
    ] {
        let answer = served.post(&format!("/api/pairing/{path}"), &body).await;
        assert_eq!(answer.status, status, "{path} {body}: {}", answer.body);
    }
    let listed = served.get("/api/pairing").await.json();
    assert_eq!(listed["pending"], json!([]));
    assert_eq!(
        (
            &listed["paired"][0]["senderId"],
            &listed["paired"][0]["owner"]
        ),
        (&json!("ada"), &json!(true))
    );
    for (body, status) in [
        (json!({"channel": "chat", "code": "ada"}), 400),
        (json!({"channel": "chat", "senderId": "eve"}), 404),
        (json!({"channel": "chat", "senderId": "ada"}), 200),
    ] {
        let answer = served.post("/api/pairing/revoke", &body).await;
        assert_eq!(answer.status, status, "{body}: {}", answer.body);
    }
    assert_eq!(served.get("/api/pairing").await.json()["paired"], json!([]));
}

#[tokio::test]
async fn a_server_without_a_desk_says_so() {
    let served = Served::new(Setting::replies(&[]));
    assert_eq!(
        served.get("/api/agents/main/files").await.problem(),
        "501 not_here"
    );
    assert_eq!(
        served.get("/api/pairing").await.json(),
        json!({"pending": [], "paired": []})
    );
    let routes = served.get("/api/routes").await.json();
    assert_eq!(routes["defaultAgent"], "main");
    assert!(
        routes["channels"]
            .as_array()
            .unwrap()
            .contains(&json!("web"))
    );
    let tree = served.get("/api/tree").await.json();
    assert_eq!(tree["sessions"], json!([]));
}
