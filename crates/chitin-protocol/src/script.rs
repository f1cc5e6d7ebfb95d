//! Replies of a model that reads them from a script, one JSON object to a line.
//!
//! The `scripted` model reads this format, and so does the model server of the test kit, which speaks the providers' wire
//! formats and can also misbehave. A line that is empty or begins with `//` or `#` is passed over.

use crate::message::StopReason;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The largest script that is read, in bytes.
pub const LARGEST_SCRIPT: usize = 64 * 1024 * 1024;

/// One reply.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ScriptReply {
    /// What the model thinks first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
    /// What it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The tools that it calls after that.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ScriptCall>,
    /// The tokens that it reports; left out, a count that follows from the lengths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<ScriptUsage>,
    /// Why it ends; left out, `toolUse` with calls and `stop` without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<StopReason>,
    /// How long it waits before the first word, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u64>,
    /// Fails instead, with an HTTP status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ScriptError>,
    /// Breaks off after so many characters of text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_after: Option<usize>,
    /// Is used for the first request that holds this text, out of turn; the other replies are used in their order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// How many requests it answers; left out, one. `0` stands for any number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<u32>,
    /// What the request must be like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect: Option<ScriptExpectation>,
    /// How a server misbehaves; only the model server of the test kit looks at it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<ScriptFault>,
    /// How a server cuts its answer into pieces; only the model server of the test kit looks at it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pieces: Option<ScriptPieces>,
}

/// A call of a tool.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ScriptCall {
    /// The provider's name for the call; left out, one is made up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The tool.
    pub name: String,
    /// What the tool is given.
    pub arguments: Value,
    /// What is sent in place of the arguments, which need not be JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments_text: Option<String>,
}

impl ScriptCall {
    /// Returns the arguments as they are sent.
    pub fn arguments_as_sent(&self) -> String {
        match (&self.arguments_text, &self.arguments) {
            (Some(text), _) => text.clone(),
            (None, Value::Null) => "{}".to_owned(),
            (None, arguments) => arguments.to_string(),
        }
    }
}

/// The tokens that a reply reports.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ScriptUsage {
    /// Sent, and neither read from nor written to a cache.
    pub input: u64,
    /// Answered.
    pub output: u64,
    /// Read from the cache.
    pub cache_read: u64,
    /// Written to the cache.
    pub cache_write: u64,
}

/// An error in place of a reply.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ScriptError {
    /// The HTTP status.
    pub status: u16,
    /// What the provider says.
    pub message: String,
    /// The `retry-after` header as it is sent, in seconds or as a date.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<String>,
}

/// What a request must be like for a reply to be given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ScriptExpectation {
    /// Texts that the request holds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contains: Vec<String>,
    /// Texts that the request does not hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<String>,
}

impl ScriptExpectation {
    /// Says what is wrong with a request; nothing when all is well. Texts are looked for as they stand and as JSON writes
    /// them, because a request is JSON.
    pub fn complaint(&self, request: &str) -> Option<String> {
        let missing = self.contains.iter().find(|text| !holds(request, text));
        if let Some(text) = missing {
            return Some(format!("the request does not hold `{text}`"));
        }
        let unwanted = self.lacks.iter().find(|text| holds(request, text))?;
        Some(format!("the request holds `{unwanted}`"))
    }
}

/// Tells whether a request, which is JSON, holds a text: as it stands, or as JSON writes it.
pub fn holds(request: &str, text: &str) -> bool {
    if request.contains(text) {
        return true;
    }
    let written = Value::from(text).to_string();
    request.contains(&written[1..written.len() - 1])
}

/// How a server misbehaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ScriptFault {
    /// Says nothing at all and keeps the connection.
    Hang,
    /// Begins to answer, then says nothing and keeps the connection; `cutAfter` says where.
    Stall,
    /// Closes the connection without a word.
    Drop,
    /// Sends something in the middle that is no event of the wire format.
    Malformed,
    /// Reports an error in the middle of the answer, in the words of the wire format.
    ErrorEvent,
    /// Says that all is well and then reports an error in place of an answer, in the words of the wire format.
    ErrorAtOnce,
    /// Sends a page in place of an answer, as proxies do.
    Html,
    /// Sends the client elsewhere.
    Redirect,
}

/// How a server cuts its answer into pieces.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ScriptPieces {
    /// How many bytes each piece has; `0` leaves an event in one piece.
    pub bytes: usize,
    /// How long to wait after each, in milliseconds.
    pub pause_ms: u64,
}

/// A script that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScriptProblem {
    /// A line is not a reply.
    #[error("line {line} of the script is not a reply: {message}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// The script is too large.
    #[error("the script has {bytes} bytes; at most {LARGEST_SCRIPT} are read")]
    TooLarge {
        /// How large it is.
        bytes: usize,
    },
}

/// Reads a script.
pub fn parse(text: &str) -> Result<Vec<ScriptReply>, ScriptProblem> {
    if text.len() > LARGEST_SCRIPT {
        return Err(ScriptProblem::TooLarge { bytes: text.len() });
    }
    let mut replies = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') || line.starts_with("//") {
            continue;
        }
        replies.push(reply(line).map_err(|message| ScriptProblem::Line {
            line: index + 1,
            message,
        })?);
    }
    Ok(replies)
}

fn reply(line: &str) -> Result<ScriptReply, String> {
    let reply: ScriptReply = serde_json::from_str(line).map_err(|error| error.to_string())?;
    if let Some(call) = reply.tool_calls.iter().find(|call| call.name.is_empty()) {
        return Err(format!(
            "a call has no name: {}",
            call.arguments_as_sent()
                .chars()
                .take(80)
                .collect::<String>()
        ));
    }
    match &reply.error {
        Some(error) if !(400..=599).contains(&error.status) => Err(format!(
            "`error.status` is {}; it is a number from 400 to 599",
            error.status
        )),
        Some(_) | None => Ok(reply),
    }
}

/// Chooses replies for requests, in the order of the script.
#[derive(Debug)]
pub struct ScriptQueue {
    replies: Vec<(ScriptReply, u32)>,
}

impl ScriptQueue {
    /// Starts at the first reply.
    pub fn new(replies: Vec<ScriptReply>) -> Self {
        Self {
            replies: replies.into_iter().map(|reply| (reply, 0)).collect(),
        }
    }

    /// Returns the reply to a request: the first unused one whose `when` the request holds, else the first unused one
    /// without a `when`.
    pub fn next(&mut self, request: &str) -> Option<ScriptReply> {
        let unused = |(reply, used): &(ScriptReply, u32)| match reply.times {
            Some(0) => true,
            times => *used < times.unwrap_or(1),
        };
        let chosen = self
            .replies
            .iter()
            .position(|entry| {
                unused(entry)
                    && entry
                        .0
                        .when
                        .as_deref()
                        .is_some_and(|when| holds(request, when))
            })
            .or_else(|| {
                self.replies
                    .iter()
                    .position(|entry| unused(entry) && entry.0.when.is_none())
            })?;
        let (reply, used) = &mut self.replies[chosen];
        *used = used.saturating_add(1);
        Some(reply.clone())
    }

    /// Returns how many replies the script has.
    pub fn len(&self) -> usize {
        self.replies.len()
    }

    /// Tells whether the script has no replies.
    pub fn is_empty(&self) -> bool {
        self.replies.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_read_line_by_line_and_says_where_it_is_wrong() {
        let replies = parse(
            "// a comment\n\n{\"text\":\"a\"}\n{\"toolCalls\":[{\"name\":\"read\",\"arguments\":{\"path\":\"x\"}}]}\n",
        )
        .expect("a script");
        assert_eq!(replies.len(), 2);
        assert_eq!(
            replies[1].tool_calls[0].arguments_as_sent(),
            r#"{"path":"x"}"#
        );
        let problem = |text: &str| parse(text).expect_err("a problem").to_string();
        assert!(problem("{\"text\":\"a\"}\n{\"txt\":1}").starts_with("line 2 "));
        assert!(problem("{\"error\":{\"status\":200}}").contains("400 to 599"));
        assert!(problem("{\"toolCalls\":[{}]}").contains("no name"));
    }

    #[test]
    fn replies_come_in_order_and_a_condition_comes_first() {
        let replies = parse(
            "{\"text\":\"one\"}\n{\"text\":\"summary\",\"when\":\"sum \\\"up\\\"\"}\n{\"text\":\"rest\",\"times\":0}",
        )
        .expect("a script");
        let mut queue = ScriptQueue::new(replies);
        let mut text = |request: &str| queue.next(request).and_then(|reply| reply.text);
        assert_eq!(text("hello").as_deref(), Some("one"));
        assert_eq!(text("now sum \\\"up\\\"").as_deref(), Some("summary"));
        assert_eq!(text("sum \"up\"").as_deref(), Some("rest"));
        assert_eq!(text("again").as_deref(), Some("rest"));
    }

    #[test]
    fn expectations_say_what_is_wrong() {
        let expectation = ScriptExpectation {
            contains: vec!["two\nlines".to_owned()],
            lacks: vec!["secret".to_owned()],
        };
        assert_eq!(expectation.complaint(r#"{"a":"two\nlines"}"#), None);
        assert!(expectation.complaint("{}").is_some());
        assert!(
            expectation
                .complaint(r#"{"a":"two\nlines secret"}"#)
                .is_some()
        );
    }
}
