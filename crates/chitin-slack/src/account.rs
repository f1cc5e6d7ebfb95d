//! One account: its tokens, what is known of its workspace, and how its connection stands.

use crate::compat::ID;
use crate::people::{Person, Room};
use crate::recent::Recent;
use crate::settings::AccountSettings;
use crate::slack::{SlackNotes, SlackTokens};
use crate::web::{CallError, Client, SlackResponse, Web};
use chitin_gateway::queue::SerialQueues;
use chitin_gateway::surface::{self, Connection};
use secrecy::SecretString;
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

/// How many events and messages are remembered, so that none is handed in twice.
const SEEN: usize = 8_192;
/// How many people, rooms, threads and sent messages are remembered.
const KNOWN: usize = 2_048;

/// How many events wait to be taken in at most.
const MOST_WAITING: usize = 1_000;

/// One account.
pub(crate) struct Account {
    pub(crate) id: String,
    pub(crate) settings: AccountSettings,
    pub(crate) web: Web,
    /// The Web API as the app token sees it; Socket Mode needs it.
    pub(crate) app: Option<Web>,
    pub(crate) signing_secret: Option<SecretString>,
    pub(crate) client: Client,
    pub(crate) note: SlackNotes,
    /// Events that were dealt with, by id, and messages, by place and time.
    pub(crate) seen: Recent<()>,
    pub(crate) people: Recent<Arc<Person>>,
    pub(crate) rooms: Recent<Arc<Room>>,
    /// The direct conversations with people, by their ids.
    pub(crate) direct: Recent<String>,
    /// Threads, by place and time, and whether we have a part in them.
    pub(crate) threads: Recent<bool>,
    /// Messages that went out, by key, and what Slack calls them.
    pub(crate) sent: Recent<String>,
    /// Events are taken in in their order, conversation by conversation.
    pub(crate) queues: Arc<SerialQueues>,
    /// The token is good for nothing any more.
    pub(crate) revoked: CancellationToken,
    me: OnceCell<Me>,
    connection: Mutex<Connection>,
}

/// Who we are.
#[derive(Debug, Clone, Default)]
pub(crate) struct Me {
    pub(crate) user_id: String,
    pub(crate) bot_id: Option<String>,
    pub(crate) name: String,
    pub(crate) team_id: Option<String>,
    pub(crate) team: Option<String>,
    pub(crate) scopes: Option<String>,
}

impl Account {
    pub(crate) fn new(
        id: String,
        settings: AccountSettings,
        tokens: SlackTokens,
        client: Client,
        note: SlackNotes,
    ) -> Self {
        let web = |token| Web::new(client.clone(), settings.clone(), token);
        Self {
            web: web(tokens.bot),
            app: tokens.app.map(web),
            signing_secret: tokens.signing_secret,
            id,
            settings,
            client,
            note,
            seen: Recent::new(SEEN),
            people: Recent::new(KNOWN),
            rooms: Recent::new(KNOWN),
            direct: Recent::new(KNOWN),
            threads: Recent::new(KNOWN),
            sent: Recent::new(KNOWN),
            queues: SerialQueues::new(MOST_WAITING, MOST_WAITING),
            revoked: CancellationToken::new(),
            me: OnceCell::new(),
            connection: Mutex::default(),
        }
    }

    /// Calls a method with the bot token. A token that is good for nothing any more ends the account.
    pub(crate) async fn call(
        &self,
        method: &'static str,
        arguments: &[(&str, &str)],
    ) -> Result<Value, CallError> {
        self.ask(method, arguments).await.map(|answer| answer.body)
    }

    async fn ask(
        &self,
        method: &'static str,
        arguments: &[(&str, &str)],
    ) -> Result<SlackResponse, CallError> {
        let answer = self.web.call(method, arguments).await;
        if let Err(error) = &answer
            && error.is_about_the_token()
        {
            self.fail(error.reason(), error.hint());
        }
        answer
    }

    /// Returns who we are. It is asked once.
    pub(crate) async fn me(&self) -> Result<&Me, CallError> {
        self.me.get_or_try_init(|| self.look_at_me()).await
    }

    /// Asks who we are.
    pub(crate) async fn look_at_me(&self) -> Result<Me, CallError> {
        let answer = self.ask("auth.test", &[]).await?;
        let text = |key: &str| answer.body[key].as_str().map(str::to_owned);
        let user_id = text("user_id")
            .ok_or_else(|| CallError::odd("auth.test", "Slack does not say who we are"))?;
        Ok(Me {
            name: text("user").unwrap_or_else(|| user_id.clone()),
            bot_id: text("bot_id"),
            team_id: text("team_id"),
            team: text("team"),
            scopes: answer.scopes,
            user_id,
        })
    }

    /// Says how the connection stands. What failed for good stays so.
    pub(crate) fn stands(&self, connection: Connection) {
        let mut now = self.lock();
        if !matches!(*now, Connection::Failed { .. }) {
            *now = connection;
        }
    }

    /// Nothing will help until somebody changes something.
    pub(crate) fn fail(&self, reason: String, hint: Option<String>) {
        let mut now = self.lock();
        if !matches!(*now, Connection::Failed { .. }) {
            (self.note)(&format!("slack account `{}`: {reason}", self.id));
            *now = Connection::Failed { reason, hint };
        }
        drop(now);
        self.revoked.cancel();
    }

    /// Tells how the account stands.
    pub(crate) fn standing(&self) -> surface::Account {
        surface::Account {
            channel: ID.to_owned(),
            account_id: self.id.clone(),
            name: self.me.get().map(|me| match &me.team {
                Some(team) => format!("@{} in {team}", me.name),
                None => format!("@{}", me.name),
            }),
            connection: self.lock().clone(),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Connection> {
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
