//! What a client asks for, in OpenAI's shape.

use crate::body;
use crate::error::{ApiError, short};
use crate::images;
use chitin_protocol::message::ImageBlock;
use hyper::StatusCode;
use schemars::JsonSchema;
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

/// A message in OpenAI's shape. What an agent decides itself, such as the temperature, is ignored.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct ChatCompletionRequest {
    /// The agent: `chitin`, or `chitin/` and its id.
    #[schemars(required)]
    model: Option<String>,
    /// The messages. The last one of the user is the message; those before it are for a session that has none.
    #[schemars(required)]
    messages: Option<Vec<CompletionMessage>>,
    /// Whether the reply is streamed.
    stream: Option<bool>,
    /// Settings of the stream.
    stream_options: Option<StreamOptions>,
    /// Selects a persistent session.
    user: Option<String>,
    /// The number of replies: 1.
    n: Option<u64>,
    /// Refused unless `tool_choice` is `none`: the agent uses its own tools.
    #[schemars(with = "Option<Vec<Value>>")]
    tools: Option<Vec<IgnoredAny>>,
    /// Refused like `tools`.
    #[schemars(with = "Option<Vec<Value>>")]
    functions: Option<Vec<IgnoredAny>>,
    /// `none`, if there are tools.
    tool_choice: Option<Value>,
    /// Only text.
    response_format: Option<Value>,
}

/// Settings of a stream.
#[derive(Deserialize, JsonSchema)]
struct StreamOptions {
    /// Whether the last chunk counts tokens.
    include_usage: Option<bool>,
}

/// A message of the conversation.
#[derive(Deserialize, JsonSchema)]
struct CompletionMessage {
    /// `system`, `developer`, `user`, `assistant`, `tool` or `function`.
    role: String,
    /// Its text and images.
    content: Option<CompletionContent>,
}

/// A text, or parts.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum CompletionContent {
    /// A text.
    Text(String),
    /// Texts and images.
    Parts(Vec<CompletionPart>),
}

/// A part of a message.
#[derive(Deserialize, JsonSchema)]
struct CompletionPart {
    /// `text`, `input_text`, `output_text`, `refusal`, `image_url` or `input_image`.
    #[serde(rename = "type")]
    kind: String,
    /// A text.
    text: Option<String>,
    /// A refusal.
    refusal: Option<String>,
    /// An image as a `data:` URL.
    image_url: Option<CompletionImage>,
}

/// An image as a `data:` URL. Nothing is fetched.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum CompletionImage {
    /// An object with the URL.
    Url {
        /// The URL.
        url: String,
    },
    /// The URL.
    Plain(String),
}

impl ChatRequest {
    /// Reads a request; says what is wrong with one that cannot be done.
    pub fn parse(bytes: &[u8]) -> Result<Self, ApiError> {
        let raw: ChatCompletionRequest = body::parse(bytes)?;
        raw.refuse_what_cannot_be_done()?;
        let model = raw.model.unwrap_or_default();
        if model.is_empty() {
            return Err(ApiError::bad("The request names no model.").param("model"));
        }
        let mut messages = raw.messages.unwrap_or_default();
        if messages.len() > MOST_MESSAGES {
            let message = format!("There are too many messages: the limit is {MOST_MESSAGES}.");
            return Err(ApiError::bad(message).param("messages"));
        }
        let last = messages.iter().rposition(|message| message.role == "user");
        let Some(last) = last else {
            return Err(ApiError::bad("There is no user message.").param("messages"));
        };
        let said = messages.remove(last);
        let (text, urls) = content(said.content)?;
        let images = urls.iter().map(|url| images::from_url(url));
        let images: Vec<ImageBlock> = images
            .collect::<Result<_, _>>()
            .map_err(|problem| problem.param("messages"))?;
        if text.trim().is_empty() && images.is_empty() {
            return Err(ApiError::bad("The last user message is empty.").param("messages"));
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

impl ChatCompletionRequest {
    /// An agent has tools and a mind of its own. To read over such wishes would be to break a promise silently.
    fn refuse_what_cannot_be_done(&self) -> Result<(), ApiError> {
        let unsupported = |param: &'static str, message: &str, hint: &str| {
            let problem = ApiError::new(StatusCode::BAD_REQUEST, "unsupported_parameter", message);
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

fn before(message: CompletionMessage) -> Result<ChatMessage, ApiError> {
    let role = match message.role.as_str() {
        "system" | "developer" => Role::Instructions,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" | "function" => Role::Tool,
        other => {
            let message = format!("`{}` is not a valid role.", short(other));
            return Err(ApiError::bad(message).param("messages"));
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
fn content(content: Option<CompletionContent>) -> Result<(String, Vec<String>), ApiError> {
    let parts = match content {
        None => return Ok(Default::default()),
        Some(CompletionContent::Text(text)) => return Ok((text, Vec::new())),
        Some(CompletionContent::Parts(parts)) => parts,
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
                Some(CompletionImage::Url { url } | CompletionImage::Plain(url)),
            ) => {
                images.push(url);
            }
            (kind, ..) => {
                let message = format!("Parts of type `{}` are not supported.", short(kind));
                let problem = ApiError::bad(message).param("messages");
                return Err(problem.hint("Supported are `text` and `image_url`."));
            }
        }
    }
    Ok((texts.join("\n"), images))
}
