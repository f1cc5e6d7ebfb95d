//! What else can be done on Slack: change, react, read, threads, pins, and what is known of people.

use crate::account::Account;
use crate::emoji;
use crate::event::{self, is_id, is_timestamp};
use crate::hearing::message_name;
use crate::mrkdwn::harmless;
use crate::web::CallError;
use chitin_gateway::surface::{Action, Done, File, Past};
use chitin_gateway::{Address, SurfaceError};
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};

/// The most messages that are read at once.
const MOST_READ: u32 = 1_000;
/// How many messages Slack gives at once.
const PAGE: u32 = 200;
/// The most calls for one reading.
const MOST_PAGES: u32 = 10;
/// The most emoji that are listed.
const MOST_EMOJI: usize = 500;

impl Account {
    /// Does something that is no message.
    pub(crate) async fn act(&self, to: &Address, action: &Action) -> Result<Done, SurfaceError> {
        let allowed = self.settings.actions().any(|name| name == action.name());
        if !allowed {
            return Err(SurfaceError::unsupported(action.name()));
        }
        let channel = self.channel_of(to).await?;
        match action {
            Action::Edit { message_id, text } => {
                let text = harmless(text);
                let arguments = [
                    ("channel", channel.as_str()),
                    ("ts", message(message_id)?),
                    ("text", &text),
                ];
                self.call("chat.update", &arguments).await?;
                Ok(Done::Done)
            }
            Action::React {
                message_id,
                emoji,
                remove,
            } => {
                self.react(&channel, message(message_id)?, emoji, *remove)
                    .await
            }
            Action::ThreadCreate {
                name, message_id, ..
            } => {
                // A thread is the replies to a message; without one, the name becomes the message.
                let thread = match message_id {
                    Some(id) => message(id)?.to_owned(),
                    None => self.post(&channel, None, name).await?,
                };
                self.threads.put(message_name(&channel, &thread), true);
                Ok(Done::Thread {
                    address: Address {
                        thread_id: Some(thread),
                        ..to.clone()
                    },
                })
            }
            Action::Read { limit, before } => {
                let messages = self
                    .read(&channel, to.thread_id.as_deref(), *limit, before.as_deref())
                    .await?;
                Ok(Done::Said { messages })
            }
            Action::Download { message_id, file } => {
                let file = self
                    .attached(&channel, message(message_id)?, file.as_deref())
                    .await?;
                Ok(Done::File { file })
            }
            Action::Typing => Err(SurfaceError::unsupported("typing")),
            Action::Other { name, fields } => self.other(&channel, name, fields).await,
        }
    }

    async fn react(
        &self,
        channel: &str,
        ts: &str,
        sign: &str,
        remove: bool,
    ) -> Result<Done, SurfaceError> {
        let name = emoji::name(sign).ok_or_else(|| {
            SurfaceError::never(format!(
                "Slack knows signs by name, such as `eyes`; `{sign}` has none that is known here."
            ))
        })?;
        let arguments = [("channel", channel), ("timestamp", ts), ("name", &name)];
        let method = if remove {
            "reactions.remove"
        } else {
            "reactions.add"
        };
        match self.call(method, &arguments).await {
            Ok(_) => Ok(Done::Done),
            // It is as it was to be.
            Err(error) if matches!(error.code(), Some("already_reacted")) => Ok(Done::Done),
            Err(error) if remove && error.code() == Some("no_reaction") => Ok(Done::Done),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads what was said, the newest last. Slack tells a thread from its beginning: it is read through, and the newest are kept.
    async fn read(
        &self,
        channel: &str,
        thread: Option<&str>,
        limit: u32,
        before: Option<&str>,
    ) -> Result<Vec<Past>, SurfaceError> {
        let limit = limit.clamp(1, MOST_READ);
        let before = before.map(message).transpose()?;
        let thread = thread.map(message).transpose()?;
        let mut kept: VecDeque<Value> = VecDeque::new();
        let mut cursor = String::new();
        for _ in 0..MOST_PAGES {
            let wanted = match thread {
                Some(_) => PAGE,
                None => PAGE.min(limit - u32::try_from(kept.len()).unwrap_or(limit).min(limit)),
            };
            if wanted == 0 {
                break;
            }
            let size = wanted.to_string();
            let mut arguments = vec![("channel", channel), ("limit", size.as_str())];
            arguments.extend(before.map(|before| ("latest", before)));
            arguments.extend(thread.map(|thread| ("ts", thread)));
            if !cursor.is_empty() {
                arguments.push(("cursor", &cursor));
            }
            let method = match thread {
                Some(_) => "conversations.replies",
                None => "conversations.history",
            };
            let body = self.call(method, &arguments).await?;
            let messages = body["messages"].as_array().into_iter().flatten();
            for said in messages.filter(|said| said["ts"].as_str() != before) {
                match thread {
                    // The newest first, page by page.
                    None => kept.push_front(said.clone()),
                    Some(_) => {
                        kept.push_back(said.clone());
                        if kept.len() > limit as usize {
                            kept.pop_front();
                        }
                    }
                }
            }
            let next = body["response_metadata"]["next_cursor"].as_str();
            match next.filter(|next| !next.is_empty() && next.len() <= 1_024) {
                Some(next) => next.clone_into(&mut cursor),
                None => break,
            }
        }
        let mut told = Vec::with_capacity(kept.len());
        for said in &kept {
            told.extend(self.past(said).await);
        }
        Ok(told)
    }

    async fn past(&self, said: &Value) -> Option<Past> {
        let ts = said["ts"].as_str().filter(|ts| is_timestamp(ts))?;
        let user = said["user"].as_str();
        let own = match self.me().await {
            Ok(me) => {
                let bot = said["bot_id"].as_str();
                user == Some(&me.user_id) || (bot.is_some() && bot == me.bot_id.as_deref())
            }
            Err(_) => false,
        };
        let sender = match user {
            Some(user) => self.person(user).await.map(|person| person.shown.clone()),
            None => said["username"].as_str().map(str::to_owned),
        };
        let mut text = self
            .readable(said["text"].as_str().unwrap_or_default(), None)
            .await;
        for file in event::files(&said["files"]) {
            let blank = if text.is_empty() { "" } else { "\n" };
            text.push_str(&format!("{blank}[file: {}]", file.name));
        }
        Some(Past {
            message_id: ts.to_owned(),
            sender: sender.or_else(|| user.map(str::to_owned)),
            own,
            text,
            at: instant(ts),
        })
    }

    /// Fetches a file of a message: by name, by number from 1 on, or the only one.
    async fn attached(
        &self,
        channel: &str,
        ts: &str,
        wanted: Option<&str>,
    ) -> Result<File, SurfaceError> {
        let arguments = [
            ("channel", channel),
            ("ts", ts),
            ("oldest", ts),
            ("latest", ts),
            ("inclusive", "true"),
            ("limit", "10"),
        ];
        let body = self.call("conversations.replies", &arguments).await?;
        let mut messages = body["messages"].as_array().into_iter().flatten();
        let found = messages.find(|said| said["ts"].as_str() == Some(ts));
        let files = event::files(found.map_or(&Value::Null, |said| &said["files"]));
        let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
        let number = wanted.and_then(|wanted| wanted.trim().parse::<usize>().ok());
        let place = match wanted {
            None if files.len() == 1 => Some(0),
            None => None,
            Some(wanted) => names
                .iter()
                .position(|name| *name == wanted)
                .or_else(|| number?.checked_sub(1)),
        };
        let Some(facts) = place.and_then(|place| files.get(place)) else {
            return Err(SurfaceError::never(match names.len() {
                0 => "No file hangs on that message.".to_owned(),
                _ => format!("Say which file: `{}`.", names.join("`, `")),
            }));
        };
        let facts = self.completed(facts).await;
        let bytes = self.fetch(&facts).await?;
        let plain = "application/octet-stream";
        Ok(File {
            mime: facts.mime.unwrap_or_else(|| plain.to_owned()),
            name: facts.name,
            bytes: bytes.into(),
        })
    }

    async fn other(
        &self,
        channel: &str,
        name: &str,
        fields: &BTreeMap<String, Value>,
    ) -> Result<Done, SurfaceError> {
        let field = |key: &str| fields.get(key).and_then(Value::as_str);
        let about = || match field("messageId") {
            Some(id) => message(id),
            None => Err(SurfaceError::never(format!("`{name}` needs `messageId`."))),
        };
        let value = match name {
            "delete" => {
                let arguments = [("channel", channel), ("ts", about()?)];
                self.call("chat.delete", &arguments).await?;
                return Ok(Done::Done);
            }
            "pin" | "unpin" => {
                let arguments = [("channel", channel), ("timestamp", about()?)];
                let (method, is_so) = match name {
                    "pin" => ("pins.add", "already_pinned"),
                    _ => ("pins.remove", "no_pin"),
                };
                match self.call(method, &arguments).await {
                    Err(error) if error.code() != Some(is_so) => return Err(error.into()),
                    _ => return Ok(Done::Done),
                }
            }
            "list-pins" => {
                let body = self.call("pins.list", &[("channel", channel)]).await?;
                let items = body["items"].as_array().into_iter().flatten();
                let mut pins = Vec::new();
                for said in items.take(100).map(|item| &item["message"]) {
                    pins.extend(self.past(said).await);
                }
                json!({"pins": pins})
            }
            "thread-list" => json!({"threads": self.threads_in(channel).await?}),
            "reactions" => {
                let arguments = [
                    ("channel", channel),
                    ("timestamp", about()?),
                    ("full", "true"),
                ];
                let body = self.call("reactions.get", &arguments).await?;
                json!({"reactions": body["message"]["reactions"]})
            }
            "member-info" => {
                let id = field("userId").or_else(|| field("target"));
                let Some(id) = id.filter(|id| is_id(id)) else {
                    let message = "`member-info` needs `userId`, such as `U012AB3CD`.";
                    return Err(SurfaceError::never(message));
                };
                let body = self.call("users.info", &[("user", id)]).await?;
                let (user, profile) = (&body["user"], &body["user"]["profile"]);
                json!({
                    "id": id, "name": user["name"], "realName": user["real_name"],
                    "displayName": profile["display_name"], "title": profile["title"],
                    "isBot": user["is_bot"], "deleted": user["deleted"], "timeZone": user["tz"],
                })
            }
            "emoji-list" => {
                let body = self.call("emoji.list", &[]).await?;
                let emoji = body["emoji"].as_object();
                let mut names: Vec<&String> =
                    emoji.into_iter().flat_map(|all| all.keys()).collect();
                names.sort_unstable();
                names.truncate(MOST_EMOJI);
                json!({"emoji": names})
            }
            _ => return Err(SurfaceError::unsupported(name)),
        };
        Ok(Done::Other { value })
    }

    /// Lists the threads among the newest messages of a channel.
    async fn threads_in(&self, channel: &str) -> Result<Vec<Value>, CallError> {
        let arguments = [("channel", channel), ("limit", "100")];
        let body = self.call("conversations.history", &arguments).await?;
        let messages = body["messages"].as_array().into_iter().flatten();
        let mut threads = Vec::new();
        for said in messages.filter(|said| said["reply_count"].as_u64() > Some(0)) {
            if let Some(past) = self.past(said).await {
                threads.push(json!({
                    "threadId": past.message_id, "sender": past.sender, "text": past.text, "at": past.at,
                    "replies": said["reply_count"], "latestReply": said["latest_reply"],
                }));
            }
        }
        Ok(threads)
    }
}

/// Checks the name of a message.
fn message(id: &str) -> Result<&str, SurfaceError> {
    let id = id.trim();
    if is_timestamp(id) {
        return Ok(id);
    }
    Err(SurfaceError::never(format!(
        "`{id}` is no message on Slack. Messages look like `1700000000.000100`."
    )))
}

/// Returns when a message was written, as an ISO instant.
fn instant(ts: &str) -> Option<String> {
    let seconds = ts.split('.').next()?.parse().ok()?;
    let at = jiff::Timestamp::from_second(seconds).ok()?;
    Some(at.to_string())
}
