//! What is said to a model and shown to people, as far as the gateway has a say in it.

use super::reply_to::{self, ReplyFilter};
use crate::gateway::Inner;
use crate::surface::{Address, Surface};
use chitin_text::settings::{self, AccountRef};
use chitin_text::{ChunkLimits, TextChunk, silent};

impl Inner {
    /// Returns what people see of an answer; nothing when it is meant for nobody (R70, R71).
    pub(crate) fn shown(&self, text: &str) -> Option<String> {
        let spoken = silent::spoken(text, &self.parts.contract.runtime.outbound)?;
        let spoken = spoken.trim();
        (!spoken.is_empty()).then(|| spoken.to_owned())
    }

    /// Cuts text into pieces that a surface takes (R50–R56).
    pub(crate) fn cut(&self, surface: &dyn Surface, to: &Address, text: &str) -> Vec<TextChunk> {
        let rules = &self.parts.contract.runtime.outbound;
        let can = surface.capabilities();
        let place = place_of(to);
        let config = &self.parts.config;
        let limits = ChunkLimits {
            max_chars: settings::text_limit(config, place, Some(can.max_chars), rules)
                .min(can.max_chars),
            max_lines: can.max_lines.unwrap_or(usize::MAX),
            mode: settings::mode(config, place, rules),
            ..ChunkLimits::of(can.format)
        };
        chitin_text::chunks(text, &limits, rules)
    }

    /// Says which answers on a place point at the message that they answer (R74, R75).
    pub(crate) fn reply_filter(&self, to: &Address) -> ReplyFilter {
        let rules = &self.parts.contract.runtime.outbound;
        let account = to.account_id.as_deref().unwrap_or_default();
        let kind = to.peer.kind.as_str();
        let mode = reply_to::reply_mode(&self.parts.config, &to.channel, account, kind, rules);
        ReplyFilter::new(mode, &to.channel)
    }
}

/// Returns how configuration knows a place.
pub(crate) fn place_of(to: &Address) -> AccountRef<'_> {
    AccountRef {
        channel: &to.channel,
        account: to.account_id.as_deref().unwrap_or_default(),
    }
}
