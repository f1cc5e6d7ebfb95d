//! One skill, and the set of all of them.

use super::front_matter::SkillFrontMatter;
use super::metadata::{Invocation, Metadata};
use super::problem::{ProblemSeverity, SkillProblem};
use chitin_contract::SkillSource;
use serde::Serialize;
use std::path::PathBuf;

/// A skill that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Skill {
    /// Its name, which is what others know it by.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Where it comes from.
    pub source: SkillSource,
    /// The directory that holds it.
    #[serde(serialize_with = "crate::json_path::serialize")]
    pub directory: PathBuf,
    /// Its SKILL.md.
    #[serde(serialize_with = "crate::json_path::serialize")]
    pub file: PathBuf,
    /// Who may start it.
    pub invocation: Invocation,
    /// What it says about itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
    /// Its front matter.
    pub front_matter: SkillFrontMatter,
    /// The size of SKILL.md in bytes.
    pub bytes: usize,
}

impl Skill {
    /// Returns the name of its entry in configuration.
    pub fn key(&self) -> &str {
        self.metadata
            .as_ref()
            .and_then(|metadata| metadata.skill_key.as_deref())
            .unwrap_or(&self.name)
    }
}

/// Every skill that was found, what each one shadows, and what is wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SkillSet {
    /// The skills that count, ordered by name.
    pub skills: Vec<Skill>,
    /// Skills that another one of the same name replaced, in the order in which they lost.
    pub shadowed: Vec<Shadowed>,
    /// What could not be taken, and what was taken in spite of a flaw.
    pub problems: Vec<SkillProblem>,
}

/// A skill that lost to another one of the same name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Shadowed {
    /// The skill that lost.
    pub skill: Skill,
    /// Where the winner comes from.
    pub by: SkillSource,
    /// The winner's SKILL.md.
    #[serde(serialize_with = "crate::json_path::serialize")]
    pub by_file: PathBuf,
}

impl SkillSet {
    /// Returns the skill of that name.
    pub fn get(&self, name: &str) -> Option<&Skill> {
        self.skills.iter().find(|skill| skill.name == name)
    }

    /// Tells whether a skill was lost.
    pub fn has_errors(&self) -> bool {
        self.problems
            .iter()
            .any(|problem| problem.severity == ProblemSeverity::Error)
    }
}
