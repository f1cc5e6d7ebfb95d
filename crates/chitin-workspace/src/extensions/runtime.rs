//! `RUNTIME.md`: the model settings of one agent (B14).
//!
//! Settings are values that belong to the caller. Nothing is written to the process, so two agents never see each other's
//! temperature or key.

pub use super::compat::DEFAULT_MODEL;
use super::compat::{
    DEFAULT_MODE, FAKE_URL, GEMINI_URL, KEY_OVERRIDES, LOCAL_URL, MODE_OVERRIDES, MODEL_OVERRIDES,
    OPENAI_MODELS, OPENAI_URL, URL_OVERRIDES,
};
use super::line::{pair, settings, statements};
use super::secret::{REDACTED, Secret};
use crate::adapter::text::{is_blank, trim};
use chitin_config::env::Env;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use thiserror::Error;

/// The file.
pub const FILE: &str = "RUNTIME.md";

/// The model settings of one agent.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeSettings {
    /// `remote`, `local` or `fake`, as it is spelled.
    pub mode: String,
    /// The model's name.
    pub model: String,
    /// Where it is served.
    pub endpoint: SuggestedEndpoint,
    /// The key; never shown.
    pub api_key: Option<Secret>,
    /// The sampling temperature, 0 to 2.
    pub temperature: Option<f64>,
    /// The most tokens of an answer.
    pub max_tokens: Option<i32>,
    /// The nucleus cut-off, 0 to 1.
    pub top_p: Option<f64>,
    /// The texts at which an answer ends.
    pub stop: Option<Vec<String>>,
}

/// Where a model is served.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind", content = "url")]
pub enum SuggestedEndpoint {
    /// At an address that somebody set.
    Set(String),
    /// At OpenAI's own address, because of the model's name.
    OpenAi,
    /// At Google's own address, when nothing says otherwise.
    Gemini,
    /// On this machine, as Ollama serves it.
    Local,
    /// Nowhere: answers are made up.
    Fake,
}

impl SuggestedEndpoint {
    /// Returns the base URL.
    pub fn url(&self) -> &str {
        match self {
            Self::Set(url) => url,
            Self::OpenAi => OPENAI_URL,
            Self::Gemini => GEMINI_URL,
            Self::Local => LOCAL_URL,
            Self::Fake => FAKE_URL,
        }
    }
}

/// What the operator says, which beats the file: properties first, then environment variables.
#[derive(Debug, Clone, Copy)]
pub struct Overrides<'a> {
    properties: &'a BTreeMap<String, String>,
    env: &'a Env,
}

impl<'a> Overrides<'a> {
    /// Takes the operator's properties and environment.
    pub const fn new(properties: &'a BTreeMap<String, String>, env: &'a Env) -> Self {
        Self { properties, env }
    }

    fn first(&self, names: &[&str]) -> Option<&'a str> {
        names.iter().find_map(|name| {
            let property = self.properties.get(*name).map(String::as_str);
            property
                .or_else(|| self.env.get(name))
                .filter(|value| !is_blank(value))
        })
    }
}

/// What became of a `RUNTIME.md`.
#[derive(Debug, Clone, PartialEq)]
pub struct RuntimeFileOutcome {
    /// The settings; none when the file says nothing.
    pub settings: Option<RuntimeSettings>,
    /// What was ignored or bent, and what is missing.
    pub warnings: Vec<RuntimeWarning>,
}

/// Something in a `RUNTIME.md` that did not count as it stands.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum RuntimeWarning {
    /// There is no `key: value` line at all.
    #[error("`{FILE}` has no `key: value` line, so nothing is set")]
    NoSettings,
    /// A number is not one.
    #[error("`{key}: {value}` is ignored: it is not a number that fits")]
    NotANumber {
        /// The key.
        key: &'static str,
        /// The value.
        value: String,
    },
    /// A number is out of range and was brought back to its end.
    #[error("`{key}: {value}` is taken as {used}")]
    OutOfRange {
        /// The key.
        key: &'static str,
        /// The value.
        value: String,
        /// What is used instead.
        used: f64,
    },
    /// A remote model without a key will not answer.
    #[error("there is no key for a remote model")]
    NoKey,
}

/// Reads a `RUNTIME.md`. For each setting the operator's override counts, then the file, then what is already set, then
/// the default. In the file the first line of a key counts.
pub fn apply(
    text: &str,
    overrides: Overrides<'_>,
    current: Option<&RuntimeSettings>,
) -> RuntimeFileOutcome {
    if is_blank(text) {
        return RuntimeFileOutcome {
            settings: None,
            warnings: Vec::new(),
        };
    }
    let mut file: BTreeMap<String, &str> = BTreeMap::new();
    for (key, value) in settings(text) {
        file.entry(key).or_insert(value);
    }
    if file.is_empty() {
        return RuntimeFileOutcome {
            settings: None,
            warnings: vec![RuntimeWarning::NoSettings],
        };
    }
    let get = |keys: &[&str]| {
        keys.iter()
            .find_map(|key| file.get(*key).copied())
            .filter(|value| !is_blank(value))
    };
    let pick = |names: &[&str], keys: &[&str]| {
        overrides
            .first(names)
            .or_else(|| get(keys))
            .map(|value| trim(value).to_owned())
    };
    let mut warnings = Vec::new();
    let mode = pick(&MODE_OVERRIDES, &["mode"])
        .or_else(|| current.map(|set| set.mode.clone()))
        .unwrap_or_else(|| DEFAULT_MODE.to_owned());
    let model = pick(&MODEL_OVERRIDES, &["model"])
        .or_else(|| current.map(|set| set.model.clone()))
        .unwrap_or_else(|| DEFAULT_MODEL.to_owned());
    let api_key = pick(&KEY_OVERRIDES, &["api-key", "apikey"])
        .map(Secret::new)
        .or_else(|| current.and_then(|set| set.api_key.clone()));
    let url = pick(&URL_OVERRIDES, &["base-url", "baseurl"]).or_else(|| {
        current.and_then(|set| match &set.endpoint {
            SuggestedEndpoint::Set(url) => Some(url.clone()),
            SuggestedEndpoint::OpenAi
            | SuggestedEndpoint::Gemini
            | SuggestedEndpoint::Local
            | SuggestedEndpoint::Fake => None,
        })
    });
    let endpoint = endpoint(&mode, &model, url);
    let is_fake = endpoint == SuggestedEndpoint::Fake;
    if api_key.is_none() && !is_fake && !mode.eq_ignore_ascii_case("local") {
        warnings.push(RuntimeWarning::NoKey);
    }
    let temperature = get(&["temperature"])
        .and_then(|value| decimal("temperature", value, 2.0, &mut warnings))
        .or_else(|| current.and_then(|set| set.temperature));
    let max_tokens = get(&["max-tokens", "maxtokens"])
        .and_then(|value| count("max-tokens", value, &mut warnings))
        .or_else(|| current.and_then(|set| set.max_tokens));
    let top_p = get(&["top-p", "topp"])
        .and_then(|value| decimal("top-p", value, 1.0, &mut warnings))
        .or_else(|| current.and_then(|set| set.top_p));
    let stop = get(&["stop"])
        .and_then(stops)
        .or_else(|| current.and_then(|set| set.stop.clone()));
    RuntimeFileOutcome {
        settings: Some(RuntimeSettings {
            mode,
            model,
            endpoint,
            api_key: if is_fake { None } else { api_key },
            temperature,
            max_tokens,
            top_p,
            stop,
        }),
        warnings,
    }
}

fn endpoint(mode: &str, model: &str, url: Option<String>) -> SuggestedEndpoint {
    if mode.eq_ignore_ascii_case("fake") {
        SuggestedEndpoint::Fake
    } else if let Some(url) = url {
        SuggestedEndpoint::Set(url)
    } else if mode.eq_ignore_ascii_case("local") {
        SuggestedEndpoint::Local
    } else if OPENAI_MODELS.iter().any(|start| model.starts_with(start)) {
        SuggestedEndpoint::OpenAi
    } else {
        SuggestedEndpoint::Gemini
    }
}

fn decimal(
    key: &'static str,
    value: &str,
    most: f64,
    warnings: &mut Vec<RuntimeWarning>,
) -> Option<f64> {
    let Some(number) = parse_decimal(value).filter(|number| !number.is_nan()) else {
        warnings.push(RuntimeWarning::NotANumber {
            key,
            value: value.to_owned(),
        });
        return None;
    };
    let used = number.clamp(0.0, most);
    if !(0.0..=most).contains(&number) {
        warnings.push(RuntimeWarning::OutOfRange {
            key,
            value: value.to_owned(),
            used,
        });
    }
    Some(used)
}

/// Parses a decimal number as Java does: a type letter may follow, infinity has one spelling, hexadecimal is not taken.
fn parse_decimal(value: &str) -> Option<f64> {
    let unsigned = value.strip_prefix(['+', '-']).unwrap_or(value);
    if unsigned == "Infinity" {
        return Some(if value.starts_with('-') {
            f64::NEG_INFINITY
        } else {
            f64::INFINITY
        });
    }
    let digits = value.strip_suffix(['f', 'F', 'd', 'D']).unwrap_or(value);
    let is_plain = digits
        .bytes()
        .all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
    if is_plain { digits.parse().ok() } else { None }
}

fn count(key: &'static str, value: &str, warnings: &mut Vec<RuntimeWarning>) -> Option<i32> {
    let number = value.parse().ok().filter(|number| *number > 0);
    if number.is_none() {
        warnings.push(RuntimeWarning::NotANumber {
            key,
            value: value.to_owned(),
        });
    }
    number
}

fn stops(value: &str) -> Option<Vec<String>> {
    let stops: Vec<_> = value
        .split(',')
        .map(trim)
        .filter(|stop| !is_blank(stop))
        .map(str::to_owned)
        .collect();
    (!stops.is_empty()).then_some(stops)
}

/// Returns a `RUNTIME.md` with the values of its key lines replaced.
pub(crate) fn without_keys(text: &str) -> Cow<'_, str> {
    let mut shown = Cow::Borrowed(text);
    for (key, value) in statements(text).filter_map(pair) {
        let is_key = ["api-key", "apikey"]
            .iter()
            .any(|name| key.eq_ignore_ascii_case(name));
        if is_key && !value.is_empty() {
            // A key that is repeated elsewhere in the file is a key there too.
            shown = Cow::Owned(shown.replace(value, REDACTED));
        }
    }
    shown
}
