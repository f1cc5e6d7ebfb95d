//! Who has logged in on the page: a random name in a cookie that scripts cannot read, and a proof that follows from it, which only they can.
//!
//! Nothing is kept but digests of the name and the server's token together. So no name follows from what is kept, and with another token
//! nobody is in any more.

mod keeping;
mod register;

pub(crate) use keeping::{keep, keep_for_ever, read};
pub use register::{KeptLogin, LoginChange, LoginId, Register};

use register::STAYS;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::time::Instant;

/// The cookie.
pub(crate) const COOKIE: &str = "chitin_session";
/// The header that a page proves with that it is ours.
pub(crate) const CSRF_HEADER: &str = "x-chitin-csrf";
/// How many may be in. The one that did nothing for longest makes room.
const MOST: usize = 64;
/// How many are remembered as out while that cannot be written down.
const MOST_ENDED: usize = 1024;

/// Those who are in.
pub(crate) struct Logins {
    /// A digest of the token.
    token: [u8; 32],
    register: Option<Arc<dyn Register>>,
    /// One change at a time.
    writing: Mutex<()>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    logins: HashMap<LoginId, Login>,
    /// Who is out, and may still be kept.
    ended: Vec<LoginId>,
    /// Whether something happened that is not written down.
    changed: bool,
}

struct Login {
    /// When the process has seen nothing of them for too long. Half a day of a machine that sleeps does not count here.
    until: Instant,
    /// When they did something, by the clock on the wall. That clock can be put back.
    seen_ms: i64,
    /// Whether they were kept after the last change.
    kept: bool,
}

/// Now, by both clocks. A login ends when either says so.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) at: Instant,
    /// Milliseconds since 1970.
    pub(crate) ms: i64,
}

/// Somebody who is in, without the name itself.
pub(crate) struct Who(LoginId);

/// Somebody who just came in.
pub(crate) struct Fresh {
    /// What the cookie holds.
    pub(crate) name: String,
    /// What the page sends with whatever changes something.
    pub(crate) csrf: String,
}

impl Login {
    fn new(now: Moment, kept: bool) -> Self {
        Self {
            until: now.at + STAYS,
            seen_ms: now.ms,
            kept,
        }
    }

    fn is_over(&self, now: Moment) -> bool {
        let stays = i64::try_from(STAYS.as_millis()).unwrap_or(i64::MAX);
        now.at >= self.until || now.ms.saturating_sub(self.seen_ms) >= stays
    }
}

impl Logins {
    /// Nobody is in. The token is only ever used as a part of digests.
    pub(crate) fn new(token: &str, register: Option<Arc<dyn Register>>) -> Self {
        Self {
            token: Sha256::digest(token).into(),
            register,
            writing: Mutex::default(),
            state: Mutex::default(),
        }
    }

    /// Lets those in again who are kept. Waits for the disk.
    pub(crate) fn read(&self, now: Moment) {
        let Some(register) = &self.register else {
            return;
        };
        let mut kept = register.read();
        kept.sort_by_key(|login| std::cmp::Reverse(login.seen_ms));
        let mut state = self.state();
        for login in kept {
            if let Some(idle) = login.idle(now.ms)
                && state.logins.len() < MOST
            {
                let again = Login {
                    until: now.at + STAYS.saturating_sub(idle),
                    seen_ms: login.seen_ms.min(now.ms),
                    kept: true,
                };
                state.logins.insert(login.id, again);
            }
        }
    }

    /// Lets somebody in. Nothing when the operating system provides no random numbers.
    pub(crate) fn begin(&self, now: Moment) -> Option<Fresh> {
        let name = random()?;
        let mut state = self.state();
        let over: Vec<LoginId> = state
            .logins
            .iter()
            .filter(|(_, login)| login.is_over(now))
            .map(|(id, _)| *id)
            .collect();
        for id in over {
            state.end(id);
        }
        if state.logins.len() >= MOST {
            let oldest = state.logins.iter().min_by_key(|(_, login)| login.until);
            if let Some(oldest) = oldest.map(|(id, _)| *id) {
                state.end(oldest);
            }
        }
        state.logins.insert(self.id(&name), Login::new(now, false));
        state.changed = true;
        drop(state);
        let csrf = proof(&name);
        Some(Fresh { name, csrf })
    }

    /// Says what somebody's page proves itself with; nothing when nobody of this name is in.
    pub(crate) fn csrf(&self, name: &str, now: Moment) -> Option<String> {
        // Looked up by digest: how long that takes says nothing about names.
        self.see(self.id(name), now).then(|| proof(name))
    }

    /// Returns who a name stands for, whether they are in or not.
    pub(crate) fn who(&self, name: &str) -> Who {
        Who(self.id(name))
    }

    /// Tells whether somebody is still in, for a socket that stays open. While it does, they are.
    pub(crate) fn stays(&self, who: &Who, now: Moment) -> bool {
        self.see(who.0, now)
    }

    fn see(&self, id: LoginId, now: Moment) -> bool {
        let mut state = self.state();
        let Some(login) = state.logins.get_mut(&id) else {
            return false;
        };
        let is_in = !login.is_over(now);
        if is_in {
            *login = Login::new(now, login.kept);
        } else {
            state.end(id);
        }
        state.changed = true;
        is_in
    }

    /// Shows somebody out.
    pub(crate) fn end(&self, name: &str) {
        let id = self.id(name);
        self.state().end(id);
    }

    /// Writes down what changed, if something did. Waits for the disk; what cannot be written is tried again the next time.
    pub(crate) fn keep(&self, now_ms: i64) {
        let Some(register) = &self.register else {
            return;
        };
        let _alone = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(change) = self.state().change(now_ms) else {
            return;
        };
        let kept = register.change(&change);
        self.state().settle(&change, kept.as_deref());
    }

    /// A name alone says nothing: with another token it is somebody else's.
    fn id(&self, name: &str) -> LoginId {
        digest("chitin login", &[&self.token, name.as_bytes()])
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn end(&mut self, id: LoginId) {
        if self.logins.remove(&id).is_some() {
            self.changed = true;
            if self.ended.len() < MOST_ENDED {
                self.ended.push(id);
            }
        }
    }

    /// Takes what changed.
    fn change(&mut self, now_ms: i64) -> Option<LoginChange> {
        if !std::mem::take(&mut self.changed) {
            return None;
        }
        let mut change = LoginChange {
            ended: self.ended.clone(),
            now_ms,
            ..LoginChange::default()
        };
        for (id, login) in &self.logins {
            let list = if login.kept {
                &mut change.seen
            } else {
                &mut change.begun
            };
            list.push(KeptLogin {
                id: *id,
                seen_ms: login.seen_ms,
            });
        }
        Some(change)
    }

    /// Learns what became of a change.
    fn settle(&mut self, change: &LoginChange, kept: Option<&[KeptLogin]>) {
        let Some(kept) = kept else {
            // Nobody knows what is kept now: all of it is written the next time.
            self.logins
                .values_mut()
                .for_each(|login| login.kept = false);
            self.changed = true;
            return;
        };
        self.ended.retain(|id| !change.ended.contains(id));
        let is_kept = |id: &LoginId| kept.iter().any(|login| login.id == *id);
        // Who was kept and is not any more was shown out by another server.
        self.logins.retain(|id, login| !login.kept || is_kept(id));
        for login in &change.begun {
            if let Some(known) = self.logins.get_mut(&login.id) {
                known.kept = is_kept(&login.id);
            }
        }
    }
}

/// What a page proves itself with: it follows from the name, and the name does not follow from it.
fn proof(name: &str) -> String {
    hex::encode(digest("chitin csrf", &[name.as_bytes()]))
}

/// Every part but the last has a fixed length, so no two lists of parts are the same bytes.
fn digest(label: &str, parts: &[&[u8]]) -> [u8; 32] {
    let mut sum = Sha256::new();
    sum.update(label);
    sum.update([0]);
    for part in parts {
        sum.update(part);
    }
    sum.finalize().into()
}

/// Makes a name of 256 random bits.
fn random() -> Option<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).ok()?;
    Some(hex::encode(bytes))
}

#[cfg(test)]
mod tests;
