//! From `provider/name` to a model that can be asked.

use super::address::base_url;
use super::openclaw::{self, OpenclawProvider};
use super::table::{self, Keys, Provider, TABLE};
use crate::error::ModelError;
use crate::http::{HttpModel, ModelEndpoint, ModelTimeouts};
use crate::keys::{self, FoundKey, KeyProblem, KeySource};
use crate::model::Model;
use crate::offline::OfflineModel;
use crate::replay::ReplayModel;
use crate::request::Api;
use crate::scripted::ScriptedModel;
use chitin_protocol::settings::{KeyHeaderSetting, ProviderSettings};
use secrecy::SecretString;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// What is known of providers from outside: everything is handed in.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    /// `providers` of `chitin.json5`.
    pub settings: &'a BTreeMap<String, ProviderSettings>,
    /// `models` of `openclaw.json`.
    pub openclaw: Option<&'a Value>,
    /// Looks an environment variable up.
    pub variables: keys::KeyVariables<'a>,
    /// What relative paths of key files, scripts and recordings start from.
    pub directory: &'a Path,
    /// What `~/` stands for.
    pub home: Option<&'a Path>,
}

impl std::fmt::Debug for Sources<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sources")
            .field("settings", &self.settings)
            .field("directory", &self.directory)
            .finish_non_exhaustive()
    }
}

impl Sources<'_> {
    /// Returns the path that a text names.
    pub(super) fn path(&self, text: &str) -> PathBuf {
        match (text.strip_prefix("~/"), self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            (Some(_) | None, _) => self.directory.join(text),
        }
    }
}

/// Everything that it takes to ask a model. It can be printed: secrets hide themselves.
#[derive(Debug, Clone)]
pub struct ResolvedModel {
    /// The provider.
    pub provider: String,
    /// The model's name at its provider.
    pub name: String,
    /// The wire format.
    pub api: Api,
    /// Where it is; models without a network have no such thing.
    pub endpoint: Option<ModelEndpoint>,
    /// The script or the recording of models that read one.
    pub file: Option<PathBuf>,
    /// Where the key came from.
    pub key_source: Option<KeySource>,
    /// How many tokens it takes in all, if `openclaw.json` says so.
    pub context_window: Option<u64>,
    /// How many tokens an answer has at most, if `openclaw.json` says so.
    pub max_tokens: Option<u64>,
}

/// A model that cannot be asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// There is no slash in it.
    #[error("`{0}` does not name a model: `provider/name` does")]
    NoProvider(String),
    /// Nobody knows the provider.
    #[error("the provider `{id}` is not known")]
    UnknownProvider {
        /// What was written.
        id: String,
        /// What was probably meant.
        nearest: Option<String>,
    },
    /// There is no key.
    #[error("there is no key for `{provider}`")]
    NoKey {
        /// The provider.
        provider: String,
        /// The variables that were looked for.
        variables: Vec<String>,
    },
    /// The key cannot be used.
    #[error("the key for `{provider}` cannot be used: {problem}")]
    Key {
        /// The provider.
        provider: String,
        /// Why.
        problem: KeyProblem,
    },
    /// Nobody knows the wire format.
    #[error("`{api}`, the wire format of `{provider}`, is not known")]
    UnknownApi {
        /// The provider.
        provider: String,
        /// What was written.
        api: String,
    },
    /// Nobody knows where it is.
    #[error("nothing says where `{0}` is")]
    NoAddress(String),
    /// The model names a file and that is missing.
    #[error("`{0}/` is followed by the path of a file")]
    NoFile(String),
}

impl ResolveError {
    /// Says what can be done about it.
    pub fn hint(&self) -> String {
        match self {
            Self::NoProvider(text) if text.is_empty() => {
                "name one, or leave the model out to use the configured one".to_owned()
            }
            Self::NoProvider(text) => format!(
                "write for example `anthropic/{text}`, or `offline/offline` for the model that needs no network"
            ),
            Self::UnknownProvider { nearest, .. } => nearest.as_ref().map_or_else(
                || "describe it in `chitin.json5`, under `providers`: `baseUrl` and, if needed, `api` and `keyFile`".to_owned(),
                |nearest| format!("did you mean `{nearest}`?"),
            ),
            Self::NoKey { provider, variables } => {
                let variable = variables.first().map_or("a variable", String::as_str);
                format!("set `{variable}` in the environment, or `keyFile` under `providers.{provider}` in `chitin.json5`")
            }
            Self::Key { problem, provider } => problem.hint().unwrap_or_else(|| {
                format!("look at `providers.{provider}` in `chitin.json5`")
            }),
            Self::UnknownApi { .. } => "the wire formats are `anthropic-messages`, `openai-completions`, \
                `openai-responses` and `ollama`; most servers speak `openai-completions`"
                .to_owned(),
            Self::NoAddress(provider) => {
                format!("set `baseUrl` under `providers.{provider}` in `chitin.json5`")
            }
            Self::NoFile(provider) => format!("write `{provider}/replies.jsonl`"),
        }
    }
}

impl ResolvedModel {
    /// Returns the full name.
    pub fn id(&self) -> String {
        format!("{}/{}", self.provider, self.name)
    }

    /// Makes the model. Only scripts and recordings are read now; no connection is opened.
    pub fn open(self) -> Result<Arc<dyn Model>, ModelError> {
        Ok(match (self.endpoint, self.file, self.provider.as_str()) {
            (Some(endpoint), ..) => Arc::new(HttpModel::new(
                self.api,
                self.provider,
                self.name,
                endpoint,
            )?),
            (None, Some(file), REPLAY) => Arc::new(ReplayModel::open(&file)?),
            (None, Some(file), _) => Arc::new(ScriptedModel::open(&file)?),
            (None, None, _) => Arc::new(OfflineModel),
        })
    }

    fn without_network(provider: &str, name: &str, api: Api, file: Option<PathBuf>) -> Self {
        Self {
            provider: provider.to_owned(),
            name: name.to_owned(),
            api,
            endpoint: None,
            file,
            key_source: None,
            context_window: None,
            max_tokens: None,
        }
    }
}

/// The providers that need no network.
const OFFLINE: &str = "offline";
const SCRIPTED: &str = "scripted";
const REPLAY: &str = "replay";

/// Works out everything that it takes to ask a model, from its name.
///
/// `chitin.json5` is asked before `openclaw.json`, and both before the environment and the built-in table: what is written
/// down for a provider is what is used. So a key of the environment does not go to a server for which another is configured.
pub fn resolve(id: &str, sources: &Sources<'_>) -> Result<ResolvedModel, ResolveError> {
    let (provider, name) = match id.trim().split_once('/') {
        Some((provider, name)) if !provider.is_empty() && !name.is_empty() => (provider, name),
        _ if id.trim() == OFFLINE => (OFFLINE, OFFLINE),
        Some((file @ (SCRIPTED | REPLAY), "")) => {
            return Err(ResolveError::NoFile(file.to_owned()));
        }
        Some(_) | None => return Err(ResolveError::NoProvider(id.to_owned())),
    };
    match provider {
        OFFLINE => {
            return Ok(ResolvedModel::without_network(
                OFFLINE,
                OFFLINE,
                Api::Offline,
                None,
            ));
        }
        SCRIPTED | REPLAY => {
            let file = Some(sources.path(name));
            return Ok(ResolvedModel::without_network(
                provider,
                name,
                Api::Scripted,
                file,
            ));
        }
        _ => {}
    }
    over_http(provider, name, sources)
}

/// Returns the wire format of a model by its name alone: no key is looked for, and a provider that nothing is known of is taken to
/// speak Chat Completions.
pub fn api_of(id: &str, sources: &Sources<'_>) -> Api {
    let Some((provider, name)) = id.trim().split_once('/') else {
        return Api::OpenaiCompletions;
    };
    match provider {
        OFFLINE => Api::Offline,
        SCRIPTED | REPLAY => Api::Scripted,
        _ => written_api(provider, name, sources)
            .and_then(openclaw::api)
            .or_else(|| table::find(provider).map(|built_in| built_in.api))
            .unwrap_or(Api::OpenaiCompletions),
    }
}

/// Returns the wire format that configuration names for a provider.
fn written_api<'a>(provider: &str, name: &str, sources: &Sources<'a>) -> Option<&'a str> {
    let settings = sources.settings.get(provider);
    settings
        .and_then(|settings| settings.api.as_deref())
        .or_else(|| OpenclawProvider::find(sources.openclaw, provider, name)?.api())
}

fn over_http(
    provider: &str,
    name: &str,
    sources: &Sources<'_>,
) -> Result<ResolvedModel, ResolveError> {
    let built_in = table::find(provider);
    let settings = sources.settings.get(provider);
    let openclaw = OpenclawProvider::find(sources.openclaw, provider, name);
    if built_in.is_none() && settings.is_none() && openclaw.is_none() {
        return Err(unknown(provider, sources));
    }
    let written_api = written_api(provider, name, sources);
    let api = match (written_api, built_in) {
        (Some(text), _) => openclaw::api(text).ok_or_else(|| ResolveError::UnknownApi {
            provider: provider.to_owned(),
            api: text.to_owned(),
        })?,
        (None, Some(built_in)) => built_in.api,
        (None, None) => Api::OpenaiCompletions,
    };
    let base_url = settings
        .and_then(|settings| settings.base_url.clone())
        .or_else(|| openclaw.and_then(|openclaw| openclaw.base_url().map(str::to_owned)))
        .or_else(|| built_in.map(|built_in| base_url(built_in, sources)))
        .ok_or_else(|| ResolveError::NoAddress(provider.to_owned()))?;
    let found =
        find_key(settings, openclaw, built_in, sources).map_err(|problem| ResolveError::Key {
            provider: provider.to_owned(),
            problem,
        })?;
    if let (None, Some(built_in)) = (&found, built_in)
        && built_in.keys == Keys::Required
        && base_url == built_in.base_url
        && settings.is_none_or(|settings| settings.key_header != Some(KeyHeaderSetting::None))
    {
        return Err(ResolveError::NoKey {
            provider: provider.to_owned(),
            variables: built_in.variables.iter().map(|&name| name.into()).collect(),
        });
    }
    let (key, key_source) = found.map(|found| (found.key, found.source)).unzip();
    let mut endpoint = ModelEndpoint::new(base_url).with_timeouts(timeouts(settings));
    endpoint.key = key;
    endpoint.headers = headers(settings, openclaw);
    endpoint.proxy = settings
        .and_then(|settings| settings.proxy.as_ref())
        .map(|proxy| SecretString::from(proxy.reveal()));
    let bearer = openclaw
        .is_some_and(|openclaw| openclaw.wants_bearer())
        .then_some(KeyHeaderSetting::Bearer);
    endpoint.key_header = settings
        .and_then(|settings| settings.key_header)
        .or(bearer)
        .unwrap_or(KeyHeaderSetting::Native);
    Ok(ResolvedModel {
        provider: provider.to_owned(),
        name: name.to_owned(),
        api,
        endpoint: Some(endpoint),
        file: None,
        key_source,
        context_window: openclaw.and_then(|openclaw| openclaw.context_window()),
        max_tokens: openclaw.and_then(|openclaw| openclaw.max_tokens()),
    })
}

fn unknown(provider: &str, sources: &Sources<'_>) -> ResolveError {
    let known = TABLE
        .iter()
        .map(|provider| provider.id)
        .chain(sources.settings.keys().map(String::as_str))
        .chain(OpenclawProvider::names(sources.openclaw))
        .chain([OFFLINE, SCRIPTED, REPLAY]);
    let distance = |known: &str| strsim::damerau_levenshtein(provider, known);
    let nearest = known
        .filter(|known| provider.len() <= 64 && distance(known) <= (known.len() / 3).max(1))
        .min_by_key(|known| distance(known));
    ResolveError::UnknownProvider {
        id: provider.to_owned(),
        nearest: nearest.map(str::to_owned),
    }
}

fn find_key(
    settings: Option<&ProviderSettings>,
    openclaw: Option<OpenclawProvider<'_>>,
    built_in: Option<&Provider>,
    sources: &Sources<'_>,
) -> Result<Option<FoundKey>, KeyProblem> {
    if let Some(settings) = settings {
        if let Some(file) = &settings.key_file {
            return keys::from_file(&sources.path(file)).map(Some);
        }
        if let Some(text) = &settings.api_key
            && let Some(found) = keys::from_text(text.reveal(), sources.variables)?
        {
            return Ok(Some(found));
        }
        if let Some(name) = &settings.key_variable {
            return keys::named(name, sources.variables).map(Some);
        }
    }
    if let Some(openclaw) = openclaw
        && let Some(found) = keys::from_configuration(openclaw.key(), sources.variables)?
    {
        return Ok(Some(found));
    }
    let variables = built_in.map_or(&[][..], |built_in| built_in.variables);
    keys::from_variables(variables.iter().copied(), sources.variables)
}

/// Further headers: those of `chitin.json5` replace those of `openclaw.json`.
fn headers(
    settings: Option<&ProviderSettings>,
    openclaw: Option<OpenclawProvider<'_>>,
) -> Vec<(String, SecretString)> {
    let mut headers: BTreeMap<String, SecretString> = BTreeMap::new();
    let written = openclaw.map(|openclaw| openclaw.headers());
    for (name, value) in written.unwrap_or_default() {
        headers.insert(name.to_lowercase(), SecretString::from(value));
    }
    for (name, value) in settings.iter().flat_map(|settings| &settings.headers) {
        headers.insert(name.to_lowercase(), SecretString::from(value.reveal()));
    }
    headers.into_iter().collect()
}

fn timeouts(settings: Option<&ProviderSettings>) -> ModelTimeouts {
    let default = ModelTimeouts::default();
    let seconds = |value: Option<u32>, default| {
        value.map_or(default, |seconds| Duration::from_secs(seconds.into()))
    };
    settings.map_or(default, |settings| ModelTimeouts {
        connect: seconds(settings.connect_seconds, default.connect),
        first_byte: seconds(settings.first_byte_seconds, default.first_byte),
        idle: seconds(settings.idle_seconds, default.idle),
    })
}
