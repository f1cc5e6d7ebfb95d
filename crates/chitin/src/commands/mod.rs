//! One file per verb: its arguments, and a `run` that returns a value for the printer.

mod agents;
mod cache;
mod channels;
pub(crate) mod check;
mod config;
pub(crate) mod context;
pub(crate) mod contracts;
mod diff;
mod doctor;
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
    /// List the configured agents with their workspaces, or say who gets a message and why.
    Agents(agents::Args),
    /// Look at the local store of artifacts, check it, or make room.
    Cache(cache::Args),
    /// List the chat networks that an agent can be reached on, keep their tokens, or try them.
    Channels(channels::Args),
    /// Check a workspace: refused and cut files, broken links, secrets, hidden instructions, risky skills.
    Check(check::Args),
    /// Show the configuration, say where a value comes from, or check the files.
    Config(config::Args),
    /// Show exactly what the model gets: files, order, sizes, cuts, refusals, tokens, the cache boundary.
    Context(Box<context::Args>),
    /// List the built-in contracts, explain one, or show how two differ.
    Contracts(contracts::Args),
    /// Compare two artifacts, or an artifact and a directory: layers, files, and what changes for the model.
    Diff(diff::Args),
    /// Find out what would keep an agent from running here: configuration, permissions, port, sandbox, model, chat networks.
    Doctor(doctor::Args),
    /// Export a recorded session by its key, as `chitin trace export` does.
    #[command(hide = true)]
    ExportTrajectory(trace::ExportTrajectoryArgs),
    /// Make a workspace, or complete one: writes only the files that are absent.
    Init(init::Args),
    /// Show what is in an artifact: name, version, layers, files, signatures.
    Inspect(inspect::Args),
    /// Keep a user name and password for a registry.
    Login(login::LoginArgs),
    /// Forget the user name and password that are kept for a registry.
    Logout(login::LogoutArgs),
    /// Search an agent's memory, show a piece of it, or look after the index.
    Memory(memory::Args),
    /// Pack a workspace into an artifact: exact, the same on every machine, ready to sign and push.
    Pack(Box<pack::Args>),
    /// List who waits to talk to your agents and who may; let somebody in, send them away, shut them out.
    Pairing(pairing::Args),
    /// List the plugins with what each offers, or try one out.
    Plugins(plugins::Args),
    /// Bring an artifact and its signatures from a registry into the local store.
    Pull(pull::Args),
    /// Send an artifact and its signatures to a registry.
    Push(push::Args),
    /// Talk to the agent in a directory: interactive, or one turn with `-m`.
    Run(Box<run::Args>),
    /// Run the gateway: agents over HTTP and WebSocket, and to clients of OpenAI.
    Serve(serve::Args),
    /// List an agent's sessions, show one, take one out, bring one in, or tidy up.
    Sessions(sessions::Args),
    /// Sign an artifact with an ed25519 key, or make such a key.
    Sign(sign::Args),
    /// List an agent's skills, show one, or check all of them.
    Skills(skills::Args),
    /// Look at recorded turns: list them, show one event by event, export one, replay one against an edited workspace.
    Trace(trace::Args),
    /// Lay an artifact out as a workspace, or as the layout of another runtime.
    Unpack(Box<unpack::Args>),
    /// Check every byte of an artifact, and its signatures against the keys you trust.
    Verify(verify::Args),
}

impl Command {
    /// Does what the user asked for and prints it.
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
        match self {
            Self::Agents(args) => args.run(host, printer),
            Self::Channels(args) => args.run(host, printer),
            Self::Check(args) => args.run(host, printer),
            Self::Config(args) => args.run(host, printer),
            Self::Context(args) => args.run(host, printer),
            Self::Contracts(args) => printer.result(&args.run()?),
            Self::Doctor(args) => args.run(host, printer),
            Self::ExportTrajectory(args) => args.run(host, printer),
            Self::Init(args) => printer.result(&args.run(host, printer)?),
            Self::Memory(args) => args.run(host, printer),
            Self::Pairing(args) => args.run(host, printer),
            Self::Plugins(args) => args.run(host, printer),
            Self::Run(args) => args.run(host, printer),
            Self::Serve(args) => args.run(host, printer),
            Self::Sessions(args) => args.run(host, printer),
            Self::Skills(args) => args.run(host, printer),
            Self::Trace(args) => args.run(host, printer),
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
