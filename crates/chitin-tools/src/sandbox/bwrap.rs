//! The arguments of `bwrap`: what the machine looks like from inside.

use super::config::WorkspaceAccess;
use super::helper::ShieldMount;
use super::policy::{INNER_HOME, INNER_TMP, Policy};
use std::ffi::OsString;
use std::path::Path;

/// Where the helper is inside.
pub(super) const INNER_HELPER: &str = "/run/chitin-sandbox";

/// One thing that is put in its place.
struct Mount<'a> {
    option: &'static str,
    source: Option<&'a Path>,
    target: &'a Path,
}

/// Returns the arguments up to the program. Shallow places come first, so that a deeper one is put over them.
pub(super) fn arguments(
    policy: &Policy,
    shield: &[ShieldMount],
    helper: &Path,
    workdir: &Path,
) -> Vec<OsString> {
    let mut mounts = Vec::new();
    let mut bind = |option, source, target| {
        mounts.push(Mount {
            option,
            source,
            target,
        });
    };
    for path in policy.system.iter().chain(&policy.readable) {
        bind("--ro-bind-try", Some(path.as_path()), path.as_path());
    }
    let in_home: Vec<_> = policy
        .in_home
        .iter()
        .map(|(source, below)| (source, Path::new(INNER_HOME).join(below)))
        .collect();
    for (source, target) in &in_home {
        bind("--ro-bind-try", Some(source.as_path()), target.as_path());
    }
    bind("--bind", Some(&policy.tmp), Path::new(INNER_TMP));
    bind("--bind", Some(&policy.home), Path::new(INNER_HOME));
    for path in &policy.writable {
        bind("--bind-try", Some(path), path);
    }
    let workspace = match policy.workspace_access {
        WorkspaceAccess::ReadWrite => "--bind",
        WorkspaceAccess::ReadOnly => "--ro-bind",
    };
    bind(workspace, Some(&policy.workspace), &policy.workspace);
    for mount in shield {
        match mount {
            ShieldMount::Pinned(path) => bind("--bind", Some(path), path),
            ShieldMount::ReadOnly(path) => bind("--ro-bind", Some(path), path),
            ShieldMount::Hidden(path) => bind("--tmpfs", None, path),
            ShieldMount::HiddenFile(path) => bind("--ro-bind", Some(Path::new("/dev/null")), path),
        }
    }
    mounts.sort_by_key(|mount| mount.target.components().count());

    let mut arguments: Vec<OsString> = [
        "--unshare-user",
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-cgroup-try",
        "--die-with-parent",
        "--new-session",
        "--cap-drop",
        "ALL",
        "--hostname",
        "sandbox",
        "--proc",
        "/proc",
        "--dev",
        "/dev",
    ]
    .map(OsString::from)
    .to_vec();
    if !policy.network {
        arguments.push("--unshare-net".into());
    }
    for mount in mounts {
        arguments.push(mount.option.into());
        arguments.extend(mount.source.map(Into::into));
        arguments.push(mount.target.into());
    }
    arguments.extend([
        "--ro-bind".into(),
        helper.into(),
        INNER_HELPER.into(),
        "--chdir".into(),
        workdir.into(),
        "--".into(),
        INNER_HELPER.into(),
    ]);
    arguments
}
