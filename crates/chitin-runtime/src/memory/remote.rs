//! Vectors over the network, from a provider that somebody named.

use crate::host::Host;
use crate::models::trusting;
use crate::setup::Setup;
use chitin_memory::embed::{EmbedError, Embedder, Purpose};
use chitin_model::ModelError;
use chitin_model::embeddings::{BlockingEmbedder, EmbeddingOptions, RemoteEmbedder};
use chitin_model::providers::{Sources, resolve};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

/// The model of a provider that has a usual one.
const USUAL_MODELS: [(&str, &str); 2] = [
    ("openai", "text-embedding-3-small"),
    ("ollama", "nomic-embed-text"),
];

/// Opens a provider. Nothing is sent yet. A runtime must be running.
pub(super) fn open(
    host: &Arc<Host>,
    setup: &Setup,
    provider: &str,
    model: Option<&str>,
    remote: &Value,
) -> Result<Arc<dyn Embedder>, String> {
    let usual = || {
        let known = USUAL_MODELS.iter().find(|(id, _)| *id == provider);
        known.map(|(_, model)| *model)
    };
    let model = model
        .or_else(usual)
        .ok_or_else(|| format!("no model of `{provider}` is named (`embeddings.model`)"))?;
    let variables = |name: &str| host.env.get(name).map(str::to_owned);
    let sources = Sources {
        settings: &setup.configuration.providers,
        openclaw: setup.configuration.value().get("models"),
        variables: &variables,
        directory: host.env.working_directory(),
        home: host.env.get("HOME").map(Path::new),
    };
    let name = match model.strip_prefix(provider) {
        Some(rest) if rest.starts_with('/') => model.to_owned(),
        Some(_) | None => format!("{provider}/{model}"),
    };
    let resolved = resolve(&name, &sources).map_err(|error| error.to_string())?;
    let mut resolved = trusting(resolved, host);
    if let Some(endpoint) = &mut resolved.endpoint {
        if let Some(base) = remote["baseUrl"].as_str() {
            base.clone_into(&mut endpoint.base_url);
        }
        if let Some(key) = remote["apiKey"].as_str() {
            endpoint.key = Some(key.to_owned().into());
        }
    }
    let embedder = RemoteEmbedder::resolved(resolved, EmbeddingOptions::default())
        .map_err(|error| error.to_string())?;
    let runtime =
        Handle::try_current().map_err(|_| "this command does not use the network".to_owned())?;
    Ok(Arc::new(Remote {
        id: name,
        inner: BlockingEmbedder::new(Arc::new(embedder), runtime, CancellationToken::new()),
    }))
}

struct Remote {
    id: String,
    inner: BlockingEmbedder,
}

impl Embedder for Remote {
    fn name(&self) -> &str {
        &self.id
    }

    fn dimensions(&self) -> Option<usize> {
        None
    }

    fn batch(&self) -> usize {
        EmbeddingOptions::default().most_texts
    }

    fn embed(&self, texts: &[&str], _purpose: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.inner.embed(texts).map_err(|error| EmbedError {
            passing: !matches!(error, ModelError::Unbuildable(_)),
            message: error.to_string(),
        })
    }
}
