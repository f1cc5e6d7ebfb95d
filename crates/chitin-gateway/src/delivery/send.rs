//! Messages on their way to a surface: sent, changed and taken back, with the patience that networks need.

use crate::surface::{Address, Again, OutgoingMessage, Sent, Surface, SurfaceAction, SurfaceError};
use serde_json::json;
use std::collections::BTreeMap;
use std::future::Future;
use std::time::Duration;
use tracing::Instrument;

/// How long a surface may take to send one message.
const LONGEST_SEND: Duration = Duration::from_mins(1);
/// How long it may take for what is only a preview, or for taking something back.
const LONGEST_GLIMPSE: Duration = Duration::from_secs(15);
/// How often a message is tried.
const ATTEMPTS: u32 = 5;
/// How long to wait before the second try.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// The longest wait that a surface may ask for.
const LONGEST_WAIT: Duration = Duration::from_mins(1);
/// The action that takes a message back, where a surface declares it.
pub(crate) const DELETE: &str = "delete";

/// Sends a message; what may work later is tried again a few times.
pub(crate) async fn send(
    surface: &dyn Surface,
    to: &Address,
    message: &OutgoingMessage,
) -> Result<Sent, SurfaceError> {
    let span = tracing::info_span!("delivery", channel = ?to.channel, to = ?to.peer.id);
    patiently(|| surface.send(to, message))
        .instrument(span)
        .await
}

/// Sends a message and tries it once.
pub(crate) async fn send_once(
    surface: &dyn Surface,
    to: &Address,
    message: &OutgoingMessage,
) -> Result<Sent, SurfaceError> {
    within(LONGEST_GLIMPSE, surface.send(to, message)).await
}

/// Changes a message; what may work later is tried again a few times.
pub(crate) async fn edit(
    surface: &dyn Surface,
    to: &Address,
    id: &str,
    text: &str,
) -> Result<(), SurfaceError> {
    let action = change(id, text);
    patiently(|| surface.act(to, &action)).await.map(|_| ())
}

/// Changes a message and tries it once.
pub(crate) async fn edit_once(
    surface: &dyn Surface,
    to: &Address,
    id: &str,
    text: &str,
) -> Result<(), SurfaceError> {
    let action = change(id, text);
    let changed = within(LONGEST_GLIMPSE, surface.act(to, &action)).await;
    changed.map(|_| ())
}

fn change(id: &str, text: &str) -> SurfaceAction {
    SurfaceAction::Edit {
        message_id: id.to_owned(),
        text: text.to_owned(),
    }
}

/// Tells whether a surface can take messages back.
pub(crate) fn takes_back(surface: &dyn Surface) -> bool {
    let actions = &surface.capabilities().actions;
    actions.iter().any(|action| action == DELETE)
}

/// Takes a message back.
pub(crate) async fn take_back(
    surface: &dyn Surface,
    to: &Address,
    id: &str,
) -> Result<(), SurfaceError> {
    if !takes_back(surface) {
        return Err(SurfaceError::unsupported(DELETE));
    }
    let action = SurfaceAction::Other {
        name: DELETE.to_owned(),
        fields: BTreeMap::from([("messageId".to_owned(), json!(id))]),
    };
    let gone = within(LONGEST_GLIMPSE, surface.act(to, &action)).await;
    gone.map(|_| ())
}

/// Does something a few times, until it works or never will.
async fn patiently<T, Doing>(mut doing: impl FnMut() -> Doing) -> Result<T, SurfaceError>
where
    Doing: Future<Output = Result<T, SurfaceError>>,
{
    let mut wait = FIRST_WAIT;
    let mut attempt = 1;
    loop {
        let error = match within(LONGEST_SEND, doing()).await {
            Ok(done) => return Ok(done),
            Err(error) => error,
        };
        let pause = match error.again {
            Again::Never => return Err(error),
            Again::Soon => wait,
            Again::After(milliseconds) => Duration::from_millis(milliseconds).min(LONGEST_WAIT),
        };
        if attempt == ATTEMPTS {
            return Err(error);
        }
        tokio::time::sleep(pause).await;
        attempt += 1;
        wait *= 2;
    }
}

async fn within<T>(
    longest: Duration,
    doing: impl Future<Output = Result<T, SurfaceError>>,
) -> Result<T, SurfaceError> {
    match tokio::time::timeout(longest, doing).await {
        Ok(done) => done,
        Err(_) => Err(SurfaceError::soon("The surface did not answer in time.")),
    }
}
