//! Credentials and the environment: kind and place, never a value.

use super::{HomeLine, is_spoken};
use chitin_openclaw::{AuthProfile, ConfigSecret, CredentialKind, EnvironmentKey, HomeContents};

pub(super) fn credentials(contents: &HomeContents) -> Vec<HomeLine> {
    let stored = contents.auth_profiles.iter().map(profile);
    let configured = contents.config_secrets.iter();
    let configured = configured.map(|secret| in_configuration(secret, contents));
    stored.chain(configured).collect()
}

fn profile(profile: &AuthProfile) -> HomeLine {
    let provider = profile.provider.as_deref().unwrap_or("the provider");
    let (kind, instead) = match &profile.kind {
        CredentialKind::ApiKey => (
            "API key",
            format!(
                "stored credentials are not used; set the variable of {provider}, or `providers.{provider}.keyFile` in `chitin.json5`"
            ),
        ),
        CredentialKind::Token => (
            "token",
            format!("tokens of subscriptions are not used; an API key of {provider} works"),
        ),
        CredentialKind::Oauth => (
            "login",
            format!("logins are not used; an API key of {provider} works"),
        ),
        CredentialKind::Other(kind) => (
            kind.as_str(),
            "credentials of this kind are not used".to_owned(),
        ),
    };
    let reference = match &profile.reference {
        Some(reference) => format!(", by reference to `{}`", reference.source),
        None => String::new(),
    };
    HomeLine::unsupported(format!("{} ({kind}{reference})", profile.id), instead)
        .kept(format!("{}, {}", profile.scope, profile.from))
}

fn in_configuration(secret: &ConfigSecret, contents: &HomeContents) -> HomeLine {
    let name = format!("{} ({})", secret.path, given(secret, contents));
    let source = source(secret, contents);
    let parts: Vec<&str> = secret.path.split('.').collect();
    let line = match parts.as_slice() {
        ["channels", channel, ..] if is_spoken(channel) => by_source(name, source),
        ["channels", ..] => HomeLine::unsupported(name, super::OTHER_CHANNELS),
        ["gateway", ..] => HomeLine::differs(
            name,
            "`chitin serve` has a token of its own, in `$CHITIN_TOKEN` or in Chitin's home",
        ),
        ["hooks", ..] => {
            HomeLine::unsupported(name, "no webhooks; messages come over the HTTP API")
        }
        ["models", "providers", _, "apiKey"]
        | ["agents", "defaults", "memorySearch", "remote", "apiKey"] => by_source(name, source),
        ["memory", "search", "remote", "apiKey"] => HomeLine::differs(
            name,
            "read from `agents.defaults.memorySearch`, or `memory` in `chitin.json5`",
        ),
        _ => HomeLine::unsupported(name, "it is not read"),
    };
    line.kept("openclaw.json")
}

/// Keys are taken from a text or a variable.
fn by_source(name: String, source: Option<&str>) -> HomeLine {
    match source {
        None | Some("env") => HomeLine::works(name),
        Some(other) => HomeLine::unsupported(
            name,
            format!(
                "references to `{other}` are not resolved; put the secret into a variable and refer to that"
            ),
        ),
    }
}

fn source<'a>(secret: &ConfigSecret, contents: &'a HomeContents) -> Option<&'a str> {
    let mut references = contents.secret_refs.iter();
    let reference = references.find(|reference| reference.path == secret.path)?;
    Some(&reference.source)
}

fn given(secret: &ConfigSecret, contents: &HomeContents) -> String {
    match source(secret, contents) {
        Some(source) => format!("reference to `{source}`"),
        None if secret.given == "variable" => "from a variable".to_owned(),
        None => "in the file".to_owned(),
    }
}

pub(super) fn environment(contents: &HomeContents) -> Vec<HomeLine> {
    contents.env.iter().map(key).collect()
}

fn key(key: &EnvironmentKey) -> HomeLine {
    let name = if key.empty {
        format!("{} (empty)", key.key)
    } else {
        key.key.clone()
    };
    let line = match key.winner {
        "process environment" => HomeLine::works(name),
        ".env" => HomeLine::unsupported(
            name,
            "`.env` is not read; export it before `chitin` starts, or use `keyFile` in `chitin.json5`",
        ),
        _ => HomeLine::differs(
            name,
            "fills `${…}` in `openclaw.json`; models and commands do not get it",
        ),
    };
    let others: Vec<&str> = key
        .sources
        .iter()
        .filter(|source| **source != key.winner)
        .copied()
        .collect();
    if others.is_empty() {
        line.kept(key.winner)
    } else {
        line.kept(format!("{}, before {}", key.winner, others.join(", ")))
    }
}
