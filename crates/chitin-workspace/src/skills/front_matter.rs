//! The front matter of a SKILL.md: found between its fences, read as YAML and line by line, then merged.

use super::compat::code;
use super::yaml::{self, YamlError};
use super::yaml_value::{Yaml, js_number, write_json_string};
use chitin_contract::{FrontMatterRule, SkillRules};
use chitin_protocol::text::{is_js_whitespace, trim_js};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use thiserror::Error;

/// How many keys the line parser takes; what follows is left alone.
const MAX_LINE_KEYS: usize = 1_000;

/// The front matter of a skill: keys and their values, which are always text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkillFrontMatter {
    entries: Vec<(String, String)>,
}

impl SkillFrontMatter {
    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.entries
            .iter()
            .find(|(known, _)| known == key)
            .map(|(_, value)| value.as_str())
    }

    /// Returns the keys and values, those of the YAML reading first.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// Tells whether there is no key at all.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn set(&mut self, key: String, value: String) {
        match self.entries.iter_mut().find(|(known, _)| *known == key) {
            Some(entry) => entry.1 = value,
            None => self.entries.push((key, value)),
        }
    }
}

impl FromIterator<(String, String)> for SkillFrontMatter {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(entries: I) -> Self {
        let mut front_matter = Self::default();
        for (key, value) in entries {
            front_matter.set(key, value);
        }
        front_matter
    }
}

impl Serialize for SkillFrontMatter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

/// What is wrong with a front matter block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Error)]
#[error("{message} ({code})")]
pub struct FrontMatterError {
    /// The code that the recorded releases use.
    pub code: &'static str,
    /// The line of the file, counted from one.
    pub line: usize,
    /// The column, counted from one.
    pub column: usize,
    /// What is wrong, in words.
    pub message: String,
}

/// A front matter block as it was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParsedFrontMatter {
    /// The keys and values.
    pub values: SkillFrontMatter,
    /// Why the block is not well formed although the contract reads it all the same.
    pub tolerated: Option<FrontMatterError>,
}

/// Reads the front matter of a SKILL.md. Only a strict contract gives an error.
pub fn parse_front_matter(
    text: &str,
    rules: &SkillRules,
) -> Result<ParsedFrontMatter, FrontMatterError> {
    match rules.front_matter {
        FrontMatterRule::Lenient => {
            let text = normalise_line_ends(text);
            let Some(fenced) = lenient_fences(&text) else {
                return Ok(ParsedFrontMatter::default());
            };
            let by_line = parse_lines(fenced.block);
            Ok(match yaml::parse_mapping(fenced.block) {
                Ok(mapping) => ParsedFrontMatter {
                    values: merge(mapping, by_line),
                    tolerated: None,
                },
                Err(error) => ParsedFrontMatter {
                    values: by_line
                        .into_iter()
                        .map(|line| (line.key, line.value))
                        .collect(),
                    // A block without any key (blank, or only comments) is nobody's mistake.
                    tolerated: (!fenced.block.trim().is_empty()).then(|| fenced.place(error)),
                },
            })
        }
        FrontMatterRule::Strict => {
            let text = normalise_line_ends(text.strip_prefix('\u{feff}').unwrap_or(text));
            let Some(fenced) = strict_fences(&text)? else {
                return Ok(ParsedFrontMatter::default());
            };
            if fenced.block.is_empty() {
                return Ok(ParsedFrontMatter::default());
            }
            let mapping =
                parse_with_repairs(fenced.block, rules).map_err(|error| fenced.place(error))?;
            Ok(ParsedFrontMatter {
                values: merge(mapping, parse_lines(fenced.block)),
                tolerated: None,
            })
        }
    }
}

/// What lies between the fences, and where it begins.
struct Fenced<'a> {
    block: &'a str,
    first_line: usize,
}

impl Fenced<'_> {
    fn place(&self, error: YamlError) -> FrontMatterError {
        FrontMatterError {
            code: error.code,
            line: error.line + self.first_line - 1,
            column: error.column,
            message: error.message,
        }
    }
}

fn normalise_line_ends(text: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\r', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
}

/// Takes what lies between the fourth character and the first line that begins with `---` (S10).
fn lenient_fences(text: &str) -> Option<Fenced<'_>> {
    let after = text.strip_prefix("---")?;
    let end = after.find("\n---")?;
    let first = after.chars().next()?;
    let start = first.len_utf8();
    Some(Fenced {
        block: after.get(start..end).unwrap_or_default(),
        first_line: if first == '\n' { 2 } else { 1 },
    })
}

/// Takes what lies between two lines of nothing but `---` and blanks (S16).
fn strict_fences(text: &str) -> Result<Option<Fenced<'_>>, FrontMatterError> {
    let is_fence = |line: &str| {
        line.strip_prefix("---")
            .is_some_and(|rest| rest.chars().all(is_js_whitespace))
    };
    let Some((opening, tail)) = text.split_once('\n').filter(|(first, _)| is_fence(first)) else {
        return Ok(None);
    };
    let mut at = 0;
    for line in tail.split('\n') {
        if is_fence(line) {
            return Ok(Some(Fenced {
                block: &tail[..at.max(1) - 1],
                first_line: 2,
            }));
        }
        at += line.len() + 1;
    }
    Err(FrontMatterError {
        code: code::UNTERMINATED,
        line: 1,
        column: opening.len() + 1,
        message: "the block has no closing `---` line".to_owned(),
    })
}

/// One key that the line parser found.
struct Line {
    key: String,
    value: String,
    inline: bool,
}

/// Reads `key: value` lines that begin in the first column; an empty value takes the indented lines below it (S11).
fn parse_lines(block: &str) -> Vec<Line> {
    let indented = |line: &str| line.starts_with([' ', '\t']);
    let lines: Vec<&str> = block.split('\n').collect();
    let mut found: Vec<Line> = Vec::new();
    let mut at = 0;
    while at < lines.len() && found.len() < MAX_LINE_KEYS {
        let matched = key_and_rest(lines[at]);
        at += 1;
        let Some((key, rest)) = matched else {
            continue;
        };
        let inline = trim_js(rest);
        let takes_lines = inline.is_empty() && lines.get(at).is_some_and(|line| indented(line));
        let value = if takes_lines {
            let first = at;
            while lines
                .get(at)
                .is_some_and(|line| line.is_empty() || indented(line))
            {
                at += 1;
            }
            trim_js(&lines[first..at].join("\n")).to_owned()
        } else {
            strip_quotes(inline).to_owned()
        };
        if value.is_empty() {
            continue;
        }
        let line = Line {
            key: key.to_owned(),
            value,
            inline: !takes_lines,
        };
        match found.iter_mut().find(|known| known.key == key) {
            Some(known) => *known = line,
            None => found.push(line),
        }
    }
    found
}

/// Splits `key: rest`, where the key is made of ASCII letters, digits, `_` and `-`.
fn key_and_rest(line: &str) -> Option<(&str, &str)> {
    let (key, rest) = line.split_once(':')?;
    let rest = rest.trim_start_matches(is_js_whitespace);
    let separated = rest.contains(['\u{2028}', '\u{2029}']);
    (is_key(key) && !separated).then_some((key, rest))
}

fn is_key(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

fn strip_quotes(value: &str) -> &str {
    for quote in ['"', '\''] {
        if value.starts_with(quote) && value.ends_with(quote) {
            return value.get(1..value.len().max(2) - 1).unwrap_or_default();
        }
    }
    value
}

/// Merges both readings: YAML wins key by key, except that inline text with a colon stays as it is written (S11, S14).
fn merge(mapping: Vec<(String, Yaml)>, by_line: Vec<Line>) -> SkillFrontMatter {
    let mut merged = SkillFrontMatter::default();
    for (raw_key, value) in mapping {
        let key = trim_js(&raw_key);
        if key.is_empty() {
            continue;
        }
        let text = match value {
            Yaml::Null => continue,
            Yaml::Text(text) => trim_js(&text).to_owned(),
            Yaml::Number(number) => js_number(number),
            Yaml::Bool(value) => value.to_string(),
            structured @ (Yaml::List(_) | Yaml::Map(_)) => {
                let as_written = by_line
                    .iter()
                    .find(|line| line.key == key && line.inline && line.value.contains(':'));
                match as_written {
                    Some(line) => line.value.clone(),
                    None => structured.to_json(),
                }
            }
        };
        merged.set(key.to_owned(), text);
    }
    for line in by_line {
        if merged.get(&line.key).is_none() {
            merged.set(line.key, line.value);
        }
    }
    merged
}

/// Reads the block as YAML; quotes one offending line after the other while that may help (S18).
fn parse_with_repairs(block: &str, rules: &SkillRules) -> Result<Vec<(String, Yaml)>, YamlError> {
    let mut current = Cow::Borrowed(block);
    let mut result = yaml::parse_mapping(&current);
    for _ in rules.repaired_keys {
        let Err(error) = &result else {
            break;
        };
        let Some(repaired) = repair(&current, error, rules.repaired_keys) else {
            break;
        };
        result = yaml::parse_mapping(&repaired);
        current = Cow::Owned(repaired);
    }
    // Quoting makes a line longer than the one that the user sees.
    result.map_err(|mut error| {
        let line = block.split('\n').nth(error.line.saturating_sub(1));
        let end = line.map_or(1, |line| line.chars().count() + 1);
        error.column = error.column.min(end);
        error
    })
}

/// Quotes the line that the error names, if it holds one of the keys; `None` when nothing would change.
fn repair(block: &str, error: &YamlError, keys: &[&str]) -> Option<String> {
    let wanted = error.repair_line?.checked_sub(1)?;
    let mut lines: Vec<Cow<'_, str>> = block.split('\n').map(Cow::Borrowed).collect();
    let line = lines.get(wanted)?;
    let (written_key, rest) = line.split_once(':')?;
    let key = unquoted_key(written_key)?;
    let value = trim_js(rest);
    let place = keys.iter().position(|known| *known == key)?;
    let colon_is_the_trouble = error.code == code::BLOCK_AS_IMPLICIT_KEY && value.contains(": ");
    if value.is_empty() || is_block_header(value) || (place > 0 && !colon_is_the_trouble) {
        return None;
    }
    let mut quoted = format!("{key}: ");
    write_json_string(&mut quoted, strip_quotes(value));
    if *quoted == **line {
        return None;
    }
    lines[wanted] = Cow::Owned(quoted);
    Some(lines.join("\n"))
}

fn unquoted_key(written: &str) -> Option<&str> {
    let quoted = |mark| {
        written
            .strip_prefix(mark)
            .and_then(|rest: &str| rest.strip_suffix(mark))
    };
    Some(quoted('"').or_else(|| quoted('\'')).unwrap_or(written)).filter(|key| is_key(key))
}

/// Tells whether a value is only the header of a block scalar, such as `|` or `>2-`.
fn is_block_header(value: &str) -> bool {
    let Some(rest) = value.strip_prefix(['|', '>']) else {
        return false;
    };
    let digit = |c: char| matches!(c, '1'..='9');
    let sign = |c: char| matches!(c, '+' | '-');
    let mut rest = rest.chars();
    match (rest.next(), rest.next(), rest.next()) {
        (None, ..) => true,
        (Some(a), None, _) => digit(a) || sign(a),
        (Some(a), Some(b), None) => (digit(a) && sign(b)) || (sign(a) && digit(b)),
        (Some(_), Some(_), Some(_)) => false,
    }
}
