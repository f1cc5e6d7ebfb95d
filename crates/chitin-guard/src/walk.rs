//! Following links by the rules: where a name ends, and which hop says no.
//!
//! The walk only looks (`lstat`, `readlink`); it never opens. Its answer is a path without links, which the caller opens
//! beneath the root with links forbidden. So a tree that changes in between can spoil the answer, never the guarantee.

use super::fingerprint::Fingerprint;
use super::policy::LinkPolicy;
use super::root::{DirectoryEntryKind, ReadError};
use chitin_protocol::record::FileRefusal;
use rustix::fs::Stat;
use rustix::io::Errno;
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

/// More links than this on one way are a loop.
const MAX_LINKS: usize = 40;

/// Where a name ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameEnd {
    /// The real path: no component is a link.
    pub path: PathBuf,
    /// The fingerprint of what is there.
    pub fingerprint: Fingerprint,
    /// What is there.
    pub kind: DirectoryEntryKind,
    /// How many links were followed.
    pub links: usize,
}

/// Why a walk ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    Missing,
    Refused(FileRefusal),
    Io(Errno),
}

impl Stop {
    pub(super) fn into_error(self, path: PathBuf) -> ReadError {
        match self {
            Self::Missing => ReadError::Missing { path },
            Self::Refused(reason) => ReadError::Refused { path, reason },
            Self::Io(error) => ReadError::Io {
                path,
                source: error.into(),
            },
        }
    }
}

/// A text being walked: the name itself, or what a link says.
struct Text {
    rest: VecDeque<OsString>,
    from_link: bool,
    /// The entry that this text names must be inside.
    bound: bool,
}

pub(super) struct Walker<'a> {
    root: &'a Path,
    links: &'a LinkPolicy,
    /// Real directory reached so far.
    at: PathBuf,
    texts: Vec<Text>,
    followed: usize,
    trusted: Vec<PathBuf>,
}

impl<'a> Walker<'a> {
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    pub(super) fn new(root: &'a Path, links: &'a LinkPolicy) -> Self {
        let trusted = match links {
            LinkPolicy::TrustedRoots(roots) => roots
                .iter()
                .filter_map(|root| std::fs::canonicalize(root).ok())
                // What is listed is a directory to reach into; a file in its place opens nothing.
                .filter(|root| root.is_dir())
                .collect(),
            LinkPolicy::EveryHopInside
            | LinkPolicy::EndInside
            | LinkPolicy::NotTheFile
            | LinkPolicy::Refuse
            | LinkPolicy::Anywhere => Vec::new(),
        };
        Self {
            root,
            links,
            at: root.to_path_buf(),
            texts: Vec::new(),
            followed: 0,
            trusted,
        }
    }

    pub(super) fn walk(mut self, name: &Path) -> Result<NameEnd, Stop> {
        if name.is_absolute() {
            self.at = PathBuf::from("/");
        }
        self.texts.push(Text {
            rest: components(name),
            from_link: false,
            bound: false,
        });
        let mut last: Option<Stat> = None;
        while let Some(text) = self.texts.last_mut() {
            let Some(component) = text.rest.pop_front() else {
                self.texts.pop();
                continue;
            };
            let ends_text = text.rest.is_empty();
            let (from_link, bound) = (text.from_link, text.bound);
            if component == ".." {
                // What a link's text leads through must be a directory, also on the way back.
                if from_link && last.as_ref().is_some_and(is_no_directory) {
                    let named = self.at.join(&component);
                    return Err(self.absent(&named, Errno::NOTDIR, from_link));
                }
                self.at.pop();
                last = None;
                if ends_text && bound && !self.is_inside(&self.at) {
                    return Err(Stop::Refused(FileRefusal::OutsideRoot));
                }
                continue;
            }
            let named = self.at.join(&component);
            if ends_text && bound && !self.is_inside(&named) {
                return Err(Stop::Refused(FileRefusal::OutsideRoot));
            }
            let stat = match rustix::fs::lstat(&named) {
                Ok(stat) => stat,
                Err(error) => return Err(self.absent(&named, error, from_link)),
            };
            if DirectoryEntryKind::from(super::fingerprint::file_type(&stat))
                == DirectoryEntryKind::Link
            {
                self.follow(&named)?;
                last = None;
            } else {
                self.at = named;
                last = Some(stat);
            }
        }
        let stat = match last {
            Some(stat) => stat,
            None => rustix::fs::lstat(&self.at).map_err(Stop::Io)?,
        };
        if *self.links != LinkPolicy::Anywhere && !self.is_inside(&self.at) {
            return Err(Stop::Refused(FileRefusal::OutsideRoot));
        }
        Ok(NameEnd {
            fingerprint: Fingerprint::from(&stat),
            kind: super::fingerprint::file_type(&stat).into(),
            path: self.at,
            links: self.followed,
        })
    }

    fn follow(&mut self, link: &Path) -> Result<(), Stop> {
        let lies_inside = self.is_inside(link);
        let is_the_file = self.texts.iter().all(|text| text.rest.is_empty());
        match self.links {
            LinkPolicy::Refuse => return Err(Stop::Refused(FileRefusal::LinkNotAllowed)),
            LinkPolicy::NotTheFile if is_the_file => {
                return Err(Stop::Refused(FileRefusal::LinkNotAllowed));
            }
            LinkPolicy::NotTheFile
            | LinkPolicy::EveryHopInside
            | LinkPolicy::EndInside
            | LinkPolicy::TrustedRoots(_)
            | LinkPolicy::Anywhere => {}
        }
        self.followed += 1;
        if self.followed > MAX_LINKS {
            return Err(Stop::Refused(FileRefusal::Loop));
        }
        let text = match rustix::fs::readlink(link, Vec::new()) {
            Ok(text) => PathBuf::from(OsString::from_vec(text.into_bytes())),
            Err(error) => return Err(self.absent(link, error, true)),
        };
        if text.is_absolute() {
            self.at = PathBuf::from("/");
        }
        let every_hop = matches!(
            self.links,
            LinkPolicy::EveryHopInside | LinkPolicy::TrustedRoots(_)
        );
        self.texts.push(Text {
            rest: components(&text),
            from_link: true,
            bound: every_hop && lies_inside,
        });
        if text.is_absolute() && components(&text).is_empty() && every_hop && lies_inside {
            // A link to `/` names the root of everything and has no component that the loop would judge.
            return Err(Stop::Refused(FileRefusal::OutsideRoot));
        }
        Ok(())
    }

    /// Judges a component that cannot be looked at.
    fn absent(&self, named: &Path, error: Errno, from_link: bool) -> Stop {
        let gone = matches!(error, Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG);
        let hidden_outside =
            error == Errno::ACCESS && !self.is_inside(named.parent().unwrap_or(named));
        if !gone && !hidden_outside {
            return Stop::Io(error);
        }
        if !from_link {
            return if gone {
                Stop::Missing
            } else {
                Stop::Refused(FileRefusal::OutsideRoot)
            };
        }
        // The rest of the link's text is taken literally: whether something is there outside is nobody's business.
        let mut literal = crate::normalized(named);
        if let Some(text) = self.texts.last() {
            for component in &text.rest {
                if component == ".." {
                    literal.pop();
                } else {
                    literal.push(component);
                }
            }
        }
        Stop::Refused(
            if self.is_inside(&literal) || *self.links == LinkPolicy::Anywhere {
                FileRefusal::Dangling
            } else {
                FileRefusal::OutsideRoot
            },
        )
    }

    fn is_inside(&self, path: &Path) -> bool {
        path.starts_with(self.root) || self.trusted.iter().any(|root| path.starts_with(root))
    }
}

fn is_no_directory(stat: &Stat) -> bool {
    DirectoryEntryKind::from(super::fingerprint::file_type(stat)) != DirectoryEntryKind::Directory
}

/// Splits a path at its separators; `.` says nothing and is dropped, `..` stays for the walk to take physically.
fn components(path: &Path) -> VecDeque<OsString> {
    path.components()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some(OsStr::new("..").to_owned()),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
        })
        .collect()
}
