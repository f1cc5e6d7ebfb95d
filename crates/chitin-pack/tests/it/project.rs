//! A project for builds, and what they packed of it.

use chitin_pack::archive::ArchiveEntryKind;
use chitin_pack::artifact::Artifact;
use chitin_pack::build::{BuildOptions, Built, build};
use chitin_pack::definition::Definition;
use chitin_pack::layer::LayerKind;
use chitin_pack::store::Store;
use chitin_pack::{ErrorClass, PackError};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// Paths and texts.
pub(crate) type Files = BTreeMap<String, String>;

pub(crate) fn files(files: &[(&str, &str)]) -> Files {
    files
        .iter()
        .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
        .collect()
}

/// A project, and a store beside it.
pub(crate) struct Project {
    directory: TempDir,
    pub(crate) store: Arc<Store>,
}

impl Project {
    pub(crate) fn new(files: Files) -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("project")).unwrap();
        let store = Arc::new(Store::create(&directory.path().join("oci")).unwrap());
        let project = Self { directory, store };
        for (path, text) in files {
            project.write(&path, &text);
        }
        project
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("project")
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn link(&self, path: &str, target: &str) {
        symlink(target, self.path().join(path)).unwrap();
    }

    /// Waits until nothing was changed just now.
    pub(crate) fn settle() {
        // The clock that files get their times from ticks a few hundred times a second.
        std::thread::sleep(Duration::from_millis(25));
    }

    pub(crate) fn build(&self, paths: Value, options: &BuildOptions) -> Result<Built, PackError> {
        let mut definition = json!({
            "name": "harbor-pilot", "version": "1.2.0", "description": "Guides ships.",
            "adapter": { "use": "openclaw" },
        });
        if let (Value::Object(definition), Value::Object(paths)) = (&mut definition, paths) {
            definition.extend(paths);
        }
        build(
            &self.path(),
            &Definition::parse(&definition).unwrap(),
            options,
            &self.store,
        )
    }

    pub(crate) fn artifact(&self, built: &Built) -> Artifact {
        self.store.artifact(&built.manifest.digest).unwrap()
    }

    pub(crate) fn refused(&self, paths: Value, options: &BuildOptions) -> ErrorClass {
        self.build(paths, options).unwrap_err().class()
    }
}

/// The files of a layer, with a `*` behind those that may be run.
pub(crate) fn contents(artifact: &Artifact, kind: LayerKind) -> Files {
    let mut found = Files::new();
    artifact
        .files(kind, u64::MAX, |entry, content| {
            if let ArchiveEntryKind::File { executable, .. } = entry.kind {
                let mut text = String::new();
                content.read_to_string(&mut text).unwrap();
                let mark = if executable { "*" } else { "" };
                found.insert(format!("{}{mark}", entry.path), text);
            }
            Ok(())
        })
        .unwrap();
    found
}
