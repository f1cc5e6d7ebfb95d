//! `chitin channels list`.

use super::surroundings;
use crate::error::CliError;
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render};
use chitin_runtime::channels::{
    Activation, ChannelPlan, OpenProblem, SecretOrigin, open, plans, shut_out, workspaces,
};
use chitin_runtime::{Host, Notes};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

#[derive(Debug, Serialize)]
struct Listed {
    channels: Vec<Row>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    channel: &'static str,
    /// Whether `chitin serve` connects it.
    wish: Activation,
    accounts: Vec<AccountRow>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<OpenProblem>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct AccountRow {
    account: String,
    /// ChannelKind secrets are there, and where from. Never the secrets.
    secrets: BTreeMap<&'static str, SecretOrigin>,
}

pub(super) fn run(host: &Host, printer: &Printer) -> Result<Exit, CliError> {
    let (configuration, state) = surroundings(host, printer)?;
    let plans = plans(host, &configuration, &state)?;
    let channels = plans.iter().map(|plan| {
        let problems = match plan.activation {
            Activation::On => open(plan, None, &Notes::none()).err(),
            Activation::Off | Activation::Elsewhere | Activation::Absent => None,
        };
        Row::of(plan, problems.unwrap_or_default())
    });
    let channels: Vec<Row> = channels.collect();
    let connected = || {
        let connected = channels.iter().filter(|row| row.wish == Activation::On);
        connected.map(|row| row.channel)
    };
    for (agent, workspace) in workspaces(host, &configuration) {
        let contract = configuration.contract;
        for note in shut_out(agent.as_str(), &workspace, contract, connected()) {
            printer.note(&note);
        }
    }
    printer.result(&Listed { channels })
}

impl Row {
    fn of(plan: &ChannelPlan, problems: Vec<OpenProblem>) -> Self {
        let accounts = plan.accounts.iter().map(|account| AccountRow {
            account: account.id.clone(),
            secrets: account
                .origins
                .iter()
                .map(|(secret, origin)| (secret.key(), *origin))
                .collect(),
        });
        Self {
            channel: plan.kind.id(),
            wish: plan.activation,
            accounts: accounts.collect(),
            problems,
        }
    }
}

impl Render for Listed {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        for row in &self.channels {
            let id = row.channel;
            let (word, hint) = match row.wish {
                Activation::On if row.problems.is_empty() => {
                    (paint.good("connected by `chitin serve`"), None)
                }
                Activation::On => (paint.bad("cannot be connected"), None),
                Activation::Off => (paint.dim("switched off in chitin.json5"), None),
                Activation::Elsewhere => (
                    paint.warn("configured, not connected"),
                    Some(format!(
                        "`chitin channels login {id} --as-configured`, once nothing else answers there"
                    )),
                ),
                Activation::Absent => (
                    paint.dim("not set up"),
                    Some(format!("`chitin channels login {id} < token`")),
                ),
            };
            writeln!(out, "{}  {word}", paint.bold(&format!("{id:<8}")))?;
            for account in row
                .accounts
                .iter()
                .filter(|account| !account.secrets.is_empty())
            {
                let secrets = account.secrets.iter().map(|(key, origin)| {
                    let origin = match origin {
                        SecretOrigin::Kept => "stored by login",
                        SecretOrigin::Config => "from the configuration",
                        SecretOrigin::Environment => "from the environment",
                    };
                    format!("{key} {origin}")
                });
                let secrets: Vec<String> = secrets.collect();
                writeln!(
                    out,
                    "          account {}: {}",
                    account.account,
                    secrets.join(", ")
                )?;
            }
            for problem in &row.problems {
                writeln!(out, "          {}", problem.message)?;
                if let Some(hint) = &problem.hint {
                    writeln!(out, "          {}", paint.dim(&format!("hint: {hint}")))?;
                }
            }
            if let Some(hint) = hint {
                writeln!(out, "          {}", paint.dim(&format!("hint: {hint}")))?;
            }
        }
        Ok(())
    }
}
