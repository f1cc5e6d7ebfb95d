//! Where files may be: the workspace, and the roots that the user opened besides.

use super::consent::{GuardedChange, Guarding};
use crate::rights::{GuestRights, MEMORY_NAMES, Rights, is_of_the_agent};
use crate::tool::CallContext;
use chitin_guard::{
    DirectoryEntry, DirectoryEntryKind, Fingerprint, Hardlinks, LinkPolicy, Oversized, ReadError,
    ReadPolicy, Root, WriteError,
};
use chitin_protocol::nearest::nearest;
use chitin_protocol::origin::{FileOrigin, Origin, add_origins};
use chitin_protocol::record::FileRefusal;
use chitin_protocol::settings::FileToolSettings;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use thiserror::Error;

/// Where skills lie in a workspace under a hidden name.
const HIDDEN_SKILLS: [&str; 2] = [".agents/skills", ".claude/skills"];

/// A directory with more names is not searched for the one that was meant.
const MOST_NAMES_FOR_A_HINT: usize = 2000;

/// What the tools that work on files may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileOptions {
    /// Further directories beneath which files may be read.
    pub read_roots: Vec<PathBuf>,
    /// Further directories beneath which files may be read and written.
    pub write_roots: Vec<PathBuf>,
    /// What links may do.
    pub links: LinkPolicy,
    /// What files with a second name may do.
    pub hardlinks: Hardlinks,
    /// What `~/` stands for.
    pub home: Option<PathBuf>,
    /// How many lines are read at once.
    pub read_lines: usize,
    /// How large a picture may be.
    pub max_image_bytes: u64,
    /// How large a file may be to be edited.
    pub max_edit_bytes: u64,
}

impl Default for FileOptions {
    fn default() -> Self {
        Self::from(&FileToolSettings::default())
    }
}

impl From<&FileToolSettings> for FileOptions {
    fn from(settings: &FileToolSettings) -> Self {
        let paths = |list: &Option<Vec<String>>| {
            let paths = list.iter().flatten().map(PathBuf::from);
            // Relative to what? Such an entry opens nothing.
            paths.filter(|path| path.is_absolute()).collect()
        };
        Self {
            read_roots: paths(&settings.read_roots),
            write_roots: paths(&settings.write_roots),
            links: LinkPolicy::EveryHopInside,
            hardlinks: Hardlinks::Refuse,
            home: None,
            read_lines: settings.read_lines.map_or(2000, |lines| lines as usize),
            max_image_bytes: settings.max_image_bytes.map_or(3_750_000, u64::from),
            max_edit_bytes: settings.max_edit_bytes.map_or(16 * 1024 * 1024, u64::from),
        }
    }
}

/// What may be done beneath a root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    ReadAndWrite,
}

/// What a call says of files besides where the workspace is.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// Closed, wherever they lie.
    pub state_roots: Vec<PathBuf>,
    /// Open for reading.
    pub skill_roots: Vec<PathBuf>,
    /// What the turn may do.
    pub rights: Rights,
}

impl Surroundings {
    /// Opens nothing besides the workspace.
    pub fn of(context: &CallContext<'_>) -> Self {
        Self {
            state_roots: context.state_roots.to_vec(),
            skill_roots: Vec::new(),
            rights: context.rights.clone(),
        }
    }
}

/// The roots, held open for one call.
#[derive(Debug)]
pub(super) struct Space {
    workspace: PathBuf,
    /// The workspace is the first.
    roots: Vec<(Root, Access)>,
    /// Where skills are, by their real paths.
    skills: Vec<PathBuf>,
    rights: Rights,
    /// Which files were shown that are not the owner's.
    shown: Mutex<Vec<Origin>>,
    pub(super) options: std::sync::Arc<FileOptions>,
}

/// A name beneath one of the roots.
#[derive(Debug)]
pub(super) struct RootedPath<'s> {
    pub(super) root: &'s Root,
    pub(super) relative: PathBuf,
    /// The path as the model wrote it.
    pub(super) shown: String,
    access: Access,
    workspace: &'s Root,
    guest: Option<GuestRights>,
    space: &'s Space,
    options: &'s FileOptions,
}

/// A name beneath a root with no link on the way, ready to be written.
#[derive(Debug)]
pub(super) struct Settled<'s> {
    pub(super) root: &'s Root,
    pub(super) relative: PathBuf,
    pub(super) shown: String,
    /// What stands there.
    pub(super) found: Option<(DirectoryEntryKind, Fingerprint)>,
    /// Set when the owner must approve a change.
    pub(super) guarded: Option<Guarding>,
    space: &'s Space,
    pub(super) options: &'s FileOptions,
}

/// Why a file cannot be reached, or not be changed.
#[derive(Debug, Error)]
pub(super) enum Problem {
    #[error("`{path}` is not a valid path.")]
    NoPath { path: String },
    #[error(
        "`{path}` is outside the workspace `{}`. Only files in it are accessible; the user can allow more with `tools.files.readRoots` and `tools.files.writeRoots`.",
        workspace.display()
    )]
    Outside { path: String, workspace: PathBuf },
    #[error("`{path}` is read-only: it is in a directory that tools can read but not write.")]
    ReadOnly { path: String },
    #[error("`{path}` does not exist.{}", hint(nearest.as_deref()))]
    Missing {
        path: String,
        nearest: Option<String>,
    },
    #[error(
        "`{path}` is refused: it is in `{}`, which holds settings, keys and sessions. No tool can read or change them.",
        root.display()
    )]
    State { path: String, root: PathBuf },
    #[error(
        "`{path}` is refused: this turn answers a guest, and that file is only for the owner of the agent."
    )]
    OnlyForOwner { path: String },
    #[error("`{path}` is not written: this turn answers a guest, and guests change no files.")]
    GuestWrites { path: String },
    #[error("`{path}` is refused: {}.", reason.meaning())]
    Refused { path: String, reason: FileRefusal },
    #[error("`{path}` is a directory.")]
    Directory { path: String },
    #[error("`{path}` is a FIFO, a socket or a device, not a file.")]
    NotAFile { path: String },
    #[error("Could not read `{path}`: {source}.")]
    Read {
        path: String,
        source: std::io::Error,
    },
    #[error("Could not write `{path}`: {reason}.")]
    Write { path: String, reason: String },
    #[error("the owner must approve this change.")]
    NeedsOwner(Vec<GuardedChange>),
    #[error("{0}")]
    Other(String),
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |near| format!(" Did you mean `{near}`?"))
}

impl Space {
    /// Opens the workspace and the further roots, all without the state roots. A further root that is not there opens nothing.
    pub(super) fn open(
        workspace: &Path,
        options: &std::sync::Arc<FileOptions>,
        around: &Surroundings,
    ) -> Result<Self, Problem> {
        let root = Root::open(workspace)
            .map_err(|error| Problem::Other(format!("Could not open the workspace: {error}.")))?;
        let guest = around.rights.guest;
        let mut skill_roots = around.skill_roots.clone();
        let mut closed = around.state_roots.clone();
        if let Some(guest) = guest {
            // Hidden names are closed to guests; skills are meant for everybody.
            let skills = HIDDEN_SKILLS.map(|path| root.walk(Path::new(path), &options.links));
            skill_roots.extend(skills.into_iter().flatten().map(|end| end.path));
            if !guest.memory {
                closed.extend(linked_memory(&root, &options.links));
            }
        }
        let open = |root: Root| match around.rights.closed_names() {
            Some(is_closed) => root.without(&closed).without_names(is_closed),
            None => root.without(&closed),
        };
        let real = |path: &PathBuf| Some(Root::open(path).ok()?.real_path().to_path_buf());
        let skills = skill_roots.iter().filter_map(real).collect();
        let mut roots = vec![(open(root), Access::ReadAndWrite)];
        let further = [
            (&options.write_roots, Access::ReadAndWrite),
            (&options.read_roots, Access::Read),
            (&skill_roots, Access::Read),
        ];
        for (paths, access) in further {
            for path in paths {
                let root = Root::open(path).ok();
                roots.extend(root.map(|root| (open(root), access)));
            }
        }
        Ok(Self {
            workspace: workspace.to_owned(),
            roots,
            skills,
            rights: around.rights.clone(),
            shown: Mutex::default(),
            options: options.clone(),
        })
    }

    /// Finds the root that a path lies beneath. Purely by its text: where links lead is the guard's business.
    pub(super) fn place(&self, path: &str) -> Result<RootedPath<'_>, Problem> {
        if path.contains('\0') || path.len() > 4096 {
            return Err(Problem::NoPath {
                path: path.chars().take(80).collect(),
            });
        }
        let outside = || Problem::Outside {
            path: path.to_owned(),
            workspace: self.workspace.clone(),
        };
        let from_home = self.options.home.as_ref().zip(path.strip_prefix("~/"));
        let joined = match from_home {
            Some((home, below)) => home.join(below),
            None => self.workspace.join(path),
        };
        let absolute = flat(&joined).ok_or_else(outside)?;
        let beneath = |(root, access): &'_ (Root, Access)| {
            let names = [flat(root.path()), flat(root.real_path())];
            let relative = names
                .into_iter()
                .flatten()
                .find_map(|name| absolute.strip_prefix(name).ok().map(Path::to_path_buf))?;
            Some((relative, *access))
        };
        let (root, relative, access) = self
            .roots
            .iter()
            .filter_map(|entry| {
                let (relative, access) = beneath(entry)?;
                Some((&entry.0, relative, access))
            })
            .min_by_key(|(_, relative, access)| {
                // The innermost root counts, and of the same root the one that allows more.
                (relative.components().count(), *access == Access::Read)
            })
            .ok_or_else(outside)?;
        Ok(RootedPath {
            root,
            relative,
            shown: path.to_owned(),
            access,
            workspace: &self.roots[0].0,
            guest: self.rights.guest,
            space: self,
            options: &self.options,
        })
    }

    /// Returns where the texts come from that were shown so far, as far as they are not the owner's.
    pub(super) fn origins(&self) -> Vec<Origin> {
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        shown.clone()
    }

    /// Notes that something of a file is shown, by its real path, before it is changed.
    fn shows(&self, path: &Path, named: &str) {
        let why = if path.starts_with(self.roots[0].0.real_path()) {
            self.rights.untrusted.files.of(path)
        } else {
            let is_skill = self.skills.iter().any(|skills| path.starts_with(skills));
            (!is_skill).then_some(FileOrigin::Outside)
        };
        if let Some(why) = why {
            let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
            add_origins(&mut shown, [&Origin::file(named, why)]);
        }
    }
}

impl Space {
    /// Notes that names of what is beneath a directory are shown, by its real path: they are text, too.
    fn shows_names(&self, at: &Path, named: &str, shown: &[PathBuf]) {
        let is_skill = || self.skills.iter().any(|skills| at.starts_with(skills));
        let origin = if at.starts_with(self.roots[0].0.real_path()) {
            self.rights.untrusted.files.name(at, shown)
        } else if shown.is_empty() || is_skill() {
            None
        } else {
            Some(Origin::file(named, FileOrigin::Outside))
        };
        let mut all = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        add_origins(&mut all, &origin);
    }

    /// Notes that a message shows the name that was probably meant.
    fn shows_nearest(&self, root: &Root, relative: &Path, links: &LinkPolicy, problem: &Problem) {
        let Problem::Missing {
            nearest: Some(nearest),
            ..
        } = problem
        else {
            return;
        };
        let name = Path::new(nearest).file_name().map(PathBuf::from);
        let parent = relative.parent().unwrap_or(Path::new(""));
        if let Ok(end) = root.walk(parent, links) {
            self.shows_names(&end.path, nearest, name.as_slice());
        }
    }
}

/// Returns what memory in the root of a workspace leads to where it is a link.
fn linked_memory<'r>(root: &'r Root, links: &'r LinkPolicy) -> impl Iterator<Item = PathBuf> + 'r {
    MEMORY_NAMES.into_iter().filter_map(|name| {
        let end = root.walk(Path::new(name), links).ok()?;
        (end.path != root.real_path().join(name)).then_some(end.path)
    })
}

impl<'s> RootedPath<'s> {
    /// Returns the policy for reads of at most so many bytes.
    pub(super) fn policy(&self, max_bytes: u64, oversized: Oversized) -> ReadPolicy {
        ReadPolicy {
            links: self.options.links.clone(),
            hardlinks: self.options.hardlinks,
            max_bytes,
            oversized,
        }
    }

    pub(super) const fn links(&self) -> &LinkPolicy {
        &self.options.links
    }

    /// Notes that something of a file beneath the same root is shown.
    pub(super) fn shows(&self, relative: &Path, named: &str) {
        // A file that cannot be found any more was moved while it was read.
        if let Ok(end) = self.root.walk(relative, self.links()) {
            self.space.shows(&end.path, named);
        }
    }

    /// Notes that names beneath it are shown.
    pub(super) fn shows_names(&self, shown: &[PathBuf]) {
        // A directory that cannot be found any more was moved while it was listed.
        if let Ok(end) = self.root.walk(&self.relative, self.links()) {
            self.space.shows_names(&end.path, &self.shown, shown);
        }
    }

    /// Puts a failed read into words.
    pub(super) fn problem(&self, error: ReadError) -> Problem {
        let problem = read_problem(self.root, &self.relative, &self.shown, self.links(), error);
        self.space
            .shows_nearest(self.root, &self.relative, self.links(), &problem);
        problem
    }

    /// Resolves the links on the way, so that a write goes to the very file that a read would show. What does not exist yet
    /// keeps its name beneath the deepest directory that does.
    pub(super) fn settle(self) -> Result<Settled<'s>, Problem> {
        if self.access == Access::Read {
            return Err(Problem::ReadOnly { path: self.shown });
        }
        if self.guest.is_some_and(|guest| !guest.writes) {
            return Err(Problem::GuestWrites { path: self.shown });
        }
        let mut missing = PathBuf::new();
        let mut there = self.relative.clone();
        let end = loop {
            match self.root.walk(&there, self.links()) {
                Ok(end) => break end,
                Err(ReadError::Missing { .. }) => {
                    let Some(name) = there.file_name().map(ToOwned::to_owned) else {
                        return Err(Problem::NoPath { path: self.shown });
                    };
                    missing = if missing.as_os_str().is_empty() {
                        PathBuf::from(name)
                    } else {
                        Path::new(&name).join(missing)
                    };
                    there.pop();
                }
                Err(error) => return Err(self.problem(error)),
            }
        };
        let Ok(inside) = end.path.strip_prefix(self.root.real_path()) else {
            return Err(Problem::Refused {
                path: self.shown,
                reason: FileRefusal::OutsideRoot,
            });
        };
        let is_whole = missing.as_os_str().is_empty();
        if !is_whole && end.kind != DirectoryEntryKind::Directory {
            return Err(Problem::Write {
                path: self.shown,
                reason: format!("`{}` is not a directory", there.display()),
            });
        }
        let relative = if is_whole {
            inside.to_owned()
        } else {
            inside.join(missing)
        };
        let path = self.root.real_path().join(&relative);
        let of_workspace = path.strip_prefix(self.workspace.real_path()).ok();
        if self.guest.is_some() && of_workspace.is_some_and(is_of_the_agent) {
            return Err(Problem::OnlyForOwner { path: self.shown });
        }
        let guarded = Guarding::of(
            of_workspace.unwrap_or(&relative),
            of_workspace.is_some(),
            &self.space.rights,
        );
        Ok(Settled {
            root: self.root,
            space: self.space,
            relative,
            shown: self.shown,
            found: is_whole.then_some((end.kind, end.fingerprint)),
            guarded,
            options: self.options,
        })
    }
}

impl Settled<'_> {
    /// Fails unless the name is free or a regular file.
    pub(super) fn check_writable(&self) -> Result<(), Problem> {
        let path = || self.shown.clone();
        match self.found {
            None | Some((DirectoryEntryKind::File, _)) => Ok(()),
            Some((DirectoryEntryKind::Directory, _)) => Err(Problem::Directory { path: path() }),
            Some((DirectoryEntryKind::Link | DirectoryEntryKind::Other, _)) => {
                Err(Problem::NotAFile { path: path() })
            }
        }
    }

    /// Reads the whole file to change it.
    pub(super) fn read(&self) -> Result<chitin_guard::FileRead, Problem> {
        let path = self.root.real_path().join(&self.relative);
        self.space.shows(&path, &self.shown);
        let policy = ReadPolicy {
            links: LinkPolicy::Refuse,
            hardlinks: self.options.hardlinks,
            max_bytes: self.options.max_edit_bytes,
            oversized: Oversized::Refuse,
        };
        self.root
            .read(&self.relative, &policy)
            .map_err(|error| match error {
                ReadError::Refused {
                    reason: FileRefusal::TooLarge,
                    ..
                } => Problem::Other(format!(
                    "`{}` is too large to edit: the limit is {} bytes. Change it with a command.",
                    self.shown, self.options.max_edit_bytes
                )),
                error => {
                    let links = &LinkPolicy::Refuse;
                    let problem =
                        read_problem(self.root, &self.relative, &self.shown, links, error);
                    self.space
                        .shows_nearest(self.root, &self.relative, links, &problem);
                    problem
                }
            })
    }

    /// Puts a failed write into words.
    pub(super) fn problem(&self, error: WriteError) -> Problem {
        write_problem(&self.shown, error)
    }
}

/// Puts a failed write into words.
pub(super) fn write_problem(shown: &str, error: WriteError) -> Problem {
    Problem::Write {
        path: shown.to_owned(),
        reason: match error {
            WriteError::NotBeneath { .. } => {
                "it leads out of the workspace, or its path is a link or not a regular file"
                    .to_owned()
            }
            WriteError::Changed { .. } => {
                "it has changed since it was read; read it again".to_owned()
            }
            WriteError::Io { source, .. } => source.to_string(),
        },
    }
}

fn read_problem(
    root: &Root,
    relative: &Path,
    shown: &str,
    links: &LinkPolicy,
    error: ReadError,
) -> Problem {
    let path = shown.to_owned();
    match error {
        ReadError::Missing { .. } => Problem::Missing {
            nearest: nearest_name(root, relative, links),
            path,
        },
        ReadError::Refused {
            reason: FileRefusal::NotAFile,
            ..
        } => match root.walk(relative, links) {
            Ok(end) if end.kind == DirectoryEntryKind::Directory => Problem::Directory { path },
            _ => Problem::NotAFile { path },
        },
        ReadError::Refused { .. }
            if root.closes_names() && root.closed_at(relative, links).is_some() =>
        {
            Problem::OnlyForOwner { path }
        }
        ReadError::Refused { reason, .. } => match root.closed_at(relative, links) {
            Some(closed) => Problem::State {
                path,
                root: closed.to_owned(),
            },
            None => Problem::Refused { path, reason },
        },
        ReadError::Io { source, .. } => Problem::Read { path, source },
    }
}

/// Finds the name that was probably meant, in the same directory.
fn nearest_name(root: &Root, relative: &Path, links: &LinkPolicy) -> Option<String> {
    let parent = relative.parent()?;
    let entries = root.list(parent, links, MOST_NAMES_FOR_A_HINT).ok()?;
    let names: Vec<&str> = entries
        .iter()
        .filter_map(|DirectoryEntry { name, .. }| name.to_str())
        .collect();
    let near = nearest(relative.file_name()?.to_str()?, names)?;
    Some(parent.join(near).display().to_string())
}

/// Takes `.` and `..` out of a path by its text; `None` when it climbs above its beginning.
fn flat(path: &Path) -> Option<PathBuf> {
    let mut flat = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                if !flat.pop() {
                    return None;
                }
            }
            Component::Normal(_) | Component::RootDir | Component::Prefix(_) => {
                flat.push(component);
            }
        }
    }
    Some(flat)
}
