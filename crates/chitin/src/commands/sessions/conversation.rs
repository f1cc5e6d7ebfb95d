//! A conversation as people read it.

use super::instant;
use crate::printer::Paint;
use crate::terminal::markdown::{Look, Markdown};
use crate::terminal::messages::{headline, one_line, tokens};
use crate::terminal::tame::tamed;
use chitin_protocol::message::{AssistantMessage, Block, Content, Message};
use chitin_protocol::transcript::{EntryBody, TranscriptEntry};
use std::fmt::{self, Write};

/// Writes one record for a terminal.
pub(super) fn write_text(
    entry: &TranscriptEntry,
    out: &mut dyn Write,
    paint: Paint,
) -> fmt::Result {
    let time = match entry.timestamp.parse::<jiff::Timestamp>() {
        Ok(time) => instant(time.as_millisecond()),
        Err(_) => one_line(&entry.timestamp),
    };
    let title = |who: &str| paint.dim(&format!("── {who} · {time}"));
    match &entry.body {
        EntryBody::Message(Message::User(message)) => {
            writeln!(out, "{}", title("user"))?;
            writeln!(
                out,
                "{}\n",
                paint.bold(tamed(&spoken(&message.content)).trim_end())
            )
        }
        EntryBody::Message(Message::Assistant(message)) => {
            writeln!(out, "{}", title(&speaker(message)))?;
            assistant(message, out, paint)?;
            writeln!(out)
        }
        EntryBody::Message(Message::ToolResult(result)) => {
            let name = one_line(result.tool_name.as_deref().unwrap_or("tool"));
            let text = result.content.text();
            let mut lines = text.lines().filter(|line| !line.trim().is_empty());
            let first = one_line(lines.next().unwrap_or_default());
            let said = match (lines.count(), result.is_error) {
                (0, _) | (_, true) => first,
                (further, false) => format!("{} lines", further + 1),
            };
            let line = format!("  └ {name}: {said}");
            let line = if result.is_error {
                paint.bad(&line)
            } else {
                paint.dim(&line)
            };
            writeln!(out, "{line}\n")
        }
        EntryBody::Message(other @ Message::Other(_)) => {
            writeln!(out, "{}\n", title(&one_line(other.role())))
        }
        EntryBody::Compaction(compaction) => {
            let before = tokens(compaction.tokens_before);
            writeln!(out, "{}", title(&format!("summary of {before} tokens")))?;
            writeln!(out, "{}\n", tamed(compaction.summary.trim_end()))
        }
        EntryBody::ModelChange { provider, model_id } => {
            let model = one_line(&format!("{provider}/{model_id}"));
            writeln!(out, "{}\n", title(&format!("model {model}")))
        }
        EntryBody::ThinkingLevelChange { .. } | EntryBody::Custom { .. } => Ok(()),
        EntryBody::Other(_) => writeln!(out, "{}\n", title(&one_line(entry.body.kind()))),
    }
}

/// Writes one record as Markdown.
pub(super) fn write_markdown(entry: &TranscriptEntry, out: &mut dyn Write) -> fmt::Result {
    match &entry.body {
        EntryBody::Message(Message::User(message)) => {
            writeln!(out, "## User\n\n{}\n", spoken(&message.content).trim_end())
        }
        EntryBody::Message(Message::Assistant(message)) => {
            writeln!(out, "## {}\n", capital(&speaker(message)))?;
            let text = message.content.text();
            if !text.trim().is_empty() {
                writeln!(out, "{}\n", text.trim_end())?;
            }
            for call in message.tool_calls() {
                let arguments = call.arguments.clone().unwrap_or_default();
                writeln!(out, "Calls `{}`:\n", one_line(&call.name))?;
                fenced("json", &format!("{arguments:#}"), out)?;
            }
            Ok(())
        }
        EntryBody::Message(Message::ToolResult(result)) => {
            let name = one_line(result.tool_name.as_deref().unwrap_or("tool"));
            let failed = if result.is_error {
                ", which failed"
            } else {
                ""
            };
            writeln!(out, "Result of `{name}`{failed}:\n")?;
            fenced("", &spoken(&result.content), out)
        }
        EntryBody::Compaction(compaction) => {
            writeln!(out, "## Summary\n\n{}\n", compaction.summary.trim_end())
        }
        EntryBody::ModelChange { provider, model_id } => {
            writeln!(
                out,
                "*Model: {}*\n",
                one_line(&format!("{provider}/{model_id}"))
            )
        }
        EntryBody::Message(Message::Other(_))
        | EntryBody::ThinkingLevelChange { .. }
        | EntryBody::Custom { .. }
        | EntryBody::Other(_) => Ok(()),
    }
}

fn assistant(message: &AssistantMessage, out: &mut dyn Write, paint: Paint) -> fmt::Result {
    let look = Look {
        width: None,
        colour: paint.is_coloured(),
    };
    let say = |text: &str, out: &mut dyn Write| {
        let (mut markdown, mut shown) = (Markdown::new(look), String::new());
        markdown.push(text.trim_end(), &mut shown);
        markdown.finish(&mut shown);
        writeln!(out, "{shown}")
    };
    if let Content::Text(text) = &message.content {
        say(text, out)?;
    }
    for block in message.content.blocks() {
        match block {
            Block::Text(text) => say(&text.text, out)?,
            Block::Thinking(thinking) => {
                let words = thinking.thinking.split_whitespace().count();
                let text = format!("✻ thought: {words} words");
                writeln!(out, "{}", paint.dim(&text))?;
            }
            Block::Image(_) => writeln!(out, "{}", paint.dim("(a picture)"))?,
            Block::ToolCall(call) => {
                let arguments = call.arguments.clone().unwrap_or_default();
                writeln!(out, "● {}", headline(&call.name, &arguments))?;
            }
            Block::Other(_) => writeln!(out, "{}", paint.dim("(something else)"))?,
        }
    }
    if let Some(error) = &message.error_message {
        writeln!(out, "{} {}", paint.bad("error:"), tamed(error))?;
    }
    Ok(())
}

fn speaker(message: &AssistantMessage) -> String {
    match (&message.provider, &message.model) {
        (Some(provider), Some(model)) => one_line(&format!("assistant, {provider}/{model}")),
        (None, Some(model)) => one_line(&format!("assistant, {model}")),
        (_, None) => "assistant".to_owned(),
    }
}

/// Returns the words, and says where there is a picture.
fn spoken(content: &Content) -> String {
    let mut text = content.text();
    let pictures = content.blocks().iter();
    for _ in pictures.filter(|block| matches!(block, Block::Image(_))) {
        text.push_str("\n(a picture)");
    }
    text
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string());
    format!("{}{}", first.unwrap_or_default(), letters.as_str())
}

/// Writes text between fences that are longer than any in it.
fn fenced(language: &str, text: &str, out: &mut dyn Write) -> fmt::Result {
    let runs = text.split(|c| c != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or(0).max(2) + 1);
    writeln!(out, "{fence}{language}\n{}\n{fence}\n", text.trim_end())
}
