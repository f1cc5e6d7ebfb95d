//! What `openclaw.json` says about a provider: `models.providers.<id>`.

use crate::request::Api;
use serde_json::Value;

/// A provider of `openclaw.json`.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenclawProvider<'a> {
    provider: &'a Value,
    model: Option<&'a Value>,
}

impl<'a> OpenclawProvider<'a> {
    /// Finds a provider in the `models` object.
    pub(super) fn find(models: Option<&'a Value>, provider: &str, name: &str) -> Option<Self> {
        let provider = models?.get("providers")?.get(provider)?;
        provider.as_object()?;
        let listed = provider.get("models").and_then(Value::as_array);
        let model = listed.into_iter().flatten().find(|model| {
            let id = model.get("id").and_then(Value::as_str);
            id == Some(name)
        });
        Some(Self { provider, model })
    }

    /// Returns the names of all providers in the `models` object.
    pub(super) fn names(models: Option<&'a Value>) -> impl Iterator<Item = &'a str> {
        models
            .and_then(|models| models.get("providers")?.as_object())
            .into_iter()
            .flat_map(|providers| providers.keys().map(String::as_str))
    }

    pub(super) fn base_url(&self) -> Option<&'a str> {
        self.provider.get("baseUrl")?.as_str()
    }

    pub(super) fn key(&self) -> &'a Value {
        self.provider.get("apiKey").unwrap_or(&Value::Null)
    }

    /// Returns the wire format: the model's own, else the provider's.
    pub(super) fn api(&self) -> Option<&'a str> {
        self.model_value("api")
            .or_else(|| self.provider.get("api"))?
            .as_str()
    }

    /// Tells whether the key shall go as a bearer token.
    pub(super) fn wants_bearer(&self) -> bool {
        self.provider.get("authHeader") == Some(&Value::Bool(true))
    }

    /// Returns further headers, the provider's and then the model's. What is not text is left out.
    pub(super) fn headers(&self) -> Vec<(&'a str, &'a str)> {
        [self.provider.get("headers"), self.model_value("headers")]
            .into_iter()
            .filter_map(|headers| headers?.as_object())
            .flatten()
            .filter_map(|(name, value)| Some((&**name, value.as_str()?)))
            .collect()
    }

    pub(super) fn context_window(&self) -> Option<u64> {
        self.model_value("contextWindow")?.as_u64()
    }

    pub(super) fn max_tokens(&self) -> Option<u64> {
        self.model_value("maxTokens")?.as_u64()
    }

    fn model_value(&self, key: &str) -> Option<&'a Value> {
        self.model?.get(key)
    }
}

/// Returns the window that the `models` object of `openclaw.json` states for a model, `provider/name`.
pub fn stated_window(models: Option<&Value>, id: &str) -> Option<u64> {
    let (provider, name) = id.split_once('/')?;
    OpenclawProvider::find(models, provider, name)?.context_window()
}

/// Reads the name of a wire format that goes over HTTP.
pub(super) fn api(name: &str) -> Option<Api> {
    [
        Api::AnthropicMessages,
        Api::OpenaiCompletions,
        Api::OpenaiResponses,
        Api::Ollama,
    ]
    .into_iter()
    .find(|api| api.name() == name)
}
