//! What refers to an artifact, in a registry that keeps a list and in one that does not.

use crate::sample::{Sandbox, anonymous};
use chitin_pack::artifact::Descriptor;
use chitin_pack::compat::{OCI_INDEX, OCI_MANIFEST, SIGNATURE};
use chitin_pack::reference::Reference;
use chitin_registry::Silent;
use chitin_test::registry::{RegistryServer, Reply, ScriptedServer, Setup};
use serde_json::json;

#[tokio::test]
async fn signatures_are_listed_under_a_tag_where_the_registry_keeps_no_list() {
    let Some(server) = RegistryServer::start(Setup::Plain) else {
        return;
    };
    let (registry, here, there) = (anonymous(), Sandbox::new(), Sandbox::new());
    let digest = here.put(&[b"layer"]);
    let reference: Reference = format!("{}/acme/pilot:1", server.host()).parse().unwrap();
    registry
        .push(&here.store, &digest, &reference, &Silent)
        .await
        .unwrap();
    let found = registry.referrers(&reference, &digest, SIGNATURE).await;
    assert_eq!(found.unwrap(), []);

    let bytes = here.store.manifest_bytes(&digest).unwrap();
    let subject = Descriptor::of(OCI_MANIFEST, &bytes);
    let mut signatures: Vec<_> = [b"first".as_slice(), b"second"]
        .into_iter()
        .map(|payload| here.put_about(&[payload], Some(subject.clone())))
        .collect();
    signatures.sort_unstable();
    for signature in signatures.iter().chain(&signatures) {
        let pushed = registry
            .push_referrer(&here.store, signature, &reference, &Silent)
            .await;
        assert_eq!(pushed.unwrap(), *signature);
    }
    let found = registry
        .referrers(&reference, &digest, SIGNATURE)
        .await
        .unwrap();
    let names: Vec<_> = found.iter().map(|entry| entry.digest).collect();
    assert_eq!(names, signatures);
    assert_eq!(found[0].artifact_type.as_deref(), Some(SIGNATURE));
    let others = registry
        .referrers(&reference, &digest, "application/x")
        .await;
    assert_eq!(others.unwrap(), []);
    let tags = registry.tags(&reference).await.unwrap();
    assert_eq!(tags, ["1", &format!("sha256-{}", digest.hex())]);

    let pulled = registry
        .pull_with_referrers(&reference, SIGNATURE, &there.store, &Silent)
        .await;
    assert_eq!(pulled.unwrap(), (digest, signatures.clone()));
    for signature in &signatures {
        let brought = there.store.artifact(signature).unwrap();
        assert_eq!(brought.manifest.subject.unwrap().digest, digest);
    }
    let kept = there.store.signatures_of(&digest).unwrap();
    assert_eq!(
        kept.len(),
        signatures.len(),
        "they stay with what they sign"
    );
    let nothing = registry
        .push_referrer(&here.store, &digest, &reference, &Silent)
        .await;
    assert!(nothing.is_err(), "it refers to nothing");
}

#[tokio::test]
async fn entries_of_others_stay_as_they_are() {
    let foreign = json!({
        "schemaVersion": 2, "mediaType": OCI_INDEX, "annotations": { "note": "theirs" },
        "manifests": [{ "mediaType": "application/x", "digest": "sha512:00", "size": 1, "platform": { "os": "x" } }],
    });
    let (here, given) = (Sandbox::new(), foreign.clone());
    let digest = here.put(&[b"layer"]);
    let subject = Descriptor::of(OCI_MANIFEST, &here.store.manifest_bytes(&digest).unwrap());
    let signature = here.put_about(&[b"payload"], Some(subject));
    let written: std::sync::Mutex<Option<Vec<u8>>> = std::sync::Mutex::default();
    let server = ScriptedServer::start(move |request| {
        let is_list = request.path().contains("/manifests/sha256-");
        let mut written = written.lock().unwrap();
        match request.method.as_str() {
            "HEAD" => Reply::status(200),
            "PUT" if is_list => {
                *written = Some(request.body.clone());
                Reply::status(201)
            }
            "PUT" => Reply::status(201),
            _ if is_list => match &*written {
                Some(bytes) => Reply::bytes(bytes.clone()),
                None => Reply::json(&given),
            },
            _ => Reply::status(404),
        }
    });
    let reference: Reference = format!("{}/acme/pilot:1", server.host()).parse().unwrap();
    let pushed = anonymous()
        .push_referrer(&here.store, &signature, &reference, &Silent)
        .await;
    pushed.unwrap();
    let lists: Vec<_> = server
        .requests()
        .into_iter()
        .filter(|request| request.method == "PUT" && request.path().contains("sha256-"))
        .collect();
    let [list] = lists.as_slice() else {
        unreachable!("the list is written once")
    };
    assert_eq!(list.header("content-type"), Some(OCI_INDEX));
    let list: serde_json::Value = serde_json::from_slice(&list.body).unwrap();
    assert_eq!(list["annotations"], foreign["annotations"]);
    assert_eq!(list["manifests"][0], foreign["manifests"][0]);
    assert_eq!(list["manifests"][1]["digest"], signature.to_string());
    assert_eq!(list["manifests"][1]["artifactType"], SIGNATURE);
}

#[tokio::test]
async fn a_registry_that_keeps_the_list_is_believed() {
    let here = Sandbox::new();
    let digest = here.put(&[b"layer"]);
    let subject = Descriptor::of(OCI_MANIFEST, &here.store.manifest_bytes(&digest).unwrap());
    let signature = here.put_about(&[b"payload"], Some(subject.clone()));
    let entry = |kind: &str, letter: &str| {
        let digest = format!("sha256:{}", letter.repeat(64));
        json!({ "mediaType": OCI_MANIFEST, "digest": digest, "size": 1, "artifactType": kind })
    };
    let pages = [
        json!({ "schemaVersion": 2, "manifests": [entry(SIGNATURE, "a"), entry("application/x", "b")] }),
        json!({ "schemaVersion": 2, "manifests": [entry(SIGNATURE, "c")] }),
    ];
    let name = subject.digest.to_string();
    let server = ScriptedServer::start(move |request| match request.method.as_str() {
        "HEAD" => Reply::status(200),
        "PUT" => Reply::status(201).header("OCI-Subject", name.clone()),
        _ if request.path().contains("/referrers/") && request.query("page").is_empty() => {
            let next = format!("<{}?page=2>; rel=\"next\"", request.path());
            Reply::json(&pages[0]).header("Link", next)
        }
        _ if request.path().contains("/referrers/") => Reply::json(&pages[1]),
        _ => Reply::status(404),
    });
    let reference: Reference = format!("{}/acme/pilot:1", server.host()).parse().unwrap();
    let found = anonymous()
        .referrers(&reference, &digest, SIGNATURE)
        .await
        .unwrap();
    let names: Vec<_> = found.iter().map(|entry| entry.digest.hex()).collect();
    assert_eq!(names, ["a".repeat(64), "c".repeat(64)]);
    let pushed = anonymous()
        .push_referrer(&here.store, &signature, &reference, &Silent)
        .await;
    pushed.unwrap();
    let is_tag = |path: &str| path.contains("sha256-");
    assert!(
        !server
            .requests()
            .iter()
            .any(|request| is_tag(request.path()))
    );
}
