//! The surface of whoever talks over HTTP.

use chitin_gateway::surface::{SurfaceAction, SurfaceOutcome, Threads};
use chitin_gateway::{Address, OutgoingMessage, Sent, Surface, SurfaceCapabilities, SurfaceError};
use chitin_text::TextFormat;
use futures_util::future::BoxFuture;

/// The surface of whoever talks over HTTP. Words that go there are told as events, and kept in the transcript like all
/// others; nothing else is kept. So there are addresses such as `web:direct:ada`.
#[derive(Debug)]
pub struct WebSurface {
    capabilities: SurfaceCapabilities,
}

impl WebSurface {
    /// What it is called.
    pub const ID: &str = "web";
}

impl Default for WebSurface {
    fn default() -> Self {
        Self {
            capabilities: SurfaceCapabilities {
                format: TextFormat::Markdown,
                // An event is no chat message: nobody has to cut it.
                max_chars: 1 << 20,
                max_lines: None,
                actions: ["send", "thread-create", "thread-reply"]
                    .map(str::to_owned)
                    .to_vec(),
                typing: false,
                threads: Threads::Inside,
                edit_every_ms: None,
                files: None,
            },
        }
    }
}

impl Surface for WebSurface {
    fn id(&self) -> &str {
        Self::ID
    }

    fn capabilities(&self) -> &SurfaceCapabilities {
        &self.capabilities
    }

    fn send<'a>(
        &'a self,
        _: &'a Address,
        message: &'a OutgoingMessage,
    ) -> BoxFuture<'a, Result<Sent, SurfaceError>> {
        // The gateway tells whoever listens that it is delivered, with its text.
        let message_id = message.key.clone();
        Box::pin(std::future::ready(Ok(Sent { message_id })))
    }

    fn act<'a>(
        &'a self,
        to: &'a Address,
        action: &'a SurfaceAction,
    ) -> BoxFuture<'a, Result<SurfaceOutcome, SurfaceError>> {
        let done = match action {
            // A thread is there as soon as it has a name: whoever listens sees where words go.
            SurfaceAction::ThreadCreate { message_id, .. } => Ok(SurfaceOutcome::Thread {
                address: Address {
                    thread_id: Some(match message_id {
                        Some(message) => message.clone(),
                        None => uuid::Uuid::new_v4().to_string(),
                    }),
                    ..to.clone()
                },
            }),
            other => Err(SurfaceError::unsupported(other.name())),
        };
        Box::pin(std::future::ready(done))
    }
}
