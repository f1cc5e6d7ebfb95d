//! What a client asks for, in OpenAI's shape.

use crate::body;
use crate::images;
use crate::problem::{Problem, short};
use chitin_protocol::message::ImageBlock;
use hyper::StatusCode;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

/// The most messages of a request.
const MOST_MESSAGES: usize = 4096;
/// What stands for a picture in what was said before.
const PICTURE: &str = "[picture]";

/// What a client asks for. What an agent decides itself, such as the temperature, is read over.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatRequest {
    /// The model, which is an agent.
    pub model: String,
    /// What the user says now.
    pub text: String,
    /// Pictures that go with it.
    pub images: Vec<ImageBlock>,
    /// What else the client sent, in order.
    pub before: Vec<ChatMessage>,
    /// Whether the answer comes piece by piece.
    pub stream: bool,
    /// Whether the last piece counts tokens.
    pub include_usage: bool,
    /// Whose session it is.
    pub user: Option<String>,
}

/// Something that was said before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatMessage {
    /// By whom.
    pub role: Role,
    /// What.
    pub text: String,
}

/// Who says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Whoever wrote the client.
    Instructions,
    /// The user.
    User,
    /// The model.
    Assistant,
    /// A tool of the client.
    Tool,
}

#[derive(Deserialize)]
struct Raw {
    model: Option<String>,
    messages: Option<Vec<RawMessage>>,
    stream: Option<bool>,
    stream_options: Option<StreamOptions>,
    user: Option<String>,
    n: Option<u64>,
    tools: Option<Vec<IgnoredAny>>,
    functions: Option<Vec<IgnoredAny>>,
    tool_choice: Option<Value>,
    response_format: Option<Value>,
}

#[derive(Deserialize)]
struct StreamOptions {
    include_usage: Option<bool>,
}

#[derive(Deserialize)]
struct RawMessage {
    role: String,
    content: Option<RawContent>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RawContent {
    Text(String),
    Parts(Vec<RawPart>),
}

#[derive(Deserialize)]
struct RawPart {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    refusal: Option<String>,
    image_url: Option<RawImage>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RawImage {
    Url { url: String },
    Plain(String),
}

impl ChatRequest {
    /// Reads a request; says what is wrong with one that cannot be done.
    pub fn parse(bytes: &[u8]) -> Result<Self, Problem> {
        let raw: Raw = body::parse(bytes)?;
        raw.refuse_what_cannot_be_done()?;
        let model = raw.model.unwrap_or_default();
        if model.is_empty() {
            return Err(Problem::bad("The request names no model.").param("model"));
        }
        let mut messages = raw.messages.unwrap_or_default();
        if messages.len() > MOST_MESSAGES {
            let message = format!("There are too many messages: the limit is {MOST_MESSAGES}.");
            return Err(Problem::bad(message).param("messages"));
        }
        let last = messages.iter().rposition(|message| message.role == "user");
        let Some(last) = last else {
            return Err(Problem::bad("There is no user message.").param("messages"));
        };
        let said = messages.remove(last);
        let (text, urls) = content(said.content)?;
        let images = urls.iter().map(|url| images::from_url(url));
        let images: Vec<ImageBlock> = images
            .collect::<Result<_, _>>()
            .map_err(|problem| problem.param("messages"))?;
        if text.trim().is_empty() && images.is_empty() {
            return Err(Problem::bad("The last user message is empty.").param("messages"));
        }
        let before = messages.into_iter().map(before);
        Ok(Self {
            model,
            text,
            images,
            before: before.collect::<Result<_, _>>()?,
            stream: raw.stream.unwrap_or_default(),
            include_usage: raw
                .stream_options
                .and_then(|options| options.include_usage)
                .unwrap_or_default(),
            user: raw.user.filter(|user| !user.trim().is_empty()),
        })
    }
}

impl Raw {
    /// An agent has tools and a mind of its own. To read over such wishes would be to break a promise silently.
    fn refuse_what_cannot_be_done(&self) -> Result<(), Problem> {
        let unsupported = |param: &'static str, message: &str, hint: &str| {
            let problem = Problem::new(StatusCode::BAD_REQUEST, "unsupported_parameter", message);
            Err(problem.hint(hint).param(param))
        };
        let has =
            |list: &Option<Vec<IgnoredAny>>| list.as_ref().is_some_and(|list| !list.is_empty());
        let none = self
            .tool_choice
            .as_ref()
            .is_some_and(|choice| choice == "none");
        if !none && (has(&self.tools) || has(&self.functions)) {
            let hint = "Leave `tools` out, or set `tool_choice` to `none`: the agent uses its own.";
            return unsupported("tools", "Tools of the client are not called.", hint);
        }
        if self.n.is_some_and(|n| n != 1) {
            let hint = "Leave `n` out, or ask several times.";
            return unsupported("n", "There is one answer to a request.", hint);
        }
        let format = self
            .response_format
            .as_ref()
            .filter(|format| !format.is_null());
        if format.is_some_and(|format| format["type"] != "text") {
            let hint = "Leave `response_format` out, and ask for the shape in words.";
            return unsupported("response_format", "Answers are text.", hint);
        }
        Ok(())
    }
}

fn before(message: RawMessage) -> Result<ChatMessage, Problem> {
    let role = match message.role.as_str() {
        "system" | "developer" => Role::Instructions,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" | "function" => Role::Tool,
        other => {
            let message = format!("`{}` is not a valid role.", short(other));
            return Err(Problem::bad(message).param("messages"));
        }
    };
    let (mut text, images) = content(message.content)?;
    for _ in images {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(PICTURE);
    }
    Ok(ChatMessage { role, text })
}

/// Returns the text of a message, and the addresses of its pictures.
fn content(content: Option<RawContent>) -> Result<(String, Vec<String>), Problem> {
    let parts = match content {
        None => return Ok(Default::default()),
        Some(RawContent::Text(text)) => return Ok((text, Vec::new())),
        Some(RawContent::Parts(parts)) => parts,
    };
    let mut texts = Vec::new();
    let mut images = Vec::new();
    for part in parts {
        match (part.kind.as_str(), part.text, part.image_url) {
            ("text" | "input_text" | "output_text", Some(text), _) => texts.push(text),
            ("refusal", ..) => texts.extend(part.refusal),
            (
                "image_url" | "input_image",
                _,
                Some(RawImage::Url { url } | RawImage::Plain(url)),
            ) => {
                images.push(url);
            }
            (kind, ..) => {
                let message = format!("Parts of type `{}` are not supported.", short(kind));
                let problem = Problem::bad(message).param("messages");
                return Err(problem.hint("Supported are `text` and `image_url`."));
            }
        }
    }
    Ok((texts.join("\n"), images))
}
