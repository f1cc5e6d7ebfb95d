//! The surface of whoever talks over HTTP.

use chitin_gateway::surface::{Action, Done, Threads};
use chitin_gateway::{Address, Capabilities, Outgoing, Sent, Surface, SurfaceError};
use chitin_text::TextFormat;
use futures_util::future::BoxFuture;

/// The surface of whoever talks over HTTP. Words that go there are told as events, and kept in the transcript like all
/// others; nothing else is kept. So there are addresses such as `web:direct:ada`.
#[derive(Debug)]
pub struct WebSurface {
    capabilities: Capabilities,
}

impl WebSurface {
    /// What it is called.
    pub const ID: &str = "web";
}

impl Default for WebSurface {
    fn default() -> Self {
        Self {
            capabilities: Capabilities {
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

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn send<'a>(
        &'a self,
        _: &'a Address,
        message: &'a Outgoing,
    ) -> BoxFuture<'a, Result<Sent, SurfaceError>> {
        // The gateway tells whoever listens that it is delivered, with its text.
        let message_id = message.key.clone();
        Box::pin(std::future::ready(Ok(Sent { message_id })))
    }

    fn act<'a>(
        &'a self,
        to: &'a Address,
        action: &'a Action,
    ) -> BoxFuture<'a, Result<Done, SurfaceError>> {
        let done = match action {
            // A thread is there as soon as it has a name: whoever listens sees where words go.
            Action::ThreadCreate { message_id, .. } => Ok(Done::Thread {
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
