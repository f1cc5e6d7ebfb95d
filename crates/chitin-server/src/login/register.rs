//! Who is in, where it outlives the process. The server says what changed; whoever has a disk keeps it.

use std::collections::BTreeMap;
use std::time::Duration;

/// How long somebody stays in without doing anything.
pub(super) const STAYS: Duration = Duration::from_hours(12);
/// How far a clock may have been ahead. What was seen later than that was written by a clock that nobody can trust.
const SKEW: Duration = Duration::from_mins(5);
/// How many are kept at most, of all servers that share a register.
const MOST_KEPT: usize = 256;

/// The digest that stands for a login. Neither the cookie nor the token follows from it.
pub type LoginId = [u8; 32];

/// Keeps who is in where it outlives the process. Called where waiting for the disk is fine.
pub trait Register: Send + Sync {
    /// Returns who is kept; nobody when that cannot be told.
    fn read(&self) -> Vec<KeptLogin>;

    /// Lets a change happen, and nobody else's change in between. Returns who is kept after it, once that survives a crash;
    /// nothing when it could not be, which it has said itself.
    fn change(&self, change: &LoginChange) -> Option<Vec<KeptLogin>>;
}

/// Somebody who is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptLogin {
    /// Who.
    pub id: LoginId,
    /// When they did something, in milliseconds since 1970.
    pub seen_ms: i64,
}

impl KeptLogin {
    /// Returns for how long they have done nothing; nothing when that is too long, or when they were seen in a future that a
    /// clock does not reach by mistake.
    pub(super) fn idle(&self, now_ms: i64) -> Option<Duration> {
        let idle = now_ms.saturating_sub(self.seen_ms);
        let Ok(milliseconds) = u64::try_from(idle) else {
            return is_plausible(self.seen_ms, now_ms).then_some(Duration::ZERO);
        };
        let idle = Duration::from_millis(milliseconds);
        (idle < STAYS).then_some(idle)
    }
}

fn is_plausible(seen_ms: i64, now_ms: i64) -> bool {
    let skew = i64::try_from(SKEW.as_millis()).unwrap_or(i64::MAX);
    seen_ms <= now_ms.saturating_add(skew)
}

/// What changed since the last change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoginChange {
    /// Who came in.
    pub begun: Vec<KeptLogin>,
    /// Who did something. Somebody who is not kept any more was shown out by another server, and stays out.
    pub seen: Vec<KeptLogin>,
    /// Who is out.
    pub ended: Vec<LoginId>,
    /// What time it is, in milliseconds since 1970.
    pub now_ms: i64,
}

impl LoginChange {
    /// Returns who is kept after the change, those who were seen last first.
    #[must_use]
    pub fn apply(&self, kept: &[KeptLogin]) -> Vec<KeptLogin> {
        let mut all: BTreeMap<LoginId, i64> = BTreeMap::new();
        for login in kept.iter().chain(&self.begun) {
            self.see(all.entry(login.id).or_insert(login.seen_ms), login);
        }
        for login in &self.seen {
            if let Some(seen_ms) = all.get_mut(&login.id) {
                self.see(seen_ms, login);
            }
        }
        for id in &self.ended {
            all.remove(id);
        }
        let all = all
            .into_iter()
            .map(|(id, seen_ms)| KeptLogin { id, seen_ms });
        let mut all: Vec<KeptLogin> = all
            .filter(|login| login.idle(self.now_ms).is_some())
            .collect();
        all.sort_by_key(|login| std::cmp::Reverse(login.seen_ms));
        all.truncate(MOST_KEPT);
        all
    }

    /// The later time holds, of those that have come: a time that has not was said by a clock that was wrong.
    fn see(&self, seen_ms: &mut i64, login: &KeptLogin) {
        let has_come = |time| is_plausible(time, self.now_ms);
        if has_come(login.seen_ms) && (login.seen_ms > *seen_ms || !has_come(*seen_ms)) {
            *seen_ms = login.seen_ms;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NOW: i64 = 1_800_000_000_000;
    const HOUR: i64 = 3_600_000;

    fn login(name: u8, seen_ms: i64) -> KeptLogin {
        KeptLogin {
            id: [name; 32],
            seen_ms,
        }
    }

    fn names(kept: &[KeptLogin]) -> Vec<u8> {
        kept.iter().map(|login| login.id[0]).collect()
    }

    #[test]
    fn who_was_shown_out_elsewhere_does_not_come_back_by_being_seen_here() {
        let change = LoginChange {
            seen: vec![login(1, NOW), login(2, NOW)],
            now_ms: NOW,
            ..LoginChange::default()
        };
        assert_eq!(names(&change.apply(&[login(2, NOW - HOUR)])), [2]);
    }

    #[test]
    fn a_clock_that_was_ahead_makes_nobody_eternal() {
        let at = |now_ms| LoginChange {
            now_ms,
            ..LoginChange::default()
        };
        let ahead = [login(1, NOW + HOUR), login(2, NOW + 1_000)];
        assert_eq!(names(&at(NOW).apply(&ahead)), [2], "seconds are no matter");
        let seen = LoginChange {
            seen: vec![login(1, NOW)],
            ..at(NOW)
        };
        assert_eq!(
            seen.apply(&ahead[..1]),
            [login(1, NOW)],
            "who is here is here"
        );
        assert_eq!(at(NOW + 12 * HOUR).apply(&[login(1, NOW)]), []);
        assert_eq!(at(i64::MIN).apply(&[login(1, i64::MAX)]), []);
        assert_eq!(at(i64::MAX).apply(&[login(1, i64::MIN)]), []);
    }

    fn some() -> impl Strategy<Value = Vec<KeptLogin>> {
        let one = (0_u8..8, -14 * HOUR..HOUR).prop_map(|(name, ago)| login(name, NOW + ago));
        proptest::collection::vec(one, 0..6)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn two_servers_never_lose_each_others_and_nobody_who_is_out_stays(
            kept in some(), begun in some(), seen in some(), ended in some(), others in some()
        ) {
            let ended: Vec<LoginId> = ended.iter().map(|login| login.id).collect();
            let ours = LoginChange { begun: begun.clone(), seen, ended: ended.clone(), now_ms: NOW };
            let theirs = LoginChange { begun: others.clone(), now_ms: NOW, ..LoginChange::default() };
            let after = ours.apply(&theirs.apply(&kept));
            for login in kept.iter().chain(&begun).chain(&others) {
                let is_in = after.iter().any(|after| after.id == login.id);
                if ended.contains(&login.id) {
                    prop_assert!(!is_in);
                } else if login.idle(NOW).is_some() {
                    prop_assert!(is_in, "{login:?} is lost");
                }
            }
            for login in &after {
                prop_assert!(login.idle(NOW).is_some());
                prop_assert!(kept.iter().chain(&begun).chain(&others).any(|known| known.id == login.id));
            }
        }
    }
}
