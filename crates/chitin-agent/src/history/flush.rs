//! When an agent is asked to write down what it will forget, and in which words (M70, M71). Pure functions.

use super::flush_words::{FlushTarget, FlushWords};
use chitin_contract::{FlushClock, FlushPrompts, FlushReserve, FlushWindow, MemoryFlushRules};
use chitin_protocol::settings::MemoryFlushSettings;
use chitin_protocol::text::trim_js;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;
use serde_json::Value;

/// What the user says about it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FlushOptions {
    /// Tokens before the reserve.
    pub soft_threshold_tokens: Option<u64>,
    /// The length of the transcript from which on it happens whatever the tokens are.
    pub force_transcript_bytes: Option<u64>,
    /// Tokens that are kept free.
    pub reserve_floor: Option<u64>,
    /// What the model is asked.
    pub prompt: Option<String>,
    /// What the model is told before that.
    pub system_prompt: Option<String>,
    /// The user's time zone, by its name.
    pub user_zone: Option<String>,
    /// The machine's time zone, by its name: for a user whose zone nobody knows.
    pub local_zone: Option<String>,
    /// Whether the hours of a day are counted to twenty-four.
    pub hours: Hours,
}

/// How the hours of a day are counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Hours {
    /// Twice to twelve.
    #[default]
    Twelve,
    /// To twenty-four.
    TwentyFour,
}

impl FlushOptions {
    /// Reads what `openclaw.json` says, and lays over it what `chitin.json5` says. Nothing comes back when it is switched off.
    pub fn from_config(
        config: &Value,
        own: &MemoryFlushSettings,
        local_zone: Option<String>,
    ) -> Option<Self> {
        let defaults = &config["agents"]["defaults"];
        let compaction = &defaults["compaction"];
        let said = &compaction["memoryFlush"];
        if !own.enabled.unwrap_or(said["enabled"] != Value::Bool(false)) {
            return None;
        }
        let text = |own: &Option<String>, value: &Value| {
            let text = own.as_deref().or(value.as_str()).map(trim_js);
            text.filter(|text| !text.is_empty()).map(str::to_owned)
        };
        Some(Self {
            soft_threshold_tokens: own
                .soft_threshold_tokens
                .map(u64::from)
                .or_else(|| amount(&said["softThresholdTokens"])),
            force_transcript_bytes: own
                .force_flush_transcript_bytes
                .or_else(|| byte_size(&said["forceFlushTranscriptBytes"])),
            reserve_floor: amount(&compaction["reserveTokensFloor"]),
            prompt: text(&own.prompt, &said["prompt"]),
            system_prompt: text(&own.system_prompt, &said["systemPrompt"]),
            user_zone: text(&None, &defaults["userTimezone"]),
            local_zone,
            hours: match defaults["timeFormat"].as_str() {
                Some("24") => Hours::TwentyFour,
                Some(_) | None => Hours::Twelve,
            },
        })
    }

    /// Returns the figures that hold for a window of this size.
    pub fn figures(&self, window: Option<u64>, rules: &MemoryFlushRules) -> FlushFigures {
        let reserve = match rules.reserve {
            FlushReserve::Configured => self
                .reserve_floor
                .unwrap_or(MemoryFlushRules::RESERVE_FLOOR),
            FlushReserve::Fixed => MemoryFlushRules::RESERVE_FLOOR,
        };
        let soft = self.soft_threshold_tokens;
        let figures = FlushFigures {
            soft_threshold_tokens: soft.unwrap_or(MemoryFlushRules::SOFT_THRESHOLD_TOKENS),
            force_transcript_bytes: self
                .force_transcript_bytes
                .unwrap_or(MemoryFlushRules::FORCE_TRANSCRIPT_BYTES),
            reserve_floor: reserve,
        };
        match (rules.window, window) {
            (FlushWindow::Fitted, Some(window)) => figures.fitted(window),
            (FlushWindow::Ignored, _) | (FlushWindow::Fitted, None) => figures,
        }
    }

    /// Returns what the model is asked at a time, and where it may write.
    pub fn plan(&self, now_ms: i64, window: Option<u64>, rules: &MemoryFlushRules) -> FlushPlan {
        let now = Timestamp::from_millisecond(now_ms)
            .unwrap_or_default()
            .to_zoned(self.zone());
        let hours = match rules.clock {
            FlushClock::OneLine => self.hours,
            FlushClock::TwoLines => Hours::Twelve,
        };
        let words = FlushWords {
            place: FlushTarget::of(now.date()),
            now: &now,
            hours,
            clock: rules.clock,
        };
        let own = |text: &Option<String>| match rules.prompts {
            FlushPrompts::Configured => text.clone(),
            FlushPrompts::BuiltIn => None,
        };
        let (prompt, system_prompt) = (own(&self.prompt), own(&self.system_prompt));
        let prompt = words.prompt(prompt.as_deref());
        FlushPlan {
            figures: self.figures(window, rules),
            message: format!("{}\n\n{prompt}", words.situation(system_prompt.as_deref())),
            prompt,
            system_prompt: words.system_prompt(system_prompt.as_deref()),
            day: now.date(),
            relative_path: words.place.path,
        }
    }

    fn zone(&self) -> TimeZone {
        let find = |name: &Option<String>| TimeZone::get(name.as_deref()?).ok();
        find(&self.user_zone)
            .or_else(|| find(&self.local_zone))
            .unwrap_or(TimeZone::UTC)
    }
}

/// When it happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FlushFigures {
    /// Tokens before the reserve.
    pub soft_threshold_tokens: u64,
    /// The length of the transcript from which on it happens whatever the tokens are; 0 is never.
    #[serde(rename = "forceFlushTranscriptBytes")]
    pub force_transcript_bytes: u64,
    /// Tokens that are kept free.
    #[serde(rename = "reserveTokensFloor")]
    pub reserve_floor: u64,
}

impl FlushFigures {
    fn fitted(self, window: u64) -> Self {
        let reserve_floor = self.reserve_floor.min(window / 4);
        let half = (window - reserve_floor) / 2;
        Self {
            soft_threshold_tokens: self.soft_threshold_tokens.min(half),
            reserve_floor,
            ..self
        }
    }
}

/// What the model is asked, and where it may write (M70).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlushPlan {
    /// When it happens.
    pub figures: FlushFigures,
    /// The user's day.
    pub day: jiff::civil::Date,
    /// The only file that may be written to, relative to the workspace.
    pub relative_path: String,
    /// What the model is asked.
    pub prompt: String,
    /// What the model is told before that.
    pub system_prompt: String,
    /// Both in one message, each rule once. A second system prompt would cost the provider's cache.
    pub message: String,
}

/// Where a conversation stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FlushState {
    /// How many tokens the next request will have; 0 when nobody knows.
    pub tokens: u64,
    /// How many tokens the model takes.
    pub window: u64,
    /// How long the transcript is, in bytes.
    pub transcript_bytes: u64,
    /// How many times the conversation was put into a summary.
    pub compaction_count: u64,
    /// How many times it had been when the agent last wrote down what it would forget.
    pub flushed_at: Option<u64>,
}

/// What is due (M71).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FlushGate {
    /// The agent is to write down what it will forget.
    pub flush: bool,
    /// The conversation is to be put into a summary before the next request.
    pub preflight_compaction: bool,
}

/// Says what is due (M71).
pub fn flush_gate(state: &FlushState, figures: &FlushFigures) -> FlushGate {
    let threshold = state
        .window
        .max(1)
        .saturating_sub(figures.reserve_floor)
        .saturating_sub(figures.soft_threshold_tokens);
    let is_full = state.tokens > 0 && threshold > 0 && state.tokens >= threshold;
    let is_long = figures.force_transcript_bytes > 0
        && state.transcript_bytes >= figures.force_transcript_bytes;
    let is_done = state.flushed_at == Some(state.compaction_count);
    FlushGate {
        flush: (is_full || is_long) && !is_done,
        preflight_compaction: is_full,
    }
}

/// Returns a number that is not negative, without its fraction.
fn amount(value: &Value) -> Option<u64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative, and a fraction is to go"
    )]
    let floored = |number: f64| (number >= 0.0).then_some(number as u64);
    value.as_u64().or_else(|| floored(value.as_f64()?))
}

/// Returns a size in bytes: a number, or a text such as `2mb`.
fn byte_size(value: &Value) -> Option<u64> {
    let Some(text) = value.as_str() else {
        return amount(value);
    };
    let text = trim_js(text).to_ascii_lowercase();
    let unit_at = text.find(|c: char| c.is_ascii_alphabetic());
    let (number, unit) = text.split_at(unit_at.unwrap_or(text.len()));
    let scale = match unit {
        "" | "b" => 0,
        "k" | "kb" => 1,
        "m" | "mb" => 2,
        "g" | "gb" => 3,
        "t" | "tb" => 4,
        _ => return None,
    };
    let is_number = number
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.')
        && number.starts_with(|c: char| c.is_ascii_digit())
        && number.ends_with(|c: char| c.is_ascii_digit());
    let number: f64 = number.parse().ok().filter(|_| is_number)?;
    amount(&Value::from((number * 1024_f64.powi(scale)).round()))
}
