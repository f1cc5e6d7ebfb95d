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

/// Writes a time as an ISO instant in UTC, to the millisecond.
pub fn iso(milliseconds: i64) -> String {
    let instant = jiff::Timestamp::from_millisecond(milliseconds).unwrap_or_default();
    format!("{instant:.3}")
}
