//! A Slack on loopback: the Web API over HTTP/1.1, Socket Mode over WebSockets, signed events for whoever is called over HTTP.
//!
//! It is written from Slack's documents and shares no code with the client. It keeps what was posted, tells what happened, and can be told
//! to misbehave: connections that break, envelopes that come again, rate limits, tokens that are taken back. Everything that it knows can be
//! waited for with [`FakeSlack::until`]. It runs on a thread of its own, so that tests with and without a runtime can use it.

mod api;
mod conversation;
mod knobs;
mod request;
mod serve;
mod sharing;
mod sign;
mod socket;
mod state;

pub use sign::SignedCall;
pub use state::{Call, Posted, State};

use crate::tls::{Authority, Front, Place};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::{oneshot, watch};

/// The token that the Web API takes.
pub const BOT_TOKEN: &str = "xoxb-1-fake";
/// The token that Socket Mode takes.
pub const APP_TOKEN: &str = "xapp-1-fake";
/// What calls over HTTP are signed with.
pub const SIGNING_SECRET: &str = "8f74fake";
/// Who the app is.
pub const BOT_USER: &str = "UBOT";
/// What the app's messages say of their program.
pub const BOT_ID: &str = "BBOT";
/// The workspace.
pub const TEAM: &str = "T1";

/// How long tests wait for something.
const PATIENCE: Duration = Duration::from_secs(30);

/// A running Slack. It stops when it is dropped.
pub struct FakeSlack {
    place: Place,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    front: Option<Front>,
}

/// What the parts of the server share.
struct Shared {
    place: Place,
    state: Mutex<State>,
    changed: watch::Sender<u64>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, and tells whoever waits.
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let changed = change(&mut self.lock());
        self.changed.send_modify(|count| *count += 1);
        changed
    }
}

impl FakeSlack {
    /// Starts a workspace with a channel `C1` (`berths`), and two people: `U1` (Ada) and `U2` (Ben).
    pub fn start() -> Self {
        Self::start_behind(None)
    }

    /// Starts the same over TLS.
    pub fn start_tls(authority: &Authority) -> Self {
        Self::start_behind(Some(authority))
    }

    fn start_behind(authority: Option<&Authority>) -> Self {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0))
            .unwrap_or_else(|e| unreachable!("no socket on loopback: {e}"));
        let address = listener
            .local_addr()
            .unwrap_or_else(|e| unreachable!("a listener has an address: {e}"));
        let front = authority.map(|authority| authority.front(address));
        let place = Place::new(address, front.as_ref());
        let shared = Arc::new(Shared {
            place,
            state: Mutex::new(State::default()),
            changed: watch::Sender::new(0),
        });
        let (stop, stopped) = oneshot::channel();
        let serving = Arc::clone(&shared);
        let thread = std::thread::spawn(move || serve::run(&serving, listener, stopped));
        let slack = Self {
            place,
            shared,
            stop: Some(stop),
            thread: Some(thread),
            front,
        };
        slack.add_user("U1", "ada", "Ada");
        slack.add_user("U2", "ben", "Ben");
        slack.add_room("C1", "berths", "channel");
        slack
    }

    /// Shows the certificate of another authority to whoever connects from now on.
    pub fn show_certificate(&self, authority: &Authority) {
        if let Some(front) = &self.front {
            front.show(authority);
        }
    }

    /// Returns where the Web API is, as `apiUrl` names it.
    pub fn api_url(&self) -> String {
        format!("{}/api/", self.place.http())
    }

    /// Adds somebody.
    pub fn add_user(&self, id: &str, name: &str, shown: &str) {
        let user = json!({
            "id": id, "name": name, "is_bot": false, "real_name": shown,
            "profile": {"display_name": shown, "real_name": shown},
        });
        self.shared
            .change(|state| state.users.insert(id.to_owned(), user));
    }

    /// Adds a room that the app is in: a `channel`, a `group` (private), an `im` or an `mpim`.
    pub fn add_room(&self, id: &str, name: &str, kind: &str) {
        let room = json!({
            "id": id, "name": name, "is_im": kind == "im", "is_mpim": kind == "mpim",
            "is_channel": kind == "channel", "is_private": kind != "channel", "is_member": true, "kind": kind,
        });
        self.shared
            .change(|state| state.rooms.insert(id.to_owned(), room));
    }

    /// Somebody writes; the app is told. Returns the time of the message.
    pub fn say(&self, channel: &str, user: &str, text: &str) -> String {
        self.write(channel, user, text, &json!({}))
    }

    /// Somebody replies in a thread.
    pub fn reply(&self, channel: &str, user: &str, thread: &str, text: &str) -> String {
        self.write(channel, user, text, &json!({"thread_ts": thread}))
    }

    /// Somebody writes, with fields of the message's own, such as `files` or `subtype`.
    pub fn write(&self, channel: &str, user: &str, text: &str, fields: &Value) -> String {
        let event = self.keep(channel, user, text, fields);
        let ts = event["ts"].as_str().unwrap_or_default().to_owned();
        self.tell(&event);
        ts
    }

    /// Somebody writes, and nobody is told yet. Returns the event.
    pub fn keep(&self, channel: &str, user: &str, text: &str, fields: &Value) -> Value {
        let mut event = json!({"type": "message", "user": user, "text": text});
        for (key, value) in fields.as_object().into_iter().flatten() {
            event[key] = value.clone();
        }
        self.shared.change(|state| state.keep(channel, event))
    }

    /// Tells the app of an event over Socket Mode. Returns the event's id.
    pub fn tell(&self, event: &Value) -> String {
        self.shared.change(|state| state.tell(event))
    }

    /// Returns what was posted and is still there, in the order in which it came.
    pub fn posted(&self) -> Vec<Posted> {
        self.shared.lock().posted()
    }

    /// Returns what was posted as `channel[/thread]: text`.
    pub fn said(&self) -> Vec<String> {
        self.posted().iter().map(Posted::to_string).collect()
    }

    /// Returns the calls of a method so far.
    pub fn calls(&self, method: &str) -> Vec<Call> {
        self.shared.lock().calls_of(method)
    }

    /// Waits until something is so, and returns what the look at it gave.
    pub async fn until<T>(&self, what: &str, look: impl Fn(&State) -> Option<T>) -> T {
        let mut changes = self.shared.changed.subscribe();
        let waiting = async {
            loop {
                changes.mark_unchanged();
                if let Some(found) = look(&self.shared.lock()) {
                    return found;
                }
                if changes.changed().await.is_err() {
                    unreachable!("the state is kept");
                }
            }
        };
        match tokio::time::timeout(PATIENCE, waiting).await {
            Ok(found) => found,
            Err(_) => unreachable!("never so: {what}; {:?}", self.shared.lock()),
        }
    }

    /// Waits until so many messages were posted.
    pub async fn until_posted(&self, count: usize) -> Vec<Posted> {
        self.until(&format!("{count} messages"), |state| {
            let posted = state.posted();
            (posted.len() >= count).then_some(posted)
        })
        .await
    }

    /// Waits until so many connections are open.
    pub async fn until_connected(&self, count: usize) {
        self.until(&format!("{count} connections"), |state| {
            (state.open_connections() >= count).then_some(())
        })
        .await;
    }

    /// Waits until everything that was told is acknowledged.
    pub async fn until_acknowledged(&self) {
        self.until("all acknowledged", |state| {
            state.pending.is_empty().then_some(())
        })
        .await;
    }
}

impl Drop for FakeSlack {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}
