//! `chitin trace show`.

use super::ShowArgs;
use super::list::moment;
use crate::commands::skills::{count, fit, one_line};
use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render, grouped};
use crate::terminal::messages;
use chitin_agent::journal::{self, LoggedRequest, TraceEvent, TraceFile, TraceSummary};
use chitin_runtime::{Host, traces};
use serde::Serialize;
use serde_json::Value;
use std::fmt;

/// How wide what was said may be.
const WORDS: usize = 72;

pub(super) fn run(args: &ShowArgs, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
    let summary = traces::find(&args.session, host, &printer.notes())?;
    let file = traces::read(&summary, &printer.notes())?;
    if let Some(name) = &args.file {
        let turn = args.turn.and_then(|turn| usize::try_from(turn).ok());
        let bytes = traces::injected_file(host, &summary, &file, name, turn)?;
        return printer.result(&InjectedText {
            name: name.clone(),
            text: String::from_utf8_lossy(&bytes).into_owned(),
        });
    }
    match args.request {
        Some(number) => printer.result(&request(number, &summary, &file, host, printer)?),
        None => printer.result(&Events { summary, file }),
    }
}

/// A session, event by event.
struct Events {
    summary: TraceSummary,
    file: TraceFile,
}

/// The events one by one: all together are many times as long as the file.
struct EachEvent<'a>(&'a TraceFile);

impl Serialize for EachEvent<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.events().map(|event| event.value))
    }
}

impl Serialize for Events {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Shape<'a> {
            trace: &'a TraceSummary,
            events: EachEvent<'a>,
        }
        let (trace, events) = (&self.summary, EachEvent(&self.file));
        Shape { trace, events }.serialize(serializer)
    }
}

impl Render for Events {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        let trace = &self.summary;
        writeln!(
            out,
            "{}  {}\n{}  {}",
            paint.bold(&one_line(&trace.session_key)),
            one_line(&trace.session_id),
            paint.dim(&one_line(&trace.workspace)),
            one_line(&trace.model),
        )?;
        for (at, turn) in self.file.runs().enumerate() {
            let run = turn.run();
            let begun = run.events.first().map_or("", |event| event.time());
            writeln!(
                out,
                "\n{}",
                paint.bold(&format!("Turn {}  {}", at + 1, moment(begun)))
            )?;
            for event in &run.events {
                let (kind, said) = (one_line(event.kind()), describe(event));
                let line = format!("  {:<12} {kind:<17} {said}", clock(event));
                writeln!(out, "{}", line.trim_end())?;
            }
        }
        Ok(())
    }
}

fn clock(event: &TraceEvent) -> String {
    let time = one_line(event.time());
    time.get(11..23).unwrap_or_default().to_owned()
}

/// Says in a few words what an event is about.
fn describe(event: &TraceEvent) -> String {
    let data = event.data();
    let text = |name: &str| one_line(data[name].as_str().unwrap_or_default());
    let number = |value: &Value| {
        let number = value
            .as_u64()
            .and_then(|number| usize::try_from(number).ok());
        grouped(number.unwrap_or_default())
    };
    let length = |value: &Value| value.as_array().map_or(0, Vec::len);
    if data["truncated"] == true {
        return format!(
            "{} bytes, too long to be recorded",
            number(&data["originalBytes"])
        );
    }
    match event.kind() {
        "session.started" => format!(
            "by {}{}, {} tools",
            text("trigger"),
            match data["messageChannel"].as_str() {
                Some(channel) => format!(" on {}", one_line(channel)),
                None => String::new(),
            },
            number(&data["toolCount"])
        ),
        "trace.metadata" => {
            let harness = &data["harness"];
            let word = |name: &str| one_line(harness[name].as_str().unwrap_or_default());
            format!("{} {} {}", word("name"), word("version"), word("contract"))
        }
        "context.compiled" => format!(
            "system prompt {} bytes, {}, {}",
            grouped(data["systemPrompt"].as_str().map_or(0, str::len)),
            count(length(&data["messages"]), "earlier message"),
            count(length(&data["tools"]), "tool"),
        ),
        "prompt.submitted" => quoted(&text("prompt")),
        "model.request" => format!(
            "call {}, {} bytes, {}",
            number(&data["call"]),
            number(&data["bytes"]),
            text("digest").get(..12).unwrap_or_default()
        ),
        "tool.call" => format!(
            "{} {}",
            text("name"),
            fit(&one_line(&data["args"].to_string()), WORDS)
        ),
        "tool.result" => {
            let ended = if data["success"] == true {
                "ok"
            } else {
                "failed"
            };
            let said = data["result"]["content"][0]["text"].as_str();
            let said = said.map(|said| quoted(&one_line(said))).unwrap_or_default();
            format!("{} {ended} {said}", text("name"))
        }
        "model.completed" => {
            let usage = &data["usage"];
            let said = data["assistantTexts"]
                .as_array()
                .and_then(|texts| texts.last());
            format!(
                "{} tokens, {} {}",
                messages::counted(
                    usage["total"].as_u64().unwrap_or_default(),
                    usage["tokensUnknown"] == true
                ),
                messages::cost(usage["cost"]["total"].as_f64()),
                quoted(&one_line(said.and_then(Value::as_str).unwrap_or_default()))
            )
        }
        "trace.artifacts" => count(length(&data["toolMetas"]), "tool call"),
        "session.ended" => text("status"),
        _ => String::new(),
    }
}

/// A workspace file as a turn read it.
#[derive(Debug, Serialize)]
struct InjectedText {
    name: String,
    text: String,
}

impl Render for InjectedText {
    fn text(&self, out: &mut dyn fmt::Write, _: Paint) -> fmt::Result {
        out.write_str(&self.text)
    }
}

fn quoted(text: &str) -> String {
    format!("“{}”", fit(text, WORDS))
}

/// A request.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Request {
    number: u32,
    digest: String,
    /// Whether the body is what was sent, to the byte.
    exact: bool,
    body: String,
}

/// Finds a request in the trajectory, else in the payload log.
fn request(
    number: u32,
    summary: &TraceSummary,
    file: &TraceFile,
    host: &Host,
    printer: &Printer,
) -> Result<Request, CliError> {
    let contract = traces::contract_of(None, file, host)?;
    let at = usize::try_from(number).unwrap_or(usize::MAX);
    let mut held = file.requests().count();
    let found = if held > 0 {
        file.requests().nth(at - 1)
    } else {
        let log = traces::switches(host, contract).payload_log;
        let log = log.or_else(|| {
            let logs = chitin_runtime::chitin_home(host)?.join("logs");
            Some(logs.join("anthropic-payload.jsonl"))
        });
        let logged = log.and_then(|log| journal::logged_request(&log, &summary.session_id).ok());
        let logged = logged.unwrap_or_default();
        held = logged.len();
        logged.into_iter().nth(at - 1)
    };
    let Some(found) = found else {
        let message = format!("There is no request {number} in this recording.");
        let error = CliError::new(FailureKind::User, message);
        return Err(match held {
            0 => error
                .hint(format!(
                    "earlier versions did not record requests under the contract `{}`",
                    contract.name
                ))
                .hint("`CHITIN_ANTHROPIC_PAYLOAD_LOG=1` logs them"),
            found => error.hint(format!("it holds {}", count(found, "request"))),
        });
    };
    let exact = found.is_exact();
    let LoggedRequest { digest, body } = found;
    let Some(body) = body else {
        return Err(CliError::new(
            FailureKind::User,
            format!("Request {number} was too long for the trajectory."),
        )
        .hint("`CHITIN_ANTHROPIC_PAYLOAD_LOG=1` logs requests of any length"));
    };
    if !exact {
        printer.note("not byte-exact: secrets or images were removed when it was recorded");
    }
    Ok(Request {
        number,
        digest,
        exact,
        body,
    })
}

impl Render for Request {
    fn text(&self, out: &mut dyn fmt::Write, _: Paint) -> fmt::Result {
        out.write_str(&self.body)
    }
}
