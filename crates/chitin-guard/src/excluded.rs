//! Directories and names that count as outside of a root.

use super::policy::LinkPolicy;
use super::root::{NameRule, ReadError, Root};
use super::walk::Walker;
use chitin_protocol::record::FileRefusal;
use std::path::{Component, Path, PathBuf};

impl Root {
    /// Lets directories count as outside, by their real paths: nothing in them is read, listed or written, whichever links lead
    /// there. A root that lies in one of them keeps what is beneath it.
    #[must_use]
    pub fn without(mut self, directories: &[PathBuf]) -> Self {
        self.closed = directories.iter().map(|path| real(path)).collect();
        self
    }

    /// Lets names count as outside, whichever part of a path beneath the root they are: what has one is not read, listed or
    /// written, and neither is what lies in it.
    #[must_use]
    pub fn without_names(mut self, is_closed: NameRule) -> Self {
        self.closed_names = Some(is_closed);
        self
    }

    /// Tells whether names are closed beneath the root.
    pub const fn closes_names(&self) -> bool {
        self.closed_names.is_some()
    }

    pub(super) fn is_all_open(&self) -> bool {
        self.closed.is_empty() && self.closed_names.is_none()
    }

    /// Returns the closed directory that a name leads into, if it does. Good for words; every access checks by itself.
    pub fn closed_at(&self, relative: &Path, links: &LinkPolicy) -> Option<&Path> {
        self.closed_lexically(relative).or_else(|| {
            // What does not exist yet lies where the deepest directory on the way leads.
            let end = relative.ancestors().find_map(|there| {
                let walker = Walker::new(self.real_path(), links);
                walker.walk(there).ok()
            })?;
            self.closed_around(&end.path, links)
        })
    }

    /// Fails when a name lies in a closed directory. Links are the walk's business.
    pub(super) fn check_closed(&self, relative: &Path) -> Result<(), ReadError> {
        match self.closed_lexically(relative) {
            Some(_) => Err(self.refused(relative, FileRefusal::OutsideRoot)),
            None => Ok(()),
        }
    }

    /// Tells whether a name lies in a closed directory when no component of it is a link.
    pub(super) fn closed_lexically(&self, relative: &Path) -> Option<&Path> {
        if self.is_all_open() {
            return None;
        }
        let path = crate::normalized(&self.real_path().join(relative));
        self.closed_around(&path, &LinkPolicy::Refuse)
    }

    /// Returns the closed directory that a real path lies in.
    pub(super) fn closed_around(&self, path: &Path, links: &LinkPolicy) -> Option<&Path> {
        let closed = self
            .closed
            .iter()
            .filter(|closed| lies_in(path, closed))
            .find(|closed| {
                // What was opened on purpose inside of a closed directory stays open.
                let opens = |inner: &Path| lies_in(inner, closed) && lies_in(path, inner);
                let trusted = match links {
                    LinkPolicy::TrustedRoots(roots) => roots.as_slice(),
                    _ => &[],
                };
                !opens(self.real_path()) && !trusted.iter().any(|root| opens(&real(root)))
            });
        closed.map(PathBuf::as_path).or_else(|| {
            let is_closed = self.closed_names?;
            // What lies outside is judged by all of its path: nothing of it is known to be open.
            let judged = path.strip_prefix(self.real_path()).unwrap_or(path);
            let is_name =
                |part: Component<'_>| matches!(part, Component::Normal(name) if is_closed(name));
            judged.components().any(is_name).then(|| self.real_path())
        })
    }
}

/// Tells whether a path is a directory or lies in it. File systems of macOS take upper and lower case for the same.
fn lies_in(path: &Path, directory: &Path) -> bool {
    if cfg!(target_os = "macos") {
        let lower = |path: &Path| PathBuf::from(path.to_string_lossy().to_lowercase());
        return lower(path).starts_with(lower(directory));
    }
    path.starts_with(directory)
}

/// Resolves the links in a path; what does not exist yet keeps its name.
fn real(path: &Path) -> PathBuf {
    let found = path.ancestors().find_map(|above| {
        let root = Root::open(above).ok()?;
        Some(root.real_path().join(path.strip_prefix(above).ok()?))
    });
    found.unwrap_or_else(|| path.to_path_buf())
}
