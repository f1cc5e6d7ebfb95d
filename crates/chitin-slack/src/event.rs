//! What Slack tells us, over either way: the envelope of the Events API and the messages in it.

use serde_json::Value;

/// The most files of one message that are looked at.
const MOST_FILES: usize = 32;
/// The longest id.
const LONGEST_ID: usize = 64;
/// How much of something odd is shown.
const SHOWN: usize = 60;

/// What came.
#[derive(Debug, Clone, PartialEq)]
pub enum SlackPayload {
    /// Slack asks whether we are there; the text is given back.
    Challenge(String),
    /// Something happened.
    Event(Box<Happened>),
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Happened {
    /// Slack's name for it; the same when it is told again.
    pub event_id: Option<String>,
    /// The team.
    pub team_id: Option<String>,
    /// What.
    pub event: SlackEvent,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum SlackEvent {
    /// Somebody wrote something.
    Message(SlackMessageEvent),
    /// The app was taken out of the workspace, or its tokens were taken back.
    Revoked,
    /// Something that is no message for us, and why.
    Other(String),
}

/// A message.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SlackMessageEvent {
    /// Where.
    pub channel: String,
    /// What kind of place that is, when it is said.
    pub kind: Option<SlackChannelKind>,
    /// Who.
    pub user: Option<String>,
    /// What, in Slack's own writing.
    pub text: String,
    /// When, which is also its id.
    pub ts: String,
    /// The message that it replies to.
    pub thread_ts: Option<String>,
    /// Who wrote that one.
    pub parent_user: Option<String>,
    /// The program that wrote it.
    pub bot_id: Option<String>,
    /// Whether Slack says that we are named in it.
    pub named: bool,
    /// The files that hang on it.
    pub files: Vec<SlackFile>,
}

impl SlackMessageEvent {
    /// Returns the thread that it stands in. A message that only began one stands in none.
    pub fn thread(&self) -> Option<&str> {
        let thread = self.thread_ts.as_deref()?;
        (thread != self.ts || self.parent_user.is_some()).then_some(thread)
    }
}

/// What kind of place something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlackChannelKind {
    /// A conversation with one person.
    Direct,
    /// One with several.
    Group,
    /// A channel, public or private.
    Channel,
}

impl SlackChannelKind {
    fn read(text: &str) -> Option<Self> {
        match text {
            "im" => Some(Self::Direct),
            "mpim" => Some(Self::Group),
            "channel" | "group" => Some(Self::Channel),
            _ => None,
        }
    }
}

/// What is said of a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SlackFile {
    /// Slack's name for it.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// Its MIME type.
    pub mime: Option<String>,
    /// Its size.
    pub bytes: u64,
    /// Where it is.
    pub url: Option<String>,
}

/// Reads what came, as bytes.
///
/// # Errors
///
/// What is wrong with it, as a sentence.
pub fn read(bytes: &[u8]) -> Result<SlackPayload, String> {
    let value: Value =
        serde_json::from_slice(bytes).map_err(|error| format!("It is no JSON: {error}."))?;
    payload(&value)
}

/// Reads what came.
///
/// # Errors
///
/// What is wrong with it, as a sentence.
pub fn payload(value: &Value) -> Result<SlackPayload, String> {
    match value["type"].as_str() {
        Some("url_verification") => match value["challenge"].as_str() {
            Some(challenge) if challenge.len() <= 1_024 => {
                Ok(SlackPayload::Challenge(challenge.to_owned()))
            }
            _ => Err("A challenge without a text.".to_owned()),
        },
        Some("event_callback") => {
            let event_id = value["event_id"].as_str();
            Ok(SlackPayload::Event(Box::new(Happened {
                event_id: event_id.filter(|id| is_id(id)).map(str::to_owned),
                team_id: id(&value["team_id"]),
                event: event(&value["event"])?,
            })))
        }
        Some(other) => Err(format!("A call of an unknown kind, `{}`.", shown(other))),
        None => Err("A call that does not say of which kind it is.".to_owned()),
    }
}

fn event(event: &Value) -> Result<SlackEvent, String> {
    let Some(kind) = event["type"].as_str() else {
        return Err("An event that does not say of which kind it is.".to_owned());
    };
    match kind {
        "message" | "app_mention" => {}
        "app_uninstalled" => return Ok(SlackEvent::Revoked),
        "tokens_revoked" => {
            let bots = event["tokens"]["bot"].as_array();
            let ours = bots.is_some_and(|bots| !bots.is_empty());
            return Ok(if ours {
                SlackEvent::Revoked
            } else {
                SlackEvent::Other(kind.to_owned())
            });
        }
        other => return Ok(SlackEvent::Other(shown(other))),
    }
    match event["subtype"].as_str() {
        None | Some("file_share" | "thread_broadcast") => {}
        Some(other) => return Ok(SlackEvent::Other(format!("message.{}", shown(other)))),
    }
    message(event, kind == "app_mention").map(SlackEvent::Message)
}

/// Reads a message, also one of the past.
///
/// # Errors
///
/// What is wrong with it, as a sentence.
pub fn message(event: &Value, named: bool) -> Result<SlackMessageEvent, String> {
    let channel = id(&event["channel"]).ok_or("A message without a channel.")?;
    let ts = timestamp(&event["ts"])
        .or_else(|| timestamp(&event["event_ts"]))
        .ok_or("A message without a time.")?;
    let thread_ts = match &event["thread_ts"] {
        Value::Null => None,
        said => Some(timestamp(said).ok_or("A message in a thread of no time.")?),
    };
    let text = match &event["text"] {
        Value::Null => "",
        Value::String(text) => text,
        _ => return Err("A message whose text is no text.".to_owned()),
    };
    let kind = event["channel_type"]
        .as_str()
        .and_then(SlackChannelKind::read);
    Ok(SlackMessageEvent {
        kind: kind.or_else(|| channel.starts_with('D').then_some(SlackChannelKind::Direct)),
        channel,
        user: id(&event["user"]),
        text: text.to_owned(),
        ts,
        thread_ts,
        parent_user: id(&event["parent_user_id"]),
        bot_id: id(&event["bot_id"]),
        named,
        files: files(&event["files"]),
    })
}

/// Reads the files of a message.
pub fn files(value: &Value) -> Vec<SlackFile> {
    let files = value.as_array().into_iter().flatten().take(MOST_FILES);
    files.filter_map(file).collect()
}

/// Reads what is said of a file.
pub(crate) fn file(value: &Value) -> Option<SlackFile> {
    let url = ["url_private_download", "url_private"]
        .iter()
        .find_map(|key| value[key].as_str());
    let name = ["name", "title"]
        .iter()
        .find_map(|key| value[key].as_str())
        .unwrap_or("file");
    // No directory, no line: it is a name.
    let name: String = name
        .rsplit(['/', '\\'])
        .next()
        .unwrap_or_default()
        .chars()
        .filter(|sign| !sign.is_control())
        .take(200)
        .collect();
    Some(SlackFile {
        id: id(&value["id"])?,
        name: if name.trim_matches(['.', ' ']).is_empty() {
            "file".to_owned()
        } else {
            name
        },
        mime: value["mimetype"]
            .as_str()
            .filter(|mime| mime.len() <= 128 && mime.contains('/') && mime.is_ascii())
            .map(str::to_ascii_lowercase),
        bytes: value["size"].as_u64().unwrap_or(0),
        url: url.map(str::to_owned),
    })
}

/// Returns a text that can be an id.
fn id(value: &Value) -> Option<String> {
    value.as_str().filter(|id| is_id(id)).map(str::to_owned)
}

/// Tells whether a text can be an id: letters and digits only, so that it can stand anywhere.
pub(crate) fn is_id(text: &str) -> bool {
    (1..=LONGEST_ID).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn timestamp(value: &Value) -> Option<String> {
    value
        .as_str()
        .filter(|text| is_timestamp(text))
        .map(str::to_owned)
}

/// Tells whether a text can be the time of a message, such as `1700000000.000100`.
pub(crate) fn is_timestamp(text: &str) -> bool {
    let digits = |part: &str| {
        (1..=16).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    text.split_once('.')
        .is_some_and(|(seconds, fraction)| digits(seconds) && digits(fraction))
}

fn shown(text: &str) -> String {
    text.chars()
        .filter(|sign| !sign.is_control())
        .take(SHOWN)
        .collect()
}
