//! What a server gave back, as an outcome of ours.

use crate::exec::Redact;
use crate::process::bounded;
use crate::tool::ToolOutcome;
use chitin_protocol::message::{Block, ImageBlock};
use serde_json::Value;

/// The longest picture, in base 64.
const LONGEST_IMAGE: usize = 5 << 20;
/// The longest type of a picture.
const LONGEST_TYPE: usize = 64;
/// The most pictures of one call.
const IMAGES: usize = 8;

/// What a server gave back, in plain data.
#[derive(Debug, Default)]
pub(super) struct McpResult {
    /// The blocks, as they go over the wire.
    pub(super) content: Vec<Value>,
    pub(super) structured: Option<Value>,
    pub(super) is_error: bool,
}

/// Turns an answer into an outcome: texts in one block, then pictures.
pub(super) fn outcome(answer: &McpResult, limit: usize, redact: &Redact) -> ToolOutcome {
    let mut texts = Vec::new();
    let mut images = Vec::new();
    for block in &answer.content {
        match block.get("type").and_then(Value::as_str) {
            Some("text") => texts.push(text(block, "text")),
            Some("image") => {
                let (data, mime_type) = (text(block, "data"), text(block, "mimeType"));
                if !is_image_type(&mime_type) {
                    texts
                        .push("[an image was omitted: its type is not one of an image]".to_owned());
                } else if data.len() > LONGEST_IMAGE || images.len() >= IMAGES {
                    texts.push(
                        "[an image was omitted: it is too large, or there are too many]".to_owned(),
                    );
                } else {
                    images.push(Block::Image(ImageBlock {
                        data,
                        mime_type,
                        ..ImageBlock::default()
                    }));
                }
            }
            Some("resource") => texts.push(resource(block.get("resource"))),
            Some("resource_link") => texts.push(format!(
                "[resource {}: {}]",
                text(block, "name"),
                text(block, "uri")
            )),
            Some(other) => texts.push(format!("[a block of type `{other}` was omitted]")),
            None => texts.push(block.to_string()),
        }
    }
    // A structured result repeats what the blocks say, unless there are none.
    if answer.content.is_empty()
        && let Some(structured) = &answer.structured
    {
        texts.push(structured.to_string());
    }
    let (text, _) = bounded(redact(&texts.join("\n")), limit);
    let mut content = Vec::new();
    if !text.is_empty() || images.is_empty() {
        content.push(Block::text(if text.is_empty() {
            "[no output]".to_owned()
        } else {
            text
        }));
    }
    content.extend(images);
    ToolOutcome {
        content,
        details: None,
        is_error: answer.is_error,
        origins: Vec::new(),
    }
}

/// Tells whether a type is that of a picture. It is kept and sent as the server wrote it.
fn is_image_type(mime_type: &str) -> bool {
    mime_type.len() <= LONGEST_TYPE
        && mime_type.strip_prefix("image/").is_some_and(|kind| {
            !kind.is_empty() && kind.bytes().all(|byte| byte.is_ascii_graphic())
        })
}

fn resource(resource: Option<&Value>) -> String {
    let Some(resource) = resource else {
        return String::new();
    };
    match resource.get("text").and_then(Value::as_str) {
        Some(content) => content.to_owned(),
        None => format!("[resource {} is not text]", text(resource, "uri")),
    }
}

fn text(value: &Value, key: &str) -> String {
    value
        .get(key)
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::sync::Arc;

    #[test]
    fn a_picture_has_the_type_of_one() {
        let types = [
            "image/png",
            "",
            "text/html",
            "image/",
            "image/a b",
            "image/\u{1b}[2J",
        ];
        let long = format!("image/{}", "x".repeat(100));
        let types = types.into_iter().chain([long.as_str()]);
        let answer = McpResult {
            content: types
                .map(|kind| json!({"type": "image", "data": "AAAA", "mimeType": kind}))
                .collect(),
            ..McpResult::default()
        };
        let plain: Redact = Arc::new(str::to_owned);
        let outcome = outcome(&answer, 10_000, &plain);
        let images = outcome.content.iter().filter_map(|block| match block {
            Block::Image(image) => Some(image.mime_type.as_str()),
            _ => None,
        });
        assert_eq!(images.collect::<Vec<_>>(), ["image/png"]);
    }
}
