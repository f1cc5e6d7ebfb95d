//! Finding skills in every root and merging them by precedence (S1, S2, S8, S9).

use super::order::Names;
use super::problem::ProblemSeverity;
use super::roots::{SkillPlaces, SkillRoot};
use super::scan::{self, ScanContext};
use super::skill::{Shadowed, Skill, SkillSet};
use chitin_config::ChitinSettings;
use chitin_contract::{LinkedRoots, SkillRules, SkillSource};
use chitin_guard::{DirectoryEntryKind, LinkPolicy, ReadError, Root};
use chitin_protocol::record::FileRefusal;
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;

/// What a caller may set aside of a contract and of configuration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DiscoverOptions {
    /// How many levels below a root skills are looked for.
    pub group_depth: Option<usize>,
    /// How many directories of one root are looked at.
    pub max_candidates_per_root: Option<usize>,
    /// How many skills one source may give.
    pub max_skills_per_source: Option<usize>,
    /// The largest SKILL.md that is read, in bytes.
    pub max_file_bytes: Option<u64>,
}

impl DiscoverOptions {
    /// Takes what the user's own settings say.
    pub fn of(settings: &ChitinSettings) -> Self {
        Self {
            group_depth: settings
                .skill_depth
                .and_then(|depth| usize::try_from(depth).ok()),
            ..Self::default()
        }
    }
}

/// The limits that hold for one discovery.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) candidates: usize,
    pub(super) skills: usize,
    pub(super) file_bytes: u64,
    pub(super) depth: usize,
    pub(super) extra_depth: usize,
}

impl Limits {
    fn new(config: &Value, rules: &SkillRules, options: &DiscoverOptions) -> Self {
        let configured = |name: &str| {
            config
                .pointer("/skills/limits")
                .and_then(|limits| limits.get(name))
                .and_then(Value::as_f64)
                .map(whole)
        };
        let count = |option: Option<usize>, name: &str, default: usize| {
            option
                .or_else(|| configured(name).map(|n| usize::try_from(n).unwrap_or(usize::MAX)))
                .unwrap_or(default)
        };
        Self {
            candidates: count(
                options.max_candidates_per_root,
                "maxCandidatesPerRoot",
                SkillRules::MAX_CANDIDATES_PER_ROOT,
            ),
            skills: count(
                options.max_skills_per_source,
                "maxSkillsLoadedPerSource",
                SkillRules::MAX_SKILLS_PER_SOURCE,
            ),
            file_bytes: options
                .max_file_bytes
                .or_else(|| configured("maxSkillFileBytes"))
                .unwrap_or(SkillRules::MAX_FILE_BYTES),
            depth: options.group_depth.unwrap_or(rules.group_depth).max(1),
            extra_depth: options
                .group_depth
                .unwrap_or(rules.extra_group_depth)
                .max(1),
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a limit below zero is none, and the cast saturates"
)]
fn whole(number: f64) -> u64 {
    number.max(0.0) as u64
}

/// Finds every skill, reads it, and merges them by precedence. What cannot be taken is reported and stops nothing.
pub fn discover(
    places: &SkillPlaces,
    config: &Value,
    rules: &SkillRules,
    options: &DiscoverOptions,
) -> SkillSet {
    let limits = Limits::new(config, rules, options);
    let link_targets = places
        .listed(config, "allowSymlinkTargets")
        .iter()
        .filter(|_| !rules.link_target_sources.is_empty())
        .filter_map(|target| Root::open(target).ok())
        .map(|root| root.real_path().to_path_buf())
        .collect::<Vec<_>>();
    let directories = Names::new(rules.directory_order);
    let mut problems = Vec::new();
    let mut merged = Merged::default();
    let roots = places.roots(config, rules).into_iter().filter(|root| {
        let is_own = matches!(root.source, SkillSource::Project | SkillSource::Workspace);
        places.named.is_none() || !is_own
    });
    for root in roots {
        let mut context = ScanContext {
            source: root.source,
            refuses_hardlinks: rules.no_hardlink_sources.contains(&root.source)
                || (root.from_plugin && !rules.no_hardlink_sources.is_empty()),
            rules,
            limits,
            link_targets: &link_targets,
            directories: &directories,
            problems: &mut problems,
        };
        // What is judged is what is open, so nothing that takes its place afterwards is read.
        let opened = scan::open_root(&root.directory, &mut context);
        if leaves_workspace(&root, opened.as_ref(), places) {
            let (severity, message) = match rules.linked_roots {
                LinkedRoots::Followed => (
                    ProblemSeverity::Warning,
                    "The directory is a link that leaves the workspace, so its skills come from outside.",
                ),
                LinkedRoots::Refused => (
                    ProblemSeverity::Error,
                    "The directory is a link that leaves the workspace, so its skills are not used.",
                ),
            };
            context.report(severity, ROOT_OUTSIDE, &root.directory, message.to_owned());
            if rules.linked_roots == LinkedRoots::Refused {
                continue;
            }
        }
        let Some(opened) = opened else {
            continue;
        };
        for skill in scan::scan_root(&opened, &mut context) {
            merged.add(skill);
        }
    }
    if let Some(named) = &places.named {
        let source = SkillSource::Workspace;
        let mut context = ScanContext {
            source,
            refuses_hardlinks: rules.no_hardlink_sources.contains(&source),
            rules,
            limits,
            link_targets: &link_targets,
            directories: &directories,
            problems: &mut problems,
        };
        for skill in scan::read_named(&places.workspace, named, &mut context) {
            merged.add(skill);
        }
    }
    let mut set = merged.into_set();
    let names = Names::new(rules.name_order);
    set.skills.sort_by(|a, b| names.compare(&a.name, &b.name));
    set.problems = problems;
    set
}

/// The code of a root that is a link out of the workspace.
const ROOT_OUTSIDE: &str = "root-outside-workspace";

/// Tells whether a root that belongs to the workspace is really somewhere else.
fn leaves_workspace(root: &SkillRoot, opened: Option<&Root>, places: &SkillPlaces) -> bool {
    let Ok(relative) = root.directory.strip_prefix(&places.workspace) else {
        return false;
    };
    if !matches!(root.source, SkillSource::Project | SkillSource::Workspace) {
        return false;
    }
    let Ok(workspace) = Root::open(&places.workspace) else {
        return false;
    };
    let trusted = |real: &Path| {
        let mut trusted = places
            .trusted
            .iter()
            .filter_map(|path| Root::open(path).ok());
        trusted.any(|root| real.starts_with(root.real_path()))
    };
    if let Some(real) = opened.map(Root::real_path)
        && !real.starts_with(workspace.real_path())
        && !trusted(real)
    {
        return true;
    }
    // A plain directory on a plain way needs no walk.
    workspace.kind(relative) != Some(DirectoryEntryKind::Directory)
        && matches!(
            workspace.walk(relative, &LinkPolicy::TrustedRoots(places.trusted.clone())),
            Err(ReadError::Refused {
                reason: FileRefusal::OutsideRoot,
                ..
            })
        )
}

/// Skills by name; a later one takes the place of an earlier one.
#[derive(Default)]
struct Merged {
    skills: Vec<Skill>,
    places: HashMap<String, usize>,
    lost: Vec<Skill>,
}

impl Merged {
    fn add(&mut self, skill: Skill) {
        if let Some(&at) = self.places.get(&skill.name) {
            self.lost
                .push(std::mem::replace(&mut self.skills[at], skill));
            return;
        }
        self.places.insert(skill.name.clone(), self.skills.len());
        self.skills.push(skill);
    }

    fn into_set(self) -> SkillSet {
        let shadowed = self
            .lost
            .into_iter()
            .filter_map(|skill| {
                let winner = &self.skills[*self.places.get(&skill.name)?];
                Some(Shadowed {
                    by: winner.source,
                    by_file: winner.file.clone(),
                    skill,
                })
            })
            .collect();
        SkillSet {
            skills: self.skills,
            shadowed,
            problems: Vec::new(),
        }
    }
}
