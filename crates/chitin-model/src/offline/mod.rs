//! The model that is built in: it needs no network, says what it was given, and calls tools when it is told to.
//!
//! The same request gives the same answer. It understands a few lines, at the beginning of a line of the user's words:
//!
//! | The user writes | The model |
//! |---|---|
//! | `help` | says what it understands |
//! | `say TEXT` | answers `TEXT` |
//! | `call TOOL {"key": "value"}` | calls the tool with these arguments |
//! | `use TOOL: TEXT` | calls the tool with `TEXT` as its first required argument |
//! | anything else | says what it was given |
//!
//! After the result of a tool it reports the result and calls nothing, so it never goes round in circles.

mod command;
mod words;

use crate::error::ModelError;
use crate::local;
use crate::model::{EventStream, Model, Prepared};
use crate::request::{Api, ModelRequest};
use chitin_protocol::message::{Block, Extra, Message, ToolCallBlock};
use command::{Command, Wanted};
use futures_util::future::BoxFuture;
use local::Given;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The model that is built in.
#[derive(Debug, Clone, Copy, Default)]
pub struct OfflineModel;

/// Its provider and its name.
const NAME: &str = "offline";

impl Model for OfflineModel {
    fn provider(&self) -> &'static str {
        NAME
    }

    fn name(&self) -> &'static str {
        NAME
    }

    fn api(&self) -> Api {
        Api::Offline
    }

    fn prepare(&self, request: &ModelRequest<'_>) -> Result<Prepared, ModelError> {
        let request = ModelRequest {
            model: NAME,
            ..*request
        };
        local::prepare(Api::Offline, "offline:".to_owned(), &request)
    }

    fn send(
        &self,
        prepared: Prepared,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<EventStream, ModelError>> {
        Box::pin(async move {
            let blocks = answer(&local::given(&prepared)?);
            let usage = local::estimate(&prepared.body, &blocks);
            let message = local::answer(NAME, NAME, Api::Offline, blocks, usage);
            let steps = local::steps(message);
            Ok(local::play(steps, Duration::ZERO, cancel))
        })
    }
}

fn answer(given: &Given) -> Vec<Block> {
    let results = words::last_results(&given.messages);
    if !results.is_empty() {
        return vec![Block::text(words::report(&results))];
    }
    let said = given
        .messages
        .iter()
        .rev()
        .find_map(|message| match message {
            Message::User(message) => Some(message.content.text()),
            Message::Assistant(_) | Message::ToolResult(_) | Message::Other(_) => None,
        });
    let said = said.unwrap_or_default();
    match command::read(&said, &given.tools) {
        Command::Help => vec![Block::text(words::HELP)],
        Command::Say(text) => vec![Block::text(text)],
        Command::Call(wanted) => calls(wanted, given.messages.len()),
        Command::Unclear(complaint) => vec![Block::text(format!("{complaint}\n\n{}", words::HELP))],
        Command::None => vec![Block::text(words::account(given, &said))],
    }
}

fn calls(wanted: Vec<Wanted>, place: usize) -> Vec<Block> {
    let names: Vec<&str> = wanted.iter().map(|call| &*call.name).collect();
    let mut blocks = vec![Block::text(format!("Calling {}.", words::list(&names)))];
    for (index, call) in wanted.into_iter().enumerate() {
        blocks.push(Block::ToolCall(ToolCallBlock {
            // Unique in the conversation, and the same for the same conversation.
            id: format!("offline-{place}-{index}"),
            name: call.name,
            arguments: Some(call.arguments),
            extra: Extra::new(),
        }));
    }
    blocks
}
