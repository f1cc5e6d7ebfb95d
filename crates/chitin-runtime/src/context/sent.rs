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
use chitin_agent::turn::{
    HistoryInputs, NextRequest, ResetAsk, SentHistory, next_request, read_history, read_marker,
};
use chitin_config::settings::{ContextSettings, injection};
use chitin_context::FragmentRole;
use chitin_model::wire::{self, Wire};
use chitin_model::{ModelRequest, Retention};
use chitin_protocol::message::{Content, Message};
use chitin_protocol::tool::ToolSpec;
use chitin_store::{Branch, FileStore, RandomIds, SessionStore, StoreError};
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
    /// The user's message with the notices around it, or the notices alone; none if there is neither, and none if a context
    /// engine put something else in its place, which is then part of the history.
    pub message: Option<String>,
}

/// What a context engine lets the model see.
#[derive(Debug, Clone)]
pub struct ChosenMessages {
    /// The conversation so far.
    pub history: History,
    /// Whether the user's message follows it as it is.
    pub keeps_message: bool,
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
        let message = request.message.as_deref();
        let history = History::find(host, setup, context, message);
        let is_sent = context.chosen.as_ref().is_none_or(|one| one.keeps_message);
        Self {
            definitions: Definitions::find(host, setup, context),
            wire: wire_of(&context.model, host, setup),
            message: is_sent
                .then(|| sent_message(message, &history, host, setup, context))
                .flatten(),
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
    pub(super) fn find(
        host: &Host,
        setup: &Setup,
        session: &str,
        settings: &ContextSettings,
    ) -> Self {
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
                marked: read_marker(&store, session).unwrap_or_default(),
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
pub(super) fn store(host: &Host, setup: &Setup) -> Option<FileStore> {
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
    wire.tools(&ModelRequest {
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
        end_with(
            &mut sent,
            context.context.beside_user(FragmentRole::FirstMessage),
        );
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
    /// Reads what the next turn of a context's session sends again. Where an engine chose, it is what that one let through.
    pub fn find(host: &Host, setup: &Setup, context: &TurnContext, message: Option<&str>) -> Self {
        match (&context.chosen, store(host, setup)) {
            (Some(chosen), _) => chosen.history.clone(),
            (None, Some(store)) => Self::read(&store, host, setup, context, message),
            (None, None) => Self::New,
        }
    }

    /// The same, from a store.
    pub fn read(
        store: &dyn SessionStore,
        host: &Host,
        setup: &Setup,
        context: &TurnContext,
        message: Option<&str>,
    ) -> Self {
        if let Some(chosen) = &context.chosen {
            return chosen.history.clone();
        }
        match NextMessages::read(store, host, setup, context, message) {
            Ok(next) => next.history(context),
            Err(error) => Self::Unreadable(error.to_string()),
        }
    }
}

/// The messages of a session's next request.
pub(super) struct NextMessages {
    pub(super) request: NextRequest,
    /// The session that is continued; empty when a new one begins.
    pub(super) session_id: String,
    /// What to call an empty history.
    nothing: History,
}

impl NextMessages {
    /// Reads the session that a context is about.
    pub(super) fn read(
        store: &dyn SessionStore,
        host: &Host,
        setup: &Setup,
        context: &TurnContext,
        message: Option<&str>,
    ) -> Result<Self, StoreError> {
        let session = &context.session;
        let own = setup.configuration.layers.settings(Some(&setup.agent));
        let now_ms = SystemClock.now_ms();
        let is_stale = reset::policy(&Arc::new(host.clone()), setup, &own.sessions);
        let (branch, session_id, nothing) = match store.find(session)? {
            None => (Some(Branch::default()), String::new(), History::New),
            Some(entry)
                if is_stale(&ResetAsk {
                    session_key: session,
                    updated_at: entry.updated_at,
                    now_ms,
                }) =>
            {
                (Some(Branch::default()), String::new(), History::Expired)
            }
            Some(entry) => (None, entry.session_id, History::New),
        };
        let provider = context.model.id().split_once('/');
        let api = models::api_of_model(context.model.id(), host, setup);
        let inputs = HistoryInputs {
            rules: &setup.contract().runtime.history,
            transcript: &setup.contract().runtime.transcript,
            options: &factory::history(host, setup, &own.history),
            provider: provider.map_or("", |(provider, _)| provider),
            api: Some(api),
            window: context
                .model
                .window()
                .and_then(|window| u64::try_from(window).ok()),
            now_ms,
        };
        let branch = match branch {
            Some(branch) => branch,
            None => read_history(store, session, &inputs)?,
        };
        // Without a message the request is made as if there were one: it counts among the turns that are kept.
        let words = message.unwrap_or_default();
        Ok(Self {
            request: next_request(&branch, &inputs, &context.context, words),
            session_id,
            nothing,
        })
    }

    /// Returns what stands before the user's message.
    fn history(mut self, context: &TurnContext) -> History {
        let messages = &mut self.request.messages;
        messages.pop_if(|last| matches!(last, Message::User(_)));
        let messages = std::mem::take(messages);
        self.history_of(messages, context)
    }

    /// Returns what an engine lets the model see.
    pub(super) fn chosen(
        mut self,
        mut messages: Vec<Message>,
        context: &TurnContext,
    ) -> ChosenMessages {
        let given = self.request.messages.pop();
        let keeps_message = given.is_some() && messages.last() == given.as_ref();
        if keeps_message {
            messages.pop();
        }
        ChosenMessages {
            history: self.history_of(messages, context),
            keeps_message,
        }
    }

    fn history_of(self, mut messages: Vec<Message>, context: &TurnContext) -> History {
        let is_user = |message: &&mut Message| matches!(message, Message::User(_));
        if let Some(Message::User(first)) = messages.iter_mut().find(is_user)
            && let Content::Text(text) = &mut first.content
        {
            end_with(
                text,
                context.context.beside_user(FragmentRole::FirstMessage),
            );
        }
        if messages.is_empty() {
            return self.nothing;
        }
        History::Kept(SentHistory {
            messages,
            compaction_due: self.request.compaction_due,
        })
    }
}
