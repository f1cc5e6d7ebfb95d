//! There and back in every set-up.

use crate::sample::{Recorded, Sandbox, anonymous, failed, noise, options, pilot, with_password};
use chitin_pack::reference::Reference;
use chitin_registry::{Keychain, PlainHttp, RegistryClient, RegistryOptions, Silent};
use chitin_test::registry::{Certificates, RegistryServer, Setup};

async fn goes_there_and_back(server: &RegistryServer, registry: &RegistryClient) {
    let here = Sandbox::new();
    let large = noise(30_000_000, 1);
    let artifacts = [
        here.put(&[&large, b"You are a pilot.\n", b""]),
        here.put(&[]),
        here.put(&[b"one", b"one", b"two"]),
    ];
    for (number, digest) in artifacts.iter().enumerate() {
        let text = format!("{}/acme/pilot:{number}", server.host());
        let reference: Reference = text.parse().unwrap();
        let pushed = registry
            .push(&here.store, digest, &reference, &Silent)
            .await;
        assert_eq!(pushed.unwrap(), *digest);
        let found = registry.resolve(&reference).await.unwrap();
        assert_eq!(found.digest, *digest);
        let remote = registry.artifact(&reference).await.unwrap();
        assert_eq!(
            (remote.digest, &remote.config["name"]),
            (*digest, &"harbour".into())
        );
        let (_, bytes) = registry.manifest(&reference).await.unwrap();
        assert_eq!(bytes, here.store.manifest_bytes(digest).unwrap());

        let there = Sandbox::new();
        let by_digest = Reference {
            digest: Some(*digest),
            ..reference.clone()
        };
        for reference in [&reference, &by_digest] {
            let pulled = registry.pull(reference, &there.store, &Silent).await;
            assert_eq!(pulled.unwrap(), *digest);
        }
        there.check();
        there.store.artifact(digest).unwrap().verify().unwrap();
    }
    let reference: Reference = format!("{}/acme/pilot", server.host()).parse().unwrap();
    assert_eq!(registry.tags(&reference).await.unwrap(), ["0", "1", "2"]);
    let missing = registry.pull(&reference, &here.store, &Silent).await;
    assert_eq!(failed(missing), ("not-found", 3));
    let nobody: Reference = format!("{}/acme/nobody", server.host()).parse().unwrap();
    assert_eq!(failed(registry.tags(&nobody).await), ("not-found", 3));
}

#[tokio::test]
async fn over_plain_http() {
    if let Some(server) = RegistryServer::start(Setup::Plain) {
        goes_there_and_back(&server, &anonymous()).await;
    }
}

#[tokio::test]
async fn over_tls() {
    let Some(server) = RegistryServer::start(Setup::Tls) else {
        return;
    };
    let trusting = RegistryOptions {
        plain_http: PlainHttp::Never,
        extra_roots: vec![server.authority()],
        ..options()
    };
    let registry = RegistryClient::new(trusting.clone(), Keychain::default()).unwrap();
    goes_there_and_back(&server, &registry).await;

    let other = tempfile::tempdir().unwrap();
    Certificates::make(other.path());
    let stranger = RegistryServer::start(Setup::Tls).map(|other| other.authority());
    for roots in [Vec::new(), Vec::from_iter(stranger)] {
        let options = RegistryOptions {
            extra_roots: roots,
            ..trusting.clone()
        };
        let registry = RegistryClient::new(options, Keychain::default()).unwrap();
        let error = registry.check(&server.host()).await.unwrap_err();
        assert!(error.to_string().contains("certificate"), "{error}");
        assert_eq!(failed::<()>(Err(error)), ("registry", 3));
    }
    let nonsense = RegistryOptions {
        extra_roots: vec![b"no certificate".to_vec()],
        ..trusting
    };
    assert_eq!(
        failed(RegistryClient::new(nonsense, Keychain::default())),
        ("usage", 1)
    );
}

#[tokio::test]
async fn with_a_password() {
    wants_to_know_who_asks(Setup::Basic).await;
}

#[tokio::test]
async fn with_a_token() {
    wants_to_know_who_asks(Setup::Token).await;
}

async fn wants_to_know_who_asks(setup: Setup) {
    let Some(server) = RegistryServer::start(setup) else {
        return;
    };
    let host = server.host();
    let registry = RegistryClient::new(options(), pilot(&host)).unwrap();
    registry.check(&host).await.unwrap();
    goes_there_and_back(&server, &registry).await;

    let here = Sandbox::new();
    let digest = here.put(&[b"layer"]);
    let reference: Reference = format!("{host}/acme/closed:1").parse().unwrap();
    for keychain in [
        Keychain::default(),
        with_password(&host, "wrong"),
        pilot("127.0.0.1:1"),
    ] {
        let registry = RegistryClient::new(options(), keychain).unwrap();
        let pushed = registry
            .push(&here.store, &digest, &reference, &Silent)
            .await;
        assert_eq!(failed(pushed), ("unauthorized", 3));
        let pulled = registry.pull(&reference, &here.store, &Silent).await;
        assert_eq!(failed(pulled), ("unauthorized", 3));
    }
}

#[tokio::test]
async fn the_second_time_nothing_moves() {
    let Some(server) = RegistryServer::start(Setup::Plain) else {
        return;
    };
    let (registry, here, there) = (anonymous(), Sandbox::new(), Sandbox::new());
    let digest = here.put(&[b"one", b"two"]);
    let reference: Reference = format!("{}/acme/pilot:1", server.host()).parse().unwrap();
    for expected in [(3, 0), (0, 3)] {
        let (up, down) = (Recorded::default(), Recorded::default());
        let pushed = registry.push(&here.store, &digest, &reference, &up).await;
        assert_eq!(pushed.unwrap(), digest);
        let pulled = registry.pull(&reference, &there.store, &down).await;
        assert_eq!(pulled.unwrap(), digest);
        assert_eq!(up.moved_and_there(), expected);
        assert_eq!(down.moved_and_there(), expected);
    }
    let other: Reference = format!("{}/acme/pilot@{}", server.host(), there.put(&[]))
        .parse()
        .unwrap();
    let pushed = registry.push(&here.store, &digest, &other, &Silent).await;
    assert_eq!(failed(pushed), ("invalid-reference", 1));
}
