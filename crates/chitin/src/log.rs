//! The log: spans and events of the libraries on standard error, for whoever asks for them. Without a filter nothing is set up,
//! and a span costs a look at one number.

use crate::error::{CliError, FailureKind};
use chitin_runtime::Host;
use chitin_tools::redact::Redactor;
use std::io::{self, Write};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{Targets, filter_fn};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Says what is logged where no option does.
const VARIABLE: &str = "CHITIN_LOG";
/// What our own targets begin with.
const OURS: &str = "chitin";

/// Standard error without secrets. A line of the log is written at once, so none is split.
#[derive(Clone)]
struct RedactedStderr(Redactor);

impl Write for RedactedStderr {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = self.0.redact(&String::from_utf8_lossy(line));
        io::stderr().lock().write_all(text.as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().lock().flush()
    }
}

impl<'a> MakeWriter<'a> for RedactedStderr {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// Reads a filter: a level for all, or levels by library.
pub(crate) fn filter(text: &str) -> Result<Targets, String> {
    let wrong = || {
        format!(
            "`{text}` is not a log filter: use `error`, `warn`, `info`, `debug` or `trace`, or levels by library such as `chitin_agent=debug,chitin_gateway=info`"
        )
    };
    let targets: Targets = text.trim().parse().map_err(|_| wrong())?;
    // A word that is no level is read as a library of which everything is logged: that is a slip of the pen.
    let mut named = targets.iter().map(|(target, _)| target);
    if named.all(|target| target.starts_with(OURS)) {
        Ok(targets)
    } else {
        Err(wrong())
    }
}

/// Begins to log if the user asks for it, as JSON lines where results are JSON. Only our own libraries are heard: those that
/// speak to the network would log headers, and keys with them.
pub(crate) fn start(option: Option<&Targets>, json: bool, host: &Host) -> Result<(), CliError> {
    let said = host
        .env
        .get(VARIABLE)
        .filter(|text| !text.trim().is_empty());
    let targets = match (option, said) {
        (Some(targets), _) => targets.clone(),
        (None, Some(text)) => filter(text).map_err(|reason| {
            CliError::new(
                FailureKind::Usage,
                format!("`{VARIABLE}` cannot be used: {reason}."),
            )
        })?,
        (None, None) => return Ok(()),
    };
    let ours = filter_fn(|metadata| metadata.target().starts_with(OURS));
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(RedactedStderr(host.secrets.clone()))
        .with_ansi(false)
        .with_span_events(FmtSpan::CLOSE);
    let registry = tracing_subscriber::registry();
    if json {
        let lines = lines.json().with_filter(ours).with_filter(targets);
        registry.with(lines).init();
    } else {
        registry
            .with(lines.with_filter(ours).with_filter(targets))
            .init();
    }
    Ok(())
}
