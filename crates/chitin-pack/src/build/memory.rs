//! What the last build of a project read, so that the next one need not.
//!
//! A layer is the same when its files are: same paths, same fingerprints. A fingerprint alone does not prove that: a file
//! may be written twice within one tick of the clock, before and after it was read. So each layer remembers what time it was
//! on the store's file system just before its files were looked at, and only files that changed before that are believed.
//! File systems of one machine take their times from one clock. A share with a clock of its own that runs behind could hide
//! a change made in the very tick after a file was read; [`Reuse::Nothing`] reads everything.

use super::options::{BuildOptions, BuiltLayer, Reuse};
use super::tree::LayerSource;
use super::write;
use crate::artifact::Descriptor;
use crate::canonical;
use crate::digest::{Digest, Hashing};
use crate::error::PackError;
use crate::layer::LayerKind;
use crate::store::Store;
use chitin_guard::{Fingerprint, Root};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;

/// Changes when the bytes of a layer would: notes of other versions are not read.
const VERSION: &str = concat!("2 ", env!("CARGO_PKG_VERSION"));

/// Which kind of build left a note.
#[derive(Debug, Clone, Copy)]
pub(super) enum Purpose {
    Project,
    Workspace,
    Source,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Record {
    version: String,
    layers: BTreeMap<String, Remembered>,
    #[serde(default)]
    links: Option<RememberedLinks>,
}

/// Where the links of texts lead, so that texts that did not change need not be read for them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct RememberedLinks {
    /// Names everything that was known about the texts, and about the files that their links lead to.
    sources: Digest,
    stamp: (i64, i64),
    targets: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Remembered {
    /// Names everything that was known about the files.
    sources: Digest,
    /// When they were looked at.
    stamp: (i64, i64),
    blob: Digest,
    size: u64,
    tar: Option<(Digest, u64)>,
}

/// Makes layers, or takes them from the store.
#[derive(Debug)]
pub(super) struct Layers<'b> {
    store: &'b Store,
    options: &'b BuildOptions,
    name: String,
    stamp: Option<(i64, i64)>,
    before: Record,
    now: Record,
    pub(super) built: Vec<BuiltLayer>,
    pub(super) reused: usize,
}

impl<'b> Layers<'b> {
    /// Begins a build. Nothing of the project may have been looked at yet.
    pub(super) fn begin(
        store: &'b Store,
        root: &Root,
        purpose: Purpose,
        options: &'b BuildOptions,
    ) -> Self {
        let purpose = format!("{purpose:?}\0");
        let place = root.real_path().as_os_str().as_bytes();
        let name = Digest::of(&[purpose.as_bytes(), place].concat()).hex();
        let before = store
            .record(&name)
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .filter(|record: &Record| record.version == VERSION)
            .unwrap_or_default();
        Self {
            stamp: store.stamp(),
            store,
            options,
            name,
            before,
            now: Record {
                version: VERSION.to_owned(),
                layers: BTreeMap::new(),
                links: None,
            },
            built: Vec::new(),
            reused: 0,
        }
    }

    /// Adds an archive layer.
    pub(super) fn archive(
        &mut self,
        root: &Root,
        kind: LayerKind,
        files: &[LayerSource],
    ) -> Result<(), PackError> {
        let (store, options) = (self.store, self.options);
        self.add(root, kind, files, || {
            write::tar(store, root, kind, files, options)
        })
    }

    /// Adds a layer that is one file.
    pub(super) fn document(
        &mut self,
        root: &Root,
        kind: LayerKind,
        file: &LayerSource,
    ) -> Result<(), PackError> {
        let (store, options) = (self.store, self.options);
        self.add(root, kind, std::slice::from_ref(file), || {
            write::document(store, root, kind, file, options)
        })
    }

    /// Returns where the links of texts lead, if neither they nor the files at the other end changed. `look` finds a file.
    pub(super) fn remembered_links(
        &self,
        root: &Root,
        texts: &[LayerSource],
        look: impl FnMut(&str) -> Option<LayerSource>,
    ) -> Option<Vec<String>> {
        let found = self.before.links.as_ref()?;
        let ends = found.targets.iter().map(String::as_str).filter_map(look);
        let files: Vec<LayerSource> = texts.iter().cloned().chain(ends).collect();
        let holds = self.options.reuse == Reuse::Unchanged
            && found.sources == digest(root, &files)
            && files
                .iter()
                .all(|file| file.fingerprint.ctime < found.stamp);
        holds.then(|| found.targets.clone())
    }

    /// Keeps where links lead, for the next build.
    pub(super) fn remember_links(
        &mut self,
        root: &Root,
        files: &[LayerSource],
        targets: Vec<String>,
    ) {
        let sources = digest(root, files);
        let before = self.before.links.as_ref();
        let is_same =
            |found: &&RememberedLinks| found.sources == sources && found.targets == targets;
        self.now.links = match before.filter(is_same) {
            Some(found) => Some(found.clone()),
            None => self.stamp.map(|stamp| RememberedLinks {
                sources,
                stamp,
                targets,
            }),
        };
    }

    /// Leaves a note for the next build, if it would say something new.
    pub(super) fn remember(&self) {
        if self.now != self.before {
            self.store
                .put_record(&self.name, canonical::of(&self.now).as_bytes());
        }
    }

    fn add(
        &mut self,
        root: &Root,
        kind: LayerKind,
        files: &[LayerSource],
        make: impl FnOnce() -> Result<BuiltLayer, PackError>,
    ) -> Result<(), PackError> {
        let sources = digest(root, files);
        if let Some((layer, remembered)) = self.find(kind, sources, files) {
            self.now.layers.insert(kind.name().to_owned(), remembered);
            self.built.push(layer);
            self.reused += 1;
            return Ok(());
        }
        let layer = make()?;
        if let Some(stamp) = self.stamp {
            let remembered = Remembered {
                sources,
                stamp,
                blob: layer.descriptor.digest,
                size: layer.descriptor.size,
                tar: layer.tar,
            };
            self.now.layers.insert(kind.name().to_owned(), remembered);
        }
        self.built.push(layer);
        Ok(())
    }

    fn find(
        &self,
        kind: LayerKind,
        sources: Digest,
        files: &[LayerSource],
    ) -> Option<(BuiltLayer, Remembered)> {
        if self.options.reuse == Reuse::Nothing {
            return None;
        }
        let found = self.before.layers.get(kind.name())?;
        let proven = |file: &LayerSource| file.fingerprint.ctime < found.stamp;
        let descriptor = Descriptor::new(kind.media_type(), found.blob, found.size);
        let size = found.tar.map_or(found.size, |(_, size)| size);
        let holds = found.sources == sources
            && files.iter().all(proven)
            && size <= self.options.limit(kind)
            && self.store.has_whole(&descriptor);
        holds.then(|| {
            let layer = BuiltLayer {
                kind,
                descriptor,
                tar: found.tar,
                files: files.len(),
                units: write::units(kind, files),
            };
            (layer, found.clone())
        })
    }
}

/// Names all that is known about files without opening them. Permissions need no place here: who changes them changes a
/// time that nobody can set back.
fn digest(root: &Root, files: &[LayerSource]) -> Digest {
    let mut hashing = Hashing::new(io::sink());
    let mut put = |bytes: &[u8]| {
        // Writing to a sink does not fail; the length keeps neighbours apart.
        let _ = hashing.write_all(&(bytes.len() as u64).to_le_bytes());
        let _ = hashing.write_all(bytes);
    };
    put(root.real_path().as_os_str().as_bytes());
    for file in files {
        put(file.path.as_bytes());
        put(file.place.as_os_str().as_bytes());
        put(&facts(&file.fingerprint));
    }
    hashing.finish().1
}

fn facts(fingerprint: &Fingerprint) -> [u8; 56] {
    let Fingerprint {
        dev,
        ino,
        size,
        mtime,
        ctime,
    } = fingerprint;
    let mut facts = [0; 56];
    let numbers = [
        dev.to_le_bytes(),
        ino.to_le_bytes(),
        size.to_le_bytes(),
        mtime.0.to_le_bytes(),
        mtime.1.to_le_bytes(),
        ctime.0.to_le_bytes(),
        ctime.1.to_le_bytes(),
    ];
    for (place, number) in facts.chunks_exact_mut(8).zip(numbers) {
        place.copy_from_slice(&number);
    }
    facts
}
