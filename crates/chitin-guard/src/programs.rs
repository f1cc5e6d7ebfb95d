//! Programs that are run outside of a sandbox, found where nothing that an agent writes can stand in for them.

use rustix::fs::{Access, FileType, Mode};
use std::fmt;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Where the system's own programs are. They are looked at before any search path.
const SYSTEM: [&str; 7] = [
    "/usr/bin",
    "/bin",
    "/usr/local/bin",
    "/run/current-system/sw/bin",
    "/opt/homebrew/bin",
    "/usr/sbin",
    "/sbin",
];

/// In which order directories are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramOrder {
    /// Those of the system, also where the search path lacks them; then the search path.
    System,
    /// Those of the system that are on the search path; then the rest of it.
    SystemOnPath,
    /// The search path, as it is.
    Path,
}

/// Where programs are looked for, and where they must not be.
#[derive(Debug, Clone, Copy)]
pub struct ProgramSearch<'a> {
    /// The directories, in their order. Relative ones don't count: they may lead anywhere.
    pub path: &'a str,
    /// What comes first.
    pub order: ProgramOrder,
    /// Directories that agents write to: the workspace and all that is writable besides.
    pub never_in: &'a [PathBuf],
}

/// A file of the right name that is not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedProgram {
    /// Where it is.
    pub path: PathBuf,
    /// Why it is not run.
    pub reason: ProgramDistrust,
}

impl fmt::Display for RefusedProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not used: {}", self.path.display(), self.reason)
    }
}

/// Why a program is not trusted.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ProgramDistrust {
    /// Agents write there.
    #[error("it is in `{}`, where commands of an agent can write", .0.display())]
    Writable(PathBuf),
    /// Others than its owner may write to it.
    #[error("other users can write to `{}`", .0.display())]
    Others(PathBuf),
    /// It belongs to somebody else.
    #[error("`{}` belongs to neither root nor you", .0.display())]
    Owner(PathBuf),
    /// It is no program.
    #[error("it is not an executable file")]
    NotExecutable,
    /// It can't be looked at.
    #[error("it cannot be examined")]
    Unknown,
}

/// What a search came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundProgram {
    /// The program, with all links resolved.
    pub path: Option<PathBuf>,
    /// What came before it and is not run.
    pub refused: Vec<RefusedProgram>,
}

impl ProgramSearch<'_> {
    /// Finds a program by its name.
    pub fn find(&self, name: &str) -> FoundProgram {
        let mut found = FoundProgram::default();
        if name.is_empty() || name.contains(['/', '\0']) {
            return found;
        }
        let mut seen: Vec<PathBuf> = Vec::new();
        for directory in self.directories() {
            let candidate = directory.join(name);
            if seen.contains(&candidate) || rustix::fs::lstat(&candidate).is_err() {
                continue;
            }
            match self.judge(&candidate) {
                Ok(program) => {
                    found.path = Some(program);
                    return found;
                }
                Err(reason) => found.refused.push(RefusedProgram {
                    path: candidate.clone(),
                    reason,
                }),
            }
            seen.push(candidate);
        }
        found
    }

    /// Returns the search path without the directories that agents write to, for programs that look for others themselves.
    pub fn trusted_path(&self) -> String {
        let kept: Vec<&str> = self
            .path
            .split(':')
            .filter(|entry| Path::new(entry).is_absolute())
            .filter(|entry| {
                let entry = Path::new(entry);
                let real = resolved(entry);
                [Some(entry), real.as_deref()]
                    .into_iter()
                    .flatten()
                    .all(|path| self.writable_above(path).is_none())
            })
            .collect();
        kept.join(":")
    }

    fn directories(&self) -> Vec<&Path> {
        let own: Vec<&Path> = self
            .path
            .split(':')
            .map(Path::new)
            .filter(|directory| directory.is_absolute())
            .collect();
        let system = SYSTEM.iter().map(Path::new);
        let mut directories: Vec<&Path> = match self.order {
            ProgramOrder::System => system.collect(),
            ProgramOrder::SystemOnPath => system.filter(|entry| own.contains(entry)).collect(),
            ProgramOrder::Path => Vec::new(),
        };
        directories.extend(own);
        directories
    }

    /// Judges a file that is there, and returns it with all links resolved.
    fn judge(&self, candidate: &Path) -> Result<PathBuf, ProgramDistrust> {
        let in_writable = |path: &Path| match self.writable_above(path) {
            Some(root) => Err(ProgramDistrust::Writable(root)),
            None => Ok(()),
        };
        in_writable(candidate)?;
        let program = resolved(candidate).ok_or(ProgramDistrust::NotExecutable)?;
        in_writable(&program)?;
        let stat = rustix::fs::stat(&program).map_err(|_| ProgramDistrust::Unknown)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile
            || rustix::fs::access(&program, Access::EXEC_OK).is_err()
        {
            return Err(ProgramDistrust::NotExecutable);
        }
        // A link can be exchanged by whoever writes to its directory, and the file by whoever writes to any above it.
        let above = |path: &Path| -> Result<(), ProgramDistrust> {
            path.ancestors().skip(1).try_for_each(sound)
        };
        sound(&program)?;
        above(&program)?;
        if let Some(directory) = candidate.parent().and_then(resolved) {
            sound(&directory)?;
            above(&directory)?;
        }
        Ok(program)
    }

    fn writable_above(&self, path: &Path) -> Option<PathBuf> {
        self.never_in
            .iter()
            .find(|root| {
                path.starts_with(root) || resolved(root).is_some_and(|real| path.starts_with(real))
            })
            .cloned()
    }
}

/// Fails unless only root and this user can change what stands at a path.
fn sound(path: &Path) -> Result<(), ProgramDistrust> {
    let stat = rustix::fs::stat(path).map_err(|_| ProgramDistrust::Unknown)?;
    if stat.st_uid != 0 && stat.st_uid != rustix::process::geteuid().as_raw() {
        return Err(ProgramDistrust::Owner(path.to_path_buf()));
    }
    let mode = Mode::from_raw_mode(stat.st_mode);
    // In a sticky directory, such as `/tmp`, a name can only be changed by its owner.
    let sticky =
        FileType::from_raw_mode(stat.st_mode) == FileType::Directory && mode.contains(Mode::SVTX);
    let by_group = mode.contains(Mode::WGRP) && stat.st_gid != 0;
    if (mode.contains(Mode::WOTH) || by_group) && !sticky {
        return Err(ProgramDistrust::Others(path.to_path_buf()));
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "this is the door")]
fn resolved(path: &Path) -> Option<PathBuf> {
    std::fs::canonicalize(path).ok()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "tests set up real files")]

    use super::{ProgramDistrust, ProgramOrder, ProgramSearch};
    use chitin_test::TestEnv;
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::{PermissionsExt, chown};
    use std::path::PathBuf;

    const NAME: &str = "lantern-tool";

    fn program(env: &TestEnv, path: &str, mode: u32) -> PathBuf {
        env.file(path, "#!/bin/sh\n");
        let path = env.path().join(path);
        set_permissions(path.parent().unwrap(), Permissions::from_mode(0o755)).unwrap();
        set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        path
    }

    fn find(env: &TestEnv, path: &str) -> super::FoundProgram {
        let search = ProgramSearch {
            path,
            order: ProgramOrder::System,
            never_in: &[env.workspace()],
        };
        search.find(NAME)
    }

    #[test]
    fn a_program_that_an_agent_or_another_user_can_write_is_never_run() {
        let env = TestEnv::new();
        let planted = program(&env, "workspace/.venv/bin/lantern-tool", 0o755);
        let loose = program(&env, "loose/lantern-tool", 0o777);
        let open = program(&env, "open/lantern-tool", 0o755);
        set_permissions(open.parent().unwrap(), Permissions::from_mode(0o777)).unwrap();
        let plain = program(&env, "plain/lantern-tool", 0o644);
        std::fs::create_dir(env.path().join("links")).unwrap();
        env.link("links/lantern-tool", planted.to_str().unwrap());
        let link = env.path().join("links/lantern-tool");
        let good = program(&env, "good/lantern-tool", 0o755);

        let directory = |path: &PathBuf| path.parent().unwrap().display().to_string();
        let search = [&planted, &loose, &open, &plain, &link, &good].map(directory);
        let found = find(&env, &search.join(":"));
        assert_eq!(found.path, Some(good.canonicalize().unwrap()));
        let refused: Vec<_> = found.refused.iter().map(|it| it.path.clone()).collect();
        assert_eq!(refused, [planted, loose, open, plain, link]);
        assert!(matches!(
            found.refused[0].reason,
            ProgramDistrust::Writable(_)
        ));
        assert!(matches!(
            found.refused[1].reason,
            ProgramDistrust::Others(_)
        ));
        assert!(matches!(
            found.refused[2].reason,
            ProgramDistrust::Others(_)
        ));
        assert_eq!(found.refused[3].reason, ProgramDistrust::NotExecutable);
        assert!(matches!(
            found.refused[4].reason,
            ProgramDistrust::Writable(_)
        ));
    }

    #[test]
    fn a_program_of_a_stranger_is_never_run() {
        let env = TestEnv::new();
        let strange = program(&env, "strange/lantern-tool", 0o755);
        if chown(&strange, Some(12_345), None).is_err() {
            // Only root gives files away.
            return;
        }
        let found = find(&env, &strange.parent().unwrap().display().to_string());
        assert_eq!(found.path, None);
        assert_eq!(
            found.refused[0].reason,
            ProgramDistrust::Owner(strange.canonicalize().unwrap())
        );
    }

    #[test]
    fn the_systems_own_directories_come_before_the_search_path() {
        let env = TestEnv::new();
        env.file("bin/sh", "#!/bin/true\n");
        let own = env.path().join("bin/sh");
        set_permissions(&own, Permissions::from_mode(0o755)).unwrap();
        let path = env.path().join("bin").display().to_string();
        let mut search = ProgramSearch {
            path: &path,
            order: ProgramOrder::System,
            never_in: &[],
        };
        assert!(search.find("sh").path.unwrap().starts_with("/usr"));
        search.order = ProgramOrder::Path;
        assert_eq!(search.find("sh").path, Some(own.canonicalize().unwrap()));
    }

    #[test]
    fn relative_entries_and_names_with_a_slash_lead_nowhere() {
        let env = TestEnv::new();
        program(&env, "workspace/bin/lantern-tool", 0o755);
        assert_eq!(find(&env, ".:bin::workspace/bin").path, None);
        let search = ProgramSearch {
            path: "/usr/bin",
            order: ProgramOrder::System,
            never_in: &[],
        };
        assert_eq!(search.find("../bin/sh").path, None);
        assert_eq!(search.find("").path, None);
    }

    #[test]
    fn the_path_of_trusted_programs_leaves_out_what_agents_write() {
        let env = TestEnv::new();
        env.directory_at("workspace/.venv/bin");
        let inside = env.workspace().join(".venv/bin").display().to_string();
        let path = format!("{inside}:/usr/bin:relative:/bin");
        let search = ProgramSearch {
            path: &path,
            order: ProgramOrder::Path,
            never_in: &[env.workspace()],
        };
        assert_eq!(search.trusted_path(), "/usr/bin:/bin");
    }
}
