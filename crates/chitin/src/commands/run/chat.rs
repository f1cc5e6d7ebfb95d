//! One turn, or one after the other.

use super::news;
use super::wiring::Wiring;
use crate::commands::{context, sessions};
use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::{Printer, plain};
use crate::terminal::editor::{Editor, Known, Typed};
use crate::terminal::messages;
use crate::terminal::screen::Screen;
use crate::terminal::slash::{self, Input, Slash};
use chitin_agent::turn::{ModelCandidate, TurnError, TurnReport};
use chitin_model::ModelError;
use chitin_protocol::event::RefusedPart;
use chitin_protocol::message::StopReason;
use chitin_runtime::display::sentence;
use chitin_store::{SessionStore, StoreError};
use tokio::sync::mpsc;

/// How many sessions can be completed.
const MOST_KNOWN: usize = 1_000;
/// How many events wait for the screen before the turn waits too.
const WAITING: usize = 256;

/// Says one thing and shows the answer.
pub(super) async fn once(
    wiring: &Wiring,
    words: &str,
    printer: &Printer,
) -> Result<Exit, CliError> {
    let mut screen = screen(wiring, printer);
    let mut news = wiring.news();
    let report = turn(wiring, words, wiring.new_session, &mut screen, printer).await?;
    news::show(wiring, &mut news, &mut screen, printer).await?;
    ended(&report)
}

/// Puts the conversation into a summary.
pub(super) async fn compact(
    wiring: &Wiring,
    words: Option<&str>,
    printer: &Printer,
) -> Result<Exit, CliError> {
    let mut screen = screen(wiring, printer);
    let (sender, mut events) = mpsc::channel(WAITING);
    let cancel = wiring.interrupts.begin_turn();
    let mut stream = printer.stream();
    let (compacted, shown) = tokio::join!(
        wiring.conversation.agent.compact_session(
            &wiring.conversation.session,
            words,
            sender,
            cancel.clone()
        ),
        screen.show(&mut events, &wiring.gate, &mut stream),
    );
    shown?;
    match compacted {
        Ok(Some(_)) => Ok(Exit::Success),
        Ok(None) => {
            printer.note("There is nothing to compact.");
            Ok(Exit::Success)
        }
        Err(TurnError::Model(ModelError::Cancelled)) => Ok(Exit::Interrupted),
        Err(error) => Err(failed(&error)),
    }
}

/// Talks until the user leaves.
pub(super) async fn talk(mut wiring: Wiring, printer: &Printer) -> Result<Exit, CliError> {
    let mut screen = screen(&wiring, printer);
    let sessions = wiring.conversation.factory.store.page(None, MOST_KNOWN);
    let sessions = sessions.unwrap_or_default().sessions;
    let candidates = wiring.conversation.agent.parts().models.iter();
    let known = Known {
        sessions: sessions.into_iter().map(|(key, _)| key).collect(),
        models: candidates.map(ModelCandidate::full_name).collect(),
    };
    let mut editor = Editor::new(
        Some(
            wiring
                .conversation
                .factory
                .state
                .join(chitin_runtime::TYPED_LINES),
        ),
        known,
    );
    let model = &wiring.conversation.agent.parts().models[0];
    let factory = &wiring.conversation.factory;
    printer.note(&format!(
        "{} · {} · {} · /help lists the commands",
        plain(&factory.setup.name(&factory.host), ' '),
        wiring.conversation.session,
        model.full_name()
    ));
    let mut new_session = wiring.new_session;
    let mut news = wiring.news();
    loop {
        news::show_so_far(&wiring, &mut news, &mut screen, printer).await?;
        let line = match editor.read("› ", printer)? {
            Typed::Words(line) => line,
            Typed::Leave => return Ok(Exit::Success),
        };
        let done = match slash::parse(&line) {
            Input::Empty => Ok(()),
            Input::Words(words) => {
                let said = turn(&wiring, &words, new_session, &mut screen, printer).await;
                new_session = false;
                wiring.images.clear();
                said.and_then(|report| ended(&report)).map(drop)
            }
            Input::Command(Slash::Quit) => return Ok(Exit::Success),
            Input::Command(Slash::New) => {
                new_session = true;
                printer.note("The next message starts a new session.");
                Ok(())
            }
            Input::Command(Slash::Sessions { key: Some(key) }) => {
                chitin_runtime::context::session_key(&key, &wiring.conversation.factory.setup)
                    .map_err(CliError::from)
                    .map(|key| {
                        printer.note(&format!("Now using {key}"));
                        wiring.conversation.session = key;
                        news = wiring.news();
                    })
            }
            Input::Command(Slash::Model { name: Some(name) }) => wiring
                .conversation
                .select_model(&name)
                .await
                .map_err(CliError::from)
                .map(|()| printer.note(&format!("Now using {name}"))),
            Input::Command(command) => show(&wiring, command, printer).await,
            Input::Misused { usage } => {
                printer.note(&format!("Usage: {usage}"));
                Ok(())
            }
            Input::Unknown { typed, nearest } => {
                let hint = nearest.map_or_else(
                    || "`/help` lists the commands".to_owned(),
                    |near| format!("did you mean `/{near}`?"),
                );
                printer.note(&format!("Unknown command `/{typed}`; {hint}"));
                Ok(())
            }
        };
        match done {
            Err(error) if error.is_broken_pipe() => return Err(error),
            Err(error) => printer.error(&error),
            Ok(()) => {}
        }
    }
}

/// Commands that only show something.
async fn show(wiring: &Wiring, command: Slash, printer: &Printer) -> Result<(), CliError> {
    match command {
        Slash::Context => {
            let model = wiring.conversation.agent.parts().models[0].full_name();
            context::show(
                &wiring.conversation.factory,
                &wiring.conversation.session,
                &model,
                printer,
            )?;
        }
        Slash::Compact { words } => {
            compact(wiring, words.as_deref(), printer).await?;
        }
        Slash::Model { .. } => {
            for candidate in &wiring.conversation.agent.parts().models {
                printer.note(&candidate.full_name());
            }
        }
        Slash::Sessions { .. } => {
            sessions::show(
                &wiring.conversation.factory.host,
                &wiring.conversation.factory.setup,
                printer,
            )?;
        }
        Slash::Status => printer.note(&status(wiring)?),
        Slash::Tools => {
            for tool in wiring.conversation.agent.specs() {
                printer.note(&tool.name);
            }
        }
        Slash::Help | Slash::New | Slash::Quit => printer.note(&slash::help()),
    }
    Ok(())
}

fn status(wiring: &Wiring) -> Result<String, CliError> {
    let entry = wiring
        .conversation
        .factory
        .store
        .find(&wiring.conversation.session)
        .map_err(|error| stored(&error))?;
    let Some(entry) = entry else {
        return Ok(format!("{}: no messages yet", wiring.conversation.session));
    };
    Ok(format!(
        "{}: {} tokens in the window, cost so far {}, {} compactions",
        wiring.conversation.session,
        entry
            .total_tokens
            .map_or_else(|| messages::UNKNOWN.to_owned(), messages::tokens),
        messages::cost(entry.estimated_cost_usd),
        entry.compaction_count.unwrap_or_default(),
    ))
}

fn screen(wiring: &Wiring, printer: &Printer) -> Screen {
    Screen::new(
        printer,
        wiring.thoughts,
        crate::terminal::width(&wiring.conversation.factory.host),
    )
}

/// Runs a turn and shows it.
async fn turn(
    wiring: &Wiring,
    words: &str,
    new_session: bool,
    screen: &mut Screen,
    printer: &Printer,
) -> Result<TurnReport, CliError> {
    let (sender, mut events) = mpsc::channel(WAITING);
    let cancel = wiring.interrupts.begin_turn();
    let input = wiring.input(words, new_session);
    let mut stream = printer.stream();
    let shown = async {
        let shown = screen.show(&mut events, &wiring.gate, &mut stream).await;
        if shown.is_err() {
            // Nobody reads any more: the turn ends, and what was said is kept.
            cancel.cancel();
            while events.recv().await.is_some() {}
        }
        shown
    };
    let (report, shown) = tokio::join!(
        wiring
            .conversation
            .agent
            .turn(input, sender, cancel.clone()),
        shown
    );
    shown?;
    report.map_err(|error| failed(&error))
}

/// Says how a turn ended.
fn ended(report: &TurnReport) -> Result<Exit, CliError> {
    if let (Some((RefusedPart::Message, by)), Some(error)) = (&report.refused, &report.error) {
        let hint = match by.file.split_once('/') {
            Some((directory, file)) => format!("`{file}` of the directory `{directory}`"),
            None => format!("`{}` of the workspace", by.file),
        };
        return Err(
            CliError::new(FailureKind::Refused, error.clone()).hint(format!(
                "the rules are in {hint}; edits take effect at once"
            )),
        );
    }
    match (&report.stop_reason, &report.error) {
        (StopReason::Aborted, _) => Ok(Exit::Interrupted),
        (StopReason::Error, error) => Err(CliError::new(
            FailureKind::Upstream,
            sentence(
                error
                    .as_deref()
                    .unwrap_or("the response ended with an error"),
            ),
        )
        .hint("the text so far is kept; send a message to continue")),
        (StopReason::Stop | StopReason::ToolUse | StopReason::Length | StopReason::Other(_), _) => {
            Ok(Exit::Success)
        }
    }
}

/// Says why a turn failed, and what to do.
pub(super) fn failed(error: &TurnError) -> CliError {
    let said = sentence(&error.to_string());
    match error {
        TurnError::Source(source) => {
            let error = CliError::new(FailureKind::User, said);
            match &source.hint {
                Some(hint) => error.hint(hint.clone()),
                None => error,
            }
        }
        TurnError::Store(error) => stored(error),
        TurnError::Model(model) => {
            let error = CliError::new(FailureKind::Upstream, said);
            match hint(model) {
                Some(hint) => error.hint(hint),
                None => error,
            }
        }
        TurnError::Limit(_) => CliError::new(FailureKind::Upstream, said)
            .hint("limits are set under `limits` in `chitin.json5`; send a message to continue"),
        TurnError::NoModel => CliError::new(FailureKind::Config, said),
        TurnError::Internal(_) | TurnError::Elsewhere => CliError::new(FailureKind::Internal, said),
    }
}

fn stored(error: &StoreError) -> CliError {
    let said = sentence(&error.to_string());
    match error {
        StoreError::Busy { .. } => CliError::new(FailureKind::Refused, said)
            .hint("wait for it, or use another session with `--session KEY`"),
        StoreError::NoRoom { .. } => CliError::new(FailureKind::User, said)
            .hint("free disk space and try again; acknowledged records are kept"),
        StoreError::Damaged { .. } => CliError::new(FailureKind::User, said)
            .hint("`--new` starts a new session; the damaged file is kept"),
        StoreError::Io { .. }
        | StoreError::Poisoned { .. }
        | StoreError::Unknown { .. }
        | StoreError::BadKey { .. }
        | StoreError::TooLong { .. }
        | StoreError::Exists { .. } => {
            let failed = CliError::new(FailureKind::User, said);
            match error.hint() {
                Some(hint) => failed.hint(hint),
                None => failed,
            }
        }
    }
}

fn hint(error: &ModelError) -> Option<&'static str> {
    match error {
        ModelError::Unauthorized { .. } => {
            Some("check the API key: its environment variable, or `providers` in `chitin.json5`")
        }
        ModelError::RateLimited { .. } | ModelError::Upstream { .. } => {
            Some("try again later, or list other models under `fallbacks` in `chitin.json5`")
        }
        ModelError::Unreachable { .. } | ModelError::TimedOut { .. } => {
            Some("check `baseUrl` in `chitin.json5` and the network")
        }
        ModelError::TooLong { .. } => {
            Some("start a new session with `--new`, or use a model with a larger window")
        }
        ModelError::Rejected { .. }
        | ModelError::Malformed { .. }
        | ModelError::Unscripted(_)
        | ModelError::Unbuildable(_)
        | ModelError::Cancelled => None,
    }
}
