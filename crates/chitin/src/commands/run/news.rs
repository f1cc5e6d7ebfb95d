//! What the runs that a session began lead to: turns of the session that nobody typed anything for.

use super::wiring::Wiring;
use crate::error::CliError;
use crate::printer::Printer;
use crate::terminal::screen::Screen;
use chitin_gateway::events::EventKind;
use chitin_gateway::{ListenerEvent, Subscription, Topic};
use chitin_protocol::event::TurnEvent;
use std::time::Duration;
use tokio::sync::mpsc;

/// How often to look whether anything is still at work.
const LOOK: Duration = Duration::from_millis(50);
/// How many events wait for the screen.
const WAITING: usize = 256;

impl Wiring {
    /// Begins to listen to turns that runs of this session lead to.
    pub(super) fn news(&self) -> Subscription {
        self.conversation
            .gateway
            .subscribe(Topic::Session(self.conversation.session.clone()))
    }
}

/// Shows all news, until no run is at work. Ctrl-C stops the runs.
pub(super) async fn show(
    wiring: &Wiring,
    news: &mut Subscription,
    screen: &mut Screen,
    printer: &Printer,
) -> Result<(), CliError> {
    let at_work = wiring.conversation.gateway.busy().len();
    if at_work == 0 {
        return Ok(());
    }
    let runs = if at_work == 1 { "run is" } else { "runs are" };
    printer.note(&format!("{at_work} {runs} running"));
    let cancel = wiring.interrupts.begin_turn();
    let (sender, mut events) = mpsc::channel(WAITING);
    let hearing = async move {
        loop {
            tokio::select! {
                heard = news.next() => {
                    if let Some(event) = heard.and_then(event) {
                        let _ = sender.send(event).await;
                    }
                }
                () = tokio::time::sleep(LOOK) => {
                    if cancel.is_cancelled() {
                        wiring.conversation.gateway.stop(&wiring.conversation.session);
                    }
                    if wiring.conversation.gateway.busy().is_empty() {
                        return;
                    }
                }
            }
        }
    };
    let mut stream = printer.stream();
    let ((), shown) = tokio::join!(hearing, screen.show(&mut events, &wiring.gate, &mut stream));
    shown
}

/// Shows the news that came while somebody typed, turn by turn, and waits for nothing but the end of one that is told.
pub(super) async fn show_so_far(
    wiring: &Wiring,
    news: &mut Subscription,
    screen: &mut Screen,
    printer: &Printer,
) -> Result<(), CliError> {
    let mut stream = printer.stream();
    let mut is_telling = false;
    loop {
        let heard = tokio::select! {
            biased;
            heard = news.next() => heard,
            () = std::future::ready(()), if !is_telling => return Ok(()),
            () = tokio::time::sleep(LOOK) => {
                // A turn that broke off has no last event.
                is_telling = !wiring.conversation.gateway.busy().is_empty();
                continue;
            }
        };
        let Some(event) = heard.and_then(event) else {
            continue;
        };
        is_telling = !matches!(event, TurnEvent::TurnFinished { .. });
        let (sender, mut events) = mpsc::channel(1);
        let _ = sender.send(event).await;
        drop(sender);
        screen.show(&mut events, &wiring.gate, &mut stream).await?;
    }
}

fn event(heard: ListenerEvent) -> Option<TurnEvent> {
    match heard {
        ListenerEvent::Happening(happening) => match &happening.what {
            EventKind::Turn { event } => Some(event.clone()),
            _ => None,
        },
        ListenerEvent::Missed(_) => None,
    }
}
