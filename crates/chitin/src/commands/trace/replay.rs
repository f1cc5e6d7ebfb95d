//! `chitin trace replay`: what would be sent now, beside what was sent then. No model is called.

use super::ReplayArgs;
use super::list::moment;
use crate::commands::skills::{count, fit, one_line};
use crate::error::CliError;
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render, grouped, plain};
use chitin_runtime::traces::{self, ReplayedRequest, SystemChange, TraceReplay};
use chitin_runtime::{Host, shown};
use serde::Serialize;
use std::fmt;

/// A replay, for people and programs.
#[derive(Debug, Serialize)]
struct Replay {
    #[serde(flatten)]
    replay: TraceReplay,
    /// The workspace as people write it.
    #[serde(skip)]
    shown: String,
}

pub(super) fn run(args: &ReplayArgs, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
    let notes = printer.notes();
    let summary = traces::find(&args.session, host, &notes)?;
    let file = traces::read(&summary, &notes)?;
    let contract = traces::contract_of(args.contract.as_deref(), &file, host)?;
    let directory = args.directory.as_deref();
    let replay = TraceReplay::new(host, &summary, &file, contract, directory, &notes)?;
    if replay.requests.is_empty() {
        printer.note("the recording contains no request");
    }
    printer.result(&Replay {
        shown: shown(&replay.workspace, host),
        replay,
    })
}

impl Render for Replay {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        writeln!(
            out,
            "{} against {} ({})",
            paint.bold(&one_line(&self.replay.session_key)),
            plain(&self.shown, '\u{fffd}'),
            self.replay.contract
        )?;
        let mut shown: Option<&SystemChange> = None;
        for one in &self.replay.requests {
            request(one, out, paint)?;
            let Some(change) = one.system.as_ref().filter(|change| !change.diff.is_empty()) else {
                continue;
            };
            if shown == Some(change) {
                writeln!(out, "  {}", paint.dim("the same differences as above"))?;
                continue;
            }
            shown = Some(change);
            writeln!(out)?;
            for line in change.diff.lines() {
                let text = plain(line, '\u{fffd}');
                let text = match line.as_bytes().first() {
                    Some(b'+') => paint.good(&text),
                    Some(b'-') => paint.bad(&text),
                    Some(b'@') => paint.dim(&text),
                    _ => text,
                };
                writeln!(out, "  {text}")?;
            }
        }
        Ok(())
    }
}

fn request(one: &ReplayedRequest, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
    writeln!(
        out,
        "\n{}  {}  “{}”",
        paint.bold(&format!("Turn {}", one.turn)),
        moment(&one.sent),
        fit(&one_line(&one.prompt), 60)
    )?;
    match &one.system {
        None => writeln!(out, "  system prompt  too long to be recorded")?,
        Some(change) => {
            let figures = format!(
                "{} → {} bytes, {} → {} tokens",
                grouped(change.bytes),
                grouped(change.bytes_now),
                grouped(change.tokens),
                grouped(change.tokens_now)
            );
            match &change.first_difference {
                None => writeln!(
                    out,
                    "  system prompt  the same, to the byte: {} bytes",
                    grouped(change.bytes)
                )?,
                Some(first) => writeln!(
                    out,
                    "  system prompt  {figures}\n  first change   byte {}, line {}, in {}\n  changed in     {}",
                    grouped(first.byte),
                    grouped(first.line),
                    plain(&first.part, '\u{fffd}'),
                    plain(&change.changed_in.join(", "), '\u{fffd}')
                )?,
            }
        }
    }
    let mut tools = Vec::new();
    if !one.tools_added.is_empty() {
        tools.push(format!("added {}", one.tools_added.join(", ")));
    }
    if !one.tools_removed.is_empty() {
        tools.push(format!("removed {}", one.tools_removed.join(", ")));
    }
    let tools = if tools.is_empty() {
        "the same".to_owned()
    } else {
        one_line(&tools.join("; "))
    };
    writeln!(out, "  tools          {tools}")?;
    writeln!(out, "  cached prefix  {}", prefix(one))?;
    if let (Some(then), Some(now)) = (one.request_bytes, one.request_bytes_now) {
        writeln!(
            out,
            "  first request  {} → about {} bytes",
            grouped(then),
            grouped(now)
        )?;
    }
    Ok(())
}

/// Providers look at tools first, then at the system prompt, then at the messages.
fn prefix(one: &ReplayedRequest) -> String {
    if one.cached_prefix_kept {
        return "kept".to_owned();
    }
    let messages = match one.messages {
        0 => String::new(),
        messages => format!("; {} are sent again", count(messages, "earlier message")),
    };
    if !(one.tools_added.is_empty() && one.tools_removed.is_empty()) {
        return format!("lost: it starts with the tools{messages}");
    }
    match one
        .system
        .as_ref()
        .and_then(|system| system.first_difference.as_ref())
    {
        Some(first) => format!(
            "the first {} bytes of the system prompt stay valid{messages}",
            grouped(first.byte)
        ),
        None => format!("unknown{messages}"),
    }
}
