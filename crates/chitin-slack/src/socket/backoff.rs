//! How long to wait before the next try.

use chitin_gateway::surface::Again;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// The wait before the second try.
const FIRST: Duration = Duration::from_millis(500);
/// The longest wait.
const LONGEST: Duration = Duration::from_secs(30);
/// The longest wait that Slack may ask for.
const LONGEST_ASKED: Duration = Duration::from_mins(10);

/// Waits that grow, each a little by chance, so that many do not come back at once.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    tries: u32,
}

impl Backoff {
    /// Returns how long to wait after another failure.
    pub(crate) fn wait(&mut self, again: Again) -> Duration {
        let doubled = FIRST.saturating_mul(1 << self.tries.min(10)).min(LONGEST);
        self.tries = self.tries.saturating_add(1);
        // Between half of it and all of it.
        let chance = u32::try_from(RandomState::new().hash_one(self.tries) % 500).unwrap_or(0);
        let wait = doubled * (500 + chance) / 1_000;
        match again {
            Again::After(milliseconds) => {
                wait.max(Duration::from_millis(milliseconds).min(LONGEST_ASKED))
            }
            Again::Soon | Again::Never => wait,
        }
    }

    /// It worked: the next wait is short again.
    pub(crate) fn reset(&mut self) {
        self.tries = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::{Backoff, LONGEST};
    use chitin_gateway::surface::Again;
    use std::time::Duration;

    #[test]
    fn waits_grow_to_an_end_and_heed_what_is_asked() {
        let mut backoff = Backoff::default();
        assert!(backoff.wait(Again::Soon) <= Duration::from_millis(500));
        for _ in 0..50 {
            assert!(backoff.wait(Again::Soon) <= LONGEST);
        }
        assert!(backoff.wait(Again::Soon) >= LONGEST / 2);
        assert!(backoff.wait(Again::After(45_000)) >= Duration::from_secs(45));
        backoff.reset();
        assert!(backoff.wait(Again::Soon) <= Duration::from_millis(500));
    }
}
