//! Checking signatures, and deciding what they are worth.

use super::key::PublicKey;
use super::name::{SignedName, UsedName};
use super::policy::{Requirement, SignatureMode, TrustedKey, UnboundSignatures};
use super::sign::{ALGORITHM, Payload, SignatureConfig, Subject, is_time};
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
    /// It holds and its key is trusted, but it binds neither name nor version.
    Unbound {
        /// The name of the key.
        key: String,
    },
    /// It holds and its key is trusted, but it is for another name or version than the artifact is used under.
    Misnamed {
        /// The name of the key.
        key: String,
        /// The name that was signed.
        name: SignedName,
        /// The name under which the artifact is used.
        #[serde(rename = "usedAs")]
        used_as: String,
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
    /// The name and version that it binds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signed_name: Option<SignedName>,
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
    /// The signatures that count.
    #[serde(skip)]
    pub accepted: Vec<AcceptedSignature>,
}

/// A signature that counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceptedSignature {
    /// The artifact.
    pub artifact: Digest,
    /// The version that it binds.
    pub version: Option<String>,
    /// When it was made, as signed.
    pub signed_at: String,
}

/// Names an artifact as signatures do.
pub fn subject_of(artifact: &Artifact) -> Descriptor {
    Descriptor::of(compat::OCI_MANIFEST, &artifact.manifest_bytes)
}

/// Decides whether an artifact may be used, under the name that is given. One signature that counts is enough: anybody can put a
/// bad one beside it.
pub fn verify(
    subject: &Descriptor,
    used: Option<&UsedName>,
    candidates: &[SignatureCandidate],
    requirement: &Requirement,
) -> Result<SignatureVerdict, PackError> {
    let mut verdict = SignatureVerdict {
        mode: requirement.mode,
        verified: false,
        signatures: Vec::new(),
        warnings: Vec::new(),
        accepted: Vec::new(),
    };
    if requirement.mode == SignatureMode::None {
        return Ok(verdict);
    }
    verdict.signatures = check(subject, used, candidates, &requirement.keys);
    let accepts_unbound = requirement.unbound == UnboundSignatures::Accept;
    let counts = |checked: &&Checked| match checked.status {
        SignatureStatus::Valid { .. } => true,
        SignatureStatus::Unbound { .. } => accepts_unbound,
        SignatureStatus::Misnamed { .. }
        | SignatureStatus::Untrusted
        | SignatureStatus::Invalid { .. } => false,
    };
    let accepted = verdict.signatures.iter().filter(counts);
    verdict.accepted = accepted
        .map(|checked| AcceptedSignature {
            artifact: subject.digest,
            version: checked
                .signed_name
                .as_ref()
                .and_then(|name| name.version().map(str::to_owned)),
            signed_at: checked.signed_at.clone().unwrap_or_default(),
        })
        .collect();
    verdict.verified = !verdict.accepted.is_empty();
    let is_bound = |checked: &Checked| matches!(checked.status, SignatureStatus::Valid { .. });
    if verdict.signatures.iter().any(is_bound) {
        return Ok(verdict);
    }
    let (class, code, message) = why_not(&verdict.signatures);
    if requirement.mode == SignatureMode::Require && !verdict.verified {
        return Err(PackError::new(class, message).about(verdict.signatures.iter().map(describe)));
    }
    verdict.warnings.push(PackWarning::new(code, message));
    Ok(verdict)
}

/// Says what is wrong with signatures of which none is without fault: what a trusted key signed says most.
fn why_not(signatures: &[Checked]) -> (ErrorClass, &'static str, &'static str) {
    let any = |wanted: fn(&SignatureStatus) -> bool| {
        let mut statuses = signatures.iter().map(|checked| &checked.status);
        statuses.any(wanted)
    };
    if any(|status| matches!(status, SignatureStatus::Misnamed { .. })) {
        let message = "the artifact is signed under another name or version";
        (
            ErrorClass::SignatureMisnamed,
            compat::SIGNATURE_MISNAMED,
            message,
        )
    } else if any(|status| matches!(status, SignatureStatus::Unbound { .. })) {
        let message = "the signature binds neither name nor version, so it holds under any";
        (
            ErrorClass::SignatureUnbound,
            compat::SIGNATURE_UNBOUND,
            message,
        )
    } else if any(|status| matches!(status, SignatureStatus::Invalid { .. })) {
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
    }
}

/// Checks signatures one by one. What the artifact is used as is compared where there is such a name.
pub fn check(
    subject: &Descriptor,
    used: Option<&UsedName>,
    candidates: &[SignatureCandidate],
    keys: &[TrustedKey],
) -> Vec<Checked> {
    let candidates = candidates.iter().take(MAX_SIGNATURES);
    candidates
        .map(|candidate| match examine(subject, candidate) {
            Ok(Examined { payload, name, key }) => {
                let trusted = keys.iter().find(|trusted| trusted.key == key);
                Checked {
                    digest: candidate.digest,
                    signer: Some(payload.signer),
                    signed_at: Some(payload.signed_at),
                    key_id: Some(payload.key_id),
                    status: trusted.map_or(SignatureStatus::Untrusted, |trusted| {
                        worth(trusted, name.as_ref(), used)
                    }),
                    signed_name: name,
                }
            }
            Err(reason) => Checked {
                digest: candidate.digest,
                signer: None,
                signed_at: None,
                signed_name: None,
                key_id: None,
                status: SignatureStatus::Invalid { reason },
            },
        })
        .collect()
}

/// Returns what a signature of a trusted key is worth.
fn worth(
    trusted: &TrustedKey,
    signed: Option<&SignedName>,
    used: Option<&UsedName>,
) -> SignatureStatus {
    let key = trusted.name.clone();
    match (signed, used) {
        (None, _) => SignatureStatus::Unbound { key },
        (Some(signed), Some(used)) if !signed.holds_for(used) => SignatureStatus::Misnamed {
            key,
            name: signed.clone(),
            used_as: used.to_string(),
        },
        (Some(_), _) => SignatureStatus::Valid { key },
    }
}

/// What a signature that holds says.
struct Examined {
    payload: Payload,
    name: Option<SignedName>,
    key: PublicKey,
}

/// Returns what was signed and by which key, or why the signature is invalid.
fn examine(subject: &Descriptor, candidate: &SignatureCandidate) -> Result<Examined, String> {
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
    if !is_time(&payload.signed_at) {
        return Err("its time is not one".to_owned());
    }
    let name = payload.artifact.as_ref();
    let name = name.map(|bound| SignedName::new(&bound.name, bound.version.as_deref()));
    let name = name.transpose().map_err(|error| error.to_string())?;
    Ok(Examined { payload, name, key })
}

fn describe(checked: &Checked) -> String {
    let digest = checked.digest;
    match &checked.status {
        SignatureStatus::Valid { key } => format!("{digest}: signed by `{key}`"),
        SignatureStatus::Unbound { key } => {
            format!("{digest}: signed by `{key}`, without a name or version")
        }
        SignatureStatus::Misnamed { key, name, used_as } => {
            format!("{digest}: signed by `{key}` as `{name}`, used as `{used_as}`")
        }
        SignatureStatus::Untrusted => format!(
            "{digest}: signed by the key {}, which you do not trust",
            checked.key_id.as_deref().unwrap_or_default()
        ),
        SignatureStatus::Invalid { reason } => format!("{digest}: {reason}"),
    }
}
