//! Skills as they were found: problems, hidden names, missing descriptions.

use super::finding::{Draft, Findings};
use super::gather::TextFile;
use super::rules;
use super::subject::Subject;
use chitin_workspace::skills::{NO_DESCRIPTION, SkillSet};
use std::path::Path;

/// A skill as discovery found it.
#[derive(Debug, Clone, Default)]
pub struct SkillFile {
    /// Its name.
    pub name: String,
    /// Where it comes from, such as `workspace`.
    pub source: String,
    /// Its `SKILL.md`, relative to the workspace, or absolute if it lies elsewhere.
    pub path: String,
    /// The text of its `SKILL.md`.
    pub text: String,
    /// Its description, if it has one.
    pub description: Option<String>,
    /// The path of the skill of the same name that is used instead.
    pub shadowed_by: Option<String>,
    /// What reading it showed.
    pub problems: Vec<SkillFinding>,
}

/// Something wrong with a skill.
#[derive(Debug, Clone)]
pub struct SkillFinding {
    /// The one-based line, if it is about one.
    pub line: Option<usize>,
    /// What is wrong: a sentence.
    pub message: String,
}

/// Turns what discovery found into what a check looks at: the skills of the workspace, used, hidden or lost.
pub fn skill_files(set: &SkillSet, workspace: &Path, files: &[TextFile]) -> Vec<SkillFile> {
    let relative = |path: &Path| {
        Some(
            path.strip_prefix(workspace)
                .ok()?
                .to_string_lossy()
                .into_owned(),
        )
    };
    let text = |path: &str| {
        let found = files.iter().find(|file| file.path == path);
        found.map(|file| file.text.clone()).unwrap_or_default()
    };
    let used = set.skills.iter().map(|skill| (skill, None));
    let hidden = set
        .shadowed
        .iter()
        .map(|shadowed| (&shadowed.skill, Some(&shadowed.by_file)));
    let mut found: Vec<SkillFile> = used
        .chain(hidden)
        .filter_map(|(skill, by)| {
            let path = relative(&skill.file)?;
            Some(SkillFile {
                name: skill.name.clone(),
                source: skill.source.tag().to_owned(),
                text: text(&path),
                description: Some(skill.description.clone()),
                shadowed_by: by.map(|by| relative(by).unwrap_or_else(|| by.display().to_string())),
                problems: Vec::new(),
                path,
            })
        })
        .collect();
    for problem in &set.problems {
        let Some(path) = relative(&problem.path) else {
            continue;
        };
        let at = found
            .iter()
            .position(|skill| skill.path == path)
            .unwrap_or_else(|| {
                let directory = problem
                    .path
                    .parent()
                    .and_then(Path::file_name)
                    .unwrap_or_default();
                found.push(SkillFile {
                    name: directory.to_string_lossy().into_owned(),
                    source: problem.source.tag().to_owned(),
                    text: text(&path),
                    // A lost skill is reported for what lost it, and for a missing description only by that rule.
                    description: (problem.code != NO_DESCRIPTION).then(|| "lost".to_owned()),
                    shadowed_by: None,
                    problems: Vec::new(),
                    path,
                });
                found.len() - 1
            });
        if problem.code != NO_DESCRIPTION {
            found[at].problems.push(SkillFinding {
                line: problem.line,
                message: problem.message.clone(),
            });
        }
    }
    found
}

/// Reports what discovery says of a skill; `subject` is its `SKILL.md`.
pub(crate) fn check(subject: &Subject<'_>, skill: &SkillFile, findings: &mut Findings) {
    for problem in &skill.problems {
        let draft = Draft::new(&rules::SKILL_PROBLEM, problem.message.clone());
        match problem.line.and_then(|line| line.checked_sub(1)) {
            Some(line) if line < subject.lines.count() => {
                let range = subject.lines.range(line);
                let length = subject.text[range.clone()].trim_end().len();
                findings.at(subject, range.start..range.start + length, draft);
            }
            Some(_) | None => findings.whole(subject, draft),
        }
    }
    if let Some(winner) = &skill.shadowed_by {
        let message = format!("`{}` is shadowed by `{winner}`.", skill.name);
        findings.whole(subject, Draft::new(&rules::SKILL_SHADOWED, message));
    }
    let described = skill
        .description
        .as_deref()
        .is_some_and(|description| !description.trim().is_empty());
    if !described {
        let message = format!("The skill `{}` has no description.", skill.name);
        findings.whole(
            subject,
            Draft::new(&rules::SKILL_WITHOUT_DESCRIPTION, message),
        );
    }
}
