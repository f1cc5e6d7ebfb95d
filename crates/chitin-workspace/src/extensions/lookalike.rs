//! Lines that people take for settings and the grammar does not: numbered, in bold, with a checkbox, with `=`. The grammar
//! is the bridge's and stays; but a guard that is not there is said.

use super::line::{Position, pair, statements};
use super::live::{LiveFile, LiveText};
use super::{channels, permissions};
use chitin_guard::ReadPolicy;
use std::path::Path;

/// How many such lines of a file are told one by one.
const MOST_NOTES: usize = 5;

/// What may stand around a word in Markdown.
const DECORATION: [char; 15] = [
    '-', '*', '+', '•', '·', '–', '—', '>', '_', '`', '"', '\'', '[', ']', '~',
];

/// A line that looks like a setting and is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lookalike<'a> {
    /// The line, without its bullet.
    pub line: &'a str,
    /// The key or the channel that it seems to name.
    pub name: &'static str,
    /// What it seems to say of it; empty where it says nothing.
    pub value: &'a str,
}

impl Lookalike<'_> {
    /// Returns the line as it would have effect.
    pub fn spelled(&self) -> String {
        match self.value {
            "" => format!("- {}", self.name),
            value => format!("- {}: {value}", self.name),
        }
    }
}

/// Returns the lines of a `PERMISSIONS.md` that look like rules and are none.
pub fn rules(text: &str) -> impl Iterator<Item = Lookalike<'_>> {
    statements(text).filter_map(|line| {
        let known = |name: &str| permissions::KEYS.into_iter().find(|key| *key == name);
        let is_rule = pair(line)
            .is_some_and(|(key, value)| known(&key.to_lowercase()).is_some() && !value.is_empty());
        let (name, value) = head_and_value(line).filter(|_| !is_rule)?;
        let name = known(&plain(name).replace('_', "-"))?;
        Some(Lookalike { line, name, value })
    })
}

/// Returns the lines of a `CHANNELS.md` that look like channels and name none.
pub fn channel_lines(text: &str) -> impl Iterator<Item = Lookalike<'_>> {
    statements(text).filter_map(|line| {
        if !channels::parse(line).is_empty() {
            return None;
        }
        let name = head_and_value(line).map_or(line, |(name, _)| name);
        let first = name.split(',').next().unwrap_or_default();
        let name = plain(first);
        let name = channels::known().find(|known| *known == name)?;
        let value = "";
        Some(Lookalike { line, name, value })
    })
}

/// Says what of a workspace's guardrails has no effect though it looks so: notes for whoever starts the agent.
pub fn notes(directory: &Path, policy: &ReadPolicy) -> Vec<String> {
    let of = |file: &str, said: fn(&str) -> Vec<String>| {
        let live = LiveFile::new(directory, file, policy.clone());
        let found = live.get(|text| match text {
            LiveText::Absent | LiveText::Unreadable(_) => Vec::new(),
            LiveText::Text(text) => said(text),
        });
        found.to_vec()
    };
    let rules = of(permissions::FILE, |text| {
        said(text, permissions::FILE, ["a rule", ": …"], rules(text))
    });
    let channels = of(channels::FILE, |text| {
        said(text, channels::FILE, ["a channel", ""], channel_lines(text))
    });
    [rules, channels].concat()
}

/// Makes notes of lines. What a rule looks for is not told: it may be what nobody is to see.
fn said<'a>(
    text: &str,
    file: &str,
    [what, value]: [&str; 2],
    mut found: impl Iterator<Item = Lookalike<'a>>,
) -> Vec<String> {
    let shown = found.by_ref().take(MOST_NOTES).map(|one| {
        let line = Position::of(text, one.line).line;
        let name = one.name;
        format!(
            "`{file}`, line {line}: this looks like {what} and is none, so it has no effect; write it as `- {name}{value}`."
        )
    });
    let mut said: Vec<String> = shown.collect();
    let more = found.count();
    if more > 0 {
        said.push(format!(
            "`{file}`: {more} more lines look like {what} and are none; `chitin check` lists them."
        ));
    }
    said
}

/// Splits a line where its name seems to end.
fn head_and_value(line: &str) -> Option<(&str, &str)> {
    let at = line.find([':', '=', '：', '→'])?;
    let value = line[at..].trim_start_matches([':', '=', '：', '→', '>', '*', '`', ' ', '\t']);
    // What was opened before the name is closed behind the value.
    let closing: &[char] = match line.chars().next() {
        Some('*' | '_' | '`' | '"') => &['*', '_', '`', '"'],
        _ => &[],
    };
    Some((&line[..at], value.trim_end_matches(closing).trim()))
}

/// Returns a name without what Markdown puts around it: bullets, numbers, boxes, emphasis. Its words are joined by `-`.
fn plain(name: &str) -> String {
    let decorated = |c: char| c.is_whitespace() || DECORATION.contains(&c);
    let mut name = name.trim_matches(decorated);
    loop {
        let number = name.trim_start_matches(|c: char| c.is_ascii_digit());
        let rest = ["x]", "X]"]
            .iter()
            .find_map(|ticked| name.strip_prefix(ticked))
            .or_else(|| (number.len() < name.len()).then(|| number.strip_prefix(['.', ')']))?);
        match rest {
            Some(rest) => name = rest.trim_start_matches(decorated),
            None => break,
        }
    }
    let words: Vec<&str> = name.split_whitespace().collect();
    words.join("-").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        rules(text).map(|one| one.spelled()).collect()
    }

    #[test]
    fn what_people_take_for_a_rule_is_found_with_its_right_spelling() {
        for line in [
            "1. deny: hello",
            "12) deny: hello",
            "- **deny**: hello",
            "- **deny:** hello",
            "- **deny: hello**",
            "* [ ] deny: hello",
            "- [x] deny: hello",
            "- deny = hello",
            "-deny: hello",
            "• deny: hello",
            "> deny: hello",
            "- `deny`: hello",
            "- - deny: hello",
        ] {
            assert_eq!(found(line), ["- deny: hello"], "{line}");
        }
        assert_eq!(found("2) message-length: 3"), ["- message-length: 3"]);
        assert_eq!(found("Rate limit: 3/60"), ["- rate-limit: 3/60"]);
        assert_eq!(found("- deny_regex: a"), ["- deny-regex: a"]);
        assert_eq!(found("- deny:\n  - hello"), ["- deny"]);
    }

    #[test]
    fn rules_comments_and_prose_are_not() {
        for line in [
            "- deny: a = b",
            "DENY : x",
            "# deny = x",
            "We deny nothing: ask away.",
            "The owner decides = yes",
            "<!-- deny: x -->",
            "",
        ] {
            assert_eq!(found(line), [""; 0], "{line}");
        }
    }

    #[test]
    fn channels_that_are_dressed_up_or_listed_in_one_line_are_found() {
        let found = |text| -> Vec<_> { channel_lines(text).map(|one| one.name).collect() };
        assert_eq!(
            found("1. discord\n- **slack**: x\n[x] web"),
            ["discord", "slack", "web"]
        );
        assert_eq!(found("- discord, slack"), ["discord"]);
        assert_eq!(
            found("- discord\nweb: the page\nEverything else is shut."),
            [""; 0]
        );
    }
}
