//! Time and names, handed in.

/// Tells the time and makes up names. Implemented by the binary with the real ones, by tests with fixed ones.
pub trait Clock: Send + Sync {
    /// Returns milliseconds since 1970.
    fn now_ms(&self) -> i64;

    /// Returns a name that nobody else has.
    fn unique(&self) -> String;

    /// Returns the time as an ISO instant in UTC, to the millisecond.
    fn now(&self) -> String {
        iso(self.now_ms())
    }
}

/// The machine's clock, and random names.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the clock that callers hand in"
    )]
    fn now_ms(&self) -> i64 {
        let since = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or_default()
    }

    fn unique(&self) -> String {
        uuid::Uuid::new_v4().to_string()
    }
}

/// Writes a time as an ISO instant in UTC, to the millisecond.
pub fn iso(milliseconds: i64) -> String {
    let instant = jiff::Timestamp::from_millisecond(milliseconds).unwrap_or_default();
    format!("{instant:.3}")
}
