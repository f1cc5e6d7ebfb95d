//! `SKILLS.md`: the skills that it names must be there.

use super::extensions::ended;
use super::finding::{Draft, Findings};
use super::rules;
use super::skills::SkillFile;
use super::subject::Subject;
use chitin_protocol::nearest::nearest;
use chitin_workspace::extensions::line::span;
use std::collections::HashSet;

/// A list item that begins with a name in code, in bold or as a link names a skill, and so does a path below `skills/`.
pub(super) fn check(subject: &Subject<'_>, skills: &[SkillFile], findings: &mut Findings) {
    let known: HashSet<&str> = skills
        .iter()
        .flat_map(|skill| std::iter::once(skill.name.as_str()).chain(folders(&skill.path)))
        .collect();
    let mut told = HashSet::new();
    for line in subject.text.lines() {
        for name in bullet_name(line).into_iter().chain(path_names(line)) {
            if known.contains(name) || !told.insert(name) {
                continue;
            }
            let near = nearest(name, known.iter().copied());
            let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            let message = ended(format!("There is no skill `{name}`{hint}"));
            let draft = Draft::new(&rules::ABSENT_SKILL, message);
            findings.at(subject, span(subject.text, name), draft);
        }
    }
}

fn bullet_name(line: &str) -> Option<&str> {
    let item = line.trim_start();
    let item = ["- ", "* ", "+ "]
        .iter()
        .find_map(|bullet| item.strip_prefix(bullet))?
        .trim_start();
    let (open, close) = [("**`", "`**"), ("`", "`"), ("**", "**"), ("[", "](")]
        .into_iter()
        .find(|(open, _)| item.starts_with(open))?;
    let inside = &item[open.len()..];
    let name = &inside[..inside.find(close)?];
    is_name(name).then_some(name)
}

fn path_names(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices("skills/").filter_map(|(at, found)| {
        let rest = &line[at + found.len()..];
        let end = rest.find('/')?;
        is_name(&rest[..end]).then_some(&rest[..end])
    })
}

fn is_name(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    !name.is_empty() && name.len() <= 64 && name.chars().all(is_part)
}

/// The directories that a skill is in: its own, and the groups above it, which a path may name as well.
fn folders(path: &str) -> impl Iterator<Item = &str> {
    path.rsplit('/').skip(1)
}
