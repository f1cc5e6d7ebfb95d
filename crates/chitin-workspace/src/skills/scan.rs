//! One root: which of its directories are skills (S3–S8).

use super::compat::{SKILL_FILE, SKILLS_DIRECTORY};
use super::discover::Limits;
use super::load::{self, Candidate, LoadedSkill};
use super::order::Names;
use super::problem::{ProblemSeverity, SkillProblem};
use super::skill::Skill;
use chitin_contract::{
    HiddenDirectories, NestedRoot, RootFile, SkillRules, SkillSource, SourceLimit,
};
use chitin_guard::{DirectoryEntry, DirectoryEntryKind, LinkPolicy, ReadError, Root};
use std::collections::{HashSet, VecDeque};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// A directory with more names than this is not searched.
const MAX_ENTRIES: usize = 100_000;

/// How many directories a search for groups may list, for each directory that a root may hold.
const LISTS_PER_CANDIDATE: usize = 6;

/// From so many candidates on, several threads read them.
const MANY: usize = 512;

/// More threads than this only wait for the disk.
const MAX_THREADS: usize = 4;

/// What a scan needs to know besides the directory.
pub(super) struct ScanContext<'a> {
    pub(super) source: SkillSource,
    pub(super) refuses_hardlinks: bool,
    pub(super) rules: &'a SkillRules,
    pub(super) limits: Limits,
    /// Real directories that links may lead into.
    pub(super) link_targets: &'a [PathBuf],
    pub(super) directories: &'a Names,
    pub(super) problems: &'a mut Vec<SkillProblem>,
}

impl ScanContext<'_> {
    pub(super) fn report(
        &mut self,
        severity: ProblemSeverity,
        code: &'static str,
        path: &Path,
        message: String,
    ) {
        self.problems.push(SkillProblem {
            severity,
            code,
            source: self.source,
            path: path.to_path_buf(),
            line: None,
            column: None,
            message,
        });
    }

    /// Tells whether directories of this source may be links to anywhere.
    pub(super) fn is_uncontained(&self) -> bool {
        self.rules.uncontained_sources.contains(&self.source)
    }

    /// Tells whether a real directory may be used although it is not beneath the root.
    pub(super) fn is_link_target(&self, real: &Path) -> bool {
        self.rules.link_target_sources.contains(&self.source)
            && self
                .link_targets
                .iter()
                .any(|target| real.starts_with(target))
    }
}

/// Reads skills that are named one by one by their files, relative to a workspace.
pub(super) fn read_named(
    workspace: &Path,
    files: &[PathBuf],
    context: &mut ScanContext<'_>,
) -> Vec<Skill> {
    let Ok(base) = Root::open(workspace) else {
        return Vec::new();
    };
    let mut skills = Vec::new();
    for file in files {
        let candidate = Candidate::of_file(&base, file);
        let found = match candidate {
            Some(candidate) => load::load(&base, &candidate, context),
            None => LoadedSkill::NoFile,
        };
        match found {
            LoadedSkill::Skill(skill) => skills.push(*skill),
            LoadedSkill::NoFile => {
                let message =
                    format!("An adapter names this file, and there is no `{SKILL_FILE}`.");
                context.report(
                    ProblemSeverity::Error,
                    "missing",
                    &workspace.join(file),
                    message,
                );
            }
            LoadedSkill::Refused => {}
        }
    }
    skills
}

/// Opens a root; nothing where there is none, or none that can be read, which is reported.
pub(super) fn open_root(directory: &Path, context: &mut ScanContext<'_>) -> Option<Root> {
    match Root::open(directory) {
        Ok(root) => Some(root),
        Err(error) => {
            if !error.is_missing() && !is_not_a_directory(&error) {
                context.report(
                    ProblemSeverity::Error,
                    "unreadable",
                    directory,
                    sentence(&error),
                );
            }
            None
        }
    }
}

/// Finds and reads the skills of one root, in the order in which later ones win.
pub(super) fn scan_root(root: &Root, context: &mut ScanContext<'_>) -> Vec<Skill> {
    let Some(entries) = list(root, Path::new(""), context) else {
        return Vec::new();
    };
    let nested = match context.rules.nested_root {
        NestedRoot::Never => Nested::No,
        NestedRoot::Always | NestedRoot::WhenAlone => nested_root(root, &entries, context),
    };
    match nested {
        Nested::Refused => Vec::new(),
        Nested::No => scan_base(root, &entries, false, context),
        Nested::Instead(base) => {
            // A contract that keeps both looks at the root's own file first.
            if context.rules.nested_root == NestedRoot::WhenAlone
                && has_skill_file(&entries)
                && let Some(skill) = load_whole_root(root, context)
            {
                return vec![skill];
            }
            let Some(entries) = list(&base, Path::new(""), context) else {
                return Vec::new();
            };
            scan_base(&base, &entries, true, context)
        }
    }
}

/// What `skills` inside a root came to.
enum Nested {
    /// It does not take the root's place.
    No,
    /// It would, but lies elsewhere.
    Refused,
    /// It takes the root's place.
    Instead(Root),
}

/// Decides whether `skills` inside the root takes its place.
fn nested_root(root: &Root, entries: &[DirectoryEntry], context: &mut ScanContext<'_>) -> Nested {
    let Some(base) = open_nested(root, entries) else {
        return Nested::No;
    };
    let takes_over = match context.rules.nested_root {
        NestedRoot::Never => false,
        NestedRoot::Always => holds_skill(&base, 1, Beside::Followed, context),
        NestedRoot::WhenAlone => {
            let depth = context.limits.depth;
            let beside =
                !has_skill_file(entries) && holds_skill(root, depth, Beside::Counted, context);
            !beside
                && (base.kind(Path::new(SKILL_FILE)).is_some()
                    || holds_skill(&base, depth, Beside::Followed, context))
        }
    };
    if !takes_over {
        return Nested::No;
    }
    let real = base.real_path();
    let contained = real.starts_with(root.real_path())
        || context.is_uncontained()
        || context.is_link_target(real);
    if contained {
        return Nested::Instead(base);
    }
    load::report_escape(base.path(), true, context);
    Nested::Refused
}

fn open_nested(root: &Root, entries: &[DirectoryEntry]) -> Option<Root> {
    let entry = entries
        .iter()
        .find(|entry| entry.name == SKILLS_DIRECTORY)?;
    match entry.kind {
        DirectoryEntryKind::Directory | DirectoryEntryKind::Link => {
            Root::open(&root.path().join(SKILLS_DIRECTORY)).ok()
        }
        DirectoryEntryKind::File | DirectoryEntryKind::Other => None,
    }
}

/// What links mean to a search for any skill at all.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beside {
    /// Beside `skills`, a link counts as a skill, unread.
    Counted,
    /// A link counts when a SKILL.md is behind it.
    Followed,
}

/// Tells whether some directory at most `depth` levels down holds a SKILL.md.
fn holds_skill(root: &Root, depth: usize, beside: Beside, context: &ScanContext<'_>) -> bool {
    let mut lists = context
        .limits
        .candidates
        .saturating_mul(LISTS_PER_CANDIDATE);
    let mut queue = VecDeque::from([(PathBuf::new(), 0)]);
    while let Some((at, level)) = queue.pop_front() {
        if lists == 0 {
            return false;
        }
        lists -= 1;
        let Ok(entries) = root.list(&at, &LinkPolicy::EndInside, MAX_ENTRIES) else {
            continue;
        };
        if level > 0 && has_skill_file(&entries) {
            return true;
        }
        if level >= depth {
            continue;
        }
        for entry in entries {
            let skipped = beside == Beside::Counted && level == 0 && entry.name == SKILLS_DIRECTORY;
            if skipped || !is_visible(&entry.name, context.rules) {
                continue;
            }
            let below = at.join(&entry.name);
            match (entry.kind, beside) {
                (DirectoryEntryKind::Directory, _) => queue.push_back((below, level + 1)),
                (DirectoryEntryKind::Link, Beside::Counted) => return true,
                (DirectoryEntryKind::Link, Beside::Followed) => {
                    let file = below.join(SKILL_FILE);
                    if level == 0 && root.walk(&file, &LinkPolicy::Anywhere).is_ok() {
                        return true;
                    }
                }
                (DirectoryEntryKind::File | DirectoryEntryKind::Other, _) => {}
            }
        }
    }
    false
}

fn scan_base(
    base: &Root,
    entries: &[DirectoryEntry],
    nested: bool,
    context: &mut ScanContext<'_>,
) -> Vec<Skill> {
    if context.rules.root_file == RootFile::WholeRoot && exists_in(base, entries) {
        return load_whole_root(base, context).into_iter().collect();
    }
    if context.limits.skills == 0 {
        return Vec::new();
    }
    let is_extra = context.source == SkillSource::Extra
        && !nested
        && base.path().file_name() != Some(OsStr::new(SKILLS_DIRECTORY));
    let depth = if is_extra {
        context.limits.extra_depth
    } else {
        context.limits.depth
    };
    let children = children(base, Path::new(""), entries, context);
    if context.limits.depth.max(depth) == 1 {
        // Nothing below the children counts, so each file is opened right away.
        return load_all(base, children, context);
    }
    let mut candidates = search_groups(base, children, depth, context);
    candidates.sort_by(|a, b| context.directories.compare(&a.name, &b.name));
    load_all(base, candidates, context)
}

fn load_all(base: &Root, candidates: Vec<Candidate>, context: &mut ScanContext<'_>) -> Vec<Skill> {
    let limit = match context.rules.source_limit {
        SourceLimit::Directories => usize::MAX,
        SourceLimit::Skills => context.limits.skills,
    };
    if candidates.len() >= MANY && candidates.len() <= limit {
        return load_in_parallel(base, &candidates, context);
    }
    let mut skills = Vec::new();
    for candidate in candidates {
        if skills.len() >= limit {
            context.report(
                ProblemSeverity::Warning,
                "truncated",
                base.path(),
                format!(
                    "The root holds more than {limit} skills; the others are not used. `skills.limits.maxSkillsLoadedPerSource` in `openclaw.json` raises the limit."
                ),
            );
            break;
        }
        if let LoadedSkill::Skill(skill) = load::load(base, &candidate, context) {
            skills.push(*skill);
        }
    }
    skills
}

/// Reads many candidates on several threads; the order of skills and problems is that of the candidates.
fn load_in_parallel(
    base: &Root,
    candidates: &[Candidate],
    context: &mut ScanContext<'_>,
) -> Vec<Skill> {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get().min(MAX_THREADS));
    let share = candidates.len().div_ceil(threads);
    let shared = &*context;
    let parts: Vec<(Vec<Skill>, Vec<SkillProblem>)> = std::thread::scope(|scope| {
        let workers: Vec<_> = candidates
            .chunks(share)
            .map(|part| scope.spawn(move || load_part(base, part, shared)))
            .collect();
        // A worker that panicked has said so already; its share is lost, the others are not.
        workers
            .into_iter()
            .filter_map(|worker| worker.join().ok())
            .collect()
    });
    let mut skills = Vec::with_capacity(candidates.len());
    for (part, problems) in parts {
        skills.extend(part);
        context.problems.extend(problems);
    }
    skills
}

fn load_part(
    base: &Root,
    candidates: &[Candidate],
    shared: &ScanContext<'_>,
) -> (Vec<Skill>, Vec<SkillProblem>) {
    let mut problems = Vec::new();
    let mut context = ScanContext {
        problems: &mut problems,
        ..*shared
    };
    let skills = candidates
        .iter()
        .filter_map(
            |candidate| match load::load(base, candidate, &mut context) {
                LoadedSkill::Skill(skill) => Some(*skill),
                LoadedSkill::NoFile | LoadedSkill::Refused => None,
            },
        )
        .collect();
    (skills, problems)
}

fn load_whole_root(base: &Root, context: &mut ScanContext<'_>) -> Option<Skill> {
    let candidate = Candidate::root(base);
    match load::load(base, &candidate, context) {
        LoadedSkill::Skill(skill) => Some(*skill),
        LoadedSkill::NoFile | LoadedSkill::Refused => None,
    }
}

/// Follows groups, which are directories without a SKILL.md, breadth first down to the contract's depth. What is reached
/// without a link comes first, and no directory is searched twice: a skill is listed by its own path, and a link to a
/// directory above does not lead round in circles.
fn search_groups(
    base: &Root,
    children: Vec<Candidate>,
    depth: usize,
    context: &mut ScanContext<'_>,
) -> Vec<Candidate> {
    let mut lists = context
        .limits
        .candidates
        .saturating_mul(LISTS_PER_CANDIDATE);
    let mut found = Vec::new();
    let mut searched = HashSet::from([base.real_path().to_path_buf()]);
    let (mut linked, mut queue): (VecDeque<_>, VecDeque<_>) = children
        .into_iter()
        .map(|child| {
            // `skills` beside other skills is a root of its own, not a group.
            let own_root = child.name == SKILLS_DIRECTORY;
            (child, usize::from(!own_root))
        })
        .partition(|(child, _)| child.real.is_some());
    while let Some((candidate, level)) = queue.pop_front().or_else(|| linked.pop_front()) {
        if !load::is_admitted(base, &candidate, context) {
            continue;
        }
        let Some(directory) = load::open_directory(base, &candidate) else {
            continue;
        };
        if directory.has_skill_file() {
            found.push(candidate);
            continue;
        }
        let inside_skills = candidate.relative.starts_with(SKILLS_DIRECTORY);
        let depth = if inside_skills {
            context.limits.depth
        } else {
            depth
        };
        if level >= depth {
            continue;
        }
        if lists == 0 {
            context.report(
                ProblemSeverity::Warning,
                "truncated",
                base.path(),
                "The root holds more directories than are searched; some skills may be missing."
                    .to_owned(),
            );
            break;
        }
        if !searched.insert(candidate.real_path(base)) {
            context.report(
                ProblemSeverity::Warning,
                "linked-twice",
                &load::directory_at(base, &candidate.relative),
                "The link leads to a directory that is searched already, so it is not followed."
                    .to_owned(),
            );
            continue;
        }
        lists -= 1;
        let Ok(entries) = directory.list(MAX_ENTRIES) else {
            continue;
        };
        for child in load::children_below(&candidate, base, &entries, context) {
            let waiting = match child.real {
                Some(_) => &mut linked,
                None => &mut queue,
            };
            waiting.push_back((child, level + 1));
        }
    }
    found
}

/// Returns the directories of a listing that may be skills, ordered and cut to the limits.
pub(super) fn children(
    base: &Root,
    below: &Path,
    entries: &[DirectoryEntry],
    context: &mut ScanContext<'_>,
) -> Vec<Candidate> {
    let mut children: Vec<Candidate> = entries
        .iter()
        .filter(|entry| is_visible(&entry.name, context.rules))
        .filter_map(|entry| load::child(base, below, entry))
        .collect();
    children.sort_by(|a, b| context.directories.compare(a.own_name(), b.own_name()));
    let limit = match context.rules.source_limit {
        SourceLimit::Directories => context.limits.skills,
        SourceLimit::Skills => context.limits.candidates,
    };
    if children.len() > limit {
        context.report(
            ProblemSeverity::Warning,
            "truncated",
            &load::directory_at(base, below),
            format!(
                "The directory holds {} directories; only the first {limit} are looked at.",
                children.len()
            ),
        );
        let kept_root = match context.rules.source_limit {
            SourceLimit::Directories => None,
            SourceLimit::Skills => children
                .iter()
                .skip(limit)
                .find(|child| below.as_os_str().is_empty() && child.name == SKILLS_DIRECTORY)
                .cloned(),
        };
        children.truncate(limit);
        children.extend(kept_root);
    }
    children
}

fn is_visible(name: &OsStr, rules: &SkillRules) -> bool {
    match rules.hidden_directories {
        HiddenDirectories::Counted => true,
        HiddenDirectories::Skipped => {
            !name.as_encoded_bytes().starts_with(b".") && name != "node_modules"
        }
    }
}

pub(super) fn has_skill_file(entries: &[DirectoryEntry]) -> bool {
    entries.iter().any(|entry| entry.name == SKILL_FILE)
}

/// Tells whether the base holds a SKILL.md that leads somewhere.
fn exists_in(base: &Root, entries: &[DirectoryEntry]) -> bool {
    entries
        .iter()
        .find(|entry| entry.name == SKILL_FILE)
        .is_some_and(|entry| match entry.kind {
            DirectoryEntryKind::Link => base
                .walk(Path::new(SKILL_FILE), &LinkPolicy::Anywhere)
                .is_ok(),
            DirectoryEntryKind::File
            | DirectoryEntryKind::Directory
            | DirectoryEntryKind::Other => true,
        })
}

fn list(
    root: &Root,
    relative: &Path,
    context: &mut ScanContext<'_>,
) -> Option<Vec<DirectoryEntry>> {
    match root.list(relative, &LinkPolicy::EndInside, MAX_ENTRIES) {
        Ok(entries) => Some(entries),
        Err(error) => {
            let path = load::directory_at(root, relative);
            context.report(
                ProblemSeverity::Error,
                "unreadable",
                &path,
                sentence(&error),
            );
            None
        }
    }
}

fn is_not_a_directory(error: &ReadError) -> bool {
    matches!(error, ReadError::Io { source, .. } if source.kind() == std::io::ErrorKind::NotADirectory)
}

/// Makes a sentence of an error.
pub(super) fn sentence(error: &ReadError) -> String {
    format!("{error}.")
}
