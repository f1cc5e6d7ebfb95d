//! A yard on a fake Discord: a server with a channel, people, and an agent that is connected.

use crate::stage::{Setting, Stage};
use chitin_discord::{Discord, DiscordSettings, PositionStore};
use chitin_gateway::route::Peer;
use chitin_gateway::surface::{Connection, Network, SurfaceAction, SurfaceOutcome};
use chitin_gateway::{Address, OutgoingMessage, Surface, SurfaceError};
use chitin_net::TlsRoots;
use chitin_protocol::session_key::ChatType;
use chitin_store::SessionStore;
use chitin_test::discord::{FakeDiscord, TOKEN};
use secrecy::SecretString;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub(crate) struct Yard {
    pub(crate) discord: FakeDiscord,
    pub(crate) surface: Arc<Discord>,
    pub(crate) stage: Stage,
    pub(crate) guild: String,
    pub(crate) channel: String,
    pub(crate) ada: String,
    notes: Arc<Mutex<Vec<String>>>,
    cancel: CancellationToken,
    running: Option<JoinHandle<()>>,
}

/// Makes a surface that speaks to a fake.
pub(crate) fn surface(
    discord: &FakeDiscord,
    extra: &Value,
) -> (Arc<Discord>, Arc<Mutex<Vec<String>>>) {
    remembering(discord, extra, PositionStore::none())
}

/// Makes one that remembers.
pub(crate) fn remembering(
    discord: &FakeDiscord,
    extra: &Value,
    memory: PositionStore,
) -> (Arc<Discord>, Arc<Mutex<Vec<String>>>) {
    trusting(discord, extra, memory, TlsRoots::default())
}

/// Makes one that trusts somebody.
pub(crate) fn trusting(
    discord: &FakeDiscord,
    extra: &Value,
    memory: PositionStore,
    trust: TlsRoots,
) -> (Arc<Discord>, Arc<Mutex<Vec<String>>>) {
    let notes = Arc::new(Mutex::new(Vec::new()));
    let noting = Arc::clone(&notes);
    let note: chitin_discord::DiscordNotes =
        Arc::new(move |note: &str| noting.lock().unwrap().push(note.to_owned()));
    let mut section = discord.section();
    merge(&mut section, extra);
    let settings = DiscordSettings::read(&section).unwrap().trusting(trust);
    let tokens = BTreeMap::from([("default".to_owned(), SecretString::from(TOKEN))]);
    (
        Discord::new(&settings, tokens, memory, &note).unwrap(),
        notes,
    )
}

fn merge(into: &mut Value, from: &Value) {
    for (key, value) in from.as_object().into_iter().flatten() {
        into[key] = value.clone();
    }
}

impl Yard {
    /// Opens the yard: everybody is heard, and the model says these things.
    pub(crate) async fn open(replies: &[Value]) -> Self {
        Self::with(replies, json!({})).await
    }

    /// Opens it with more in `channels.discord`.
    pub(crate) async fn with(replies: &[Value], extra: Value) -> Self {
        let yard = Self::closed(replies, &extra);
        yard.connect().await
    }

    /// Opens a yard that is there already for Ada as the owner of the agent, with other replies.
    pub(crate) async fn of_ada(yard: Self, replies: &[Value]) -> Self {
        let mut config = yard.stage.host.config.clone();
        config["commands"] = json!({"ownerAllowFrom": [format!("discord:{}", yard.ada)]});
        let stage = Setting::replies(replies)
            .config(config)
            .surface(Arc::clone(&yard.surface) as Arc<dyn Surface>)
            .stage();
        Self { stage, ..yard }.connect().await
    }

    /// Sets another stage in it.
    pub(crate) fn set(self, setting: Setting) -> Self {
        let stage = setting
            .config(self.stage.host.config.clone())
            .surface(Arc::clone(&self.surface) as Arc<dyn Surface>)
            .stage();
        Self { stage, ..self }
    }

    /// The same yard with another surface and stage.
    pub(crate) fn replaced(
        self,
        surface: Arc<Discord>,
        stage: Stage,
        notes: Arc<Mutex<Vec<String>>>,
    ) -> Self {
        Self {
            surface,
            stage,
            notes,
            cancel: CancellationToken::new(),
            running: None,
            ..self
        }
    }

    /// Makes it without connecting.
    pub(crate) fn closed(replies: &[Value], extra: &Value) -> Self {
        Self::beside(FakeDiscord::start(), &TlsRoots::default(), replies, extra)
    }

    /// Makes it beside a Discord that is there, without connecting.
    pub(crate) fn beside(
        discord: FakeDiscord,
        trust: &TlsRoots,
        replies: &[Value],
        extra: &Value,
    ) -> Self {
        let guild = discord.guild("Shipyard");
        let channel = discord.channel(&guild, "berths");
        let ada = discord.person("Ada");
        let mut section = json!({
            "dmPolicy": "open", "allowFrom": ["*"], "groupPolicy": "open", "guilds": {"*": {"requireMention": false}},
        });
        merge(&mut section, extra);
        let (surface, notes) = trusting(&discord, &section, PositionStore::none(), trust.clone());
        let config = json!({"channels": {"discord": section}, "tools": {"profile": "full"}});
        let stage = Setting::replies(replies)
            .config(config)
            .surface(Arc::clone(&surface) as Arc<dyn Surface>)
            .stage();
        Self {
            discord,
            surface,
            stage,
            guild,
            channel,
            ada,
            notes,
            cancel: CancellationToken::new(),
            running: None,
        }
    }

    /// Connects, and waits until it is.
    pub(crate) async fn connect(mut self) -> Self {
        self.begin();
        self.until_connected().await;
        self
    }

    /// Begins to connect.
    pub(crate) fn begin(&mut self) {
        let network = Arc::clone(&self.surface);
        let running = network.run(self.stage.gateway.clone(), self.cancel.clone());
        self.running = Some(tokio::spawn(running));
    }

    pub(crate) async fn until_connected(&self) {
        self.until_standing("connected", |connection| {
            *connection == Connection::Connected
        })
        .await;
    }

    /// Waits until the connection stands as wanted. Nothing tells when it does, so it is looked at.
    pub(crate) async fn until_standing(
        &self,
        what: &str,
        wanted: impl Fn(&Connection) -> bool,
    ) -> Connection {
        for _ in 0..6_000 {
            let connection = self.surface.accounts().remove(0).connection;
            if wanted(&connection) {
                return connection;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        unreachable!("never {what}: {:?}", self.surface.accounts());
    }

    /// Waits until the run is over by itself.
    pub(crate) async fn until_over(&mut self) {
        let running = self.running.take().unwrap();
        tokio::time::timeout(Duration::from_secs(20), running)
            .await
            .unwrap()
            .unwrap();
    }

    /// Tells it to end, and waits until it did.
    pub(crate) async fn end(&mut self) {
        self.cancel.cancel();
        self.until_over().await;
    }

    pub(crate) fn notes(&self) -> String {
        self.notes.lock().unwrap().join("\n")
    }

    /// Says something in the channel, and waits until the bot posted so many messages in all and nothing is to be done.
    pub(crate) async fn say_and_wait(&self, text: &str, posts: usize) -> Vec<String> {
        self.discord.say(&self.channel, &self.ada, text);
        let texts = self.discord.until_posted(posts).await;
        self.stage.rest().await;
        texts
    }

    /// Names the channel as texts do.
    pub(crate) fn here(&self, text: &str) -> String {
        format!("{}: {text}", self.channel)
    }

    pub(crate) fn place(&self) -> Address {
        channel(&self.channel)
    }

    pub(crate) async fn act(&self, action: SurfaceAction) -> Result<SurfaceOutcome, SurfaceError> {
        self.surface.act(&self.place(), &action).await
    }

    pub(crate) async fn other(&self, name: &str, fields: Value) -> Result<Value, SurfaceError> {
        let action = SurfaceAction::Other {
            name: name.to_owned(),
            fields: serde_json::from_value(fields).unwrap(),
        };
        match self.act(action).await? {
            SurfaceOutcome::Other { value } => Ok(value),
            _ => Ok(Value::Null),
        }
    }

    /// Returns the sessions that there are.
    pub(crate) fn sessions(&self) -> Vec<String> {
        let sessions = self.stage.host.file_store("main").list().unwrap();
        sessions.into_iter().map(|(key, _)| key).collect()
    }
}

pub(crate) fn channel(id: &str) -> Address {
    place(ChatType::Channel, id)
}

pub(crate) fn person(id: &str) -> Address {
    place(ChatType::Direct, id)
}

fn place(kind: ChatType, id: &str) -> Address {
    let id = id.to_owned();
    chitin_gateway::surface::place("discord", Peer { kind, id })
}

pub(crate) fn message(key: &str, text: &str) -> OutgoingMessage {
    OutgoingMessage {
        key: key.to_owned(),
        text: text.to_owned(),
        plain: text.to_owned(),
        ..OutgoingMessage::default()
    }
}
