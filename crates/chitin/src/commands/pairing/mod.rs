//! `chitin pairing`: who may talk to agents on chat networks.

mod decide;
mod list;

use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::Printer;
use chitin_gateway::access::{AccessControl, TrustError};
use chitin_runtime::Host;
use chitin_runtime::SystemClock;
use chitin_runtime::chitin_home;
use clap::Subcommand;
use serde_json::Value;
use std::sync::Arc;

/// Access control: pairing requests, allowlists, owners.
///
/// An unknown sender on a chat channel gets a pairing code and no reply. `approve` with that code gives them access, also while `chitin serve` is running. A code is valid for an hour. After ten wrong codes, all pending codes are revoked.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  chitin pairing
  chitin pairing approve H7KM2QXA
  chitin pairing approve H7KM2QXA --channel discord --owner
  chitin pairing reject H7KM2QXA
  chitin pairing revoke discord 123456789012345678
  chitin pairing list --json

A sender approved with `--owner` has all rights. The lists in `openclaw.json` (`allowFrom`, `commands.ownerAllowFrom`)\napply too; docs/concepts/trust.md has the rules.
Exit codes: 0 done; 2 the command line is wrong; 3 unknown code or sender, or the stored list cannot be read."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,

    #[command(flatten)]
    list: list::ListArgs,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List pending requests and approved senders.
    List(list::ListArgs),
    /// Approve the sender who got this code.
    Approve(decide::ApproveArgs),
    /// Reject the sender who got this code; they can request a new one.
    Reject(decide::RejectArgs),
    /// Revoke an approval.
    Revoke(decide::RevokeArgs),
}

impl Args {
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
        let trust = open(host)?;
        match &self.action {
            None => list::run(&self.list, &trust, printer),
            Some(Action::List(args)) => list::run(args, &trust, printer),
            Some(Action::Approve(args)) => decide::approve(args, &trust, printer),
            Some(Action::Reject(args)) => decide::reject(args, &trust, printer),
            Some(Action::Revoke(args)) => decide::revoke(args, &trust, printer),
        }
    }
}

/// Finds the list that a running gateway goes by.
fn open(host: &Host) -> Result<AccessControl, CliError> {
    let state = chitin_home(host).ok_or_else(|| {
        CliError::new(
            FailureKind::User,
            "Could not determine where approvals are stored.",
        )
        .hint("set `CHITIN_HOME` or `HOME`")
    })?;
    // Only who waits and who was let in is asked for; what is configured stands in the configuration.
    Ok(AccessControl::beneath(
        &state,
        Arc::new(Value::Null),
        Arc::new(SystemClock),
    ))
}

/// Says in the user's words what could not be done.
fn refused(error: &TrustError) -> CliError {
    let said = error.to_string();
    let mut letters = said.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string());
    let failed = CliError::new(
        FailureKind::User,
        format!("{}{}.", first.unwrap_or_default(), letters.as_str()),
    );
    match error.hint() {
        Some(hint) => failed.hint(hint),
        None => failed,
    }
}

/// Names somebody, with the name that they chose.
fn who(id: &str, name: Option<&str>) -> String {
    use crate::terminal::messages::one_line;
    match name {
        Some(name) => format!("{} ({})", one_line(id), one_line(name)),
        None => one_line(id),
    }
}

/// Names a network, with the account if it is not the only one.
fn place(channel: &str, account: &str) -> String {
    use crate::terminal::messages::one_line;
    match account {
        chitin_protocol::agent_id::DEFAULT_ACCOUNT => one_line(channel),
        account => format!("{}/{}", one_line(channel), one_line(account)),
    }
}
