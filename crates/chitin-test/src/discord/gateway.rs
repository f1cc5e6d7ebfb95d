//! The gateway: hello, identify, ready, heartbeats, resume with what was missed.

use super::{BOT, Shared};
use futures_util::{SinkExt, StreamExt};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role};

/// What a connection is told to do.
#[derive(Debug, Clone)]
pub(super) enum Command {
    Text(String),
    Close(u16),
    Break,
}

/// Somebody who identified, connected or not.
pub(super) struct Session {
    pub(super) intents: u64,
    pub(super) sequence: u64,
    /// What was sent, so that it can be sent again.
    pub(super) log: Vec<(u64, String)>,
    pub(super) line: Option<Line>,
}

/// A connection.
pub(super) struct Line {
    number: u64,
    commands: mpsc::UnboundedSender<Command>,
}

impl Session {
    pub(super) fn send(&self, command: Command) {
        if let Some(line) = &self.line {
            let _ = line.commands.send(command);
        }
    }
}

/// What a connection knows.
struct Connection {
    shared: Arc<Shared>,
    number: u64,
    commands: mpsc::UnboundedSender<Command>,
}

/// Serves a connection until it ends.
pub(super) async fn serve(shared: Arc<Shared>, upgraded: Upgraded) {
    let socket = WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Server, None).await;
    let (mut sink, mut stream) = socket.split();
    let (commands, mut waiting) = mpsc::unbounded_channel();
    let number = shared.change(|state| {
        state.lines += 1;
        state.lines
    });
    let connection = Connection {
        shared: Arc::clone(&shared),
        number,
        commands,
    };
    let interval = shared.state().heartbeat_ms;
    let hello = json!({"op": 10, "d": {"heartbeat_interval": interval}}).to_string();
    if sink.send(Message::text(hello)).await.is_ok() {
        loop {
            let command = tokio::select! {
                command = waiting.recv() => command,
                heard = stream.next() => match heard {
                    Some(Ok(Message::Text(text))) => {
                        connection.hear(&text);
                        continue;
                    }
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
                    Some(Ok(Message::Close(_))) => {
                        // A goodbye is answered.
                        let _ = sink.flush().await;
                        let _ = stream.next().await;
                        None
                    }
                    _ => None,
                },
            };
            let sent = match command {
                Some(Command::Text(text)) => sink.send(Message::text(text)).await,
                Some(Command::Close(code)) => {
                    let frame = CloseFrame {
                        code: code.into(),
                        reason: "".into(),
                    };
                    let _ = sink.send(Message::Close(Some(frame))).await;
                    // The other side answers, and then it is over.
                    let _ = stream.next().await;
                    break;
                }
                Some(Command::Break) | None => break,
            };
            if sent.is_err() {
                break;
            }
        }
    }
    shared.change(|state| {
        for session in state.sessions.values_mut() {
            if session
                .line
                .as_ref()
                .is_some_and(|line| line.number == number)
            {
                session.line = None;
            }
        }
    });
}

impl Connection {
    fn hear(&self, text: &str) {
        let said: Value = serde_json::from_str(text).unwrap_or_default();
        match said["op"].as_u64() {
            Some(1) => {
                self.shared.change(|state| state.heartbeats += 1);
                self.send(&json!({"op": 11}));
            }
            Some(2) => self.identify(&said["d"]),
            Some(6) => self.resume(&said["d"]),
            _ => {}
        }
    }

    fn send(&self, value: &Value) {
        let _ = self.commands.send(Command::Text(value.to_string()));
    }

    fn close(&self, code: u16) {
        let _ = self.commands.send(Command::Close(code));
    }

    fn is_let_in(&self, said: &Value) -> bool {
        let token = said["token"].as_str().unwrap_or_default();
        let token = token.strip_prefix("Bot ").unwrap_or(token);
        self.shared.state().token.as_deref() == Some(token)
    }

    fn line(&self) -> Line {
        Line {
            number: self.number,
            commands: self.commands.clone(),
        }
    }

    fn identify(&self, said: &Value) {
        if !self.is_let_in(said) {
            return self.close(4004);
        }
        let intents = said["intents"].as_u64().unwrap_or_default();
        if intents & self.shared.state().forbidden_intents != 0 {
            return self.close(4014);
        }
        self.shared.change(|state| {
            let id = format!("session-{}", state.new_id());
            let guilds: Vec<String> = state.guilds.keys().cloned().collect();
            let unavailable: Vec<Value> =
                guilds.iter().map(|guild| json!({"id": guild, "unavailable": true})).collect();
            let ready = json!({
                "v": 10, "user": state.user(BOT), "guilds": unavailable, "session_id": id,
                "resume_gateway_url": state.place().ws(), "application": {"id": BOT, "flags": state.flags},
            });
            let mut session = Session { intents, sequence: 0, log: Vec::new(), line: Some(self.line()) };
            let mut tell = |name: &str, data: &Value| {
                session.sequence += 1;
                let event = json!({"op": 0, "s": session.sequence, "t": name, "d": data}).to_string();
                session.log.push((session.sequence, event.clone()));
                session.send(Command::Text(event));
            };
            tell("READY", &ready);
            for guild in guilds {
                tell("GUILD_CREATE", &state.guild(&guild));
            }
            state.sessions.insert(id, session);
            let mut said = said.clone();
            said["token"] = json!("…");
            state.identified.push(said);
        });
    }

    /// Goes on where somebody was; what they missed comes first.
    fn resume(&self, said: &Value) {
        if !self.is_let_in(said) {
            return self.close(4004);
        }
        let id = said["session_id"].as_str().unwrap_or_default();
        let from = said["seq"].as_u64().unwrap_or_default();
        let resumed = self.shared.change(|state| {
            let Some(session) = state.sessions.get_mut(id) else {
                return false;
            };
            session.line = Some(self.line());
            for (sequence, event) in &session.log {
                if *sequence > from {
                    session.send(Command::Text(event.clone()));
                }
            }
            session.sequence += 1;
            let event =
                json!({"op": 0, "s": session.sequence, "t": "RESUMED", "d": {}}).to_string();
            session.log.push((session.sequence, event.clone()));
            session.send(Command::Text(event));
            state.resumed += 1;
            true
        });
        if !resumed {
            self.send(&json!({"op": 9, "d": false}));
        }
    }
}
