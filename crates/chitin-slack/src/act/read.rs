//! What was said: in a channel, in a thread, and which threads there are.

use super::message;
use crate::account::Account;
use crate::event::{self, is_timestamp};
use crate::web::CallError;
use chitin_gateway::SurfaceError;
use chitin_gateway::surface::PastMessage;
use serde_json::{Value, json};
use std::collections::VecDeque;

/// The most messages that are read at once.
const MOST_READ: u32 = 1_000;
/// How many messages Slack gives at once.
const PAGE: u32 = 200;
/// The most calls for one reading.
const MOST_PAGES: u32 = 10;

impl Account {
    /// Reads what was said, the newest last. Slack tells a thread from its beginning: it is read through, and the newest are kept.
    pub(super) async fn read(
        &self,
        channel: &str,
        thread: Option<&str>,
        limit: u32,
        before: Option<&str>,
    ) -> Result<Vec<PastMessage>, SurfaceError> {
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
                if thread.is_none() {
                    // The newest first, page by page.
                    kept.push_front(said.clone());
                    continue;
                }
                kept.push_back(said.clone());
                if kept.len() > limit as usize {
                    kept.pop_front();
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

    pub(super) async fn past(&self, said: &Value) -> Option<PastMessage> {
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
            if !text.is_empty() {
                text.push('\n');
            }
            text.extend(["[file: ", &file.name, "]"]);
        }
        Some(PastMessage {
            message_id: ts.to_owned(),
            sender: sender.or_else(|| user.map(str::to_owned)),
            own,
            text,
            at: instant(ts),
        })
    }

    /// Lists the threads among the newest messages of a channel.
    pub(super) async fn threads_in(&self, channel: &str) -> Result<Vec<Value>, CallError> {
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

/// Returns when a message was written, as an ISO instant.
fn instant(ts: &str) -> Option<String> {
    let seconds = ts.split('.').next()?.parse().ok()?;
    let at = jiff::Timestamp::from_second(seconds).ok()?;
    Some(at.to_string())
}
