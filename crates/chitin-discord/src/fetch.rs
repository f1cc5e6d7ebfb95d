//! Files that hang on messages: where they may be fetched from, and what they are.

use crate::compat::FILE_HOSTS;
use crate::rest::{Fault, limited, of_network};
use crate::settings::Url;
use reqwest::Client;
use serde_json::Value;
use std::time::Duration;

/// How long a file may take.
const LONGEST: Duration = Duration::from_secs(30);

/// Fetches files. The token never goes with such a request.
pub(crate) struct Files {
    client: Client,
    /// The proxy, which may have files too.
    own: Option<Url>,
}

impl Files {
    pub(crate) fn new(client: Client, own: Option<Url>) -> Self {
        Self { client, own }
    }

    /// Fetches a file of at most so many bytes. Only from where Discord keeps its files: a message must not make us call anybody else.
    pub(crate) async fn get(&self, url: &str, most: usize) -> Result<Vec<u8>, Fault> {
        let Some(url) = self.allowed(url) else {
            return Err(Fault::of(403, &Value::Null));
        };
        let response = self.client.get(url).timeout(LONGEST).send().await;
        let response = response.map_err(|error| of_network(&error))?;
        let status = response.status().as_u16();
        if status != 200 {
            return Err(Fault::of(status, &Value::Null));
        }
        limited(response, most).await
    }

    fn allowed(&self, url: &str) -> Option<reqwest::Url> {
        let url = reqwest::Url::parse(url).ok()?;
        let host = url.host_str()?;
        let discord = url.scheme() == "https" && url.port().is_none() && FILE_HOSTS.contains(&host);
        let own = self.own.as_ref().is_some_and(|own| {
            let port = url
                .port()
                .map_or_else(String::new, |port| format!(":{port}"));
            own.scheme == url.scheme() && own.authority == format!("{host}{port}")
        });
        (discord || own).then_some(url)
    }
}

/// Tells whether a file says that it is a picture.
pub(crate) fn says_picture(name: &str, mime: Option<&str>) -> bool {
    let ending = [".png", ".jpg", ".jpeg", ".gif", ".webp"];
    let name = name.to_lowercase();
    mime.is_some_and(|mime| mime.starts_with("image/"))
        || ending.iter().any(|ending| name.ends_with(ending))
}

/// Tells whether a file says that it is text.
pub(crate) fn says_text(name: &str, mime: Option<&str>) -> bool {
    const MIMES: [&str; 6] = [
        "application/json",
        "application/xml",
        "application/yaml",
        "application/x-yaml",
        "application/toml",
        "application/javascript",
    ];
    const ENDINGS: [&str; 12] = [
        ".txt", ".md", ".json", ".yaml", ".yml", ".toml", ".csv", ".log", ".rs", ".py", ".ts",
        ".sh",
    ];
    let mime = mime.map(|mime| mime.split(';').next().unwrap_or_default().trim());
    let name = name.to_lowercase();
    mime.is_some_and(|mime| mime.starts_with("text/") || MIMES.contains(&mime))
        || ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Returns bytes as text, if they are some.
pub(crate) fn text(bytes: Vec<u8>) -> Option<String> {
    let text = String::from_utf8(bytes).ok()?;
    (!text.contains('\0')).then_some(text)
}
