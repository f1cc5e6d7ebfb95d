//! Small artifacts for tests of the store.

use chitin_pack::archive::{TarWriter, compress};
use chitin_pack::artifact::{Descriptor, Manifest};
use chitin_pack::canonical;
use chitin_pack::compat::{AGENT, CONFIG, OCI_MANIFEST};
use chitin_pack::layer::LayerKind;
use chitin_pack::signatures::{PrivateKey, Signature, SignedName};
use chitin_pack::store::Store;
use chitin_pack::{Digest, PackError};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

pub(crate) const TIME: &str = "2026-01-31T12:00:00Z";

pub(crate) fn store_at(directory: &Path) -> Arc<Store> {
    Arc::new(Store::create(directory).unwrap())
}

/// Files as a compressed archive.
pub(crate) fn tar(files: &[(&str, &str)]) -> Vec<u8> {
    let mut files = files.to_vec();
    files.sort_unstable();
    let mut writer = TarWriter::new(compress(Vec::new()));
    for (path, text) in files {
        let executable = text.starts_with("#!");
        let size = text.len() as u64;
        writer
            .file(path, executable, size, &mut text.as_bytes())
            .unwrap();
    }
    writer.finish().unwrap().finish().unwrap()
}

/// Puts an artifact with these layers; it has no name yet.
pub(crate) fn put(
    store: &Store,
    artifact_type: &str,
    config: &Value,
    layers: &[(LayerKind, Vec<u8>)],
) -> Result<Descriptor, PackError> {
    let layers = layers.iter();
    let layers = layers.map(|(kind, bytes)| store.put(kind.media_type(), bytes));
    let manifest = Manifest {
        artifact_type: artifact_type.to_owned(),
        layers: layers.collect::<Result<_, _>>()?,
        config: store.put(CONFIG, canonical::to_string(config).as_bytes())?,
        annotations: BTreeMap::new(),
        subject: None,
    };
    store.put_manifest(&manifest)
}

/// Puts a small agent. Numbers that are equal modulo three share a layer.
pub(crate) fn agent(store: &Store, number: usize) -> Result<Descriptor, PackError> {
    let shared = format!("knowledge of {}", number % 3);
    let own = format!("rule of {number}");
    let config = json!({"name": format!("agent-{number}"), "version": "1.0.0"});
    let layers = [
        (LayerKind::Knowledge, tar(&[("k.md", &shared)])),
        (LayerKind::Rules, tar(&[("r.md", &own)])),
    ];
    put(store, AGENT, &config, &layers)
}

/// Signs an artifact that need not be there any more.
pub(crate) fn sign(store: &Store, subject: &Descriptor, key: &PrivateKey) -> Digest {
    let subject = Descriptor::new(OCI_MANIFEST, subject.digest, subject.size);
    let name = SignedName::parse("agent:1.0.0").unwrap();
    let signature = Signature::make(&subject, &name, key, "Ada", TIME).unwrap();
    signature.put(store).unwrap().digest
}
