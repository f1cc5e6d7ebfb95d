//! What a command must not see, change or make, in directories that it writes to. The supervisor keeps it so at the level of
//! namespaces: everything of it is a mount of its own.
//!
//! A mount needs something to lie on. Where a guarded name is free, an empty directory takes it as long as a command runs, and goes away
//! afterwards: it is recognised by its mode, and each supervisor holds a lock on it, so the last one removes it, and the next one what a
//! killed one left. The directories on the way are mounts too, because those can't be renamed.

use super::super::fs;
use super::super::policy::{Guarded, Policy};
use super::nested;
use chitin_guard::PLACEHOLDER_MODE;
use chitin_protocol::guarded_paths::{GIT, GIT_DETOURS, GIT_PROGRAMS};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Dir, FileType, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// How often a name is tried that another supervisor is just giving free.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(2);
/// Where git keeps the repositories of submodules, with settings of their own.
const MODULES: &str = "modules";
/// Where it keeps what belongs to worktrees.
const WORKTREES: &str = "worktrees";
/// What leads a worktree to its repository.
const COMMON: &str = "commondir";
/// Settings of one worktree.
const WORKTREE_CONFIG: &str = "config.worktree";
/// More worktrees are not held.
const MOST_WORKTREES: usize = 50;
/// A file that leads somewhere is no longer.
const MAX_LINK: usize = 4096;

/// One thing that is mounted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ShieldMount {
    /// A directory over itself, as it is: it can't be renamed or removed.
    Pinned(PathBuf),
    /// Something over itself, read-only.
    ReadOnly(PathBuf),
    /// An empty directory, in which a command may do what it likes.
    Hidden(PathBuf),
    /// Nothing to be read, instead of a file.
    HiddenFile(PathBuf),
}

/// The mounts of a command, and what is there for their sake.
#[derive(Debug, Default)]
pub(crate) struct Shield {
    pub(crate) mounts: Vec<ShieldMount>,
    placeholders: Vec<(PathBuf, OwnedFd)>,
    /// What must not come into being and can't be mounted over.
    detours: Vec<PathBuf>,
    /// Where commands write: copies of the names that are kept free may be there afterwards.
    written: Vec<PathBuf>,
    masked: Vec<PathBuf>,
}

impl Shield {
    /// Finds out what to mount, and takes the names that are free.
    pub(crate) fn new(policy: &Policy) -> Result<Self, String> {
        let mut shield = Self::default();
        shield.written = policy.written().cloned().collect();
        shield.masked.clone_from(&policy.masked);
        for hidden in &policy.masked {
            shield.hide(hidden, policy)?;
        }
        for guarded in &policy.guarded {
            let covered = |hidden: &PathBuf| guarded.path.starts_with(hidden);
            if !policy.masked.iter().any(covered) {
                shield.guard(guarded)?;
            }
        }
        for root in policy.written() {
            for path in nested::guarded_below(root, &policy.masked) {
                if shield.pin_between(root, &path)? {
                    let git = path.file_name().is_some_and(|name| name == GIT);
                    let absent_too = false;
                    shield.guard(&Guarded {
                        path,
                        git,
                        absent_too,
                    })?;
                }
            }
        }
        Ok(shield)
    }

    fn hide(&mut self, hidden: &Path, policy: &Policy) -> Result<(), String> {
        // Where nothing can be made, only what is there has to be hidden.
        let root = policy
            .written()
            .filter(|root| hidden.starts_with(root) && hidden != *root)
            .max_by_key(|root| root.components().count());
        let Some(root) = root else {
            match kind(hidden) {
                Some(FileType::Directory) => self.add(ShieldMount::Hidden(hidden.to_owned())),
                Some(_) => self.add(ShieldMount::HiddenFile(hidden.to_owned())),
                None => {}
            }
            return Ok(());
        };
        if !self.pin_between(root, hidden)? {
            return Ok(());
        }
        match found(hidden) {
            Some(stat) if is_placeholder(&stat) => self.occupy(hidden),
            Some(stat) if file_type(&stat) == FileType::Directory => {
                self.add(ShieldMount::Hidden(hidden.to_owned()));
                Ok(())
            }
            Some(_) => {
                self.add(ShieldMount::HiddenFile(hidden.to_owned()));
                Ok(())
            }
            None => self.occupy(hidden),
        }
    }

    /// Pins the directories between two. Where one is missing, its name is taken, and there is nothing further to do.
    fn pin_between(&mut self, root: &Path, path: &Path) -> Result<bool, String> {
        let Ok(below) = path.strip_prefix(root) else {
            return Ok(true);
        };
        let mut at = root.to_owned();
        let steps: Vec<_> = below.components().collect();
        for step in &steps[..steps.len().saturating_sub(1)] {
            at.push(step);
            match found(&at) {
                Some(stat) if is_placeholder(&stat) => {
                    self.occupy(&at)?;
                    return Ok(false);
                }
                Some(stat) if file_type(&stat) == FileType::Directory => {
                    self.add(ShieldMount::Pinned(at.clone()));
                }
                // A link or a file: what is behind it is hidden where it really is.
                Some(_) => return Ok(false),
                None => {
                    self.occupy(&at)?;
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn guard(&mut self, guarded: &Guarded) -> Result<(), String> {
        let path = &guarded.path;
        match found(path) {
            Some(stat) if is_placeholder(&stat) => self.occupy_if(guarded),
            Some(stat) if file_type(&stat) == FileType::Symlink => Ok(()),
            Some(stat) if guarded.git && file_type(&stat) == FileType::Directory => {
                self.guard_repository(path)
            }
            Some(_) if guarded.git => {
                self.add(ShieldMount::ReadOnly(path.clone()));
                self.guard_linked(path)
            }
            Some(_) => {
                self.add(ShieldMount::ReadOnly(path.clone()));
                Ok(())
            }
            None => self.occupy_if(guarded),
        }
    }

    fn occupy_if(&mut self, guarded: &Guarded) -> Result<(), String> {
        if guarded.absent_too {
            self.occupy(&guarded.path)
        } else {
            Ok(())
        }
    }

    /// Keeps what git runs as it is. The rest changes with every commit.
    fn guard_repository(&mut self, git: &Path) -> Result<(), String> {
        self.add(ShieldMount::Pinned(git.to_owned()));
        for name in GIT_PROGRAMS {
            let path = git.join(name);
            match found(&path) {
                Some(stat) if is_placeholder(&stat) => self.occupy(&path)?,
                Some(_) => self.add(ShieldMount::ReadOnly(path)),
                None => self.occupy(&path)?,
            }
        }
        self.guard_worktrees(&git.join(WORKTREES));
        let modules = git.join(MODULES);
        if found(&modules).is_some() {
            self.add(ShieldMount::ReadOnly(modules));
        }
        for name in GIT_DETOURS {
            self.guard_detour(git.join(name));
        }
        Ok(())
    }

    /// Keeps the repository that a `.git` file leads to, if commands can write to it: that of a worktree, or one that was put
    /// somewhere else.
    fn guard_linked(&mut self, file: &Path) -> Result<(), String> {
        let Some(git) = led_to(file, "gitdir:") else {
            return Ok(());
        };
        let common = led_to(&git.join(COMMON), "");
        if common.is_some() && self.pin_in_written(&git)? {
            self.guard_worktree(&git);
        }
        let repository = common.unwrap_or(git);
        if self.pin_in_written(&repository)? {
            self.guard_repository(&repository)?;
        }
        Ok(())
    }

    /// Pins the directories above something that commands can write to; tells whether they can.
    fn pin_in_written(&mut self, path: &Path) -> Result<bool, String> {
        let mut roots = self.written.iter();
        let root = roots.find(|root| path.starts_with(root) && path != *root);
        match root.cloned() {
            Some(root) => self.pin_between(&root, path),
            None => Ok(false),
        }
    }

    /// Keeps what leads the worktrees of a repository to it. Git would take settings and hooks from wherever that leads.
    fn guard_worktrees(&mut self, worktrees: &Path) {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::open(worktrees, flags, Mode::empty());
        let Ok(entries) = opened.and_then(Dir::new) else {
            return;
        };
        self.add(ShieldMount::Pinned(worktrees.to_owned()));
        for entry in entries.flatten().take(MOST_WORKTREES) {
            let name = entry.file_name().to_bytes();
            if !matches!(name, b"." | b"..") {
                self.guard_worktree(&worktrees.join(OsStr::from_bytes(name)));
            }
        }
    }

    fn guard_worktree(&mut self, worktree: &Path) {
        let common = worktree.join(COMMON);
        if found(&common).is_some() {
            self.add(ShieldMount::Pinned(worktree.to_owned()));
            self.add(ShieldMount::ReadOnly(common));
            self.guard_detour(worktree.join(WORKTREE_CONFIG));
        }
    }

    /// Keeps a file that leads git to other settings.
    fn guard_detour(&mut self, path: PathBuf) {
        if found(&path).is_some() {
            self.add(ShieldMount::ReadOnly(path));
        } else {
            // Git fails where one is empty, so nothing can take its name.
            self.detours.push(path);
        }
    }

    /// Takes a name that is free.
    fn occupy(&mut self, path: &Path) -> Result<(), String> {
        let failed = |error: Errno| {
            format!(
                "could not keep commands from creating `{}`: {error}",
                path.display()
            )
        };
        for _ in 0..TRIES {
            let mode = Mode::from_raw_mode(PLACEHOLDER_MODE);
            match rustix::fs::mkdir(path, mode) {
                Ok(()) | Err(Errno::EXIST) => {}
                // Where this process can make nothing, a command can't either.
                Err(Errno::ROFS | Errno::ACCESS | Errno::PERM) => return Ok(()),
                Err(error) => return Err(failed(error)),
            }
            let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let directory = match rustix::fs::open(path, flags, Mode::empty()) {
                Ok(directory) => directory,
                Err(Errno::NOENT) => continue,
                // Somebody else made something of that name just now.
                Err(Errno::NOTDIR | Errno::LOOP) => {
                    self.add(ShieldMount::ReadOnly(path.to_owned()));
                    return Ok(());
                }
                Err(error) => return Err(failed(error)),
            };
            match rustix::fs::flock(&directory, FlockOperation::NonBlockingLockShared) {
                Ok(()) => {}
                Err(Errno::WOULDBLOCK) => {
                    thread::sleep(PAUSE);
                    continue;
                }
                Err(error) => return Err(failed(error)),
            }
            let (Ok(held), Some(there)) = (rustix::fs::fstat(&directory), found(path)) else {
                continue;
            };
            if (held.st_dev, held.st_ino) != (there.st_dev, there.st_ino) {
                continue;
            }
            if !is_placeholder(&held) {
                // The mask of this process may have taken bits away from one that was made just now.
                let fresh = held.st_mode & 0o6222 == 0 && held.st_mode & 0o1000 != 0;
                if !fresh {
                    self.add(ShieldMount::ReadOnly(path.to_owned()));
                    return Ok(());
                }
                rustix::fs::fchmod(&directory, mode).map_err(failed)?;
            }
            // Over itself: were it one directory for all names, `cp -r` would take them for links to each other and fail.
            self.add(ShieldMount::ReadOnly(path.to_owned()));
            self.placeholders.push((path.to_owned(), directory));
            return Ok(());
        }
        Err(failed(Errno::WOULDBLOCK))
    }

    fn add(&mut self, mount: ShieldMount) {
        if !self.mounts.contains(&mount) {
            self.mounts.push(mount);
        }
    }
}

impl Shield {
    /// Removes the copies that a command such as `cp -r .` made of the names that are kept free.
    fn remove_copies(&self) {
        let own = |path: &Path| self.placeholders.iter().any(|(taken, _)| taken == path);
        let taken = self.placeholders.iter();
        let names: HashSet<OsString> = taken
            .filter_map(|(path, _)| path.file_name().map(OsStr::to_owned))
            .collect();
        if names.is_empty() {
            return;
        }
        for root in &self.written {
            for copy in nested::placeholders_below(root, &self.masked, &names) {
                let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let held = rustix::fs::open(&copy, flags, Mode::empty());
                // One that another command needs is locked.
                let is_free = held.is_ok_and(|held| {
                    rustix::fs::flock(held, FlockOperation::NonBlockingLockExclusive).is_ok()
                });
                if is_free && !own(&copy) {
                    // Only ever an empty directory.
                    let _ = rustix::fs::rmdir(&copy);
                }
            }
        }
    }
}

impl Drop for Shield {
    fn drop(&mut self) {
        self.remove_copies();
        for detour in &self.detours {
            // Set aside instead of removed: the user may have made it meanwhile.
            if found(detour).is_some() {
                let aside = detour.with_extension("set-aside");
                let _ = rustix::fs::rename(detour, &aside);
            }
        }
        // The deepest first.
        for (path, directory) in self.placeholders.drain(..).rev() {
            let alone = rustix::fs::flock(&directory, FlockOperation::NonBlockingLockExclusive);
            if alone.is_ok() {
                // Only ever an empty directory.
                let _ = rustix::fs::rmdir(&path);
            }
        }
    }
}

/// Returns the names among the guarded ones that are links: what they lead to can be changed, and they can be replaced.
pub(crate) fn links(policy: &Policy) -> Vec<&Path> {
    let guarded = policy.guarded.iter().map(|guarded| guarded.path.as_path());
    guarded
        .filter(|path| found(path).is_some_and(|stat| file_type(&stat) == FileType::Symlink))
        .collect()
}

fn found(path: &Path) -> Option<Stat> {
    rustix::fs::statat(rustix::fs::CWD, path, AtFlags::SYMLINK_NOFOLLOW).ok()
}

fn kind(path: &Path) -> Option<FileType> {
    found(path).map(|stat| file_type(&stat))
}

fn file_type(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

/// Tells whether what is at a path only keeps its name free.
pub(super) fn is_placeholder_at(path: &Path) -> bool {
    found(path).is_some_and(|stat| is_placeholder(&stat))
}

/// Reads where a small file leads: the path behind a word, from the directory that the file is in.
fn led_to(file: &Path, word: &str) -> Option<PathBuf> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = rustix::fs::open(file, flags, Mode::empty()).ok()?;
    let mut text = [0; MAX_LINK];
    let length = rustix::io::read(&opened, &mut text).ok()?;
    let text = text[..length].strip_prefix(word.as_bytes())?.trim_ascii();
    let path = file.parent()?.join(OsStr::from_bytes(text));
    // With every link on the way followed: what is mounted is what git opens.
    fs::resolved(&path).ok()
}

fn is_placeholder(stat: &Stat) -> bool {
    file_type(stat) == FileType::Directory && stat.st_mode & 0o7777 == PLACEHOLDER_MODE
}
