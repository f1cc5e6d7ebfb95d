//! One file per verb: its arguments, and a `run` that returns a value for the printer.

mod agents;
mod approvals;
mod backup;
mod cache;
mod channels;
pub(crate) mod check;
mod config;
pub(crate) mod context;
pub(crate) mod contracts;
mod diff;
mod doctor;
mod history;
mod import;
mod init;
mod inspect;
mod login;
pub(crate) mod memory;
mod pack;
mod pairing;
mod plugins;
mod pull;
mod push;
mod run;
mod serve;
mod sessions;
mod sign;
pub(crate) mod skills;
mod storage;
pub(crate) mod trace;
mod unpack;
mod verify;

pub(crate) use sessions::{count, size};

use crate::error::CliError;
use crate::exit_code::Exit;
use crate::printer::Printer;
use chitin_runtime::Host;
use clap::Subcommand;

/// The verbs that ship agents. They end with the exit codes of the format that they speak.
pub(crate) const SHIPPING: [&str; 11] = [
    "cache", "diff", "inspect", "login", "logout", "pack", "pull", "push", "sign", "unpack",
    "verify",
];

/// Every verb. Only the one that was typed has its arguments put together: building them all takes as long as
/// the rest. The line that help shows of each stands here, and again where its arguments are.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    /// List agents and their workspaces, show one, or explain which one gets a message.
    Agents(agents::Args),
    /// Back up Chitin's home into one file, while it is in use.
    Backup(backup::BackupArgs),
    /// Say which turn wrote a line of a file, and the message that led to it.
    Blame(history::blame::Args),
    /// Answer questions for permission, and list and revoke what you allowed always.
    Approvals(approvals::Args),
    /// Show, verify and prune the local artifact store.
    Cache(cache::Args),
    /// List what each turn changed in the workspace, or show one turn as a diff.
    Changes(history::changes::Args),
    /// List chat channels, store their tokens, and test the connection.
    Channels(channels::Args),
    /// Find problems in a workspace: secrets, hidden instructions, risky skills, broken links.
    Check(check::Args),
    /// Show and validate the configuration, or explain where a value comes from.
    Config(config::Args),
    /// Show exactly what the model gets: files, sizes, tokens, truncation, cache boundary.
    Context(Box<context::Args>),
    /// List the built-in contracts, explain one, or compare two.
    Contracts(contracts::Args),
    /// Compare two artifacts, or an artifact and a directory.
    Diff(diff::Args),
    /// Diagnose problems: configuration, permissions, port, sandbox, model, channels.
    Doctor(doctor::Args),
    /// Export a recorded session by its key, as `chitin trace export` does.
    #[command(hide = true)]
    ExportTrajectory(trace::ExportTrajectoryArgs),
    /// Report what an OpenClaw home holds, and what becomes of each part in Chitin.
    Import(import::Args),
    /// Create a workspace, or add the files that are missing.
    Init(init::Args),
    /// Show an artifact's name, version, layers, files and signatures.
    Inspect(inspect::Args),
    /// Log in to a registry.
    Login(login::LoginArgs),
    /// Log out of a registry.
    Logout(login::LogoutArgs),
    /// Search an agent's memory, show an entry, or manage the index.
    Memory(memory::Args),
    /// Pack a workspace into a reproducible artifact.
    Pack(Box<pack::Args>),
    /// Access control: pairing requests, allowlists, owners.
    Pairing(pairing::Args),
    /// List plugins with what each offers, or try one.
    Plugins(plugins::Args),
    /// Pull an artifact and its signatures from a registry.
    Pull(pull::Args),
    /// Push an artifact and its signatures to a registry.
    Push(push::Args),
    /// Talk to the agent in a directory, or send one message with `-m`.
    Run(Box<run::Args>),
    /// Restore Chitin's home from a backup.
    Restore(backup::RestoreArgs),
    /// Run the gateway: web page, HTTP, WebSocket, chat channels, OpenAI-compatible API.
    Serve(serve::Args),
    /// List, show, export, import, delete and prune an agent's sessions.
    Sessions(sessions::Args),
    /// Sign an artifact with an ed25519 key, or create a key.
    Sign(sign::Args),
    /// List, show and check an agent's skills.
    Skills(skills::Args),
    /// Write stored data in the format of earlier versions.
    Storage(storage::Args),
    /// List, show, export and replay recorded turns.
    Trace(trace::Args),
    /// Take back what turns changed in the workspace: contents, permissions, links, deleted and new files.
    Undo(history::undo::Args),
    /// Unpack an artifact as a workspace, or for another runtime.
    Unpack(Box<unpack::Args>),
    /// Verify an artifact's contents and signatures.
    Verify(verify::Args),
}

impl Command {
    /// Tells whether secrets are learned from the configuration that the command reads anyway; a start waits for nothing twice.
    pub(crate) const fn reads_configuration(&self) -> bool {
        matches!(
            self,
            Self::Run(_) | Self::Serve(_) | Self::Context(_) | Self::Contracts(_)
        )
    }

    /// Does what the user asked for and prints it.
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
        match self {
            Self::Agents(args) => args.run(host, printer),
            Self::Backup(args) => args.run(host, printer),
            Self::Restore(args) => args.run(host, printer),
            Self::Blame(args) => args.run(host, printer),
            Self::Changes(args) => args.run(host, printer),
            Self::Undo(args) => args.run(host, printer),
            Self::Channels(args) => args.run(host, printer),
            Self::Check(args) => args.run(host, printer),
            Self::Config(args) => args.run(host, printer),
            Self::Context(args) => args.run(host, printer),
            Self::Contracts(args) => printer.result(&args.run()?),
            Self::Doctor(args) => args.run(host, printer),
            Self::ExportTrajectory(args) => args.run(host, printer),
            Self::Import(args) => args.run(host, printer),
            Self::Init(args) => printer.result(&args.run(host, printer)?),
            Self::Memory(args) => args.run(host, printer),
            Self::Pairing(args) => args.run(host, printer),
            Self::Plugins(args) => args.run(host, printer),
            Self::Run(args) => args.run(host, printer),
            Self::Serve(args) => args.run(host, printer),
            Self::Sessions(args) => args.run(host, printer),
            Self::Skills(args) => args.run(host, printer),
            Self::Storage(args) => args.run(host, printer),
            Self::Trace(args) => args.run(host, printer),
            Self::Approvals(args) => args.run(host, printer),
            Self::Cache(args) => args.run(host, printer).map_err(CliError::while_shipping),
            Self::Diff(args) => args.run(host, printer).map_err(CliError::while_shipping),
            Self::Inspect(args) => args.run(host, printer).map_err(CliError::while_shipping),
            Self::Login(args) => args.run(host, printer).map_err(CliError::while_shipping),
            Self::Logout(args) => args.run(host, printer).map_err(CliError::while_shipping),
            Self::Pack(args) => args.run(host, printer).map_err(CliError::while_shipping),
            Self::Pull(args) => args.run(host, printer).map_err(CliError::while_shipping),
            Self::Push(args) => args.run(host, printer).map_err(CliError::while_shipping),
            Self::Sign(args) => args.run(host, printer).map_err(CliError::while_shipping),
            Self::Unpack(args) => args.run(host, printer).map_err(CliError::while_shipping),
            Self::Verify(args) => args.run(host, printer).map_err(CliError::while_shipping),
        }
    }
}
