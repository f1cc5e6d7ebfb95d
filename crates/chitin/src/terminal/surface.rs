//! The terminal as a surface: what an agent sends there on purpose. Its answers are shown as they come, without it.

use crate::printer::Printer;
use chitin_gateway::{Address, OutgoingMessage, Sent, Surface, SurfaceCapabilities, SurfaceError};
use chitin_runtime::context::terminal_capabilities;
use futures_util::future::BoxFuture;

/// The terminal that somebody sits at.
#[derive(Debug)]
pub(crate) struct TerminalSurface {
    printer: Printer,
    capabilities: SurfaceCapabilities,
}

impl TerminalSurface {
    /// What it is called.
    pub(crate) const ID: &str = "terminal";

    pub(crate) fn new(printer: &Printer) -> Self {
        Self {
            printer: printer.clone(),
            capabilities: terminal_capabilities(),
        }
    }
}

impl Surface for TerminalSurface {
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
        self.printer.note(&message.plain);
        let message_id = message.key.clone();
        Box::pin(std::future::ready(Ok(Sent { message_id })))
    }
}
