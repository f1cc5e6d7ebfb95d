//! Messages that are too long. `rmcp` drops them and says nothing, so that whoever waits for one would wait in vain.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::Notify;

/// The longest single message.
pub(super) const LONGEST_MESSAGE: usize = 16 << 20;

/// Tells that a server sent a message that is too long.
#[derive(Debug, Clone, Default)]
pub(super) struct Oversized(Arc<Notify>);

impl Oversized {
    /// Says what happened, to all that wait for an answer: a message that was dropped does not tell whose it was.
    pub(super) fn tell(&self) {
        self.0.notify_waiters();
    }

    /// Waits for the next message that is too long.
    pub(super) async fn came(&self) -> String {
        self.0.notified().await;
        let megabytes = LONGEST_MESSAGE >> 20;
        format!("its response is longer than the limit of {megabytes} MiB")
    }

    /// Watches what a program prints, line by line.
    pub(super) fn watch<R>(&self, output: R) -> Watched<R> {
        Watched {
            output,
            line: 0,
            oversized: self.clone(),
        }
    }
}

/// The output of a program, with an eye on the length of its lines.
pub(super) struct Watched<R> {
    output: R,
    /// How long the line is so far.
    line: usize,
    oversized: Oversized,
}

impl<R: AsyncRead + Unpin> AsyncRead for Watched<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let polled = Pin::new(&mut this.output).poll_read(context, buffer);
        for piece in buffer.filled()[before..].split_inclusive(|byte| *byte == b'\n') {
            let was_fine = this.line <= LONGEST_MESSAGE;
            this.line += piece.len();
            if was_fine && this.line > LONGEST_MESSAGE {
                this.oversized.tell();
            }
            if piece.ends_with(b"\n") {
                this.line = 0;
            }
        }
        polled
    }
}
