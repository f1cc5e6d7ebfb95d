//! The built-in list of models.
//!
//! Windows and prices are facts that makers publish, looked up on the date below. They change; `models` in the
//! configuration corrects them. Prices are US dollars for a million tokens of text at the standard rate.

use super::{LongPrompt, ModelPrices};
use crate::tokens::TokenEncoding;
use chitin_protocol::config::Price;

/// When the list was last compared with what makers publish.
pub const AS_OF: &str = "2026-11-15";

/// The model to reckon with when nothing was said.
pub const DEFAULT: &str = "anthropic/claude-sonnet-5-5";

/// A row of the list: all models whose name begins so.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    /// `provider/name`; a name that ends in a slash stands for everything that the provider offers.
    pub(super) id: &'static str,
    pub(super) context_window: Option<u64>,
    pub(super) max_output: Option<u64>,
    pub(super) prices: ModelPrices,
    pub(super) long_prompt: Option<LongPrompt>,
    pub(super) encoding: Option<TokenEncoding>,
    pub(super) per_thousand: u16,
}

impl Entry {
    const fn new(
        id: &'static str,
        context_window: u64,
        max_output: u64,
        prices: ModelPrices,
    ) -> Self {
        Self {
            id,
            context_window: Some(context_window),
            max_output: Some(max_output),
            prices,
            long_prompt: None,
            encoding: None,
            per_thousand: 1000,
        }
    }

    /// Whatever runs on the user's own machine: free, and as large as it was started.
    const fn local(id: &'static str) -> Self {
        Self {
            id,
            context_window: None,
            max_output: None,
            prices: prices("0", "0", "0", "0"),
            long_prompt: None,
            encoding: None,
            per_thousand: 1000,
        }
    }

    const fn o200k(self) -> Self {
        Self {
            encoding: Some(TokenEncoding::O200kBase),
            ..self
        }
    }

    const fn above(self, above: u64, prices: ModelPrices) -> Self {
        Self {
            long_prompt: Some(LongPrompt { above, prices }),
            ..self
        }
    }

    /// Anthropic says of its vocabulary since Claude 4.7 that it makes about 30 % more tokens than the one before.
    const fn newer_claude(self) -> Self {
        Self {
            per_thousand: 1300,
            ..self
        }
    }
}

/// Takes the prices of input, output, cache writes and cache reads.
const fn prices(input: &str, output: &str, cache_write: &str, cache_read: &str) -> ModelPrices {
    ModelPrices {
        input: usd(input),
        output: usd(output),
        cache_write: usd(cache_write),
        cache_read: usd(cache_read),
    }
}

/// Takes the prices of a maker who asks nothing more for cache writes.
const fn reads(input: &str, output: &str, cache_read: &str) -> ModelPrices {
    prices(input, output, input, cache_read)
}

/// Takes the prices of a maker who has none for caching, or does not say.
const fn plain(input: &str, output: &str) -> ModelPrices {
    prices(input, output, input, input)
}

/// Reads a decimal number, so that the list can be compared with what makers write.
const fn usd(text: &str) -> Price {
    let bytes = text.as_bytes();
    let mut micros = 0;
    let mut decimals = None;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'.' => decimals = Some(0),
            digit => {
                assert!(digit.is_ascii_digit(), "a price has digits and one point");
                micros = micros * 10 + (digit - b'0') as u64;
                if let Some(count) = decimals {
                    decimals = Some(count + 1);
                }
            }
        }
        at += 1;
    }
    let mut missing = match decimals {
        Some(count) => 6 - count,
        None => 6,
    };
    while missing > 0 {
        micros *= 10;
        missing -= 1;
    }
    Price::from_micros(micros)
}

const K: u64 = 1000;
const M: u64 = 1000 * K;
/// A million as a power of two.
const MIB: u64 = 1_048_576;

#[rustfmt::skip]
pub(super) const TABLE: &[Entry] = &[
    // Anthropic; cache writes that live five minutes.
    Entry::new("anthropic/claude-fable-5-1", M, 128 * K, prices("10", "50", "12.50", "0.25")).newer_claude(),
    Entry::new("anthropic/claude-fable-5", M, 128 * K, prices("10", "50", "12.50", "1")).newer_claude(),
    Entry::new("anthropic/claude-opus-5-5", M, 128 * K, prices("4", "20", "5", "0.20")).newer_claude(),
    Entry::new("anthropic/claude-opus-5", M, 128 * K, prices("5", "25", "6.25", "0.50")).newer_claude(),
    Entry::new("anthropic/claude-opus-4-8", M, 128 * K, prices("5", "25", "6.25", "0.50")).newer_claude(),
    Entry::new("anthropic/claude-opus-4-7", M, 128 * K, prices("5", "25", "6.25", "0.50")).newer_claude(),
    Entry::new("anthropic/claude-opus-4-6", M, 128 * K, prices("5", "25", "6.25", "0.50")),
    Entry::new("anthropic/claude-opus-4-5", 200 * K, 64 * K, prices("5", "25", "6.25", "0.50")),
    Entry::new("anthropic/claude-sonnet-5-5", M, 128 * K, prices("2", "10", "2.50", "0.20")).newer_claude(),
    Entry::new("anthropic/claude-sonnet-5", M, 128 * K, prices("2", "10", "2.50", "0.20")).newer_claude(),
    Entry::new("anthropic/claude-sonnet-4-6", M, 64 * K, prices("3", "15", "3.75", "0.30")),
    Entry::new("anthropic/claude-sonnet-4-5", 200 * K, 64 * K, prices("3", "15", "3.75", "0.30")),
    Entry::new("anthropic/claude-haiku-5-5", M, 128 * K, prices("0.10", "0.50", "0.125", "0.01")).newer_claude()
        .above(100 * K, prices("0.50", "2.50", "0.625", "0.05")),
    Entry::new("anthropic/claude-haiku-4-5", 200 * K, 64 * K, prices("1", "5", "1.25", "0.10")),

    // OpenAI; nobody has said yet which vocabulary GPT-6 uses.
    Entry::new("openai/gpt-6-astra", 1_050 * K, 128 * K, prices("10", "50", "12.50", "1"))
        .above(272 * K, prices("20", "75", "25", "2")),
    Entry::new("openai/gpt-6.1-sol", 1_050 * K, 128 * K, prices("2", "10", "2.50", "0.10"))
        .above(272 * K, prices("4", "15", "5", "0.20")),
    Entry::new("openai/gpt-6.1-terra", 1_050 * K, 128 * K, prices("1", "5", "1.25", "0.05"))
        .above(272 * K, prices("2", "7.50", "2.50", "0.10")),
    Entry::new("openai/gpt-6-sol", 1_050 * K, 128 * K, prices("2", "10", "2.50", "0.20"))
        .above(272 * K, prices("4", "15", "5", "0.40")),
    Entry::new("openai/gpt-5.5", 1_050 * K, 128 * K, reads("5", "30", "0.50")).o200k(),
    Entry::new("openai/gpt-5.4", 1_050 * K, 128 * K, reads("2.50", "15", "0.25")).o200k()
        .above(272 * K, reads("5", "22.50", "0.50")),
    Entry::new("openai/gpt-5.4-mini", 400 * K, 128 * K, reads("0.75", "4.50", "0.075")).o200k(),
    Entry::new("openai/gpt-5.4-nano", 400 * K, 128 * K, reads("0.20", "1.25", "0.02")).o200k(),
    Entry::new("openai/gpt-5.3-codex", 400 * K, 128 * K, reads("1.75", "14", "0.175")).o200k(),
    Entry::new("openai/gpt-5.2", 400 * K, 128 * K, reads("1.75", "14", "0.175")).o200k(),
    Entry::new("openai/gpt-5.1", 400 * K, 128 * K, reads("1.25", "10", "0.125")).o200k(),
    Entry::new("openai/gpt-5", 400 * K, 128 * K, reads("1.25", "10", "0.125")).o200k(),
    Entry::new("openai/gpt-5-mini", 400 * K, 128 * K, reads("0.25", "2", "0.025")).o200k(),
    Entry::new("openai/gpt-5-nano", 400 * K, 128 * K, reads("0.05", "0.40", "0.005")).o200k(),
    Entry::new("openai/gpt-4.1", 1_047_576, 32_768, reads("2", "8", "0.50")).o200k(),
    Entry::new("openai/gpt-4.1-mini", 1_047_576, 32_768, reads("0.40", "1.60", "0.10")).o200k(),
    Entry::new("openai/gpt-4o", 128 * K, 16_384, reads("2.50", "10", "1.25")).o200k(),
    Entry::new("openai/gpt-4o-mini", 128 * K, 16_384, reads("0.15", "0.60", "0.075")).o200k(),

    // Google; keeping a cache is charged by the hour on top. The price of 3.8 Flash doubles in 2027.
    Entry::new("google/gemini-3.8-flash", MIB, 65_536, reads("0.75", "3.75", "0.075")),
    Entry::new("google/gemini-3.5-flash", MIB, 65_536, reads("1.50", "9", "0.15")),
    Entry::new("google/gemini-3.5-flash-lite", MIB, 65_536, reads("0.30", "2.50", "0.03")),
    Entry::new("google/gemini-3.1-pro", MIB, 65_536, reads("2", "12", "0.20"))
        .above(200 * K, reads("4", "18", "0.40")),
    Entry::new("google/gemini-3-flash", MIB, 65_536, reads("0.50", "3", "0.05")),
    Entry::new("google/gemini-2.5-pro", MIB, 65_536, reads("1.25", "10", "0.125"))
        .above(200 * K, reads("2.50", "15", "0.25")),
    Entry::new("google/gemini-2.5-flash", MIB, 65_536, reads("0.30", "2.50", "0.03")),
    Entry::new("google/gemini-2.5-flash-lite", MIB, 65_536, reads("0.10", "0.40", "0.01")),

    // Mistral.
    Entry::new("mistral/mistral-large-4", MIB, MIB, plain("0.70", "2.10")),
    Entry::new("mistral/mistral-large", 262_144, 256 * K, plain("0.50", "1.50")),
    Entry::new("mistral/mistral-medium", 131_072, 131_072, plain("0.40", "2")),
    Entry::new("mistral/mistral-small", 131_072, 131_072, plain("0.10", "0.30")),
    Entry::new("mistral/codestral", 256 * K, 256 * K, plain("0.30", "0.90")),
    Entry::new("mistral/devstral-medium", 262_144, 262_144, plain("0.40", "2")),
    Entry::new("mistral/devstral-small", 128 * K, 128 * K, plain("0.10", "0.30")),

    // DeepSeek and Qwen.
    Entry::new("deepseek/deepseek-v4-flash", M, 384 * K, reads("0.14", "0.28", "0.0028")),
    Entry::new("deepseek/deepseek-v4-pro", M, 384 * K, reads("0.435", "0.87", "0.003625")),
    Entry::new("qwen/qwen3.8-max", M, 131_072, plain("2", "6")),
    Entry::new("qwen/qwen3-max", 262_144, 65_536, plain("1.20", "6")),

    // On the user's own machine.
    Entry::new("ollama/gpt-oss", 131_072, 131_072, plain("0", "0")).o200k(),
    Entry::local("ollama/"),
    Entry::local("lmstudio/"),
    Entry::local("llamacpp/"),
    Entry::local("vllm/"),
];
