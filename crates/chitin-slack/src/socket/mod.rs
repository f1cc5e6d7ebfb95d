//! Socket Mode: a WebSocket that we open and keep, and events on it.
//!
//! An envelope is acknowledged when its message is on the disk, and never before. What takes longer than Slack waits, it sends again;
//! the second one is recognised. So nothing is lost when we crash, and nothing is done twice.

pub(crate) mod backoff;
mod connection;
mod dial;
pub mod envelope;

use crate::account::Account;
use backoff::Backoff;
use chitin_gateway::Gateway;
use chitin_gateway::surface::{Again, Connection};
use connection::{SocketEnd, Talk};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How often in a row Slack may move a connection without a rest between.
const QUICK_MOVES: u32 = 3;
/// A connection that held so long was a good one.
const GOOD: Duration = Duration::from_secs(10);
/// How long what was begun may take when everything ends.
const LAST: Duration = Duration::from_secs(5);

/// Keeps an account connected until it is told to end, or until nothing can help.
pub(crate) async fn keep(account: Arc<Account>, gateway: Gateway, cancel: CancellationToken) {
    let old = TaskTracker::new();
    let ended = async {
        tokio::select! {
            () = account.revoked.cancelled() => cancel.cancel(),
            () = cancel.cancelled() => {}
        }
    };
    tokio::join!(ended, connections(&account, &gateway, &cancel, &old));
    old.close();
    let _ = tokio::time::timeout(LAST, old.wait()).await;
    let _ = tokio::time::timeout(LAST, account.queues.finish()).await;
}

/// Opens one connection after the other. One that Slack is about to close goes on beside its successor until it is closed.
async fn connections(
    account: &Arc<Account>,
    gateway: &Gateway,
    cancel: &CancellationToken,
    old: &TaskTracker,
) {
    let mut backoff = Backoff::default();
    let mut quick_moves = 0;
    let mut last = None;
    while !cancel.is_cancelled() {
        let reason = last.take();
        account.stands(Connection::Connecting { reason });
        let opened = tokio::select! {
            () = cancel.cancelled() => return,
            opened = open(account) => opened,
        };
        let (why, again) = match opened {
            Err(error) if error.is_final() => {
                account.fail(error.reason(), error.hint());
                return cancel.cancel();
            }
            Err(error) => (error.reason(), error.again()),
            Ok(socket) => {
                let began = tokio::time::Instant::now();
                let mut talk = Talk::new(Arc::clone(account), gateway.clone(), socket);
                let end = talk.listen(cancel).await;
                if began.elapsed() > GOOD {
                    backoff.reset();
                    quick_moves = 0;
                }
                match end {
                    SocketEnd::Cancelled => return talk.close(LAST).await,
                    SocketEnd::Off => {
                        let hint = "Switch Socket Mode on, on the app's pages".to_owned();
                        let reason = "Socket Mode is switched off for the app.".to_owned();
                        account.fail(reason, Some(hint));
                        return cancel.cancel();
                    }
                    SocketEnd::Moves => {
                        let cancel = cancel.clone();
                        old.spawn(async move { talk.linger(&cancel).await });
                        quick_moves += 1;
                        if quick_moves <= QUICK_MOVES {
                            continue;
                        }
                        (
                            "Slack moves the connection again and again.".to_owned(),
                            Again::Soon,
                        )
                    }
                    SocketEnd::Broken(why) => (why, Again::Soon),
                }
            }
        };
        account.complain(&why);
        let reason = Some(why);
        account.stands(Connection::Connecting {
            reason: reason.clone(),
        });
        last = reason;
        tokio::select! {
            () = cancel.cancelled() => {}
            () = tokio::time::sleep(backoff.wait(again)) => {}
        }
    }
}

async fn open(account: &Account) -> Result<dial::Socket, crate::web::CallError> {
    account.me().await?;
    account.dial().await
}
