//! Which models are asked, and what is known of them.

use crate::display::sentence;
use crate::error::{ErrorKind, RuntimeError};
use crate::factory::ModelSelection;
use crate::host::Host;
use crate::runtime_file;
use crate::setup::Setup;
use chitin_agent::turn::ModelCandidate;
use chitin_config::agents;
use chitin_context::models::{self, ModelFacts, ModelPrices};
use chitin_model::providers::{
    ResolveError, ResolvedModel, Sources, api_of, local_models, pick_default, resolve,
};
use chitin_model::{Api, ModelError, RecordModel, Retention};
use chitin_protocol::config::Price;
use chitin_protocol::message::{CostShares, Usage};
use chitin_workspace::extensions::suggestion::Suggestion;
use secrecy::SecretString;
use serde_json::{Map, Value};
use std::path::Path;
use std::sync::Arc;

/// How many tokens an answer may have when nobody says.
const COMMON_ANSWER: u64 = 8_192;

/// The providers that ask nobody, so that nothing is paid.
const FREE: [&str; 3] = ["offline", "scripted", "replay"];

/// The models of a conversation.
pub struct SelectedModels {
    /// In the order in which they are tried.
    pub candidates: Vec<ModelCandidate>,
    /// Whether the user named the first.
    pub named: bool,
    /// What must never be seen.
    pub secrets: Vec<SecretString>,
    /// What people should know.
    pub notes: Vec<String>,
}

impl SelectedModels {
    /// Returns the candidates; all of them think as deeply as told, if anything is told.
    pub fn thinking(&self, level: Option<&str>) -> Vec<ModelCandidate> {
        let mut candidates = self.candidates.clone();
        if let Some(level) = level {
            for candidate in &mut candidates {
                candidate.thinking = (level != "off").then(|| level.to_owned());
            }
        }
        candidates
    }
}

/// Finds the models: what was typed, what is configured, what the environment offers, the offline one.
pub(crate) fn choose(
    wish: &ModelSelection<'_>,
    host: &Host,
    setup: &Setup,
) -> Result<SelectedModels, RuntimeError> {
    with_sources(host, setup, |sources| {
        choose_from(sources, wish, host, setup)
    })
}

/// Finds the first model that would be asked, and how it is reached. Nothing is opened.
pub fn resolve_model(
    said: Option<&str>,
    host: &Host,
    setup: &Setup,
) -> Result<ResolvedModel, RuntimeError> {
    with_sources(host, setup, |sources| {
        let suggestion = runtime_file::read(setup);
        let (name, kind, _) = first(said, sources, setup, &suggestion);
        let resolved = resolve(&name, sources).map_err(|error| unresolved(kind, &error))?;
        Ok(trusting(resolved, host))
    })
}

/// Returns the wire format of a model, by its name alone.
pub(crate) fn api_of_model(name: &str, host: &Host, setup: &Setup) -> Api {
    with_sources(host, setup, |sources| api_of(name, sources))
}

/// Puts together where models and their keys are found.
fn with_sources<T>(host: &Host, setup: &Setup, work: impl FnOnce(&Sources<'_>) -> T) -> T {
    let variables = |name: &str| host.env.get(name).map(str::to_owned);
    work(&Sources {
        settings: &setup.configuration.providers,
        openclaw: setup.configuration.value().get("models"),
        variables: &variables,
        directory: host.env.working_directory(),
        home: host.env.get("HOME").map(Path::new),
    })
}

/// Finds the name of the first model: what was typed, what is configured, what the workspace suggests, what the environment
/// offers. With it whose fault it is when there is no such model, and what people should know about the choice.
fn first(
    said: Option<&str>,
    sources: &Sources<'_>,
    setup: &Setup,
    suggestion: &Suggestion,
) -> (String, ErrorKind, Vec<String>) {
    let own = setup.configuration.layers.settings(Some(&setup.agent));
    let configured = from_openclaw(setup.configuration.value(), setup);
    let (suggested, mut notes) = match runtime_file::model(suggestion, sources) {
        Ok(name) => (name, Vec::new()),
        Err(note) => (None, vec![note]),
    };
    let decided = match (said, own.model, configured.into_iter().next()) {
        (Some(name), ..) => Some((name.to_owned(), ErrorKind::Usage)),
        (None, Some(name), _) | (None, None, Some(name)) => Some((name, ErrorKind::Config)),
        (None, None, None) => None,
    };
    match (decided, suggested) {
        (Some((name, kind)), suggested) => {
            if let Some(suggested) = suggested.filter(|suggested| *suggested != name) {
                notes.push(format!(
                    "`RUNTIME.md` suggests `{suggested}`; using your selection `{name}`"
                ));
            }
            (name, kind, notes)
        }
        (None, Some(name)) => {
            notes.push(format!("using `{name}`, as `RUNTIME.md` suggests"));
            (name, ErrorKind::Config, notes)
        }
        (None, None) => {
            let pick = pick_default(sources, local_models);
            notes.push(pick.reason);
            (pick.model, ErrorKind::Config, notes)
        }
    }
}

fn choose_from(
    sources: &Sources<'_>,
    wish: &ModelSelection<'_>,
    host: &Host,
    setup: &Setup,
) -> Result<SelectedModels, RuntimeError> {
    let own = setup.configuration.layers.settings(Some(&setup.agent));
    let said = wish.model;
    let configured = from_openclaw(setup.configuration.value(), setup);
    let suggestion = runtime_file::read(setup);
    let (first, kind, mut notes) = first(said, sources, setup, &suggestion);
    notes.extend(suggestion.notes.iter().cloned());
    // Only what Chitin itself was told counts as named, as for `chitin context`.
    let named = said.is_some() || own.model.is_some();
    let mut wanted = vec![first];
    wanted.extend(own.fallbacks.clone());
    if own.fallbacks.is_empty() && own.model.is_none() {
        wanted.extend(configured.into_iter().skip(1));
    }
    let thinking = wish
        .thinking
        .map(str::to_owned)
        .or_else(|| own.thinking.clone());
    let thinking = thinking.filter(|level| level != "off");
    let mut chosen = SelectedModels {
        candidates: Vec::new(),
        named,
        secrets: Vec::new(),
        notes,
    };
    for (place, name) in wanted.iter().enumerate() {
        let resolved = match resolve(name, sources) {
            Ok(resolved) => trusting(resolved, host),
            Err(error) if place == 0 => return Err(unresolved(kind, &error)),
            Err(error) => {
                chosen
                    .notes
                    .push(format!("the fallback `{name}` is not used: {error}"));
                continue;
            }
        };
        let known = models::find(&resolved.id(), &setup.configuration.models)
            .unwrap_or_else(|| ModelFacts::unknown(resolved.id()));
        let window = known.context_window.or(resolved.context_window);
        let answer = known
            .max_output
            .or(resolved.max_tokens)
            .unwrap_or(COMMON_ANSWER);
        // A workspace can only ask for less.
        let answer = suggestion
            .max_tokens
            .map_or(answer, |most| most.min(answer));
        if let Some(endpoint) = &resolved.endpoint {
            chosen.secrets.extend(endpoint.key.clone());
            let headers = endpoint.headers.iter();
            chosen
                .secrets
                .extend(headers.map(|(_, value)| value.clone()));
        }
        let mut model = resolved.open().map_err(|error| unusable(name, &error))?;
        if let Some(file) = wish.record {
            let file = host.env.resolve(file);
            model = Arc::new(RecordModel::new(model, &file));
        }
        chosen.candidates.push(ModelCandidate {
            context_window: window,
            max_tokens: answer,
            price: if FREE.contains(&model.provider()) {
                Arc::new(|_| Some(CostShares::default()))
            } else {
                Arc::new(move |usage| shares(&known, usage))
            },
            model,
            thinking: thinking.clone(),
            retention: Retention::Short,
            extra: Map::new(),
        });
    }
    Ok(chosen)
}

/// Says whom TLS to a model trusts.
pub(crate) fn trusting(mut model: ResolvedModel, host: &Host) -> ResolvedModel {
    model.endpoint = model
        .endpoint
        .map(|endpoint| endpoint.with_trust(host.trust()));
    model
}

/// Reads `model` of the agent, or of all agents, from `openclaw.json`: a name, or a name and those to fall back on.
pub(crate) fn from_openclaw(config: &Value, setup: &Setup) -> Vec<String> {
    let roster = agents::roster(config, setup.contract());
    let own = roster
        .iter()
        .find(|entry| entry.id == setup.agent)
        .map(|entry| &entry.settings["model"]);
    let value = own
        .filter(|value| !value.is_null())
        .unwrap_or(&config["agents"]["defaults"]["model"]);
    let text = |value: &Value| {
        let text = value.as_str()?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    };
    match value {
        Value::Object(fields) => {
            let first = fields.get("primary").and_then(text);
            let others = fields.get("fallbacks").and_then(Value::as_array);
            let others = others.into_iter().flatten().filter_map(text);
            first.into_iter().chain(others).collect()
        }
        other => text(other).into_iter().collect(),
    }
}

/// Works out what an answer cost, by kind of token; nothing where the model's prices are unknown.
fn shares(model: &ModelFacts, usage: &Usage) -> Option<CostShares> {
    let sent = usage.input + usage.cache_read + usage.cache_write;
    let prices: Option<&ModelPrices> = match &model.long_prompt {
        Some(long) if sent > long.above => Some(&long.prices),
        Some(_) | None => model.prices.as_ref(),
    };
    let prices = prices?;
    #[expect(
        clippy::cast_precision_loss,
        reason = "no price is near fifty-two bits"
    )]
    let dollars = |price: Price| price.micros() as f64 / 1e6;
    let prices = chitin_model::cost::TokenPrices {
        input: dollars(prices.input),
        output: dollars(prices.output),
        cache_read: dollars(prices.cache_read),
        cache_write: dollars(prices.cache_write),
    };
    Some(prices.cost(usage))
}

fn unresolved(kind: ErrorKind, error: &ResolveError) -> RuntimeError {
    RuntimeError::new(kind, sentence(&error.to_string())).hint(error.hint())
}

fn unusable(name: &str, error: &ModelError) -> RuntimeError {
    RuntimeError::new(ErrorKind::User, format!("Could not use `{name}`.")).caused_by(error.clone())
}
