//! What a message holds for a model: its text and how many pictures.

use super::view::{compact, content_of, is_image, text_field};
use crate::compat::role;
use chitin_protocol::message::{Block, Content, Message};

/// What a message holds for a model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SentContent {
    /// Its text, with the names and arguments of tool calls, a line feed between parts.
    pub text: String,
    /// How many pictures it has.
    pub images: usize,
}

impl SentContent {
    /// Reads a message.
    pub fn of(message: &Message) -> Self {
        let mut found = Self::default();
        match message {
            Message::User(user) => found.content(&user.content),
            Message::Assistant(answer) => found.content(&answer.content),
            Message::ToolResult(result) => found.content(&result.content),
            Message::Other(value) => match message.role() {
                role::BASH => {
                    found.add(text_field(value, "command"));
                    found.add(text_field(value, "output"));
                }
                role::BRANCH_SUMMARY | role::COMPACTION_SUMMARY => {
                    found.add(text_field(value, "summary"));
                }
                _ => {
                    if let Some(content) = content_of(message) {
                        found.content(&content);
                    }
                }
            },
        }
        found
    }

    fn content(&mut self, content: &Content) {
        match content {
            Content::Text(text) => self.add(text),
            Content::Blocks(blocks) => blocks.iter().for_each(|block| self.block(block)),
            Content::Other(_) => {}
        }
    }

    fn block(&mut self, block: &Block) {
        match block {
            Block::Text(block) => self.add(&block.text),
            Block::Thinking(block) => self.add(&block.thinking),
            Block::ToolCall(call) => {
                self.add(&call.name);
                self.add(&call.arguments.as_ref().map(compact).unwrap_or_default());
            }
            Block::Image(_) => self.images += 1,
            Block::Other(_) => self.images += usize::from(is_image(block)),
        }
    }

    fn add(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(text);
    }
}
