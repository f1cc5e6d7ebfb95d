//! Tokens, estimated.

/// Returns an estimate.
pub fn estimate(text: &str) -> usize {
    text.len().div_ceil(4)
}

/// Returns how many units of a prefix fit.
pub fn units_within(text: &str, tokens: usize) -> usize {
    chitin_protocol::text::utf16_len(text).min(tokens * 4)
}
