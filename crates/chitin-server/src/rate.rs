//! How much one address may do: so much at once, and then so much per second.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How many addresses are remembered. The one that was seen longest ago is forgotten, and begins anew.
const REMEMBERED: usize = 4096;

/// How much each address may still do.
#[derive(Debug)]
pub(crate) struct Rate {
    burst: f64,
    per_second: f64,
    left: Mutex<HashMap<IpAddr, Left>>,
}

#[derive(Debug, Clone, Copy)]
struct Left {
    count: f64,
    at: Instant,
}

impl Rate {
    pub(crate) fn new(burst: u32, per_second: u32) -> Self {
        Self {
            burst: f64::from(burst.max(1)),
            per_second: f64::from(per_second.max(1)),
            left: Mutex::default(),
        }
    }

    /// Counts one; says how long to wait when it was one too many.
    pub(crate) fn take(&self, address: IpAddr) -> Result<(), Duration> {
        let now = Instant::now();
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        if left.len() >= REMEMBERED && !left.contains_key(&address) {
            let oldest = left.iter().min_by_key(|(_, left)| left.at);
            if let Some(oldest) = oldest.map(|(address, _)| *address) {
                left.remove(&oldest);
            }
        }
        let entry = left.entry(address).or_insert(Left {
            count: self.burst,
            at: now,
        });
        let since = now.duration_since(entry.at).as_secs_f64();
        entry.count = (entry.count + since * self.per_second).min(self.burst);
        entry.at = now;
        if entry.count >= 1.0 {
            entry.count -= 1.0;
            return Ok(());
        }
        Err(Duration::from_secs_f64(
            (1.0 - entry.count) / self.per_second,
        ))
    }
}
