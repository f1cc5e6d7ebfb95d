//! Files that hang on messages: pictures are looked at, short texts read, the rest told of.

use crate::account::Account;
use crate::event::{SlackFile, file};
use crate::web::CallError;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chitin_gateway::Hanging;
use chitin_protocol::message::ImageBlock;
use chitin_tools::files::picture;

/// The most files of one message that are fetched.
const MOST_FETCHED: usize = 8;
/// The longest text that is read with its message, in bytes.
const LONGEST_TEXT: u64 = 64 << 10;
/// Pictures that models can look at.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/// Texts besides `text/…`.
const TEXTS: [&str; 5] = [
    "application/json",
    "application/xml",
    "application/yaml",
    "application/x-yaml",
    "application/toml",
];

impl Account {
    /// Fetches what hangs on a message. What cannot be fetched is told of by its name.
    pub(crate) async fn look_at(&self, files: &[SlackFile]) -> (Vec<ImageBlock>, Vec<Hanging>) {
        let (mut pictures, mut others) = (Vec::new(), Vec::new());
        for (number, facts) in files.iter().enumerate() {
            let facts = self.completed(facts).await;
            let mime = facts.mime.as_deref().unwrap_or_default();
            let is_picture = PICTURES.contains(&mime);
            let is_text = mime.starts_with("text/") || TEXTS.contains(&mime);
            let fits = facts.bytes <= self.settings.media_max as u64;
            let wanted = is_picture || (is_text && facts.bytes <= LONGEST_TEXT);
            let mut hanging = Hanging {
                name: facts.name.clone(),
                mime: facts.mime.clone(),
                bytes: facts.bytes,
                text: None,
            };
            if number < MOST_FETCHED && wanted && fits {
                match self.fetch(&facts).await {
                    Ok(bytes) if is_text => hanging.text = String::from_utf8(bytes).ok(),
                    // Without rights Slack sends a page to log in.
                    Ok(bytes) => match picture(&bytes) {
                        Some(kind) => {
                            pictures.push(ImageBlock {
                                data: STANDARD.encode(&bytes),
                                mime_type: kind.to_owned(),
                                ..ImageBlock::default()
                            });
                            continue;
                        }
                        None => self.tell(&facts, "Slack sent something that is no picture"),
                    },
                    Err(error) => self.tell(&facts, &error.reason()),
                }
            } else if wanted && !fits {
                self.tell(&facts, "it is larger than `mediaMaxMb` allows");
            }
            others.push(hanging);
        }
        (pictures, others)
    }

    /// Fetches a file.
    pub(crate) async fn fetch(&self, facts: &SlackFile) -> Result<Vec<u8>, CallError> {
        let method = "files.info";
        let url = facts.url.as_deref();
        let url = url.ok_or_else(|| CallError::odd(method, "Slack does not say where it is"))?;
        self.web.download(url, self.settings.media_max).await
    }

    /// Returns the facts of a file; those that the message left out are asked for.
    pub(crate) async fn completed(&self, facts: &SlackFile) -> SlackFile {
        if facts.url.is_some() {
            return facts.clone();
        }
        let asked = self.call("files.info", &[("file", &facts.id)]).await;
        asked
            .ok()
            .and_then(|body| file(&body["file"]))
            .unwrap_or_else(|| facts.clone())
    }

    fn tell(&self, facts: &SlackFile, reason: &str) {
        (self.note)(&format!(
            "slack account `{}`: the file `{}` was not fetched: {reason}",
            self.id, facts.name
        ));
    }
}
