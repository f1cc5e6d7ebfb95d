//! From a model's name to everything that it takes to ask it; and which one is used when none is named.

use crate::asking::{self, Conversation, done, run};
use chitin_model::providers::{
    ResolveError, ResolvedModel, Sources, TABLE, local_models, pick_default, resolve,
};
use chitin_model::{Api, ModelEndpoint};
use chitin_protocol::settings::{KeyHeaderSetting, ProviderSettings};
use chitin_test::TestEnv;
use chitin_test::model_server::{Format, ModelServer};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::Permissions;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// Everything that may be said from outside, owned.
struct Outside {
    settings: BTreeMap<String, ProviderSettings>,
    openclaw: Value,
    variables: BTreeMap<String, String>,
}

impl Outside {
    fn new(settings: &Value, openclaw: Value, variables: &[(&str, &str)]) -> Self {
        Self {
            settings: serde_json::from_value(settings.clone()).unwrap(),
            openclaw,
            variables: variables
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
        }
    }

    fn with<T>(&self, act: impl FnOnce(&Sources<'_>) -> T) -> T {
        self.at(Path::new("/nowhere"), act)
    }

    fn at<T>(&self, directory: &Path, act: impl FnOnce(&Sources<'_>) -> T) -> T {
        let variables = |name: &str| self.variables.get(name).cloned();
        act(&Sources {
            settings: &self.settings,
            openclaw: Some(&self.openclaw),
            variables: &variables,
            directory,
            home: Some(directory),
        })
    }

    fn resolve(&self, id: &str) -> Result<ResolvedModel, ResolveError> {
        self.with(|sources| resolve(id, sources))
    }
}

fn nothing() -> Outside {
    Outside::new(&json!({}), Value::Null, &[])
}

fn endpoint(model: &ResolvedModel) -> &ModelEndpoint {
    model.endpoint.as_ref().unwrap()
}

fn key(model: &ResolvedModel) -> Option<&str> {
    endpoint(model)
        .key
        .as_ref()
        .map(ExposeSecret::expose_secret)
}

#[test]
fn the_table_is_sound() {
    let ids: BTreeSet<&str> = TABLE.iter().map(|provider| provider.id).collect();
    assert_eq!(ids.len(), TABLE.len());
    for provider in TABLE {
        let outside = Outside::new(
            &json!({}),
            Value::Null,
            &[(provider.variables[0], "sk-some-key")],
        );
        let model = outside.resolve(&format!("{}/a/b", provider.id)).unwrap();
        assert_eq!((&*model.name, model.api), ("a/b", provider.api));
        assert_eq!(key(&model), Some("sk-some-key"), "{}", provider.id);
        assert!(model.open().is_ok(), "{}", provider.id);
    }
}

#[test]
fn configuration_comes_before_the_environment() {
    let outside = Outside::new(
        &json!({"openai": {"apiKey": "sk-own", "keyHeader": "bearer", "idleSeconds": 5}}),
        json!({"providers": {
            "openai": {"baseUrl": "http://127.0.0.1:1/v1", "apiKey": "sk-claw", "api": "openai-completions"},
            "house": {
                "baseUrl": "http://127.0.0.1:2/v1", "apiKey": {"source": "env", "id": "HOUSE_KEY"}, "authHeader": true,
                "headers": {"X-Team": "t"},
                "models": [{"id": "big", "name": "Big", "contextWindow": 9000, "maxTokens": 100, "api": "anthropic-messages"}],
            },
        }}),
        &[("OPENAI_API_KEY", "sk-env"), ("HOUSE_KEY", "sk-house")],
    );
    let model = outside.resolve("openai/gpt-x").unwrap();
    assert_eq!(key(&model), Some("sk-own"));
    assert_eq!(model.api, Api::OpenaiCompletions);
    assert_eq!(endpoint(&model).base_url, "http://127.0.0.1:1/v1");
    assert_eq!(endpoint(&model).timeouts.idle, Duration::from_secs(5));
    assert!(!format!("{model:?}").contains("sk-own"));

    let model = outside.resolve("house/big").unwrap();
    assert_eq!(key(&model), Some("sk-house"));
    assert_eq!(model.api, Api::AnthropicMessages);
    assert_eq!(endpoint(&model).key_header, KeyHeaderSetting::Bearer);
    assert_eq!(endpoint(&model).headers[0].0, "x-team");
    assert_eq!(
        (model.context_window, model.max_tokens),
        (Some(9000), Some(100))
    );

    let model = outside.resolve("house/unlisted").unwrap();
    assert_eq!(
        (model.api, model.context_window),
        (Api::OpenaiCompletions, None)
    );
}

#[test]
fn a_key_file_is_found_beside_the_configuration() {
    let env = TestEnv::new();
    let path = env.file("home/keys/acme", "sk-in-a-file\n");
    let outside = Outside::new(
        &json!({"acme": {"baseUrl": "http://127.0.0.1:1", "keyFile": "keys/acme"}}),
        Value::Null,
        &[],
    );
    let resolved = || outside.at(&env.home(), |sources| resolve("acme/m", sources));
    std::fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    let error = resolved().unwrap_err();
    assert!(
        error.to_string().contains("can be read by others"),
        "{error}"
    );
    assert!(
        error.hint().starts_with("run `chmod 600 "),
        "{}",
        error.hint()
    );
    std::fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    assert_eq!(key(&resolved().unwrap()), Some("sk-in-a-file"));
}

#[test]
fn what_is_missing_is_said_with_a_hint() {
    let outside = nothing();
    let error = |id: &str| outside.resolve(id).unwrap_err();
    assert_eq!(error("gpt-5"), ResolveError::NoProvider("gpt-5".to_owned()));
    assert!(error("antropic/x").hint().contains("`anthropic`"));
    assert!(error("megacorp/x").hint().contains("chitin.json5"));
    let no_key = error("anthropic/claude");
    assert!(
        no_key.hint().contains("ANTHROPIC_API_KEY"),
        "{}",
        no_key.hint()
    );
    assert_eq!(
        error("scripted/"),
        ResolveError::NoFile("scripted".to_owned())
    );
    let odd = Outside::new(
        &json!({"x": {"api": "smoke-signals", "baseUrl": "http://a"}, "y": {}}),
        Value::Null,
        &[],
    );
    assert!(matches!(
        odd.resolve("x/m"),
        Err(ResolveError::UnknownApi { .. })
    ));
    assert!(matches!(
        odd.resolve("y/m"),
        Err(ResolveError::NoAddress(_))
    ));
}

#[test]
fn a_server_of_ones_own_needs_no_key() {
    let server = ModelServer::start(Format::Anthropic, r#"{"text":"in"}"#);
    let outside = Outside::new(
        &json!({}),
        Value::Null,
        &[("ANTHROPIC_BASE_URL", &server.url())],
    );
    let model = outside.resolve("anthropic/any").unwrap();
    assert_eq!(key(&model), None);
    let events = run(asking::ask(
        &*model.open().unwrap(),
        &Conversation::saying("hi"),
    ))
    .unwrap();
    assert_eq!(done(&events).content.text(), "in");
}

#[test]
fn the_key_of_the_environment_is_picked_in_the_order_of_the_table() {
    let pick = |variables: &[(&str, &str)]| {
        let outside = Outside::new(&json!({}), Value::Null, variables);
        outside.with(|sources| pick_default(sources, |_| None))
    };
    let both = pick(&[("OPENAI_API_KEY", "a"), ("ANTHROPIC_API_KEY", "b")]);
    assert_eq!(both.model, "anthropic/claude-sonnet-5-5");
    assert!(
        both.reason.contains("`ANTHROPIC_API_KEY`"),
        "{}",
        both.reason
    );
    assert!(
        pick(&[("OPENAI_API_KEY", "a"), ("ANTHROPIC_API_KEY", " ")])
            .model
            .starts_with("openai/")
    );
    let nameless = pick(&[("GROQ_API_KEY", "a")]);
    assert_eq!(nameless.model, "offline/offline");
    assert!(
        nameless.reason.contains("--model groq/NAME"),
        "{}",
        nameless.reason
    );
    let nothing = pick(&[]);
    assert_eq!(nothing.model, "offline/offline");
    assert!(
        nothing.reason.contains("neither a key nor a local server"),
        "{}",
        nothing.reason
    );
}

#[test]
fn a_local_server_is_picked_with_its_first_model() {
    let outside = Outside::new(
        &json!({}),
        Value::Null,
        &[("OLLAMA_HOST", "127.0.0.1:4321")],
    );
    let models = |address: &str| {
        assert_eq!(address, "http://127.0.0.1:4321");
        Some(vec!["qwen3:8b".to_owned(), "other".to_owned()])
    };
    let pick = outside.with(|sources| pick_default(sources, models));
    assert_eq!(pick.model, "ollama/qwen3:8b");
    let gone = outside.with(|sources| pick_default(sources, |_| None));
    assert_eq!(gone.model, "offline/offline");
    assert!(
        gone.reason.contains("http://127.0.0.1:4321"),
        "{}",
        gone.reason
    );
}

/// Serves one raw answer on loopback.
fn serving(answer: &'static str) -> (String, std::thread::JoinHandle<String>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 1000];
        let length = stream.read(&mut request).unwrap();
        stream.write_all(answer.as_bytes()).unwrap();
        if answer.is_empty() {
            // Says nothing and stays.
            let _ = stream.read(&mut request);
        }
        String::from_utf8_lossy(&request[..length]).into_owned()
    });
    (url, thread)
}

#[test]
fn a_local_server_is_asked_for_its_models_and_a_silent_one_costs_little() {
    let (url, thread) = serving(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{\"models\":[{\"name\":\"a:1\"},{\"name\":\"b\"}]}",
    );
    assert_eq!(
        local_models(&url),
        Some(vec!["a:1".to_owned(), "b".to_owned()])
    );
    assert!(thread.join().unwrap().starts_with("GET /api/tags "));

    let (url, thread) = serving("HTTP/1.1 500 No\r\n\r\n} {");
    assert_eq!(local_models(&url), None);
    thread.join().unwrap();

    let start = Instant::now();
    let (url, thread) = serving("");
    assert!(local_models(&url).is_none_or(|names| names.is_empty()));
    assert!(start.elapsed() < Duration::from_secs(1));
    thread.join().unwrap();

    // Nobody there, not on this machine, not plain.
    let start = Instant::now();
    for url in [
        "http://127.0.0.1:1",
        "http://192.0.2.1:11434",
        "https://127.0.0.1:1",
    ] {
        assert_eq!(local_models(url), None);
    }
    assert!(start.elapsed() < Duration::from_millis(100));
}
