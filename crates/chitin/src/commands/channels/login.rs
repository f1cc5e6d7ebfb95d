//! `chitin channels login` and `logout`.

use super::{ChannelArg, home, surroundings};
use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render};
use chitin_protocol::agent_id::{DEFAULT_ACCOUNT, normalize_account_id};
use chitin_runtime::channels::{
    CREDENTIALS_FILE, ChannelKind, ChannelSecret, ChannelSecrets, forget, keep, plans,
};
use chitin_runtime::{Host, shown};
use secrecy::SecretString;
use serde::Serialize;
use std::fmt;
use std::io::{IsTerminal, Read};

/// The longest input.
const MOST: u64 = 16 * 1024;

/// Whose tokens are kept.
#[derive(Debug, clap::Args)]
pub(super) struct LoginArgs {
    /// The channel.
    #[arg(value_name = "NETWORK")]
    which: ChannelArg,

    /// The account, if there are several bots on one channel.
    #[arg(long, value_name = "ID", default_value = DEFAULT_ACCOUNT)]
    account: String,

    /// Store no token: connect with the tokens in the configuration or the environment.
    #[arg(long)]
    as_configured: bool,
}

/// Whose tokens are forgotten.
#[derive(Debug, clap::Args)]
pub(super) struct LogoutArgs {
    /// The channel.
    #[arg(value_name = "NETWORK")]
    which: ChannelArg,

    /// The account.
    #[arg(long, value_name = "ID", default_value = DEFAULT_ACCOUNT)]
    account: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Done {
    channel: &'static str,
    account: String,
    /// ChannelKind secrets are kept now. Never the secrets.
    kept: Vec<&'static str>,
    connected: bool,
    #[serde(skip)]
    words: String,
}

pub(super) fn login(args: &LoginArgs, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
    let which = args.which.kind();
    let account = normalize_account_id(&args.account);
    let (configuration, state) = surroundings(host, printer)?;
    let secrets = if args.as_configured {
        let plans = plans(host, &configuration, &state)?;
        let found = plans.iter().filter(|plan| plan.kind == which);
        let mut accounts = found.flat_map(|plan| &plan.accounts);
        if !accounts.any(|one| one.id == account && one.secrets.contains_key(&which.secrets()[0])) {
            let id = which.id();
            let what = format!(
                "Neither the configuration nor the environment has a token for the account `{account}` of {}.",
                which.title()
            );
            return Err(CliError::new(FailureKind::User, what)
                .hint(format!("`chitin channels login {id} < token` stores one")));
        }
        ChannelSecrets::new()
    } else {
        read(which)?
    };
    keep(&state, which, &account, &secrets)?;
    let words = if args.as_configured {
        "will be connected by the next `chitin serve`, with the tokens in the configuration."
            .to_owned()
    } else {
        let file = shown(&state.join(CREDENTIALS_FILE), host);
        format!(
            "will be connected by the next `chitin serve`. The tokens are stored in `{file}`, readable by you alone.\n`chitin channels test` checks that they work."
        )
    };
    printer.result(&Done {
        channel: which.id(),
        account,
        kept: secrets.keys().map(|secret| secret.key()).collect(),
        connected: true,
        words,
    })
}

pub(super) fn logout(args: &LogoutArgs, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
    let which = args.which.kind();
    let account = normalize_account_id(&args.account);
    let had = forget(&home(host)?, which, &account)?;
    printer.result(&Done {
        channel: which.id(),
        account,
        kept: Vec::new(),
        connected: false,
        words: if had {
            "has no stored tokens any more. A running server stays connected until it stops."
                .to_owned()
        } else {
            "had no stored tokens.".to_owned()
        },
    })
}

/// Reads tokens, one a line; which is which is seen by what they begin with.
fn read(which: ChannelKind) -> Result<ChannelSecrets, CliError> {
    let mut stdin = std::io::stdin();
    if stdin.is_terminal() {
        // Typed in, a token would stay on the screen and in the terminal's memory.
        return Err(CliError::new(
            FailureKind::Usage,
            "The tokens must come from a pipe or a file.",
        )
        .hint(format!(
            "`chitin channels login {} < FILE`, one token a line: {}",
            which.id(),
            wanted(which)
        )));
    }
    let mut text = String::new();
    let read = stdin.by_ref().take(MOST).read_to_string(&mut text);
    read.map_err(|error| {
        CliError::new(FailureKind::Usage, "Could not read the tokens.").caused_by(error)
    })?;
    let mut secrets = ChannelSecrets::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        let Some(secret) = which.recognise(line) else {
            // What was given is not repeated: it may be a secret of something else.
            let what = format!("Line {} is not a token of {}.", number + 1, which.title());
            return Err(CliError::new(FailureKind::Usage, what).hint(wanted(which)));
        };
        if secrets.insert(secret, SecretString::from(line)).is_some() {
            let what = format!("`{}` is given twice.", secret.key());
            return Err(CliError::new(FailureKind::Usage, what)
                .hint("store each account separately, with `--account ID`"));
        }
    }
    let first = which.secrets()[0];
    if !secrets.contains_key(&first) {
        return Err(
            CliError::new(FailureKind::Usage, format!("`{}` is missing.", first.key()))
                .hint(wanted(which)),
        );
    }
    Ok(secrets)
}

/// Says what is wanted.
fn wanted(which: ChannelKind) -> String {
    let secrets = which.secrets().iter();
    let secrets: Vec<&str> = secrets
        .map(|secret: &ChannelSecret| secret.whereabouts())
        .collect();
    secrets.join("; ")
}

impl Render for Done {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        let title = match self.account.as_str() {
            DEFAULT_ACCOUNT => self.channel.to_owned(),
            account => format!("{} ({account})", self.channel),
        };
        writeln!(out, "{} {}", paint.bold(&title), self.words)
    }
}
