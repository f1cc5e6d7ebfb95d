//! Tokens: asked for when needed, asked for again when they run out, and where passwords and proxies come in.

use crate::sample::{Sandbox, failed, options, pilot};
use chitin_pack::reference::Reference;
use chitin_registry::{Credentials, Keychain, PlainHttp, RegistryClient, RegistryOptions, Silent};
use chitin_test::registry::{Reply, Request, ScriptedServer};
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A registry with one tag that takes each token twice, and hands out its own.
fn with_short_tokens() -> ScriptedServer {
    let (handed_out, used) = (AtomicUsize::new(0), AtomicUsize::new(0));
    ScriptedServer::start(move |request| {
        if request.path() == "/token" {
            used.store(0, Ordering::SeqCst);
            let number = handed_out.fetch_add(1, Ordering::SeqCst) + 1;
            return Reply::json(&json!({ "access_token": format!("t{number}") }));
        }
        let current = format!("Bearer t{}", handed_out.load(Ordering::SeqCst));
        let is_good = request.header("authorization") == Some(&current);
        if is_good && used.fetch_add(1, Ordering::SeqCst) < 2 {
            return Reply::json(&json!({ "name": "acme/pilot", "tags": ["1"] }));
        }
        let host = request.header("host").unwrap_or_default();
        let challenge = format!("Bearer realm=\"http://{host}/token\",service=\"here\"");
        Reply::status(401).header("WWW-Authenticate", challenge)
    })
}

fn asked_for_tokens(server: &ScriptedServer) -> Vec<Request> {
    let mut requests = server.requests();
    requests.retain(|request| request.path() == "/token");
    requests
}

fn reference(server: &ScriptedServer) -> Reference {
    format!("{}/acme/pilot:1", server.host()).parse().unwrap()
}

#[tokio::test]
async fn a_token_is_used_until_it_runs_out() {
    let server = with_short_tokens();
    let registry = RegistryClient::new(options(), Keychain::default()).unwrap();
    for _ in 0..5 {
        assert_eq!(registry.tags(&reference(&server)).await.unwrap(), ["1"]);
    }
    let asked = asked_for_tokens(&server);
    assert_eq!(asked.len(), 3, "two uses each");
    for request in asked {
        assert_eq!(request.header("authorization"), None, "nobody asks");
        assert_eq!(request.query("service"), ["here"]);
        assert_eq!(request.query("scope"), ["repository:acme/pilot:pull"]);
    }
}

#[tokio::test]
async fn each_kind_of_credentials_is_shown_in_its_own_way() {
    let token = |text: &str| text.to_owned().into();
    let identity = Credentials::IdentityToken(token("id&ent=ity"));
    let server = with_short_tokens();
    let keychain = Keychain::default().with(server.host(), identity);
    let registry = RegistryClient::new(options(), keychain).unwrap();
    registry.tags(&reference(&server)).await.unwrap();
    let [asked] = &asked_for_tokens(&server)[..] else {
        unreachable!("asked once")
    };
    assert_eq!(
        (
            asked.method.as_str(),
            String::from_utf8_lossy(&asked.body).as_ref()
        ),
        (
            "POST",
            "service=here&scope=repository%3Aacme%2Fpilot%3Apull&grant_type=refresh_token&client_id=chitin&refresh_token=id%26ent%3Dity"
        )
    );

    let server = with_short_tokens();
    let registry = RegistryClient::new(options(), pilot(&server.host())).unwrap();
    registry.tags(&reference(&server)).await.unwrap();
    let asked = asked_for_tokens(&server);
    let shown = asked[0].header("authorization").unwrap();
    assert!(shown.starts_with("Basic "), "{shown}");

    let server = with_short_tokens();
    let ready = Credentials::RegistryToken(token("t0"));
    let keychain = Keychain::default().with(server.host(), ready);
    let registry = RegistryClient::new(options(), keychain).unwrap();
    registry.tags(&reference(&server)).await.unwrap();
    assert_eq!(asked_for_tokens(&server).len(), 0);
}

#[tokio::test]
async fn a_proxy_is_for_other_machines() {
    let (server, proxy) = (
        with_short_tokens(),
        ScriptedServer::start(|_| Reply::status(502)),
    );
    let through = RegistryOptions {
        proxy: Some(format!("http://{}", proxy.host()).into()),
        ..options()
    };
    let registry = RegistryClient::new(through.clone(), Keychain::default()).unwrap();
    registry.tags(&reference(&server)).await.unwrap();
    assert_eq!(proxy.requests().len(), 0);

    let mut far = RegistryOptions {
        plain_http: PlainHttp::Never,
        ..through
    };
    far.retries.attempts = 0;
    let registry = RegistryClient::new(far, pilot("registry.example")).unwrap();
    let elsewhere: Reference = "registry.example/acme/pilot:1".parse().unwrap();
    let there = Sandbox::new();
    let pulled = registry.pull(&elsewhere, &there.store, &Silent).await;
    assert_eq!(failed(pulled), ("registry", 3));
    let [connect] = &proxy.requests()[..] else {
        unreachable!("one connection")
    };
    let asked = (connect.method.as_str(), connect.target.as_str());
    assert_eq!(asked, ("CONNECT", "registry.example:443"));
    assert_eq!(connect.header("authorization"), None);
}
