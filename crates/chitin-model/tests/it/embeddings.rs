//! Vectors over real sockets: the right ones in the right order, clear errors, no hang, and the key is never shown.

use crate::asking::{KEY, LONG, SHORT, run};
use crate::embedding_server::{EmbeddingServer, Reply, numbers};
use chitin_model::embeddings::{EmbeddingApi, EmbeddingOptions};
use chitin_model::providers::{Sources, resolve};
use chitin_model::{
    BlockingEmbedder, Jitter, ModelEndpoint, ModelError, ModelTimeouts, RemoteEmbedder, RetryPolicy,
};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

const BOTH: [EmbeddingApi; 2] = [EmbeddingApi::Openai, EmbeddingApi::Ollama];

fn quick() -> EmbeddingOptions {
    EmbeddingOptions {
        retry: RetryPolicy {
            first_wait: Duration::from_millis(1),
            jitter: Jitter::fixed(0.0),
            ..RetryPolicy::default()
        },
        ..EmbeddingOptions::default()
    }
}

fn embedder(
    api: EmbeddingApi,
    server: &EmbeddingServer,
    timeouts: ModelTimeouts,
    options: EmbeddingOptions,
) -> RemoteEmbedder {
    let endpoint = ModelEndpoint::new(server.url())
        .with_key(KEY.into())
        .with_timeouts(timeouts);
    RemoteEmbedder::new(api, "acme", "small", endpoint, options).unwrap()
}

fn ask(embedder: &RemoteEmbedder, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
    run(embedder.embed(texts, &CancellationToken::new()))
}

/// Asks a server that answers by a script, and asks it once only.
fn error_of(api: EmbeddingApi, reply: Reply) -> ModelError {
    let server = EmbeddingServer::start(vec![reply]);
    let options = EmbeddingOptions {
        retry: RetryPolicy::never(),
        ..quick()
    };
    ask(&embedder(api, &server, SHORT, options), &["one", "two"]).unwrap_err()
}

fn assert_are_of(vectors: &[Vec<f32>], texts: &[&str]) {
    assert_eq!(vectors.len(), texts.len());
    for (vector, text) in vectors.iter().zip(texts) {
        let expected = numbers(text);
        let length = expected
            .iter()
            .map(|number| number * number)
            .sum::<f64>()
            .sqrt();
        for (number, expected) in vector.iter().zip(expected) {
            assert!(
                (f64::from(*number) - expected / length).abs() < 1e-6,
                "{text}"
            );
        }
    }
}

#[test]
fn each_text_gets_its_own_vector_whatever_the_order_of_the_answer() {
    let texts = ["a", "longer text", "the longest text of all"];
    for (api, path) in [
        (EmbeddingApi::Openai, "/v1/embeddings"),
        (EmbeddingApi::Ollama, "/api/embed"),
    ] {
        let server = EmbeddingServer::start(Vec::new());
        let embedder = embedder(api, &server, LONG, quick());
        assert_eq!(embedder.dimensions(), None);
        assert_are_of(&ask(&embedder, &texts).unwrap(), &texts);
        assert_eq!(
            (embedder.id(), embedder.dimensions()),
            ("acme/small", Some(3))
        );
        let asked = &server.asked()[0];
        assert_eq!(asked.path, path);
        assert_eq!(asked.authorization, Some(format!("Bearer {KEY}")));
        let mut body = json!({"model": "small", "input": texts});
        if api == EmbeddingApi::Openai {
            body["encoding_format"] = "float".into();
        }
        assert_eq!(asked.body, body);
    }
}

#[test]
fn many_texts_go_in_batches_and_a_long_one_is_cut() {
    let server = EmbeddingServer::start(Vec::new());
    let options = EmbeddingOptions {
        most_texts: 3,
        most_tokens: 20,
        longest_text: 10,
        ..quick()
    };
    let embedder = embedder(EmbeddingApi::Openai, &server, LONG, options);
    let long = "x".repeat(1000);
    let texts = ["a", "b", "c", "d", &long, &long, "e"];
    let vectors = ask(&embedder, &texts).unwrap();
    let sizes: Vec<usize> = server
        .asked()
        .iter()
        .map(|asked| asked.texts().len())
        .collect();
    assert_eq!(sizes, [3, 2, 2]);
    assert_are_of(
        &vectors,
        &["a", "b", "c", "d", &long[..30], &long[..30], "e"],
    );
}

#[test]
fn a_server_that_takes_less_than_it_was_given_gets_less() {
    let too_long = || {
        let said = json!({"error": "the input length exceeds the context length"});
        Reply::Failure(400, "", said)
    };
    let long = "word ".repeat(200);
    // Both at once, the first alone, half of the first.
    let server = EmbeddingServer::start(vec![too_long(), too_long()]);
    let embedder = embedder(EmbeddingApi::Ollama, &server, LONG, quick());
    let vectors = ask(&embedder, &[&long, "short"]).unwrap();
    let sent: Vec<usize> = server
        .asked()
        .iter()
        .map(|asked| asked.texts()[0].len())
        .collect();
    assert_eq!(sent, [1000, 1000, 501, 5]);
    assert_are_of(&vectors, &[&long[..501], "short"]);

    let never = EmbeddingServer::start((0..20).map(|_| too_long()).collect());
    let embedder = self::embedder(EmbeddingApi::Ollama, &never, LONG, quick());
    let error = ask(&embedder, &[&long]).unwrap_err();
    assert!(matches!(error, ModelError::TooLong { .. }), "{error:?}");
    assert_eq!(never.asked().len(), 3, "there is an end to it");
}

#[test]
fn blank_texts_are_not_sent_and_have_no_vector() {
    let server = EmbeddingServer::start(Vec::new());
    let embedder = embedder(EmbeddingApi::Openai, &server, LONG, quick());
    assert_eq!(ask(&embedder, &[]).unwrap(), Vec::<Vec<f32>>::new());
    let vectors = ask(&embedder, &["", "word", " \n"]).unwrap();
    assert_eq!(vectors[0], [0.0; 3]);
    assert_are_of(&vectors[1..2], &["word"]);
    assert_eq!(vectors[2], [0.0; 3]);
    assert_eq!(server.asked().len(), 1);
    assert_eq!(server.asked()[0].texts(), ["word"]);
}

#[test]
fn a_server_that_is_busy_or_fails_is_asked_again_after_the_time_that_it_names() {
    for api in BOTH {
        let server = EmbeddingServer::start(vec![
            Reply::Failure(
                429,
                "retry-after-ms: 120\r\n",
                json!({"error": {"message": "slow down"}}),
            ),
            Reply::Failure(503, "", json!({"error": "warming up"})),
        ]);
        let embedder = embedder(api, &server, LONG, quick());
        let start = Instant::now();
        assert_are_of(&ask(&embedder, &["hi"]).unwrap(), &["hi"]);
        assert!(start.elapsed() >= Duration::from_millis(120));
        assert_eq!(server.asked().len(), 3);
    }
}

#[test]
fn a_wrong_key_is_said_once_and_shown_nowhere() {
    for api in BOTH {
        let said = json!({"error": {"message": format!("incorrect key {KEY} provided")}});
        let server = EmbeddingServer::start(vec![Reply::Failure(401, "", said)]);
        let embedder = embedder(api, &server, LONG, quick());
        let error = ask(&embedder, &["hi"]).unwrap_err();
        assert!(
            matches!(error, ModelError::Unauthorized { .. }),
            "{error:?}"
        );
        assert!(
            error.to_string().contains("acme does not accept the key"),
            "{error}"
        );
        let shown = format!("{error} {error:?} {embedder:?}");
        assert!(!shown.contains(KEY), "{shown}");
        assert_eq!(server.asked().len(), 1, "asking again would not help");
    }
}

#[test]
fn answers_that_are_no_vectors_are_refused() {
    for api in BOTH {
        for (body, part) in [
            (r#"{"data":[{"index":0,"embedding":[1,"#, "EOF"),
            ("<html>busy</html>", "expected"),
            (
                r#"{"data":[{"index":0,"embedding":[1,0]}],"embeddings":[[1,0]]}"#,
                "1 vectors for 2 texts",
            ),
        ] {
            let error = error_of(api, Reply::Body(body.to_owned()));
            let ModelError::Malformed { message, .. } = &error else {
                panic!("{error:?}");
            };
            assert!(message.contains(part), "{body}: {message}");
            assert!(!error.is_transient());
        }
        let error = error_of(api, Reply::Half);
        assert!(matches!(error, ModelError::Unreachable { .. }), "{error:?}");
    }
}

#[test]
fn vectors_that_change_their_length_are_refused() {
    let other = json!({"embeddings": [[1.0, 0.0]]}).to_string();
    let server = EmbeddingServer::start(vec![Reply::Vectors, Reply::Body(other)]);
    let embedder = embedder(EmbeddingApi::Ollama, &server, LONG, quick());
    ask(&embedder, &["one"]).unwrap();
    let error = ask(&embedder, &["two"]).unwrap_err();
    assert!(
        error.to_string().contains("2 numbers where 3 are expected"),
        "{error}"
    );
}

#[test]
fn a_server_that_says_nothing_is_given_up() {
    for api in BOTH {
        let start = Instant::now();
        let error = error_of(api, Reply::Silence);
        assert!(matches!(error, ModelError::TimedOut { .. }), "{error:?}");
        assert!(start.elapsed() < Duration::from_secs(3));
    }
}

#[test]
fn a_caller_that_changes_its_mind_does_not_wait() {
    let server = EmbeddingServer::start(vec![Reply::Silence]);
    let embedder = embedder(EmbeddingApi::Openai, &server, LONG, quick());
    let cancel = CancellationToken::new();
    let start = Instant::now();
    let outcome = run(async {
        let stop = async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            cancel.cancel();
        };
        tokio::join!(embedder.embed(&["hi"], &cancel), stop).0
    });
    assert!(matches!(outcome, Err(ModelError::Cancelled)), "{outcome:?}");
    assert!(start.elapsed() < Duration::from_secs(3));
}

#[test]
fn a_thread_that_may_wait_gets_vectors_too_and_none_when_the_runtime_is_gone() {
    let server = EmbeddingServer::start(Vec::new());
    let embedder = Arc::new(embedder(EmbeddingApi::Openai, &server, LONG, quick()));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let handle = runtime.handle().clone();
    let blocking = BlockingEmbedder::new(embedder, handle, CancellationToken::new());
    assert_are_of(&blocking.embed(&["hi there"]).unwrap(), &["hi there"]);
    assert_eq!(blocking.embedder().dimensions(), Some(3));
    runtime.shutdown_background();
    assert!(matches!(
        blocking.embed(&["hi"]),
        Err(ModelError::Cancelled)
    ));
}

#[test]
fn a_name_is_all_it_takes_where_the_provider_is_known() {
    let settings = BTreeMap::new();
    let variables = |name: &str| {
        (name == "ANTHROPIC_API_KEY" || name == "OPENAI_API_KEY").then(|| KEY.to_owned())
    };
    let sources = Sources {
        settings: &settings,
        openclaw: None,
        variables: &variables,
        directory: Path::new("/"),
        home: None,
    };
    let of = |name| RemoteEmbedder::resolved(resolve(name, &sources).unwrap(), quick());
    assert_eq!(
        of("openai/text-embedding-3-small").unwrap().id(),
        "openai/text-embedding-3-small"
    );
    assert_eq!(
        of("ollama/nomic-embed-text").unwrap().id(),
        "ollama/nomic-embed-text"
    );
    let error = of("anthropic/claude").unwrap_err();
    assert!(error.to_string().contains("does not embed"), "{error}");
}
