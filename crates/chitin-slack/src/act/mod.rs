//! What else can be done on Slack: change, react, read, threads, pins, and what is known of people.

mod read;

use crate::account::Account;
use crate::emoji;
use crate::event::{self, is_id, is_timestamp};
use crate::mrkdwn::harmless;
use crate::receive::message_name;
use chitin_gateway::surface::{OutgoingFile, SurfaceAction, SurfaceOutcome};
use chitin_gateway::{Address, SurfaceError};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The most emoji that are listed.
const MOST_EMOJI: usize = 500;

impl Account {
    /// Does something that is no message.
    pub(crate) async fn act(
        &self,
        to: &Address,
        action: &SurfaceAction,
    ) -> Result<SurfaceOutcome, SurfaceError> {
        let allowed = self.settings.actions().any(|name| name == action.name());
        if !allowed {
            return Err(SurfaceError::unsupported(action.name()));
        }
        let channel = self.channel_of(to).await?;
        match action {
            SurfaceAction::Edit { message_id, text } => {
                let text = harmless(text);
                let arguments = [
                    ("channel", channel.as_str()),
                    ("ts", message(message_id)?),
                    ("text", &text),
                ];
                self.call("chat.update", &arguments).await?;
                Ok(SurfaceOutcome::Done)
            }
            SurfaceAction::React {
                message_id,
                emoji,
                remove,
            } => {
                self.react(&channel, message(message_id)?, emoji, *remove)
                    .await
            }
            SurfaceAction::ThreadCreate {
                name, message_id, ..
            } => {
                // A thread is the replies to a message; without one, the name becomes the message.
                let thread = match message_id {
                    Some(id) => message(id)?.to_owned(),
                    None => self.post(&channel, None, name).await?,
                };
                self.threads.put(message_name(&channel, &thread), true);
                Ok(SurfaceOutcome::Thread {
                    address: Address {
                        thread_id: Some(thread),
                        ..to.clone()
                    },
                })
            }
            SurfaceAction::Read { limit, before } => {
                let messages = self
                    .read(&channel, to.thread_id.as_deref(), *limit, before.as_deref())
                    .await?;
                Ok(SurfaceOutcome::Said { messages })
            }
            SurfaceAction::Download { message_id, file } => {
                let file = self
                    .attached(&channel, message(message_id)?, file.as_deref())
                    .await?;
                Ok(SurfaceOutcome::File { file })
            }
            SurfaceAction::Typing => Err(SurfaceError::unsupported("typing")),
            SurfaceAction::Other { name, fields } => self.other(&channel, name, fields).await,
        }
    }

    async fn react(
        &self,
        channel: &str,
        ts: &str,
        sign: &str,
        remove: bool,
    ) -> Result<SurfaceOutcome, SurfaceError> {
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
            Ok(_) => Ok(SurfaceOutcome::Done),
            // It is as it was to be.
            Err(error) if matches!(error.code(), Some("already_reacted")) => {
                Ok(SurfaceOutcome::Done)
            }
            Err(error) if remove && error.code() == Some("no_reaction") => Ok(SurfaceOutcome::Done),
            Err(error) => Err(error.into()),
        }
    }

    /// Fetches a file of a message: by name, by number from 1 on, or the only one.
    async fn attached(
        &self,
        channel: &str,
        ts: &str,
        wanted: Option<&str>,
    ) -> Result<OutgoingFile, SurfaceError> {
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
        Ok(OutgoingFile {
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
    ) -> Result<SurfaceOutcome, SurfaceError> {
        let field = |key: &str| fields.get(key).and_then(Value::as_str);
        let about = || match field("messageId") {
            Some(id) => message(id),
            None => Err(SurfaceError::never(format!("`{name}` needs `messageId`."))),
        };
        let value = match name {
            "delete" => {
                let arguments = [("channel", channel), ("ts", about()?)];
                self.call("chat.delete", &arguments).await?;
                return Ok(SurfaceOutcome::Done);
            }
            "pin" | "unpin" => {
                let arguments = [("channel", channel), ("timestamp", about()?)];
                let (method, is_so) = match name {
                    "pin" => ("pins.add", "already_pinned"),
                    _ => ("pins.remove", "no_pin"),
                };
                match self.call(method, &arguments).await {
                    Err(error) if error.code() != Some(is_so) => return Err(error.into()),
                    _ => return Ok(SurfaceOutcome::Done),
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
        Ok(SurfaceOutcome::Other { value })
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
