//! What a panic says on standard error, without secrets: a message may quote anything.

use chitin_tools::redact::Redactor;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::Write;
use std::panic;

/// Says what the usual hook says, redacted. Threads have no names here that a person would know.
pub(crate) fn redact(secrets: &Redactor) {
    let secrets = secrets.clone();
    panic::set_hook(Box::new(move |info| {
        let text = secrets.redact(&info.to_string());
        let backtrace = Backtrace::capture();
        let more = match backtrace.status() {
            BacktraceStatus::Captured => backtrace.to_string(),
            _ => "note: `RUST_BACKTRACE=1` shows where it came from".to_owned(),
        };
        // Where nothing can be written there is nobody to tell.
        let _ = writeln!(std::io::stderr().lock(), "{text}\n{more}");
    }));
}
