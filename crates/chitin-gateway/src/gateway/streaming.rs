//! Answers that go out in blocks while they are written (R57, R58), where the configuration wants it.

use super::Inner;
use super::wording::place_of;
use crate::address::Address;
use crate::silent::SilentGate;
use crate::surface::Surface;
use crate::text::BlockStream;
use crate::text::settings::{self, BlockStreaming};

/// One answer on its way, block by block.
pub(super) struct Blocks {
    gate: SilentGate,
    stream: BlockStream,
    /// Whether any of it was heard. After a crash an answer may be there whole.
    heard: bool,
    /// Whether blocks go out before the answer is whole.
    early: bool,
}

impl Blocks {
    /// Begins with an answer; nothing when answers go out whole.
    pub(super) fn begin(inner: &Inner, surface: &dyn Surface, to: &Address) -> Option<Self> {
        let rules = inner.parts.contract.runtime.outbound;
        let (config, place) = (&inner.parts.config, place_of(to));
        let early = match settings::block_streaming(config, place, &rules) {
            BlockStreaming::Off => return None,
            BlockStreaming::TextEnd => true,
            BlockStreaming::MessageEnd => false,
        };
        let most = Some(surface.capabilities().max_chars);
        let chunking = settings::block_chunking(config, place, most, &rules);
        Some(Self {
            gate: SilentGate::new(rules),
            stream: BlockStream::new(chunking, rules),
            heard: false,
            early,
        })
    }

    /// Hears some of the answer, and returns the blocks that may go out.
    pub(super) fn hear(&mut self, delta: &str) -> Vec<String> {
        self.heard = true;
        let shown = self.gate.push(delta);
        self.stream.push(&shown);
        if self.early {
            self.stream.drain(false)
        } else {
            Vec::new()
        }
    }

    /// The answer is whole: returns the blocks that are left, or nothing when it was not heard as it came.
    pub(super) fn end(mut self) -> Option<Vec<String>> {
        if !self.heard {
            return None;
        }
        let ending = self.gate.finish();
        if !ending.silent {
            self.stream.push(&ending.rest);
        }
        Some(self.stream.drain(true))
    }
}
