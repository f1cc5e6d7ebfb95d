//! Text on its way out: pieces, silence, replies and threads.

use crate::{Check, Outcome};
use chitin_contract::OutboundRules;
use chitin_gateway::delivery::reply_to::{
    Reply, ReplyFilter, ReplyMode, SlackMessage, SlackThread, discord_thread_name, reply_mode,
};
use chitin_text::settings::{
    AccountRef, BlockChunking, BreakPreference, block_chunking, mode, text_limit,
};
use chitin_text::silent::{self, ACK_MAX_CHARS, HeartbeatMode};
use chitin_text::{BlockStream, ChunkLimits, ChunkMode, TextChunk, TextFormat, chunks};
use serde_json::{Value, json};

pub(super) fn run(check: &Check<'_>) -> Outcome {
    let (input, rules) = (check.input, &check.contract.runtime.outbound);
    let actual = match check.case.op.as_str() {
        "chunk.core" => core(input, rules),
        "chunk.discord" => discord(input, rules),
        "chunk.slack" => {
            let pieces = markdown(input, TextFormat::Slack, rules);
            json!({"chunks": bodies(&pieces)})
        }
        "chunk.telegram" => telegram(input, rules),
        "chunk.block-stream" => block_stream(input, rules),
        "chunk.block-config" => block_config(input, rules),
        "silent.no-reply" => no_reply(text(input, "text"), rules),
        "silent.heartbeat" => heartbeat(input),
        "reply.mode" => {
            let (channel, account) = (text(input, "channel"), text(input, "accountId"));
            let kind = text(input, "chatType");
            json!({"mode": reply_mode(&input["cfg"], channel, account, kind, rules)})
        }
        "reply.threading" => return threading(check),
        "discord.thread-name" => {
            let name = discord_thread_name(text(input, "text"), text(input, "messageId"));
            json!({ "name": name })
        }
        "slack.thread-targets" => slack_targets(input),
        _ => return Outcome::NotYet,
    };
    Outcome::judge(check.expected, &actual)
}

fn text<'a>(input: &'a Value, name: &str) -> &'a str {
    input.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn number(input: &Value, name: &str) -> Option<usize> {
    usize::try_from(input.get(name)?.as_u64()?).ok()
}

fn bodies(pieces: &[TextChunk]) -> Vec<&str> {
    pieces.iter().map(|piece| piece.body.as_str()).collect()
}

fn core(input: &Value, rules: &OutboundRules) -> Value {
    let cut = |format, mode| {
        let limits = ChunkLimits {
            max_chars: number(input, "limit").unwrap_or_default(),
            mode,
            ..ChunkLimits::of(format)
        };
        let pieces = chunks(text(input, "text"), &limits, rules);
        json!(bodies(&pieces))
    };
    json!({
        "chunkText": cut(TextFormat::Plain, ChunkMode::Length),
        "chunkMarkdownText": cut(TextFormat::Markdown, ChunkMode::Length),
        "chunkByParagraph": cut(TextFormat::Plain, ChunkMode::Newline),
        "newlineMode": cut(TextFormat::Markdown, ChunkMode::Newline),
    })
}

fn discord(input: &Value, rules: &OutboundRules) -> Value {
    let (given, own) = (&input["opts"], ChunkLimits::of(TextFormat::Discord));
    let limits = ChunkLimits {
        max_chars: number(given, "maxChars").unwrap_or(own.max_chars),
        max_lines: number(given, "maxLines").unwrap_or(own.max_lines),
        mode: match text(given, "chunkMode") {
            "newline" => ChunkMode::Newline,
            _ => ChunkMode::Length,
        },
        ..own
    };
    json!({"chunks": bodies(&chunks(text(input, "text"), &limits, rules))})
}

fn markdown(input: &Value, format: TextFormat, rules: &OutboundRules) -> Vec<TextChunk> {
    let limits = ChunkLimits {
        max_chars: number(input, "limit").unwrap_or_default(),
        ..ChunkLimits::of(format)
    };
    chunks(text(input, "markdown"), &limits, rules)
}

fn telegram(input: &Value, rules: &OutboundRules) -> Value {
    let chunks: Vec<Value> = markdown(input, TextFormat::Telegram, rules)
        .iter()
        .map(|piece| json!({"html": piece.body, "text": piece.plain}))
        .collect();
    json!({ "chunks": chunks })
}

fn block_stream(input: &Value, rules: &OutboundRules) -> Value {
    let options = &input["options"];
    let chunking = BlockChunking {
        min_chars: number(options, "minChars").unwrap_or_default(),
        max_chars: number(options, "maxChars").unwrap_or_default(),
        break_preference: match text(options, "breakPreference") {
            "newline" => BreakPreference::Newline,
            "sentence" => BreakPreference::Sentence,
            _ => BreakPreference::Paragraph,
        },
        flush_on_paragraph: options["flushOnParagraph"] == json!(true),
    };
    let mut stream = BlockStream::new(chunking, *rules);
    let mut emitted = Vec::new();
    for append in input["appends"].as_array().into_iter().flatten() {
        stream.push(append.as_str().unwrap_or_default());
        emitted.extend(stream.drain(false));
    }
    if input["force"] == json!(true) {
        emitted.extend(stream.drain(true));
    }
    json!({"emitted": emitted, "buffered": stream.buffered()})
}

fn block_config(input: &Value, rules: &OutboundRules) -> Value {
    let config = &input["cfg"];
    let place = AccountRef {
        channel: text(input, "provider"),
        account: text(input, "accountId"),
    };
    json!({
        "chunking": block_chunking(config, place, None, rules),
        "textLimit": text_limit(config, place, None, rules),
        "mode": mode(config, place, rules),
    })
}

fn no_reply(text: &str, rules: &OutboundRules) -> Value {
    json!({
        "isSilent": silent::is_silent(text, rules),
        "isSilentPayload": silent::is_silent_answer(text, rules),
        "stripTrailing": silent::strip_trailing(text, rules),
        "stripLeading": silent::strip_leading(text),
        "startsGlued": silent::starts_with_token(text, rules),
        "isStreamPrefix": silent::is_token_prefix(text),
    })
}

fn heartbeat(input: &Value) -> Value {
    let options = &input["opts"];
    let mode = match text(options, "mode") {
        "heartbeat" => HeartbeatMode::Heartbeat {
            ack_max_chars: number(options, "maxAckChars").unwrap_or(ACK_MAX_CHARS),
        },
        _ => HeartbeatMode::Message,
    };
    let left = silent::strip_heartbeat(text(input, "text"), mode);
    json!({"shouldSkip": left.skip, "text": left.text, "didStrip": left.stripped})
}

/// Judges which message each answer points at, and nothing else.
fn threading(check: &Check<'_>) -> Outcome {
    let (input, mode) = (check.input, &check.input["mode"]);
    let mode: ReplyMode = serde_json::from_value(mode.clone()).unwrap_or_default();
    let mut filter = ReplyFilter::new(mode, text(input, "channel"));
    let flag = |payload: &Value, name: &str| payload[name] == json!(true);
    let actual: Vec<Option<&str>> = input["payloads"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|payload| {
            filter.apply(Reply {
                to: payload["replyToId"].as_str(),
                explicit: flag(payload, "replyToTag") || flag(payload, "replyToCurrent"),
                notice: ["isCompactionNotice", "isStatusNotice", "isFallbackNotice"]
                    .iter()
                    .any(|name| flag(payload, name)),
            })
        })
        .collect();
    let expected: Vec<Option<&str>> = check.expected["payloads"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|payload| payload["replyToId"].as_str())
        .collect();
    Outcome::judge(&json!(expected), &json!(actual))
}

fn slack_targets(input: &Value) -> Value {
    let message = &input["message"];
    let get = |name: &str| message[name].as_str();
    let mode: ReplyMode = serde_json::from_value(input["replyToMode"].clone()).unwrap_or_default();
    let thread = SlackThread::of(
        &SlackMessage {
            ts: get("ts"),
            event_ts: get("event_ts"),
            thread_ts: get("thread_ts"),
            parent_user_id: get("parent_user_id"),
        },
        mode,
    );
    json!({
        "context": {
            "incomingThreadTs": thread.incoming,
            "messageTs": thread.message,
            "isThreadReply": thread.is_reply,
            "replyToId": thread.reply_to,
            "messageThreadId": thread.answer,
        },
        "targets": {
            "replyThreadTs": thread.answer,
            "statusThreadTs": thread.answer,
            "isThreadReply": thread.is_reply,
        },
    })
}
