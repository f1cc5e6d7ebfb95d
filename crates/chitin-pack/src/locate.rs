//! What a person types to mean an artifact, and where that is.
//!
//! The first line that fits decides:
//!
//! | typed | meant |
//! |---|---|
//! | `sha256:…`, `name@sha256:…` | a manifest of the local store |
//! | `oci://host/repository:tag` | a registry |
//! | `./x`, `../x`, `/x`, `.` with or without `:tag` | a directory or an archive |
//! | `x.tar`, `x.tar:tag` | an archive |
//! | `host/repository:tag`, where the host has a dot, a colon, or is `localhost` | a registry, whatever lies around here |
//! | `x`, `x:tag`, where the directory `x` holds an artifact | that directory |
//! | `name`, `name:version` | a name of the local store |
//!
//! No host is ever assumed: a reference without one is a name of the local store.

use crate::artifact::Descriptor;
use crate::digest::Digest;
use crate::error::{ErrorClass, PackError};
use crate::reference::Reference;
use crate::store::Store;
use chitin_guard::{DirectoryEntryKind, Root};
use std::path::{Path, PathBuf};

/// Longer texts mean nothing.
const MAX_TEXT: usize = 4096;
const ARCHIVE: &str = ".tar";
const SCHEME: &str = "oci://";

/// Where an artifact is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LocatedArtifact {
    /// A directory that holds an OCI layout, or a manifest beside its blobs.
    Layout(PathBuf, Option<String>),
    /// An OCI layout in one archive.
    Archive(PathBuf, Option<String>),
    /// The local store, by name.
    Stored(String),
    /// The local store, by digest.
    Digest(Digest),
    /// A registry.
    Remote(Reference),
}

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathKind {
    /// A directory with an artifact in it.
    Artifact,
    /// Some other directory.
    Directory,
    /// A file.
    File,
}

/// Looks at paths, for [`locate`]. Implemented by [`OnDisk`], and by maps in tests.
pub trait PathProbe {
    /// Tells what is at a path; `None` when there is nothing.
    fn look(&self, path: &Path) -> Option<PathKind>;
}

/// The disk, seen from a directory.
#[derive(Debug, Clone)]
pub struct OnDisk {
    /// The directory that relative paths begin at.
    pub base: PathBuf,
}

impl PathProbe for OnDisk {
    fn look(&self, path: &Path) -> Option<PathKind> {
        let path = self.base.join(path);
        if let Ok(root) = Root::open(&path) {
            let is_file = |name: &str| root.kind(Path::new(name)) == Some(DirectoryEntryKind::File);
            return Some(if is_file("oci-layout") || is_file("manifest.json") {
                PathKind::Artifact
            } else {
                PathKind::Directory
            });
        }
        let parent = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        let root = Root::open(parent.unwrap_or(Path::new("."))).ok()?;
        root.kind(Path::new(path.file_name()?))
            .map(|_| PathKind::File)
    }
}

/// Finds out what a text means.
pub fn locate(text: &str, places: &dyn PathProbe) -> Result<LocatedArtifact, PackError> {
    if text.is_empty() {
        let message = "the name of the artifact is empty";
        return Err(PackError::new(ErrorClass::EmptyReference, message));
    }
    if text.len() > MAX_TEXT || text.contains('\0') {
        let message = "this is not the name of an artifact";
        return Err(PackError::new(ErrorClass::InvalidReference, message));
    }
    if text.starts_with("sha256:") {
        return text.parse().map(LocatedArtifact::Digest);
    }
    if let Some(reference) = text.strip_prefix(SCHEME) {
        let reference: Reference = reference.parse()?;
        reference.host()?;
        return Ok(LocatedArtifact::Remote(reference));
    }
    let is_path = ["./", "../", "/"]
        .iter()
        .any(|start| text.starts_with(start));
    if is_path || matches!(text, "." | "..") {
        return path(text, places);
    }
    let (name, _) = split_tag(text);
    if text.ends_with(ARCHIVE) || name.ends_with(ARCHIVE) {
        return path(text, places);
    }
    let reference = text.parse::<Reference>();
    match &reference {
        Ok(found) if found.registry.is_some() => return reference.map(LocatedArtifact::Remote),
        _ => {}
    }
    for (name, tag) in [(text, None), split_tag(text)] {
        if places.look(Path::new(name)) == Some(PathKind::Artifact) {
            return Ok(LocatedArtifact::Layout(name.into(), tag.map(str::to_owned)));
        }
    }
    let reference = reference?;
    Ok(match reference.digest {
        Some(digest) => LocatedArtifact::Digest(digest),
        None => LocatedArtifact::Stored(text.to_owned()),
    })
}

/// A path, with or without a tag. A name that holds a colon of its own is that name, if it is there.
fn path(text: &str, places: &dyn PathProbe) -> Result<LocatedArtifact, PackError> {
    for (name, tag) in [(text, None), split_tag(text)] {
        let tag = tag.map(str::to_owned);
        match places.look(Path::new(name)) {
            Some(PathKind::Artifact) => return Ok(LocatedArtifact::Layout(name.into(), tag)),
            Some(PathKind::File) => return Ok(LocatedArtifact::Archive(name.into(), tag)),
            Some(PathKind::Directory) => {
                let message = format!("the directory `{name}` holds no artifact");
                return Err(PackError::new(ErrorClass::MissingManifest, message)
                    .hint("name a directory that `chitin pack --output` wrote"));
            }
            None => {}
        }
    }
    let message = format!("there is nothing at `{}`", text.escape_debug());
    Err(PackError::new(ErrorClass::MissingManifest, message))
}

/// Splits at the last colon of the last part.
fn split_tag(text: &str) -> (&str, Option<&str>) {
    match text.rsplit_once(':') {
        Some((name, tag)) if !name.is_empty() && !tag.is_empty() && !tag.contains('/') => {
            (name, Some(tag))
        }
        _ => (text, None),
    }
}

/// Finds a name in the store: as it is, else with `:latest`, else the only version that there is.
pub fn find_stored(store: &Store, name: &str) -> Result<Descriptor, PackError> {
    let tags = store.tags()?;
    let exact = |wanted: &str| tags.iter().find(|tag| tag.name == wanted);
    let latest = format!("{name}:{}", crate::reference::DEFAULT_TAG);
    if let Some(found) = exact(name).or_else(|| exact(&latest)) {
        return Ok(found.manifest.clone());
    }
    let start = format!("{name}:");
    let versions: Vec<_> = tags
        .iter()
        .filter(|tag| tag.name.starts_with(&start))
        .collect();
    match versions.as_slice() {
        [only] => Ok(only.manifest.clone()),
        [] => {
            let known = tags.iter().map(|tag| tag.name.as_str());
            let near = chitin_protocol::nearest::nearest(name, known);
            let message = format!("the store has no `{}`", name.escape_debug());
            let error = PackError::new(ErrorClass::MissingManifest, message);
            Err(match near {
                Some(near) => error.hint(format!("did you mean `{near}`?")),
                None => error.hint("pack it, pull it, or write the host of its registry"),
            })
        }
        several => {
            let message = format!("the store has several versions of `{name}`");
            let names = several.iter().map(|tag| tag.name.as_str());
            Err(PackError::new(ErrorClass::MissingManifest, message)
                .about(names)
                .hint("write the version after a colon"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    struct Known(BTreeMap<&'static str, PathKind>);

    impl PathProbe for Known {
        fn look(&self, path: &Path) -> Option<PathKind> {
            self.0.get(path.to_str()?).copied()
        }
    }

    fn here() -> Known {
        Known(BTreeMap::from([
            ("out", PathKind::Artifact),
            ("./out", PathKind::Artifact),
            ("/abs/out", PathKind::Artifact),
            ("reg.example/team", PathKind::Artifact),
            ("harbor", PathKind::Directory),
            ("./harbor", PathKind::Directory),
            ("a.tar", PathKind::File),
            ("./odd:name", PathKind::Artifact),
            ("./file", PathKind::File),
        ]))
    }

    #[test]
    fn each_form_means_one_thing() {
        let digest = Digest::of(b"x");
        let layout = |path: &str, tag: Option<&str>| {
            LocatedArtifact::Layout(path.into(), tag.map(str::to_owned))
        };
        let archive = |path: &str, tag: Option<&str>| {
            LocatedArtifact::Archive(path.into(), tag.map(str::to_owned))
        };
        let remote = |text: &str| LocatedArtifact::Remote(text.parse().unwrap());
        for (text, expected) in [
            (digest.to_string().as_str(), LocatedArtifact::Digest(digest)),
            (&format!("harbor@{digest}"), LocatedArtifact::Digest(digest)),
            ("./out", layout("./out", None)),
            ("./out:1.0.0", layout("./out", Some("1.0.0"))),
            ("/abs/out:a", layout("/abs/out", Some("a"))),
            ("./odd:name", layout("./odd:name", None)),
            ("./file", archive("./file", None)),
            ("out", layout("out", None)),
            ("out:1.0.0", layout("out", Some("1.0.0"))),
            ("a.tar", archive("a.tar", None)),
            ("a.tar:1.0.0", archive("a.tar", Some("1.0.0"))),
            ("oci://reg.example/t/a:1", remote("reg.example/t/a:1")),
            ("reg.example/team:1", remote("reg.example/team:1")),
            ("reg.example/team", remote("reg.example/team")),
            ("localhost:5000/a", remote("localhost:5000/a")),
            // A workspace of that name is no artifact.
            ("harbor", LocatedArtifact::Stored("harbor".into())),
            (
                "harbor:1.0.0",
                LocatedArtifact::Stored("harbor:1.0.0".into()),
            ),
            (
                "team/harbor:1",
                LocatedArtifact::Stored("team/harbor:1".into()),
            ),
        ] {
            assert_eq!(locate(text, &here()).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_not_there_is_said() {
        for (text, class) in [
            ("", ErrorClass::EmptyReference),
            ("sha256:00", ErrorClass::InvalidReference),
            ("./nothing", ErrorClass::MissingManifest),
            ("./harbor", ErrorClass::MissingManifest),
            ("b.tar", ErrorClass::MissingManifest),
            ("oci://team/a", ErrorClass::MissingHost),
            ("a b", ErrorClass::InvalidReference),
        ] {
            assert_eq!(locate(text, &here()).unwrap_err().class(), class, "{text}");
        }
    }

    proptest! {
        #[test]
        fn nothing_without_a_host_ever_means_a_registry(text in "[a-z0-9:/@_-]{0,30}") {
            if let Ok(LocatedArtifact::Remote(reference)) = locate(&text, &here()) {
                prop_assert!(reference.registry.is_some());
            }
        }
    }
}
