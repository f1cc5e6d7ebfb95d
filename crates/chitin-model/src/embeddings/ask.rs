//! One request for vectors, and its answer.

use super::{EmbeddingApi, RemoteEmbedder, answer};
use crate::error::ModelError;
use crate::http::{LONGEST_ERROR, USER_AGENT, header_name, header_value, reason, timed_out};
use crate::retry::retry_after;
use crate::wire;
use bytes::{Bytes, BytesMut};
use chitin_protocol::settings::KeyHeaderSetting;
use reqwest::header::HeaderMap;
use reqwest::{Response, StatusCode};
use secrecy::ExposeSecret;
use serde::Serialize;

/// No answer is larger: a hundred vectors of the longest kind, written out at length.
const LONGEST_ANSWER: usize = 32 << 20;

/// What both formats take; `encoding_format` and `dimensions` are OpenAI's, and the latter Ollama's too.
#[derive(Serialize)]
struct Body<'b> {
    model: &'b str,
    input: &'b [&'b str],
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding_format: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<usize>,
}

impl RemoteEmbedder {
    /// Asks once.
    pub(super) async fn ask(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        let body = Body {
            model: &self.model,
            input: texts,
            encoding_format: match self.api {
                EmbeddingApi::Openai => Some("float"),
                EmbeddingApi::Ollama => None,
            },
            dimensions: self.options.dimensions,
        };
        let body = serde_json::to_vec(&body)
            .map_err(|error| ModelError::Unbuildable(error.to_string()))?;
        let times = self.endpoint.timeouts;
        let sending = self
            .client()?
            .post(url(self.api, &self.endpoint.base_url))
            .headers(self.headers()?)
            .body(body)
            .send();
        let response = match tokio::time::timeout(times.first_byte, sending).await {
            Err(_) => return Err(timed_out(&self.provider, times.first_byte)),
            Ok(Err(error)) if error.is_timeout() => {
                return Err(timed_out(&self.provider, times.connect));
            }
            Ok(Err(error)) => return Err(self.unreachable(error)),
            Ok(Ok(response)) => response,
        };
        let status = response.status();
        if status != StatusCode::OK {
            let wait = retry_after(|name| response.headers().get(name)?.to_str().ok());
            // As much of it as comes: the status has said the most.
            let body = match self.read(response, LONGEST_ERROR).await {
                Ok(body) => self.secrets.hide_bytes(body),
                Err(_) => Bytes::new(),
            };
            return Err(wire::classify(status.as_u16(), wait, &body, &self.provider));
        }
        let body = self.read(response, LONGEST_ANSWER).await?;
        let vectors = answer::read(self.api, &body, texts.len(), self.dimensions())
            .map_err(|message| self.malformed(message))?;
        if let Some(first) = vectors.first() {
            let length = first.len();
            // Another request may have been quicker: then its answer counts.
            if *self.dimensions.get_or_init(|| length) != length {
                return Err(self.malformed("vectors of two lengths".to_owned()));
            }
        }
        Ok(vectors)
    }

    /// Reads a body up to a bound.
    async fn read(&self, mut response: Response, most: usize) -> Result<Bytes, ModelError> {
        let idle = self.endpoint.timeouts.idle;
        let mut body = BytesMut::new();
        loop {
            match tokio::time::timeout(idle, response.chunk()).await {
                Err(_) => return Err(timed_out(&self.provider, idle)),
                Ok(Err(error)) => return Err(self.unreachable(error)),
                Ok(Ok(None)) => return Ok(body.freeze()),
                Ok(Ok(Some(bytes))) => body.extend_from_slice(&bytes),
            }
            if body.len() > most {
                return Err(self.malformed(format!("the answer has more than {most} bytes")));
            }
        }
    }

    /// Returns all headers, secrets marked as such.
    fn headers(&self) -> Result<HeaderMap, ModelError> {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("content-type", "application/json"),
            ("accept", "application/json"),
            ("user-agent", USER_AGENT),
        ] {
            headers.insert(header_name(name)?, header_value(name, value)?);
        }
        let bearer = match (&self.endpoint.key, self.endpoint.key_header) {
            (None, _) | (_, KeyHeaderSetting::None) => None,
            (Some(key), KeyHeaderSetting::Bearer | KeyHeaderSetting::Native) => {
                Some(format!("Bearer {}", key.expose_secret()))
            }
        };
        let own = self.endpoint.headers.iter();
        let own = own.map(|(name, value)| (name.as_str(), value.expose_secret()));
        let bearer = bearer.as_deref().map(|value| ("authorization", value));
        for (name, value) in own.chain(bearer) {
            let mut shown = header_value(name, value)?;
            shown.set_sensitive(true);
            headers.insert(header_name(name)?, shown);
        }
        Ok(headers)
    }

    fn unreachable(&self, error: reqwest::Error) -> ModelError {
        ModelError::Unreachable {
            provider: self.provider.clone(),
            message: format!("`{}`: {}", self.endpoint.origin(), reason(error)),
        }
    }

    fn malformed(&self, message: String) -> ModelError {
        ModelError::Malformed {
            provider: self.provider.clone(),
            message,
        }
    }
}

/// Puts the format's path behind the base. As for chats, users write base addresses with and without `/v1`.
fn url(api: EmbeddingApi, base_url: &str) -> String {
    let (base, query) = match base_url.split_once('?') {
        Some((base, query)) => (base, format!("?{query}")),
        None => (base_url, String::new()),
    };
    let base = base.trim().trim_end_matches('/');
    let has_path = base
        .split_once("://")
        .is_some_and(|(_, rest)| rest.contains('/'));
    match api {
        EmbeddingApi::Openai if has_path => format!("{base}/embeddings{query}"),
        EmbeddingApi::Openai => format!("{base}/v1/embeddings{query}"),
        EmbeddingApi::Ollama => {
            format!(
                "{}/api/embed{query}",
                base.strip_suffix("/v1").unwrap_or(base)
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_addresses_may_be_written_with_and_without_a_version() {
        for (api, base, address) in [
            (
                EmbeddingApi::Openai,
                "https://a.example",
                "https://a.example/v1/embeddings",
            ),
            (
                EmbeddingApi::Openai,
                "https://a.example/v1/",
                "https://a.example/v1/embeddings",
            ),
            (
                EmbeddingApi::Openai,
                "https://a.example/x?v=2",
                "https://a.example/x/embeddings?v=2",
            ),
            (
                EmbeddingApi::Ollama,
                "http://a.example:1/v1",
                "http://a.example:1/api/embed",
            ),
            (
                EmbeddingApi::Ollama,
                "http://a.example:1",
                "http://a.example:1/api/embed",
            ),
        ] {
            assert_eq!(url(api, base), address);
        }
    }
}
