//! A fake Discord that speaks the real protocol over sockets: HTTP as Discord's REST interface (version 10), a WebSocket as its gateway, and
//! the place where files lie. It remembers everything, can be told to misbehave, and never leaves this machine.
//!
//! It runs on a thread of its own, so that it serves tests with and without a runtime. Ids look like Discord's.

mod faults;
mod gateway;
mod http;
mod messages;
mod rest;
mod saying;
mod state;

pub use faults::{Fault, Rule};
pub use saying::Saying;
pub use state::{Asked, Posted, SentFile};

use crate::tls::{Authority, Front, Place};
use serde_json::{Value, json};
use state::State;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::{oneshot, watch};

/// The bot's own id.
pub const BOT: &str = "900000000000000001";
/// The bot's name.
pub const BOT_NAME: &str = "Chitin";
/// The token that is taken.
pub const TOKEN: &str = "fake.discord.token";
/// The longest wait for something to happen.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// A fake Discord. It ends when it is dropped.
pub struct FakeDiscord {
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    _front: Option<Front>,
}

/// What the parts of the server share.
pub(crate) struct Shared {
    state: Mutex<State>,
    changed: watch::Sender<u64>,
    place: Place,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what is known, and wakes whoever waits for a change.
    fn change<T>(&self, changing: impl FnOnce(&mut State) -> T) -> T {
        let changed = changing(&mut self.state());
        self.changed.send_modify(|count| *count += 1);
        changed
    }
}

impl FakeDiscord {
    /// Starts one on a free port.
    pub fn start() -> Self {
        Self::start_behind(None)
    }

    /// Starts one that speaks TLS.
    pub fn start_tls(authority: &Authority) -> Self {
        Self::start_behind(Some(authority))
    }

    fn start_behind(authority: Option<&Authority>) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0")
            .unwrap_or_else(|error| unreachable!("no port: {error}"));
        let address = listener
            .local_addr()
            .unwrap_or_else(|error| unreachable!("no address: {error}"));
        let front = authority.map(|authority| authority.front(address));
        let place = Place::new(address, front.as_ref());
        let shared = Arc::new(Shared {
            state: Mutex::new(State::new(place)),
            changed: watch::channel(0).0,
            place,
        });
        let (stop, stopped) = oneshot::channel();
        let serving = Arc::clone(&shared);
        let thread = std::thread::spawn(move || http::serve(serving, listener, stopped));
        Self {
            shared,
            stop: Some(stop),
            thread: Some(thread),
            _front: front,
        }
    }

    /// Returns what `channels.discord` has to say to reach it.
    pub fn section(&self) -> Value {
        json!({"apiUrl": self.api_url(), "gatewayUrl": self.gateway_url()})
    }

    /// Returns where requests go.
    pub fn api_url(&self) -> String {
        self.shared.place.http()
    }

    /// Returns where events come from.
    pub fn gateway_url(&self) -> String {
        self.shared.place.ws()
    }

    /// Makes a server, and tells whoever is connected.
    pub fn guild(&self, name: &str) -> String {
        self.shared.change(|state| {
            let id = state.new_id();
            state.guilds.insert(id.clone(), name.to_owned());
            let guild = state.guild(&id);
            state.dispatch("GUILD_CREATE", &guild);
            id
        })
    }

    /// Makes a channel in a server.
    pub fn channel(&self, guild: &str, name: &str) -> String {
        self.channel_of_kind(guild, name, 0)
    }

    /// Makes a forum in a server.
    pub fn forum(&self, guild: &str, name: &str) -> String {
        self.channel_of_kind(guild, name, 15)
    }

    fn channel_of_kind(&self, guild: &str, name: &str, kind: u16) -> String {
        self.shared.change(|state| {
            let id = state.new_id();
            let channel = json!({"id": id, "type": kind, "name": name, "guild_id": guild});
            state.channels.insert(id.clone(), channel.clone());
            state.dispatch("CHANNEL_CREATE", &channel);
            id
        })
    }

    /// Makes a thread, begun by somebody.
    pub fn thread(&self, parent: &str, name: &str, owner: &str) -> String {
        self.shared.change(|state| {
            let id = state.new_id();
            let thread = state.new_thread(&id, parent, name, owner);
            state.dispatch("THREAD_CREATE", &thread);
            id
        })
    }

    /// Makes a person.
    pub fn person(&self, name: &str) -> String {
        self.shared.change(|state| {
            let id = state.new_id();
            state.people.insert(id.clone(), name.to_owned());
            id
        })
    }

    /// Returns the conversation of the bot with a person.
    pub fn direct(&self, person: &str) -> String {
        self.shared.change(|state| {
            state.direct(person)["id"]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        })
    }

    /// Begins something that a person says; [`Saying::say`] says it.
    pub fn saying<'a>(&'a self, channel: &str, person: &str, text: &str) -> Saying<'a> {
        Saying::new(self, channel, person, text)
    }

    /// Says something, and returns the message.
    pub fn say(&self, channel: &str, person: &str, text: &str) -> String {
        self.saying(channel, person, text).say()
    }

    /// Returns what the bot posted, in order.
    pub fn posted(&self) -> Vec<Posted> {
        self.shared.state().posted.clone()
    }

    /// Returns what the bot posted, as `channel: text`.
    pub fn texts(&self) -> Vec<String> {
        let posted = self.posted().into_iter();
        posted
            .map(|posted| format!("{}: {}", posted.channel, posted.text))
            .collect()
    }

    /// Returns the requests that came, in order.
    pub fn asked(&self) -> Vec<Asked> {
        self.shared.state().asked.clone()
    }

    /// Returns the requests whose path has something in it.
    pub fn asked_for(&self, fragment: &str) -> Vec<Asked> {
        let asked = self.asked().into_iter();
        asked
            .filter(|asked| asked.path.contains(fragment))
            .collect()
    }

    /// Returns a message as it is now.
    pub fn message(&self, id: &str) -> Option<Value> {
        self.shared.state().message(id).cloned()
    }

    /// Returns how often somebody identified, resumed and sent a heartbeat.
    pub fn greetings(&self) -> (usize, usize, usize) {
        let state = self.shared.state();
        (state.identified.len(), state.resumed, state.heartbeats)
    }

    /// Returns what the last identification said.
    pub fn identified(&self) -> Option<Value> {
        self.shared.state().identified.last().cloned()
    }

    /// Waits until something holds; says what was there when it does not come to that.
    pub async fn until<T>(&self, what: &str, mut holds: impl FnMut(&Self) -> Option<T>) -> T {
        let mut changes = self.shared.changed.subscribe();
        let waiting = async {
            loop {
                changes.borrow_and_update();
                if let Some(found) = holds(self) {
                    return found;
                }
                if changes.changed().await.is_err() {
                    std::future::pending::<()>().await;
                }
            }
        };
        match tokio::time::timeout(LONGEST_WAIT, waiting).await {
            Ok(found) => found,
            Err(_) => unreachable!(
                "it did not come to this: {what}. Posted: {:#?}. Asked: {:?}",
                self.texts(),
                self.asked()
                    .iter()
                    .map(|asked| (&asked.method, &asked.path, asked.status))
                    .collect::<Vec<_>>()
            ),
        }
    }

    /// Waits until the bot posted so many messages, and returns them as [`FakeDiscord::texts`] does.
    pub async fn until_posted(&self, count: usize) -> Vec<String> {
        let enough = |discord: &Self| Some(discord.texts()).filter(|texts| texts.len() >= count);
        self.until(&format!("{count} messages"), enough).await
    }

    /// Waits until somebody is connected.
    pub async fn until_connected(&self) {
        self.until("a connection", |discord| {
            discord.is_connected().then_some(())
        })
        .await;
    }

    /// Tells whether somebody is connected and gets events.
    pub fn is_connected(&self) -> bool {
        self.shared
            .state()
            .sessions
            .values()
            .any(|session| session.line.is_some())
    }
}

impl Drop for FakeDiscord {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

impl std::fmt::Debug for FakeDiscord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FakeDiscord")
            .field("place", &self.shared.place)
            .finish_non_exhaustive()
    }
}
