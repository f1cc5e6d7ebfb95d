//! Messages and files on their way out.

use crate::account::Account;
use crate::compat::MAX_FILES;
use crate::event::{is_id, is_timestamp};
use crate::mrkdwn::harmless;
use crate::receive::message_name;
use crate::web::CallError;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chitin_gateway::surface::OutgoingFile;
use chitin_gateway::{Address, OutgoingMessage, Sent, SurfaceError};
use chitin_protocol::message::ImageBlock;
use chitin_protocol::session_key::ChatType;
use serde_json::{Value, json};

impl Account {
    /// Sends a message. A key that was sent before is not sent again.
    pub(crate) async fn say(
        &self,
        to: &Address,
        message: &OutgoingMessage,
    ) -> Result<Sent, SurfaceError> {
        let files = self.files_of(message)?;
        let text = message.text.trim();
        if text.is_empty() && files.is_empty() {
            return Err(SurfaceError::never("The message says nothing."));
        }
        let channel = self.channel_of(to).await?;
        let thread = thread_of(to, message)?;
        let mut sent = self.sent.get(&message.key);
        if sent.is_none() && !text.is_empty() {
            let ts = self.post(&channel, thread, &message.text).await?;
            self.sent.put(message.key.clone(), ts.clone());
            sent = Some(ts);
        }
        if !files.is_empty() {
            let name = format!("{} files", message.key);
            let mut shared = self.sent.get(&name);
            if shared.is_none() {
                let made = self.share(&channel, thread, &files).await?;
                self.sent.put(name, made.clone());
                shared = Some(made);
            }
            sent = sent.or(shared);
        }
        let message_id = sent.unwrap_or_default();
        if let Some(thread) = thread {
            self.threads.put(message_name(&channel, thread), true);
        } else {
            self.threads.put(message_name(&channel, &message_id), true);
        }
        Ok(Sent { message_id })
    }

    /// Posts a text and returns the time of the message.
    pub(crate) async fn post(
        &self,
        channel: &str,
        thread: Option<&str>,
        text: &str,
    ) -> Result<String, CallError> {
        let text = harmless(text);
        let mut arguments = vec![
            ("channel", channel),
            ("text", &text),
            ("unfurl_links", "false"),
            ("unfurl_media", "false"),
        ];
        arguments.extend(thread.map(|thread| ("thread_ts", thread)));
        let body = self.call("chat.postMessage", &arguments).await?;
        let ts = body["ts"].as_str().filter(|ts| is_timestamp(ts));
        ts.map(str::to_owned)
            .ok_or_else(|| CallError::odd("chat.postMessage", "Slack does not name the message"))
    }

    /// Uploads files and shows them; returns the time of their message, or the name of the first.
    async fn share(
        &self,
        channel: &str,
        thread: Option<&str>,
        files: &[OutgoingFile],
    ) -> Result<String, CallError> {
        let mut uploaded: Vec<Value> = Vec::new();
        for file in files {
            let length = file.bytes.len().to_string();
            let arguments = [("filename", file.name.as_str()), ("length", &length)];
            let body = self.call("files.getUploadURLExternal", &arguments).await?;
            let (Some(url), Some(id)) = (body["upload_url"].as_str(), body["file_id"].as_str())
            else {
                let reason = "Slack does not say where files go";
                return Err(CallError::odd("files.getUploadURLExternal", reason));
            };
            self.web.upload(url, &file.bytes).await?;
            uploaded.push(json!({"id": id, "title": file.name}));
        }
        let list = Value::Array(uploaded).to_string();
        let mut arguments = vec![("files", list.as_str()), ("channel_id", channel)];
        arguments.extend(thread.map(|thread| ("thread_ts", thread)));
        let body = self
            .call("files.completeUploadExternal", &arguments)
            .await?;
        let first = &body["files"][0];
        let ts = ["public", "private"]
            .iter()
            .find_map(|kind| first["shares"][kind][channel][0]["ts"].as_str());
        Ok(ts
            .or_else(|| first["id"].as_str())
            .unwrap_or_default()
            .to_owned())
    }

    /// Returns the files of a message, pictures among them, if they may be sent.
    fn files_of(&self, message: &OutgoingMessage) -> Result<Vec<OutgoingFile>, SurfaceError> {
        let mut files = message.files.clone();
        for (number, image) in message.images.iter().enumerate() {
            files.push(picture(image, number + 1)?);
        }
        if files.len() > MAX_FILES {
            let count = files.len();
            return Err(SurfaceError::never(format!(
                "The message has {count} files; {MAX_FILES} go with one message."
            )));
        }
        let most = self.settings.media_max;
        for file in &files {
            let bytes = file.bytes.len();
            if bytes > most {
                return Err(SurfaceError::never(format!(
                    "The file `{}` has {bytes} bytes; `mediaMaxMb` allows {most}.",
                    file.name
                )));
            }
            if bytes == 0 {
                let name = &file.name;
                let message = format!("The file `{name}` is empty, and Slack takes no such file.");
                return Err(SurfaceError::never(message));
            }
        }
        Ok(files)
    }

    /// Returns the channel of a place. A conversation with a person is opened.
    pub(crate) async fn channel_of(&self, to: &Address) -> Result<String, SurfaceError> {
        let id = to.peer.id.trim().to_ascii_uppercase();
        if !is_id(&id) {
            return Err(SurfaceError::never(format!(
                "`{}` is no id on Slack. Ids look like `C012AB3CD` and `U012AB3CD`.",
                to.peer.id
            )));
        }
        let is_person = matches!(id.as_bytes().first(), Some(b'U' | b'W'));
        match to.peer.kind {
            ChatType::Direct if is_person => {}
            ChatType::Direct | ChatType::Group | ChatType::Channel => return Ok(id),
        }
        if let Some(channel) = self.direct.get(&id) {
            return Ok(channel);
        }
        let body = self.call("conversations.open", &[("users", &id)]).await?;
        let channel = body["channel"]["id"].as_str().filter(|id| is_id(id));
        let Some(channel) = channel else {
            return Err(CallError::odd("conversations.open", "Slack names no conversation").into());
        };
        self.direct.put(id, channel.to_owned());
        Ok(channel.to_owned())
    }
}

/// Returns the thread that a message goes to: the one of its place, or the replies to the message that it answers.
fn thread_of<'a>(
    to: &'a Address,
    message: &'a OutgoingMessage,
) -> Result<Option<&'a str>, SurfaceError> {
    let thread = to.thread_id.as_deref().or(message.reply_to.as_deref());
    match thread {
        Some(thread) if !is_timestamp(thread) => Err(SurfaceError::never(format!(
            "`{thread}` is no message on Slack. Messages look like `1700000000.000100`."
        ))),
        thread => Ok(thread),
    }
}

fn picture(image: &ImageBlock, number: usize) -> Result<OutgoingFile, SurfaceError> {
    let bytes = STANDARD
        .decode(&image.data)
        .map_err(|_| SurfaceError::never("A picture is no base 64."))?;
    let kind = match image.mime_type.as_str() {
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        _ => "png",
    };
    Ok(OutgoingFile {
        name: format!("picture-{number}.{kind}"),
        mime: image.mime_type.clone(),
        bytes: bytes.into(),
    })
}
