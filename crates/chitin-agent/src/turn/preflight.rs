//! Before the message that opens a turn is sent: makes room if it will not fit (C21).

use super::compact::Reason;
use super::conversation::window_of;
use super::{Running, TurnError};
use crate::history::PreflightRoute;
use chitin_protocol::transcript::EntryBody;

/// How many times a conversation is compacted for one message.
const MOST_COMPACTIONS: u32 = 3;

impl Running<'_> {
    /// Makes room for the message if the contract says so. One that does not fit even then is sent nevertheless: the
    /// estimate has a margin, and the provider knows exactly.
    pub(super) async fn recover_before(
        &mut self,
        pending: &mut Vec<EntryBody>,
    ) -> Result<(), TurnError> {
        let window = window_of(self.candidate());
        let mut prompt = self.request.message.text.clone();
        let mut shortened = 0;
        for _ in 0..MOST_COMPACTIONS {
            if self.cancel.is_cancelled() {
                break;
            }
            let Some(found) = self
                .conversation
                .preflight(&self.request.system, &prompt, window)
            else {
                break;
            };
            if found.route == PreflightRoute::TruncateToolResultsOnly {
                let count = self.conversation.shorten_results(window);
                shortened += count;
                if count > 0 {
                    continue;
                }
            }
            // The message is stored before a model is asked for a summary; from then on it is part of the conversation.
            self.store(std::mem::take(pending)).await?;
            prompt.clear();
            if !self.compact(Reason::TooMuch, None).await? {
                break;
            }
            if found.route == PreflightRoute::CompactThenTruncate {
                shortened += self.conversation.shorten_results(window);
            }
        }
        if shortened > 0 {
            let note = format!("shortened {shortened} tool results to make room for the message");
            self.sink.note(&note).await;
        }
        Ok(())
    }
}
