//! How long a summary may be (C39).

use crate::compat::SUMMARY_CUT;
use chitin_protocol::text::{utf16_len, utf16_prefix, utf16_suffix};

/// Cuts a summary to `limit` and says so. A limit too small for that word takes as much of the summary as fits.
pub fn cap_summary(summary: &str, limit: usize) -> String {
    if limit == 0 || utf16_len(summary) <= limit {
        return summary.to_owned();
    }
    match limit.checked_sub(utf16_len(SUMMARY_CUT)) {
        Some(room) if room > 0 => format!("{}{SUMMARY_CUT}", utf16_prefix(summary, room)),
        Some(_) | None => utf16_prefix(summary, limit).to_owned(),
    }
}

/// Puts a summary and its suffix together. The suffix survives; of one that is too long by itself, its end.
pub fn cap_with_suffix(body: &str, suffix: &str, limit: usize) -> String {
    let length = utf16_len(suffix);
    if suffix.is_empty() || limit == 0 {
        return cap_summary(&format!("{body}{suffix}"), limit);
    }
    match limit.checked_sub(length) {
        Some(room) if room > 0 => format!("{}{suffix}", cap_summary(body, room)),
        Some(_) | None => utf16_suffix(suffix, limit).to_owned(),
    }
}
