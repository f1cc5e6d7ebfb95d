//! `chitin pairing approve`, `reject` and `revoke`.

use super::{place, refused, who};
use crate::error::CliError;
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render};
use chitin_gateway::access::AccessControl;
use serde::Serialize;
use std::fmt;

#[derive(Debug, clap::Args)]
pub(super) struct ApproveArgs {
    /// The pairing code.
    #[arg(value_name = "CODE")]
    code: String,

    /// The sender's channel, such as `discord`; by default any.
    #[arg(long, value_name = "NAME")]
    channel: Option<String>,

    /// Make them an owner of the agents.
    #[arg(long)]
    owner: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct RejectArgs {
    /// The pairing code.
    #[arg(value_name = "CODE")]
    code: String,

    /// The sender's channel, such as `discord`; by default any.
    #[arg(long, value_name = "NAME")]
    channel: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(super) struct RevokeArgs {
    /// The channel, such as `discord`.
    #[arg(value_name = "CHANNEL")]
    channel: String,

    /// The sender's id, as `chitin pairing` lists it.
    #[arg(value_name = "SENDER")]
    sender: String,
}

/// What was decided.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Decided {
    decision: Decision,
    channel: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    account: Option<String>,
    sender_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    sender_name: Option<String>,
    owner: bool,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
enum Decision {
    Approved,
    Rejected,
    Revoked,
}

pub(super) fn approve(
    args: &ApproveArgs,
    trust: &AccessControl,
    printer: &Printer,
) -> Result<Exit, CliError> {
    let approved = trust.approve(args.channel.as_deref(), &args.code, args.owner);
    let approved = approved.map_err(|error| refused(&error))?;
    printer.result(&Decided {
        decision: Decision::Approved,
        channel: approved.channel,
        account: Some(approved.account),
        sender_id: approved.sender_id,
        sender_name: approved.sender_name,
        owner: approved.owner,
    })
}

pub(super) fn reject(
    args: &RejectArgs,
    trust: &AccessControl,
    printer: &Printer,
) -> Result<Exit, CliError> {
    let rejected = trust.reject(args.channel.as_deref(), &args.code);
    let rejected = rejected.map_err(|error| refused(&error))?;
    printer.result(&Decided {
        decision: Decision::Rejected,
        channel: rejected.channel,
        account: Some(rejected.account),
        sender_id: rejected.sender_id,
        sender_name: rejected.sender_name,
        owner: false,
    })
}

pub(super) fn revoke(
    args: &RevokeArgs,
    trust: &AccessControl,
    printer: &Printer,
) -> Result<Exit, CliError> {
    trust
        .revoke(&args.channel, &args.sender)
        .map_err(|error| refused(&error))?;
    printer.result(&Decided {
        decision: Decision::Revoked,
        channel: args.channel.trim().to_lowercase(),
        account: None,
        sender_id: args.sender.trim().to_owned(),
        sender_name: None,
        owner: false,
    })
}

impl Render for Decided {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        let who = who(&self.sender_id, self.sender_name.as_deref());
        let who = paint.bold(&who);
        let account = self.account.as_deref();
        let account = account.unwrap_or(chitin_protocol::agent_id::DEFAULT_ACCOUNT);
        let place = place(&self.channel, account);
        match self.decision {
            Decision::Approved if self.owner => {
                writeln!(out, "Approved {who} on {place} as an owner.")
            }
            Decision::Approved => writeln!(out, "Approved {who} on {place}."),
            Decision::Rejected => {
                writeln!(
                    out,
                    "Rejected {who} on {place}; they can request a new code."
                )
            }
            Decision::Revoked => writeln!(out, "Revoked the approval of {who} on {place}."),
        }
    }
}
