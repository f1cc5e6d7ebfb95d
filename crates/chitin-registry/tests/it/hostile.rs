//! Servers that are overloaded, confused, or after something.

use crate::sample::{Sandbox, anonymous, failed, noise, options, pilot};
use chitin_pack::Digest;
use chitin_pack::artifact::{Descriptor, Manifest};
use chitin_pack::compat::{self, OCI_MANIFEST};
use chitin_pack::reference::Reference;
use chitin_registry::{RegistryClient, RegistryOptions, Silent};
use chitin_test::registry::{Reply, Request, ScriptedServer};
use std::collections::{BTreeMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// An artifact with one layer, and a server's right answers about it.
#[derive(Clone)]
struct Artifact {
    layer: Vec<u8>,
    manifest: Vec<u8>,
}

const CONFIG: &[u8] = b"{}";

impl Artifact {
    fn new(layer: Vec<u8>) -> Self {
        let kind = "application/vnd.stax.knowledge.v1.tar+gzip";
        let manifest = Manifest {
            artifact_type: compat::AGENT.to_owned(),
            config: Descriptor::of(compat::CONFIG, CONFIG),
            layers: vec![Descriptor::of(kind, &layer)],
            annotations: BTreeMap::new(),
            subject: None,
        };
        Self {
            layer,
            manifest: manifest.to_bytes(),
        }
    }

    fn answer(&self, request: &Request) -> Reply {
        let path = request.path();
        if path.ends_with(&Digest::of(CONFIG).to_string()) {
            Reply::bytes(CONFIG)
        } else if path.contains("/blobs/") {
            Reply::bytes(self.layer.clone())
        } else {
            let digest = Digest::of(&self.manifest).to_string();
            Reply::bytes(self.manifest.clone())
                .header("Content-Type", OCI_MANIFEST)
                .header("Docker-Content-Digest", digest)
        }
    }
}

fn reference(server: &ScriptedServer) -> Reference {
    format!("{}/acme/pilot:1", server.host()).parse().unwrap()
}

#[tokio::test]
async fn a_registry_in_trouble_is_asked_again() {
    let artifact = Artifact::new(noise(50_000, 11));
    let count = AtomicUsize::new(0);
    let right = artifact.clone();
    let server = ScriptedServer::start(move |request| match count.fetch_add(1, Ordering::SeqCst) {
        0 => Reply::status(429).header("Retry-After", "1"),
        1 => Reply::status(500),
        2 => Reply::nothing(),
        4 => Reply::status(503),
        _ => right.answer(request),
    });
    let (there, start) = (Sandbox::new(), Instant::now());
    let pulled = anonymous()
        .pull(&reference(&server), &there.store, &Silent)
        .await;
    assert_eq!(pulled.unwrap(), Digest::of(&artifact.manifest));
    assert!(start.elapsed() >= Duration::from_secs(1), "it said when");
    assert_eq!(server.requests().len(), 7);
}

#[tokio::test]
async fn a_registry_that_says_no_is_not_asked_again() {
    for (status, class) in [
        (400, "registry"),
        (403, "unauthorized"),
        (404, "not-found"),
        (410, "registry"),
    ] {
        let server = ScriptedServer::start(move |_| Reply::status(status));
        let there = Sandbox::new();
        let pulled = anonymous()
            .pull(&reference(&server), &there.store, &Silent)
            .await;
        assert_eq!(failed(pulled), (class, 3), "{status}");
        assert_eq!(server.requests().len(), 1, "{status}");
    }
    let server = ScriptedServer::start(|_| Reply::status(502));
    let there = Sandbox::new();
    let pulled = anonymous()
        .pull(&reference(&server), &there.store, &Silent)
        .await;
    assert_eq!(failed(pulled), ("registry", 3));
    assert_eq!(server.requests().len(), 4, "there is an end to it");
}

#[tokio::test]
async fn credentials_stay_with_their_registry() {
    let artifact = Artifact::new(noise(10_000, 12));
    let right = artifact.clone();
    let storage = ScriptedServer::start(move |request| right.answer(request));
    let (elsewhere, right) = (storage.host(), artifact.clone());
    let server = ScriptedServer::start(move |request| {
        if request.header("authorization").is_none() {
            Reply::status(401).header("WWW-Authenticate", "Basic realm=\"x\"")
        } else if request.path().contains("/blobs/") {
            let location = format!("http://{elsewhere}{}", request.target);
            Reply::status(307).header("Location", location)
        } else {
            right.answer(request)
        }
    });
    let registry = RegistryClient::new(options(), pilot(&server.host())).unwrap();
    let there = Sandbox::new();
    let pulled = registry
        .pull(&reference(&server), &there.store, &Silent)
        .await;
    assert_eq!(pulled.unwrap(), Digest::of(&artifact.manifest));
    let seen = storage.requests();
    assert_eq!(seen.len(), 2);
    for request in &seen {
        assert_eq!(request.header("authorization"), None);
    }
}

#[tokio::test]
async fn an_upload_that_is_sent_elsewhere_takes_no_credentials_along() {
    let storage = ScriptedServer::start(|_| Reply::status(201));
    let elsewhere = storage.host();
    let server = ScriptedServer::start(move |request| match request.method.as_str() {
        _ if request.header("authorization").is_none() => {
            Reply::status(401).header("WWW-Authenticate", "Basic realm=\"x\"")
        }
        "HEAD" => Reply::status(404),
        "POST" => Reply::status(202).header("Location", format!("http://{elsewhere}/u?a=b")),
        _ => Reply::status(201),
    });
    let registry = RegistryClient::new(options(), pilot(&server.host())).unwrap();
    let here = Sandbox::new();
    let digest = here.put(&[b"layer"]);
    let pushed = registry
        .push(&here.store, &digest, &reference(&server), &Silent)
        .await;
    assert_eq!(pushed.unwrap(), digest);
    let seen = storage.requests();
    assert_eq!(seen.len(), 2);
    for request in &seen {
        assert_eq!(request.header("authorization"), None);
        assert_eq!(request.query("a"), ["b"]);
    }
}

#[tokio::test]
async fn a_challenge_or_redirect_that_leads_astray_is_not_followed() {
    let astray = [
        Reply::status(401).header(
            "WWW-Authenticate",
            "Bearer realm=\"http://far.example/token\"",
        ),
        Reply::status(401).header("WWW-Authenticate", "Bearer realm=\"file:///etc/passwd\""),
        Reply::status(401),
        Reply::status(307).header("Location", "http://far.example/"),
        Reply::status(307).header("Location", "/v2/acme/pilot/manifests/1"),
        Reply::status(307),
    ];
    for reply in astray {
        let server = ScriptedServer::start(move |_| reply.clone());
        let registry = RegistryClient::new(options(), pilot(&server.host())).unwrap();
        let there = Sandbox::new();
        let pulled = registry
            .pull(&reference(&server), &there.store, &Silent)
            .await;
        assert_eq!(failed(pulled), ("registry", 3));
        assert!(server.requests().len() <= 6);
        for request in server.requests() {
            assert_eq!(request.header("authorization"), None);
        }
    }
}

#[tokio::test]
async fn another_manifest_than_the_one_named_is_refused() {
    let artifact = Artifact::new(noise(1_000, 13));
    let other = Digest::of(b"other").to_string();
    let liar = {
        let (bytes, other) = (artifact.manifest.clone(), other.clone());
        ScriptedServer::start(move |_| {
            Reply::bytes(bytes.clone()).header("Docker-Content-Digest", other.clone())
        })
    };
    let there = Sandbox::new();
    let pulled = anonymous()
        .pull(&reference(&liar), &there.store, &Silent)
        .await;
    assert_eq!(failed(pulled), ("digest-mismatch", 3));

    let right = artifact.clone();
    let server = ScriptedServer::start(move |request| right.answer(request));
    let text = format!("{}/acme/pilot@{other}", server.host());
    let pulled = anonymous()
        .pull(&text.parse().unwrap(), &there.store, &Silent)
        .await;
    assert_eq!(failed(pulled), ("digest-mismatch", 3));
    let resolved = anonymous().resolve(&text.parse().unwrap()).await;
    assert_eq!(failed(resolved), ("digest-mismatch", 3));
    assert!(there.check().is_empty());
}

#[tokio::test]
async fn nonsense_and_endless_answers_are_refused() {
    let huge = Artifact::new(noise(1_000, 14));
    let index = br#"{"schemaVersion":2,"manifests":[]}"#.to_vec();
    let answers = [
        (Reply::bytes(vec![b' '; 5 * 1024 * 1024]), "registry"),
        (Reply::bytes("<html>"), "invalid-manifest"),
        (Reply::bytes(index), "invalid-manifest"),
    ];
    for (reply, class) in answers {
        let server = ScriptedServer::start(move |_| reply.clone());
        let there = Sandbox::new();
        let pulled = anonymous()
            .pull(&reference(&server), &there.store, &Silent)
            .await;
        assert_eq!(failed(pulled), (class, 3));
        assert!(there.check().is_empty());
    }
    let small = RegistryOptions {
        max_artifact_bytes: 500,
        ..options()
    };
    let server = ScriptedServer::start(move |request| huge.answer(request));
    let there = Sandbox::new();
    let registry = RegistryClient::new(small, chitin_registry::Keychain::default()).unwrap();
    let pulled = registry
        .pull(&reference(&server), &there.store, &Silent)
        .await;
    assert_eq!(failed(pulled), ("layer-too-large", 3));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_registry_that_never_answers_is_not_waited_for_for_ever() {
    let server = ScriptedServer::start(|_| {
        std::thread::sleep(Duration::from_secs(20));
        Reply::status(200)
    });
    let mut quick = options();
    quick.timeouts.answer = Duration::from_millis(100);
    quick.retries.attempts = 1;
    let registry = RegistryClient::new(quick, chitin_registry::Keychain::default()).unwrap();
    let start = Instant::now();
    assert_eq!(
        failed(registry.check(&server.host()).await),
        ("registry", 3)
    );
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn a_server_that_knows_no_parts_sends_all_of_it_again() {
    let artifact = Artifact::new(noise(300_000, 15));
    let count = AtomicUsize::new(0);
    let right = artifact.clone();
    let server = ScriptedServer::start(move |request| {
        let reply = right.answer(request);
        let is_layer = request
            .path()
            .ends_with(&Digest::of(&right.layer).to_string());
        if is_layer && count.fetch_add(1, Ordering::SeqCst) == 0 {
            reply.cut_after(100_000)
        } else {
            reply
        }
    });
    let there = Sandbox::new();
    let pulled = anonymous()
        .pull(&reference(&server), &there.store, &Silent)
        .await;
    assert_eq!(pulled.unwrap(), Digest::of(&artifact.manifest));
    there.check();
}

/// Everything that a push asks fails once before it works.
#[tokio::test]
async fn a_push_into_trouble_comes_through() {
    let asked: Mutex<HashSet<String>> = Mutex::default();
    let server = ScriptedServer::start(move |request| {
        let question = format!("{} {}", request.method, request.path());
        if asked.lock().unwrap().insert(question) {
            return Reply::status(503).header("Retry-After", "0");
        }
        match request.method.as_str() {
            "POST" | "PATCH" => Reply::status(202).header("Location", "/upload"),
            "PUT" => Reply::status(201),
            _ => Reply::status(404),
        }
    });
    let pieces = RegistryOptions {
        chunk_bytes: 1_000,
        ..options()
    };
    let registry = RegistryClient::new(pieces, chitin_registry::Keychain::default()).unwrap();
    let here = Sandbox::new();
    let digest = here.put(&[&noise(3_500, 16)]);
    let pushed = registry
        .push(&here.store, &digest, &reference(&server), &Silent)
        .await;
    assert_eq!(pushed.unwrap(), digest);
}
