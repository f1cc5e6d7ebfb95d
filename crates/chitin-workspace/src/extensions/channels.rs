//! `CHANNELS.md`: the channels that an agent answers on (B11). Names only, never credentials.

use super::letters::is_letter_or_digit;
use super::line::statements;
use crate::adapter::text::strip;
use std::collections::HashSet;

/// The file.
pub const FILE: &str = "CHANNELS.md";

/// Returns the channel names in the order in which they first appear. No name at all means every channel.
pub fn parse(text: &str) -> Vec<String> {
    let mut seen = HashSet::new();
    statements(text)
        .filter_map(|line| {
            let word = match line.find(':') {
                Some(at) if at > 0 => &line[..at],
                _ => line,
            };
            let name = strip(word).to_lowercase();
            let is_name =
                !name.is_empty() && name.chars().all(|c| c == '-' || is_letter_or_digit(c));
            (is_name && seen.insert(name.clone())).then_some(name)
        })
        .collect()
}
