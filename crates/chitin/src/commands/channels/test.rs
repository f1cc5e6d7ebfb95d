//! `chitin channels test`.

use super::{ChannelArg, surroundings};
use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render};
use chitin_runtime::Host;
use chitin_runtime::channels::{Activation, ChannelPlan, ProbedChannel, plans, probe};
use futures_util::future::join_all;
use serde::Serialize;
use std::fmt;

/// What to try.
#[derive(Debug, clap::Args)]
pub(super) struct TestArgs {
    /// Only this channel; by default all that `chitin serve` would connect.
    #[arg(value_name = "NETWORK")]
    which: Option<ChannelArg>,
}

/// What the networks said.
#[derive(Debug, Serialize)]
struct Tried {
    channels: Vec<ProbedChannel>,
}

pub(super) fn run(args: &TestArgs, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
    let (configuration, state) = surroundings(host, printer)?;
    let mut plans = plans(host, &configuration, &state)?;
    plans.retain(|plan| match args.which {
        Some(which) => plan.kind == which.kind(),
        None => plan.activation == Activation::On,
    });
    if plans.is_empty() {
        return Err(
            CliError::new(FailureKind::User, "No channel is configured.").hint(
                "`chitin channels` lists them; `chitin channels login discord < token` sets one up",
            ),
        );
    }
    printer.result(&try_all(&plans)?)
}

/// Asks all of them at once.
fn try_all(plans: &[ChannelPlan]) -> Result<Tried, CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| {
            CliError::new(
                FailureKind::Internal,
                "Could not set up the network client.",
            )
            .caused_by(error)
        })?;
    runtime.block_on(async {
        let asking = join_all(plans.iter().map(probe));
        tokio::select! {
            channels = asking => Ok(Tried { channels }),
            _ = tokio::signal::ctrl_c() => Err(CliError::new(FailureKind::Interrupted, "Stopped.")),
        }
    })
}

impl Tried {
    /// Tells whether everything works.
    fn is_well(&self) -> bool {
        let mut accounts = self.channels.iter().flat_map(|channel| &channel.accounts);
        accounts.all(|account| account.lacks.is_empty())
    }
}

impl Render for Tried {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        for channel in &self.channels {
            for account in &channel.accounts {
                let name = account.name.as_deref().unwrap_or("nobody");
                let title = format!("{} ({})", channel.channel, account.account_id);
                writeln!(out, "{}  as {name}", paint.bold(&title))?;
                for works in &account.works {
                    writeln!(out, "  {} {works}", paint.good("ok"))?;
                }
                for lack in &account.lacks {
                    writeln!(out, "  {} {}", paint.bad("no"), lack.what)?;
                    if let Some(hint) = &lack.hint {
                        writeln!(out, "     {}", paint.dim(&format!("hint: {hint}")))?;
                    }
                }
            }
        }
        Ok(())
    }

    fn exit(&self) -> Exit {
        if self.is_well() {
            Exit::Success
        } else {
            Exit::Findings
        }
    }
}
