//! `chitin login` and `chitin logout`: credentials for a registry.

use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render};
use crate::ship::{NetworkArgs, state, until_interrupted};
use chitin_registry::auth;
use chitin_runtime::Host;
use secrecy::SecretString;
use serde::Serialize;
use std::fmt;
use std::io::{IsTerminal, Read};

/// The longest password.
const MOST_PASSWORD: u64 = 64 * 1024;

/// Log in to a registry.
///
/// Credentials are stored in `registries.json` in Chitin's home, readable by you alone, and sent to that registry only. Docker's credentials are used without this.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  chitin login registry.example --username ada --password-stdin < token
  chitin login 127.0.0.1:5000 --username ada --password-stdin --plain-http --check < token

Exit codes: 0 stored; 1 wrong arguments; 3 the registry rejected them (with `--check`).")]
pub(crate) struct LoginArgs {
    /// The registry's host, with its port.
    registry: String,

    /// The user name.
    #[arg(short, long, value_name = "NAME")]
    username: String,

    /// Read the password from standard input; it is never a command-line argument.
    #[arg(long, required = true)]
    password_stdin: bool,

    /// Check the credentials with the registry.
    #[arg(long)]
    check: bool,

    #[command(flatten)]
    network: NetworkArgs,
}

/// Log out of a registry.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  chitin logout registry.example")]
pub(crate) struct LogoutArgs {
    /// The registry's host, with its port.
    registry: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Credentials {
    registry: String,
    kept: bool,
    checked: bool,
    #[serde(skip)]
    words: &'static str,
}

impl LoginArgs {
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
        let mut stdin = std::io::stdin();
        if stdin.is_terminal() {
            return Err(CliError::new(
                FailureKind::Usage,
                "The password must come from a pipe or a file.",
            )
            .hint("`chitin login HOST --username NAME --password-stdin < FILE`"));
        }
        let mut text = String::new();
        stdin
            .by_ref()
            .take(MOST_PASSWORD)
            .read_to_string(&mut text)
            .map_err(|error| {
                CliError::new(FailureKind::Usage, "Could not read the password.").caused_by(error)
            })?;
        let password = SecretString::from(text.trim_end_matches(['\r', '\n']));
        auth::login(&state(host)?, &self.registry, &self.username, &password)?;
        if self.check {
            let registry = self.network.registry(host)?;
            until_interrupted(registry.check(&self.registry))?;
        }
        printer.result(&Credentials {
            registry: self.registry.clone(),
            kept: true,
            checked: self.check,
            words: if self.check {
                "accepted the credentials, which are stored"
            } else {
                "has stored credentials now"
            },
        })
    }
}

impl LogoutArgs {
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
        let had = auth::logout(&state(host)?, &self.registry)?;
        printer.result(&Credentials {
            registry: self.registry.clone(),
            kept: false,
            checked: false,
            words: if had {
                "has no stored credentials any more"
            } else {
                "had no stored credentials"
            },
        })
    }
}

impl Render for Credentials {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        writeln!(out, "{} {}.", paint.bold(&self.registry), self.words)
    }
}
