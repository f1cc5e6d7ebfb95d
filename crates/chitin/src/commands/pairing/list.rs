//! `chitin pairing list`.

use super::{place, refused, who};
use crate::commands::count;
use crate::error::CliError;
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render};
use chitin_gateway::access::{AccessControl, Paired, PendingPairing};
use chitin_runtime::Host;
use serde::Serialize;
use std::fmt;

#[derive(Debug, clap::Args)]
pub(super) struct ListArgs {
    /// Only those of one channel, such as `discord`.
    #[arg(long, value_name = "NAME")]
    channel: Option<String>,
}

/// Who waits and who was let in.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct People {
    pending: Vec<PendingPairing>,
    paired: Vec<Paired>,
    #[serde(skip)]
    now: i64,
}

pub(super) fn run(
    args: &ListArgs,
    trust: &AccessControl,
    printer: &Printer,
) -> Result<Exit, CliError> {
    let wanted = args
        .channel
        .as_deref()
        .map(|name| name.trim().to_lowercase());
    let meant = |channel: &str| wanted.as_deref().is_none_or(|wanted| wanted == channel);
    let mut pending = trust.pending().map_err(|error| refused(&error))?;
    let mut paired = trust.paired().map_err(|error| refused(&error))?;
    pending.retain(|one| meant(&one.channel));
    paired.retain(|one| meant(&one.channel));
    printer.result(&People {
        pending,
        paired,
        now: Host::now_ms(),
    })
}

impl Render for People {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        match self.pending.len() {
            0 => writeln!(out, "No pending pairing requests.")?,
            waiting => writeln!(
                out,
                "{}:",
                verb(
                    waiting,
                    "pending pairing request",
                    "pending pairing requests"
                )
            )?,
        }
        for one in &self.pending {
            let minutes = (one.expires_at - self.now).max(0) / 60_000 + 1;
            writeln!(
                out,
                "  {}  {}  {}  expires in {}",
                paint.bold(&one.code),
                place(&one.channel, &one.account),
                who(&one.sender_id, one.sender_name.as_deref()),
                count(usize::try_from(minutes).unwrap_or(0), "minute"),
            )?;
        }
        match self.paired.len() {
            0 => writeln!(out, "No approved senders.")?,
            known => writeln!(
                out,
                "{}:",
                verb(known, "approved sender", "approved senders")
            )?,
        }
        for one in &self.paired {
            let owner = if one.owner { "  owner" } else { "" };
            let who = who(&one.sender_id, one.sender_name.as_deref());
            writeln!(out, "  {}  {who}{owner}", place(&one.channel, &one.account))?;
        }
        if let Some(first) = self.pending.first() {
            let command = format!("chitin pairing approve {}", first.code);
            writeln!(out, "{}", paint.dim(&command))?;
        }
        Ok(())
    }
}

/// Says how many people do something.
fn verb(number: usize, one: &str, several: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        number => format!("{number} {several}"),
    }
}
