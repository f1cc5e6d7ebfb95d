//! `chitin run`: talk to the agent in a directory.

mod chat;
mod dry_run;
mod images;
mod news;
mod wiring;

use crate::args::TargetArgs;
use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::{Printer, ShowSecrets};
use chitin_runtime::Host;
use chitin_runtime::context::TurnRequest;
use std::io::{IsTerminal, Read};
use std::path::PathBuf;
use wiring::Wiring;

/// The most that is read from a pipe as somebody's words.
const MOST_WORDS: u64 = 10 * 1024 * 1024;

/// Talk to the agent in a directory, or send one message with `-m`.
///
/// Without an API key, the built-in `offline` model answers: it reports what it was given and can call tools, so you can see a complete turn. The conversation is stored in a session and continues on the next run.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  chitin run                               talk to the default agent
  chitin run ./my-agent -m 'What is on the board?'
  git diff | chitin run ./my-agent         the piped text is the message
  chitin run -m hi --model anthropic/claude-sonnet-5-5
  chitin run -m hi --dry-run               print the exact request and send nothing
  chitin run -m hi --json                  one event per line
  chitin run --new                         begin a new session
  chitin run --continue                    continue the most recently used session

In a conversation: /help lists the commands. Ctrl-C stops a reply; the text so far is kept.
Exit codes: 0 answered; 5 refused by a rule of the workspace; 6 the provider failed or a limit was reached; 130 stopped by Ctrl-C.")]
pub(crate) struct Args {
    #[command(flatten)]
    target: TargetArgs,

    /// Send this message, print the reply and exit. `-` reads it from standard input.
    #[arg(short, long, value_name = "TEXT")]
    message: Option<String>,

    /// An image to send with the message; repeatable.
    #[arg(long, value_name = "FILE")]
    image: Vec<PathBuf>,

    /// The session's key; by default the agent's main session.
    #[arg(long, value_name = "KEY", conflicts_with = "continue_last")]
    session: Option<String>,

    /// Continue the agent's most recently used session.
    #[arg(long = "continue")]
    continue_last: bool,

    /// Start a new session; the old one is archived.
    #[arg(long)]
    new: bool,

    /// The model, as `provider/name`.
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,

    /// The thinking level: `low`, `medium` or `high`.
    #[arg(long, value_name = "LEVEL", value_parser = ["off", "low", "medium", "high"])]
    thinking: Option<String>,

    /// Record requests and responses to a file that `--model replay/FILE` replays.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    /// Show the model's thoughts in full.
    #[arg(long)]
    thoughts: bool,

    /// Print the exact request and send nothing.
    #[arg(long, conflicts_with = "compact")]
    dry_run: bool,

    #[command(flatten)]
    show_secrets: ShowSecrets,

    /// Compact the conversation, without sending a message.
    #[arg(long, conflicts_with_all = ["message", "new"])]
    compact: bool,
}

impl Args {
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
        let turn = TurnRequest {
            session: self.session.clone(),
            ..TurnRequest::default()
        };
        let setup = turn.find(host, &self.target.target(), &printer.notes())?;
        let said = self.said()?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| {
                CliError::new(FailureKind::Internal, "Could not start threads.").caused_by(error)
            })?;
        let wiring = runtime.block_on(Wiring::new(self, host, setup, printer))?;
        let exit = match said {
            _ if self.compact => runtime.block_on(chat::compact(&wiring, None, printer)),
            Some(words) if self.dry_run => {
                let secrets = self.show_secrets.of_exact();
                runtime.block_on(dry_run::print(&wiring, &words, secrets, printer))
            }
            Some(words) => runtime.block_on(chat::once(&wiring, &words, printer)),
            None if self.dry_run => Err(CliError::new(
                FailureKind::Usage,
                "`--dry-run` needs a message.",
            )
            .hint("`chitin run -m hi --dry-run`")),
            None => runtime.block_on(chat::talk(wiring, printer)),
        };
        // A tool that does not end must not keep the process.
        runtime.shutdown_background();
        exit
    }

    /// Returns what to say in one turn; nothing for a conversation.
    fn said(&self) -> Result<Option<String>, CliError> {
        let words = match self.message.as_deref() {
            Some("-") => piped()?,
            Some(words) => words.to_owned(),
            None if self.compact => return Ok(None),
            None if std::io::stdin().is_terminal() => return Ok(None),
            None => piped()?,
        };
        if words.trim().is_empty() && self.image.is_empty() {
            return Err(CliError::new(FailureKind::Usage, "The message is empty.")
                .hint("pass it with `-m TEXT`, or pipe it in"));
        }
        Ok(Some(words))
    }
}

/// Reads what is piped in.
fn piped() -> Result<String, CliError> {
    let mut bytes = Vec::new();
    std::io::stdin()
        .take(MOST_WORDS + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| {
            CliError::new(FailureKind::User, "Could not read standard input.").caused_by(error)
        })?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > MOST_WORDS) {
        return Err(CliError::new(
            FailureKind::User,
            format!("Standard input is longer than {} MiB.", MOST_WORDS >> 20),
        ));
    }
    String::from_utf8(bytes)
        .map_err(|_| CliError::new(FailureKind::User, "Standard input is not UTF-8 text."))
}
