//! Skills for runtimes other than OpenClaw: one directory each, named as the skill names itself, with the front matter that
//! these runtimes insist on. Skills in groups are taken out of them: other runtimes look one level deep.

use super::shared::remark;
use crate::compat::SKILL_FILE;
use crate::error::PackError;
use crate::layer::LayerKind;
use crate::materialize::options::{LayoutOptions, WriteLayer};
use crate::materialize::plan::Draft;
use crate::materialize::rules::front_matter_value;
use crate::materialize::source::{AgentContent, ArchivedFile};
use chitin_workspace::front_matter;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Longer names and descriptions are refused by the runtimes.
const MAX_NAME: usize = 64;
const MAX_DESCRIPTION: usize = 1024;

/// The layers that hold skills, in order of precedence.
const LAYERS: [LayerKind; 2] = [LayerKind::Skills, LayerKind::AgentsSkills];

/// Lays skills out below a directory.
pub(super) fn skills(
    source: &AgentContent<'_>,
    options: &LayoutOptions,
    below: &str,
    draft: &mut Draft,
) -> Result<(), PackError> {
    if options.skills == WriteLayer::No {
        return Ok(());
    }
    let mut names = BTreeSet::new();
    for layer in LAYERS {
        let roots = roots(source.files(layer));
        let documents: BTreeMap<String, Vec<u8>> = source
            .contents(layer, |path| {
                path.strip_suffix(SKILL_FILE)
                    .and_then(|root| root.strip_suffix('/'))
                    .is_some_and(|root| roots.contains(root))
            })?
            .into_iter()
            .collect();
        for root in &roots {
            let document = format!("{root}/{SKILL_FILE}");
            let Some(bytes) = documents.get(&document) else {
                continue;
            };
            let skill = Skill::read(root, bytes);
            if !names.insert(skill.name.clone()) {
                let message = format!(
                    "the skill `{}` is there twice under that name; `{root}` is not laid out",
                    skill.name
                );
                remark(layer, message, draft);
                continue;
            }
            let prefix = format!("{root}/");
            for file in source.files(layer) {
                let Some(inside) = file.path.strip_prefix(&prefix) else {
                    continue;
                };
                let target = format!("{below}{}/{inside}", skill.name);
                match &skill.rewritten {
                    Some(text) if inside == SKILL_FILE => {
                        draft.document(target, text.as_bytes());
                        let message = format!(
                            "the front matter of the skill `{}` was completed with what other runtimes need",
                            skill.name
                        );
                        remark(layer, message, draft);
                    }
                    _ => draft.archived(target, layer, file),
                }
            }
        }
        let is_held = |path: &str| {
            roots.iter().any(|root| {
                path.strip_prefix(root.as_str())
                    .is_some_and(|rest| rest.starts_with('/'))
            })
        };
        if source.files(layer).iter().any(|file| !is_held(&file.path)) {
            let message = "files beside skills, which belong to none of them, are not laid out";
            remark(layer, message, draft);
        }
    }
    Ok(())
}

/// The directories that are skills: those with a document, and with no skill above them.
fn roots(files: &[ArchivedFile]) -> BTreeSet<String> {
    let all: BTreeSet<&str> = files
        .iter()
        .filter_map(|file| file.path.strip_suffix(SKILL_FILE)?.strip_suffix('/'))
        .collect();
    let is_below = |root: &str| {
        root.match_indices('/')
            .any(|(end, _)| all.contains(&root[..end]))
    };
    all.iter()
        .filter(|root| !is_below(root))
        .map(|root| (*root).to_owned())
        .collect()
}

/// A skill under the name that it gets.
struct Skill {
    name: String,
    /// The document with other front matter, where its own would not do.
    rewritten: Option<String>,
}

impl Skill {
    fn read(root: &str, bytes: &[u8]) -> Self {
        let directory = root.rsplit('/').next().unwrap_or(root);
        let Ok(text) = std::str::from_utf8(bytes) else {
            return Self {
                name: slug(directory),
                rewritten: None,
            };
        };
        let text = text.trim_start_matches('\u{feff}');
        let body = front_matter::strip(text);
        let head = &text[..text.len() - body.len()];
        let own = front_matter_value(head, "name");
        let description = front_matter_value(head, "description");
        let name = slug(own.as_deref().unwrap_or(directory));
        let rewritten = (own.as_deref() != Some(name.as_str()) || description.is_none())
            .then(|| rewrite(head, body, &name, description.is_none()));
        Self { name, rewritten }
    }
}

/// Makes a name that every runtime takes: small letters, digits, and single dashes between them.
fn slug(text: &str) -> String {
    let mut name = String::new();
    for character in text.chars().flat_map(char::to_lowercase) {
        match character {
            'a'..='z' | '0'..='9' => name.push(character),
            _ if !name.is_empty() && !name.ends_with('-') => name.push('-'),
            _ => {}
        }
    }
    name.truncate(MAX_NAME);
    match name.trim_end_matches('-') {
        "" => "skill".to_owned(),
        name => name.to_owned(),
    }
}

/// Writes the document with a name, and with a description if it has none; other lines of the front matter stay.
fn rewrite(head: &str, body: &str, name: &str, describe: bool) -> String {
    let mut lines = vec![format!("name: {name}")];
    if describe {
        let description = Value::from(first_words(body, name));
        lines.push(format!("description: {description}"));
    }
    let fence = |line: &&str| line.trim_end() != "---";
    let is_replaced =
        |line: &str| line.starts_with("name:") || (describe && line.starts_with("description:"));
    let kept = head
        .lines()
        .filter(fence)
        .filter(|line| !is_replaced(line) && !line.trim().is_empty());
    lines.extend(kept.map(str::to_owned));
    format!(
        "---\n{}\n---\n\n{}",
        lines.join("\n"),
        body.trim_start_matches(['\r', '\n'])
    )
}

/// The first line of text, which says best what a skill without a description is for.
fn first_words(body: &str, name: &str) -> String {
    let line = body
        .lines()
        .map(|line| line.trim().trim_start_matches(['#', '-', '*', '>']).trim())
        .find(|line| !line.is_empty());
    let text: String = line
        .unwrap_or(name)
        .chars()
        .take(MAX_DESCRIPTION / 4)
        .collect();
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skill_keeps_its_bytes_when_its_front_matter_will_do() {
        let good = b"---\nname: tide-window\ndescription: Finds windows.\n---\nBody.\n";
        let skill = Skill::read("yard/tides", good);
        assert_eq!(skill.name, "tide-window");
        assert_eq!(skill.rewritten, None);
    }

    #[test]
    fn a_skill_gets_the_front_matter_that_is_missing() {
        let skill = Skill::read("yard/Steam Bending", b"# Steam bending\n\nHeat it.\n");
        assert_eq!(skill.name, "steam-bending");
        assert_eq!(
            skill.rewritten.as_deref(),
            Some(
                "---\nname: steam-bending\ndescription: \"Steam bending\"\n---\n\n# Steam bending\n\nHeat it.\n"
            )
        );
        let odd =
            b"---\nname: Quote Letter\ndescription: Drafts.\nmetadata: { \"x\": 1 }\n---\nBody.\n";
        let skill = Skill::read("quote", odd);
        assert_eq!(skill.name, "quote-letter");
        assert_eq!(
            skill.rewritten.as_deref(),
            Some(
                "---\nname: quote-letter\ndescription: Drafts.\nmetadata: { \"x\": 1 }\n---\n\nBody.\n"
            )
        );
    }

    #[test]
    fn names_are_those_that_every_runtime_takes() {
        assert_eq!(slug("Tide Window!"), "tide-window");
        assert_eq!(slug("--a__b--"), "a-b");
        assert_eq!(slug("æøå"), "skill");
        assert!(slug(&"ab-".repeat(60)).len() <= MAX_NAME);
    }
}
