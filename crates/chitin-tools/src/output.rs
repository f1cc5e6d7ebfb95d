//! Text for a model from bytes of any kind and any length: valid UTF-8, no control characters, never more than was asked for.
//!
//! [`Cleaner`] makes text of bytes, [`Bounded`] keeps the head and the tail of it, [`Capture`] puts both together with
//! [`Redactor`] between them. All of them work on streams and hold no more than their bounds.

mod bounded;
mod clean;

pub use bounded::{Bounded, BoundedText, OutputLimits};
pub use clean::{Cleaner, Controls, clean};

use crate::redact::{RedactStream, Redactor};

/// Takes the bytes that a command or a server gives and keeps what a model may see of them.
///
/// ```
/// use chitin_tools::output::{Capture, OutputLimits};
/// use chitin_tools::redact::Redactor;
///
/// let redactor = Redactor::new(["hunter2hunter2".into()]);
/// let mut capture = Capture::new(OutputLimits::bytes(1000), &redactor);
/// capture.push(b"\x1b[31mpass: hunter2");
/// capture.push(b"hunter2\x1b[0m\n");
/// assert_eq!(capture.finish().text, "pass: [redacted]\n");
/// ```
#[derive(Debug)]
pub struct Capture {
    cleaner: Cleaner,
    redact: RedactStream,
    bounded: Bounded,
}

impl Capture {
    /// Starts empty.
    pub fn new(limits: OutputLimits, redactor: &Redactor) -> Self {
        Self {
            cleaner: Cleaner::new(Controls::Strip),
            redact: redactor.stream(),
            bounded: Bounded::new(limits),
        }
    }

    /// Takes the next bytes; they may end in the middle of a character or of a secret.
    pub fn push(&mut self, bytes: &[u8]) {
        let text = self.cleaner.push(bytes);
        let text = self.redact.push(&text);
        self.bounded.push(&text);
    }

    /// Ends and returns what is left of it.
    pub fn finish(mut self) -> BoundedText {
        let rest = self.cleaner.finish();
        let mut text = self.redact.push(&rest);
        text.push_str(&self.redact.finish());
        self.bounded.push(&text);
        self.bounded.finish()
    }
}
