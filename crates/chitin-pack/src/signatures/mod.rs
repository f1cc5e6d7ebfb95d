//! Trust: keys, signatures, and what a user demands of them (rules P63, P75).
//!
//! A signature is a referrer: a manifest of its own whose `subject` is the artifact's manifest. Its payload layer is
//! canonical JSON that names the subject; its config holds what the contract asks for and, where the contract leaves room,
//! three members of ours:
//!
//! ```text
//! config   specVersion, signer, signedAt, algorithm ("ed25519")
//!          keyId       short hash of the public key, for people
//!          publicKey   the public key, base64; never trusted because it is here
//!          signature   base64, over the exact bytes of the payload layer
//! payload  type, specVersion, subject {mediaType, digest, size}, artifact {name, version}, signer, signedAt, keyId
//! ```
//!
//! Whether a signature holds is mathematics; whether it counts is decided by the keys that the user's [`TrustPolicy`] names, by
//! the name under which the artifact is used ([`UsedName`]), and by what was accepted under that name before ([`pin`]).
//! Signatures of older versions have no `artifact`; [`UnboundSignatures`] says what they are worth.

mod key;
mod key_file;
mod name;
mod pins;
mod policy;
mod sign;
mod verify;

pub use key::{PrivateKey, PublicKey};
pub use key_file::{load_private_key, load_public_key, save_keys};
pub use name::{SignedName, UsedName};
pub use pins::{OlderArtifacts, PINS_FILE, pin};
pub use policy::{
    MAX_POLICY_BYTES, Requirement, SignatureMode, TrustPolicy, TrustedKey, UnboundSignatures,
};
pub use sign::{Signature, sign};
pub use verify::{
    AcceptedSignature, Checked, SignatureCandidate, SignatureStatus, SignatureVerdict, check,
    subject_of, verify,
};

#[cfg(test)]
mod trust_tests;
