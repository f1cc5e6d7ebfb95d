//! Previews of a reply that is still being written: whether the configuration wants one, and text that can be shown as it is.

use super::fences::fences;
use super::settings::{self, AccountRef, BlockStreaming, Section};
use super::units::{LF, text as to_text, units};
use crate::compat::{DISCORD, SLACK, TELEGRAM};
use chitin_contract::{ChannelSettings, OutboundRules, PreviewMode, Previews};
use chitin_protocol::text::trim_end_js;
use serde_json::Value;

/// How much is added at once in mode `block`, when the configuration does not say.
pub const DEFAULT_STEP: usize = 200;

/// How a reply is sent while it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyStreaming {
    /// When it is whole.
    Whole,
    /// In messages, one after the other (R57).
    Blocks,
    /// When it is whole; until then a message shows the steps of the work.
    Progress,
    /// In a message that is changed while the answer is written.
    Live {
        /// How much is added at once, at least.
        step: usize,
    },
}

/// Says how answers go out on a channel. A preview needs a surface whose messages can be changed. What is said of blocks on the
/// channel itself outweighs a preview; what is said of them for all channels does not outweigh one that was asked for.
pub fn reply_streaming(
    config: &Value,
    place: AccountRef<'_>,
    can_change: bool,
    rules: &OutboundRules,
) -> ReplyStreaming {
    let section = Section::find(config, place, rules);
    let blocks = match settings::block_streaming(config, place, rules) {
        BlockStreaming::Off => None,
        BlockStreaming::TextEnd | BlockStreaming::MessageEnd => Some(ReplyStreaming::Blocks),
    };
    let own_blocks = section.as_ref().and_then(Section::enabled) == Some(true);
    let asked = section.as_ref().and_then(mode);
    let live = |mode: PreviewMode| match mode {
        PreviewMode::Partial => Some(ReplyStreaming::Live { step: 1 }),
        PreviewMode::Block => Some(ReplyStreaming::Live {
            step: section.as_ref().and_then(step).unwrap_or(DEFAULT_STEP),
        }),
        PreviewMode::Progress => Some(ReplyStreaming::Progress),
        PreviewMode::Off => None,
    };
    let live = |mode: PreviewMode| live(mode).filter(|_| can_change);
    let shown = match asked {
        _ if own_blocks => blocks,
        Some(asked) => live(asked).or(blocks),
        None => blocks.or_else(|| live(usual(place.channel, rules))),
    };
    shown.unwrap_or(ReplyStreaming::Whole)
}

/// Returns what is shown on a channel when nothing is said.
fn usual(channel: &str, rules: &OutboundRules) -> PreviewMode {
    let previews = rules.previews;
    match channel.trim().to_lowercase().as_str() {
        DISCORD => previews.discord,
        SLACK => previews.slack,
        TELEGRAM => previews.telegram,
        _ => Previews::OTHERS,
    }
}

/// Reads what a channel says: `streaming.mode`, and in all forms that were ever used where they still count.
fn mode(section: &Section<'_>) -> Option<PreviewMode> {
    section.first(|section_| {
        let streaming = section_.get("streaming");
        let current = streaming.and_then(|streaming| read(streaming.get("mode")?));
        let old = || match streaming {
            Some(Value::Bool(true)) => Some(PreviewMode::Partial),
            Some(Value::Bool(false)) => Some(PreviewMode::Off),
            other => other
                .and_then(read)
                .or_else(|| read(section_.get("streamMode")?)),
        };
        match section.settings {
            ChannelSettings::WithLegacy => current.or_else(old),
            ChannelSettings::CurrentOnly => current,
        }
    })
}

fn read(value: &Value) -> Option<PreviewMode> {
    serde_json::from_value(value.clone()).ok()
}

fn step(section: &Section<'_>) -> Option<usize> {
    let step = section.first(|section_| {
        let current = section_.pointer("/streaming/preview/chunk/minChars");
        let old = section_.pointer("/draftChunk/minChars");
        settings::number(match section.settings {
            ChannelSettings::WithLegacy => current.or(old),
            ChannelSettings::CurrentOnly => current,
        })
    })?;
    Some(step.max(1))
}

/// How many steps of the work are shown.
const MOST_STEPS: usize = 6;

/// Says which steps of the work were taken, the latest last.
pub fn progress(steps: &[String]) -> String {
    let earlier = steps.len().saturating_sub(MOST_STEPS);
    let mut text = "Working on it…".to_owned();
    for step in &steps[earlier..] {
        text.push_str("\n- ");
        text.extend(
            step.chars()
                .filter(|c| !c.is_control() && *c != '`')
                .take(60),
        );
    }
    text
}

/// Makes a text that ends anywhere one that can be shown: no code block is open at its end, and none is opened for nothing.
pub fn closed(text: &str, rules: &OutboundRules) -> String {
    let text = trim_end_js(text);
    let mut all = units(text);
    let found = fences(&all, rules.fence_ends);
    let Some(open) = found.last().filter(|fence| !fence.closed) else {
        return text.to_owned();
    };
    if open.start + open.open_line.len() >= all.len() {
        return trim_end_js(&to_text(&all[..open.start])).to_owned();
    }
    all.push(LF);
    all.extend_from_slice(&open.close_line);
    to_text(&all)
}
