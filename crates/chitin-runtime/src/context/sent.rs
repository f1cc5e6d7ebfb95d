//! What the next request holds besides the system prompt: tool definitions, history, the message.

use super::definitions::Definitions;
use super::{ModelFigures, TurnContext, TurnRequest, WhichTurn};
use crate::factory;
use crate::host::Host;
use crate::models;
use crate::reset;
use crate::setup::{Setup, chitin_home};
use chitin_agent::clock::Clock;
use chitin_agent::clock::SystemClock;
use chitin_agent::history::MessageStamp;
use chitin_agent::history::is_marked;
use chitin_agent::turn::{HistoryInputs, ResetAsk, SentHistory, sent_history};
use chitin_context::Role;
use chitin_model::wire::{self, Wire};
use chitin_model::{Request, Retention};
use chitin_protocol::message::{Content, Message};
use chitin_protocol::tool::ToolSpec;
use chitin_store::{Branch, FileStore, RandomIds, SessionStore, StoreError};
use chitin_workspace::settings::{Settings, injection};
use serde_json::{Map, Value};
use std::sync::Arc;

/// What the next request holds besides the system prompt.
pub struct RequestParts {
    /// The tools.
    pub definitions: Definitions,
    /// The wire format that they are written in.
    pub wire: &'static dyn Wire,
    /// The conversation so far.
    pub history: History,
    /// The user's message with the notices around it, or the notices alone; none if there is neither.
    pub message: Option<String>,
}

/// The conversation so far.
#[derive(Debug, Clone)]
pub enum History {
    /// The session is new.
    New,
    /// The session was last used so long ago that a new one begins.
    Expired,
    /// This is sent again.
    Kept(SentHistory),
    /// It could not be read.
    Unreadable(String),
}

impl RequestParts {
    /// Finds out what a turn sends besides its system prompt. Nothing is started or written.
    pub fn find(request: &TurnRequest, host: &Host, setup: &Setup, context: &TurnContext) -> Self {
        let history = History::find(host, setup, context);
        Self {
            definitions: Definitions::find(host, setup, context),
            wire: wire_of(&context.model, host, setup),
            message: sent_message(request.message.as_deref(), &history, host, setup, context),
            history,
        }
    }
}

/// Which turn of a session is the next, as its transcript says.
#[derive(Debug, Clone, Copy)]
pub(super) struct StoredTurn {
    pub(super) which: WhichTurn,
    /// Whether a full first turn is marked in the transcript.
    pub(super) marked: bool,
}

impl Default for StoredTurn {
    fn default() -> Self {
        Self {
            which: WhichTurn::First,
            marked: false,
        }
    }
}

impl StoredTurn {
    pub(super) const LATER: Self = Self {
        which: WhichTurn::Next,
        marked: true,
    };

    /// Looks into the store. A session that cannot be read is one that was there before.
    pub(super) fn find(host: &Host, setup: &Setup, session: &str, settings: &Settings) -> Self {
        let Some(store) = store(host, setup) else {
            return Self::default();
        };
        let own = setup.configuration.layers.settings(Some(&setup.agent));
        let is_stale = reset::policy(&Arc::new(host.clone()), setup, &own.sessions);
        match store.find(session) {
            Ok(None) => Self::default(),
            Ok(Some(entry))
                if is_stale(&ResetAsk {
                    session_key: session,
                    updated_at: entry.updated_at,
                    now_ms: SystemClock.now_ms(),
                }) =>
            {
                Self::default()
            }
            // The marker counts in this mode only; in all others the transcript need not be read.
            Ok(Some(_)) if settings.context_injection == injection::CONTINUATION_SKIP => Self {
                which: WhichTurn::Next,
                marked: store
                    .read(session)
                    .is_ok_and(|branch| is_marked(&branch.entries)),
            },
            Ok(Some(_)) | Err(_) => Self {
                which: WhichTurn::Next,
                marked: false,
            },
        }
    }
}

/// Returns the id of the session that the next turn continues; empty when a new one begins.
pub(super) fn session_id(host: &Host, setup: &Setup, session: &str) -> String {
    let own = setup.configuration.layers.settings(Some(&setup.agent));
    let is_stale = reset::policy(&Arc::new(host.clone()), setup, &own.sessions);
    let found = store(host, setup).and_then(|store| store.find(session).ok().flatten());
    let continued = found.filter(|entry| {
        !is_stale(&ResetAsk {
            session_key: session,
            updated_at: entry.updated_at,
            now_ms: SystemClock.now_ms(),
        })
    });
    continued.map(|entry| entry.session_id).unwrap_or_default()
}

/// Opens the sessions of an agent, if there is a place for them. Nothing is read yet.
fn store(host: &Host, setup: &Setup) -> Option<FileStore> {
    let directory = FileStore::directory_of(&chitin_home(host)?, setup.agent.as_str());
    let rules = &setup.contract().runtime.transcript;
    Some(FileStore::new(directory, rules, RandomIds))
}

/// Returns the wire format of a model.
pub fn wire_of(model: &ModelFigures, host: &Host, setup: &Setup) -> &'static dyn Wire {
    wire::of(models::api_of_model(model.id(), host, setup))
}

/// Writes tool definitions as a wire format has them.
pub fn written(wire: &dyn Wire, tools: &[ToolSpec], setup: &Setup) -> Vec<Value> {
    wire.tools(&Request {
        model: "",
        system: "",
        messages: &[],
        tools,
        max_tokens: 0,
        context_window: None,
        thinking: None,
        retention: Retention::Short,
        extra: &Map::new(),
        rules: &setup.contract().runtime.provider,
    })
}

/// Returns the message as it is sent. Without one, the notices that will stand around it are known all the same.
fn sent_message(
    message: Option<&str>,
    history: &History,
    host: &Host,
    setup: &Setup,
    context: &TurnContext,
) -> Option<String> {
    let mut sent = context.context.user_message(message.unwrap_or_default());
    let zone = || factory::user_zone(host, setup);
    let stamp = MessageStamp::of(&setup.contract().runtime.transcript, zone);
    let stamped = stamp.and_then(|stamp| stamp.stamped(&sent, SystemClock.now_ms()));
    sent = stamped.unwrap_or(sent);
    if !matches!(history, History::Kept(_)) {
        end_with(&mut sent, context.context.beside_user(Role::FirstMessage));
    }
    (message.is_some() || !sent.is_empty()).then_some(sent)
}

/// Puts what the first message of a conversation ends with behind it.
fn end_with(message: &mut String, line: Option<String>) {
    if let Some(line) = line {
        if !message.is_empty() {
            message.push_str("\n\n");
        }
        message.push_str(&line);
    }
}

impl History {
    /// Reads what the next turn of a context's session sends again.
    pub fn find(host: &Host, setup: &Setup, context: &TurnContext) -> Self {
        match store(host, setup) {
            Some(store) => Self::read(&store, host, setup, context),
            None => Self::New,
        }
    }

    /// The same, from a store.
    pub fn read(
        store: &dyn SessionStore,
        host: &Host,
        setup: &Setup,
        context: &TurnContext,
    ) -> Self {
        Self::of(store, host, setup, context)
            .unwrap_or_else(|error| Self::Unreadable(error.to_string()))
    }

    fn of(
        store: &dyn SessionStore,
        host: &Host,
        setup: &Setup,
        context: &TurnContext,
    ) -> Result<Self, StoreError> {
        let session = &context.session;
        let own = setup.configuration.layers.settings(Some(&setup.agent));
        let now_ms = SystemClock.now_ms();
        let is_stale = reset::policy(&Arc::new(host.clone()), setup, &own.sessions);
        let (branch, nothing) = match store.find(session)? {
            None => (Branch::default(), Self::New),
            Some(entry)
                if is_stale(&ResetAsk {
                    session_key: session,
                    updated_at: entry.updated_at,
                    now_ms,
                }) =>
            {
                (Branch::default(), Self::Expired)
            }
            Some(_) => (store.read(session)?, Self::New),
        };
        let provider = context.model.id().split_once('/');
        let api = models::api_of_model(context.model.id(), host, setup);
        let inputs = HistoryInputs {
            rules: &setup.contract().runtime.history,
            options: &factory::history(host, setup, &own.history),
            provider: provider.map_or("", |(provider, _)| provider),
            api: Some(api),
            window: context
                .model
                .window()
                .and_then(|window| u64::try_from(window).ok()),
            now_ms,
        };
        let mut sent = sent_history(&branch, &inputs, &context.context);
        let is_user = |message: &&mut Message| matches!(message, Message::User(_));
        if let Some(Message::User(first)) = sent.messages.iter_mut().find(is_user)
            && let Content::Text(text) = &mut first.content
        {
            end_with(text, context.context.beside_user(Role::FirstMessage));
        }
        Ok(if sent.messages.is_empty() {
            nothing
        } else {
            Self::Kept(sent)
        })
    }
}
