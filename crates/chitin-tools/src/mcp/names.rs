//! Names of tools, made in the way of OpenClaw's bundle (2026.4): `<server>__<tool>`, letters, digits, `_` and `-`.

use std::collections::BTreeSet;

const SEPARATOR: &str = "__";
const LONGEST_SERVER: usize = 30;
const LONGEST: usize = 64;

/// Returns the part of names that stands for a server. `used` holds the parts that are taken, in lower case.
pub fn server_name(raw: &str, used: &mut BTreeSet<String>) -> String {
    let base = cut(&clean(raw, "mcp"), LONGEST_SERVER);
    unique(&base, LONGEST_SERVER, used, str::to_owned)
}

/// Returns the name of a tool of a server. `used` holds the names that are taken, in lower case.
pub fn tool_name(server: &str, raw: &str, used: &mut BTreeSet<String>) -> String {
    let room = LONGEST
        .saturating_sub(server.len() + SEPARATOR.len())
        .max(1);
    let base = cut(&clean(raw, "tool"), room);
    unique(&base, room, used, |tool| {
        format!("{server}{SEPARATOR}{tool}")
    })
}

/// Tries the name, then the name with `-2`, `-3` and so on in place of its end.
fn unique(
    base: &str,
    room: usize,
    used: &mut BTreeSet<String>,
    whole: impl Fn(&str) -> String,
) -> String {
    let mut candidate = whole(base);
    let mut number = 2_u32;
    while !used.insert(candidate.to_lowercase()) {
        let suffix = format!("-{number}");
        let kept = cut(base, room.saturating_sub(suffix.len()).max(1));
        candidate = whole(&format!("{kept}{suffix}"));
        number += 1;
    }
    candidate
}

/// Puts `-` where a provider takes no character, and the fallback where a name does not begin with a letter.
fn clean(raw: &str, fallback: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    // Characters beyond the first plane are two units there, and become two.
    let cleaned: String = raw
        .trim()
        .chars()
        .flat_map(|c| {
            let count = if fits(c) { 1 } else { c.len_utf16() };
            std::iter::repeat_n(if fits(c) { c } else { '-' }, count)
        })
        .collect();
    match cleaned.chars().next() {
        None => fallback.to_owned(),
        Some(first) if first.is_ascii_alphabetic() => cleaned,
        Some(_) => format!("{fallback}-{cleaned}"),
    }
}

/// All characters are single bytes by now.
fn cut(text: &str, length: usize) -> String {
    text.chars().take(length).collect()
}
