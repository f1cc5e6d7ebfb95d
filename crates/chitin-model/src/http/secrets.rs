//! Secrets that a provider says back to us are not passed on.

use super::endpoint::ModelEndpoint;
use crate::error::ModelError;
use bytes::Bytes;
use chitin_protocol::settings::SecretText;
use secrecy::{ExposeSecret, SecretString};

/// A text that is shorter is a word, and not a secret.
const SHORTEST: usize = 6;

/// The secrets of an endpoint.
#[derive(Debug, Clone)]
pub(crate) struct Secrets(Vec<SecretString>);

impl Secrets {
    pub(crate) fn of(endpoint: &ModelEndpoint) -> Self {
        let headers = endpoint.headers.iter().map(|(_, value)| value);
        let all = endpoint.key.iter().chain(headers).chain(&endpoint.proxy);
        Self(
            all.filter(|secret| secret.expose_secret().len() >= SHORTEST)
                .cloned()
                .collect(),
        )
    }

    /// Hides them in a text.
    pub(crate) fn hide(&self, text: &mut String) {
        for secret in &self.0 {
            if text.contains(secret.expose_secret()) {
                *text = text.replace(secret.expose_secret(), SecretText::HIDDEN);
            }
        }
    }

    /// Hides them in an error.
    pub(crate) fn hide_in(&self, mut error: ModelError) -> ModelError {
        if let Some(message) = error.message_mut() {
            self.hide(message);
        }
        error
    }

    /// Hides them in a whole body. One that is not text is left alone when no secret is in it.
    pub(crate) fn hide_bytes(&self, bytes: Bytes) -> Bytes {
        let text = String::from_utf8_lossy(&bytes);
        let mut hidden = text.to_string();
        self.hide(&mut hidden);
        if hidden == text {
            bytes
        } else {
            Bytes::from(hidden)
        }
    }
}
