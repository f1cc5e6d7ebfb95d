//! A pull that is killed at any moment leaves a store in which every name is right.
#![expect(
    clippy::disallowed_methods,
    reason = "the child is this program once more, and is told by its environment what to do"
)]

use crate::sample::{Recorded, Sandbox, anonymous, noise};
use chitin_pack::reference::Reference;
use chitin_pack::store::{Store, StoreRepair};
use chitin_registry::Silent;
use chitin_test::registry::{RegistryServer, Setup};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

const STORE: &str = "CHITIN_TEST_PULL_STORE";
const REFERENCE: &str = "CHITIN_TEST_PULL_REFERENCE";

/// Not a test of its own: what the other one starts and kills.
#[tokio::test]
async fn the_child_that_pulls() {
    let (Ok(store), Ok(reference)) = (std::env::var(STORE), std::env::var(REFERENCE)) else {
        return;
    };
    let reference: Reference = reference.parse().unwrap();
    let store = Arc::new(Store::create(Path::new(&store)).unwrap());
    anonymous().pull(&reference, &store, &Silent).await.unwrap();
}

#[tokio::test]
async fn a_store_survives_two_hundred_kills() {
    let Some(server) = RegistryServer::start(Setup::Plain) else {
        return;
    };
    let (registry, here) = (anonymous(), Sandbox::new());
    let layers = [noise(3_000_000, 21), noise(400_000, 22), noise(10, 23)];
    let digest = here.put(&[&layers[0], &layers[1], &layers[2]]);
    let reference: Reference = format!("{}/acme/pilot:1", server.host()).parse().unwrap();
    registry
        .push(&here.store, &digest, &reference, &Silent)
        .await
        .unwrap();

    let mut there = Sandbox::new();
    let (mut killed, mut finished) = (0, 0);
    for round in 0..200_u64 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "kills::the_child_that_pulls"])
            .env(STORE, there.directory.path().join("oci"))
            .env(REFERENCE, reference.to_string())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_micros(5_000 + round * 7_919 % 60_000));
        child.kill().unwrap();
        let status = child.wait().unwrap();
        let names = there.check();
        assert!(there.store.check(StoreRepair::Report).unwrap().is_clean());
        if names.contains(&digest.hex()) {
            there.store.artifact(&digest).unwrap().verify().unwrap();
            there = Sandbox::new();
        }
        if status.success() {
            finished += 1;
        } else {
            killed += 1;
        }
    }
    assert!(
        killed >= 20,
        "{killed} were killed, {finished} had finished"
    );
    let last = Recorded::default();
    let pulled = registry.pull(&reference, &there.store, &last).await;
    assert_eq!(pulled.unwrap(), digest);
    there.check();
    there.store.artifact(&digest).unwrap().verify().unwrap();
}
