//! `sessions_history`: what was said in a session.

use super::visible::Sight;
use crate::gateway::{Gateway, WeakGateway};
use crate::tools::{alive, aside, outcome, refused};
use chitin_agent::turn::read_origins;
use chitin_protocol::message::Message;
use chitin_protocol::origin::Origin;
use chitin_protocol::tool::ToolSpec;
use chitin_protocol::transcript::{EntryBody, TranscriptEntry};
use chitin_tools::schema::spec_on_file;
use chitin_tools::{CallContext, ToolConcurrency, ToolOutcome, TypedTool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const DESCRIPTION: &str = "Shows what was said in a session that this one sees, the newest last. What tools gave back is left out unless you ask for it.";

/// How many messages are shown when nothing is said.
const USUAL: u32 = 50;
/// How many are shown at most.
const MOST: u32 = 200;
/// How long one message is, in characters.
const MESSAGE_CHARS: usize = 4_000;
/// How long all messages are together, in bytes.
const TOTAL_BYTES: usize = 80 * 1024;
/// How many records are looked at for them, and how many bytes of the transcript.
const MOST_READ: usize = 4_096;
const MOST_READ_BYTES: u64 = 8 << 20;

chitin_tools::schema_on_file!(Arguments, "sessions_history.json");

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The session.
    session_key: String,
    /// How many messages at most; left out, 50.
    #[serde(default)]
    limit: Option<u32>,
    /// Whether what tools gave back is shown.
    #[serde(default)]
    include_tools: bool,
}

/// A message, as a model sees it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Shown {
    role: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    calls: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    at: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    cut: bool,
}

/// Shows what was said in a session.
#[derive(Debug)]
pub(crate) struct SessionsHistory {
    spec: ToolSpec,
    gateway: WeakGateway,
}

impl SessionsHistory {
    pub(crate) fn new(gateway: &WeakGateway) -> Self {
        Self {
            spec: spec_on_file("sessions_history", DESCRIPTION, PARAMETERS),
            gateway: gateway.clone(),
        }
    }
}

impl TypedTool for SessionsHistory {
    type Arguments = Arguments;
    const CONCURRENCY: ToolConcurrency = ToolConcurrency::Shared;

    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(
        &self,
        asked: Arguments,
        context: &CallContext<'_>,
    ) -> Result<ToolOutcome, String> {
        let gateway = alive(&self.gateway)?;
        let caller = context.session_key.to_owned();
        let read = aside(move || history(&gateway, &caller, &asked)).await;
        Ok(match read {
            Some(Ok((history, key, theirs))) => {
                let origins = context.rights.untrusted.of_session(&key, theirs);
                outcome(&history).from(origins)
            }
            Some(Err(error)) => refused(error),
            None => refused("The session could not be read."),
        })
    }
}

/// Returns what was said in a session, its key, and where texts in it come from that are not the owner's.
fn history(
    gateway: &Gateway,
    caller: &str,
    asked: &Arguments,
) -> Result<(Value, String, Vec<Origin>), String> {
    let seen = Sight::of(gateway, caller).find(&asked.session_key)?;
    let store = gateway.parts().host.store(&seen.agent_id);
    let store = store.map_err(|error| error.to_string())?;
    let branch = store.read_last(&seen.key, MOST_READ, MOST_READ_BYTES);
    let branch = branch.map_err(|error| error.to_string())?;
    let limit = asked.limit.unwrap_or(USUAL).clamp(1, MOST) as usize;
    let mut messages: Vec<Shown> = Vec::new();
    let (mut bytes, mut more) = (0, branch.has_older);
    for entry in branch.entries.iter().rev() {
        let Some(message) = shown(entry, asked.include_tools) else {
            continue;
        };
        let message = message.cut(MESSAGE_CHARS);
        bytes += message.text.len();
        if messages.len() == limit || bytes > TOTAL_BYTES {
            more = true;
            break;
        }
        messages.push(message);
    }
    messages.reverse();
    let theirs = read_origins(&*store, &seen.key).map_err(|error| error.to_string())?;
    let history = json!({"sessionKey": seen.key, "messages": messages, "hasOlder": more});
    Ok((history, seen.key, theirs))
}

/// Returns what is shown of a record: words of people and models, and, if asked for, of tools. Thoughts and pictures are not.
pub(crate) fn shown(entry: &TranscriptEntry, with_tools: bool) -> Option<Shown> {
    let EntryBody::Message(message) = &entry.body else {
        return None;
    };
    let (role, content, calls, tool) = match message {
        Message::User(message) => ("user", &message.content, Vec::new(), None),
        Message::Assistant(message) => {
            let calls = message.tool_calls().map(|call| call.name.clone());
            ("assistant", &message.content, calls.collect(), None)
        }
        Message::ToolResult(result) if with_tools => {
            let tool = result.tool_name.clone();
            ("tool", &result.content, Vec::new(), tool)
        }
        Message::ToolResult(_) | Message::Other(_) => return None,
    };
    let text = content.text();
    (!text.is_empty() || !calls.is_empty()).then(|| Shown {
        role,
        text,
        calls,
        tool,
        at: entry.timestamp.clone(),
        cut: false,
    })
}

impl Shown {
    /// Cuts the text, and says so.
    pub(crate) fn cut(mut self, most: usize) -> Self {
        if let Some((end, _)) = self.text.char_indices().nth(most) {
            self.text.truncate(end);
            self.cut = true;
        }
        self
    }
}
