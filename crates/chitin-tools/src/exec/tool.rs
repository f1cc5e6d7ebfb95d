//! The tool.

use super::{Redact, describe, details, guarded};
use crate::approval::{Gate, Held, Question};
use crate::process::{CommandProcess, CommandText, Jobs, Unfinished};
use crate::sandbox::{
    Cause, CommandRequest, ErrorOutput, Sandbox, SandboxLevel, SandboxRefusal, SandboxReport,
    is_loader_variable,
};
use crate::schema::spec_on_file;
use crate::tool::{CallContext, ToolOutcome, TypedTool};
use crate::untrusted::{GuardedDeed, OwnFiles};
use chitin_protocol::origin::{Origin, add_origins};
use chitin_protocol::settings::ExecSettings;
use chitin_protocol::tool::ToolSpec;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const NAME: &str = "exec";
const DESCRIPTION: &str = "Run a shell command in the workspace. Returns stdout and stderr together, in order; very long \
output is shortened in the middle. A command that runs longer than `yieldMs` continues in the background; manage it with \
`process`. Commands usually run in a sandbox: no network, and no files outside the workspace.";

/// What is kept free for the words around an output.
const AROUND: usize = 512;
/// The longest command line.
const LONGEST_COMMAND: usize = 1 << 20;
/// How much of a command is shown to whoever is asked about it.
const SHOWN: usize = 2_000;
/// Stands after a command that failed while files were closed to it.
const KEPT: &str = "[commands cannot change the files that the agent is made of, because this conversation holds untrusted text]";
/// How often the way is reported.
const TICK: Duration = Duration::from_millis(200);
/// How much is reported at once.
const REPORTED: usize = 2048;

crate::schema_on_file!(Arguments, "arguments.json");

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Arguments {
    /// The command line, for `sh`.
    command: String,
    /// The directory to run it in; left out, the workspace.
    #[serde(alias = "cwd")]
    workdir: Option<String>,
    /// After how many seconds it is ended.
    timeout: Option<f64>,
    /// Whether it goes to the background at once.
    background: Option<bool>,
    /// After how many milliseconds it goes on in the background.
    #[serde(alias = "yield_ms")]
    yield_ms: Option<u64>,
    /// Variables to set for it.
    env: Option<BTreeMap<String, String>>,
}

/// How long commands may take, and how much of their output is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExecLimits {
    /// How long a command may take.
    pub timeout: Duration,
    /// After how long it goes on in the background.
    pub yield_after: Duration,
    /// How many bytes of its output are kept in memory.
    pub kept_output: usize,
}

impl Default for ExecLimits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_mins(30),
            yield_after: Duration::from_secs(10),
            kept_output: 200_000,
        }
    }
}

impl ExecLimits {
    /// Takes over what the user set.
    pub fn from_settings(settings: &ExecSettings) -> Self {
        let usual = Self::default();
        Self {
            timeout: settings
                .timeout_seconds
                .map_or(usual.timeout, |seconds| Duration::from_secs(seconds.into())),
            yield_after: settings
                .yield_ms
                .map_or(usual.yield_after, Duration::from_millis),
            ..usual
        }
    }
}

/// Runs commands.
pub struct ExecTool {
    spec: ToolSpec,
    sandbox: Arc<Sandbox>,
    gate: Arc<Gate>,
    jobs: Option<Arc<Jobs>>,
    redact: Redact,
    limits: ExecLimits,
    undo: Option<UndoCovers>,
}

/// Tells whether undo brings back what a file holds, by its real path.
pub type UndoCovers = Arc<dyn Fn(&Path) -> bool + Send + Sync>;

impl std::fmt::Debug for ExecTool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ExecTool")
            .field("sandbox", &self.sandbox)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl ExecTool {
    /// Returns what a model is told of the tool.
    pub fn definition() -> ToolSpec {
        spec_on_file(NAME, DESCRIPTION, PARAMETERS)
    }

    /// Makes the tool. Without a registry, because the `process` tool is not there, every command runs to its end.
    pub fn new(
        sandbox: Arc<Sandbox>,
        gate: Arc<Gate>,
        jobs: Option<Arc<Jobs>>,
        redact: Redact,
        limits: ExecLimits,
    ) -> Self {
        Self {
            spec: Self::definition(),
            sandbox,
            gate,
            jobs,
            redact,
            limits,
            undo: None,
        }
    }

    /// Says which files can be brought back after a command wrote over them.
    #[must_use]
    pub fn with_undo(mut self, covers: UndoCovers) -> Self {
        self.undo = Some(covers);
        self
    }

    /// Tells whether there is a file at a path whose content would be lost if a command replaced it.
    fn is_at_stake(&self, path: &Path) -> bool {
        let found = Sandbox::file_at(path);
        found.is_some_and(|real| self.undo.as_ref().is_none_or(|covers| !covers(&real)))
    }

    /// Finds out what holds commands, away from this thread: the first time takes a moment.
    async fn reach(&self) -> Result<Result<SandboxReport, SandboxRefusal>, String> {
        let sandbox = Arc::clone(&self.sandbox);
        tokio::task::spawn_blocking(move || sandbox.reach().cloned())
            .await
            .map_err(|error| format!("Could not test the sandbox: {error}."))
    }

    /// Says how a command is held for the sake of untrusted text, after asking where it cannot be. Fails with what the model is told.
    async fn held(
        &self,
        arguments: &Arguments,
        report: &SandboxReport,
        context: &CallContext<'_>,
    ) -> Result<CommandText, String> {
        let files = Arc::clone(&context.rights.untrusted.files);
        let sandbox = Arc::clone(&self.sandbox);
        let judged = report.clone();
        let looking =
            tokio::task::spawn_blocking(move || (files.any(), sandbox.can_keep_own(&judged)));
        let (readable, can_keep) = looking.await.map_err(|error| error.to_string())?;
        let reaches_out = self.sandbox.reaches_out(report);
        let origin = (reaches_out || readable.is_some()).then(|| {
            let first = arguments.command.lines().next().unwrap_or_default();
            Origin::command(&(self.redact)(first))
        });
        let mut against = context.rights.origins_against(NAME);
        if !context.rights.untrusted.rules.allows(NAME) {
            // It may follow what it reads.
            add_origins(&mut against, &readable);
        }
        let is_untrusted = !against.is_empty();
        let keeps_own = is_untrusted && can_keep && !reaches_out;
        if keeps_own {
            // What it writes could reach further than it does.
            context.may_write_despite(&against, NAME).await?;
        }
        if is_untrusted && (reaches_out || !can_keep) {
            let how = if reaches_out {
                "that can reach the network"
            } else {
                "that can change the files the agent is made of"
            };
            let command: String = arguments.command.chars().take(SHOWN).collect();
            let what = format!("run a command {how}: {}", command.escape_debug());
            let deed = GuardedDeed {
                tool: NAME,
                entry: NAME,
                what: &what,
            };
            context.may_despite(&against, deed).await?;
        }
        Ok(CommandText {
            is_untrusted: is_untrusted || origin.is_some(),
            origin,
            keeps_own,
        })
    }

    async fn start(
        &self,
        arguments: &Arguments,
        environment: BTreeMap<String, String>,
        workdir: std::path::PathBuf,
        text: CommandText,
        context: &CallContext<'_>,
    ) -> Result<Arc<CommandProcess>, String> {
        let timeout = arguments
            .timeout
            .filter(|seconds| *seconds > 0.0)
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
            .map_or(self.limits.timeout, |asked| asked.min(self.limits.timeout));
        let request = CommandRequest {
            environment,
            workdir: Some(workdir),
            readable: context.skill_roots.to_vec(),
            keeps_own: text.keeps_own,
            is_untrusted: text.is_untrusted,
            timeout: Some(timeout),
            errors: ErrorOutput::Output,
            ..CommandRequest::shell(&arguments.command, Arc::new(|_| {}))
        };
        let sandbox = Arc::clone(&self.sandbox);
        let (command, session_key) = (arguments.command.clone(), context.session_key.to_owned());
        let (kept, redact) = (self.limits.kept_output, Arc::clone(&self.redact));
        tokio::task::spawn_blocking(move || {
            CommandProcess::start(&sandbox, request, &command, &session_key, kept, redact)
        })
        .await
        .map_err(|error| error.to_string())
        .and_then(|started| started.map_err(|error| error.to_string()))
        .map(|mut job| {
            job.text = text;
            Arc::new(job)
        })
        .map_err(|error| format!("Could not start the command: {error}."))
    }

    /// Waits for the end of a command, or hands it over.
    async fn follow(
        &self,
        arguments: &Arguments,
        job: Arc<CommandProcess>,
        context: &CallContext<'_>,
    ) -> ToolOutcome {
        let wait = if arguments.background.unwrap_or(false) {
            Duration::ZERO
        } else {
            arguments
                .yield_ms
                .map_or(self.limits.yield_after, Duration::from_millis)
        };
        let give_up = tokio::time::sleep(wait);
        let mut tick = tokio::time::interval(TICK);
        tokio::pin!(give_up);
        let mut waiting = self.jobs.is_some();
        loop {
            tokio::select! {
                _ = job.wait() => return finished(&job, context),
                () = context.cancel.cancelled() => {
                    job.stop().await;
                    return finished(&job, context);
                }
                () = &mut give_up, if waiting => {
                    // Without room for it, it stays here until it is done.
                    waiting = false;
                    if let Some(jobs) = &self.jobs
                        && let Ok(id) = jobs.add(Arc::clone(&job))
                    {
                        let untrusted = &context.rights.untrusted;
                        untrusted.commands.add(&job, began(&job, context));
                        take_down_at_end(&job, context);
                        return handed_over(&id, &job, context);
                    }
                }
                _ = tick.tick() => {
                    let news = job.news(REPORTED, Unfinished::Waits);
                    if !news.text.is_empty() {
                        (context.progress)(&news.text);
                    }
                }
            }
        }
    }
}

impl TypedTool for ExecTool {
    type Arguments = Arguments;

    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(
        &self,
        arguments: Arguments,
        context: &CallContext<'_>,
    ) -> Result<ToolOutcome, String> {
        if arguments.command.trim().is_empty() || arguments.command.contains('\0') {
            return Err("`command` is empty or contains a NUL byte.".to_owned());
        }
        if arguments.command.len() > LONGEST_COMMAND {
            return Err(format!(
                "`command` is too long: at most {LONGEST_COMMAND} bytes. Write a file and run that."
            ));
        }
        let report = match self.reach().await? {
            Ok(report) => report,
            Err(refusal) => return Ok(refused(&refusal)),
        };
        let environment = arguments.env.clone().unwrap_or_default();
        if report.level == SandboxLevel::None
            && let Some(name) = environment.keys().find(|name| is_loader_variable(name))
        {
            return Err(format!("`env` must not set `{name}` outside a sandbox."));
        }
        let workdir = self.sandbox.workdir(arguments.workdir.as_deref())?;
        let question = Question {
            tool: NAME,
            command: &arguments.command,
            environment: &environment,
            workdir: arguments.workdir.as_deref(),
            held: if report.holds() {
                Held::Firmly
            } else {
                Held::Not
            },
            at_stake: &|file| self.is_at_stake(&workdir.join(file)),
        };
        if let Err(why) = self.gate.admit(question, context.approver).await {
            return Ok(ToolOutcome::error(why)
                .with_details(json!({ "status": "denied", "sandbox": report })));
        }
        let text = match self.held(&arguments, &report, context).await {
            Ok(text) => text,
            Err(why) => {
                return Ok(ToolOutcome::error(why)
                    .with_details(json!({ "status": "denied", "sandbox": report })));
            }
        };
        let origin = text.origin.clone();
        let job = self
            .start(&arguments, environment, workdir, text, context)
            .await?;
        Ok(self.follow(&arguments, job, context).await.from(origin))
    }
}

/// Returns when a command began, as files are stamped.
fn began(job: &CommandProcess, context: &CallContext<'_>) -> i64 {
    let now = context.rights.untrusted.files.moment();
    now.saturating_sub(i64::try_from(job.duration().as_nanos()).unwrap_or(i64::MAX))
}

/// Takes down what a command changed when it is over, if what it does may follow from untrusted text: nobody may be waiting for it then.
fn take_down_at_end(job: &Arc<CommandProcess>, context: &CallContext<'_>) {
    if context.rights.untrusted.origins.is_empty() && job.text.origin.is_none() {
        return;
    }
    let files = Arc::clone(&context.rights.untrusted.files);
    let (began, job) = (began(job, context), Arc::clone(job));
    tokio::spawn(async move {
        job.wait().await;
        // What could not be taken down is taken for untrusted from then on.
        let _ = tokio::task::spawn_blocking(move || files.record(began, OwnFiles::TakenDown)).await;
    });
}

fn refused(refusal: &SandboxRefusal) -> ToolOutcome {
    let tried: BTreeMap<_, _> = match refusal {
        SandboxRefusal::NoLevel { tried } => tried
            .iter()
            .map(|(level, reason)| (level.name(), reason))
            .collect(),
        SandboxRefusal::NoProgram { .. } | SandboxRefusal::NoScratch { .. } => BTreeMap::new(),
    };
    ToolOutcome::error(format!(
        "The command was not run: {refusal}. {}",
        refusal.hint()
    ))
    .with_details(json!({ "status": "denied", "sandboxTried": tried }))
}

fn finished(job: &CommandProcess, context: &CallContext<'_>) -> ToolOutcome {
    let Some(ending) = job.ending() else {
        return ToolOutcome::error("Could not stop the command.");
    };
    let reading = job.whole(context.max_output_bytes.saturating_sub(AROUND));
    let state = describe(&ending, job.duration());
    let output = reading.text.trim_end_matches('\n');
    let text = match (output.is_empty(), &state) {
        (true, None) => "[exit code 0, no output]".to_owned(),
        (true, Some(state)) => state.clone(),
        (false, None) => output.to_owned(),
        (false, Some(state)) => format!("{output}\n{state}"),
    };
    let kept = (job.text.keeps_own && ending.code != Some(0)).then(|| KEPT.to_owned());
    let is_held = job.report.level == SandboxLevel::Bwrap;
    let held = guarded::note(output).filter(|_| is_held);
    let text = [Some(text), kept, held].into_iter().flatten();
    let text = text.collect::<Vec<String>>().join("\n");
    let mut details = details(&ending, job.duration(), &job.report);
    details["outputBytes"] = job.total().into();
    details["truncatedBytes"] = reading.missing.into();
    ToolOutcome {
        is_error: ending.cause != Cause::Exited,
        ..ToolOutcome::text(text).with_details(details)
    }
}

fn handed_over(id: &str, job: &CommandProcess, context: &CallContext<'_>) -> ToolOutcome {
    let reading = job.whole(context.max_output_bytes.saturating_sub(AROUND).min(4096));
    let output = reading.text.trim_end_matches('\n');
    let newline = if output.is_empty() { "" } else { "\n" };
    ToolOutcome::text(format!(
        "{output}{newline}[still running in the background as `{id}`; manage it with `process`]"
    ))
    .with_details(json!({
        "status": "running",
        "sessionId": id,
        "command": job.command,
        "durationMs": u64::try_from(job.duration().as_millis()).unwrap_or(u64::MAX),
        "outputBytes": job.total(),
        "truncatedBytes": reading.missing,
        "sandbox": job.report,
    }))
}
