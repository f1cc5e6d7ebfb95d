//! What others make of what we push.

use crate::sample::{Sandbox, anonymous};
use chitin_pack::reference::Reference;
use chitin_pack::store::ImageLayout;
use chitin_registry::Silent;
use chitin_test::needs;
use chitin_test::registry::{RegistryServer, Setup};
use std::process::Command;

#[tokio::test]
async fn skopeo_finds_the_same_bytes() {
    if !needs::programs(&["skopeo"]) {
        return;
    }
    let Some(server) = RegistryServer::start(Setup::Plain) else {
        return;
    };
    let (registry, here) = (anonymous(), Sandbox::new());
    for (number, layers) in [vec![b"one".as_slice(), b"two"], vec![]].iter().enumerate() {
        let digest = here.put(layers);
        let text = format!("{}/acme/pilot:{number}", server.host());
        let reference: Reference = text.parse().unwrap();
        registry
            .push(&here.store, &digest, &reference, &Silent)
            .await
            .unwrap();
        let inspected = Command::new("skopeo")
            .args(["inspect", "--raw", "--tls-verify=false"])
            .arg(format!("docker://{text}"))
            .output()
            .unwrap();
        let ours = here.store.manifest_bytes(&digest).unwrap();
        assert_eq!(inspected.stdout, ours, "{inspected:?}");

        let copy = tempfile::tempdir().unwrap();
        let copied = Command::new("skopeo")
            .args(["copy", "--src-tls-verify=false"])
            .arg(format!("docker://{text}"))
            .arg(format!("oci:{}:copy", copy.path().display()))
            .output()
            .unwrap();
        assert!(copied.status.success(), "{copied:?}");
        let artifact = ImageLayout::open(copy.path())
            .unwrap()
            .artifact(Some("copy"))
            .unwrap();
        assert_eq!(artifact.digest, digest);
        artifact.verify().unwrap();
    }
}
