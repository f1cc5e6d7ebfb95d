//! Trees that are made by programs and can be made again: they are neither recorded nor taken back.

use crate::path::FilePath;
use std::collections::BTreeSet;

/// Left out wherever it stands, by every set of rules: Git has its own history, and ours must not rewrite it.
const ALWAYS: &str = ".git";

/// Names that are left out unless the user says otherwise.
const USUAL: [&str; 15] = [
    ".cache",
    ".gradle",
    ".hg",
    ".jj",
    ".mypy_cache",
    ".next",
    ".nox",
    ".pytest_cache",
    ".ruff_cache",
    ".svn",
    ".tox",
    ".venv",
    "__pycache__",
    "node_modules",
    "target",
];

/// Which files and directories are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IgnoreRules {
    names: BTreeSet<Vec<u8>>,
    paths: BTreeSet<Vec<u8>>,
}

impl Default for IgnoreRules {
    fn default() -> Self {
        Self::new(&[])
    }
}

impl IgnoreRules {
    /// Takes the usual names and the rules of a user: a name is left out wherever it stands, what has a slash is a path from the
    /// workspace, and `!` before either takes it out of the list.
    pub fn new(rules: &[String]) -> Self {
        let usual = USUAL.iter().copied().chain([ALWAYS]);
        let mut made = Self {
            names: usual.map(|name| name.as_bytes().to_vec()).collect(),
            paths: BTreeSet::new(),
        };
        for rule in rules {
            let (rule, is_in) = match rule.strip_prefix('!') {
                Some(rule) => (rule, false),
                None => (rule.as_str(), true),
            };
            let is_path = rule.trim_end_matches('/').contains('/');
            let rule = rule.trim_matches('/');
            if rule.is_empty() || rule == ALWAYS {
                continue;
            }
            let list = if is_path {
                &mut made.paths
            } else {
                &mut made.names
            };
            if is_in {
                list.insert(rule.as_bytes().to_vec());
            } else {
                list.remove(rule.as_bytes());
            }
        }
        made
    }

    /// Tells whether an entry is left out; `name` is the last part of `path`.
    pub(crate) fn leaves_out(&self, path: &[u8], name: &[u8]) -> bool {
        self.names.contains(name) || (!self.paths.is_empty() && self.paths.contains(path))
    }

    /// Tells whether a path, or a directory that it lies in, is left out.
    pub fn covers(&self, path: &FilePath) -> bool {
        let bytes = path.bytes();
        let ends = bytes
            .iter()
            .enumerate()
            .filter_map(|(at, byte)| (*byte == b'/').then_some(at))
            .chain([bytes.len()]);
        let mut start = 0;
        for end in ends {
            if self.leaves_out(&bytes[..end], &bytes[start..end]) {
                return true;
            }
            start = end + 1;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaves_out(rules: &[&str], path: &str) -> bool {
        let rules: Vec<String> = rules.iter().map(ToString::to_string).collect();
        IgnoreRules::new(&rules).covers(&FilePath::new(path.as_bytes()).unwrap())
    }

    #[test]
    fn names_match_anywhere_and_paths_from_the_workspace() {
        assert!(leaves_out(&[], "web/node_modules/a.js"));
        assert!(!leaves_out(&["!node_modules"], "web/node_modules/a.js"));
        assert!(leaves_out(&["big"], "a/big/x"));
        assert!(leaves_out(&["data/raw/"], "data/raw/x"));
        assert!(leaves_out(&["/raw"], "raw/x"));
        assert!(!leaves_out(&["/raw"], "data/raw/x"));
        assert!(!leaves_out(&["data/raw"], "other/data/raw/x"));
        assert!(!leaves_out(&[], "notes.md"));
    }

    #[test]
    fn git_is_left_out_whatever_a_user_says() {
        assert!(leaves_out(&["!.git"], ".git/config"));
        assert!(leaves_out(&["!.git"], "sub/.git/config"));
    }
}
