//! Making a signature.

use super::key::{PrivateKey, PublicKey};
use super::name::SignedName;
use crate::artifact::{Descriptor, Manifest};
use crate::canonical;
use crate::compat::{OCI_MANIFEST, SIGNATURE, SIGNATURE_CONFIG, SIGNATURE_PAYLOAD, SPEC_VERSION};
use crate::digest::Digest;
use crate::error::{ErrorClass, PackError};
use crate::store::Store;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The only algorithm.
pub(super) const ALGORITHM: &str = "ed25519";
/// Longer names of signers are nobody's.
const MAX_SIGNER: usize = 256;

/// What is signed. The type stands inside, so that no other document of the same key passes for a signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Payload {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) spec_version: String,
    pub(super) subject: Subject,
    /// Signatures of earlier versions of Chitin have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) artifact: Option<BoundName>,
    pub(super) signer: String,
    pub(super) signed_at: String,
    pub(super) key_id: String,
}

/// The name that a payload binds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct BoundName {
    pub(super) name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) version: Option<String>,
}

/// The manifest that a payload names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Subject {
    pub(super) media_type: String,
    pub(super) digest: Digest,
    pub(super) size: u64,
}

impl From<&Descriptor> for Subject {
    fn from(manifest: &Descriptor) -> Self {
        Self {
            media_type: manifest.media_type.clone(),
            digest: manifest.digest,
            size: manifest.size,
        }
    }
}

/// The config of a signature. Others may write members that we do not know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SignatureConfig {
    pub(super) spec_version: String,
    pub(super) signer: String,
    pub(super) signed_at: String,
    pub(super) algorithm: String,
    pub(super) key_id: String,
    pub(super) public_key: String,
    pub(super) signature: String,
}

/// A signature as three documents, ready to be stored or pushed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// The payload, which is what was signed.
    pub payload: Vec<u8>,
    /// The config, which holds the signature.
    pub config: Vec<u8>,
    /// The manifest.
    pub manifest: Manifest,
}

impl Signature {
    /// Signs a manifest and the name under which it may be used. `signed_at` is a time such as `2026-01-31T12:00:00Z`.
    pub fn make(
        subject: &Descriptor,
        name: &SignedName,
        key: &PrivateKey,
        signer: &str,
        signed_at: &str,
    ) -> Result<Self, PackError> {
        if signer.is_empty() || signer.len() > MAX_SIGNER || signer.chars().any(char::is_control) {
            let message = "a signer is a name of one line, such as `Ada <ada@example.org>`";
            return Err(PackError::new(ErrorClass::EmptyField, message));
        }
        if !is_time(signed_at) {
            let message = format!("`{}` is not a time in UTC", signed_at.escape_debug());
            return Err(PackError::new(ErrorClass::InvalidField, message)
                .hint("write it as in `2026-01-31T12:00:00Z`"));
        }
        let public: PublicKey = key.public();
        let payload = canonical::of(&Payload {
            kind: SIGNATURE_PAYLOAD.to_owned(),
            spec_version: SPEC_VERSION.to_owned(),
            subject: subject.into(),
            artifact: Some(BoundName {
                name: name.name().to_owned(),
                version: name.version().map(str::to_owned),
            }),
            signer: signer.to_owned(),
            signed_at: signed_at.to_owned(),
            key_id: public.id(),
        });
        let payload = payload.into_bytes();
        let config = canonical::of(&SignatureConfig {
            spec_version: SPEC_VERSION.to_owned(),
            signer: signer.to_owned(),
            signed_at: signed_at.to_owned(),
            algorithm: ALGORITHM.to_owned(),
            key_id: public.id(),
            public_key: public.to_base64(),
            signature: STANDARD.encode(key.sign(&payload)),
        });
        let config = config.into_bytes();
        let manifest = Manifest {
            artifact_type: SIGNATURE.to_owned(),
            config: Descriptor::of(SIGNATURE_CONFIG, &config),
            layers: vec![Descriptor::of(SIGNATURE_PAYLOAD, &payload)],
            annotations: BTreeMap::new(),
            subject: Some(plain(subject)),
        };
        Ok(Self {
            payload,
            config,
            manifest,
        })
    }

    /// Returns how an index lists the signature.
    pub(crate) fn entry(&self) -> Descriptor {
        let mut entry = Descriptor::of(OCI_MANIFEST, &self.manifest.to_bytes());
        entry.artifact_type = Some(self.manifest.artifact_type.clone());
        entry
    }

    /// Returns the three documents by their digests.
    pub(crate) fn blobs(&self) -> BTreeMap<Digest, Vec<u8>> {
        [&self.payload, &self.config, &self.manifest.to_bytes()]
            .into_iter()
            .map(|bytes| (Digest::of(bytes), bytes.clone()))
            .collect()
    }

    /// Puts the three documents into a store, beside the artifact.
    pub fn put(&self, store: &Store) -> Result<Descriptor, PackError> {
        let _adding = store.adding()?;
        store.put(SIGNATURE_PAYLOAD, &self.payload)?;
        store.put(SIGNATURE_CONFIG, &self.config)?;
        store.put_referrer(&self.manifest)
    }
}

/// Signs an artifact of a store under a name, and puts the signature beside it. Returns the signature's manifest.
pub fn sign(
    store: &Store,
    artifact: &Digest,
    name: &SignedName,
    key: &PrivateKey,
    signer: &str,
    signed_at: &str,
) -> Result<Descriptor, PackError> {
    let bytes = store.manifest_bytes(artifact)?;
    Manifest::parse(&bytes)?;
    let subject = Descriptor::of(OCI_MANIFEST, &bytes);
    Signature::make(&subject, name, key, signer, signed_at)?.put(store)
}

/// A subject is named by type, digest and size; notes of the place where it was found are not part of it.
fn plain(subject: &Descriptor) -> Descriptor {
    Descriptor::new(&subject.media_type, subject.digest, subject.size)
}

/// Tells whether a text has the form of a time in UTC.
pub(super) fn is_time(text: &str) -> bool {
    let Some(text) = text.strip_suffix('Z') else {
        return false;
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let form = b"0000-00-00T00:00:00";
    whole.len() == form.len()
        && fraction.len() <= 9
        && is_digits(fraction)
        && whole
            .bytes()
            .zip(form)
            .all(|(found, expected)| match expected {
                b'0' => found.is_ascii_digit(),
                other => found == *other,
            })
}
