//! Who is heard, who has to wait for the owner, and how the words of others are told from the owner's.
//!
//! [`AccessControl::judge`] decides about every message on a network, by the configuration and by who was let in. Who is not known gets a
//! code, and the owner lets them in with it ([`AccessControl::approve`]). [`head`] and [`defused`] mark what others say; [`tool_limits`]
//! says which tools they have. Nothing here sends anything: that is the gateway's business.

mod allowlist;
mod ambient;
mod attribution;
mod code;
mod decide;
mod document;
mod error;
mod mentions;
mod pairing;
mod pairing_replies;
mod quote;
mod rejected;
mod room_prompt;
mod rooms;
mod settings;
mod store;
mod tools;

pub(crate) use attribution::{GUIDANCE, spoken};
pub use attribution::{LabelledSender, defused, head};
pub use decide::AccessVerdict;
pub use document::{CODE_LIVES_MS, MOST_PAIRED, MOST_PENDING, MOST_WRONG, TOLD_EVERY_MS};
pub use error::TrustError;
pub(crate) use pairing::{Asker, Asking};
pub use pairing::{Paired, PendingPairing};
pub(crate) use quote::record;
pub use rejected::{MOST_TURNED_AWAY, TurnedAway};
pub use room_prompt::{MOST_ROOM_PROMPT, room_prompt};
pub use tools::{ToolLimits, tool_limits};

use crate::intake::Noticed;
use crate::surface::Address;
use ambient::Overheard;
use chitin_agent::blocking;
use chitin_agent::clock::Clock;
use chitin_protocol::agent_id::normalize_account_id;
use chitin_protocol::text::trim_js;
use mentions::Patterns;
use rejected::Away;
use serde_json::Value;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use store::Store;

/// The longest name that is kept of somebody or something, in letters.
const MOST_NAME: usize = 80;
/// The longest id that is taken for one, in bytes.
const MOST_ID: usize = 256;
/// Who is heard. One for all networks of a gateway.
pub struct AccessControl {
    config: Arc<Value>,
    clock: Arc<dyn Clock>,
    patterns: Patterns,
    store: Store,
    overheard: Mutex<Overheard>,
    away: Mutex<Away>,
    changed: tokio::sync::Notify,
}

impl std::fmt::Debug for AccessControl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trust").finish_non_exhaustive()
    }
}

impl AccessControl {
    /// Keeps who was let in beneath a state directory. Nothing is read or made before it is needed.
    pub fn beneath(state: &Path, config: Arc<Value>, clock: Arc<dyn Clock>) -> Self {
        Self::of(Store::beneath(state), config, clock)
    }

    /// Keeps nothing past the process.
    pub fn volatile(config: Arc<Value>, clock: Arc<dyn Clock>) -> Self {
        Self::of(Store::volatile(), config, clock)
    }

    fn of(store: Store, config: Arc<Value>, clock: Arc<dyn Clock>) -> Self {
        Self {
            patterns: Patterns::read(&config),
            config,
            clock,
            store,
            overheard: Mutex::default(),
            away: Mutex::default(),
            changed: tokio::sync::Notify::new(),
        }
    }

    /// Lists who waits to be let in, the first who asked first.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn pending(&self) -> Result<Vec<PendingPairing>, TrustError> {
        let now = self.clock.now_ms();
        let known = self.store.look()?;
        let open = known.pending.iter().filter(|pending| pending.is_open(now));
        Ok(open.cloned().collect())
    }

    /// Lists who was let in.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn paired(&self) -> Result<Vec<Paired>, TrustError> {
        Ok(self.store.look()?.paired.clone())
    }

    /// Lets in whoever was told a code, on one network or on whichever it is; as an owner of the agent if so said. Blocks for a moment.
    ///
    /// # Errors
    ///
    /// When nobody who waits has the code, too many codes were wrong, or it cannot be kept.
    pub fn approve(
        &self,
        channel: Option<&str>,
        code: &str,
        owner: bool,
    ) -> Result<Paired, TrustError> {
        let (now, channel) = (self.clock.now_ms(), channel.map(plain));
        let approved = self
            .store
            .change(|document| document.approve(channel.as_deref(), code, owner, now))??;
        self.changed.notify_one();
        Ok(approved)
    }

    /// Sends away whoever was told a code. They may ask again. Blocks for a moment.
    ///
    /// # Errors
    ///
    /// As for [`AccessControl::approve`].
    pub fn reject(&self, channel: Option<&str>, code: &str) -> Result<PendingPairing, TrustError> {
        let (now, channel) = (self.clock.now_ms(), channel.map(plain));
        self.store
            .change(|document| document.take(channel.as_deref(), code, now))?
    }

    /// Lets somebody in no more, on any account of a network. Returns how many entries went. Blocks for a moment.
    ///
    /// # Errors
    ///
    /// When nobody of that id was let in, or it cannot be kept.
    pub fn revoke(&self, channel: &str, sender: &str) -> Result<usize, TrustError> {
        let channel = plain(channel);
        let gone = self
            .store
            .change(|document| document.revoke(&channel, sender))?;
        match gone {
            0 => Err(TrustError::UnknownSender {
                channel,
                sender: sender.to_owned(),
            }),
            gone => Ok(gone),
        }
    }

    /// Lists who was turned away lately, the latest first.
    pub fn turned_away(&self) -> Vec<TurnedAway> {
        lock(&self.away).list()
    }

    /// Returns how many messages were turned away since the start.
    pub fn turned_away_count(&self) -> u64 {
        lock(&self.away).total()
    }

    /// Tells whether a message calls an agent by words that the configuration names. `agent` says whose message it would be.
    pub(crate) fn is_called<A: AsRef<str>>(
        &self,
        text: &str,
        agent: impl FnOnce() -> Option<A>,
    ) -> bool {
        !self.patterns.is_empty()
            && agent().is_some_and(|agent| self.patterns.call(agent.as_ref(), text))
    }

    /// Counts a message that is not heard.
    pub(crate) fn turn_away(&self, noticed: &Noticed, reason: &str) {
        let inbound = &noticed.incoming.inbound;
        let named = |text: &Option<String>| {
            let name = attribution::name(text.as_deref()?, MOST_NAME);
            (!name.is_empty()).then_some(name)
        };
        lock(&self.away).note(TurnedAway {
            place: Address::of(inbound)
                .map(|place| quote::cut(&place.to_string(), MOST_ID).to_owned())
                .unwrap_or_default(),
            room: named(&noticed.room_name),
            sender: quote::cut(inbound.sender_id.as_deref().unwrap_or_default(), MOST_ID)
                .to_owned(),
            sender_name: named(&noticed.incoming.sender_name),
            reason: reason.to_owned(),
            count: 1,
            last_at: self.clock.now_ms(),
        });
    }

    /// Notes that somebody asks to be let in, and says what they are told. Blocks for a moment.
    pub(crate) fn ask(&self, noticed: &Noticed) -> Result<Asking, TrustError> {
        let inbound = &noticed.incoming.inbound;
        let sender_id = inbound
            .sender_id
            .as_deref()
            .map(trim_js)
            .unwrap_or_default();
        let fits = |place: &Address| sender_id.len() <= MOST_ID && place.peer.id.len() <= MOST_ID;
        let Some(place) = Address::of(inbound).filter(fits) else {
            return Ok(Asking::Full);
        };
        let name = noticed.incoming.sender_name.as_deref();
        let asker = Asker {
            channel: plain(&inbound.channel),
            account: normalize_account_id(inbound.account_id.as_deref().unwrap_or_default()),
            sender_id: sender_id.to_owned(),
            sender_name: name
                .map(|name| attribution::name(name, MOST_NAME))
                .filter(|name| !name.is_empty()),
            place,
        };
        let now = self.clock.now_ms();
        self.store.change(|document| document.ask(asker, now))?
    }

    /// Finds somebody who was let in.
    fn find_paired(
        &self,
        channel: &str,
        account: &str,
        sender: &str,
    ) -> Result<Option<Paired>, String> {
        let known = blocking(|| self.store.look()).map_err(|error| error.to_string())?;
        Ok(known.find(channel, account, sender).cloned())
    }

    /// Takes the places where people are still to be told that they were let in. Blocks for a moment when there are some.
    pub(crate) fn take_greetings(&self) -> Result<Vec<Address>, TrustError> {
        let known = self.store.look()?;
        if known.paired.iter().all(|paired| paired.to_greet.is_none()) {
            return Ok(Vec::new());
        }
        self.store.change(document::Document::take_greetings)
    }

    /// Waits until somebody is let in by this process.
    pub(crate) async fn approval(&self) {
        self.changed.notified().await;
    }
}

/// Returns a network's name as configuration has it.
fn plain(channel: &str) -> String {
    trim_js(channel).to_lowercase()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
