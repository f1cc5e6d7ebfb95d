//! Secrets go out of everything that a model, a log or a person gets to see.
//!
//! Two kinds are known: exact values that are handed in, such as the provider's keys, and shapes that keys of well-known
//! services have. A handed-in value never passes, however the text is cut into pieces. Shapes are a second net: they catch
//! what nobody told us about, and they are narrow enough to leave prose and code alone.

mod assignments;
mod exact;
mod shapes;

pub use assignments::{MASKED, mask_assignments};
use exact::{Exact, ExactStream};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use shapes::ShapeStream;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

/// What stands in the place of a secret.
pub const MARKER: &str = "[redacted]";

/// A handed-in value must have so many bytes; shorter ones would take ordinary words with them.
pub const SHORTEST_SECRET: usize = 6;

/// Knows the secrets of this process. Clones share what is known: a secret that one learns is taken out by all.
///
/// ```
/// use chitin_tools::redact::Redactor;
///
/// let redactor = Redactor::new(["s3cr3t-value".into()]);
/// assert_eq!(redactor.redact("key: s3cr3t-value."), "key: [redacted].");
/// ```
#[derive(Default, Clone)]
pub struct Redactor {
    exact: Arc<RwLock<Arc<Exact>>>,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exact = self.known();
        f.debug_struct("Redactor").field("exact", &exact).finish()
    }
}

impl Redactor {
    /// Takes the values that must never be seen. Values that are too short to tell from words are passed over.
    pub fn new(secrets: impl IntoIterator<Item = SecretString>) -> Self {
        let redactor = Self::default();
        redactor.learn(secrets);
        redactor
    }

    /// Takes further values. Streams that have begun do not know them.
    pub fn learn(&self, secrets: impl IntoIterator<Item = SecretString>) {
        let mut exact = self.exact.write().unwrap_or_else(PoisonError::into_inner);
        for secret in secrets {
            let secret = secret.expose_secret().trim();
            if secret.len() >= SHORTEST_SECRET && !exact.has(secret) {
                Arc::make_mut(&mut exact).add(secret);
            }
        }
    }

    /// Redacts a text that is all there.
    pub fn redact(&self, text: &str) -> String {
        let mut stream = self.stream();
        let mut redacted = stream.push(text);
        redacted.push_str(&stream.finish());
        redacted
    }

    /// Takes the known values alone out of a text, and leaves what only has the shape of a key.
    pub fn redact_known(&self, text: &str) -> String {
        let mut stream = self.known_stream();
        let mut redacted = stream.push(text);
        redacted.push_str(&stream.finish());
        redacted
    }

    /// Redacts every string in a value, names of fields included.
    pub fn redact_value(&self, value: &mut Value) {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
            Value::String(text) => *text = self.redact(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_value(item)),
            Value::Object(fields) => {
                *fields = std::mem::take(fields)
                    .into_iter()
                    .map(|(name, mut value)| {
                        self.redact_value(&mut value);
                        (self.redact(&name), value)
                    })
                    .collect();
            }
        }
    }

    /// Starts to redact a text that comes in pieces.
    pub fn stream(&self) -> RedactStream {
        RedactStream {
            exact: ExactStream::new(self.known()),
            shapes: ShapeStream::default(),
        }
    }

    /// Starts to take the known values alone out of a text that comes in pieces. Far less is held back: only what could still
    /// become one of them.
    pub fn known_stream(&self) -> KnownStream {
        KnownStream(ExactStream::new(self.known()))
    }

    fn known(&self) -> Arc<Exact> {
        let exact = self.exact.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&exact)
    }
}

/// Takes known values out of a text that comes in pieces.
#[derive(Debug)]
pub struct KnownStream(ExactStream);

impl KnownStream {
    /// Takes the next piece and returns what is certain by now.
    pub fn push(&mut self, text: &str) -> String {
        self.0.push(text)
    }

    /// Ends the text and returns what was held back. Another text may follow.
    pub fn finish(&mut self) -> String {
        self.0.finish()
    }
}

/// Redacts a text that comes in pieces. What could still become a secret is held back until it is certain.
#[derive(Debug)]
pub struct RedactStream {
    exact: ExactStream,
    shapes: ShapeStream,
}

impl RedactStream {
    /// Takes the next piece and returns what is certain by now.
    pub fn push(&mut self, text: &str) -> String {
        let text = self.exact.push(text);
        self.shapes.push(&text)
    }

    /// Ends the text and returns what was held back.
    pub fn finish(&mut self) -> String {
        let rest = self.exact.finish();
        let mut text = self.shapes.push(&rest);
        text.push_str(&self.shapes.finish());
        text
    }
}
