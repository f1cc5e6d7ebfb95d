//! When to ask again, and how long to wait first.

use crate::error::ModelError;
use crate::wire;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

/// How often a model is asked again, and how long to wait first.
#[derive(Clone)]
pub struct RetryPolicy {
    /// How often a model is asked at most, the first time included.
    pub attempts: u32,
    /// How long to wait before the second try; each further wait is twice as long.
    pub first_wait: Duration,
    /// How long such a wait is at most.
    pub longest_wait: Duration,
    /// How long a provider may ask us to wait. If it asks for more, the model is not asked again.
    pub longest_asked: Duration,
    /// Says by how much a wait is shortened, from 0 for not at all to 1 for a quarter. Gets the number of the try.
    pub jitter: Jitter,
}

/// Gives numbers from 0 to 1.
#[derive(Clone)]
pub struct Jitter(pub Arc<dyn Fn(u32) -> f64 + Send + Sync>);

impl Jitter {
    /// Always the same.
    pub fn fixed(value: f64) -> Self {
        Self(Arc::new(move |_| value))
    }

    /// As it comes, so that many clients do not come back at the same instant.
    pub fn random() -> Self {
        Self(Arc::new(|attempt| {
            let random = RandomState::new().hash_one(attempt);
            f64::from(u32::try_from(random >> 32).unwrap_or(0)) / f64::from(u32::MAX)
        }))
    }
}

impl fmt::Debug for Jitter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Jitter")
    }
}

impl fmt::Debug for RetryPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetryPolicy")
            .field("attempts", &self.attempts)
            .field("first_wait", &self.first_wait)
            .field("longest_wait", &self.longest_wait)
            .field("longest_asked", &self.longest_asked)
            .finish_non_exhaustive()
    }
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            attempts: 4,
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_secs(16),
            longest_asked: Duration::from_mins(1),
            jitter: Jitter::random(),
        }
    }
}

impl RetryPolicy {
    /// Asks once and never again.
    pub fn never() -> Self {
        Self {
            attempts: 1,
            ..Self::default()
        }
    }

    /// Returns how long to wait before the same model is asked again; nothing when that is of no use.
    ///
    /// `tried` is how often it was asked so far.
    pub fn wait(&self, tried: u32, error: &ModelError) -> Option<Duration> {
        if tried >= self.attempts || !error.is_transient() {
            return None;
        }
        if let Some(asked) = error.retry_after() {
            return (asked <= self.longest_asked).then_some(asked);
        }
        let doubled = 2_u32.saturating_pow(tried.saturating_sub(1));
        let wait = self
            .first_wait
            .saturating_mul(doubled)
            .min(self.longest_wait);
        let jitter = (self.jitter.0)(tried);
        let jitter = if jitter.is_finite() {
            jitter.clamp(0.0, 1.0)
        } else {
            0.0
        };
        Some(wait.mul_f64(1.0 - jitter / 4.0))
    }
}

/// Reads how long a provider asks to wait, from the headers of its answer.
///
/// A number is seconds. A date is compared with the answer's own `date`: the two clocks that matter are then one.
pub fn retry_after<'a>(header: impl Fn(&str) -> Option<&'a str>) -> Option<Duration> {
    let milliseconds = header("retry-after-ms").and_then(|value| value.trim().parse::<f64>().ok());
    if let Some(milliseconds) = milliseconds {
        return Duration::try_from_secs_f64(milliseconds / 1000.0).ok();
    }
    // How long after 1970 it is now is how long to wait from 1970 on.
    let now = header("date")
        .and_then(|date| wire::retry_after(date, Some(UNIX_EPOCH)))
        .and_then(|since| UNIX_EPOCH.checked_add(since));
    wire::retry_after(header("retry-after")?, now)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn limited(retry_after: Option<Duration>) -> ModelError {
        ModelError::RateLimited {
            provider: "p".to_owned(),
            message: "slow down".to_owned(),
            retry_after,
        }
    }

    #[test]
    fn waits_double_up_to_a_bound_and_jitter_only_shortens_them() {
        let policy = RetryPolicy {
            attempts: 9,
            jitter: Jitter::fixed(0.0),
            ..RetryPolicy::default()
        };
        let waits: Vec<u64> = (1..9)
            .filter_map(|tried| policy.wait(tried, &limited(None)))
            .map(|wait| u64::try_from(wait.as_millis()).expect("short"))
            .collect();
        assert_eq!(waits, [500, 1000, 2000, 4000, 8000, 16_000, 16_000, 16_000]);
        assert_eq!(policy.wait(9, &limited(None)), None);
        let shortest = RetryPolicy {
            jitter: Jitter::fixed(1.0),
            ..policy
        };
        assert_eq!(
            shortest.wait(1, &limited(None)),
            Some(Duration::from_millis(375))
        );
    }

    #[test]
    fn what_the_provider_asks_for_is_taken_unless_it_is_too_long() {
        let policy = RetryPolicy::default();
        let wait = |seconds| policy.wait(1, &limited(Some(Duration::from_secs(seconds))));
        assert_eq!(wait(3), Some(Duration::from_secs(3)));
        assert_eq!(wait(3600), None);
        assert_eq!(policy.wait(1, &ModelError::Cancelled), None);
    }

    #[test]
    fn seconds_milliseconds_and_dates_are_read() {
        let read = |headers: &[(&str, &'static str)]| {
            let headers = headers.to_vec();
            retry_after(move |name| {
                headers
                    .iter()
                    .find(|(known, _)| *known == name)
                    .map(|(_, value)| *value)
            })
        };
        assert_eq!(read(&[("retry-after", "2")]), Some(Duration::from_secs(2)));
        assert_eq!(
            read(&[("retry-after", "2"), ("retry-after-ms", "1500")]),
            Some(Duration::from_millis(1500))
        );
        let date = ("date", "Sun, 15 Nov 2026 10:00:00 GMT");
        assert_eq!(
            read(&[date, ("retry-after", "Sun, 15 Nov 2026 10:00:07 GMT")]),
            Some(Duration::from_secs(7))
        );
        assert_eq!(
            read(&[date, ("retry-after", "Sun, 15 Nov 2026 09:00:00 GMT")]),
            Some(Duration::ZERO)
        );
        assert_eq!(
            read(&[("retry-after", "Sun, 15 Nov 2026 10:00:07 GMT")]),
            None
        );
        assert_eq!(read(&[]), None);
    }

    proptest! {
        #[test]
        fn no_header_makes_it_panic(value in ".{0,40}", date in ".{0,40}") {
            let _ = retry_after(|name| match name {
                "retry-after" => Some(&*value),
                "date" => Some(&*date),
                _ => None,
            });
        }

        #[test]
        fn a_wait_is_never_longer_than_the_bounds(tried in 0_u32..200, asked in prop::option::of(0_u64..100_000), jitter: f64) {
            let policy = RetryPolicy { attempts: 100, jitter: Jitter::fixed(jitter), ..RetryPolicy::default() };
            let wait = policy.wait(tried, &limited(asked.map(Duration::from_secs)));
            prop_assert!(wait.is_none_or(|wait| wait <= Duration::from_mins(1)));
        }
    }
}
