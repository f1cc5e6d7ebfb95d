//! `chitin trace replay`: what would be sent now, beside what was sent then. No model is called.

use super::ReplayArgs;
use super::find;
use super::list::moment;
use crate::commands::skills::{count, fit, one_line};
use crate::error::CliError;
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render, grouped, plain};
use chitin_agent::journal::{Redactor, TraceEvent, TraceSummary};
use chitin_context::{Context, Origin, Role};
use chitin_runtime::context::TokenCounting as Tokens;
use chitin_runtime::context::{FileSource, Trigger, TurnContext, TurnRequest, WhichTurn};
use chitin_runtime::{Host, Notes};
use chitin_runtime::{Setup, Target, shown};
use serde::Serialize;
use serde_json::Value;
use similar::{DiffTag, TextDiff};
use std::fmt;
use std::path::PathBuf;

/// Everything that was compared.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Replay {
    session_key: String,
    session_id: String,
    contract: &'static str,
    #[serde(serialize_with = "chitin_workspace::json_path::serialize")]
    recorded_workspace: PathBuf,
    #[serde(serialize_with = "chitin_workspace::json_path::serialize")]
    workspace: PathBuf,
    requests: Vec<Compared>,
    #[serde(skip)]
    shown: String,
}

/// One recorded context beside what would be sent now.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Compared {
    turn: usize,
    sent: String,
    prompt: String,
    /// Earlier messages that go with it, as they were.
    messages: usize,
    /// Nothing, when the system prompt was too long to be recorded.
    system: Option<SystemChange>,
    tools_added: Vec<String>,
    tools_removed: Vec<String>,
    /// Whether everything that a provider could have cached stays usable, messages included.
    cached_prefix_kept: bool,
    /// How many bytes the first request had, where that is recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    request_bytes: Option<usize>,
    /// About how many it would have now.
    #[serde(skip_serializing_if = "Option::is_none")]
    request_bytes_now: Option<usize>,
}

/// How the system prompt changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct SystemChange {
    bytes: usize,
    bytes_now: usize,
    tokens: usize,
    tokens_now: usize,
    /// Where the first difference is; nothing when there is none.
    first_difference: Option<Difference>,
    /// The parts of the prompt in which something is different.
    changed_in: Vec<String>,
    diff: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Difference {
    byte: usize,
    line: usize,
    part: String,
}

pub(super) fn run(args: &ReplayArgs, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
    let summary = find::one(&args.session, host, printer)?;
    let file = find::read(&summary, printer)?;
    let contract = find::contract_of(args.contract.as_deref(), &file, host)?;
    let recorded_workspace = PathBuf::from(&summary.workspace);
    let directory = args.directory.clone();
    let target = Target {
        directory: Some(directory.unwrap_or_else(|| recorded_workspace.clone())),
        // The turn is that of the agent which was recorded, wherever its files are now.
        agent: summary.session_key.split(':').nth(1).map(str::to_owned),
        contract: Some(contract.name.to_owned()),
        ..Target::default()
    };
    let mut now = Now {
        host,
        printer,
        target,
        summary: &summary,
        looks: Vec::new(),
    };
    let mut requests = Vec::new();
    for (at, run) in file.runs().iter().enumerate() {
        let trigger = run.event("session.started").map_or("", |event| {
            event.data()["trigger"].as_str().unwrap_or_default()
        });
        let sent_bytes = run
            .event("model.request")
            .and_then(|event| usize::try_from(event.data()["bytes"].as_u64()?).ok());
        for (number, context) in run.contexts().enumerate() {
            let look = now.look(at, trigger)?;
            let bytes = sent_bytes.filter(|_| number == 0);
            requests.push(compare(at + 1, context, look, &recorded_workspace, bytes));
        }
    }
    if requests.is_empty() {
        printer.note("the recording holds no request");
    }
    let workspace = now.workspace()?;
    printer.result(&Replay {
        contract: contract.name,
        requests,
        shown: shown(&workspace, host),
        recorded_workspace,
        workspace,
        session_key: summary.session_key.clone(),
        session_id: summary.session_id.clone(),
    })
}

/// What a turn would be made of now, looked at once for every kind of turn.
struct Now<'a> {
    host: &'a Host,
    printer: &'a Printer,
    target: Target,
    summary: &'a TraceSummary,
    looks: Vec<((WhichTurn, Trigger), Look)>,
}

struct Look {
    seen: TurnContext,
    workspace: PathBuf,
}

impl Now<'_> {
    fn look(&mut self, turn: usize, trigger: &str) -> Result<&Look, CliError> {
        let which = if turn == 0 {
            WhichTurn::First
        } else {
            WhichTurn::Next
        };
        let kind = match trigger {
            "heartbeat" => Trigger::Heartbeat,
            "cron" => Trigger::Cron,
            "hook" => Trigger::Hook,
            _ => Trigger::User,
        };
        let known = self.looks.iter().position(|(key, _)| *key == (which, kind));
        let at = if let Some(at) = known {
            at
        } else {
            let look = self.make(which, kind)?;
            self.looks.push(((which, kind), look));
            self.looks.len() - 1
        };
        Ok(&self.looks[at].1)
    }

    fn make(&self, turn: WhichTurn, run: Trigger) -> Result<Look, CliError> {
        let mut args = TurnRequest {
            session: Some(self.summary.session_key.clone()),
            turn,
            run,
            model: Some(self.summary.model.clone()),
            ..TurnRequest::default()
        };
        let is_first = self.looks.is_empty();
        let quiet = Notes::none();
        let notes = if is_first {
            self.printer.notes()
        } else {
            quiet
        };
        let setup = args.find(self.host, &self.target, &notes)?;
        let looked = args.context(self.host, &setup, FileSource::Disk);
        let seen = looked.or_else(|_| {
            // A model that we have no figures for changes no prompt but the line that names it.
            args.model = None;
            args.context(self.host, &setup, FileSource::Disk)
        })?;
        if is_first {
            for note in &seen.notes {
                self.printer.note(note);
            }
        }
        Ok(Look {
            seen,
            workspace: setup.directory,
        })
    }

    fn workspace(&self) -> Result<PathBuf, CliError> {
        if let Some((_, look)) = self.looks.first() {
            return Ok(look.workspace.clone());
        }
        let quiet = Notes::none();
        Ok(Setup::find(self.host, &self.target, &quiet)?.directory)
    }
}

fn compare(
    turn: usize,
    context: &TraceEvent,
    look: &Look,
    recorded_workspace: &std::path::Path,
    request_bytes: Option<usize>,
) -> Compared {
    let data = context.data();
    let parts = Parts::new(&look.seen.context, &look.workspace, recorded_workspace);
    let mut tokens = look.seen.model.counter(Tokens::Estimate);
    let system = data["systemPrompt"]
        .as_str()
        .map(|then| SystemChange::new(then, &parts, &mut tokens));
    let names = |list: &Value| -> Vec<String> {
        let tools = list.as_array().into_iter().flatten();
        tools
            .filter_map(|tool| Some(tool["name"].as_str()?.to_owned()))
            .collect()
    };
    let (then, now) = (names(&data["tools"]), &look.seen.tools);
    let is_recorded = data["tools"].is_array();
    let missing = |from: &[String], of: &[String]| -> Vec<String> {
        let missing = of.iter().filter(|name| is_recorded && !from.contains(name));
        missing.cloned().collect()
    };
    let (added, removed) = (missing(&then, now), missing(now, &then));
    let same_system = system
        .as_ref()
        .is_some_and(|system| system.first_difference.is_none());
    let request_bytes_now = request_bytes
        .zip(system.as_ref())
        .map(|(bytes, system)| (bytes + system.bytes_now).saturating_sub(system.bytes));
    Compared {
        turn,
        sent: context.time().to_owned(),
        prompt: data["prompt"].as_str().unwrap_or_default().to_owned(),
        messages: data["messages"].as_array().map_or(0, Vec::len),
        cached_prefix_kept: same_system && added.is_empty() && removed.is_empty(),
        system,
        tools_added: added,
        tools_removed: removed,
        request_bytes,
        request_bytes_now,
    }
}

/// The system prompt of now, as it would have been recorded, and where its parts begin.
struct Parts {
    text: String,
    /// Where a part begins, where its own text begins, and what it is called.
    starts: Vec<(usize, usize, String)>,
}

impl Parts {
    /// A recording has no secrets, and it names the workspace as it was called then.
    fn new(
        context: &Context,
        workspace: &std::path::Path,
        recorded_workspace: &std::path::Path,
    ) -> Self {
        let (now, then) = (
            workspace.to_string_lossy(),
            recorded_workspace.to_string_lossy(),
        );
        let redactor = Redactor::default();
        let mut parts = Self {
            text: String::new(),
            starts: Vec::new(),
        };
        let system = context.fragments.iter();
        for fragment in system.filter(|fragment| fragment.role == Role::System) {
            let mut text = fragment.text();
            if now != then && !now.is_empty() {
                text = text.replace(&*now, &then);
                // An agent that says no name has its directory's.
                let name =
                    |path: &str| format!(" name={} |", path.rsplit('/').next().unwrap_or_default());
                text = text.replace(&name(&now), &name(&then));
            }
            let start = parts.text.len();
            let name = match &fragment.origin {
                Origin::Boundary => "the cache boundary".to_owned(),
                Origin::Section { key } => format!("section `{key}`"),
                Origin::File { name, .. } => format!("`{name}`"),
            };
            parts
                .starts
                .push((start, start + fragment.lead.len(), name));
            parts.text.push_str(&redactor.text(&text));
        }
        parts
    }

    /// Names the part that a byte belongs to. What stands in a separator is the end of the part before it.
    fn at(&self, byte: usize) -> String {
        let at = self.starts.partition_point(|(start, _, _)| *start <= byte);
        let Some((_, own, name)) = at.checked_sub(1).and_then(|at| self.starts.get(at)) else {
            return "the beginning".to_owned();
        };
        match at.checked_sub(2).and_then(|at| self.starts.get(at)) {
            Some((_, _, before)) if byte < *own => format!("the end of {before}"),
            Some(_) | None => name.clone(),
        }
    }
}

impl SystemChange {
    fn new(then: &str, parts: &Parts, tokens: &mut dyn FnMut(&str) -> usize) -> Self {
        let now = parts.text.as_str();
        let mut change = Self {
            bytes: then.len(),
            bytes_now: now.len(),
            tokens: tokens(then),
            tokens_now: tokens(now),
            first_difference: None,
            changed_in: Vec::new(),
            diff: String::new(),
        };
        if then == now {
            return change;
        }
        let same = then.bytes().zip(now.bytes());
        let mut byte = same.take_while(|(then, now)| then == now).count();
        while !now.is_char_boundary(byte) {
            byte -= 1;
        }
        change.first_difference = Some(Difference {
            byte,
            line: 1 + now[..byte].matches('\n').count(),
            part: parts.at(byte),
        });
        let diff = TextDiff::from_lines(then, now);
        let mut lines: Vec<usize> = vec![0];
        lines.extend(now.match_indices('\n').map(|(at, _)| at + 1));
        for op in diff.ops().iter().filter(|op| op.tag() != DiffTag::Equal) {
            let line = op.new_range().start;
            let part = parts.at(lines.get(line).copied().unwrap_or(now.len()));
            if !change.changed_in.contains(&part) {
                change.changed_in.push(part);
            }
        }
        change.diff = diff
            .unified_diff()
            .context_radius(2)
            .header("then", "now")
            .to_string();
        change
    }
}

impl Render for Replay {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        writeln!(
            out,
            "{} against {} ({})",
            paint.bold(&one_line(&self.session_key)),
            plain(&self.shown, '\u{fffd}'),
            self.contract
        )?;
        let mut shown: Option<&SystemChange> = None;
        for one in &self.requests {
            one.text(out, paint)?;
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

impl Compared {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        writeln!(
            out,
            "\n{}  {}  “{}”",
            paint.bold(&format!("Turn {}", self.turn)),
            moment(&self.sent),
            fit(&one_line(&self.prompt), 60)
        )?;
        match &self.system {
            None => writeln!(out, "  system prompt  was too long to be recorded")?,
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
        if !self.tools_added.is_empty() {
            tools.push(format!("added {}", self.tools_added.join(", ")));
        }
        if !self.tools_removed.is_empty() {
            tools.push(format!("removed {}", self.tools_removed.join(", ")));
        }
        let tools = if tools.is_empty() {
            "the same".to_owned()
        } else {
            one_line(&tools.join("; "))
        };
        writeln!(out, "  tools          {tools}")?;
        writeln!(out, "  cached prefix  {}", self.prefix())?;
        if let (Some(then), Some(now)) = (self.request_bytes, self.request_bytes_now) {
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
    fn prefix(&self) -> String {
        if self.cached_prefix_kept {
            return "kept".to_owned();
        }
        let messages = match self.messages {
            0 => String::new(),
            messages => format!("; {} are sent afresh", count(messages, "earlier message")),
        };
        if !(self.tools_added.is_empty() && self.tools_removed.is_empty()) {
            return format!("lost: tools stand at its beginning{messages}");
        }
        match self
            .system
            .as_ref()
            .and_then(|one| one.first_difference.as_ref())
        {
            Some(first) => format!(
                "the first {} bytes of the system prompt stay{messages}",
                grouped(first.byte)
            ),
            None => format!("not known{messages}"),
        }
    }
}
