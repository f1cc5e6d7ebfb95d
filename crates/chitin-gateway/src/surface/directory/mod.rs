//! A directory as a surface, for tests and scripts: files in, files out.
//!
//! A file `in/<name>.json` is a message ([`MessageFile`]); files are taken in the order of their names and are then in `taken/`, or
//! in `refused/` with the reason beside them. Write elsewhere and rename, or give the name its `.json` last: a file with that
//! ending is taken to be whole. What agents say appears in `out/`, one file each, never half written and never twice. The
//! number at the front of a name in `taken/` and `out/` counts both, so it tells the order of a conversation.

mod files;
mod inbox;
mod message;

pub use message::{FileSender, MOST_BYTES, MessageFile};

use super::{
    Address, FileLimits, OutgoingFile, OutgoingMessage, Sent, Surface, SurfaceAction,
    SurfaceCapabilities, SurfaceError, SurfaceOutcome, Threads,
};
use crate::gateway::Gateway;
use crate::intake::IntakeRefusal;
use chitin_guard::WriteError;
use chitin_text::TextFormat;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use inbox::Inbox;
use serde_json::{Map, Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The name that configuration and session keys know it by.
pub const ID: &str = "directory";
/// How often a look is taken for new files.
const EVERY: Duration = Duration::from_millis(200);
/// The most messages of the past that are read at once.
const MOST_READ: u32 = 1_000;
/// What it can do besides sending.
const ACTIONS: [&str; 9] = [
    "send",
    "broadcast",
    "reply",
    "edit",
    "react",
    "read",
    "thread-create",
    "thread-reply",
    "download-file",
];
/// How often a message is changed that is being written: each change is a file.
const CHANGED_EVERY_MS: u64 = 1_000;
/// What files may go with a message.
const FILES: FileLimits = FileLimits {
    count: 10,
    bytes: 25 << 20,
};

/// A directory as a surface. Clones are the same one.
#[derive(Debug, Clone)]
pub struct DirectorySurface {
    inbox: Arc<Inbox>,
    capabilities: SurfaceCapabilities,
}

/// What one look at the directory found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DirectoryScan {
    /// How many messages were taken in.
    pub taken: usize,
    /// How many were refused.
    pub refused: usize,
    /// How many wait, because the gateway takes nothing in just now.
    pub left: usize,
}

impl DirectorySurface {
    /// Opens a directory, and makes what is not there. Blocks.
    ///
    /// # Errors
    ///
    /// When the directory cannot be made or listed.
    pub fn open(path: &Path) -> Result<Self, WriteError> {
        Ok(Self {
            inbox: Arc::new(Inbox::open(path)?),
            capabilities: SurfaceCapabilities {
                format: TextFormat::Markdown,
                max_chars: 1 << 20,
                max_lines: None,
                actions: ACTIONS.map(str::to_owned).to_vec(),
                typing: false,
                threads: Threads::Inside,
                edit_every_ms: Some(CHANGED_EVERY_MS),
                files: Some(FILES),
            },
        })
    }

    /// Takes in what is there, in the order of names. What came in before a crash and was not put away is one message.
    ///
    /// # Errors
    ///
    /// When the directory cannot be used.
    pub async fn look(&self, gateway: &Gateway) -> Result<DirectoryScan, WriteError> {
        let mut looked = DirectoryScan::default();
        let waiting = self.with_inbox(Inbox::waiting).await?;
        let all = waiting.len();
        for (index, name) in waiting.into_iter().enumerate() {
            let reading = name.clone();
            let note = self
                .with_inbox(move |inbox| inbox.read_note(&reading))
                .await;
            let refusal = match note {
                Ok(note) => {
                    // The number is taken before the turn can answer, so that words stand behind what they answer.
                    let number = self.inbox.count();
                    match gateway.accept(note.incoming(ID)).await {
                        Ok(_) => {
                            self.with_inbox(move |inbox| inbox.put_away(&name, number))
                                .await?;
                            looked.taken += 1;
                            continue;
                        }
                        Err(
                            IntakeRefusal::Closing
                            | IntakeRefusal::Restarting
                            | IntakeRefusal::Full { .. }
                            | IntakeRefusal::TooMuch
                            | IntakeRefusal::NoSpace { .. }
                            | IntakeRefusal::QueueFull { .. }
                            | IntakeRefusal::Store(_),
                        ) => {
                            looked.left = all - index;
                            return Ok(looked);
                        }
                        Err(refusal) => format!("It was refused: {refusal}."),
                    }
                }
                Err(reason) => reason,
            };
            self.with_inbox(move |inbox| inbox.refuse(&name, &refusal))
                .await?;
            looked.refused += 1;
        }
        Ok(looked)
    }

    /// Takes in what comes, until it is told to end. What cannot be done is told, and tried again.
    pub async fn watch(&self, gateway: &Gateway, cancel: &CancellationToken) {
        let mut told = String::new();
        loop {
            match self.look(gateway).await {
                Ok(_) => told.clear(),
                Err(error) => {
                    let error = error.to_string();
                    if told != error {
                        (gateway.parts().note)(&error);
                        told = error;
                    }
                }
            }
            tokio::select! {
                () = cancel.cancelled() => return,
                () = tokio::time::sleep(EVERY) => {}
            }
        }
    }

    /// Works with the files where nobody waits for a disk.
    async fn with_inbox<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Inbox) -> T + Send + 'static,
    ) -> T {
        let inbox = Arc::clone(&self.inbox);
        let worked = tokio::task::spawn_blocking(move || work(&inbox)).await;
        match worked {
            Ok(worked) => worked,
            // The work does not panic, and nobody stops it: a runtime that ends is all that is left.
            Err(_) => std::future::pending().await,
        }
    }

    async fn put_out(
        &self,
        kind: &str,
        key: String,
        to: &Address,
        rest: Value,
        files: &[OutgoingFile],
    ) -> Result<String, SurfaceError> {
        let (kind, to, files) = (kind.to_owned(), to.clone(), files.to_vec());
        let rest = match rest {
            Value::Object(rest) => rest,
            _ => Map::new(),
        };
        self.with_inbox(move |inbox| inbox.put_out(&kind, &key, &to, rest, &files))
            .await
            .map_err(|error| SurfaceError::soon(error.to_string()))
    }

    async fn thread(
        &self,
        to: &Address,
        name: &str,
        message_id: Option<&str>,
    ) -> Result<SurfaceOutcome, SurfaceError> {
        // A message has one thread, whoever asks for it and however often.
        let key = match message_id {
            Some(message) => format!("thread {to} under {message}"),
            None => format!("thread {to} called {name}"),
        };
        let thread_id = format!("t-{}", inbox::digest(&key));
        let rest = json!({"name": name, "messageId": message_id, "threadId": thread_id});
        self.put_out("thread", key, to, rest, &[]).await?;
        Ok(SurfaceOutcome::Thread {
            address: Address {
                thread_id: Some(thread_id),
                ..to.clone()
            },
        })
    }
}

impl Surface for DirectorySurface {
    fn id(&self) -> &str {
        ID
    }

    fn capabilities(&self) -> &SurfaceCapabilities {
        &self.capabilities
    }

    fn send<'a>(
        &'a self,
        to: &'a Address,
        message: &'a OutgoingMessage,
    ) -> BoxFuture<'a, Result<Sent, SurfaceError>> {
        async move {
            let mut rest = json!({"text": message.text});
            if let Some(reply_to) = &message.reply_to {
                rest["replyTo"] = json!(reply_to);
            }
            if !message.images.is_empty() {
                rest["images"] = json!(message.images);
            }
            if message.silent {
                rest["silent"] = json!(true);
            }
            let key = message.key.clone();
            let files = &message.files;
            let message_id = self.put_out("message", key, to, rest, files).await?;
            Ok(Sent { message_id })
        }
        .boxed()
    }

    fn act<'a>(
        &'a self,
        to: &'a Address,
        action: &'a SurfaceAction,
    ) -> BoxFuture<'a, Result<SurfaceOutcome, SurfaceError>> {
        async move {
            let count = || format!("{} {}", action.name(), self.inbox.count());
            match action {
                SurfaceAction::Edit { message_id, text } => {
                    let rest = json!({"messageId": message_id, "text": text});
                    self.put_out("edit", count(), to, rest, &[]).await?;
                    Ok(SurfaceOutcome::Done)
                }
                SurfaceAction::React {
                    message_id,
                    emoji,
                    remove,
                } => {
                    let rest = json!({"messageId": message_id, "emoji": emoji, "remove": remove});
                    self.put_out("react", count(), to, rest, &[]).await?;
                    Ok(SurfaceOutcome::Done)
                }
                SurfaceAction::ThreadCreate {
                    name, message_id, ..
                } => self.thread(to, name, message_id.as_deref()).await,
                SurfaceAction::Read { limit, before } => {
                    let (place, before) = (to.clone(), before.clone());
                    let limit = (*limit).min(MOST_READ) as usize;
                    let past = move |inbox: &Inbox| inbox.past(&place, limit, before.as_deref());
                    let messages = self.with_inbox(past).await;
                    let messages =
                        messages.map_err(|error| SurfaceError::soon(error.to_string()))?;
                    Ok(SurfaceOutcome::Said { messages })
                }
                SurfaceAction::Typing => Ok(SurfaceOutcome::Done),
                SurfaceAction::Download { message_id, file } => {
                    let (id, which) = (message_id.clone(), file.clone());
                    let fetch = move |inbox: &Inbox| inbox.fetch(&id, which.as_deref());
                    let file = self.with_inbox(fetch).await.map_err(SurfaceError::never)?;
                    Ok(SurfaceOutcome::File { file })
                }
                SurfaceAction::Other { .. } => Err(SurfaceError::unsupported(action.name())),
            }
        }
        .boxed()
    }
}
