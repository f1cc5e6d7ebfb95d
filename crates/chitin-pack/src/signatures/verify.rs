//! Checking signatures, and deciding what they are worth.

use super::key::PublicKey;
use super::policy::{Requirement, SignatureMode, TrustedKey};
use super::sign::{ALGORITHM, Payload, SignatureConfig, Subject};
use crate::artifact::{Artifact, Descriptor, read_verified};
use crate::compat;
use crate::digest::Digest;
use crate::error::{ErrorClass, PackError};
use crate::warning::PackWarning;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

/// Payloads are short.
const MAX_PAYLOAD_BYTES: u64 = 64 * 1024;
/// More signatures of one artifact are not looked at.
const MAX_SIGNATURES: usize = 256;

/// A signature that was found, or that should be there and cannot be read.
#[derive(Debug)]
pub struct SignatureCandidate {
    /// The digest of the signature's manifest.
    pub digest: Digest,
    /// The signature.
    pub found: Result<Artifact, PackError>,
}

/// What a signature came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "status", rename_all = "camelCase")]
pub enum SignatureStatus {
    /// It holds, and its key is trusted under this name.
    Valid {
        /// The name.
        key: String,
    },
    /// It holds, and nobody trusts its key.
    Untrusted,
    /// It does not hold.
    Invalid {
        /// Why.
        reason: String,
    },
}

/// A signature that was checked. What it says of itself is shown only where the signature holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Checked {
    /// The digest of the signature's manifest.
    pub digest: Digest,
    /// Who signed, as signed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signer: Option<String>,
    /// When, as signed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signed_at: Option<String>,
    /// The key's short name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_id: Option<String>,
    /// What it came to.
    #[serde(flatten)]
    pub status: SignatureStatus,
}

/// What all signatures together came to, where the user's demands are met.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SignatureVerdict {
    /// What was demanded.
    pub mode: SignatureMode,
    /// Whether there is a signature that counts.
    pub verified: bool,
    /// Every signature; none where nothing is demanded.
    pub signatures: Vec<Checked>,
    /// What is missing.
    pub warnings: Vec<PackWarning>,
}

/// Names an artifact as signatures do.
pub fn subject_of(artifact: &Artifact) -> Descriptor {
    Descriptor::of(compat::OCI_MANIFEST, &artifact.manifest_bytes)
}

/// Decides whether an artifact may be used. One signature that counts is enough: anybody can put a bad one beside it.
pub fn verify(
    subject: &Descriptor,
    candidates: &[SignatureCandidate],
    requirement: &Requirement,
) -> Result<SignatureVerdict, PackError> {
    let mut verdict = SignatureVerdict {
        mode: requirement.mode,
        verified: false,
        signatures: Vec::new(),
        warnings: Vec::new(),
    };
    if requirement.mode == SignatureMode::None {
        return Ok(verdict);
    }
    verdict.signatures = check(subject, candidates, &requirement.keys);
    let any = |wanted: fn(&SignatureStatus) -> bool| {
        let mut statuses = verdict.signatures.iter().map(|checked| &checked.status);
        statuses.any(wanted)
    };
    if any(|status| matches!(status, SignatureStatus::Valid { .. })) {
        verdict.verified = true;
        return Ok(verdict);
    }
    let (class, code, message) = if any(|status| matches!(status, SignatureStatus::Invalid { .. }))
    {
        let message = "the signature is invalid";
        (
            ErrorClass::SignatureInvalid,
            compat::SIGNATURE_INVALID,
            message,
        )
    } else if any(|status| matches!(status, SignatureStatus::Untrusted)) {
        let message = "the artifact is signed, but not with a trusted key";
        (
            ErrorClass::SignatureUntrusted,
            compat::SIGNATURE_UNTRUSTED,
            message,
        )
    } else {
        let message = "the artifact is not signed";
        (
            ErrorClass::SignatureMissing,
            compat::SIGNATURE_MISSING,
            message,
        )
    };
    if requirement.mode == SignatureMode::Require {
        return Err(PackError::new(class, message)
            .about(verdict.signatures.iter().map(describe))
            .hint("have it signed by a key of your policy, or change the policy"));
    }
    verdict.warnings.push(PackWarning::new(code, message));
    Ok(verdict)
}

/// Checks signatures one by one.
pub fn check(
    subject: &Descriptor,
    candidates: &[SignatureCandidate],
    keys: &[TrustedKey],
) -> Vec<Checked> {
    let candidates = candidates.iter().take(MAX_SIGNATURES);
    candidates
        .map(|candidate| match examine(subject, candidate) {
            Ok((payload, key)) => {
                let trusted = keys.iter().find(|trusted| trusted.key == key);
                Checked {
                    digest: candidate.digest,
                    signer: Some(payload.signer),
                    signed_at: Some(payload.signed_at),
                    key_id: Some(payload.key_id),
                    status: trusted.map_or(SignatureStatus::Untrusted, |trusted| {
                        SignatureStatus::Valid {
                            key: trusted.name.clone(),
                        }
                    }),
                }
            }
            Err(reason) => Checked {
                digest: candidate.digest,
                signer: None,
                signed_at: None,
                key_id: None,
                status: SignatureStatus::Invalid { reason },
            },
        })
        .collect()
}

/// Returns what was signed and by which key, or why the signature is invalid.
fn examine(
    subject: &Descriptor,
    candidate: &SignatureCandidate,
) -> Result<(Payload, PublicKey), String> {
    let artifact = candidate.found.as_ref().map_err(ToString::to_string)?;
    let manifest = &artifact.manifest;
    if manifest.artifact_type != compat::SIGNATURE {
        return Err("it is not a signature".to_owned());
    }
    let names = manifest.subject.as_ref().map(Subject::from);
    if names != Some(Subject::from(subject)) {
        return Err("it is beside another artifact".to_owned());
    }
    let config: SignatureConfig = serde_json::from_value(artifact.config.clone())
        .map_err(|_| "its config is not that of a signature".to_owned())?;
    if config.algorithm != ALGORITHM {
        return Err("it is made with an algorithm other than `ed25519`".to_owned());
    }
    let [layer] = manifest.layers.as_slice() else {
        return Err("it has no payload, or several".to_owned());
    };
    if layer.media_type != compat::SIGNATURE_PAYLOAD {
        return Err("it has no payload".to_owned());
    }
    let payload_bytes = read_verified(artifact.blobs().as_ref(), layer, MAX_PAYLOAD_BYTES)
        .map_err(|error| error.to_string())?;
    let key = PublicKey::parse(&config.public_key).map_err(|error| error.to_string())?;
    let signature = STANDARD.decode(&config.signature).ok();
    let signature = signature.and_then(|bytes| <[u8; 64]>::try_from(bytes).ok());
    let signature = signature.ok_or("its signature is not one")?;
    if !key.verifies(&payload_bytes, &signature) {
        return Err("the signature is not that of its payload".to_owned());
    }
    // From here on the payload is what the owner of the key signed, and nothing else.
    let payload: Payload = serde_json::from_slice(&payload_bytes)
        .map_err(|_| "its payload is not that of a signature".to_owned())?;
    if payload.kind != compat::SIGNATURE_PAYLOAD {
        return Err("its payload is of another type".to_owned());
    }
    if payload.subject != Subject::from(subject) {
        return Err("it signs another artifact".to_owned());
    }
    let said = (&config.signer, &config.signed_at, &config.key_id);
    if said != (&payload.signer, &payload.signed_at, &payload.key_id) || config.key_id != key.id() {
        return Err("its config says something other than its payload".to_owned());
    }
    Ok((payload, key))
}

fn describe(checked: &Checked) -> String {
    let digest = checked.digest;
    match &checked.status {
        SignatureStatus::Valid { key } => format!("{digest}: signed by `{key}`"),
        SignatureStatus::Untrusted => format!(
            "{digest}: signed by the key {}, which you do not trust",
            checked.key_id.as_deref().unwrap_or_default()
        ),
        SignatureStatus::Invalid { reason } => format!("{digest}: {reason}"),
    }
}
