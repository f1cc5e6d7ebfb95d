//! Which values of a configuration, and which variables, are secrets: by their names, misspelt ones included, and by their look.

use super::env::Env;
use secrecy::SecretString;
use serde_json::Value;

/// Names of values that are secrets end with these; case, `-` and `_` do not count.
const TELLING: [&str; 14] = [
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "apikey",
    "privatekey",
    "accesskey",
    "secretkey",
    "encryptkey",
    "credential",
    "credentials",
    "authorization",
    "headers",
];

/// Names of variables that hold secrets end with these.
const TELLING_VARIABLES: [&str; 10] = [
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "KEY",
    "CREDENTIALS",
    "COOKIE",
    "WEBHOOK_URL",
    "OTLP_HEADERS",
];

/// What people write where a key is demanded and none is needed. These words stand in ordinary text.
const PLACEHOLDERS: [&str; 22] = [
    "anthropic",
    "changeme",
    "chitin",
    "default",
    "disabled",
    "dummy-key",
    "example",
    "not-needed",
    "not-used",
    "ollama",
    "ollama-local",
    "openai",
    "openclaw",
    "optional",
    "password",
    "placeholder",
    "redacted",
    "required",
    "secret",
    "unused",
    "lmstudio",
    "lm-studio",
];

/// Headers that hold no secret. All others may.
const PLAIN_HEADERS: [&str; 14] = [
    "accept",
    "accept-encoding",
    "accept-language",
    "anthropic-beta",
    "anthropic-version",
    "cache-control",
    "connection",
    "content-type",
    "host",
    "http-referer",
    "openai-organization",
    "referer",
    "user-agent",
    "x-title",
];

/// A run of letters and digits of this length looks as if a machine had made it.
const RANDOM_LENGTH: usize = 16;
/// Longer names are not compared letter by letter.
const LONGEST_NAME: usize = 64;
/// Values are not followed deeper.
const MAX_DEPTH: usize = super::MAX_DEPTH;

/// Tells whether a name says that its value is a secret, also if it is misspelt a little.
pub fn is_secret_name(name: &str) -> bool {
    if name.len() > LONGEST_NAME {
        return false;
    }
    let plain: Vec<char> = name
        .chars()
        .filter(|c| !matches!(c, '-' | '_' | ' '))
        .flat_map(char::to_lowercase)
        .collect();
    let ends_like = |word: &str| {
        // A longer word may have more wrong with it.
        let slips = if word.len() >= 8 { 2 } else { 1 };
        (word.len() - 1..=word.len() + 1).any(|length| {
            let Some(start) = plain.len().checked_sub(length) else {
                return false;
            };
            let end: String = plain[start..].iter().collect();
            strsim::damerau_levenshtein(&end, word) <= slips
        })
    };
    TELLING.into_iter().any(ends_like)
}

/// Tells whether the value at a dotted path may be a secret, by the names on the way to it.
pub fn is_secret_path(path: &str) -> bool {
    path.starts_with("env.") || path.split('.').any(is_secret_name)
}

/// Tells whether a variable of this name holds a secret.
pub fn is_secret_variable(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    TELLING_VARIABLES.iter().any(|end| name.ends_with(end))
}

/// Tells whether a text looks as if a machine had made it, as keys do.
pub fn looks_random(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    text.as_bytes().split(|byte| !is_part(*byte)).any(|run| {
        run.len() >= RANDOM_LENGTH
            && run.iter().any(u8::is_ascii_digit)
            && run.iter().any(u8::is_ascii_alphabetic)
    })
}

/// Returns the secrets of a configuration: the values below telling names, and the variables that these name.
pub fn secrets_in(value: &Value, env: &Env) -> Vec<SecretString> {
    let mut found = Vec::new();
    collect(value, env, Below::Ordinary, 0, &mut found);
    found
}

/// Tells whether a text is a word or a number. Variables such as `SORT_KEY` hold these, and taking them out of everything would garble it.
fn is_plain_word(text: &str) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_');
    text.len() < RANDOM_LENGTH
        && (text.bytes().all(|byte| byte.is_ascii_digit()) || text.as_bytes().iter().all(is_word))
}

/// Returns the secrets of the environment, by the names of the variables. Paths are none, and neither are words and numbers: those
/// count only where configuration names the variable.
pub fn secrets_of_environment(env: &Env) -> Vec<SecretString> {
    let variables = env.variables();
    variables
        .filter(|(name, _)| is_secret_variable(name))
        .filter(|(_, value)| !value.starts_with(['/', '~', '.']) && !is_plain_word(value))
        .flat_map(|(_, value)| known(value))
        .collect()
}

/// What the names on the way to a value say.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Below {
    Ordinary,
    /// A map of variables, of which only some are secrets.
    Variables,
    /// A map of headers, of which most may be secrets.
    Headers,
    Secret,
}

fn collect(value: &Value, env: &Env, below: Below, depth: usize, found: &mut Vec<SecretString>) {
    if depth > MAX_DEPTH {
        return;
    }
    match value {
        Value::Object(members) => {
            let is_reference = members.contains_key("source") && members.contains_key("id");
            if below == Below::Secret && is_reference {
                found.extend(variable(&members["id"], env));
                return;
            }
            for (name, member) in members {
                let of_name = match below {
                    Below::Headers if PLAIN_HEADERS.contains(&&*name.to_ascii_lowercase()) => {
                        Below::Ordinary
                    }
                    Below::Secret | Below::Headers => Below::Secret,
                    Below::Variables if is_secret_variable(name) => Below::Secret,
                    _ if name.to_ascii_lowercase().ends_with("headers") => Below::Headers,
                    _ if name == "env" || name == "vars" => Below::Variables,
                    // It says where secrets are kept, not what they are.
                    Below::Ordinary if depth == 0 && name == "secrets" => Below::Ordinary,
                    Below::Ordinary if is_secret_name(name) => Below::Secret,
                    other => other,
                };
                collect(member, env, of_name, depth + 1, found);
            }
        }
        Value::Array(items) => {
            for item in items {
                collect(item, env, below, depth + 1, found);
            }
        }
        Value::String(text) => match below {
            Below::Secret => match variable(value, env) {
                Some(secret) => found.push(secret),
                None if text.contains("${") => {}
                None => found.extend(known(text)),
            },
            Below::Variables if looks_random(text) => found.extend(known(text)),
            Below::Variables | Below::Headers | Below::Ordinary => {}
        },
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns the value of the variable that a text names, if it is the name of one that is set.
fn variable(name: &Value, env: &Env) -> Option<SecretString> {
    let value = env.get(name.as_str()?.trim())?.trim();
    (!value.is_empty()).then(|| SecretString::from(value))
}

/// A value, and the part of it after the scheme of a header. Words that stand for no key are left out.
fn known(text: &str) -> Vec<SecretString> {
    let text = text.trim();
    if PLACEHOLDERS.contains(&text.to_ascii_lowercase().as_str()) {
        return Vec::new();
    }
    let mut found = vec![SecretString::from(text)];
    // `Bearer KEY`, `Authorization=Bearer KEY`: the key alone is a secret too. Shorter words are parts of speech.
    if let Some((_, last)) = text.rsplit_once([' ', '='])
        && last.len() >= RANDOM_LENGTH
    {
        found.push(SecretString::from(last));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::ExposeSecret;
    use serde_json::json;

    #[test]
    fn names_tell_secrets_also_when_they_are_misspelt() {
        for name in [
            "token",
            "botToken",
            "BOT_TOKEN",
            "apiKey",
            "api_key",
            "api-key",
            "apiKye",
            "apikeey",
            "tokne",
            "botTokn",
            "passwrod",
            "pasword",
            "clientSecret",
            "clientSecrte",
            "headers",
            "signingSecret",
            "pswd_passphrase",
            "acessKey",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "model",
            "name",
            "workspace",
            "keyFile",
            "tokenFile",
            "contextWindow",
            "baseUrl",
            "id",
            "mode",
            "primary",
            "enabled",
            "keepRecent",
            "allowFrom",
            "port",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn what_a_machine_made_is_told_from_names_of_models_and_paths() {
        for text in [
            "sk-ant-api03-AbCdEf0123456789xyz",
            "9f86d081884c7d659a2feaa0c55ad015",
        ] {
            assert!(looks_random(text), "{text}");
        }
        for text in [
            "claude-opus-4-20250514",
            "anthropic/claude-sonnet-4.5",
            "/home/kim/agents/harbor2",
            "https://example.org/v1/chat",
            "agent:main:discord:1",
            "internationalization",
        ] {
            assert!(!looks_random(text), "{text}");
        }
    }

    #[test]
    fn the_secrets_of_a_configuration_are_found_wherever_it_says_them() {
        let env = Env::new("/").with("GIVEN", "from-the-variable");
        let config = json!({
            "gateway": {"auth": {"mode": "token", "token": "gateway-token-1"}},
            "models": {"providers": {
                "a": {"apiKey": "key-in-clear-1", "baseUrl": "https://a.example"},
                "b": {"apiKey": "GIVEN"},
                "c": {"apiKey": {"source": "env", "provider": "default", "id": "GIVEN"}},
                "d": {"apiKey": "${UNSET}"},
                "ollama": {"apiKey": "ollama-local"},
                "e": {"apiKye": "key-in-clear-2", "headers": {"X-Custom": "header-value-1"}},
            }},
            "channels": {"slack": {"accounts": {"x": {"botToken": "xoxb-clear", "name": "ship"}}}},
            "mcp": {"servers": {"s": {
                "env": {"API_TOKEN": "server-token-1", "MODE": "production", "X": "a1b2c3d4e5f6a7b8c9"},
                "headers": {"Accept": "application/json", "Authorization": "Bearer abcdefghijklmnop"},
            }}},
            "secrets": {"providers": {"vault": {"source": "file", "path": "/home/kim/vault.json", "mode": "json"}}},
            "maxTokens": 5,
        });
        let found = secrets_in(&config, &env);
        let found: Vec<&str> = found.iter().map(ExposeSecret::expose_secret).collect();
        assert_eq!(
            found,
            [
                "gateway-token-1",
                "key-in-clear-1",
                "from-the-variable",
                "from-the-variable",
                "key-in-clear-2",
                "header-value-1",
                "xoxb-clear",
                "server-token-1",
                "a1b2c3d4e5f6a7b8c9",
                "Bearer abcdefghijklmnop",
                "abcdefghijklmnop",
            ]
        );
    }

    #[test]
    fn variables_with_telling_names_are_secrets_and_paths_are_not() {
        let env = Env::new("/")
            .with("ANTHROPIC_API_KEY", "clear-1")
            .with("SSH_KEY", "/home/kim/.ssh/id")
            .with("PATH", "/bin")
            .with("SORT_KEY", "number")
            .with("DEPLOY_KEY", "us-east")
            .with("Z_KEY", "000000")
            .with("chitin_token", "clear-2");
        let mut found: Vec<_> = secrets_of_environment(&env)
            .iter()
            .map(|secret| secret.expose_secret().to_owned())
            .collect();
        found.sort();
        assert_eq!(found, ["clear-1", "clear-2"]);
    }
}
