//! One directory: may it be used, and what does its SKILL.md say (S7, S13)?

use super::compat::SKILL_FILE;
use super::front_matter::parse_front_matter;
use super::metadata::{Invocation, Metadata};
use super::problem::{ProblemSeverity, SkillProblem};
use super::scan::{self, ScanContext, sentence};
use super::skill::Skill;
use chitin_contract::{SkillFileLink, SkillSource};
use chitin_guard::{
    DirectoryEntry, DirectoryEntryKind, FileRead, Hardlinks, LinkPolicy, Oversized, ReadError,
    ReadPolicy, Root,
};
use chitin_protocol::record::FileRefusal;
use chitin_protocol::text::trim_js;
use std::path::{Path, PathBuf};

/// A directory that may be a skill.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    /// The way to it from the base of the scan.
    pub(super) relative: PathBuf,
    /// The same as text, for ordering.
    pub(super) name: String,
    /// Where it really is, when a link is on the way.
    pub(super) real: Option<PathBuf>,
}

impl Candidate {
    /// Takes the base itself as a candidate.
    pub(super) fn root(base: &Root) -> Self {
        Self {
            relative: PathBuf::new(),
            name: base
                .path()
                .file_name()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default(),
            real: None,
        }
    }

    /// Takes the directory of a SKILL.md; nothing for another file.
    pub(super) fn of_file(base: &Root, file: &Path) -> Option<Self> {
        let relative = file.parent().filter(|_| file.ends_with(SKILL_FILE))?;
        if relative.as_os_str().is_empty() {
            return Some(Self::root(base));
        }
        let end = base.walk(relative, &LinkPolicy::Anywhere).ok()?;
        Some(Self {
            relative: relative.to_path_buf(),
            name: relative.to_string_lossy().into_owned(),
            real: (end.links > 0).then_some(end.path),
        })
    }

    /// Returns the last part of its name.
    pub(super) fn own_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }

    /// Returns where it really is.
    pub(super) fn real_path(&self, base: &Root) -> PathBuf {
        let direct = || base.real_path().join(&self.relative);
        self.real.clone().unwrap_or_else(direct)
    }

    fn directory(&self, base: &Root) -> PathBuf {
        directory_at(base, &self.relative)
    }
}

/// Returns the path of a directory as it was given, without a slash at its end.
pub(super) fn directory_at(base: &Root, relative: &Path) -> PathBuf {
    if relative.as_os_str().is_empty() {
        base.path().to_path_buf()
    } else {
        base.path().join(relative)
    }
}

/// What a candidate came to.
pub(super) enum LoadedSkill {
    /// A skill.
    Skill(Box<Skill>),
    /// It has no SKILL.md.
    NoFile,
    /// It has one that cannot be taken; the reason is reported.
    Refused,
}

/// Makes a candidate of a directory entry; links are followed to see whether they lead to a directory.
pub(super) fn child(base: &Root, below: &Path, entry: &DirectoryEntry) -> Option<Candidate> {
    let relative = below.join(&entry.name);
    let real = match entry.kind {
        DirectoryEntryKind::Directory => None,
        DirectoryEntryKind::Link => {
            let end = base.walk(&relative, &LinkPolicy::Anywhere).ok()?;
            Some(end.path).filter(|_| end.kind == DirectoryEntryKind::Directory)
        }
        DirectoryEntryKind::File | DirectoryEntryKind::Other => return None,
    };
    if entry.kind == DirectoryEntryKind::Link && real.is_none() {
        return None;
    }
    Some(Candidate {
        name: relative.to_string_lossy().into_owned(),
        relative,
        real,
    })
}

/// Returns the candidates inside a group.
pub(super) fn children_below(
    group: &Candidate,
    base: &Root,
    entries: &[DirectoryEntry],
    context: &mut ScanContext<'_>,
) -> Vec<Candidate> {
    let mut children = scan::children(base, &group.relative, entries, context);
    if let Some(real) = &group.real {
        for child in &mut children {
            let own = child.relative.file_name().map(|name| real.join(name));
            child.real = child.real.take().or(own);
        }
    }
    children
}

/// A candidate's directory, open for a look inside.
pub(super) enum OpenDirectory<'a> {
    /// Beneath the base, with no link on the way.
    Beneath(&'a Root, PathBuf),
    /// Reached through a link and admitted.
    Elsewhere(Root),
}

impl OpenDirectory<'_> {
    pub(super) fn has_skill_file(&self) -> bool {
        match self {
            Self::Beneath(base, relative) => base.kind(&relative.join(SKILL_FILE)).is_some(),
            Self::Elsewhere(root) => root.kind(Path::new(SKILL_FILE)).is_some(),
        }
    }

    pub(super) fn list(&self, limit: usize) -> Result<Vec<DirectoryEntry>, ReadError> {
        match self {
            Self::Beneath(base, relative) => base.list(relative, &LinkPolicy::Refuse, limit),
            Self::Elsewhere(root) => root.list(Path::new(""), &LinkPolicy::Refuse, limit),
        }
    }
}

pub(super) fn open_directory<'a>(
    base: &'a Root,
    candidate: &Candidate,
) -> Option<OpenDirectory<'a>> {
    match &candidate.real {
        None => Some(OpenDirectory::Beneath(base, candidate.relative.clone())),
        Some(real) => open_exactly(real).ok().map(OpenDirectory::Elsewhere),
    }
}

/// Opens a directory by its real path. A link that took its place in the meantime is refused.
fn open_exactly(real: &Path) -> Result<Root, ReadError> {
    let root = Root::open(real)?;
    if root.real_path() == real {
        return Ok(root);
    }
    Err(ReadError::Refused {
        path: real.to_path_buf(),
        reason: FileRefusal::Unstable,
    })
}

/// Tells whether a candidate's real directory may be used; reports it when not.
pub(super) fn is_admitted(
    base: &Root,
    candidate: &Candidate,
    context: &mut ScanContext<'_>,
) -> bool {
    let Some(real) = &candidate.real else {
        return true;
    };
    let admitted = real.starts_with(base.real_path())
        || context.is_uncontained()
        || context.is_link_target(real);
    if !admitted {
        let directory = candidate.directory(base);
        let is_link = base.kind(&candidate.relative) == Some(DirectoryEntryKind::Link);
        report_escape(&directory, is_link, context);
    }
    admitted
}

/// Reports a directory that lies outside its root, with the reason that the recorded releases log.
pub(super) fn report_escape(path: &Path, is_link: bool, context: &mut ScanContext<'_>) {
    let bundled = matches!(
        context.source,
        SkillSource::Bundled | SkillSource::Custodian
    );
    let code = match (bundled, is_link) {
        (true, true) => "bundled-symlink-escape",
        (true, false) => "bundled-root-escape",
        (false, true) => "symlink-escape",
        (false, false) => "path-escape",
    };
    let message = "The directory lies outside its root, so it is not used.".to_owned();
    context.report(ProblemSeverity::Error, code, path, message);
}

/// Reads a candidate's SKILL.md, once.
pub(super) fn load(
    base: &Root,
    candidate: &Candidate,
    context: &mut ScanContext<'_>,
) -> LoadedSkill {
    if !is_admitted(base, candidate, context) {
        return LoadedSkill::Refused;
    }
    let given = candidate.directory(base);
    match read_file(base, candidate, context) {
        Ok(file) => {
            let directory = if context.is_uncontained() {
                candidate
                    .real
                    .clone()
                    .unwrap_or_else(|| base.real_path().join(&candidate.relative))
            } else {
                given.clone()
            };
            read_skill(&given, directory, &file, context)
        }
        Err(error) => {
            if error.is_missing() {
                return LoadedSkill::NoFile;
            }
            let (code, message) = match &error {
                ReadError::Refused { reason, .. } => {
                    (reason.as_str(), refusal(*reason, context.limits.file_bytes))
                }
                ReadError::Missing { .. } | ReadError::Io { .. } => {
                    ("unreadable", sentence(&error))
                }
            };
            context.report(
                ProblemSeverity::Error,
                code,
                &given.join(SKILL_FILE),
                message,
            );
            LoadedSkill::Refused
        }
    }
}

/// Says why a file that is there was not read.
fn refusal(reason: FileRefusal, max_bytes: u64) -> String {
    match reason {
        FileRefusal::OutsideRoot => {
            "The file is a link that leaves the skill's directory.".to_owned()
        }
        FileRefusal::Dangling => "The file is a link to nothing.".to_owned(),
        FileRefusal::Loop => "The file is a link that never ends.".to_owned(),
        FileRefusal::NotAFile => "It is not a regular file.".to_owned(),
        FileRefusal::Hardlinked => {
            "The file has a second name, which this source may not have.".to_owned()
        }
        FileRefusal::LinkNotAllowed => {
            "The file is a link, which this contract does not follow.".to_owned()
        }
        FileRefusal::TooLarge => {
            format!("The file is larger than {max_bytes} bytes, so it is not read.")
        }
        FileRefusal::Unstable => "The file changed while it was read.".to_owned(),
        FileRefusal::Unreadable => "The file cannot be read.".to_owned(),
    }
}

fn read_file(
    base: &Root,
    candidate: &Candidate,
    context: &ScanContext<'_>,
) -> Result<FileRead, ReadError> {
    let hardlinks = if context.refuses_hardlinks {
        Hardlinks::Refuse
    } else {
        Hardlinks::Allow
    };
    let policy = |links| ReadPolicy {
        links,
        hardlinks,
        max_bytes: context.limits.file_bytes,
        oversized: Oversized::Refuse,
    };
    let in_directory = |directory: &Path| {
        let links = match context.rules.file_link {
            SkillFileLink::Refuse => LinkPolicy::Refuse,
            SkillFileLink::InsideSkill => LinkPolicy::EndInside,
        };
        open_exactly(directory)?.read(Path::new(SKILL_FILE), &policy(links))
    };
    if let Some(real) = &candidate.real {
        return in_directory(real);
    }
    let relative = candidate.relative.join(SKILL_FILE);
    match base.read(&relative, &policy(LinkPolicy::Refuse)) {
        Err(ReadError::Refused {
            reason: FileRefusal::LinkNotAllowed,
            ..
        }) if context.rules.file_link == SkillFileLink::InsideSkill => {
            in_directory(&base.real_path().join(&candidate.relative))
        }
        result => result,
    }
}

fn read_skill(
    given: &Path,
    directory: PathBuf,
    file: &FileRead,
    context: &mut ScanContext<'_>,
) -> LoadedSkill {
    let path = directory.join(SKILL_FILE);
    let text = String::from_utf8_lossy(&file.bytes);
    let parsed = match parse_front_matter(&text, context.rules) {
        Ok(parsed) => parsed,
        Err(error) => {
            context.problems.push(SkillProblem {
                severity: ProblemSeverity::Error,
                code: error.code,
                source: context.source,
                path,
                line: Some(error.line),
                column: Some(error.column),
                message: format!("The front matter is not well formed: {}.", error.message),
            });
            return LoadedSkill::Refused;
        }
    };
    if let Some(error) = parsed.tolerated {
        context.problems.push(SkillProblem {
            severity: ProblemSeverity::Warning,
            code: error.code,
            source: context.source,
            path: path.clone(),
            line: Some(error.line),
            column: Some(error.column),
            message: format!(
                "The front matter is not well formed YAML and was read line by line: {}.",
                error.message
            ),
        });
    }
    let values = parsed.values;
    let own_name = given
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let name = match trim_js(values.get("name").unwrap_or_default()) {
        "" => trim_js(&own_name),
        name => name,
    };
    let description = trim_js(values.get("description").unwrap_or_default());
    if name.is_empty() || description.is_empty() {
        let (code, message) = if description.is_empty() {
            (
                super::problem::NO_DESCRIPTION,
                "The skill has no description, so it is not used.",
            )
        } else {
            ("no-name", "The skill has no name, so it is not used.")
        };
        context.problems.push(SkillProblem {
            severity: ProblemSeverity::Error,
            code,
            source: context.source,
            path,
            line: Some(1),
            column: None,
            message: message.to_owned(),
        });
        return LoadedSkill::Refused;
    }
    let metadata = Metadata::read(&values, context.rules).unwrap_or_else(|error| {
        let message = format!(
            "The metadata is not JSON5, so what the skill needs is not known: {}.",
            error.message
        );
        context.report(ProblemSeverity::Warning, "bad-metadata", &path, message);
        None
    });
    LoadedSkill::Skill(Box::new(Skill {
        name: name.to_owned(),
        description: description.to_owned(),
        source: context.source,
        invocation: Invocation::from_front_matter(&values),
        metadata,
        bytes: file.bytes.len(),
        front_matter: values,
        directory,
        file: path,
    }))
}
