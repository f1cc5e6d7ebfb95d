//! What the configuration says about text on a channel (R58).

use super::ChunkMode;
use crate::compat::WEBCHAT;
use chitin_contract::{ChannelSettings, OutboundRules};
use serde::Serialize;
use serde_json::Value;

/// The longest message, when neither the configuration nor the surface says.
pub const DEFAULT_LIMIT: usize = 4000;

/// The shortest block of a stream, when the configuration does not say.
pub const DEFAULT_MIN_BLOCK: usize = 800;

/// The longest block of a stream, when the configuration does not say.
pub const DEFAULT_MAX_BLOCK: usize = 1200;

/// How long blocks are waited for that could go together, in milliseconds.
pub const DEFAULT_IDLE_MS: u64 = 1000;

/// Names a channel and one of its accounts, to look up their settings.
#[derive(Debug, Clone, Copy)]
pub struct AccountRef<'a> {
    /// The channel, in any case.
    pub channel: &'a str,
    /// The account; blank is the default one.
    pub account: &'a str,
}

/// When a block of a stream is long enough, and where it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BlockChunking {
    /// Nothing shorter is given, unless forced.
    pub min_chars: usize,
    /// Nothing longer is given.
    pub max_chars: usize,
    /// Where a block ends.
    pub break_preference: BreakPreference,
    /// Whether the first paragraph that is long enough ends a block.
    pub flush_on_paragraph: bool,
}

/// Where a block of a stream ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum BreakPreference {
    /// At a blank line, else at a line end, else behind a sentence.
    #[default]
    Paragraph,
    /// At a line end.
    Newline,
    /// Behind a sentence.
    Sentence,
}

impl BreakPreference {
    fn read(value: Option<&Value>) -> Self {
        match value.and_then(Value::as_str) {
            Some("newline") => Self::Newline,
            Some("sentence") => Self::Sentence,
            _ => Self::Paragraph,
        }
    }

    /// Returns what is put between blocks that go together.
    pub const fn joiner(self) -> &'static str {
        match self {
            Self::Paragraph => "\n\n",
            Self::Newline => "\n",
            Self::Sentence => " ",
        }
    }
}

/// How blocks of a stream are put together before they are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Coalescing {
    /// From this length on, nothing more is waited for.
    pub min_chars: usize,
    /// The longest message.
    pub max_chars: usize,
    /// How long the next block is waited for, in milliseconds.
    pub idle_ms: u64,
    /// What is put between blocks.
    pub joiner: &'static str,
}

/// Whether answers are sent in blocks while they are written, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BlockStreaming {
    /// Not at all: an answer is sent as a whole.
    #[default]
    Off,
    /// As the text comes.
    TextEnd,
    /// When a message of the model is complete.
    MessageEnd,
}

/// Settings of one channel, found by a contract's rules.
pub(super) struct Section<'a> {
    channel: &'a Value,
    account: Option<&'a Value>,
    pub(super) settings: ChannelSettings,
}

impl<'a> Section<'a> {
    pub(super) fn find(
        config: &'a Value,
        place: AccountRef<'_>,
        rules: &OutboundRules,
    ) -> Option<Self> {
        let name = place.channel.trim().to_lowercase();
        if name.is_empty() || name == WEBCHAT {
            return None;
        }
        let channels = config.get("channels").and_then(|all| all.get(&name));
        let channel = match rules.settings {
            ChannelSettings::WithLegacy => channels.or_else(|| config.get(&name)),
            ChannelSettings::CurrentOnly => channels,
        }?;
        Some(Self {
            channel,
            account: account(channel, place.account),
            settings: rules.settings,
        })
    }

    /// Returns a value of the account, else of the channel.
    pub(super) fn first<T>(&self, read: impl Fn(&'a Value) -> Option<T>) -> Option<T> {
        let account = self.account.and_then(&read);
        account.or_else(|| read(self.channel))
    }

    fn mode(&self) -> Option<ChunkMode> {
        self.first(|section| {
            let current = section
                .get("streaming")
                .and_then(|all| all.get("chunkMode"));
            let legacy = section
                .get("chunkMode")
                .filter(|_| self.settings == ChannelSettings::WithLegacy);
            ChunkMode::read(current).or_else(|| ChunkMode::read(legacy))
        })
    }

    fn coalesce(&self) -> Option<&'a Value> {
        self.first(|section| {
            let current = section
                .pointer("/streaming/block/coalesce")
                .filter(|value| value.is_object());
            let legacy = section
                .get("blockStreamingCoalesce")
                .filter(|_| self.settings == ChannelSettings::WithLegacy);
            current.or(legacy)
        })
    }

    /// Tells whether blocks are switched on or off here.
    pub(super) fn enabled(&self) -> Option<bool> {
        self.first(|section| {
            let current = section
                .pointer("/streaming/block/enabled")
                .and_then(Value::as_bool);
            let legacy = section
                .get("blockStreaming")
                .filter(|_| self.settings == ChannelSettings::WithLegacy);
            current.or_else(|| legacy.and_then(Value::as_bool))
        })
    }
}

/// Returns the settings of an account: by its own name, else by its name in any case.
pub fn account<'a>(channel: &'a Value, name: &str) -> Option<&'a Value> {
    let accounts = channel.get("accounts")?.as_object()?;
    let name = match name.trim().to_lowercase() {
        blank if blank.is_empty() => "default".to_owned(),
        name => name,
    };
    accounts.get(&name).or_else(|| {
        let mut others = accounts.iter();
        let found = others.find(|(key, _)| key.trim().to_lowercase() == name);
        found.map(|(_, account)| account)
    })
}

/// Reads a whole number; fractions go.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast from a float saturates, and no limit is that large"
)]
pub(super) fn number(value: Option<&Value>) -> Option<usize> {
    let number = value?.as_f64()?;
    Some(number.floor().max(0.0) as usize)
}

/// Returns the longest message on a channel: what is configured, else what the surface allows, else 4000.
pub fn text_limit(
    config: &Value,
    place: AccountRef<'_>,
    surface: Option<usize>,
    rules: &OutboundRules,
) -> usize {
    Section::find(config, place, rules)
        .and_then(|section| section.first(|section| number(section.get("textChunkLimit"))))
        .filter(|&limit| limit > 0)
        .or(surface.filter(|&limit| limit > 0))
        .unwrap_or(DEFAULT_LIMIT)
}

/// Returns how messages are cut on a channel.
pub fn mode(config: &Value, place: AccountRef<'_>, rules: &OutboundRules) -> ChunkMode {
    Section::find(config, place, rules)
        .and_then(|section| section.mode())
        .unwrap_or_default()
}

/// Returns how a stream is cut into blocks on a channel.
pub fn block_chunking(
    config: &Value,
    place: AccountRef<'_>,
    surface: Option<usize>,
    rules: &OutboundRules,
) -> BlockChunking {
    let limit = text_limit(config, place, surface, rules);
    let chunk = config.pointer("/agents/defaults/blockStreamingChunk");
    let get = |name| chunk.and_then(|chunk| chunk.get(name));
    let max = number(get("maxChars")).unwrap_or(DEFAULT_MAX_BLOCK);
    let max = max.max(1).min(limit).max(1);
    let min = number(get("minChars")).unwrap_or(DEFAULT_MIN_BLOCK);
    BlockChunking {
        min_chars: min.max(1).min(max),
        max_chars: max,
        break_preference: BreakPreference::read(get("breakPreference")),
        flush_on_paragraph: mode(config, place, rules) == ChunkMode::Newline,
    }
}

/// Returns how blocks of a stream go together on a channel.
pub fn coalescing(
    config: &Value,
    place: AccountRef<'_>,
    surface: Option<usize>,
    rules: &OutboundRules,
) -> Coalescing {
    let chunking = block_chunking(config, place, surface, rules);
    let limit = text_limit(config, place, surface, rules);
    let coalesce = Section::find(config, place, rules)
        .and_then(|section| section.coalesce())
        .or_else(|| config.pointer("/agents/defaults/blockStreamingCoalesce"));
    let get = |name| number(coalesce.and_then(|coalesce| coalesce.get(name)));
    // Nothing that was put together may be longer than a block.
    let max = get("maxChars").unwrap_or(limit).max(1);
    let max = max.min(limit).min(chunking.max_chars).max(1);
    let min = get("minChars").unwrap_or(chunking.min_chars).max(1);
    Coalescing {
        min_chars: min.min(max),
        max_chars: max,
        idle_ms: get("idleMs").map_or(DEFAULT_IDLE_MS, |idle| {
            u64::try_from(idle).unwrap_or(DEFAULT_IDLE_MS)
        }),
        joiner: chunking.break_preference.joiner(),
    }
}

/// Returns whether answers on a channel are sent in blocks while they are written.
pub fn block_streaming(
    config: &Value,
    place: AccountRef<'_>,
    rules: &OutboundRules,
) -> BlockStreaming {
    let defaults = |name: &str| {
        let value = config
            .pointer("/agents/defaults")
            .and_then(|all| all.get(name));
        value.and_then(Value::as_str)
    };
    let enabled = Section::find(config, place, rules).and_then(|section| section.enabled());
    if !enabled.unwrap_or(defaults("blockStreamingDefault") == Some("on")) {
        return BlockStreaming::Off;
    }
    match defaults("blockStreamingBreak") {
        Some("message_end") => BlockStreaming::MessageEnd,
        _ => BlockStreaming::TextEnd,
    }
}
