//! Which files a command may reach.

use super::config::{SandboxConfig, WorkspaceAccess};
use super::fs;
use chitin_protocol::guarded_paths::{GUARDED_PATHS, GuardedKind};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// What programs need to run, and nothing that is private to a user or a machine.
const SYSTEM: [&str; 43] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/gnu/store",
    "/run/current-system/sw",
    "/etc/alternatives",
    "/etc/bash.bashrc",
    "/etc/ca-certificates",
    "/etc/debian_version",
    "/etc/gai.conf",
    "/etc/gitconfig",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/inputrc",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ld.so.preload",
    "/etc/localtime",
    "/etc/locale.alias",
    "/etc/locale.conf",
    "/etc/magic",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/pki/ca-trust",
    "/etc/pki/tls/certs",
    "/etc/profile",
    "/etc/protocols",
    "/etc/services",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/static",
    "/etc/terminfo",
    "/etc/timezone",
    "/sys/devices/system/cpu",
];

/// What a name look-up needs.
const FOR_NETWORK: [&str; 1] = ["/etc/resolv.conf"];

/// Files about the machine, not about processes. Without a process namespace the rest of `/proc` stays shut.
const MACHINE: [&str; 7] = [
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/uptime",
    "/proc/version",
];

/// Devices that hold nothing.
const DEVICES: [&str; 5] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];

/// Where temporary files are in the private directory.
pub(super) const TMP: &str = "tmp";
/// Where the home is in the private directory.
pub(super) const HOME: &str = "home";
/// The same for commands that may follow untrusted text: what they leave there reaches no others.
pub(super) const UNTRUSTED_TMP: &str = "untrusted-tmp";
pub(super) const UNTRUSTED_HOME: &str = "untrusted-home";
/// Where temporary files are inside namespaces.
pub(super) const INNER_TMP: &str = "/tmp";
/// Where the home is inside namespaces.
pub(super) const INNER_HOME: &str = "/run/home";

/// Which files a command may reach. All paths are absolute, with links resolved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Policy {
    pub(crate) workspace: PathBuf,
    /// Of the system, as programs spell them.
    pub(crate) system: Vec<PathBuf>,
    pub(crate) machine: Vec<PathBuf>,
    pub(crate) devices: Vec<PathBuf>,
    pub(crate) readable: Vec<PathBuf>,
    pub(crate) writable: Vec<PathBuf>,
    /// Readable directories beneath the user's home, and their names beneath the command's.
    pub(crate) in_home: Vec<(PathBuf, PathBuf)>,
    /// What lies beneath one of the others and must not be seen.
    pub(crate) masked: Vec<PathBuf>,
    /// What lies beneath one that is written to and must not be changed.
    pub(crate) guarded: Vec<Guarded>,
    pub(crate) tmp: PathBuf,
    pub(crate) home: PathBuf,
    pub(crate) network: bool,
    pub(crate) unix_sockets: bool,
    pub(crate) workspace_access: WorkspaceAccess,
    pub(crate) memory_bytes: Option<u64>,
}

/// Something that must not be changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Guarded {
    pub(crate) path: PathBuf,
    /// Whether it is a repository, of which only a part is guarded.
    pub(crate) git: bool,
    /// Whether it must not come into being, either.
    pub(crate) absent_too: bool,
}

/// Why there is no policy.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PolicyError {
    /// A root is not there.
    #[error("the sandbox cannot use `{path}`: {reason}")]
    Unusable {
        /// The path.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A root is the whole machine.
    #[error("the sandbox cannot use `{0}` as a root: it is the whole file system")]
    Everything(PathBuf),
    /// A root is where keys are kept.
    #[error("cannot give commands access to `{path}`: it is in `{hidden}`, which must stay hidden")]
    Protected {
        /// The root.
        path: PathBuf,
        /// What hides it.
        hidden: PathBuf,
    },
    /// A root has keys in it.
    #[error(
        "cannot give commands access to `{path}`: it contains `{hidden}`, which must stay hidden"
    )]
    Surrounds {
        /// The root.
        path: PathBuf,
        /// What stays hidden.
        hidden: PathBuf,
    },
}

/// What the user opens and what stays hidden, judged before anything runs. All paths are absolute, with links resolved.
#[derive(Debug)]
pub(super) struct Roots {
    pub(super) workspace: PathBuf,
    hidden: Vec<PathBuf>,
    readable: Vec<PathBuf>,
    writable: Vec<PathBuf>,
}

impl Roots {
    /// Judges the roots of a configuration.
    pub(super) fn new(config: &SandboxConfig) -> Result<Self, PolicyError> {
        let workspace = root(&config.workspace)?;
        let mut hidden: Vec<_> = config
            .hidden
            .iter()
            .map(|path| fs::resolved(path).unwrap_or_else(|_| path.clone()))
            .collect();
        hidden.sort();
        hidden.dedup();
        let extra = |paths: &[PathBuf]| -> Result<Vec<PathBuf>, PolicyError> {
            let mut found = Vec::new();
            for path in paths {
                let path = root(path)?;
                let inside = |hidden: &&PathBuf| path.starts_with(hidden);
                if !path.starts_with(&workspace)
                    && let Some(hidden) = hidden.iter().find(inside)
                {
                    return Err(PolicyError::Protected {
                        path,
                        hidden: hidden.clone(),
                    });
                }
                found.push(path);
            }
            Ok(found)
        };
        let mut readable = extra(&config.readable)?;
        for program in &config.programs {
            readable.extend(program_roots(program, &hidden)?);
        }
        let mut writable = extra(&config.writable)?;
        if let Some(data) = &config.data {
            writable.push(root(data)?);
        }
        Ok(Self {
            workspace,
            hidden,
            readable,
            writable,
        })
    }
}

impl Roots {
    /// Returns what commands can write to, besides their private directory.
    pub(super) fn written(&self) -> Vec<PathBuf> {
        let mut written = vec![self.workspace.clone()];
        written.extend(self.writable.iter().cloned());
        written
    }
}

impl Policy {
    /// Makes the policy of a configuration. `private` holds two directories, [`TMP`] and [`HOME`].
    pub(super) fn new(config: &SandboxConfig, roots: &Roots, private: &Path) -> Self {
        let Roots {
            workspace,
            hidden,
            readable,
            writable,
        } = roots;
        let mut readable = readable.clone();
        let mut system = present(&SYSTEM);
        // Settings of interpreters, which have their version in their names.
        system.extend(fs::beginning_with(Path::new("/etc"), "python"));
        if config.network {
            // It may be a link to a place that nothing else opens.
            readable.extend(
                FOR_NETWORK
                    .iter()
                    .filter_map(|path| fs::resolved(Path::new(path)).ok()),
            );
        }
        let opened = || {
            [workspace]
                .into_iter()
                .chain(&system)
                .chain(&readable)
                .chain(writable)
        };
        let masked = hidden
            .iter()
            .filter(|hidden| opened().any(|root| *hidden != root && hidden.starts_with(root)))
            .filter(|hidden| !workspace.starts_with(hidden))
            .cloned()
            .collect();
        Self {
            system,
            machine: present(&MACHINE),
            devices: present(&DEVICES),
            masked,
            guarded: guarded(config, workspace, writable),
            in_home: Vec::new(),
            tmp: private.join(TMP),
            home: private.join(HOME),
            network: config.network,
            unix_sockets: config.unix_sockets,
            workspace_access: config.workspace_access,
            memory_bytes: config.memory_bytes,
            readable,
            writable: writable.clone(),
            workspace: workspace.clone(),
        }
    }

    /// Opens further directories for reading: where they lie and where they lead. What has something hidden in it stays shut.
    pub(super) fn with_readable(
        mut self,
        directories: &[PathBuf],
        roots: &Roots,
        home: Option<&Path>,
    ) -> Self {
        let homes = home.into_iter().flat_map(|home| {
            let real = fs::resolved(home).ok();
            [Some(home.to_path_buf()), real].into_iter().flatten()
        });
        let homes: Vec<PathBuf> = homes.collect();
        for directory in directories {
            let Ok(opened) = program_roots(directory, &roots.hidden) else {
                continue;
            };
            // A link inside of what is open leads there by itself.
            if directory.is_absolute() && !self.roots().any(|root| directory.starts_with(root)) {
                self.readable.push(directory.clone());
            }
            self.readable.extend(opened);
            let below = homes
                .iter()
                .find_map(|home| directory.strip_prefix(home).ok());
            if let Some(below) = below {
                self.in_home.push((directory.clone(), below.to_path_buf()));
            }
        }
        self
    }

    /// Says whether a path may be read by commands.
    pub(super) fn reads(&self, path: &Path) -> bool {
        self.roots().any(|root| path.starts_with(root))
            && !self.masked.iter().any(|masked| path.starts_with(masked))
    }

    /// Returns the directories that commands write to, but for the private one.
    pub(super) fn written(&self) -> impl Iterator<Item = &PathBuf> {
        let workspace = match self.workspace_access {
            WorkspaceAccess::ReadWrite => Some(&self.workspace),
            WorkspaceAccess::ReadOnly => None,
        };
        workspace.into_iter().chain(&self.writable)
    }

    fn roots(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.workspace]
            .into_iter()
            .chain(&self.system)
            .chain(&self.readable)
            .chain(&self.writable)
    }
}

/// Returns what is guarded beneath the workspace, and what is there already beneath the other directories. What the user opens by
/// name is open.
fn guarded(config: &SandboxConfig, workspace: &Path, writable: &[PathBuf]) -> Vec<Guarded> {
    let workspace = match config.workspace_access {
        WorkspaceAccess::ReadWrite => Some((workspace, true)),
        WorkspaceAccess::ReadOnly => None,
    };
    let data = config
        .data
        .as_ref()
        .and_then(|path| fs::resolved(path).ok());
    let others = writable
        .iter()
        .filter(|root| Some(*root) != data.as_ref())
        .filter(|root| fs::kind(root) == Some(fs::FsEntryKind::Directory))
        .map(|root| (root.as_path(), false));
    workspace
        .into_iter()
        .chain(others)
        .flat_map(|(root, absent_too)| {
            GUARDED_PATHS.iter().map(move |guarded| Guarded {
                path: root.join(guarded.name),
                git: guarded.kind == GuardedKind::Git,
                absent_too,
            })
        })
        .filter(|guarded| !writable.iter().any(|root| root.starts_with(&guarded.path)))
        .collect()
}

fn present(paths: &[&str]) -> Vec<PathBuf> {
    paths
        .iter()
        .map(PathBuf::from)
        .filter(|path| fs::kind(path).is_some())
        .collect()
}

/// Returns what is opened of a program. Of a file, its directory, because programs are often several files; the file alone
/// where the directory must stay shut. A link is opened where it lies and where it leads.
fn program_roots(program: &Path, hidden: &[PathBuf]) -> Result<Vec<PathBuf>, PolicyError> {
    let resolved = root(program)?;
    let shuts = |directory: &Path| {
        directory.parent().is_none() || hidden.iter().any(|hidden| hidden.starts_with(directory))
    };
    if fs::kind(&resolved) == Some(fs::FsEntryKind::Directory) {
        return match hidden.iter().find(|hidden| hidden.starts_with(&resolved)) {
            Some(hidden) => Err(PolicyError::Surrounds {
                path: resolved.clone(),
                hidden: hidden.clone(),
            }),
            None => Ok(vec![resolved]),
        };
    }
    let spelled = match (program.parent(), program.file_name()) {
        (Some(parent), Some(name)) => root(parent)?.join(name),
        _ => resolved.clone(),
    };
    let mut roots = Vec::new();
    for file in [resolved, spelled] {
        let opened = match file.parent() {
            Some(directory) if !shuts(directory) => directory.to_path_buf(),
            Some(_) | None => file,
        };
        if !roots.contains(&opened) {
            roots.push(opened);
        }
    }
    Ok(roots)
}

fn root(path: &Path) -> Result<PathBuf, PolicyError> {
    let unusable = |reason: &str| PolicyError::Unusable {
        path: path.to_path_buf(),
        reason: reason.to_owned(),
    };
    if !path.is_absolute() {
        return Err(unusable("it is not an absolute path"));
    }
    let resolved = fs::resolved(path).map_err(|error| unusable(&error.to_string()))?;
    if resolved.to_str().is_none() {
        return Err(unusable("its name is not UTF-8"));
    }
    if resolved.parent().is_none() {
        return Err(PolicyError::Everything(resolved));
    }
    Ok(resolved)
}
