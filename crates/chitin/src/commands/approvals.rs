//! `chitin approvals`: what was allowed for good when a tool asked.

use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render, plain};
use chitin_runtime::{AgentApproval, Host, approvals, chitin_home, revoke_approval};
use clap::Subcommand;
use serde::Serialize;
use std::fmt;

/// List and revoke what you allowed tools to do for good.
///
/// When a tool asks for permission, the answer `always` is stored for the agent, in Chitin's home. A revoked one is asked about again at once, also while `chitin serve` is running.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  chitin approvals
  chitin approvals list --json
  chitin approvals revoke 3f9a1c2e

Exit codes: 0 done; 2 the command line is wrong; 3 there is no such approval.")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List what was allowed.
    List,
    /// Take back what was allowed.
    Revoke {
        /// The id, as `list` shows it.
        id: String,
    },
}

#[derive(Debug, Serialize)]
struct Listed {
    approvals: Vec<AgentApproval>,
}

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
            None | Some(Action::List) => printer.result(&Listed {
                approvals: approvals(&state),
            }),
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

impl Render for Listed {
    fn text(&self, out: &mut dyn fmt::Write, _: Paint) -> fmt::Result {
        if self.approvals.is_empty() {
            return writeln!(out, "Nothing was allowed for good.");
        }
        for one in &self.approvals {
            writeln!(out, "{}", line(one))?;
        }
        Ok(())
    }
}

impl Render for Revoked {
    fn text(&self, out: &mut dyn fmt::Write, _: Paint) -> fmt::Result {
        writeln!(out, "Revoked: {}", line(&self.revoked))
    }
}
