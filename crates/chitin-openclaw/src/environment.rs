//! Keys of the environment: which source has them, and which one wins (H45).

use crate::compat;
use crate::dotenv;
use crate::problem::{Problems, sentence};
use crate::walk::reading;
use chitin_config::env::Env;
use chitin_guard::Root;
use secrecy::SecretString;
use serde::Serialize;
use serde_json::Value;
use std::path::Path;

/// The largest `.env` that is read.
const MAX_BYTES: u64 = 1 << 20;

const PROCESS: &str = "process environment";
const FILE: &str = ".env";
const VARS: &str = "config env.vars";
const PLAIN: &str = "config env";

/// A key that a home sets for the environment.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EnvironmentKey {
    /// Its name.
    pub key: String,
    /// The sources that name it, the first to win at the front.
    pub sources: Vec<&'static str>,
    /// The source whose value is used: an empty value counts as unset.
    pub winner: &'static str,
    /// Whether even that value is empty.
    pub empty: bool,
    /// The value.
    #[serde(skip)]
    pub value: SecretString,
}

/// Returns the keys that the home names. What the process itself has wins.
pub(crate) fn keys(
    state: &Root,
    config: &Value,
    process: &Env,
    problems: &mut Problems,
) -> Vec<EnvironmentKey> {
    let vars = members(&config["env"]["vars"]);
    let mut plain = members(&config["env"]);
    plain.retain(|(key, _)| key != "vars" && key != "shellEnv");
    let sources = [(FILE, file(state, problems)), (VARS, vars), (PLAIN, plain)];
    let mut names: Vec<&String> = Vec::new();
    for (name, _) in sources.iter().flat_map(|(_, pairs)| pairs) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
        .iter()
        .map(|name| {
            let mut values: Vec<(&'static str, &str)> = Vec::new();
            values.extend(process.get(name).map(|value| (PROCESS, value)));
            for (source, pairs) in &sources {
                let found = pairs.iter().find(|(known, _)| known == *name);
                values.extend(found.map(|(_, value)| (*source, value.as_str())));
            }
            let used = values.iter().find(|(_, value)| !value.is_empty());
            let (winner, value) = used.or(values.first()).copied().unwrap_or((FILE, ""));
            EnvironmentKey {
                key: (*name).clone(),
                sources: values.iter().map(|(source, _)| *source).collect(),
                winner,
                empty: value.is_empty(),
                value: SecretString::from(value),
            }
        })
        .collect()
}

fn members(value: &Value) -> Vec<(String, String)> {
    let members = value.as_object().into_iter().flatten();
    members
        .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
        .collect()
}

fn file(state: &Root, problems: &mut Problems) -> Vec<(String, String)> {
    let path = Path::new(compat::DOTENV);
    match state.read(path, &reading(MAX_BYTES)) {
        Ok(read) => dotenv::parse(&String::from_utf8_lossy(&read.bytes)),
        Err(error) if error.is_missing() => Vec::new(),
        Err(error) => {
            problems.say(path, sentence(&error));
            Vec::new()
        }
    }
}
