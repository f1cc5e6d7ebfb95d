//! Ed25519 keys. The private one never shows itself and is wiped when it is dropped.

use crate::digest::Digest;
use crate::error::{ErrorClass, PackError};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use ed25519_dalek::pkcs8::{
    DecodePrivateKey as _, DecodePublicKey as _, EncodePrivateKey as _, EncodePublicKey as _,
};
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use secrecy::zeroize::Zeroizing;
use secrecy::{ExposeSecret as _, SecretString};
use std::fmt;

/// Longer texts are no keys.
const MAX_KEY_TEXT: usize = 4096;
/// How many digits of the hash a key goes by.
const ID_DIGITS: usize = 16;

/// The half that signs.
pub struct PrivateKey(SigningKey);

/// The half that checks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

impl PrivateKey {
    /// Makes a new key from the operating system's random numbers.
    pub fn generate() -> Result<Self, PackError> {
        let mut seed = Zeroizing::new([0; 32]);
        getrandom::fill(seed.as_mut()).map_err(|error| {
            PackError::new(ErrorClass::Io, "the system gives no random numbers")
                .caused_by(error.to_string())
        })?;
        Ok(Self(SigningKey::from_bytes(&seed)))
    }

    /// Reads a PKCS#8 PEM text.
    pub fn from_pem(text: &SecretString) -> Result<Self, PackError> {
        let text = text.expose_secret();
        if text.len() > MAX_KEY_TEXT {
            return Err(not_a_key("private"));
        }
        // The cause is left out: no part of a private key belongs into a message.
        let key = SigningKey::from_pkcs8_pem(text);
        key.map(Self).map_err(|_| not_a_key("private"))
    }

    /// Writes it as a PKCS#8 PEM text.
    pub fn to_pem(&self) -> Result<SecretString, PackError> {
        let pem = self.0.to_pkcs8_pem(LineEnding::LF);
        let pem = pem.map_err(|_| PackError::new(ErrorClass::Io, "a key cannot be written"))?;
        Ok(SecretString::from(pem.as_str()))
    }

    /// Returns the other half.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    pub(super) fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.0.sign(message).to_bytes()
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateKey({})", self.public().id())
    }
}

impl PublicKey {
    /// Reads a PEM text, or the base64 of the key alone.
    pub fn parse(text: &str) -> Result<Self, PackError> {
        let text = text.trim();
        if text.len() > MAX_KEY_TEXT {
            return Err(not_a_key("public"));
        }
        let key = if text.starts_with("-----") {
            // The lines of a key that stands inside other text may be indented.
            let lines: Vec<_> = text.lines().map(str::trim).collect();
            VerifyingKey::from_public_key_pem(&(lines.join("\n") + "\n")).ok()
        } else {
            let bytes = STANDARD.decode(text).ok();
            bytes.and_then(|bytes| match <[u8; 32]>::try_from(bytes.as_slice()) {
                Ok(raw) => VerifyingKey::from_bytes(&raw).ok(),
                Err(_) => VerifyingKey::from_public_key_der(&bytes).ok(),
            })
        };
        // With a weak key one signature holds for many messages.
        match key.filter(|key| !key.is_weak()) {
            Some(key) => Ok(Self(key)),
            None => Err(not_a_key("public")),
        }
    }

    /// Writes it as a PEM text.
    pub fn to_pem(&self) -> Result<String, PackError> {
        let pem = self.0.to_public_key_pem(LineEnding::LF);
        pem.map_err(|_| PackError::new(ErrorClass::Io, "a key cannot be written"))
    }

    /// Writes the key alone, as base64.
    pub fn to_base64(&self) -> String {
        STANDARD.encode(self.0.as_bytes())
    }

    /// Returns a short name for people: the first digits of the key's SHA-256. Keys are compared whole, never by this.
    pub fn id(&self) -> String {
        let mut hex = Digest::of(self.0.as_bytes()).hex();
        hex.truncate(ID_DIGITS);
        hex
    }

    /// Tells whether a signature is this key's, by the strict rules that leave no room for a second signature made from the
    /// first.
    pub(super) fn verifies(&self, message: &[u8], signature: &[u8; 64]) -> bool {
        let signature = Signature::from_bytes(signature);
        self.0.verify_strict(message, &signature).is_ok()
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({})", self.id())
    }
}

fn not_a_key(which: &str) -> PackError {
    PackError::new(
        ErrorClass::InvalidField,
        format!("this is not an Ed25519 {which} key"),
    )
    .hint("keys are PEM texts: PKCS#8 for a private key, SPKI for a public one")
}
