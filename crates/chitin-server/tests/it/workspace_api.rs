//! What the page asks about workspaces goes to whoever knows, and comes back as it is.

use crate::client::Served;
use crate::stage::Setting;
use chitin_gateway::route::{Inbound, Peer};
use chitin_gateway::{IncomingMessage, Noticed, ReceiveOutcome};
use chitin_protocol::session_key::ChatType;
use chitin_server::Attached;
use chitin_server::workspace_api::{
    ChangeList, ChangeListRequest, ChangedTurn, CurrentFile, FileKind, FileList, FilePreview,
    FileRequest, FileState, FileText, FindingCounts, FindingFix, FindingList, FindingSeverity,
    HistoryState, Lens, LensHistory, LensRequest, LensSize, LensTools, LensTotals, LensTurn,
    MemoryReply, MemoryRequest, MemoryResults, PreviewFile, PreviewRequest, PreviewTotals,
    PromptBudget, PromptSize, PromptState, RecordedSession, SaveFileRequest, SavedFile, SkillList,
    TraceList, TraceListRequest, TraceReply, TurnChangesRequest, TurnDiff, TurnList, UndoMode,
    UndoReport, WorkspaceApi, WorkspaceApiError, WorkspaceApiErrorKind, WorkspaceFile,
    WorkspaceFinding,
};
use serde_json::json;
use std::sync::{Arc, Mutex};

/// A call of the workspace API.
#[derive(Debug, Clone, PartialEq)]
enum Call {
    Turns(String, String),
    Lens(LensRequest),
    Files(String),
    File(FileRequest),
    Save(SaveFileRequest),
    Preview(PreviewRequest),
    Skills(String),
    Findings(String),
    Changes(ChangeListRequest),
    TurnChanges(TurnChangesRequest),
    Undo(TurnChangesRequest, UndoMode),
    Memory(MemoryRequest),
    Traces(TraceListRequest),
    Trace(String),
}

/// What people wrote.
const SCRIPT: &str = "<script>alert(1)</script>";

/// Remembers what it was asked, and replies with something that people wrote.
#[derive(Default)]
struct Echo {
    asked: Mutex<Vec<Call>>,
}

impl Echo {
    fn note(&self, call: Call) {
        self.asked.lock().unwrap().push(call);
    }

    fn last(&self) -> Option<Call> {
        self.asked.lock().unwrap().last().cloned()
    }
}

const BUDGET: PromptBudget = PromptBudget {
    per_file: None,
    total: None,
    used: 0,
    unit: None,
    system_chars: None,
    system_tokens: None,
};

fn changed_turn() -> ChangedTurn {
    ChangedTurn {
        number: 7,
        session: "agent:main:main".to_owned(),
        message: SCRIPT.to_owned(),
        began_ms: 1,
        undo_of: None,
        undone_by: None,
        interrupted: false,
        together_with: Vec::new(),
        files: Vec::new(),
    }
}

impl WorkspaceApi for Echo {
    fn turns(&self, agent: &str, session: &str) -> Result<TurnList, WorkspaceApiError> {
        self.note(Call::Turns(agent.to_owned(), session.to_owned()));
        Ok(TurnList {
            turns: Vec::new(),
            recorded: false,
            hint: Some(SCRIPT.to_owned()),
        })
    }

    fn lens(&self, request: LensRequest) -> Result<Lens, WorkspaceApiError> {
        self.note(Call::Lens(request));
        let size = LensSize {
            chars: 0,
            tokens: 0,
        };
        Ok(Lens {
            turn: LensTurn {
                id: "next".to_owned(),
                at: None,
                model: "offline/offline".to_owned(),
                recorded: false,
            },
            fragments: Vec::new(),
            files: Vec::new(),
            budget: BUDGET,
            origins: None,
            notes: vec![SCRIPT.to_owned()],
            totals: LensTotals {
                chars: 0,
                tokens: 0,
                complete: true,
                system: size,
                cost_usd: None,
            },
            tool_definitions: LensTools {
                shape: String::new(),
                count: 0,
                chars: 0,
                tokens: 0,
                tools: Vec::new(),
                unknown: Vec::new(),
                mcp_servers: 0,
            },
            history: LensHistory {
                state: HistoryState::New,
                messages: 0,
                turns: 0,
                images: 0,
                compaction_due: false,
                chars: None,
                tokens: None,
            },
            message: None,
            window: None,
            boundary: None,
            before: None,
        })
    }

    fn files(&self, agent: &str) -> Result<FileList, WorkspaceApiError> {
        self.note(Call::Files(agent.to_owned()));
        Ok(FileList {
            files: vec![WorkspaceFile {
                path: SCRIPT.to_owned(),
                state: FileState::Present,
                bytes: 1,
                chars: 1,
                tokens: None,
                kind: FileKind::Other,
                in_prompt: None,
                editable: true,
                reason: None,
            }],
            budget: BUDGET,
            truncated: false,
        })
    }

    fn file(&self, request: FileRequest) -> Result<FileText, WorkspaceApiError> {
        self.note(Call::File(request.clone()));
        let error = WorkspaceApiError::new;
        match request.path.as_str() {
            "gone.md" => {
                let kind = WorkspaceApiErrorKind::Missing;
                Err(error(kind, "there is no `gone.md`").hint("Look again."))
            }
            path if path.contains("..") => {
                Err(error(WorkspaceApiErrorKind::Refused, "it leads out"))
            }
            _ => Ok(FileText {
                path: request.path,
                bytes: SCRIPT.len(),
                version: "v1".to_owned(),
                text: SCRIPT.to_owned(),
                editable: true,
            }),
        }
    }

    fn save_file(&self, request: SaveFileRequest) -> Result<SavedFile, WorkspaceApiError> {
        self.note(Call::Save(request.clone()));
        if request.version.is_some() {
            Ok(SavedFile {
                version: "v2".to_owned(),
            })
        } else {
            let current = CurrentFile {
                version: Some("v2".to_owned()),
                text: Some("theirs".to_owned()),
            };
            let kind = WorkspaceApiErrorKind::Conflict { current };
            Err(WorkspaceApiError::new(kind, "Somebody was quicker."))
        }
    }

    fn preview(&self, request: PreviewRequest) -> Result<FilePreview, WorkspaceApiError> {
        self.note(Call::Preview(request));
        let size = PromptSize {
            chars: 0,
            tokens: 0,
            system_chars: 0,
        };
        Ok(FilePreview {
            file: PreviewFile {
                raw_chars: 4,
                chars: 4,
                tokens: 1,
                raw_tokens: 1,
                limit: None,
                state: PromptState::Kept,
                cut: Vec::new(),
                cause: None,
            },
            total: PreviewTotals {
                chars: 4,
                limit: None,
                tokens: 1,
                system_chars: 4,
                before: size,
            },
            effects: Vec::new(),
        })
    }

    fn skills(&self, agent: &str) -> Result<SkillList, WorkspaceApiError> {
        self.note(Call::Skills(agent.to_owned()));
        unreachable!("an implementation that panics")
    }

    fn changes(&self, request: ChangeListRequest) -> Result<ChangeList, WorkspaceApiError> {
        self.note(Call::Changes(request));
        Ok(ChangeList {
            turns: vec![changed_turn()],
            older: 0,
        })
    }

    fn turn_changes(&self, request: TurnChangesRequest) -> Result<TurnDiff, WorkspaceApiError> {
        self.note(Call::TurnChanges(request));
        Ok(TurnDiff {
            turn: changed_turn(),
            files: Vec::new(),
        })
    }

    fn undo(
        &self,
        request: TurnChangesRequest,
        mode: UndoMode,
    ) -> Result<UndoReport, WorkspaceApiError> {
        self.note(Call::Undo(request, mode));
        Ok(UndoReport {
            number: None,
            turns: Vec::new(),
            restored: vec![SCRIPT.to_owned()],
            left_alone: Vec::new(),
        })
    }

    fn findings(&self, agent: &str) -> Result<FindingList, WorkspaceApiError> {
        self.note(Call::Findings(agent.to_owned()));
        Ok(FindingList {
            findings: vec![WorkspaceFinding {
                code: "CH601".to_owned(),
                severity: FindingSeverity::Error,
                path: "SOUL.md".to_owned(),
                place: None,
                message: SCRIPT.to_owned(),
                remedy: String::new(),
                fix: Some(FindingFix::StripByteOrderMark),
                line: None,
            }],
            summary: FindingCounts {
                errors: 1,
                warnings: 0,
                infos: 0,
                suppressed: 0,
                files: 1,
                bytes: 1,
            },
        })
    }

    fn memory(&self, request: MemoryRequest) -> Result<MemoryReply, WorkspaceApiError> {
        self.note(Call::Memory(request));
        Ok(MemoryReply::Results(MemoryResults {
            question: SCRIPT.to_owned(),
            mode: "lexical".to_owned(),
            embeddings: None,
            results: Vec::new(),
            notes: Vec::new(),
        }))
    }

    fn traces(&self, request: TraceListRequest) -> Result<TraceList, WorkspaceApiError> {
        self.note(Call::Traces(request));
        Ok(TraceList {
            traces: vec![RecordedSession {
                id: "5f0c".to_owned(),
                session_key: SCRIPT.to_owned(),
                at: String::new(),
                started: String::new(),
                turns: 1,
                bytes: 1,
                model: String::new(),
                status: None,
                tokens: 0,
                tokens_unknown: false,
                cost_usd: None,
            }],
        })
    }

    fn trace(&self, id: &str) -> Result<TraceReply, WorkspaceApiError> {
        self.note(Call::Trace(id.to_owned()));
        Ok(TraceReply {
            events: vec![json!({ "text": SCRIPT })],
            truncated: false,
            total: 1,
            damaged: 0,
        })
    }
}

fn served() -> (Served, Arc<Echo>) {
    let echo = Arc::new(Echo::default());
    let attached = Attached {
        workspaces: Some(Arc::clone(&echo) as Arc<dyn WorkspaceApi>),
        ..Attached::default()
    };
    (Served::attached(Setting::replies(&[]), attached), echo)
}

#[tokio::test]
async fn every_question_of_the_page_reaches_the_workspace_api() {
    let (served, echo) = served();
    let (main, key) = ("main".to_owned(), "agent:main:main".to_owned());
    let lens = |turn: Option<&str>| {
        Call::Lens(LensRequest {
            agent: main.clone(),
            session: key.clone(),
            turn: turn.map(str::to_owned),
        })
    };
    let memory = |query: Option<&str>, limit| {
        Call::Memory(MemoryRequest {
            agent: main.clone(),
            query: query.map(str::to_owned),
            limit,
        })
    };
    let file = FileRequest {
        agent: main.clone(),
        path: "memory/a b.md".to_owned(),
    };
    let traces = TraceListRequest {
        agent: None,
        session: Some(key.clone()),
        limit: 500,
    };
    let questions = [
        (
            "/api/sessions/main/turns",
            Call::Turns(main.clone(), key.clone()),
        ),
        ("/api/sessions/main/lens?turn=next", lens(None)),
        ("/api/sessions/main/lens?turn=run-1", lens(Some("run-1"))),
        ("/api/agents/main/files", Call::Files(main.clone())),
        (
            "/api/agents/main/file?path=memory%2Fa%20b.md",
            Call::File(file),
        ),
        ("/api/agents/main/findings", Call::Findings(main.clone())),
        (
            "/api/agents/main/changes?limit=4",
            Call::Changes(ChangeListRequest {
                agent: main.clone(),
                limit: 4,
            }),
        ),
        (
            "/api/agents/main/turn-changes?turn=7",
            Call::TurnChanges(TurnChangesRequest {
                agent: main.clone(),
                turn: 7,
            }),
        ),
        (
            "/api/agents/main/undo?turn=7",
            Call::Undo(
                TurnChangesRequest {
                    agent: main.clone(),
                    turn: 7,
                },
                UndoMode::Preview,
            ),
        ),
        (
            "/api/agents/main/memory?q=larch&limit=3",
            memory(Some("larch"), Some(3)),
        ),
        ("/api/agents/main/memory", memory(None, None)),
        ("/api/traces?session=main&limit=9999", Call::Traces(traces)),
        ("/api/traces/5f0c", Call::Trace("5f0c".to_owned())),
    ];
    for (path, question) in questions {
        let answer = served.get(path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        assert_eq!(echo.last(), Some(question), "{path}");
        // What people wrote stays text: no browser takes it for a page.
        assert_eq!(answer.header("content-type"), Some("application/json"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert!(answer.body.contains(SCRIPT), "{path}: {}", answer.body);
    }
    let body = json!({"path": "SOUL.md", "text": "New.", "session": "main"});
    assert_eq!(
        served.post("/api/agents/main/preview", &body).await.status,
        200
    );
    let asked = PreviewRequest {
        agent: main.clone(),
        path: "SOUL.md".to_owned(),
        text: "New.".to_owned(),
        session: Some(key.clone()),
    };
    assert_eq!(echo.last(), Some(Call::Preview(asked)));
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
        "500 workspace"
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
        "these never reach the workspace API"
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
    let incoming = IncomingMessage {
        inbound,
        text: "Open the sluice".to_owned(),
        ..IncomingMessage::default()
    };
    let noticed = Noticed {
        incoming,
        ..Noticed::default()
    };
    let notice = served.stage.gateway.notice(noticed).await.unwrap();
    assert_eq!(notice, ReceiveOutcome::Unknown);
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
async fn a_server_without_a_workspace_api_says_so() {
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
