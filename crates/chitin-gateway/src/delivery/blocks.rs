//! Answers that go out in blocks while they are written (R57, R58), where the configuration wants it.

use super::render::place_of;
use crate::gateway::Inner;
use crate::surface::{Address, Surface};
use chitin_protocol::text::utf16_len;
use chitin_text::BlockStream;
use chitin_text::settings::{self, BlockStreaming, Coalescing};
use chitin_text::silent::SilentGate;
use std::time::Duration;

/// One answer on its way, block by block.
pub(crate) struct Blocks {
    gate: SilentGate,
    stream: BlockStream,
    /// Whether any of it was heard. After a crash an answer may be there whole.
    heard: bool,
    /// Whether blocks go out before the answer is whole.
    early: bool,
    joiner: Joiner,
}

/// Puts blocks together before they go out (R58).
struct Joiner {
    rules: Coalescing,
    /// What waits for more.
    waiting: Option<Waiting>,
}

/// Blocks that wait for more.
struct Waiting {
    text: String,
    /// When they go out at the latest.
    due: Duration,
}

impl Blocks {
    /// Begins with an answer; nothing when answers go out whole.
    pub(crate) fn begin(inner: &Inner, surface: &dyn Surface, to: &Address) -> Option<Self> {
        let rules = inner.parts.contract.runtime.outbound;
        let (config, place) = (&inner.parts.config, place_of(to));
        let early = match settings::block_streaming(config, place, &rules) {
            BlockStreaming::Off => return None,
            BlockStreaming::TextEnd => true,
            BlockStreaming::MessageEnd => false,
        };
        let most = Some(surface.capabilities().max_chars);
        let chunking = settings::block_chunking(config, place, most, &rules);
        let together = settings::coalescing(config, place, most, &rules);
        Some(Self {
            gate: SilentGate::new(rules),
            stream: BlockStream::new(chunking, rules),
            heard: false,
            early,
            joiner: Joiner {
                rules: together,
                waiting: None,
            },
        })
    }

    /// Hears some of the answer, and returns the blocks that may go out.
    pub(crate) fn hear(&mut self, delta: &str, now: Duration) -> Vec<String> {
        self.heard = true;
        let shown = self.gate.push(delta);
        self.stream.push(&shown);
        if !self.early {
            return Vec::new();
        }
        let blocks = self.stream.drain(false);
        self.joiner.join(blocks, now)
    }

    /// Says when what waits goes out although nothing more came.
    pub(crate) fn due(&self) -> Option<Duration> {
        self.joiner.waiting.as_ref().map(|waiting| waiting.due)
    }

    /// Returns what waits.
    pub(crate) fn take(&mut self) -> Option<String> {
        self.joiner.take()
    }

    /// The answer is whole: returns the blocks that are left, or nothing when it was not heard as it came.
    pub(crate) fn end(mut self) -> Option<Vec<String>> {
        if !self.heard {
            return None;
        }
        let ending = self.gate.finish();
        if !ending.silent {
            self.stream.push(&ending.rest);
        }
        let rest = self.stream.drain(true);
        let mut left = self.joiner.join(rest, Duration::ZERO);
        left.extend(self.joiner.take());
        Some(left)
    }
}

impl Joiner {
    /// Puts blocks together, and returns what is long enough.
    fn join(&mut self, blocks: Vec<String>, now: Duration) -> Vec<String> {
        let mut ready = Vec::new();
        for block in blocks {
            let text = match self.take() {
                None => block,
                Some(before) => {
                    let joined = format!("{before}{}{block}", self.rules.joiner);
                    if utf16_len(&joined) > self.rules.max_chars {
                        ready.push(before);
                        block
                    } else {
                        joined
                    }
                }
            };
            if utf16_len(&text) >= self.rules.min_chars {
                ready.push(text);
            } else {
                let due = now + Duration::from_millis(self.rules.idle_ms);
                self.waiting = Some(Waiting { text, due });
            }
        }
        ready
    }

    fn take(&mut self) -> Option<String> {
        self.waiting.take().map(|waiting| waiting.text)
    }
}
