//! Requests, models and answers for the tests.

use chitin_contract::ProviderRules;
use chitin_model::{
    Api, EventStream, HttpModel, Model, ModelEndpoint, ModelError, ModelRequest, ModelTimeouts,
    Prepared, Retention, StreamEvent,
};
use chitin_protocol::message::{AssistantMessage, Message};
use chitin_protocol::tool::ToolSpec;
use chitin_test::model_server::{Format, ModelServer};
use futures_util::StreamExt;
use serde_json::{Map, Value, json};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A key that no text holds by accident.
pub(crate) const KEY: &str = "sk-test-0123456789-not-for-anybody";

/// What a request is made of, owned.
pub(crate) struct Conversation {
    pub(crate) system: String,
    pub(crate) messages: Vec<Message>,
    pub(crate) tools: Vec<ToolSpec>,
    extra: Map<String, Value>,
}

impl Conversation {
    pub(crate) fn saying(text: &str) -> Self {
        Self {
            system: "You help.\n\n## AGENTS.md\n\nBe brief.\n\n## Tooling\n\nNone.".to_owned(),
            messages: vec![Message::user(text, 1_763_200_000_000)],
            tools: vec![
                tool("read", &json!({"path": {"type": "string"}}), "path"),
                tool(
                    "exec",
                    &json!({"timeout": {"type": "number"}, "command": {"type": "string"}}),
                    "command",
                ),
            ],
            extra: Map::new(),
        }
    }

    pub(crate) fn request(&self) -> ModelRequest<'_> {
        ModelRequest {
            model: "test-model",
            system: &self.system,
            messages: &self.messages,
            tools: &self.tools,
            max_tokens: 1000,
            context_window: Some(100_000),
            thinking: None,
            retention: Retention::Short,
            extra: &self.extra,
            rules: &ProviderRules::CANONICAL,
        }
    }

    /// Adds a message that is written as JSON.
    pub(crate) fn then(mut self, message: Value) -> Self {
        self.messages.push(serde_json::from_value(message).unwrap());
        self
    }
}

fn tool(name: &str, properties: &Value, required: &str) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: format!("Does {name}."),
        parameters: json!({"type": "object", "properties": properties, "required": [required]}),
    }
}

pub(crate) const fn api(format: Format) -> Api {
    match format {
        Format::Anthropic => Api::AnthropicMessages,
        Format::Completions => Api::OpenaiCompletions,
        Format::Responses => Api::OpenaiResponses,
        Format::Ollama => Api::Ollama,
    }
}

/// Waits that a test can wait for.
pub(crate) const SHORT: ModelTimeouts = ModelTimeouts {
    connect: Duration::from_secs(2),
    first_byte: Duration::from_millis(300),
    idle: Duration::from_millis(200),
};

/// Waits that never end in a test.
pub(crate) const LONG: ModelTimeouts = ModelTimeouts {
    connect: Duration::from_secs(10),
    first_byte: Duration::from_mins(1),
    idle: Duration::from_mins(1),
};

/// A model that talks to a server of the test kit, with a key.
pub(crate) fn model(server: &ModelServer, timeouts: ModelTimeouts) -> HttpModel {
    let endpoint = ModelEndpoint::new(server.url())
        .with_key(KEY.into())
        .with_timeouts(timeouts);
    HttpModel::new(api(server.format()), "acme", "test-model", endpoint).unwrap()
}

/// Runs a test's future on a runtime as the binary has one.
pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

/// Asks once.
pub(crate) async fn send(
    model: &dyn Model,
    conversation: &Conversation,
) -> Result<(Prepared, EventStream), ModelError> {
    let prepared = model.prepare(&conversation.request())?;
    let events = model
        .send(prepared.clone(), CancellationToken::new())
        .await?;
    Ok((prepared, events))
}

/// Asks once and waits for the end.
pub(crate) async fn ask(
    model: &dyn Model,
    conversation: &Conversation,
) -> Result<Vec<StreamEvent>, ModelError> {
    let (_, events) = send(model, conversation).await?;
    collect(events).await
}

/// Collects an answer. The first item alone may be an error.
pub(crate) async fn collect(mut events: EventStream) -> Result<Vec<StreamEvent>, ModelError> {
    let mut all = Vec::new();
    while let Some(event) = events.next().await {
        match event {
            Ok(event) => all.push(event),
            Err(error) => {
                assert!(all.is_empty(), "an error after {all:?}: {error}");
                return Err(error);
            }
        }
    }
    Ok(all)
}

/// Returns the answer of a complete stream.
pub(crate) fn done(events: &[StreamEvent]) -> &AssistantMessage {
    match events.last() {
        Some(StreamEvent::Done(message)) => message,
        other => panic!("not done: {other:?}"),
    }
}

/// Returns what is left of an answer that failed.
pub(crate) fn failed(events: &[StreamEvent]) -> &AssistantMessage {
    match events.last() {
        Some(StreamEvent::Failed(message)) => message,
        other => panic!("not failed: {other:?}"),
    }
}
