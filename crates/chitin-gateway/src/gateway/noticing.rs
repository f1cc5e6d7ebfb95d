//! What a network hears: who is let in, who has to wait for the owner, what is only kept in mind.

use super::{Gateway, Refusal};
use crate::incoming::{Notice, Noticed};

impl Gateway {
    /// Hears a message on a network. When this returns, a message that was taken in is on the disk. A network hands in a message again
    /// when this fails with something that may pass.
    pub async fn notice(&self, noticed: Noticed) -> Result<Notice, Refusal> {
        if noticed.from_program {
            return Ok(Notice::Ignored("a program wrote it".to_owned()));
        }
        let mut incoming = noticed.incoming;
        incoming.is_owner = false;
        self.accept(incoming).await.map(Notice::Taken)
    }
}
