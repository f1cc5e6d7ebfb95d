//! Texts in, vectors out, by a model behind HTTP.
//!
//! Two wire formats: OpenAI's `embeddings`, which most servers speak, and Ollama's `embed`. Texts are cut to what the model takes,
//! sent in bounded batches, asked for again when that may help, and what comes back is checked before it is used.

mod answer;
mod ask;
mod batch;
mod blocking;

pub use blocking::BlockingEmbedder;

use crate::error::ModelError;
use crate::http::secrets::Secrets;
use crate::http::{ModelEndpoint, make_client};
use crate::providers::ResolvedModel;
use crate::request::Api;
use crate::retry::RetryPolicy;
use batch::Part;
use reqwest::Client;
use std::fmt;
use std::sync::OnceLock;
use tokio_util::sync::CancellationToken;

/// How texts and vectors are written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbeddingApi {
    /// `POST <base>/embeddings`.
    Openai,
    /// `POST <base>/api/embed`.
    Ollama,
}

impl EmbeddingApi {
    /// Returns how the provider of a wire format embeds, if it does.
    pub const fn of(api: Api) -> Option<Self> {
        match api {
            Api::OpenaiCompletions | Api::OpenaiResponses => Some(Self::Openai),
            Api::Ollama => Some(Self::Ollama),
            Api::AnthropicMessages | Api::Offline | Api::Scripted => None,
        }
    }
}

/// How a model is asked for vectors.
#[derive(Debug, Clone)]
pub struct EmbeddingOptions {
    /// How many texts a request has at most.
    pub most_texts: usize,
    /// How many tokens, by estimate, a request has at most.
    pub most_tokens: usize,
    /// How many tokens, by estimate, a text has at most; the rest of a longer one is left out.
    pub longest_text: usize,
    /// How many numbers a vector shall have; what the model gives by itself if nothing is said.
    pub dimensions: Option<usize>,
    /// How often, and when, to ask again.
    pub retry: RetryPolicy,
}

impl Default for EmbeddingOptions {
    fn default() -> Self {
        Self {
            most_texts: 96,
            most_tokens: 8000,
            longest_text: 8000,
            dimensions: None,
            retry: RetryPolicy::default(),
        }
    }
}

/// A model behind HTTP that embeds. Nothing is opened before it is first asked, and the key is never shown.
pub struct RemoteEmbedder {
    api: EmbeddingApi,
    provider: String,
    model: String,
    id: String,
    endpoint: ModelEndpoint,
    options: EmbeddingOptions,
    secrets: Secrets,
    client: OnceLock<Client>,
    /// How many numbers a vector has: all of a model have as many as the first.
    dimensions: OnceLock<usize>,
}

impl RemoteEmbedder {
    /// Makes an embedder. Nothing is opened yet.
    pub fn new(
        api: EmbeddingApi,
        provider: impl Into<String>,
        model: impl Into<String>,
        endpoint: ModelEndpoint,
        options: EmbeddingOptions,
    ) -> Result<Self, ModelError> {
        endpoint.check()?;
        let (provider, model) = (provider.into(), model.into());
        let dimensions = OnceLock::new();
        if let Some(told) = options.dimensions {
            let _ = dimensions.set(told);
        }
        Ok(Self {
            id: format!("{provider}/{model}"),
            secrets: Secrets::of(&endpoint),
            client: OnceLock::new(),
            api,
            provider,
            model,
            endpoint,
            options,
            dimensions,
        })
    }

    /// Makes an embedder of what [`crate::providers::resolve`] found, such as `openai/text-embedding-3-small`.
    pub fn resolved(model: ResolvedModel, options: EmbeddingOptions) -> Result<Self, ModelError> {
        let (Some(api), Some(endpoint)) = (EmbeddingApi::of(model.api), model.endpoint) else {
            return Err(ModelError::Unbuildable(format!(
                "`{}` does not embed texts; providers that speak like OpenAI do, and Ollama",
                model.provider
            )));
        };
        Self::new(api, model.provider, model.name, endpoint, options)
    }

    /// Returns the full name of the model, such as `openai/text-embedding-3-small`.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns how many texts a request has at most.
    pub const fn most_texts(&self) -> usize {
        self.options.most_texts
    }

    /// Returns how many numbers a vector has, once that is known.
    pub fn dimensions(&self) -> Option<usize> {
        self.dimensions.get().copied()
    }

    /// Returns one vector per text, in order, each of length 1.
    ///
    /// A blank text is not sent: its vector is zeros, or empty as long as no vector has come at all. When the server says that it is
    /// too much, less is sent at once, and then less of each text: no long text stands in the way of all others. Dropping the future
    /// stops the request that is under way; nothing is kept of those that were answered.
    pub async fn embed(
        &self,
        texts: &[&str],
        cancel: &CancellationToken,
    ) -> Result<Vec<Vec<f32>>, ModelError> {
        let cut: Vec<&str> = texts
            .iter()
            .map(|text| batch::cut(text, self.options.longest_text))
            .collect();
        let sent: Vec<&str> = cut
            .iter()
            .copied()
            .filter(|text| !batch::is_blank(text))
            .collect();
        let mut vectors = Vec::with_capacity(sent.len());
        let mut parts: Vec<Part> =
            batch::batches(&sent, self.options.most_texts, self.options.most_tokens)
                .into_iter()
                .rev()
                .map(|texts| Part {
                    texts,
                    longest: self.options.longest_text,
                })
                .collect();
        while let Some(part) = parts.pop() {
            let texts: Vec<&str> = sent
                .get(part.texts.clone())
                .unwrap_or_default()
                .iter()
                .map(|text| batch::cut(text, part.longest))
                .collect();
            let asked = tokio::select! {
                biased;
                () = cancel.cancelled() => Err(ModelError::Cancelled),
                asked = self.ask_patiently(&texts) => asked,
            };
            match asked {
                Ok(more) => vectors.extend(more),
                Err(error) => {
                    let smaller = matches!(error, ModelError::TooLong { .. })
                        .then(|| part.smaller(&texts))
                        .flatten()
                        .ok_or_else(|| self.secrets.hide_in(error))?;
                    parts.extend(smaller.into_iter().rev());
                }
            }
        }
        let mut vectors = vectors.into_iter();
        let blank = vec![0.0; self.dimensions().unwrap_or_default()];
        let in_order = cut.iter().map(|text| {
            let vector = (!batch::is_blank(text)).then(|| vectors.next()).flatten();
            vector.unwrap_or_else(|| blank.clone())
        });
        Ok(in_order.collect())
    }

    /// Asks for some vectors, and again if that may help.
    async fn ask_patiently(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        let mut tried = 0;
        loop {
            let error = match self.ask(texts).await {
                Ok(vectors) => return Ok(vectors),
                Err(error) => error,
            };
            tried += 1;
            match self.options.retry.wait(tried, &error) {
                Some(wait) => tokio::time::sleep(wait).await,
                None => return Err(error),
            }
        }
    }

    fn client(&self) -> Result<&Client, ModelError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let made = make_client(&self.endpoint).map_err(ModelError::Unbuildable)?;
        Ok(self.client.get_or_init(|| made))
    }
}

impl fmt::Debug for RemoteEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteEmbedder")
            .field("api", &self.api)
            .field("id", &self.id)
            .field("endpoint", &self.endpoint)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
