//! Skills as they were found: problems, hidden names, missing descriptions.

use super::finding::{Draft, Findings};
use super::rules;
use super::subject::Subject;

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
    pub problems: Vec<SkillProblem>,
}

/// Something wrong with a skill.
#[derive(Debug, Clone)]
pub struct SkillProblem {
    /// The one-based line, if it is about one.
    pub line: Option<usize>,
    /// What is wrong: a sentence.
    pub message: String,
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
        let message = format!("`{}` is hidden by `{winner}`.", skill.name);
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
