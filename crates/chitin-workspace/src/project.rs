//! The project that a workspace is: the repository that it lies in, under the name that ties notes to it (W39).

use chitin_contract::Contract;
use chitin_guard::{DirectoryEntryKind, LinkPolicy, ReadPolicy, Root};
use serde_json::Value;
use std::path::{Path, PathBuf};

const GIT: &str = ".git";
const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// Returns the name of the project that a workspace lies in, under a contract that ties notes to projects: host and path of the repository's
/// origin, or else `path:` and the directory of the repository. There is none outside a repository.
#[must_use]
pub fn project_of(workspace: &Path, contract: &Contract, config: &Value) -> Option<String> {
    if contract.rendering.project_entries.is_empty() {
        return None;
    }
    let named = config
        .pointer("/agents/defaults/repoRoot")
        .and_then(Value::as_str)
        .map(str::trim)
        .filter(|named| !named.is_empty())
        .map(PathBuf::from)
        .filter(|directory| Root::open(directory).is_ok());
    let root = named.or_else(|| {
        let has_git = |directory: &&Path| git_directory(directory).is_some();
        workspace.ancestors().find(has_git).map(Path::to_path_buf)
    })?;
    let key = origin_of(&root).and_then(|origin| name_of(&origin));
    Some(key.map_or_else(
        || format!("path:{}", escaped(&root.to_string_lossy())),
        |key| escaped(&key),
    ))
}

/// Returns the directory that holds a repository's configuration, if a directory is the root of one. A worktree has a file that names it.
fn git_directory(directory: &Path) -> Option<PathBuf> {
    let root = Root::open(directory).ok()?;
    let mut kind = root.kind(Path::new(GIT))?;
    if kind == DirectoryEntryKind::Link {
        kind = root.walk(Path::new(GIT), &LinkPolicy::Anywhere).ok()?.kind;
    }
    match kind {
        DirectoryEntryKind::Directory => Some(directory.join(GIT)),
        DirectoryEntryKind::File => {
            let marker = text(&root, GIT).unwrap_or_default();
            let named = marker.lines().find_map(|line| line.strip_prefix("gitdir:"));
            let own = directory.join(named.map_or("", str::trim));
            // The worktree has a directory of its own beside the one with the configuration.
            let common = Root::open(&own)
                .ok()
                .and_then(|root| text(&root, "commondir"));
            Some(common.map_or_else(|| own.clone(), |common| own.join(common.trim())))
        }
        DirectoryEntryKind::Link | DirectoryEntryKind::Other => None,
    }
}

fn text(root: &Root, name: &str) -> Option<String> {
    let read = root
        .read(Path::new(name), &ReadPolicy::inside(MAX_FILE_BYTES))
        .ok()?;
    Some(String::from_utf8_lossy(&read.bytes).into_owned())
}

/// Returns the address of the remote `origin`.
fn origin_of(root: &Path) -> Option<String> {
    let config = text(&Root::open(&git_directory(root)?).ok()?, "config")?;
    let mut is_origin = false;
    let mut url = None;
    for line in config.lines().map(str::trim) {
        if line.starts_with('[') {
            let (kind, name) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            is_origin = kind.eq_ignore_ascii_case("[remote") && name.trim() == "\"origin\"]";
        } else if is_origin && let Some((key, value)) = line.split_once('=') {
            // The last value counts, as it does for git.
            if key.trim().eq_ignore_ascii_case("url") {
                url = Some(value.trim().trim_matches('"').to_owned());
            }
        }
    }
    url
}

/// Returns host and path of a repository's address; nothing for a directory on this machine.
fn name_of(address: &str) -> Option<String> {
    let (scheme, rest) = match address.split_once("://") {
        Some((scheme, rest)) => (Some(scheme.to_ascii_lowercase()), rest),
        None => (None, address),
    };
    let (host, path) = match &scheme {
        Some(scheme) if ["http", "https", "ssh", "git"].contains(&scheme.as_str()) => {
            let (authority, path) = rest.split_once('/')?;
            let host = authority
                .rsplit_once('@')
                .map_or(authority, |(_, host)| host);
            let path = path.split(['?', '#']).next().unwrap_or_default();
            (host.split(':').next().unwrap_or_default(), path)
        }
        Some(_) => return None,
        None => match rest.strip_prefix("git@") {
            Some(rest) => rest.split_once(':')?,
            None => rest
                .split_once('/')
                .filter(|(host, _)| host.contains('.') || *host == "localhost")?,
        },
    };
    let host = host.to_lowercase();
    let path = path.trim_start_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    let is_fit = |part: &str| !matches!(part, "" | "." | "..") && !part.contains('\\');
    let parts: Vec<&str> = path.split('/').collect();
    let is_name = parts.len() > 1 && parts.iter().copied().all(is_fit);
    (is_name && is_fit(&host)).then(|| format!("{host}/{path}"))
}

/// Writes what would end a name or the comment around it as `%` and two digits.
fn escaped(key: &str) -> String {
    let mut out = String::with_capacity(key.len());
    for character in key.chars() {
        match character {
            '%' => out.push_str("%25"),
            ';' => out.push_str("%3b"),
            '<' => out.push_str("%3c"),
            '>' => out.push_str("%3e"),
            '\r' => out.push_str("%0d"),
            '\n' => out.push_str("%0a"),
            other => out.push(other),
        }
    }
    out
}
