//! The report as a page: no script, nothing from elsewhere.

use super::{ONLY_A_REPORT, described, file_name, locked};
use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render};
use chitin_guard::{ReadPolicy, Root, WriteError};
use chitin_runtime::Host;
use chitin_runtime::home_report::{HomeReport, HomeVerdict};
use serde::Serialize;
use std::fmt::{self, Write};
use std::path::{Path, PathBuf};

/// What every such page begins with; a file that begins otherwise is not overwritten.
const HEAD: &str = "<!doctype html><!-- chitin import -->";

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}\
table{border-collapse:collapse;width:100%;margin:.5rem 0 1.5rem}td,th{text-align:left;vertical-align:top;padding:.25rem .75rem .25rem 0;border-bottom:1px solid #8884}\
td:first-child{white-space:nowrap;width:6rem}.works{color:#2a7d2a}.differs{color:#a66a00}.none{color:#b3261e}small{opacity:.75;display:block}";

/// What was written.
#[derive(Debug, Serialize)]
struct Wrote {
    file: PathBuf,
    bytes: usize,
    problems: usize,
}

impl Render for Wrote {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        let file = paint.bold(&file_name(&self.file));
        writeln!(out, "Wrote {file} ({} bytes). {ONLY_A_REPORT}", self.bytes)
    }

    fn exit(&self) -> Exit {
        if self.problems == 0 {
            Exit::Success
        } else {
            Exit::Findings
        }
    }
}

pub(super) fn write(
    report: &HomeReport,
    file: &Path,
    host: &Host,
    printer: &Printer,
) -> Result<Exit, CliError> {
    let page = host.secrets.redact(&page(report));
    let path = host.env.resolve(file);
    let failed = |error: WriteError| {
        CliError::new(FailureKind::User, "Could not write the page.").caused_by(error)
    };
    let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
        let message = format!("`{}` is no name of a file.", file.display());
        return Err(CliError::new(FailureKind::User, message));
    };
    let root = Root::open(above).map_err(|error| {
        CliError::new(FailureKind::User, "Could not write the page.").caused_by(error)
    })?;
    let known = root.read(Path::new(name), &ReadPolicy::inside(64 << 20));
    match known {
        Err(error) if error.is_missing() => {}
        Ok(read) if read.bytes.starts_with(HEAD.as_bytes()) => {}
        Ok(_) | Err(_) => {
            let message = format!(
                "`{}` is there already, and is no page of this command.",
                file.display()
            );
            return Err(CliError::new(FailureKind::User, message).hint("use another file name"));
        }
    }
    root.replace_private(Path::new(name), page.as_bytes())
        .map_err(failed)?;
    printer.result(&Wrote {
        file: path,
        bytes: page.len(),
        problems: report.problems.len(),
    })
}

fn page(report: &HomeReport) -> String {
    let mut out = String::from(HEAD);
    let _ = write!(
        out,
        "<html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">\
<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src 'unsafe-inline'\">\
<title>OpenClaw home</title><style>{STYLE}</style><h1>OpenClaw home <code>{}</code></h1><p>{}</p>",
        escaped(&file_name(&report.home)),
        escaped(&described(&report.contents))
    );
    if let Some(locked) = locked(&report.contents) {
        let _ = write!(out, "<p class=differs>{}</p>", escaped(&locked));
    }
    let _ = write!(out, "<p>{ONLY_A_REPORT}</p>");
    for section in &report.sections {
        let _ = write!(out, "<h2>{}</h2><table>", escaped(section.subject));
        for line in &section.lines {
            let (class, verdict) = match line.verdict {
                HomeVerdict::Works => ("works", "works"),
                HomeVerdict::Differs => ("differs", "differs"),
                HomeVerdict::Unsupported => ("none", "no effect"),
            };
            let _ = write!(
                out,
                "<tr><td class={class}>{verdict}<td>{}<small>{}</small><td>{}",
                escaped(&line.name),
                escaped(line.place.as_deref().unwrap_or_default()),
                escaped(line.note.as_deref().unwrap_or_default()),
            );
        }
        out.push_str("</table>");
    }
    if !report.problems.is_empty() {
        out.push_str("<h2>not readable</h2><table>");
        for problem in &report.problems {
            let _ = write!(
                out,
                "<tr><td>{}<td>{} {}",
                escaped(&problem.place),
                escaped(&problem.message),
                escaped(problem.hint.as_deref().unwrap_or_default()),
            );
        }
        out.push_str("</table>");
    }
    out.push_str("</html>\n");
    out
}

fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            letter if letter.is_control() => safe.push('\u{fffd}'),
            letter => safe.push(letter),
        }
    }
    safe
}
