//! Who has logged in on the page: a random name in a cookie that scripts cannot read, and a second one that only they can.

use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The cookie.
pub(crate) const COOKIE: &str = "chitin_session";
/// The header that a page proves with that it is ours.
pub(crate) const CSRF_HEADER: &str = "x-chitin-csrf";
/// How long somebody stays in without doing anything.
const STAYS: Duration = Duration::from_hours(12);
/// How many may be in. The one that did nothing for longest makes room.
const MOST: usize = 64;

/// Those who are in. Only digests of their names are kept.
#[derive(Default)]
pub(crate) struct Logins(Mutex<HashMap<[u8; 32], Login>>);

struct Login {
    csrf: String,
    seen: Instant,
}

/// Somebody who is in, without the name itself.
pub(crate) struct Who([u8; 32]);

impl Who {
    pub(crate) fn named(name: &str) -> Self {
        Self(digest(name))
    }
}

/// Somebody who just came in.
pub(crate) struct Fresh {
    /// What the cookie holds.
    pub(crate) name: String,
    /// What the page sends with whatever changes something.
    pub(crate) csrf: String,
}

impl Logins {
    /// Lets somebody in. Nothing when the machine gives no random numbers.
    pub(crate) fn begin(&self, now: Instant) -> Option<Fresh> {
        let (name, csrf) = (random()?, random()?);
        let mut logins = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        logins.retain(|_, login| now.duration_since(login.seen) < STAYS);
        if logins.len() >= MOST {
            let oldest = logins.iter().min_by_key(|(_, login)| login.seen);
            if let Some(oldest) = oldest.map(|(digest, _)| *digest) {
                logins.remove(&oldest);
            }
        }
        let csrf_kept = csrf.clone();
        logins.insert(
            digest(&name),
            Login {
                csrf: csrf_kept,
                seen: now,
            },
        );
        drop(logins);
        Some(Fresh { name, csrf })
    }

    /// Says what somebody's page proves itself with; nothing when nobody of this name is in.
    pub(crate) fn csrf(&self, name: &str, now: Instant) -> Option<String> {
        // Looked up by digest: how long that takes says nothing about names.
        self.seen(digest(name), now)
    }

    /// Tells whether somebody is still in, for a socket that stays open. While it does, they are.
    pub(crate) fn stays(&self, who: &Who, now: Instant) -> bool {
        self.seen(who.0, now).is_some()
    }

    fn seen(&self, digest: [u8; 32], now: Instant) -> Option<String> {
        let mut logins = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let login = logins.get_mut(&digest)?;
        if now.duration_since(login.seen) >= STAYS {
            logins.remove(&digest);
            return None;
        }
        login.seen = now;
        Some(login.csrf.clone())
    }

    /// Shows somebody out.
    pub(crate) fn end(&self, name: &str) {
        let mut logins = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        logins.remove(&digest(name));
    }
}

fn digest(name: &str) -> [u8; 32] {
    Sha256::digest(name).into()
}

/// Makes a name of 256 random bits.
fn random() -> Option<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).ok()?;
    let bytes = bytes.iter();
    Some(bytes.fold(String::new(), |text, byte| text + &format!("{byte:02x}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn who_does_nothing_for_half_a_day_is_out_and_who_does_something_stays() {
        let (logins, mut now) = (Logins::default(), Instant::now());
        let fresh = logins.begin(now).unwrap();
        for _ in 0..3 {
            now += STAYS.checked_sub(SECOND).unwrap();
            assert_eq!(logins.csrf(&fresh.name, now), Some(fresh.csrf.clone()));
        }
        assert_eq!(logins.csrf(&fresh.name, now + STAYS), None);
    }

    #[test]
    fn the_one_that_did_nothing_for_longest_makes_room() {
        let (logins, mut now) = (Logins::default(), Instant::now());
        let (first, second) = (logins.begin(now).unwrap(), logins.begin(now).unwrap());
        now += SECOND;
        assert!(logins.csrf(&first.name, now).is_some());
        for _ in 0..MOST - 1 {
            now += SECOND;
            logins.begin(now).unwrap();
        }
        assert_eq!(logins.csrf(&second.name, now), None);
        assert!(logins.csrf(&first.name, now).is_some());
    }

    #[test]
    fn names_are_long_and_never_the_same_and_end_when_they_are_told_to() {
        let (logins, now) = (Logins::default(), Instant::now());
        let (one, other) = (logins.begin(now).unwrap(), logins.begin(now).unwrap());
        assert_eq!((one.name.len(), one.csrf.len()), (64, 64));
        assert_ne!(one.name, other.name);
        assert_ne!(one.name, one.csrf);
        logins.end(&one.name);
        assert_eq!(logins.csrf(&one.name, now), None);
        assert!(logins.csrf(&other.name, now).is_some());
    }
}
