//! What is damaged at either end is found before it gets a name.

use crate::sample::{Sandbox, anonymous, failed, noise, options};
use chitin_pack::Digest;
use chitin_pack::reference::Reference;
use chitin_registry::{PlainHttp, RegistryClient, RegistryOptions, Silent};
use chitin_test::registry::{RegistryServer, Setup};

#[tokio::test]
async fn a_blob_that_was_changed_in_the_registry_is_refused() {
    let Some(server) = RegistryServer::start(Setup::Plain) else {
        return;
    };
    let (registry, here) = (anonymous(), Sandbox::new());
    let layer = noise(400_000, 3);
    let digest = here.put(&[&layer, b"small"]);
    let reference: Reference = format!("{}/acme/pilot:1", server.host()).parse().unwrap();
    let pushed = registry
        .push(&here.store, &digest, &reference, &Silent)
        .await;
    pushed.unwrap();

    let hex = Digest::of(&layer).hex();
    let mut changed = layer.clone();
    changed[200_000] ^= 1;
    let longer = [layer.as_slice(), b"x"].concat();
    let damaged = [
        (changed.as_slice(), "digest-mismatch"),
        (&layer[..300_000], "size-mismatch"),
        (&longer, "size-mismatch"),
        (b"", "size-mismatch"),
    ];
    for (bytes, class) in damaged {
        server.overwrite_blob(&hex, bytes);
        let there = Sandbox::new();
        let pulled = registry.pull(&reference, &there.store, &Silent).await;
        assert_eq!(failed(pulled), (class, 3));
        assert!(!there.check().contains(&hex));
        assert!(
            !there.check().contains(&digest.hex()),
            "no manifest without its blobs"
        );

        server.overwrite_blob(&hex, &layer);
        let pulled = registry.pull(&reference, &there.store, &Silent).await;
        assert_eq!(pulled.unwrap(), digest, "what was wrong did not stay");
    }
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "a test damages a store")]
async fn a_damaged_store_sends_nothing_wrong() {
    let Some(server) = RegistryServer::start(Setup::Plain) else {
        return;
    };
    let (registry, here) = (anonymous(), Sandbox::new());
    let digest = here.put(&[b"layer"]);
    let path = here
        .directory
        .path()
        .join("oci/blobs/sha256")
        .join(Digest::of(b"layer").hex());
    let reference: Reference = format!("{}/acme/pilot:1", server.host()).parse().unwrap();
    std::fs::write(&path, b"LAYER").unwrap();
    let pushed = registry
        .push(&here.store, &digest, &reference, &Silent)
        .await;
    assert_eq!(failed(pushed), ("digest-mismatch", 2));
    std::fs::remove_file(&path).unwrap();
    let pushed = registry
        .push(&here.store, &digest, &reference, &Silent)
        .await;
    assert_eq!(failed(pushed), ("missing-blob", 2));
    let found = registry.resolve(&reference).await;
    assert_eq!(failed(found), ("not-found", 3));
}

#[tokio::test]
async fn what_cannot_be_reached_is_said() {
    let here = Sandbox::new();
    let nobody: Reference = "127.0.0.1:1/acme/pilot:1".parse().unwrap();
    let pulled = anonymous().pull(&nobody, &here.store, &Silent).await;
    assert_eq!(failed(pulled), ("registry", 3));
    let far: Reference = "registry.example/acme/pilot:1".parse().unwrap();
    let pulled = anonymous().pull(&far, &here.store, &Silent).await;
    assert_eq!(
        failed(pulled),
        ("registry", 3),
        "no plain HTTP to another machine"
    );
    let bare: Reference = "acme/pilot:1".parse().unwrap();
    let pulled = anonymous().pull(&bare, &here.store, &Silent).await;
    assert_eq!(failed(pulled), ("missing-host", 1));
}

#[tokio::test]
async fn a_plain_registry_is_not_taken_for_a_safe_one() {
    let Some(server) = RegistryServer::start(Setup::Plain) else {
        return;
    };
    let careful = RegistryOptions {
        plain_http: PlainHttp::Never,
        ..options()
    };
    let registry = RegistryClient::new(careful, chitin_registry::Keychain::default()).unwrap();
    let error = registry.check(&server.host()).await.unwrap_err();
    assert!(error.to_string().contains("TLS"), "{error}");
    assert_eq!(failed::<()>(Err(error)), ("registry", 3));
}
