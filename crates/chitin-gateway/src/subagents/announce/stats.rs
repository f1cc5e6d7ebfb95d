//! What a child took, in one line (R41).

use std::time::Duration;

/// What a child took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunStats {
    /// How long it ran; none when nobody knows.
    pub runtime: Option<Duration>,
    /// Tokens that were sent.
    pub input: u64,
    /// Tokens that came back.
    pub output: u64,
}

impl RunStats {
    /// Returns the line.
    pub fn line(&self) -> String {
        let runtime = self.runtime.map_or_else(
            || "n/a".to_owned(),
            |runtime| short_duration(runtime.as_secs()),
        );
        let total = self.input.saturating_add(self.output);
        format!(
            "Stats: runtime {runtime} • tokens {} (in {} / out {})",
            short_count(total),
            short_count(self.input),
            short_count(self.output)
        )
    }
}

/// `4s`, `2m20s`, `3h5m`, `2d4h`.
fn short_duration(seconds: u64) -> String {
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    let pair = |large: u64, large_unit: &str, small: u64, small_unit: &str| {
        if small == 0 {
            format!("{large}{large_unit}")
        } else {
            format!("{large}{large_unit}{small}{small_unit}")
        }
    };
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds}s"),
        (0, 0, _) => pair(minutes, "m", seconds % 60, "s"),
        (0, _, _) => pair(hours, "h", minutes % 60, "m"),
        (_, _, _) => pair(days, "d", hours % 24, "h"),
    }
}

/// `120`, `31.3k`, `1.2m`.
fn short_count(count: u64) -> String {
    let tenths = |unit: u64, name: &str| {
        let tenths = count.saturating_add(unit / 20) / (unit / 10);
        if tenths.is_multiple_of(10) {
            format!("{}{name}", tenths / 10)
        } else {
            format!("{}.{}{name}", tenths / 10, tenths % 10)
        }
    };
    match count {
        0..1000 => count.to_string(),
        1000..999_950 => tenths(1000, "k"),
        _ => tenths(1_000_000, "m"),
    }
}
