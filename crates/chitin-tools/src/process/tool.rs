//! The tool.

use super::job::{CommandProcess, StdinState, Unfinished, bounded};
use super::registry::Jobs;
use crate::approval::Gate;
use crate::exec::{describe, details};
use crate::schema::spec_on_file;
use crate::tool::{CallContext, ToolOutcome, TypedTool};
use crate::untrusted::{COMMANDS, GuardedDeed};
use chitin_protocol::origin::Origin;
use chitin_protocol::tool::ToolSpec;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

const NAME: &str = "process";
const DESCRIPTION: &str = "Manage commands that `exec` left running in the background. `list` shows them; `poll` \
returns new output and whether the command is still running, waiting up to `timeout` milliseconds; `log` \
shows lines of its whole output; `write` sends text to its stdin; `kill` stops it and all its child processes; `remove` also \
deletes it from the list.";

/// How long a poll waits at most.
const LONGEST_POLL: Duration = Duration::from_mins(2);
/// How many lines `log` shows when it is not told.
const LINES: usize = 200;
/// What is kept free for the words around an output.
const AROUND: usize = 256;
/// The most that can be typed at once.
const LONGEST_INPUT: usize = 256 << 10;

crate::schema_on_file!(Arguments, "arguments.json");

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Arguments {
    /// What to do.
    action: Action,
    /// The job, as `exec` named it; for every action but `list`.
    #[serde(alias = "id", alias = "session_id", alias = "jobId")]
    session_id: Option<String>,
    /// What to type, for `write`.
    data: Option<String>,
    /// Whether the input ends after that, for `write`.
    eof: Option<bool>,
    /// The first line to show, from 0, for `log`; left out, the last lines are shown.
    offset: Option<usize>,
    /// How many lines to show, for `log`.
    limit: Option<usize>,
    /// How long to wait for news, in milliseconds, for `poll`.
    timeout: Option<u64>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Action {
    List,
    Poll,
    Log,
    Write,
    Kill,
    Clear,
    Remove,
}

/// Looks after commands in the background.
pub struct ProcessTool {
    spec: ToolSpec,
    jobs: Arc<Jobs>,
    gate: Arc<Gate>,
}

impl std::fmt::Debug for ProcessTool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProcessTool").finish_non_exhaustive()
    }
}

impl ProcessTool {
    /// Returns what a model is told of the tool.
    pub fn definition() -> ToolSpec {
        spec_on_file(NAME, DESCRIPTION, PARAMETERS)
    }

    /// Makes the tool for the registry that `exec` fills. What is typed into a job is screened by the gate's rules.
    pub fn new(jobs: Arc<Jobs>, gate: Arc<Gate>) -> Self {
        Self {
            spec: Self::definition(),
            jobs,
            gate,
        }
    }

    fn list(&self, context: &CallContext<'_>) -> ToolOutcome {
        let jobs = self.jobs.list(context.session_key);
        let lines: Vec<_> = jobs
            .iter()
            .map(|(id, job)| {
                let state = job.ending().map_or_else(
                    || "running".to_owned(),
                    |ending| {
                        describe(&ending, job.duration())
                            .unwrap_or_else(|| "[exit code 0]".to_owned())
                    },
                );
                let seconds = job.duration().as_secs_f64();
                format!("{id}  {state}  {seconds:.1} s  {}", one_line(&job.command))
            })
            .collect();
        let text = if lines.is_empty() {
            "There are no background commands.".to_owned()
        } else {
            bounded(lines.join("\n"), context.max_output_bytes).0
        };
        let found: Vec<_> = jobs.iter().map(|(id, job)| about(id, job)).collect();
        ToolOutcome::text(text).with_details(json!({ "status": "completed", "sessions": found }))
    }

    async fn write(
        &self,
        id: &str,
        job: &Arc<CommandProcess>,
        arguments: &Arguments,
    ) -> Result<ToolOutcome, String> {
        let data = arguments.data.clone().unwrap_or_default();
        if data.len() > LONGEST_INPUT {
            return Err(format!(
                "`data` is too long: the limit is {LONGEST_INPUT} bytes per call."
            ));
        }
        if let Some(why) = self.gate.rules().screened(&data) {
            return Err(format!("Nothing was written. {why}"));
        }
        let then = if arguments.eof.unwrap_or(false) {
            StdinState::Closes
        } else {
            StdinState::StaysOpen
        };
        let (length, typing) = (data.len(), Arc::clone(job));
        tokio::task::spawn_blocking(move || typing.write(data.as_bytes(), then))
            .await
            .map_err(|error| error.to_string())
            .and_then(|written| written.map_err(|error| error.to_string()))
            .map_err(|error| format!("Could not write to `{id}`: {error}."))?;
        Ok(
            ToolOutcome::text(format!("Wrote {length} bytes to `{id}`."))
                .with_details(about(id, job)),
        )
    }
}

impl TypedTool for ProcessTool {
    type Arguments = Arguments;

    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(
        &self,
        arguments: Arguments,
        context: &CallContext<'_>,
    ) -> Result<ToolOutcome, String> {
        if matches!(arguments.action, Action::List) {
            return Ok(self.list(context));
        }
        let id = arguments
            .session_id
            .as_deref()
            .ok_or("`sessionId` is missing: it selects the command.")?;
        let job = self.jobs.get(context.session_key, id).ok_or_else(|| {
            format!("There is no background command `{id}` in this session. `list` shows them.")
        })?;
        match arguments.action {
            Action::List => Ok(self.list(context)),
            Action::Poll => {
                let polled = poll(id, &job, arguments.timeout, context).await;
                Ok(polled.from(origin(&job, context).await))
            }
            Action::Log => {
                let logged = log(id, &job, &arguments, context);
                Ok(logged.from(origin(&job, context).await))
            }
            Action::Write => {
                if job.text.keeps_own {
                    context.may_write(NAME).await?;
                } else {
                    let what = format!("type into `{}`", one_line(&job.command));
                    let deed = GuardedDeed {
                        tool: NAME,
                        entry: COMMANDS,
                        what: &what,
                    };
                    context.may(deed).await?;
                }
                self.write(id, &job, &arguments).await
            }
            Action::Kill => {
                job.stop().await;
                let ended = status(id, &job, context, "Ended.");
                Ok(ended.from(origin(&job, context).await))
            }
            Action::Clear if job.ending().is_none() => Err(format!(
                "`{id}` is still running. `remove` stops it and deletes it from the list."
            )),
            Action::Clear | Action::Remove => {
                job.stop().await;
                let outcome = status(id, &job, context, "Forgotten.");
                let outcome = outcome.from(origin(&job, context).await);
                self.jobs.remove(context.session_key, id);
                Ok(outcome)
            }
        }
    }
}

/// Returns where the output of a command comes from. It may have read what came into the workspace since it began.
async fn origin(job: &CommandProcess, context: &CallContext<'_>) -> Option<Origin> {
    if job.text.origin.is_some() {
        return job.text.origin.clone();
    }
    let files = Arc::clone(&context.rights.untrusted.files);
    let any = tokio::task::spawn_blocking(move || files.any()).await;
    let is_trusted = matches!(any, Ok(None));
    (!is_trusted).then(|| Origin::command(&one_line(&job.command)))
}

async fn poll(
    id: &str,
    job: &Arc<CommandProcess>,
    timeout: Option<u64>,
    context: &CallContext<'_>,
) -> ToolOutcome {
    let wait = Duration::from_millis(timeout.unwrap_or(0)).min(LONGEST_POLL);
    if !wait.is_zero() {
        tokio::select! {
            () = job.wait_for_output() => {}
            _ = job.wait() => {}
            () = tokio::time::sleep(wait) => {}
            () = context.cancel.cancelled() => {}
        }
    }
    status(id, job, context, "")
}

fn log(
    id: &str,
    job: &CommandProcess,
    arguments: &Arguments,
    context: &CallContext<'_>,
) -> ToolOutcome {
    let reading = job.whole(usize::MAX / 2);
    let lines: Vec<_> = reading.text.lines().collect();
    let count = arguments.limit.unwrap_or(LINES);
    let from = arguments
        .offset
        .unwrap_or_else(|| lines.len().saturating_sub(count))
        .min(lines.len());
    let to = from.saturating_add(count).min(lines.len());
    let shown = lines[from..to].join("\n");
    let (shown, _) = bounded(shown, context.max_output_bytes.saturating_sub(AROUND));
    let text = format!(
        "{shown}\n[lines {from} to {to} of {}{}]",
        lines.len(),
        if job.ending().is_some() {
            ""
        } else {
            "; still running"
        }
    );
    ToolOutcome::text(text).with_details(about(id, job))
}

fn status(id: &str, job: &CommandProcess, context: &CallContext<'_>, first: &str) -> ToolOutcome {
    let reading = job.news(
        context.max_output_bytes.saturating_sub(AROUND),
        Unfinished::WaitsOnce,
    );
    let state = match job.ending() {
        None => format!("[`{id}` is still running]"),
        Some(ending) => {
            describe(&ending, job.duration()).unwrap_or_else(|| "[exit code 0]".to_owned())
        }
    };
    let parts = [first, reading.text.trim_end_matches('\n'), &state];
    let text: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let mut details = about(id, job);
    details["truncatedBytes"] = reading.missing.into();
    ToolOutcome::text(text.join("\n")).with_details(details)
}

/// Returns what people and programs see of a job.
fn about(id: &str, job: &CommandProcess) -> Value {
    let mut about = match job.ending() {
        Some(ending) => details(&ending, job.duration(), &job.report),
        None => json!({
            "status": "running",
            "durationMs": u64::try_from(job.duration().as_millis()).unwrap_or(u64::MAX),
            "sandbox": job.report,
        }),
    };
    about["sessionId"] = id.into();
    about["command"] = job.command.as_str().into();
    about["outputBytes"] = job.total().into();
    about
}

pub(super) fn one_line(command: &str) -> String {
    let line: String = command
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(120)
        .collect();
    line
}
