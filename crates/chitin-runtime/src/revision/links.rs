//! Links of a revision: where they lead once the workspace stands elsewhere.
//!
//! A link's text is kept where it means the same in both places. Two kinds do not: an absolute path into the workspace,
//! which would lead to the work tree, and a relative one that climbs out, which would lead into our cache. The first is
//! spelled relative, the second absolute; so each leads where it led before, and the contract's rule judges it as before.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

/// More links than this on one way are a loop.
const MAX_HOPS: usize = 40;

/// The workspace that a revision is a copy of.
#[derive(Debug)]
pub(super) struct Original<'a> {
    /// Its path as given.
    pub(super) given: &'a Path,
    /// Its path with every link resolved.
    pub(super) real: &'a Path,
}

impl Original<'_> {
    /// Spells a link's text for the copy. `link` is the link's own path, relative to the workspace.
    pub(super) fn respelled(&self, link: &Path, text: &Path) -> PathBuf {
        let depth = link.components().count().saturating_sub(1);
        let target = if text.is_absolute() {
            text.to_path_buf()
        } else {
            let parts: Vec<Component<'_>> = text.components().collect();
            let climbs = parts
                .iter()
                .take_while(|part| **part == Component::ParentDir)
                .count();
            if climbs <= depth {
                return text.to_path_buf();
            }
            // The link's own directories are real ones, so so many steps up are known for sure.
            let above = self.real.ancestors().nth(climbs - depth);
            let mut target = above.unwrap_or(Path::new("/")).to_path_buf();
            target.extend(&parts[climbs..]);
            target
        };
        let climbs = target.components().any(|part| part == Component::ParentDir);
        let inside = target
            .strip_prefix(self.real)
            .or_else(|_| target.strip_prefix(self.given));
        match inside {
            Ok(inside) if !climbs => {
                let up = std::iter::repeat_n(OsStr::new(".."), depth);
                let beneath: PathBuf = up.chain(inside.iter()).collect();
                if beneath.as_os_str().is_empty() {
                    PathBuf::from(".")
                } else {
                    beneath
                }
            }
            _ => target,
        }
    }
}

/// Where a path leads.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Lead {
    /// To that path in the workspace, whether something is there or not.
    Inside(PathBuf),
    /// Out of the workspace.
    Outside,
    /// In circles.
    Nowhere,
}

/// Follows a path through links, by their texts as they are spelled in the copy.
pub(super) fn follow(texts: &BTreeMap<PathBuf, PathBuf>, path: &Path) -> Lead {
    let mut at = PathBuf::new();
    let mut rest: VecDeque<OsString> = path.iter().map(OsStr::to_owned).collect();
    let mut hops = 0;
    while let Some(part) = rest.pop_front() {
        if part == "." {
            continue;
        }
        if part == ".." {
            if !at.pop() {
                return Lead::Outside;
            }
            continue;
        }
        at.push(part);
        if let Some(text) = texts.get(&at) {
            hops += 1;
            if text.is_absolute() {
                return Lead::Outside;
            }
            if hops > MAX_HOPS {
                return Lead::Nowhere;
            }
            at.pop();
            for part in text.iter().rev() {
                rest.push_front(part.to_owned());
            }
        }
    }
    Lead::Inside(at)
}
