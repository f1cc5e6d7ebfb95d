//! `chitin approvals`: questions that wait on a server, and what was allowed for good when a tool asked.

use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render, plain};
use crate::running_server::RunningServer;
use chitin_runtime::{AgentApproval, Host, approvals, chitin_home, revoke_approval};
use clap::{Subcommand, ValueEnum};
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt;
use std::path::{Path, PathBuf};

/// Answer questions for permission, and list and revoke what you allowed always.
///
/// On a running `chitin serve`, tools ask while someone can answer: an open web page, or `chitin approvals watch`. Without one, what needs permission is refused. The answer `always` is stored for the agent, in Chitin's home. A revoked one is asked about again at once, also while `chitin serve` is running.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  chitin approvals
  chitin approvals watch
  chitin approvals answer 3f9a1c2e once
  chitin approvals answer 3f9a1c2e no --why 'use the trash'
  chitin approvals list --json
  chitin approvals revoke 3f9a1c2e

Exit codes: 0 done; 2 the command line is wrong; 3 there is no such approval or question, or no server is running.")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,

    /// A file with the server's token; by default `$CHITIN_TOKEN`, or the one in Chitin's home.
    #[arg(long, value_name = "FILE", global = true)]
    token_file: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List questions that wait for an answer, and what was allowed always.
    List,
    /// Show questions as they come; while this runs, they are asked.
    Watch,
    /// Answer a question of a running server.
    Answer {
        /// The id, as `list` shows it, or its beginning.
        id: String,
        /// What you answer.
        answer: Answer,
        /// The reason for a no, which the model reads.
        #[arg(long, value_name = "TEXT")]
        why: Option<String>,
    },
    /// Revoke what was allowed always.
    Revoke {
        /// The id, as `list` shows it.
        id: String,
    },
}

/// An answer to a question.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Answer {
    /// Allow it this once.
    Once,
    /// Allow it for the session.
    Session,
    /// Allow it always, for what the question names.
    Always,
    /// Refuse it.
    No,
}

#[derive(Debug, Serialize)]
struct Listed {
    pending: Vec<Value>,
    approvals: Vec<AgentApproval>,
}

#[derive(Debug, Serialize)]
#[serde(transparent)]
struct Question(Value);

#[derive(Debug, Serialize)]
#[serde(transparent)]
struct Answered(Value);

#[derive(Debug, Serialize)]
struct Revoked {
    revoked: AgentApproval,
}

impl Args {
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
        let state = chitin_home(host).ok_or_else(|| {
            CliError::new(
                FailureKind::User,
                "Could not determine where approvals are stored.",
            )
            .hint("set `CHITIN_HOME` or `HOME`")
        })?;
        match &self.action {
            None | Some(Action::List) => {
                let server = RunningServer::find(host, &state, self.token_file.as_ref())?;
                let pending = server.map(|server| server.pending()).transpose();
                // What is stored can be listed whether or not the server answers.
                let pending = pending.unwrap_or_else(|error| {
                    printer.note(&error.to_string());
                    None
                });
                printer.result(&Listed {
                    pending: pending.unwrap_or_default(),
                    approvals: approvals(&state),
                })
            }
            Some(Action::Watch) => {
                let server = self.server(host, &state)?;
                printer.note("Questions are asked while this runs. Ctrl-C ends it.");
                let mut shown = std::collections::HashSet::new();
                server.watch(|question| {
                    if shown.insert(text_of(question, "id").to_owned()) {
                        let _ = printer.result(&Question(question.clone()));
                    }
                })?;
                Ok(Exit::Success)
            }
            Some(Action::Answer { id, answer, why }) => {
                let server = self.server(host, &state)?;
                let id = full_id(&server.pending()?, id)?;
                let answer = answer.to_possible_value();
                let answer = answer.as_ref().map(clap::builder::PossibleValue::get_name);
                let body = json!({"answer": answer, "why": why});
                printer.result(&Answered(server.answer(&id, &body)?))
            }
            Some(Action::Revoke { id }) => {
                let revoked = revoke_approval(&state, id)?.ok_or_else(|| {
                    CliError::new(
                        FailureKind::User,
                        format!("There is no approval `{}`.", plain(id, '\u{fffd}')),
                    )
                    .hint("`chitin approvals` lists them")
                })?;
                printer.result(&Revoked { revoked })
            }
        }
    }

    fn server<'a>(&self, host: &'a Host, state: &Path) -> Result<RunningServer<'a>, CliError> {
        let server = RunningServer::find(host, state, self.token_file.as_ref())?;
        server.ok_or_else(|| {
            CliError::new(FailureKind::User, "No server is running.")
                .hint("`chitin serve` starts one; it must have the same `CHITIN_HOME`")
        })
    }
}

/// Returns the id of the question that is meant; what was typed if none waits under it, so that the server says why.
fn full_id(pending: &[Value], typed: &str) -> Result<String, CliError> {
    let mut found = pending
        .iter()
        .map(|one| text_of(one, "id"))
        .filter(|id| id.starts_with(typed));
    match (found.next(), found.next()) {
        (Some(id), None) => Ok(id.to_owned()),
        (None, _) => Ok(typed.to_owned()),
        (Some(_), Some(_)) => Err(CliError::new(
            FailureKind::Usage,
            format!(
                "Several questions begin with `{}`.",
                plain(typed, '\u{fffd}')
            ),
        )
        .hint("`chitin approvals` lists them")),
    }
}

fn text_of<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

fn line(one: &AgentApproval) -> String {
    let allowed = &one.approval;
    let what = allowed
        .pattern
        .strip_prefix('=')
        .unwrap_or(&allowed.pattern);
    format!(
        "{}  {}  {}  {}",
        allowed.id,
        one.agent,
        allowed.tool,
        plain(what, '\u{fffd}')
    )
}

/// Shows a question, with everything that an answer depends on.
fn question(out: &mut dyn fmt::Write, paint: Paint, asked: &Value) -> fmt::Result {
    let of = |field| plain(text_of(asked, field), '\u{fffd}');
    writeln!(out, "{}  {}  {}", of("id"), of("sessionKey"), of("tool"))?;
    writeln!(out, "    {}", paint.bold(&of("what")))?;
    for line in text_of(asked, "diff").lines() {
        writeln!(out, "    {}", plain(line, '\u{fffd}'))?;
    }
    if asked["diffTruncated"] == true {
        writeln!(out, "    {}", paint.dim("… the diff is longer"))?;
    }
    let why = of("why");
    if !why.is_empty() {
        writeln!(out, "  {}", paint.dim(&why))?;
    }
    let lasting = match (asked["pattern"].as_str(), asked["exact"] == true) {
        (None, _) => String::new(),
        (Some(_), true) => " | session | always, for exactly this".to_owned(),
        (Some(pattern), false) => {
            format!(" | session | always, for {}", plain(pattern, '\u{fffd}'))
        }
    };
    writeln!(out, "  answers: once{lasting} | no --why TEXT")
}

impl Render for Listed {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        for asked in &self.pending {
            question(out, paint, asked)?;
        }
        if !self.pending.is_empty() {
            writeln!(
                out,
                "{}\n",
                paint.dim("`chitin approvals answer ID ANSWER` answers.")
            )?;
        }
        if self.approvals.is_empty() {
            return writeln!(out, "Nothing was allowed for good.");
        }
        for one in &self.approvals {
            writeln!(out, "{}", line(one))?;
        }
        Ok(())
    }
}

impl Render for Question {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        question(out, paint, &self.0)
    }
}

impl Render for Answered {
    fn text(&self, out: &mut dyn fmt::Write, _: Paint) -> fmt::Result {
        let id = plain(text_of(&self.0, "id"), '\u{fffd}');
        writeln!(out, "Answered {id}: {}", text_of(&self.0, "outcome"))
    }
}

impl Render for Revoked {
    fn text(&self, out: &mut dyn fmt::Write, _: Paint) -> fmt::Result {
        writeln!(out, "Revoked: {}", line(&self.revoked))
    }
}
