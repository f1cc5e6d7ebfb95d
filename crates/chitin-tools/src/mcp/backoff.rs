//! When a server that crashed is started again.

use std::time::Duration;
use tokio::time::Instant;

/// The pause after the second failure; it doubles with every further one.
const FIRST: Duration = Duration::from_secs(1);

/// Counts the failures of a server since its last good answer. The first one costs no pause: the next call works again at once.
#[derive(Debug)]
pub(super) struct Backoff {
    failures: u32,
    not_before: Option<Instant>,
    longest: Duration,
}

impl Backoff {
    /// Nothing has failed yet. `longest` bounds the pause.
    pub(super) const fn new(longest: Duration) -> Self {
        Self {
            failures: 0,
            not_before: None,
            longest,
        }
    }

    /// Notes a crash, or a start that failed.
    pub(super) fn failed(&mut self) {
        self.failures = self.failures.saturating_add(1);
        let pause = match self.failures.checked_sub(2) {
            None => Duration::ZERO,
            Some(doublings) => FIRST.saturating_mul(1 << doublings.min(16)),
        };
        self.not_before = Some(Instant::now() + pause.min(self.longest));
    }

    /// Notes that the server answered.
    pub(super) const fn answered(&mut self) {
        self.failures = 0;
        self.not_before = None;
    }

    /// Returns how many failures there were in a row.
    pub(super) const fn failures(&self) -> u32 {
        self.failures
    }

    /// Returns how long to wait before the next start.
    pub(super) fn pause(&self) -> Duration {
        self.not_before.map_or(Duration::ZERO, |at| {
            at.saturating_duration_since(Instant::now())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn pauses_grow_up_to_the_longest_and_end_with_an_answer() {
        let mut backoff = Backoff::new(Duration::from_secs(5));
        assert_eq!(backoff.pause(), Duration::ZERO);
        let mut pauses = Vec::new();
        for _ in 0..40 {
            backoff.failed();
            pauses.push(backoff.pause().as_secs());
        }
        assert_eq!(pauses[..6], [0, 1, 2, 4, 5, 5]);
        assert_eq!(pauses[39], 5);
        tokio::time::advance(Duration::from_secs(4)).await;
        assert_eq!(backoff.pause(), Duration::from_secs(1));
        backoff.answered();
        assert_eq!((backoff.pause(), backoff.failures()), (Duration::ZERO, 0));
    }
}
