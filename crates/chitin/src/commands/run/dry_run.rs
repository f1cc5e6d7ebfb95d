//! `--dry-run`: the exact request, to the byte, and nothing sent.

use super::wiring::Wiring;
use crate::error::CliError;
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render, Secrets};
use chitin_agent::turn::DryRun;
use serde::Serialize;
use std::fmt;

/// A request that was not sent.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Request {
    api: &'static str,
    method: &'static str,
    url: String,
    /// Without those that carry a secret.
    headers: Vec<(String, String)>,
    /// Headers that are added when it is sent, and never shown.
    secret_headers: Vec<String>,
    bytes: usize,
    digest: String,
    /// The body as it would be sent.
    body: String,
    #[serde(skip)]
    secrets: Secrets,
}

pub(super) async fn print(
    wiring: &Wiring,
    words: &str,
    secrets: Secrets,
    printer: &Printer,
) -> Result<Exit, CliError> {
    let DryRun { prepared, notes } = wiring
        .conversation
        .agent
        .dry_run(&wiring.input(words, wiring.new_session))
        .await
        .map_err(|error| super::chat::failed(&error))?;
    for note in &notes {
        printer.note(note);
    }
    printer.result(&Request {
        api: prepared.api.name(),
        method: prepared.method,
        url: prepared.url,
        headers: prepared.headers,
        secret_headers: prepared.secret_headers,
        bytes: prepared.body.len(),
        digest: prepared.digest,
        body: String::from_utf8_lossy(&prepared.body).into_owned(),
        secrets,
    })
}

impl Render for Request {
    fn text(&self, out: &mut dyn fmt::Write, _paint: Paint) -> fmt::Result {
        writeln!(out, "{} {}", self.method, self.url)?;
        for (name, value) in &self.headers {
            writeln!(out, "{name}: {value}")?;
        }
        for name in &self.secret_headers {
            writeln!(out, "{name}: (added when it is sent)")?;
        }
        write!(out, "\n{}\n", self.body)
    }

    fn secrets(&self) -> Secrets {
        self.secrets
    }

    fn is_verbatim(&self) -> bool {
        true
    }
}
