//! `chitin import`: what other programs keep, and what becomes of it here.

mod html;
mod text;

use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render};
use chitin_config::secrets::is_secret_variable;
use chitin_openclaw::{Home, HomeContents, HomeError, HomeOptions, HomePaths};
use chitin_runtime::Host;
use chitin_runtime::home_report::HomeReport;
use clap::Subcommand;
use secrecy::SecretString;
use serde::Serialize;
use std::fmt;
use std::path::{Path, PathBuf};

/// Report what an OpenClaw home holds, and what becomes of each part in Chitin.
///
/// Only a report: nothing is brought over, and nothing in the home is changed, created or locked.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  chitin import openclaw
  chitin import openclaw --all
  chitin import openclaw /mnt/backup/.openclaw --json
  chitin import openclaw --html report.html")]
pub(crate) struct Args {
    #[command(subcommand)]
    from: From,
}

#[derive(Debug, Subcommand)]
enum From {
    /// Report on an OpenClaw home: what works, what works differently, what has no effect.
    Openclaw(OpenClawArgs),
}

/// Report on an OpenClaw home: what works, what works differently, what has no effect.
///
/// Homes of every release can be read, in files, in SQLite or in the middle of a migration, also while OpenClaw runs. Secrets are never shown: only their kind and where they are.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  chitin import openclaw
  chitin import openclaw --all
  chitin import openclaw --profile work
  chitin import openclaw /mnt/backup/.openclaw --json
  chitin import openclaw --html report.html

Exit codes: 0 everything could be read; 1 some of it could not; 2 the command line is wrong; 3 there is no home, or it cannot be opened.")]
struct OpenClawArgs {
    /// The home: a state directory such as `~/.openclaw`, or the directory that it is in. By default the one that OpenClaw would use (`$OPENCLAW_STATE_DIR`, `~/.openclaw`).
    #[arg(value_name = "HOME")]
    home: Option<PathBuf>,

    /// Read the home of this profile of OpenClaw's (`dev` for `--dev`).
    #[arg(long, value_name = "NAME", conflicts_with = "home")]
    profile: Option<String>,

    /// Show every line, not only how many there are.
    #[arg(long, short)]
    all: bool,

    /// Write the whole report as a page for a browser.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

impl Args {
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
        match &self.from {
            From::Openclaw(args) => args.run(host, printer),
        }
    }
}

/// The report, as much of it as was asked for.
#[derive(Debug, Serialize)]
struct Shown {
    #[serde(flatten)]
    report: HomeReport,
    #[serde(skip)]
    all: bool,
}

impl Render for Shown {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        text::print(&self.report, self.all, out, paint)
    }

    fn exit(&self) -> Exit {
        if self.report.problems.is_empty() {
            Exit::Success
        } else {
            Exit::Findings
        }
    }
}

impl OpenClawArgs {
    fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
        let paths = match &self.home {
            Some(home) => HomePaths::at(&host.env.resolve(home)),
            None => HomePaths::of(&host.env, self.profile.as_deref()).map_err(refused)?,
        };
        let scratch = host.env.get("TMPDIR").filter(|named| !named.is_empty());
        let options = HomeOptions::new(host.env.resolve(scratch.unwrap_or("/tmp")))
            .with_env(host.env.clone());
        // Only a program asks for what users wrote.
        let options = if printer.is_json() && self.html.is_none() {
            options
        } else {
            options.without_texts()
        };
        let home = Home::open(&paths, options).map_err(refused)?;
        let contents = home.read();
        host.secrets.learn(secrets(&contents));
        let contract = &chitin_contract::CANONICAL;
        let report = HomeReport::of(paths.state.clone(), contents, contract);
        if let Some(file) = &self.html {
            return html::write(&report, file, host, printer);
        }
        printer.result(&Shown {
            report,
            all: self.all,
        })
    }
}

/// What must not be shown, wherever else in the home it stands too.
fn secrets(contents: &HomeContents) -> Vec<SecretString> {
    let stored = contents.auth_profiles.iter();
    let stored = stored.flat_map(|profile| [&profile.secret, &profile.refresh]);
    let channels = contents.channels.iter();
    let channels = channels.flat_map(|(_, channel)| {
        let accounts = channel.accounts.iter().map(|(_, account)| account);
        std::iter::once(channel).chain(accounts)
    });
    let channels = channels.filter_map(|channel| channel.secret.as_ref());
    let keys = contents.env.iter();
    let keys = keys.filter(|key| is_secret_variable(&key.key) && !key.empty);
    stored
        .flatten()
        .chain(channels.filter_map(|secret| secret.secret.as_ref()))
        .chain(keys.map(|key| &key.value))
        .cloned()
        .collect()
}

fn refused(error: HomeError) -> CliError {
    let hint = match &error {
        HomeError::NoHome => "name the home: `chitin import openclaw HOME`",
        HomeError::BadProfile { .. } => "name a profile as OpenClaw does, such as `dev`",
        HomeError::Missing { .. } => {
            "name the home: `chitin import openclaw HOME`, or set `OPENCLAW_STATE_DIR`"
        }
        HomeError::NotAHome { .. } => {
            "name the directory that `openclaw.json` is in, usually `~/.openclaw`"
        }
        HomeError::Unreadable(_) => "run it as the user whose home it is, or read a copy of it",
    };
    let message = capital(&error.to_string());
    let shown = CliError::new(FailureKind::User, message).hint(hint);
    match error {
        HomeError::Unreadable(source) => shown.caused_by(source),
        HomeError::NoHome
        | HomeError::BadProfile { .. }
        | HomeError::Missing { .. }
        | HomeError::NotAHome { .. } => shown,
    }
}

fn capital(text: &str) -> String {
    chitin_runtime::display::sentence(text)
}

/// Says in a few words how a home keeps its state, and who wrote it.
fn described(contents: &HomeContents) -> String {
    use chitin_openclaw::HomeContract;
    let state = match contents.contract {
        HomeContract::Files => "state in files",
        HomeContract::Sqlite => "state in SQLite",
        HomeContract::Mixed => "state partly in SQLite, partly in files: a migration did not end",
    };
    match &contents.version.last_touched_version {
        Some(version) => format!("configuration written by OpenClaw {version}; {state}"),
        None => state.to_owned(),
    }
}

/// Says what a lock means: that OpenClaw runs is likely, and not looked at here.
fn locked(contents: &HomeContents) -> Option<String> {
    let lock = contents.gateway_locks.first()?;
    let process = lock
        .pid
        .map_or_else(|| "?".to_owned(), |pid| pid.to_string());
    Some(format!(
        "A lock of OpenClaw's gateway names process {process}; if that runs, stop it before Chitin takes over channels and heartbeats."
    ))
}

/// The last line of every report.
const ONLY_A_REPORT: &str =
    "This is a report: nothing was brought over, and nothing in the home was changed.";

fn file_name(path: &Path) -> String {
    path.display().to_string()
}
