//! `chitin plugins try`.

use super::{NOTHING, configured, describe_offer, until_interrupted};
use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render, grouped, plain};
use chitin_plugin::protocol::PluginOffer;
use chitin_plugin::{PluginFault, PluginTrial};
use chitin_runtime::{Host, chitin_home};
use chitin_tools::sandbox::SandboxReport;
use chitin_workspace::adapter::AgentDefinition;
use serde::Serialize;
use serde_json::Value;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// What to try.
#[derive(Debug, clap::Args)]
pub(super) struct TryArgs {
    /// The plugin, by its name in `chitin.json5`.
    name: String,

    /// The workspace to start the plugin with; an adapter is asked about it. By default the current directory, unless Chitin's home is in it.
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
}

/// What came of it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Tried {
    plugin: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    directory: Option<PathBuf>,
    works: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    sandbox: Option<SandboxReport>,
    steps: Vec<Step>,
}

/// One question and its answer.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Step {
    method: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    milliseconds: Option<u64>,
    /// What it answered, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
    /// What it answered, as the host understood it.
    #[serde(skip_serializing_if = "Value::is_null")]
    value: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

pub(super) fn run(args: &TryArgs, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
    let (_, set) = configured(host, printer)?;
    let working = host.env.working_directory();
    let directory = match &args.directory {
        Some(given) => Some(working.join(given)),
        // A directory with Chitin's keys in it is not one to start a plugin beside.
        None => Some(working.to_path_buf())
            .filter(|working| chitin_home(host).is_none_or(|home| !home.starts_with(working))),
    };
    if let Some(directory) = &directory
        && chitin_guard::Root::open(directory).is_err()
    {
        let message = format!("`{}` is not a directory.", directory.display());
        return Err(CliError::new(FailureKind::User, message));
    }
    let trial = set.try_out(&args.name, directory.as_deref());
    let trial = until_interrupted(trial)?.ok_or_else(|| {
        let names = set.names();
        let hint = match names.as_slice() {
            [] => "no plugin is configured; `plugins` in `chitin.json5` names them".to_owned(),
            names => format!("configured are `{}`", names.join("`, `")),
        };
        CliError::new(
            FailureKind::User,
            format!("There is no plugin `{}`.", args.name),
        )
        .hint(hint)
    })?;
    let tried = Tried {
        plugin: args.name.clone(),
        directory,
        works: trial.worked(),
        sandbox: trial.sandbox.clone(),
        steps: steps(trial),
    };
    // The plugin has a moment to end before the program does.
    drop(set);
    printer.result(&tried)
}

fn steps(trial: PluginTrial) -> Vec<Step> {
    let is_not_asked = trial.adapter.is_none()
        && matches!(&trial.greeting, Ok((handshake, _)) if handshake.offers(&PluginOffer::Adapter));
    let mut steps = vec![Step::of("initialize", trial.greeting, |handshake| {
        let offers = match handshake.offers.as_slice() {
            [] => NOTHING.to_owned(),
            offers => offers
                .iter()
                .map(describe_offer)
                .collect::<Vec<_>>()
                .join(", "),
        };
        let version = handshake.version.as_deref().unwrap_or("no version");
        let answer = format!("{} {version}, offers {offers}", handshake.name);
        (answer, serde_json::to_value(handshake).unwrap_or_default())
    })];
    if let Some(adapter) = trial.adapter {
        steps.push(Step::of("adapter/supports", adapter.supports, |claims| {
            let answer = if *claims {
                "claims the directory"
            } else {
                "does not claim the directory"
            };
            (answer.to_owned(), Value::Bool(*claims))
        }));
        if let Some(loaded) = adapter.definition {
            steps.push(Step::of("adapter/load", loaded, |definition| {
                let value = serde_json::to_value(definition).unwrap_or_default();
                (described(definition), value)
            }));
        }
    }
    if is_not_asked {
        steps.push(Step {
            method: "adapter/supports",
            milliseconds: None,
            answer: Some("not called; name a directory".to_owned()),
            value: Value::Null,
            problem: None,
            hint: None,
        });
    }
    if let Some(engine) = trial.engine {
        let given = engine.given;
        steps.push(Step::of("engine/assemble", engine.assembled, |context| {
            let addition = match &context.system_prompt_addition {
                Some(addition) => format!(
                    ", {} characters for the system prompt",
                    grouped(addition.chars().count())
                ),
                None => String::new(),
            };
            let kept = context.messages.len();
            let value = serde_json::json!({
                "given": given,
                "messages": context.messages,
                "systemPromptAddition": context.system_prompt_addition,
            });
            (
                format!("{kept} of {given} sample messages{addition}"),
                value,
            )
        }));
    }
    steps
}

fn described(definition: &AgentDefinition) -> String {
    let characters = |text: &str| grouped(text.chars().count());
    format!(
        "agent `{}`: {} characters of prompt, {} skills, {} extension files",
        definition.name,
        characters(&definition.system_prompt),
        definition.skill_paths.len(),
        definition.extensions.iter().count(),
    )
}

/// Says what to do about a fault: what others are told to do is being done here.
fn hint(fault: &PluginFault) -> String {
    match fault {
        PluginFault::Died { .. } | PluginFault::ClosedOutput { .. } => {
            "Run its command in a shell and write requests to it; docs/reference/plugin-protocol.md lists them.".to_owned()
        }
        PluginFault::BackingOff { .. } => "Fix the earlier failure first.".to_owned(),
        fault => fault.hint(""),
    }
}

impl Step {
    fn of<T>(
        method: &'static str,
        outcome: Result<(T, Duration), PluginFault>,
        words: impl FnOnce(&T) -> (String, Value),
    ) -> Self {
        match outcome {
            Ok((answered, time)) => {
                let (answer, value) = words(&answered);
                Self {
                    method,
                    milliseconds: Some(u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
                    answer: Some(answer),
                    value,
                    problem: None,
                    hint: None,
                }
            }
            Err(fault) => Self {
                method,
                milliseconds: None,
                answer: None,
                value: Value::Null,
                problem: Some(fault.to_string()),
                hint: Some(hint(&fault)),
            },
        }
    }
}

impl Render for Tried {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        for step in &self.steps {
            let method = paint.bold(&format!("{:<18}", step.method));
            match (&step.answer, &step.problem) {
                (Some(answer), _) => {
                    let time = step.milliseconds.map(|time| format!("  {time} ms"));
                    let time = paint.dim(&time.unwrap_or_default());
                    writeln!(out, "{method} {}{time}", plain(answer, ' '))?;
                }
                (None, problem) => {
                    let problem = problem.as_deref().unwrap_or("no answer");
                    writeln!(out, "{method} {}", paint.bad(&plain(problem, ' ')))?;
                    if let Some(hint) = &step.hint {
                        writeln!(out, "{:<18} {}", "", paint.dim(&format!("hint: {hint}")))?;
                    }
                }
            }
        }
        if let Some(report) = &self.sandbox {
            let level = report.level.name();
            writeln!(out, "{} {level}", paint.bold(&format!("{:<18}", "sandbox")))?;
            for gap in &report.gaps {
                writeln!(out, "{:<18} {}", "", paint.dim(gap))?;
            }
        }
        Ok(())
    }

    fn exit(&self) -> Exit {
        if self.works {
            Exit::Success
        } else {
            Exit::Findings
        }
    }
}
