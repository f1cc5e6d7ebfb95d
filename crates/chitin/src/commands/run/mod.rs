//! `chitin run`: talk to the agent in a directory.

mod chat;
mod dry_run;
mod images;
mod news;
mod wiring;

use crate::args::TargetArgs;
use crate::error::{CliError, Kind};
use crate::exit_code::Exit;
use crate::printer::Printer;
use chitin_runtime::Host;
use chitin_runtime::context::TurnRequest;
use std::io::{IsTerminal, Read};
use std::path::PathBuf;
use wiring::Wiring;

/// The most that is read from a pipe as somebody's words.
const MOST_WORDS: u64 = 10 * 1024 * 1024;

/// Talk to the agent in a directory, or send one message with `-m`.
///
/// Without a key and without a server the built-in `offline` model answers: it says what it was given and can be told to
/// call tools, so that a whole turn can be seen at once. The conversation is kept in a session and goes on the next time.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  chitin run                               talk to the default agent
  chitin run ./my-agent -m 'What is on the board?'
  git diff | chitin run ./my-agent         what is piped in is what is said
  chitin run -m hi --model anthropic/claude-sonnet-5-5
  chitin run -m hi --dry-run               print the exact request and send nothing
  chitin run -m hi --json                  one event per line
  chitin run --new                         begin a new session
  chitin run --continue                    go on with the session that was used last

In a conversation: /help lists what can be typed. Ctrl-C stops an answer; what was said so far is kept.
Exit codes: 0 answered; 5 a rule of the workspace refused it; 6 the provider failed or a limit was reached; 130 stopped by Ctrl-C.")]
pub(crate) struct Args {
    #[command(flatten)]
    target: TargetArgs,

    /// What to say; one turn, then the end. `-` reads it from the pipe.
    #[arg(short, long, value_name = "TEXT")]
    message: Option<String>,

    /// A picture that goes with the message; may be given several times.
    #[arg(long, value_name = "FILE")]
    image: Vec<PathBuf>,

    /// The session's key; left out, the agent's main session.
    #[arg(long, value_name = "KEY", conflicts_with = "continue_last")]
    session: Option<String>,

    /// Go on with the session of this agent that was used last.
    #[arg(long = "continue")]
    continue_last: bool,

    /// Begin a new session; the old one is kept in the archive.
    #[arg(long)]
    new: bool,

    /// The model, as `provider/name`.
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,

    /// How deeply to think: `low`, `medium` or `high`.
    #[arg(long, value_name = "LEVEL", value_parser = ["off", "low", "medium", "high"])]
    thinking: Option<String>,

    /// Write requests and answers into a file that `--model replay/FILE` answers from.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    /// Show all of the model's thoughts, not only that it thinks.
    #[arg(long)]
    thoughts: bool,

    /// Print the exact request and send nothing.
    #[arg(long, conflicts_with = "compact")]
    dry_run: bool,

    /// Put the conversation so far into a summary, and say nothing.
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
                CliError::new(Kind::Internal, "The machine gives no threads.").caused_by(error)
            })?;
        let wiring = runtime.block_on(Wiring::new(self, host, setup, printer))?;
        let exit = match said {
            _ if self.compact => runtime.block_on(chat::compact(&wiring, None, printer)),
            Some(words) if self.dry_run => {
                runtime.block_on(dry_run::print(&wiring, &words, printer))
            }
            Some(words) => runtime.block_on(chat::once(&wiring, &words, printer)),
            None if self.dry_run => Err(CliError::new(
                Kind::Usage,
                "`--dry-run` needs something to say.",
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
            return Err(CliError::new(Kind::Usage, "There is nothing to say.")
                .hint("say it with `-m TEXT`, or pipe it in"));
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
            CliError::new(Kind::User, "What is piped in cannot be read.").caused_by(error)
        })?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > MOST_WORDS) {
        return Err(CliError::new(
            Kind::User,
            format!("More than {} MiB are piped in.", MOST_WORDS >> 20),
        ));
    }
    String::from_utf8(bytes)
        .map_err(|_| CliError::new(Kind::User, "What is piped in is no UTF-8 text."))
}
