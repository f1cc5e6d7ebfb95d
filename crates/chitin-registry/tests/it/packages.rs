//! Packages of an agent, resolved in a registry.

use crate::sample::{Sandbox, anonymous};
use chitin_pack::artifact::Manifest;
use chitin_pack::compat;
use chitin_pack::packages::PackageSource;
use chitin_pack::reference::Reference;
use chitin_registry::{RegistryPackages, Silent};
use chitin_test::registry::{RegistryServer, Setup};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::runtime::Handle;

#[tokio::test]
async fn a_package_is_found_and_its_own_packages_are_read() {
    let Some(server) = RegistryServer::start(Setup::Plain) else {
        return;
    };
    let (registry, here, there) = (Arc::new(anonymous()), Sandbox::new(), Sandbox::new());
    let list = json!({ "packages": [{ "kind": "package", "ref": "reg.example/a/b:1" }], "specVersion": "1.0.0" });
    let kind = "application/vnd.stax.packages.v1+json";
    let manifest = Manifest {
        artifact_type: compat::PACKAGE.to_owned(),
        config: here.store.put(compat::CONFIG, b"{}").unwrap(),
        layers: vec![here.store.put(kind, list.to_string().as_bytes()).unwrap()],
        annotations: BTreeMap::new(),
        subject: None,
    };
    let digest = here.store.put_manifest(&manifest).unwrap().digest;
    let text = format!("{}/acme/package:1", server.host());
    let reference: Reference = text.parse().unwrap();
    registry
        .push(&here.store, &digest, &reference, &Silent)
        .await
        .unwrap();

    let mut packages = RegistryPackages {
        registry,
        store: Arc::clone(&there.store),
        runtime: Handle::current(),
        progress: Arc::new(Silent),
    };
    let missing = format!("{}/acme/package:2", server.host());
    let asked = tokio::task::spawn_blocking(move || {
        let found = packages.locate(&text).unwrap();
        assert_eq!(found, digest);
        for _ in 0..2 {
            let layer = packages.packages(&text, &found).unwrap();
            assert_eq!(layer, Some(list.clone()));
        }
        packages.locate(&missing).unwrap_err()
    });
    let error = asked.await.unwrap();
    assert_eq!(
        (error.class().as_str(), error.exit().code()),
        ("missing-package", 4)
    );
}
