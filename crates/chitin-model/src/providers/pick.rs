//! The model that is used when nobody names one.

use super::address::base_url;
use super::resolve::Sources;
use super::table::{self, Provider, TABLE};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// How long a server on this machine may take to let us in. Nobody there is said at once.
const CONNECT: Duration = Duration::from_millis(50);

/// How long it may take to name its models.
const ANSWER: Duration = Duration::from_millis(300);

/// No list of models is longer.
const LONGEST_LIST: usize = 1024 * 1024;

/// The model that is used, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pick {
    /// The model, as `provider/name`.
    pub model: String,
    /// A sentence that says what was picked and why.
    pub reason: String,
}

/// Picks a model when none is configured.
///
/// In this order: the first provider of the table whose key is in the environment or the configuration; Ollama, where
/// `OLLAMA_HOST` or the configuration says that it is; Ollama on this machine; the offline model. Keys are looked for only in places that cost
/// nothing. `local` says which models an Ollama server has, if it is there: [`local_models`], or nothing in tests.
pub fn pick_default(sources: &Sources<'_>, local: impl Fn(&str) -> Option<Vec<String>>) -> Pick {
    let with_key = TABLE.iter().filter_map(|provider| {
        let source = key_place(provider, sources)?;
        Some((provider, source))
    });
    let mut nameless = None;
    for (provider, source) in with_key {
        match provider.default_model {
            Some(name) => {
                let model = format!("{}/{name}", provider.id);
                return Pick {
                    reason: format!(
                        "No model is configured; {source} is there, so `{model}` is used."
                    ),
                    model,
                };
            }
            None => {
                nameless.get_or_insert((provider, source));
            }
        }
    }
    let said = ollama_said(sources);
    if let Some(ollama) = table::find("ollama") {
        let address = said.clone().unwrap_or_else(|| base_url(ollama, sources));
        if let Some(name) = local(&address).and_then(|names| names.into_iter().next()) {
            let model = format!("ollama/{name}");
            return Pick {
                reason: format!(
                    "No model is configured and there is no key; Ollama answers at `{address}`, so `{model}` is used."
                ),
                model,
            };
        }
    }
    let why = match (nameless, said) {
        (Some((provider, source)), _) => format!(
            "{source} is there, but no model is named: `--model {}/NAME` does",
            provider.id
        ),
        (None, Some(address)) => {
            format!("there is no key, and no Ollama with a model answers at `{address}`")
        }
        (None, None) => "there is neither a key nor a local server".to_owned(),
    };
    Pick {
        model: "offline/offline".to_owned(),
        reason: format!("No model is configured; {why}. The offline model is used."),
    }
}

/// Says where a provider's key is, if there is one. The local providers are not picked by a key.
fn key_place(provider: &Provider, sources: &Sources<'_>) -> Option<String> {
    if provider.keys == table::Keys::Optional {
        return None;
    }
    let set = provider
        .variables
        .iter()
        .find(|name| (sources.variables)(name).is_some_and(|value| !value.trim().is_empty()));
    if let Some(name) = set {
        return Some(format!("`{name}`"));
    }
    let settings = sources.settings.get(provider.id);
    let written = settings.is_some_and(|settings| {
        settings.api_key.is_some() || settings.key_file.is_some() || settings.key_variable.is_some()
    });
    let openclaw = sources
        .openclaw
        .and_then(|models| models.get("providers")?.get(provider.id)?.get("apiKey"));
    (written || openclaw.is_some_and(|key| !key.is_null()))
        .then(|| format!("a key for `{}`", provider.id))
}

/// Returns where the environment or the configuration says that Ollama is.
fn ollama_said(sources: &Sources<'_>) -> Option<String> {
    let settings = sources.settings.get("ollama");
    if let Some(url) = settings.and_then(|settings| settings.base_url.clone()) {
        return Some(url);
    }
    let openclaw = sources.openclaw.and_then(|models| {
        models
            .get("providers")?
            .get("ollama")?
            .get("baseUrl")?
            .as_str()
    });
    if let Some(url) = openclaw {
        return Some(url.trim_end_matches('/').trim_end_matches("/v1").to_owned());
    }
    let host = (sources.variables)("OLLAMA_HOST")?;
    if host.trim().is_empty() {
        return None;
    }
    Some(base_url(table::find("ollama")?, sources))
}

/// Asks an Ollama server for its models. Only addresses on this machine are asked, without TLS, and within a third of a second: this
/// happens before anybody was told to use the network. A server that is not there costs some microseconds.
pub fn local_models(base_url: &str) -> Option<Vec<String>> {
    let host = base_url.strip_prefix("http://")?.trim_end_matches('/');
    let address: SocketAddr = host.replacen("localhost", "127.0.0.1", 1).parse().ok()?;
    if !address.ip().is_loopback() {
        return None;
    }
    let mut stream = TcpStream::connect_timeout(&address, CONNECT).ok()?;
    stream.set_read_timeout(Some(ANSWER)).ok()?;
    stream.set_write_timeout(Some(ANSWER)).ok()?;
    let request = format!("GET /api/tags HTTP/1.0\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let answer = read_within(stream, ANSWER);
    let text = String::from_utf8_lossy(&answer);
    let (head, body) = text.split_once("\r\n\r\n")?;
    if head.split(' ').nth(1) != Some("200") {
        return None;
    }
    // HTTP/1.0 knows no chunks, but not every server looks at the version: the object is what counts.
    let body = body.get(body.find('{')?..=body.rfind('}')?)?;
    let list: Value = serde_json::from_str(body).ok()?;
    let names = list.get("models")?.as_array()?.iter();
    Some(
        names
            .filter_map(|model| model.get("name")?.as_str())
            .map(str::to_owned)
            .collect(),
    )
}

/// Reads what comes within some time, whatever pieces it comes in.
fn read_within(mut stream: TcpStream, time: Duration) -> Vec<u8> {
    let start = Instant::now();
    let mut answer = Vec::new();
    let mut piece = vec![0; 16 * 1024];
    while start.elapsed() < time && answer.len() < LONGEST_LIST {
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => break,
            Ok(length) => answer.extend_from_slice(&piece[..length]),
        }
    }
    answer
}
