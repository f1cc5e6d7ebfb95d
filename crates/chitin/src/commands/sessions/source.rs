//! The sessions that the arguments name.

use super::Whose;
use crate::error::CliError;
use crate::printer::Printer;
use chitin_runtime::sessions::{AgentSessions, SessionOwner};
use chitin_runtime::{AgentTarget, Host, Setup};

/// Understands `--openclaw`.
pub(super) const fn owner(openclaw: bool) -> SessionOwner {
    if openclaw {
        SessionOwner::OpenClaw
    } else {
        SessionOwner::Chitin
    }
}

/// Finds the sessions of the agent that is meant.
pub(super) fn find(
    host: &Host,
    whose: &Whose,
    owner: SessionOwner,
    printer: &Printer,
) -> Result<AgentSessions, CliError> {
    let target = AgentTarget {
        directory: whose.directory.clone(),
        agent: whose.agent.clone(),
        contract: whose.contract.clone(),
        ..AgentTarget::default()
    };
    let setup = Setup::find(host, &target, &printer.notes())?;
    if whose.directory.is_some() {
        setup.check_directory(host)?;
    }
    Ok(AgentSessions::find(host, &setup, owner)?)
}
