//! Artifacts made by hand, and trees described whole.

use chitin_pack::Digest;
use chitin_pack::adapters::{OpenClawOptions, openclaw};
use chitin_pack::archive::{TarWriter, compress};
use chitin_pack::artifact::{Artifact, Manifest};
use chitin_pack::canonical;
use chitin_pack::compat::{AGENT, CONFIG, PACKAGE};
use chitin_pack::layer::{Format, LayerKind};
use chitin_pack::store::Store;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

/// A layer's kind and its bytes as they stand in the store.
pub(crate) type Layer = (LayerKind, Vec<u8>);

/// An artifact with these layers, for the OpenClaw adapter.
pub(crate) fn artifact(store: &Arc<Store>, layers: &[Layer]) -> Artifact {
    let digest = put(store, layers);
    store.artifact(&digest).unwrap()
}

/// A package with these layers.
pub(crate) fn package(store: &Arc<Store>, layers: &[Layer]) -> Artifact {
    let digest = put_as(PACKAGE, store, layers);
    store.artifact(&digest).unwrap()
}

/// Puts an agent into a store and returns its name.
pub(crate) fn put(store: &Arc<Store>, layers: &[Layer]) -> Digest {
    put_as(AGENT, store, layers)
}

fn put_as(artifact_type: &str, store: &Arc<Store>, layers: &[Layer]) -> Digest {
    let config = json!({
        "specVersion": "1.0.0",
        "kind": "agent",
        "name": "lamp-keeper",
        "version": "0.3.0",
        "description": "Keeps the lamp.",
        "adapter": openclaw(&OpenClawOptions::default()),
    });
    let manifest = Manifest {
        artifact_type: artifact_type.to_owned(),
        config: store
            .put(CONFIG, canonical::to_string(&config).as_bytes())
            .unwrap(),
        layers: layers
            .iter()
            .map(|(kind, bytes)| store.put(kind.media_type(), bytes).unwrap())
            .collect(),
        annotations: BTreeMap::new(),
        subject: None,
    };
    store.put_manifest(&manifest).unwrap().digest
}

/// A layer of files.
pub(crate) fn files(kind: LayerKind, files: &[(&str, &[u8])]) -> Layer {
    assert_eq!(kind.format(), Format::Tar);
    let mut files = files.to_vec();
    files.sort_by_key(|(path, _)| path.as_bytes());
    let mut tar = TarWriter::new(Vec::new());
    for (path, bytes) in files {
        let executable = path.ends_with(".sh");
        tar.file(path, executable, bytes.len() as u64, &mut { bytes })
            .unwrap();
    }
    (kind, gzip(&tar.finish().unwrap()))
}

/// A layer of one document.
pub(crate) fn document(kind: LayerKind, value: &Value) -> Layer {
    (kind, canonical::to_string(value).into_bytes())
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = compress(Vec::new());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

/// An entry of an archive, however odd.
#[derive(Debug, Clone)]
pub(crate) struct RawEntry {
    pub(crate) name: Vec<u8>,
    pub(crate) flag: u8,
    pub(crate) content: Vec<u8>,
}

impl RawEntry {
    pub(crate) fn file(name: impl Into<Vec<u8>>) -> Self {
        Self {
            name: name.into(),
            flag: b'0',
            content: b"x\n".to_vec(),
        }
    }

    pub(crate) fn odd(name: &str, flag: u8) -> Self {
        Self {
            name: name.into(),
            flag,
            content: Vec::new(),
        }
    }
}

/// Writes an archive that no writer of ours would.
pub(crate) fn raw_archive(entries: &[RawEntry]) -> Vec<u8> {
    let mut tar = Vec::new();
    for entry in entries {
        let mut header = [0_u8; 512];
        let mut put = |at: usize, text: &[u8]| header[at..at + text.len()].copy_from_slice(text);
        put(0, &entry.name[..entry.name.len().min(100)]);
        put(100, b"0000644\0");
        put(108, b"0000000\0");
        put(116, b"0000000\0");
        put(124, format!("{:011o}\0", entry.content.len()).as_bytes());
        put(136, b"00000000000\0");
        put(148, b"        ");
        put(156, &[entry.flag]);
        put(157, b"/etc/passwd");
        put(257, b"ustar\x0000");
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        tar.extend(header);
        tar.extend(&entry.content);
        tar.resize(tar.len().div_ceil(512) * 512, 0);
    }
    tar.resize(tar.len() + 1024, 0);
    tar
}

/// What stands under a name: kind and permission bits, number, and content or target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) mode: u32,
    pub(crate) inode: u64,
    pub(crate) content: Vec<u8>,
}

/// Describes everything below a directory. FIFOs are not opened.
pub(crate) fn listing(root: &Path) -> BTreeMap<String, Seen> {
    let mut found = BTreeMap::new();
    collect(root, "", &mut found);
    found
}

fn collect(directory: &Path, prefix: &str, found: &mut BTreeMap<String, Seen>) {
    let Ok(entries) = fs::read_dir(directory) else {
        return;
    };
    for entry in entries {
        let entry = entry.unwrap();
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let stat = fs::symlink_metadata(entry.path()).unwrap();
        let content = if stat.is_file() {
            fs::read(entry.path()).unwrap()
        } else if stat.is_symlink() {
            fs::read_link(entry.path())
                .unwrap()
                .into_os_string()
                .into_encoded_bytes()
        } else {
            Vec::new()
        };
        if stat.is_dir() {
            collect(&entry.path(), &format!("{path}/"), found);
        }
        let seen = Seen {
            mode: stat.mode(),
            inode: stat.ino(),
            content,
        };
        found.insert(path, seen);
    }
}

/// The contents of the plain files below a directory.
pub(crate) fn contents(root: &Path) -> BTreeMap<String, String> {
    listing(root)
        .into_iter()
        .filter(|(_, seen)| seen.mode & 0o170_000 == 0o100_000)
        .map(|(path, seen)| (path, String::from_utf8_lossy(&seen.content).into_owned()))
        .collect()
}
