//! What the journal promises: order, whole lines, no secrets, no delay, no failed turn.
#![expect(
    clippy::disallowed_methods,
    reason = "tests look at the files that the journal wrote"
)]

mod bundle;
mod growth;
mod logs;
mod safety;
mod switches;
mod trajectory;

use chitin_agent::journal::{
    Journal, JournalEnvironment, JournalRedactor, LookupDirectories, RequestSent, RunEnded,
    RunStarted, RunSurroundings, Switches, TrajectorySwitch, TurnMoment, trajectory_path,
};
use chitin_contract::TraceRules;
use chitin_model::{Api, Prepared, StreamEvent};
use chitin_protocol::message::{
    AssistantMessage, Block, Content, CostShares, Extra, Message, StopReason, ToolCallBlock,
    ToolResultMessage, Usage,
};
use chitin_protocol::settings::TraceSettings;
use chitin_protocol::tool::ToolSpec;
use chitin_test::TestEnv;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

pub(super) const SESSION: &str = "5f0c7a52-1111-4222-8333-444455556666";
pub(super) const KEY: &str = "agent:main:main";
pub(super) const NOON: i64 = 1_700_000_000_000;

/// A state directory with a journal in it, and a turn loop that tells it of turns.
pub(super) struct Scene {
    pub(super) env: TestEnv,
    pub(super) rules: TraceRules,
    pub(super) notes: Arc<Mutex<Vec<String>>>,
    pub(super) summaries: Arc<Mutex<Vec<String>>>,
    /// The time goes on a little whenever somebody looks.
    clock: Arc<AtomicI64>,
}

/// What differs from turn to turn.
pub(super) struct Plan {
    pub(super) run_id: String,
    pub(super) system: String,
    pub(super) prompt: String,
    pub(super) history: Vec<Message>,
    pub(super) tool_output: String,
    pub(super) api: Api,
    pub(super) url: String,
    /// Tokens from the cache, call by call.
    pub(super) cache_read: [u64; 2],
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            run_id: "run-1".to_owned(),
            system: "Be brief.".to_owned(),
            prompt: "What is in the note?".to_owned(),
            history: Vec::new(),
            tool_output: "kumquat".to_owned(),
            api: Api::AnthropicMessages,
            url: "http://127.0.0.1:9/v1/messages".to_owned(),
            cache_read: [0, 40],
        }
    }
}

impl Scene {
    pub(super) fn new(rules: TraceRules) -> Self {
        Self {
            env: TestEnv::new(),
            rules,
            notes: Arc::default(),
            summaries: Arc::default(),
            clock: Arc::new(AtomicI64::new(NOON)),
        }
    }

    pub(super) fn state(&self) -> PathBuf {
        self.env.path().join("state")
    }

    pub(super) fn places(&self) -> LookupDirectories {
        LookupDirectories {
            logs: self.state().join("logs"),
            home: Some(self.env.home()),
            working_directory: self.env.path(),
        }
    }

    pub(super) fn switches(&self, variables: &[(&str, &str)]) -> Switches {
        let find = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let settings = TraceSettings::default();
        Switches::from_lookup(find, &settings, &Value::Null, &self.places(), &self.rules)
    }

    pub(super) fn journal(&self, variables: &[(&str, &str)]) -> Journal {
        let keep = |list: &Arc<Mutex<Vec<String>>>| {
            let list = Arc::clone(list);
            Arc::new(move |line: &str| list.lock().unwrap().push(line.to_owned()))
        };
        let clock = Arc::clone(&self.clock);
        let around = JournalEnvironment {
            rules: self.rules,
            redactor: JournalRedactor::default(),
            clock: Arc::new(move || clock.fetch_add(1, Ordering::Relaxed)),
            note: keep(&self.notes),
            summary: keep(&self.summaries),
        };
        Journal::new(&self.switches(variables), around)
    }

    /// Holds a recording as a turn that runs does: others write their events out.
    #[expect(clippy::unused_self, reason = "it reads as what the scene does")]
    pub(super) fn hold(&self, path: &std::path::Path) -> std::fs::File {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let file = std::fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(path)
            .unwrap();
        rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive).unwrap();
        file
    }

    pub(super) fn transcript(&self) -> PathBuf {
        let sessions = self.state().join("agents/main/sessions");
        sessions.join(format!("{SESSION}.jsonl"))
    }

    pub(super) fn trajectory(&self) -> PathBuf {
        let switch = TrajectorySwitch {
            directory: None,
            logs: self.places().logs,
        };
        trajectory_path(&switch, &self.rules, SESSION, Some(&self.transcript()))
    }

    pub(super) fn log(&self, name: &str) -> Vec<Value> {
        lines(&self.state().join("logs").join(name))
    }

    /// Tells of a turn up to the first request.
    pub(super) fn begin(&self, journal: &mut Journal, plan: &Plan) {
        let (tools, workspace) = (tools(), self.env.workspace());
        journal.observe(TurnMoment::RunStarted(&RunStarted {
            run_id: &plan.run_id,
            session_id: SESSION,
            session_key: KEY,
            agent_id: "main",
            workspace: &workspace,
            session_file: Some(&self.transcript()),
            provider: "mock",
            model: "mock-1",
            api: plan.api,
            thinking: None,
            tools: &tools,
            trigger: "user",
            channel: None,
            contract: "canonical",
            surroundings: &RunSurroundings {
                version: "0.1.0",
                ..RunSurroundings::default()
            },
        }));
        let messages = &plan.history;
        journal.observe(TurnMoment::SessionLoaded {
            messages,
            system: &plan.system,
        });
        journal.observe(TurnMoment::SessionSanitized { messages });
        journal.observe(TurnMoment::SessionLimited { messages });
        let prompt = &plan.prompt;
        journal.observe(TurnMoment::PromptBefore { prompt, messages });
        journal.observe(TurnMoment::PromptImages {
            prompt,
            messages,
            images: 0,
        });
    }

    /// Tells of a whole turn: a call of a tool, then an answer. Returns the bodies that were sent.
    pub(super) fn turn(&self, journal: &mut Journal, plan: &Plan) -> Vec<String> {
        self.begin(journal, plan);
        let mut messages = plan.history.clone();
        messages.push(Message::user(&plan.prompt, NOON));
        let call = ToolCallBlock {
            id: "call-1".to_owned(),
            name: "read".to_owned(),
            arguments: Some(json!({"path": "note.txt"})),
            extra: Extra::new(),
        };
        let answers = [
            answer(
                vec![Block::text("Let me see."), Block::ToolCall(call.clone())],
                StopReason::ToolUse,
                plan.cache_read[0],
            ),
            answer(
                vec![Block::text("A kumquat.")],
                StopReason::Stop,
                plan.cache_read[1],
            ),
        ];
        let mut bodies = Vec::new();
        for (number, message) in (1..).zip(answers) {
            bodies.push(self.request(journal, plan, number, &messages));
            stream(journal, &message);
            journal.observe(TurnMoment::Answered {
                call: number,
                message: &message,
            });
            let is_call = message.tool_calls().next().is_some();
            messages.push(Message::Assistant(message));
            if is_call {
                let result = ToolResultMessage {
                    tool_call_id: call.id.clone(),
                    tool_name: Some(call.name.clone()),
                    content: Content::Blocks(vec![Block::text(&plan.tool_output)]),
                    details: None,
                    is_error: false,
                    timestamp: Some(NOON),
                    extra: Extra::new(),
                };
                journal.observe(TurnMoment::ToolCalled(&call));
                journal.observe(TurnMoment::ToolDone {
                    result: &result,
                    summary: Some("from note.txt"),
                });
                messages.push(Message::ToolResult(result));
            }
        }
        let messages = &messages;
        journal.observe(TurnMoment::SessionAfter { messages });
        journal.observe(TurnMoment::RunEnded(&RunEnded {
            stop_reason: Some(&StopReason::Stop),
            stopped: None,
            error: None,
            prompt: &plan.prompt,
            messages,
            spending: None,
        }));
        bodies
    }

    /// Tells of a request and returns its body.
    pub(super) fn request(
        &self,
        journal: &mut Journal,
        plan: &Plan,
        call: u32,
        messages: &[Message],
    ) -> String {
        let tools = tools();
        let last = messages.len() - 1;
        let sent: Vec<Value> = messages
            .iter()
            .enumerate()
            .map(|(at, message)| {
                let mut message = json!(message);
                if at == last {
                    message["cache_control"] = json!({"type": "ephemeral"});
                }
                message
            })
            .collect();
        let system =
            json!([{"type": "text", "text": plan.system, "cache_control": {"type": "ephemeral"}}]);
        let body = json!({"model": "mock-1", "system": system, "tools": tools, "messages": sent, "stream": true});
        let body = body.to_string();
        let digest = Sha256::digest(body.as_bytes());
        let digest = digest.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        journal.observe(TurnMoment::RequestSent(&RequestSent {
            call,
            provider: "mock",
            model: "mock-1",
            prepared: &Prepared {
                api: plan.api,
                method: "POST",
                url: plan.url.clone(),
                headers: vec![("content-type".to_owned(), "application/json".to_owned())],
                secret_headers: vec!["x-api-key".to_owned()],
                body: body.clone().into(),
                digest,
                tee: None,
                gone_out: None,
                rules: chitin_contract::ProviderRules::CANONICAL,
            },
            system: &plan.system,
            messages,
            before_prompt: plan.history.len(),
            tools: &tools,
            prompt: &plan.prompt,
            images: 0,
            max_tokens: 4096,
            leaf: None,
            sent_at: self.clock.fetch_add(1, Ordering::Relaxed),
        }));
        body
    }
}

pub(super) fn tools() -> Vec<ToolSpec> {
    let tool = |name: &str| ToolSpec {
        name: name.to_owned(),
        description: format!("{name}s a file"),
        parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
    };
    vec![tool("write"), tool("read")]
}

fn answer(blocks: Vec<Block>, reason: StopReason, cache_read: u64) -> AssistantMessage {
    AssistantMessage {
        content: Content::Blocks(blocks),
        api: None,
        provider: Some("mock".to_owned()),
        model: Some("mock-1".to_owned()),
        usage: Some(Usage {
            input: 100,
            output: 10,
            cache_read,
            total_tokens: 110 + cache_read,
            cost: CostShares {
                total: 0.25,
                ..CostShares::default()
            },
            ..Usage::default()
        }),
        stop_reason: Some(reason),
        error_message: None,
        timestamp: Some(NOON),
        response_id: None,
        extra: Extra::new(),
    }
}

fn stream(journal: &mut Journal, message: &AssistantMessage) {
    let mut tell = |event: StreamEvent| journal.observe(TurnMoment::Streamed(&event));
    tell(StreamEvent::Start);
    for (index, block) in message.content.blocks().iter().enumerate() {
        match block {
            Block::Text(block) => {
                let (start, end) = block.text.split_at(4);
                tell(StreamEvent::TextStart { index });
                for delta in [start.to_owned(), end.to_owned()] {
                    tell(StreamEvent::TextDelta { index, delta });
                }
                let text = block.text.clone();
                tell(StreamEvent::TextEnd { index, text });
            }
            Block::ToolCall(call) => {
                let call = call.clone();
                tell(StreamEvent::ToolCallStart { index });
                tell(StreamEvent::ToolCallEnd { index, call });
            }
            Block::Thinking(_) | Block::Image(_) | Block::Other(_) => {}
        }
    }
    tell(StreamEvent::Done(Box::new(message.clone())));
}

/// Reads the events of a trajectory.
pub(super) fn events(path: &std::path::Path) -> Vec<Value> {
    let file = chitin_agent::journal::read(path).unwrap();
    assert_eq!((file.damaged, file.lost), (0, 0));
    file.events().map(|event| event.value).collect()
}

pub(super) fn lines(path: &std::path::Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Puts the values of a field into one line, to compare an order at a glance.
pub(super) fn order(records: &[Value], field: &str) -> String {
    let words = records.iter().map(|one| one[field].as_str().unwrap_or("-"));
    words.collect::<Vec<_>>().join(" ")
}

pub(super) const EVERYTHING: [(&str, &str); 5] = [
    ("OPENCLAW_ANTHROPIC_PAYLOAD_LOG", "1"),
    ("OPENCLAW_RAW_STREAM", "1"),
    ("OPENCLAW_CACHE_TRACE", "1"),
    ("OPENCLAW_CACHE_TRACE_SYSTEM", "1"),
    ("CHITIN_DEBUG_MODEL_PAYLOAD", "full-redacted"),
];
