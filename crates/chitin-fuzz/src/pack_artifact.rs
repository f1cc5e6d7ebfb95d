//! Artifacts as registries and archives give them: manifests, configs and blobs that may not be what they say, and signatures beside them.

use crate::recipe::Recipe;
use crate::records::any;
use crate::rpc::object;
use crate::{novelty, tar};
use chitin_pack::archive::compress;
use chitin_pack::artifact::{Artifact, Blobs, Descriptor, Manifest};
use chitin_pack::layer::LayerKind;
use chitin_pack::signatures::{
    PrivateKey, Requirement, Signature, SignatureCandidate, SignatureMode, SignatureStatus,
    SignedName, TrustedKey, UnboundSignatures, UsedName, subject_of, verify,
};
use chitin_pack::{Digest, ErrorClass, PackError, compat};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{Read, Write};
use std::sync::{Arc, OnceLock};

/// What manifests and configs are made of.
pub const DICTIONARY: &[&str] = &[
    "{\"schemaVersion\":2,\"mediaType\":\"application/vnd.oci.image.manifest.v1+json\",\"artifactType\":\"application/vnd.stax.agent.v1\",\"config\":{",
    "\"mediaType\":\"application/vnd.oci.empty.v1+json\"",
    "\"digest\":\"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a\"",
    "\"size\":2",
    "\"size\":18446744073709551615",
    "\"layers\":[]",
    "\"subject\":{",
    "\"annotations\":{\"org.opencontainers.image.title\":\"a\"}",
    "application/vnd.stax.signature.v1",
    "sha512:",
    "{}",
    "null",
];

const NAME: &str = "reg.example/team/agent";

/// Blobs by the names that they say they have.
#[derive(Debug, Default)]
struct Shelf(HashMap<Digest, Vec<u8>>);

impl Blobs for Shelf {
    fn open(&self, digest: &Digest) -> Result<Box<dyn Read + '_>, PackError> {
        match self.0.get(digest) {
            Some(bytes) => Ok(Box::new(bytes.as_slice())),
            None => Err(PackError::new(
                ErrorClass::NotFound,
                "there is no such blob",
            )),
        }
    }
}

impl Shelf {
    /// Puts a blob where its digest is, or puts something else there.
    fn put(&mut self, recipe: &mut Recipe<'_>, media_type: &str, bytes: Vec<u8>) -> Value {
        let descriptor = Descriptor::of(media_type, &bytes);
        let said = json!(descriptor);
        let bytes = match recipe.byte() {
            0..=9 => [bytes, b"more".to_vec()].concat(),
            10..=19 => bytes[..bytes.len() / 2].to_vec(),
            _ => bytes,
        };
        self.0.insert(descriptor.digest, bytes);
        match recipe.byte() {
            0..=9 => changed(said, "size", json!(u64::MAX)),
            10..=19 => changed(said, "size", any(recipe)),
            20..=29 => changed(said, "digest", any(recipe)),
            30..=39 => changed(
                said,
                "mediaType",
                json!(recipe.pick(&[compat::OCI_EMPTY, "", "text/plain"])),
            ),
            _ => said,
        }
    }
}

fn changed(mut value: Value, key: &str, to: Value) -> Value {
    value[key] = to;
    value
}

fn key() -> &'static PrivateKey {
    static KEY: OnceLock<PrivateKey> = OnceLock::new();
    // The same for every input, so that inputs mean the same tomorrow.
    KEY.get_or_init(|| {
        let text = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n-----END PRIVATE KEY-----\n";
        PrivateKey::from_pem(&text.into()).unwrap_or_else(|error| panic!("{error}"))
    })
}

/// Takes the input as a manifest, or, where it begins with a one, as choices for an artifact and its signatures.
pub fn run(data: &[u8]) {
    let Some((1, choices)) = data.split_first() else {
        return of_bytes(data);
    };
    let recipe = &mut Recipe::new(choices);
    let mut shelf = Shelf::default();
    let kinds = [
        compat::AGENT,
        compat::PACKAGE,
        compat::PROFILE,
        compat::SOURCE,
        compat::SIGNATURE,
    ];
    let kind = kinds[usize::from(recipe.byte()) % kinds.len()];
    let manifest = artifact(recipe, &mut shelf, kind);
    let bytes = manifest.to_string().into_bytes();
    let signatures: Vec<_> = (0..recipe.byte() % 4)
        .map(|_| signature(recipe, &mut shelf, &bytes))
        .collect();
    let blobs: Arc<dyn Blobs> = Arc::new(shelf);
    let Ok(artifact) = Artifact::open(Arc::clone(&blobs), bytes) else {
        return novelty::note("no artifact");
    };
    look(&artifact);
    let may_count = signatures.iter().any(|(_, may_count)| *may_count);
    let candidates: Vec<_> = signatures
        .into_iter()
        .map(|(bytes, _)| SignatureCandidate {
            digest: Digest::of(&bytes),
            found: Artifact::open(Arc::clone(&blobs), bytes),
        })
        .collect();
    judge(&artifact, &candidates, may_count);
}

fn of_bytes(data: &[u8]) {
    if let Ok(manifest) = Manifest::parse(data) {
        let again = Manifest::parse(&manifest.to_bytes()).expect("what was written can be read");
        assert_eq!(again, manifest, "a manifest is written otherwise");
        novelty::note((manifest.layers.len().min(4), manifest.subject.is_some()));
    }
    let mut shelf = Shelf::default();
    shelf.0.insert(Digest::of(b"{}"), b"{}".to_vec());
    shelf.0.insert(Digest::of(data), data.to_vec());
    if let Ok(artifact) = Artifact::open(Arc::new(shelf), data.to_vec()) {
        look(&artifact);
        judge(&artifact, &[], false);
    }
}

/// What is read was there under its name.
fn look(artifact: &Artifact) {
    novelty::note((artifact.layers().len().min(5), artifact.verify().is_ok()));
    for (kind, descriptor) in artifact.layers() {
        if let Ok(Some(bytes)) = artifact.document(*kind) {
            assert_eq!(
                Digest::of(&bytes),
                descriptor.digest,
                "other bytes than promised"
            );
            assert_eq!(
                bytes.len() as u64,
                descriptor.size,
                "another size than promised"
            );
        }
        let mut count = 0_u64;
        let read = artifact.files(*kind, 1 << 16, |_, content| {
            let mut bytes = Vec::new();
            let _ = content.read_to_end(&mut bytes);
            count += bytes.len() as u64;
            Ok(())
        });
        assert!(count <= 1 << 16, "more than the limit came out");
        novelty::note(read.is_ok());
        let _ = artifact.json(*kind);
    }
}

/// Only what the trusted key signed is verified.
fn judge(artifact: &Artifact, candidates: &[SignatureCandidate], may_count: bool) {
    let requirement = |keys: Vec<TrustedKey>, unbound| Requirement {
        mode: SignatureMode::Require,
        keys,
        unbound,
    };
    let trusted = TrustedKey {
        name: "release".to_owned(),
        key: key().public(),
    };
    let used = UsedName::of(&format!("{NAME}:1.0.0"));
    let subject = subject_of(artifact);
    let verdict = verify(
        &subject,
        used.as_ref(),
        candidates,
        &requirement(vec![trusted], UnboundSignatures::Refuse),
    );
    novelty::note(verdict.as_ref().err().map(PackError::class));
    if let Ok(verdict) = verdict {
        assert!(may_count, "a signature of something else counts");
        let mut statuses = verdict.signatures.iter().map(|checked| &checked.status);
        assert!(
            statuses.any(|status| matches!(status, SignatureStatus::Valid { .. })),
            "verified by nobody"
        );
    }
    let nobody = verify(
        &subject,
        used.as_ref(),
        candidates,
        &requirement(Vec::new(), UnboundSignatures::Accept),
    );
    assert!(nobody.is_err(), "verified without a key");
}

fn artifact(recipe: &mut Recipe<'_>, shelf: &mut Shelf, kind: &str) -> Value {
    let adapter = json!({"type": any(recipe), "runtime": any(recipe)});
    let members = [
        ("specVersion", json!("1.0.0")),
        ("name", json!("agent")),
        ("version", json!("1.0.0")),
        ("adapter", adapter),
    ];
    let config = object(recipe, &members);
    let config = shelf.put(recipe, compat::CONFIG, config.to_string().into_bytes());
    let layers: Value = (0..recipe.byte() % 5)
        .map(|_| layer(recipe, shelf))
        .collect();
    let members = [
        ("schemaVersion", json!(2)),
        ("mediaType", json!(compat::OCI_MANIFEST)),
        ("artifactType", json!(kind)),
        ("config", config),
        ("layers", layers),
        ("annotations", json!({compat::ANNOTATION_VERSION: "1.0.0"})),
    ];
    match recipe.byte() {
        0..=60 => object(recipe, &members),
        _ => Value::Object(
            members
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
        ),
    }
}

fn layer(recipe: &mut Recipe<'_>, shelf: &mut Shelf) -> Value {
    let kind = LayerKind::ALL[usize::from(recipe.byte()) % LayerKind::ALL.len()];
    let bytes = match recipe.byte() % 4 {
        0 => tar::built(recipe),
        1 => any(recipe).to_string().into_bytes(),
        2 => recipe.line().to_vec(),
        _ => packed(&tar::built(recipe)),
    };
    let media_type = kind.media_type();
    shelf.put(recipe, media_type, bytes)
}

/// Builds a signature, for this artifact or another, under the right name or another, and then perhaps changes it. Tells whether
/// it may count.
fn signature(recipe: &mut Recipe<'_>, shelf: &mut Shelf, manifest: &[u8]) -> (Vec<u8>, bool) {
    let right_subject = !recipe.byte().is_multiple_of(4);
    let subject = Descriptor::of(
        compat::OCI_MANIFEST,
        if right_subject { manifest } else { b"another" },
    );
    let (name, version) = match recipe.byte() % 8 {
        0 => (NAME, None),
        1 => (NAME, Some("2.0.0")),
        2 => ("reg.example/team/other", Some("1.0.0")),
        _ => (NAME, Some("1.0.0")),
    };
    let right_name = (name, version) == (NAME, Some("1.0.0"));
    let name = SignedName::new(name, version).expect("a name");
    let made = Signature::make(&subject, &name, key(), "ada", "2026-08-01T00:00:00Z")
        .expect("a signature");
    let config = scratched(recipe, made.config);
    let payload = scratched(recipe, made.payload);
    let (config, layer) = (
        shelf.put(recipe, compat::SIGNATURE_CONFIG, config),
        shelf.put(recipe, compat::SIGNATURE_PAYLOAD, payload),
    );
    let about = Descriptor::of(
        compat::OCI_MANIFEST,
        if recipe.byte().is_multiple_of(4) {
            b"another"
        } else {
            manifest
        },
    );
    let members = [
        ("schemaVersion", json!(2)),
        ("mediaType", json!(compat::OCI_MANIFEST)),
        ("artifactType", json!(compat::SIGNATURE)),
        ("config", config),
        ("layers", json!([layer])),
        ("subject", json!(about)),
    ];
    let manifest = match recipe.byte() {
        0..=60 => object(recipe, &members),
        _ => Value::Object(
            members
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
        ),
    };
    (
        manifest.to_string().into_bytes(),
        right_subject && right_name,
    )
}

/// Changes one member of a document, or one byte, or nothing.
fn scratched(recipe: &mut Recipe<'_>, mut document: Vec<u8>) -> Vec<u8> {
    match recipe.byte() {
        0..=30 => {
            let at = usize::from(recipe.byte()) * 3 % document.len();
            document[at] = recipe.byte();
            document
        }
        31..=90 => match serde_json::from_slice(&document) {
            Ok(Value::Object(mut members)) => {
                let names: Vec<String> = members.keys().cloned().collect();
                let name = names[usize::from(recipe.byte()) % names.len()].clone();
                members.insert(name, any(recipe));
                Value::Object(members).to_string().into_bytes()
            }
            _ => document,
        },
        _ => document,
    }
}

fn packed(tar: &[u8]) -> Vec<u8> {
    let mut out = compress(Vec::new());
    let written = out.write_all(tar).and_then(|()| out.finish());
    written.expect("memory can be written")
}
