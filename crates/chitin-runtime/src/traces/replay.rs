//! What would be sent now, beside what was sent then. No model is called.

use crate::context::{FileSource, TokenCounting, Trigger, TurnContext, TurnRequest, WhichTurn};
use crate::error::RuntimeError;
use crate::{AgentTarget, Host, Notes, Setup};
use chitin_agent::journal::{JournalRedactor, TraceEvent, TraceFile, TraceSummary};
use chitin_context::{Context, FragmentOrigin, FragmentRole};
use chitin_contract::Contract;
use serde::Serialize;
use serde_json::Value;
use similar::{DiffTag, TextDiff};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a difference is sought for the best way to say it. A recording may have lines without number.
const PATIENCE: Duration = Duration::from_secs(2);

/// A recorded session beside what would be sent now.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TraceReplay {
    /// The session's key.
    pub session_key: String,
    /// Its id.
    pub session_id: String,
    /// The contract that the workspace is read by.
    pub contract: &'static str,
    /// The workspace that was recorded.
    #[serde(serialize_with = "chitin_workspace::json_path::serialize")]
    pub recorded_workspace: PathBuf,
    /// The workspace that it is compared with.
    #[serde(serialize_with = "chitin_workspace::json_path::serialize")]
    pub workspace: PathBuf,
    /// Every request of the recording.
    pub requests: Vec<ReplayedRequest>,
}

/// One recorded context beside what would be sent now.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplayedRequest {
    /// The number of the turn, from 1.
    pub turn: usize,
    /// When it was sent.
    pub sent: String,
    /// What the user wrote.
    pub prompt: String,
    /// Earlier messages that go with it, as they were.
    pub messages: usize,
    /// Nothing, when the system prompt was too long to be recorded.
    pub system: Option<SystemChange>,
    /// Tools that are offered now and were not then.
    pub tools_added: Vec<String>,
    /// Tools that were offered then and are not now.
    pub tools_removed: Vec<String>,
    /// Whether everything that a provider could have cached stays usable, messages included.
    pub cached_prefix_kept: bool,
    /// How many bytes the first request had, where that is recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_bytes: Option<usize>,
    /// About how many it would have now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_bytes_now: Option<usize>,
}

/// How the system prompt changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SystemChange {
    /// Its bytes then.
    pub bytes: usize,
    /// Its bytes now.
    pub bytes_now: usize,
    /// Its tokens then.
    pub tokens: usize,
    /// Its tokens now.
    pub tokens_now: usize,
    /// Where the first difference is; nothing when there is none.
    pub first_difference: Option<PromptDifference>,
    /// The parts of the prompt in which something is different.
    pub changed_in: Vec<String>,
    /// The difference, line by line; empty when there is none.
    pub diff: String,
}

/// Where two prompts differ first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptDifference {
    /// The byte in the prompt of now.
    pub byte: usize,
    /// The line, from 1.
    pub line: usize,
    /// The part of the prompt.
    pub part: String,
}

impl TraceReplay {
    /// Compares a recorded session with what its workspace would send now, or another one. No model is called.
    pub fn new(
        host: &Host,
        summary: &TraceSummary,
        file: &TraceFile,
        contract: &'static Contract,
        directory: Option<&Path>,
        notes: &Notes,
    ) -> Result<Self, RuntimeError> {
        let recorded_workspace = PathBuf::from(&summary.workspace);
        let target = AgentTarget {
            directory: Some(directory.unwrap_or(&recorded_workspace).to_path_buf()),
            // The turn is that of the agent which was recorded, wherever its files are now.
            agent: summary.session_key.split(':').nth(1).map(str::to_owned),
            contract: Some(contract.name.to_owned()),
            ..AgentTarget::default()
        };
        let mut now = Now {
            host,
            notes,
            target,
            summary,
            looks: Vec::new(),
        };
        let mut requests = Vec::new();
        for (at, turn) in file.runs().enumerate() {
            let run = turn.run();
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
        Ok(Self {
            contract: contract.name,
            requests,
            workspace: now.workspace()?,
            recorded_workspace,
            session_key: summary.session_key.clone(),
            session_id: summary.session_id.clone(),
        })
    }
}

/// What a turn would be made of now, looked at once for every kind of turn.
struct Now<'a> {
    host: &'a Host,
    notes: &'a Notes,
    target: AgentTarget,
    summary: &'a TraceSummary,
    looks: Vec<((WhichTurn, Trigger), Look)>,
}

struct Look {
    seen: TurnContext,
    workspace: PathBuf,
}

impl Now<'_> {
    fn look(&mut self, turn: usize, trigger: &str) -> Result<&Look, RuntimeError> {
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

    fn make(&self, turn: WhichTurn, run: Trigger) -> Result<Look, RuntimeError> {
        let mut args = TurnRequest {
            session: Some(self.summary.session_key.clone()),
            turn,
            run,
            model: Some(self.summary.model.clone()),
            ..TurnRequest::default()
        };
        let is_first = self.looks.is_empty();
        let quiet = Notes::none();
        let notes = if is_first { self.notes } else { &quiet };
        let setup = args.find(self.host, &self.target, notes)?;
        let looked = args.context(self.host, &setup, FileSource::Disk);
        let seen = looked.or_else(|_| {
            // A model that we have no figures for changes no prompt but the line that names it.
            args.model = None;
            args.context(self.host, &setup, FileSource::Disk)
        })?;
        if is_first {
            for note in &seen.notes {
                self.notes.note(note);
            }
        }
        Ok(Look {
            seen,
            workspace: setup.directory,
        })
    }

    fn workspace(&self) -> Result<PathBuf, RuntimeError> {
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
    recorded_workspace: &Path,
    request_bytes: Option<usize>,
) -> ReplayedRequest {
    let data = context.data();
    let parts = Parts::new(&look.seen.context, &look.workspace, recorded_workspace);
    let mut tokens = look.seen.model.counter(TokenCounting::Estimate);
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
    ReplayedRequest {
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
    fn new(context: &Context, workspace: &Path, recorded_workspace: &Path) -> Self {
        let (now, then) = (
            workspace.to_string_lossy(),
            recorded_workspace.to_string_lossy(),
        );
        let redactor = JournalRedactor::default();
        let mut parts = Self {
            text: String::new(),
            starts: Vec::new(),
        };
        let system = context.fragments.iter();
        for fragment in system.filter(|fragment| fragment.role == FragmentRole::System) {
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
                FragmentOrigin::Boundary => "the cache boundary".to_owned(),
                FragmentOrigin::Section { key } => format!("section `{key}`"),
                FragmentOrigin::File { name, .. } => format!("`{name}`"),
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
        change.first_difference = Some(PromptDifference {
            byte,
            line: 1 + now[..byte].matches('\n').count(),
            part: parts.at(byte),
        });
        let mut config = TextDiff::configure();
        let diff = config.timeout(PATIENCE).diff_lines(then, now);
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
