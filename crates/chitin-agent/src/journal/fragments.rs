//! The parts of a system prompt as a trajectory keeps them: names and lengths, so that the prompt, which is there too, can be taken
//! apart again. Records of other programs and of earlier times have none.

use chitin_context::Text;
use chitin_context::{BudgetDecision, CacheClass, Context, FragmentOrigin};
use chitin_workspace::snapshot::FileContent;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// The field of a trajectory's metadata that has them.
pub(super) const FRAGMENTS: &str = "chitinFragments";

/// The field that has the names of the tools in the order in which the prompt speaks of them. Elsewhere they are sorted.
pub(super) const TOOLS: &str = "chitinTools";

/// A part of a system prompt. Parts stand in order and leave no gap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptSpan {
    /// The key of a section, or the name of a file.
    pub name: String,
    /// The file, as the prompt spells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// How long it stays the same: `stable`, `session` or `dynamic`.
    pub cache: String,
    /// Its length in bytes of UTF-8.
    pub bytes: usize,
    /// The BLAKE3 digest of what was read of the file, by which its content is found again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// How many bytes were read of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<usize>,
    /// The length of the file before budgets, in UTF-16 units, where it is another one than that of the part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<usize>,
    /// What became of it, where it is not there whole: `cut`, `missing` or `refused`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// Whether it is the line below which nothing is cached.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub boundary: bool,
}

/// A file of the workspace of which something is in a prompt.
#[derive(Debug, Clone)]
pub struct InjectedFile {
    /// The BLAKE3 digest of what was read of it.
    pub digest: String,
    content: Arc<FileContent>,
}

impl InjectedFile {
    /// Returns what was read of it, before budgets.
    pub fn bytes(&self) -> &[u8] {
        bytes(&self.content)
    }
}

fn bytes(content: &FileContent) -> &[u8] {
    let text = content.text.as_bytes();
    content.invalid.as_deref().unwrap_or(text)
}

/// Returns the files of which something is in a context's system prompt.
pub fn files(context: &Context) -> Vec<InjectedFile> {
    let files = context.system_fragments().filter_map(content);
    files
        .map(|content| InjectedFile {
            digest: digest(content),
            content: Arc::clone(content),
        })
        .collect()
}

fn digest(content: &FileContent) -> String {
    blake3::hash(bytes(content)).to_hex().to_string()
}

/// Returns the file that a fragment is made of, if it is made of one.
fn content(fragment: &chitin_context::Fragment) -> Option<&Arc<FileContent>> {
    match fragment.origin {
        FragmentOrigin::File { .. } => {}
        FragmentOrigin::Section { .. } | FragmentOrigin::Boundary => return None,
    }
    fragment.pieces.iter().find_map(|piece| match &piece.text {
        Text::Slice { content, .. } => Some(content),
        _ => None,
    })
}

/// Writes down the parts of a context's system prompt.
pub fn record(context: &Context) -> Value {
    let parts: Vec<PromptSpan> = context.system_fragments().map(part).collect();
    serde_json::to_value(parts).unwrap_or_default()
}

fn part(fragment: &chitin_context::Fragment) -> PromptSpan {
    let (name, path) = match &fragment.origin {
        FragmentOrigin::Section { key } => ((*key).to_owned(), None),
        FragmentOrigin::File { name, path, .. } => (name.to_string(), Some(path.to_string())),
        FragmentOrigin::Boundary => ("boundary".to_owned(), None),
    };
    let (decision, cause) = match &fragment.decision {
        BudgetDecision::BuiltIn | BudgetDecision::Whole => (None, None),
        BudgetDecision::Cut { causes, .. } => {
            let causes: Vec<String> = causes.iter().map(ToString::to_string).collect();
            (Some("cut"), Some(causes.join(", ")))
        }
        BudgetDecision::Missing => (Some("missing"), None),
        BudgetDecision::Refused { reason } => (Some("refused"), Some(reason.to_string())),
    };
    PromptSpan {
        name,
        path,
        cache: match fragment.cache {
            CacheClass::Stable => "stable",
            CacheClass::Session => "session",
            CacheClass::Dynamic => "dynamic",
        }
        .to_owned(),
        bytes: fragment.bytes(),
        digest: content(fragment).map(|content| digest(content)),
        size: content(fragment).map(|content| bytes(content).len()),
        raw: Some(fragment.raw.units).filter(|raw| *raw != fragment.injected.units),
        decision: decision.map(str::to_owned),
        cause,
        boundary: fragment.origin == FragmentOrigin::Boundary,
    }
}

/// Reads the names of a turn's tools out of its metadata, in the order in which its prompt speaks of them.
pub fn tools(metadata: &Value) -> Option<Vec<&str>> {
    let names = metadata.get("prompting")?.get(TOOLS)?.as_array()?;
    names.iter().map(Value::as_str).collect()
}

/// Reads the parts of a prompt out of the metadata of its turn, whether or not they make it up.
pub fn spans(metadata: &Value) -> Vec<PromptSpan> {
    let parts = metadata
        .get("prompting")
        .and_then(|said| said.get(FRAGMENTS));
    let parts = parts.and_then(|parts| Vec::deserialize(parts).ok());
    parts.unwrap_or_default()
}

/// Reads the parts of a prompt out of the metadata of its turn. None when there are none, or when they do not make up the prompt:
/// secrets that were taken out of it changed its length.
pub fn read(metadata: &Value, system: &str) -> Option<Vec<PromptSpan>> {
    let parts = metadata.get("prompting")?.get(FRAGMENTS)?;
    let parts: Vec<PromptSpan> = Vec::deserialize(parts).ok()?;
    let mut at = 0_usize;
    for part in &parts {
        at = at.checked_add(part.bytes)?;
        if !system.is_char_boundary(at) {
            return None;
        }
    }
    (at == system.len() && !parts.is_empty()).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn metadata(parts: &Value) -> Value {
        json!({"prompting": {FRAGMENTS: parts, TOOLS: ["read", "exec"]}})
    }

    fn part(name: &str, bytes: usize) -> Value {
        json!({"name": name, "cache": "stable", "bytes": bytes})
    }

    #[test]
    fn a_prompt_is_taken_apart_where_its_parts_make_it_up() {
        let metadata = metadata(&json!([part("safety", 3), part("AGENTS.md", 4)]));
        let parts = read(&metadata, "abcdefg").unwrap();
        let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
        assert_eq!(names, ["safety", "AGENTS.md"]);
        assert_eq!(tools(&metadata), Some(vec!["read", "exec"]));
        assert_eq!(read(&metadata, "a secret was taken out"), None);
        assert_eq!(read(&json!({}), "abcdefg"), None);
        assert_eq!(read(&json!({"prompting": {FRAGMENTS: "odd"}}), ""), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn parts_that_are_read_always_make_up_the_prompt(
            system in "[aä船]{0,12}",
            lengths in proptest::collection::vec(0usize..10, 0..6),
        ) {
            let parts: Vec<Value> = lengths.iter().map(|bytes| part("part", *bytes)).collect();
            if let Some(parts) = read(&metadata(&json!(parts)), &system) {
                let mut at = 0;
                for part in parts {
                    prop_assert!(system.get(at..at + part.bytes).is_some());
                    at += part.bytes;
                }
                prop_assert_eq!(at, system.len());
            }
        }
    }
}
