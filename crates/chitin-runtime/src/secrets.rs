//! The secrets of this process, learned where they are configured and where Chitin keeps them.

use crate::channels::CREDENTIALS_FILE;
use crate::host::Host;
use crate::serve::TOKEN_FILE;
use crate::setup::{chitin_home, chosen_contract, config_file, own_config};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chitin_config::secrets::secrets_in;
use chitin_guard::{ReadPolicy, Root};
use secrecy::SecretString;
use serde_json::Value;
use std::path::Path;

/// No honest file of keys is larger.
const MOST_BYTES: u64 = 1024 * 1024;
/// Where logins of registries are kept: Chitin's own file, of the form of Docker's.
pub(crate) const REGISTRIES_FILE: &str = "registries.json";

/// Lets the redactor of a host learn every secret that configuration holds and that Chitin keeps. What cannot be read is passed
/// over: whoever needs it says so.
pub fn learn_secrets(host: &Host) {
    let own = own_config(host).ok().flatten();
    if let Some(own) = &own {
        host.secrets.learn(secrets_in(&own.value, &host.env));
    }
    let file =
        chosen_contract(host, None, own.as_ref()).and_then(|contract| config_file(host, contract));
    let read = file.map(|file| chitin_config::read(&file, &host.env));
    if let Ok(Ok(Some(loaded))) = read {
        host.secrets.learn(secrets_in(&loaded.value, &host.env));
    }
    learn_kept(host);
}

/// Does so with what Chitin keeps in its home: the server's token, tokens of channels, logins of registries.
pub(crate) fn learn_kept(host: &Host) {
    let Some(home) = chitin_home(host).and_then(|home| Root::open(&home).ok()) else {
        return;
    };
    let read = |name: &str| {
        let read = home.read(Path::new(name), &ReadPolicy::inside(MOST_BYTES));
        let bytes = read.ok()?.bytes;
        String::from_utf8(bytes).ok()
    };
    if let Some(token) = read(TOKEN_FILE) {
        host.secrets.learn([SecretString::from(token)]);
    }
    let document = |name: &str| serde_json::from_str::<Value>(&read(name)?).ok();
    if let Some(channels) = document(CREDENTIALS_FILE) {
        host.secrets.learn(texts(&channels));
    }
    if let Some(registries) = document(REGISTRIES_FILE) {
        let logins = texts(&registries).into_iter();
        host.secrets.learn(logins);
    }
}

/// Returns every text of a document of keys, and the password of every login in base 64.
fn texts(value: &Value) -> Vec<SecretString> {
    match value {
        Value::Object(members) => members.values().flat_map(texts).collect(),
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::String(text) => {
            let mut found = vec![SecretString::from(text.as_str())];
            let login = STANDARD.decode(text).ok();
            let login = login.and_then(|bytes| String::from_utf8(bytes).ok());
            if let Some((_, password)) = login.as_deref().and_then(|login| login.split_once(':')) {
                found.push(SecretString::from(password));
            }
            found
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}
