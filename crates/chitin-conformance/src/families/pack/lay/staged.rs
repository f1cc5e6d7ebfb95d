//! A directory of its own for each case: the project, the store, and the target among other things.
#![expect(
    clippy::disallowed_methods,
    reason = "cases damage artifacts on purpose, and look at what a tree holds afterwards"
)]

use super::super::files;
use anyhow::{Context, Result};
use chitin_pack::archive::compress;
use chitin_pack::artifact::{Artifact, Descriptor, Manifest};
use chitin_pack::build::{BuildOptions, build};
use chitin_pack::definition::Definition;
use chitin_pack::layer::LayerKind;
use chitin_pack::store::Store;
use chitin_pack::{Digest, ErrorClass, PackError};
use serde_json::{Map, Value};
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;

pub(super) struct Stage {
    directory: TempDir,
}

impl Stage {
    pub(super) fn new() -> Result<Self> {
        let directory = TempDir::with_prefix("lay-")?;
        fs::create_dir(directory.path().join("around"))?;
        Ok(Self { directory })
    }

    /// Where the artifact is laid out. Its parent holds nothing else.
    pub(super) fn target(&self) -> PathBuf {
        self.directory.path().join("around/out")
    }

    /// Describes what stands beside the target.
    pub(super) fn surroundings(&self) -> Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(self.directory.path().join("around"))? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if name != "out" {
                names.push(name);
            }
        }
        Ok(names)
    }

    /// Compares what stands in the target with what the case says; links that were there before do not count.
    pub(super) fn compare(&self, expected: &Value, existing: &Value) -> Result<Vec<String>> {
        let Some(expected) = expected.as_object() else {
            return Ok(Vec::new());
        };
        let mut found = match files::read(&self.target())? {
            Value::Object(found) => found,
            _ => Map::new(),
        };
        found.retain(|path, content| {
            content.get("symlink").is_none() || existing[path].get("symlink").is_none()
        });
        let mut differences = Vec::new();
        for (path, wanted) in expected {
            if found.remove(path).is_none() {
                differences.push(format!("`{path}` is missing\n"));
                continue;
            }
            let path = self.target().join(path);
            if fs::read(&path)? != files::content(wanted)? {
                let ours = fs::read(&path)?;
                let ours = String::from_utf8_lossy(&ours);
                differences.push(format!(
                    "{}: recorded {wanted}, ours {ours:?}\n",
                    path.display()
                ));
            }
            if let Some(mode) = wanted["mode"].as_str() {
                let ours = fs::metadata(&path)?.permissions().mode() & 0o111;
                let wanted = u32::from_str_radix(mode, 8)? & 0o111;
                if (ours != 0) != (wanted != 0) {
                    differences.push(format!("{}: mode {mode}, ours {ours:o}\n", path.display()));
                }
            }
        }
        for path in found.keys() {
            differences.push(format!("`{path}` is not recorded\n"));
        }
        Ok(differences)
    }

    /// Builds the artifact that a case describes, and damages it if the case says so.
    pub(super) fn artifact(&self, input: &Value) -> Result<Artifact, PackError> {
        let project = self.directory.path().join("project");
        fs::create_dir(&project).map_err(|error| broken(&error.into()))?;
        files::write(&project, &input["files"]).map_err(|error| broken(&error))?;
        let store = Arc::new(Store::create(&self.directory.path().join("store"))?);
        let definition = Definition::parse(&input["definition"])?;
        let built = build(&project, &definition, &BuildOptions::default(), &store)?;
        let manifest = Manifest::parse(&store.manifest_bytes(&built.manifest.digest)?)?;
        let digest = match input.get("tamper") {
            Some(tamper) => self
                .tamper(&store, manifest, &built.manifest.digest, tamper)
                .map_err(|error| broken(&error))?,
            None => built.manifest.digest,
        };
        store.artifact(&digest)
    }

    fn tamper(
        &self,
        store: &Store,
        mut manifest: Manifest,
        digest: &Digest,
        tamper: &Value,
    ) -> Result<Digest> {
        let named = tamper["layer"].as_str().unwrap_or_default();
        let at = manifest.layers.iter().position(|layer| {
            LayerKind::from_media_type(&layer.media_type).is_some_and(|kind| kind.name() == named)
        });
        match tamper["op"].as_str().unwrap_or_default() {
            "replace-blob-bytes" => {
                let layer = &manifest.layers[at.context("the layer to damage")?];
                fs::write(self.blob(&layer.digest), archive(&tamper["tar"])?)?;
                Ok(*digest)
            }
            "delete-blob" => {
                let gone = match at {
                    Some(at) => manifest.layers[at].digest,
                    None => manifest.config.digest,
                };
                fs::remove_file(self.blob(&gone))?;
                Ok(*digest)
            }
            "add-layer" => {
                let media_type = tamper["mediaType"].as_str().context("a media type")?;
                let bytes = match tamper.get("text").and_then(Value::as_str) {
                    Some(text) => text.as_bytes().to_vec(),
                    None => archive(&tamper["tar"])?,
                };
                manifest.layers.push(put(store, media_type, &bytes)?);
                Ok(store.put_manifest(&manifest)?.digest)
            }
            "replace-layer" => {
                let layer = &mut manifest.layers[at.context("the layer to replace")?];
                *layer = put(
                    store,
                    &layer.media_type.clone(),
                    &archive(&tamper["entries"])?,
                )?;
                Ok(store.put_manifest(&manifest)?.digest)
            }
            other => anyhow::bail!("an unknown way to damage: `{other}`"),
        }
    }

    fn blob(&self, digest: &Digest) -> PathBuf {
        self.directory
            .path()
            .join("store/blobs/sha256")
            .join(digest.hex())
    }
}

fn broken(error: &anyhow::Error) -> PackError {
    PackError::new(
        ErrorClass::Usage,
        format!("the case cannot be staged: {error:#}"),
    )
}

fn put(store: &Store, media_type: &str, bytes: &[u8]) -> Result<Descriptor> {
    Ok(store.put(media_type, bytes)?)
}

/// Writes an archive as the case describes it, however odd: pairs of path and text, or entries with type and link.
fn archive(entries: &Value) -> Result<Vec<u8>> {
    let mut tar = Vec::new();
    for entry in entries.as_array().into_iter().flatten() {
        let (name, content) = match entry.as_array() {
            Some(pair) => (pair[0].as_str(), files::content(&pair[1])?),
            None => (
                entry["name"].as_str(),
                entry["text"]
                    .as_str()
                    .unwrap_or_default()
                    .as_bytes()
                    .to_vec(),
            ),
        };
        let flag = entry["type"].as_str().and_then(|flag| flag.bytes().next());
        let link = entry["link"].as_str().unwrap_or_default();
        tar.extend(header(
            name.unwrap_or_default(),
            flag.unwrap_or(b'0'),
            link,
            content.len(),
        ));
        tar.extend(&content);
        tar.resize(tar.len().div_ceil(512) * 512, 0);
    }
    tar.resize(tar.len() + 1024, 0);
    let mut gzip = compress(Vec::new());
    gzip.write_all(&tar)?;
    Ok(gzip.finish()?)
}

fn header(name: &str, flag: u8, link: &str, size: usize) -> [u8; 512] {
    let mut header = [0; 512];
    let mut put = |at: usize, text: &[u8]| header[at..at + text.len()].copy_from_slice(text);
    put(0, &name.as_bytes()[..name.len().min(100)]);
    put(100, b"0000644\0");
    put(108, b"0000000\0");
    put(116, b"0000000\0");
    put(124, format!("{size:011o}\0").as_bytes());
    put(136, b"00000000000\0");
    put(148, b"        ");
    put(156, &[flag]);
    put(157, &link.as_bytes()[..link.len().min(100)]);
    put(257, b"ustar\x0000");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    header
}
