//! Which files of a project go into a layer (rules P11, P25, P26).

use super::options::LinkMode;
use super::refusal;
use crate::archive::{SeenPaths, check_path};
use crate::compat::IGNORE_FILE;
use crate::error::{ErrorClass, PackError};
use chitin_guard::{DirectoryEntryKind, Fingerprint, LinkPolicy, ReadPolicy, Root, SurveyEntry};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::path::{Path, PathBuf};

/// Never packed, wherever they stand.
const ALWAYS_IGNORED: [&str; 3] = [".git", ".stax", "node_modules"];
/// What other tools keep their history in; source snapshots leave it out.
pub(super) const HISTORY: [&str; 7] = [".git", ".hg", ".svn", ".jj", ".bzr", "CVS", "_darcs"];
/// Readers stop at this many entries, directories among them.
const MAX_ENTRIES: usize = 200_000;
/// Deeper trees are nobody's.
const MAX_DEPTH: usize = 128;
const MAX_IGNORE_BYTES: u64 = crate::layer::MB;

/// How a tree is looked at.
#[derive(Debug, Clone, Default)]
pub(crate) struct TreeOptions {
    /// Real paths of directories that hold what builds make.
    pub(crate) outputs: Vec<PathBuf>,
    /// Further names that are never packed, wherever they stand.
    pub(crate) never: &'static [&'static str],
}

/// A project's files, as far as they may be packed.
#[derive(Debug)]
pub(crate) struct Tree<'r> {
    root: &'r Root,
    ignored: Gitignore,
    options: TreeOptions,
}

/// One file that goes into a layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LayerSource {
    /// Its path in the layer.
    pub(crate) path: String,
    /// Its path beneath the root that it is opened from; no component is a link.
    pub(crate) place: PathBuf,
    /// What it was when it was looked at.
    pub(crate) fingerprint: Fingerprint,
}

/// What a directory gave.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    /// The files, sorted by the bytes of their paths.
    pub(crate) files: Vec<LayerSource>,
    /// The directories directly in it, and whether something in them was left out.
    pub(crate) tops: Vec<(String, LeftOut)>,
    /// Names that are never packed and were met, by their paths in the project.
    pub(crate) never: Vec<String>,
}

impl Collected {
    /// Puts the files into the order of archives.
    pub(crate) fn sort(&mut self) {
        self.files
            .sort_unstable_by(|a, b| a.path.as_bytes().cmp(b.path.as_bytes()));
    }
}

/// Whether a directory lost something to the patterns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeftOut {
    /// All of it was looked at.
    Nothing,
    /// Patterns left something out.
    Something,
}

/// What stands at a path.
enum Step<'s> {
    File(&'s SurveyEntry),
    Link,
    Special,
    Directory,
    Ignored,
    Never,
}

impl<'r> Tree<'r> {
    /// Opens a project's tree: reads its ignore file, nothing else.
    pub(crate) fn new(root: &'r Root, options: &TreeOptions) -> Result<Self, PackError> {
        Ok(Self {
            root,
            ignored: patterns(root)?,
            options: options.clone(),
        })
    }

    /// Looks at a directory outside the project in the same way. The project's patterns say nothing about it.
    pub(crate) fn beside<'o>(&self, root: &'o Root) -> Tree<'o> {
        Tree {
            root,
            ignored: Gitignore::empty(),
            options: self.options.clone(),
        }
    }

    /// Tells whether patterns or names leave a path out.
    pub(crate) fn leaves_out(&self, path: &Path, kind: DirectoryEntryKind) -> bool {
        let is_directory = kind == DirectoryEntryKind::Directory;
        path.iter().any(|name| self.is_never(name))
            || self.is_output(path)
            || self
                .ignored
                .matched_path_or_any_parents(path, is_directory)
                .is_ignore()
    }

    /// Collects the files beneath a directory for a layer; the first thing that cannot be packed is an error.
    pub(crate) fn collect(
        &self,
        directory: &Path,
        links: LinkMode,
    ) -> Result<Collected, PackError> {
        let mut collected = Collected::default();
        self.walk(directory, &mut |place, path, step| {
            match step {
                Step::File(looked) => collected.files.push(plain(place, path, looked)?),
                Step::Link => collected.files.push(self.flatten(place, path, links)?),
                Step::Special => return Err(special(place)),
                Step::Directory if !path.contains('/') => {
                    collected.tops.push((path.to_owned(), LeftOut::Nothing));
                }
                Step::Directory => {}
                Step::Ignored => {
                    let top = path.split('/').next().unwrap_or_default();
                    if let Some((name, left_out)) = collected.tops.last_mut()
                        && name == top
                    {
                        *left_out = LeftOut::Something;
                    }
                }
                Step::Never => collected.never.push(place.display().to_string()),
            }
            Ok(())
        })?;
        collected.sort();
        let mut seen = SeenPaths::default();
        for file in &collected.files {
            check_path(&file.path)?;
            seen.add(&file.path)?;
        }
        Ok(collected)
    }

    /// Takes one name at the root for a layer, under the path that it has there.
    pub(crate) fn one(
        &self,
        looked: &SurveyEntry,
        path: &str,
        links: LinkMode,
    ) -> Result<LayerSource, PackError> {
        let place = Path::new(&looked.name);
        match looked.kind {
            DirectoryEntryKind::File => plain(place, path, looked),
            DirectoryEntryKind::Link => self.flatten(place, path, links),
            DirectoryEntryKind::Other => Err(special(place)),
            DirectoryEntryKind::Directory => {
                let message = format!("`{}` is a directory", place.display());
                Err(PackError::new(ErrorClass::WrongPathType, message))
            }
        }
    }

    /// Returns the links beneath a directory by their paths in the project, sorted.
    pub(crate) fn links(&self, directory: &Path) -> Result<Vec<String>, PackError> {
        let mut links = Vec::new();
        self.walk(directory, &mut |place, _, step| {
            if matches!(step, Step::Link) {
                links.push(place.display().to_string());
            }
            Ok(())
        })?;
        links.sort_unstable();
        Ok(links)
    }

    /// Shows everything beneath a directory, parents first, names in order, so that the first error is always the same.
    fn walk(
        &self,
        directory: &Path,
        visit: &mut dyn FnMut(&Path, &str, Step<'_>) -> Result<(), PackError>,
    ) -> Result<(), PackError> {
        if !directory.as_os_str().is_empty()
            && self.leaves_out(directory, DirectoryEntryKind::Directory)
        {
            return Ok(());
        }
        let mut open = vec![(directory.to_path_buf(), String::new(), 0)];
        let mut count = 0;
        while let Some((directory, prefix, depth)) = open.pop() {
            if let Some(path) = prefix.strip_suffix('/') {
                visit(&directory, path, Step::Directory)?;
            }
            let mut entries = self
                .root
                .survey(&directory, MAX_ENTRIES)
                .map_err(refusal::of)?;
            entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
            count += entries.len();
            if count > MAX_ENTRIES || depth > MAX_DEPTH {
                let message = format!("`{}` holds too much", directory.display());
                return Err(PackError::new(ErrorClass::LayerTooLarge, message));
            }
            let mut below = Vec::new();
            for entry in entries {
                let place = directory.join(&entry.name);
                if self.is_never(&entry.name) {
                    let path = format!("{prefix}{}", entry.name.to_string_lossy());
                    let step = if ALWAYS_IGNORED.iter().any(|name| entry.name == **name) {
                        Step::Ignored
                    } else {
                        Step::Never
                    };
                    visit(&place, &path, step)?;
                    continue;
                }
                let is_directory = entry.kind == DirectoryEntryKind::Directory;
                if self.is_output(&place) || self.ignored.matched(&place, is_directory).is_ignore()
                {
                    let path = format!("{prefix}{}", entry.name.to_string_lossy());
                    visit(&place, &path, Step::Ignored)?;
                    continue;
                }
                let Some(name) = entry.name.to_str() else {
                    let message = format!("the name of `{}` is not UTF-8", place.display());
                    return Err(PackError::new(ErrorClass::InvalidUtf8, message)
                        .hint("rename it, or leave it out with `.staxignore`"));
                };
                let path = format!("{prefix}{name}");
                match entry.kind {
                    DirectoryEntryKind::File => visit(&place, &path, Step::File(&entry))?,
                    DirectoryEntryKind::Link => visit(&place, &path, Step::Link)?,
                    DirectoryEntryKind::Other => visit(&place, &path, Step::Special)?,
                    DirectoryEntryKind::Directory => below.push((place, path)),
                }
            }
            // Taken from the end: the last one pushed is the first one looked at.
            open.extend(
                below
                    .into_iter()
                    .rev()
                    .map(|(place, path)| (place, path + "/", depth + 1)),
            );
        }
        Ok(())
    }

    /// Finds the file that a link stands for, which must be one that could be packed itself.
    fn flatten(&self, place: &Path, path: &str, links: LinkMode) -> Result<LayerSource, PackError> {
        let shown = place.display();
        if links == LinkMode::Refuse {
            let message = format!("`{shown}` is a link");
            return Err(PackError::new(ErrorClass::Symlink, message)
                .hint("copy the file, or flatten links where the format allows it"));
        }
        let end = self
            .root
            .walk(place, &LinkPolicy::EndInside)
            .map_err(refusal::of_link)?;
        match end.kind {
            DirectoryEntryKind::File => {}
            DirectoryEntryKind::Directory => {
                let message = format!("`{shown}` is a link to a directory");
                return Err(PackError::new(ErrorClass::SymlinkToDirectory, message));
            }
            DirectoryEntryKind::Link | DirectoryEntryKind::Other => {
                let message = format!("`{shown}` leads to something that is no file");
                return Err(PackError::new(ErrorClass::SpecialFile, message));
            }
        }
        let inside = end.path.strip_prefix(self.root.real_path());
        let inside = inside.unwrap_or(&end.path).to_path_buf();
        if self.leaves_out(&inside, DirectoryEntryKind::File) {
            let message = format!("`{shown}` leads to a file that is left out");
            return Err(PackError::new(ErrorClass::Symlink, message));
        }
        Ok(LayerSource {
            path: path.to_owned(),
            place: inside,
            fingerprint: end.fingerprint,
        })
    }

    fn is_never(&self, name: &std::ffi::OsStr) -> bool {
        let names = ALWAYS_IGNORED.iter().chain(self.options.never);
        names.into_iter().any(|never| name == *never)
    }

    fn is_output(&self, place: &Path) -> bool {
        !self.options.outputs.is_empty()
            && self
                .options
                .outputs
                .iter()
                .any(|output| self.root.real_path().join(place).starts_with(output))
    }
}

fn plain(place: &Path, path: &str, looked: &SurveyEntry) -> Result<LayerSource, PackError> {
    if looked.names > 1 {
        let message = format!("`{}` has a second name", place.display());
        return Err(PackError::new(ErrorClass::HardLink, message)
            .hint("replace the link by a copy of the file"));
    }
    Ok(LayerSource {
        path: path.to_owned(),
        place: place.to_path_buf(),
        fingerprint: looked.fingerprint,
    })
}

fn special(place: &Path) -> PackError {
    let message = format!("`{}` is neither a file nor a directory", place.display());
    PackError::new(ErrorClass::SpecialFile, message)
}

fn patterns(root: &Root) -> Result<Gitignore, PackError> {
    let bytes = match root.read(
        Path::new(IGNORE_FILE),
        &ReadPolicy::inside(MAX_IGNORE_BYTES),
    ) {
        Ok(read) => read.bytes,
        Err(error) if error.is_missing() => return Ok(Gitignore::empty()),
        Err(error) => return Err(refusal::of(error)),
    };
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        let message = format!("`{IGNORE_FILE}` is not UTF-8");
        PackError::new(ErrorClass::InvalidUtf8, message).caused_by(error)
    })?;
    let odd = |error: ignore::Error| {
        let message = format!("`{IGNORE_FILE}` holds a pattern that makes no sense");
        PackError::new(ErrorClass::InvalidField, message)
            .exiting(crate::error::ExitKind::Local)
            .caused_by(error)
    };
    let mut builder = GitignoreBuilder::new("");
    for line in text.trim_start_matches('\u{feff}').lines() {
        builder.add_line(None, line).map_err(odd)?;
    }
    builder.build().map_err(odd)
}
