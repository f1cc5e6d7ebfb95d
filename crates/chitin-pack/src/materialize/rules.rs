//! Rules: an id, when it applies, and a body (rule P35).

use super::source::{AgentContent, text};
use crate::error::PackError;
use crate::layer::LayerKind;
use crate::packages::RuleFacts;
use chitin_workspace::front_matter;
use std::fmt::Write as _;

/// When a rule applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    Always,
    /// When the agent finds that it fits.
    Auto,
    /// For files that match.
    Glob,
    /// When somebody asks for it.
    Manual,
}

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) id: String,
    pub(super) scope: Scope,
    pub(super) description: Option<String>,
    pub(super) globs: Vec<String>,
    pub(super) body: String,
}

/// Reads the rules, in the order of the archive.
pub(super) fn read(source: &AgentContent<'_>) -> Result<Vec<Rule>, PackError> {
    source
        .contents(LayerKind::Rules, |path| path.ends_with(".md"))?
        .into_iter()
        .map(|(path, bytes)| Ok(parse(&path, &text(bytes, &format!("the rule `{path}`"))?)))
        .collect()
}

/// Writes rules one after the other, as those targets have them that keep them in their main file.
pub(super) fn joined(rules: &[Rule]) -> String {
    let mut text = String::new();
    for (index, rule) in rules.iter().enumerate() {
        let separator = if index == 0 { "" } else { "\n\n" };
        let _ = write!(text, "{separator}## Rule: {}\n\n{}", rule.id, rule.body);
    }
    text
}

fn parse(path: &str, document: &str) -> Rule {
    let body = front_matter::strip(document);
    let head = &document[..document.len() - body.len()];
    let name = path.rsplit('/').next().unwrap_or(path);
    let globs = list(head, "globs");
    Rule {
        id: RuleFacts::read(document.as_bytes())
            .id
            .unwrap_or_else(|| name.strip_suffix(".md").unwrap_or(name).to_owned()),
        scope: match front_matter_value(head, "scope").as_deref() {
            Some("auto") => Scope::Auto,
            Some("glob") => Scope::Glob,
            Some("manual") => Scope::Manual,
            _ if !globs.is_empty() => Scope::Glob,
            _ => Scope::Always,
        },
        description: front_matter_value(head, "description"),
        globs,
        body: body.trim().to_owned(),
    }
}

/// Finds a plain value in a front matter block.
pub(super) fn front_matter_value(head: &str, key: &str) -> Option<String> {
    let found = head.lines().find_map(|line| after_key(line, key))?;
    let plain = unquoted(found);
    (!plain.is_empty()).then(|| plain.to_owned())
}

/// Finds a list: in brackets, or one item a line.
fn list(head: &str, key: &str) -> Vec<String> {
    let mut lines = head
        .lines()
        .skip_while(|line| after_key(line, key).is_none());
    let Some(first) = lines.next().and_then(|line| after_key(line, key)) else {
        return Vec::new();
    };
    let items: Vec<&str> = match first
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
    {
        Some(inner) => inner.split(',').collect(),
        None if first.is_empty() => lines
            .map_while(|line| line.trim().strip_prefix("- "))
            .collect(),
        None => vec![first],
    };
    let plain = items
        .into_iter()
        .map(|item| unquoted(item.trim()).to_owned());
    plain.filter(|item| !item.is_empty()).collect()
}

fn after_key<'l>(line: &'l str, key: &str) -> Option<&'l str> {
    Some(line.strip_prefix(key)?.strip_prefix(':')?.trim())
}

fn unquoted(text: &str) -> &str {
    ['"', '\'']
        .into_iter()
        .find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote))
        .unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_says_who_it_is_or_its_file_does() {
        let plain = parse("deep/short.md", "\nBe brief.\n\n");
        assert_eq!(
            (plain.id.as_str(), plain.body.as_str()),
            ("short", "Be brief.")
        );
        assert_eq!(plain.scope, Scope::Always);
        let full = parse(
            "x.md",
            "---\r\nid: \"named\"\r\nscope: manual\r\ndescription: 'When it rains'\r\nglobs:\r\n  - \"*.rs\"\r\n  - src/**\r\n---\r\n\r\nBody.\r\n",
        );
        let expected = Rule {
            id: "named".into(),
            scope: Scope::Manual,
            description: Some("When it rains".into()),
            globs: vec!["*.rs".into(), "src/**".into()],
            body: "Body.".into(),
        };
        assert_eq!(full, expected);
        assert_eq!(
            parse("x.md", "---\nglobs: [a, 'b']\n---\n").scope,
            Scope::Glob
        );
    }
}
