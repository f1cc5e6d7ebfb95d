//! How many requests Discord lets us make. It says so with every answer: which bucket a route belongs to, how many are left there and
//! when it is full again.

use reqwest::header::HeaderMap;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How many routes are remembered.
const MOST: usize = 10_000;
/// The longest wait that is believed.
const LONGEST: Duration = Duration::from_hours(1);

/// How many requests may be made.
#[derive(Debug, Default)]
pub(super) struct Limits(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// The bucket of a route.
    routes: HashMap<String, String>,
    /// What is left, by bucket and the place that it counts for.
    buckets: HashMap<String, Bucket>,
    /// Until when nothing at all may be asked.
    shut_until: Option<Instant>,
}

#[derive(Debug, Clone, Copy)]
struct Bucket {
    left: u32,
    full_at: Instant,
}

impl Limits {
    /// Takes a place for a request, or says how long to wait for one.
    pub(super) fn take(&self, route: &Route) -> Result<(), Duration> {
        let now = Instant::now();
        self.look(|known| {
            if let Some(until) = known.shut_until {
                if until > now {
                    return Err(until - now);
                }
                known.shut_until = None;
            }
            let Some(bucket) = known.routes.get(&route.key) else {
                return Ok(());
            };
            let name = format!("{bucket} {}", route.place);
            let Some(bucket) = known.buckets.get_mut(&name) else {
                return Ok(());
            };
            if bucket.full_at <= now {
                known.buckets.remove(&name);
                return Ok(());
            }
            if bucket.left == 0 {
                return Err(bucket.full_at - now);
            }
            bucket.left -= 1;
            Ok(())
        })
    }

    /// Learns from the headers of an answer.
    pub(super) fn learn(&self, route: &Route, headers: &HeaderMap) {
        let Some(bucket) = text(headers, "x-ratelimit-bucket") else {
            return;
        };
        let left = text(headers, "x-ratelimit-remaining").and_then(|left| left.parse().ok());
        let after = text(headers, "x-ratelimit-reset-after").and_then(seconds);
        let (Some(left), Some(after)) = (left, after) else {
            return;
        };
        let full_at = Instant::now() + after;
        self.look(|known| {
            if known.routes.len() >= MOST || known.buckets.len() >= MOST {
                known.routes.clear();
                known.buckets.clear();
            }
            known.routes.insert(route.key.clone(), bucket.to_owned());
            let name = format!("{bucket} {}", route.place);
            known.buckets.insert(name, Bucket { left, full_at });
        });
    }

    /// Learns that there were too many requests, and returns how long to wait.
    pub(super) fn refused(
        &self,
        route: &Route,
        headers: &HeaderMap,
        said: Option<f64>,
    ) -> Duration {
        let said = said.and_then(of_seconds);
        let header = || text(headers, "retry-after").and_then(seconds);
        let wait = said.or_else(header).unwrap_or(Duration::from_secs(5));
        let until = Instant::now() + wait;
        let scope = text(headers, "x-ratelimit-scope");
        let all = scope == Some("global") || headers.contains_key("x-ratelimit-global");
        self.look(|known| {
            if all {
                known.shut_until = Some(until);
                return;
            }
            // Without a bucket of Discord's, the route is one of its own.
            let bucket = text(headers, "x-ratelimit-bucket").unwrap_or(&route.key);
            known.routes.insert(route.key.clone(), bucket.to_owned());
            let name = format!("{bucket} {}", route.place);
            let bucket = Bucket {
                left: 0,
                full_at: until,
            };
            known.buckets.insert(name, bucket);
        });
        wait
    }

    fn look<T>(&self, looking: impl FnOnce(&mut Known) -> T) -> T {
        looking(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What a limit is counted for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Route {
    /// The request without what differs from one message to the next.
    key: String,
    /// The channel or guild.
    place: String,
}

impl Route {
    pub(super) fn of(method: &str, path: &str) -> Self {
        let path = path.split('?').next().unwrap_or_default();
        let mut key = method.to_owned();
        let mut place = String::new();
        let mut before = "";
        for (index, segment) in path.split('/').enumerate() {
            let id = segment.len() > 10 && segment.bytes().all(|byte| byte.is_ascii_digit());
            key.push('/');
            if index == 1 && matches!(before, "channels" | "guilds") {
                segment.clone_into(&mut place);
                key.push(':');
            } else if id || before == "reactions" {
                key.push(':');
            } else {
                key.push_str(segment);
            }
            before = segment;
        }
        Self { key, place }
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

fn seconds(text: &str) -> Option<Duration> {
    of_seconds(text.parse().ok()?)
}

fn of_seconds(seconds: f64) -> Option<Duration> {
    let wait = Duration::try_from_secs_f64(seconds).ok()?;
    Some(wait.min(LONGEST))
}
