//! `chitin channels test`.

use super::surroundings;
use crate::channels::{ModelSelection, Plan, Which, open, plans};
use crate::error::{CliError, Kind};
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render};
use chitin_gateway::surface::{Lack, Probed};
use chitin_runtime::Host;
use futures_util::future::join_all;
use serde::Serialize;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// How long a network may take to answer.
const LONGEST: Duration = Duration::from_secs(30);

/// What to try.
#[derive(Debug, clap::Args)]
pub(super) struct TestArgs {
    /// Only this network; left out, all that `chitin serve` would connect.
    #[arg(value_name = "NETWORK")]
    which: Option<Which>,
}

/// What the networks said.
#[derive(Debug, Serialize)]
pub(crate) struct Tried {
    pub(crate) channels: Vec<TriedChannel>,
}

/// What one network said.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TriedChannel {
    pub(crate) channel: &'static str,
    pub(crate) accounts: Vec<Probed>,
}

pub(super) fn run(args: &TestArgs, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
    let (configuration, state) = surroundings(host, printer)?;
    let mut plans = plans(host, &configuration, &state)?;
    plans.retain(|plan| match args.which {
        Some(which) => plan.which == which,
        None => plan.wish == ModelSelection::On,
    });
    if plans.is_empty() {
        return Err(CliError::new(Kind::User, "No network is set up.").hint(
            "`chitin channels` lists them; `chitin channels login discord < token` sets one up",
        ));
    }
    printer.result(&try_all(&plans)?)
}

/// Asks all of them at once.
pub(crate) fn try_all(plans: &[Plan]) -> Result<Tried, CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| {
            CliError::new(Kind::Internal, "The network cannot be used.").caused_by(error)
        })?;
    runtime.block_on(async {
        let asking = join_all(plans.iter().map(try_one));
        tokio::select! {
            channels = asking => Ok(Tried { channels }),
            _ = tokio::signal::ctrl_c() => Err(CliError::new(Kind::Interrupted, "Stopped.")),
        }
    })
}

async fn try_one(plan: &Plan) -> TriedChannel {
    let lacking = |what: String, hint: Option<String>| Probed {
        account_id: chitin_protocol::agent_id::DEFAULT_ACCOUNT.to_owned(),
        name: None,
        works: Vec::new(),
        lacks: vec![Lack { what, hint }],
    };
    let accounts = match open(plan, None, &(Arc::new(|_: &str| {}) as _)) {
        Err(problems) => problems
            .into_iter()
            .map(|problem| lacking(problem.message, problem.hint))
            .collect(),
        Ok(opened) => {
            let probing = opened.network.probe();
            match tokio::time::timeout(LONGEST, probing).await {
                Ok(probed) => probed,
                Err(_) => vec![lacking(
                    format!(
                        "{} did not answer within {} s.",
                        plan.which.title(),
                        LONGEST.as_secs()
                    ),
                    Some("look at the connection to the internet, and at a proxy".to_owned()),
                )],
            }
        }
    };
    TriedChannel {
        channel: plan.which.id(),
        accounts,
    }
}

impl Tried {
    /// Tells whether everything works.
    pub(crate) fn is_well(&self) -> bool {
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
