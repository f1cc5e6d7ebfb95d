//! One connection: envelopes in, acknowledgements out.

use super::dial::Socket;
use super::envelope::{self, DisconnectReason, Envelope};
use crate::account::Account;
use crate::event::SlackEvent;
use crate::receive::ReceivedEvent;
use chitin_gateway::Gateway;
use chitin_gateway::surface::Connection;
use futures_util::{FutureExt, SinkExt, StreamExt};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::{self, Bytes, Message, Utf8Bytes};
use tokio_util::sync::CancellationToken;

/// After so much silence we ask whether anybody is there.
const SILENCE: Duration = Duration::from_secs(20);
/// After so much silence nobody is.
const DEAD: Duration = Duration::from_secs(45);
/// How long a connection that is about to go is listened to.
const LINGER: Duration = Duration::from_mins(1);
/// How long a message may take to be written.
const WRITE: Duration = Duration::from_secs(10);
/// Acknowledgements that wait to be written.
const ACKS: usize = 256;

/// One connection.
pub(super) struct Talk {
    account: Arc<Account>,
    gateway: Gateway,
    socket: Socket,
    acks: mpsc::Receiver<String>,
    ack: mpsc::Sender<String>,
}

/// Why a connection is not listened to any more.
pub(super) enum SocketEnd {
    /// We were told to end.
    Cancelled,
    /// Slack is about to close it; a new one is to be opened, and this one listened to meanwhile.
    Moves,
    /// Socket Mode is off.
    Off,
    /// It broke.
    Broken(String),
}

/// What the next thing is.
enum Next {
    Cancelled,
    Ack(String),
    Came(Option<Result<Message, tungstenite::Error>>),
    Silent,
}

impl Talk {
    pub(super) fn new(account: Arc<Account>, gateway: Gateway, socket: Socket) -> Self {
        let (ack, acks) = mpsc::channel(ACKS);
        Self {
            account,
            gateway,
            socket,
            acks,
            ack,
        }
    }

    /// Listens until the connection ends, or is about to.
    pub(super) async fn listen(&mut self, cancel: &CancellationToken) -> SocketEnd {
        let mut heard = Instant::now();
        loop {
            let asked = heard + SILENCE;
            let wake = if Instant::now() < asked {
                asked
            } else {
                heard + DEAD
            };
            let next = tokio::select! {
                biased;
                () = cancel.cancelled() => Next::Cancelled,
                Some(id) = self.acks.recv() => Next::Ack(id),
                came = self.socket.next() => Next::Came(came),
                () = tokio::time::sleep_until(wake) => Next::Silent,
            };
            let message = match next {
                Next::Cancelled => return SocketEnd::Cancelled,
                Next::Ack(id) => {
                    if let Err(why) = self.write(acknowledgement(&id)).await {
                        return SocketEnd::Broken(why);
                    }
                    continue;
                }
                Next::Silent if Instant::now() >= heard + DEAD => {
                    return SocketEnd::Broken("Slack has gone silent.".to_owned());
                }
                Next::Silent => {
                    if let Err(why) = self.write(Message::Ping(Bytes::new())).await {
                        return SocketEnd::Broken(why);
                    }
                    continue;
                }
                Next::Came(None) => {
                    return SocketEnd::Broken("Slack closed the connection.".to_owned());
                }
                Next::Came(Some(Err(error))) => {
                    return SocketEnd::Broken(format!("The connection broke: {error}."));
                }
                Next::Came(Some(Ok(message))) => message,
            };
            heard = Instant::now();
            match message {
                Message::Text(text) => {
                    if let Some(end) = self.take(&text).await {
                        return end;
                    }
                }
                Message::Close(_) => {
                    return SocketEnd::Broken("Slack closed the connection.".to_owned());
                }
                // A ping is answered by the library when it is read on.
                Message::Ping(_) | Message::Pong(_) | Message::Binary(_) | Message::Frame(_) => {}
            }
        }
    }

    /// Listens on to a connection that is about to go.
    pub(super) async fn linger(mut self, cancel: &CancellationToken) {
        let listening = async {
            // Slack may say more than once that it is about to go.
            while matches!(self.listen(cancel).await, SocketEnd::Moves) {}
        };
        let _ = tokio::time::timeout(LINGER, listening).await;
        self.close(Duration::from_secs(2)).await;
    }

    /// Takes one message. Returns how the connection ends, if it does.
    async fn take(&mut self, text: &str) -> Option<SocketEnd> {
        match envelope::read(text) {
            Ok(Envelope::Hello) => self.account.stands(Connection::Connected),
            Ok(Envelope::Disconnect(DisconnectReason::Refresh)) => return Some(SocketEnd::Moves),
            Ok(Envelope::Disconnect(DisconnectReason::Off)) => return Some(SocketEnd::Off),
            Ok(Envelope::Disconnect(DisconnectReason::Other)) => {
                return Some(SocketEnd::Broken(
                    "Slack wants no more connections.".to_owned(),
                ));
            }
            Ok(Envelope::Other {
                envelope_id,
                problem,
            }) => {
                if let Some(problem) = problem {
                    self.account
                        .complain(&format!("an envelope was not understood: {problem}"));
                }
                if let Err(why) = self.write(acknowledgement(&envelope_id)).await {
                    return Some(SocketEnd::Broken(why));
                }
            }
            Ok(Envelope::Event {
                envelope_id,
                happened,
            }) => {
                let place = match &happened.event {
                    SlackEvent::Message(message) => message.channel.clone(),
                    SlackEvent::Revoked | SlackEvent::Other(_) => String::new(),
                };
                let (account, gateway) = (Arc::clone(&self.account), self.gateway.clone());
                let ack = self.ack.clone();
                let job = async move {
                    if account.hear(&gateway, &happened).await == ReceivedEvent::Settled {
                        // The connection may be gone; then Slack sends it again, and it is known.
                        let _ = ack.send(envelope_id).await;
                    }
                };
                if !self.account.queues.try_push(&place, job.boxed()) {
                    self.account
                        .complain("too much waits already; Slack is to tell it again");
                }
            }
            Err(problem) => {
                self.account
                    .complain(&format!("a message of Slack was not understood: {problem}"));
            }
        }
        None
    }

    /// Acknowledges what is still being taken in, and closes the connection.
    pub(super) async fn close(mut self, longest: Duration) {
        let queues = Arc::clone(&self.account.queues);
        let finishing = async {
            let empty = queues.finish();
            tokio::pin!(empty);
            loop {
                tokio::select! {
                    Some(id) = self.acks.recv() => {
                        if self.write(acknowledgement(&id)).await.is_err() {
                            return;
                        }
                    }
                    () = &mut empty => break,
                }
            }
            while let Ok(id) = self.acks.try_recv() {
                if self.write(acknowledgement(&id)).await.is_err() {
                    return;
                }
            }
        };
        let _ = tokio::time::timeout(longest, finishing).await;
        let _ = tokio::time::timeout(Duration::from_secs(1), self.socket.close(None)).await;
    }

    async fn write(&mut self, message: Message) -> Result<(), String> {
        match tokio::time::timeout(WRITE, self.socket.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(format!("The connection broke: {error}.")),
            Err(_) => Err("Slack takes nothing more.".to_owned()),
        }
    }
}

fn acknowledgement(envelope_id: &str) -> Message {
    let text = json!({"envelope_id": envelope_id}).to_string();
    Message::Text(Utf8Bytes::from(text))
}
