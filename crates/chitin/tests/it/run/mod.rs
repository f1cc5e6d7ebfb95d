//! `chitin run` as a user meets it: the real binary, a real socket, real files.
#![expect(
    clippy::disallowed_methods,
    reason = "files are looked at and changed between the steps"
)]

mod bad_input;
mod continuation;
mod crashes;
mod long_transcript;
mod preflight;
mod sandboxed;
mod ten_turns;
mod terminal;
mod third_party;
mod whole_request;

use crate::process::command;
use chitin_test::TestEnv;
use chitin_test::model_server::{Format, ModelServer};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::{Command, Output};

/// Where a provider's cache ends. On the wire it parts two blocks of the system prompt.
pub(crate) const CACHE_BOUNDARY: &str = "\n\n<!-- OPENCLAW_CACHE_BOUNDARY -->\n\n";

/// A small agent and a model that answers from a script.
pub(crate) struct Talk {
    pub(crate) env: TestEnv,
    pub(crate) server: ModelServer,
}

impl Talk {
    /// A workspace of a few files, and configuration that names the scripted server.
    pub(crate) fn new(format: Format, script: &[Value]) -> Self {
        let lines: Vec<String> = script.iter().map(ToString::to_string).collect();
        Self::with_server(ModelServer::start(format, &lines.join("\n")))
    }

    pub(crate) fn with_server(server: ModelServer) -> Self {
        let env = TestEnv::new();
        env.files([
            ("AGENTS.md", "# Rules\n\nKeep the board.\n"),
            ("SOUL.md", "Short and warm.\n"),
            ("TOOLS.md", "The board is board.md.\n"),
            ("IDENTITY.md", "name: Ada\n"),
            ("USER.md", "Ingrid.\n"),
            ("HEARTBEAT.md", "- Is a launch planned?\n"),
            ("MEMORY.md", "- The larch came on Monday.\n"),
            ("board.md", "oak: 3\nlarch: 5\n"),
        ]);
        let talk = Self { env, server };
        talk.configure(json!({}));
        talk
    }

    /// Writes `chitin.json5`, with what the test adds.
    pub(crate) fn configure(&self, more: Value) {
        self.configure_at(self.server.format().api(), &self.server.url(), more);
    }

    /// The same for a server that stands between.
    pub(crate) fn configure_at(&self, api: &str, url: &str, more: Value) {
        let mut config = json!({
            "model": "yard/test-model",
            "providers": {"yard": {
                "api": api,
                "baseUrl": url,
                "apiKey": "sk-test-not-a-real-key-0123456789",
            }},
            "models": {"yard/test-model": {
                "contextWindow": 200_000, "maxOutput": 4_000,
                "inputPrice": 3.0, "outputPrice": 15.0, "cacheReadPrice": 0.3, "cacheWritePrice": 3.75,
            }},
        });
        if let (Some(config), Value::Object(more)) = (config.as_object_mut(), more) {
            config.extend(more);
        }
        self.env
            .file("home/.chitin/chitin.json5", config.to_string());
    }

    /// The command, without its words.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = command(&self.env, &["run"]);
        command.arg(self.env.workspace()).args(arguments);
        command
    }

    /// One turn.
    pub(crate) fn say(&self, words: &str) -> Output {
        self.say_with(words, &[])
    }

    pub(crate) fn say_with(&self, words: &str, more: &[&str]) -> Output {
        let mut arguments = vec!["-m", words];
        arguments.extend(more);
        self.command(&arguments).output().unwrap()
    }

    /// One turn that must end well; returns what it printed.
    pub(crate) fn answer(&self, words: &str) -> String {
        let output = self.say(words);
        let (out, error) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{words}: {out}\n{error}");
        out
    }

    /// The events of one turn.
    pub(crate) fn events(&self, words: &str) -> Vec<Value> {
        let output = self.say_with(words, &["--json"]);
        lines(&output.stdout)
    }

    /// The session's transcript, as records; every line must be whole.
    pub(crate) fn transcript(&self) -> Vec<Value> {
        let file = self.transcript_file();
        lines(&std::fs::read(file).unwrap())
    }

    pub(crate) fn transcript_file(&self) -> PathBuf {
        let sessions = self.env.home().join(".chitin/agents/main/sessions");
        let index: Value =
            serde_json::from_slice(&std::fs::read(sessions.join("sessions.json")).unwrap())
                .unwrap();
        let id = index["agent:main:main"]["sessionId"].as_str().unwrap();
        sessions.join(format!("{id}.jsonl"))
    }

    /// The messages of the transcript.
    pub(crate) fn messages(&self) -> Vec<Value> {
        let records = self.transcript().into_iter();
        records
            .filter(|record| record["type"] == "message")
            .map(|record| record["message"].clone())
            .collect()
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub(crate) fn lines(bytes: &[u8]) -> Vec<Value> {
    let lines = bytes.split(|byte| *byte == b'\n');
    lines
        .filter(|line| !line.is_empty())
        .map(|line| {
            serde_json::from_slice(line)
                .unwrap_or_else(|error| unreachable!("{error}: {}", text(line)))
        })
        .collect()
}

/// The kinds of events, without those that come once per word.
pub(crate) fn kinds(events: &[Value]) -> Vec<&str> {
    let mut kinds: Vec<&str> = events
        .iter()
        .filter_map(|event| event["type"].as_str())
        .collect();
    kinds.dedup();
    kinds
}
