//! Dropped futures and two who want the same leave nothing wrong behind.

use crate::sample::{Sandbox, anonymous, noise};
use chitin_pack::reference::Reference;
use chitin_pack::store::StoreRepair;
use chitin_registry::Silent;
use chitin_test::registry::{RegistryServer, Setup};
use std::time::Duration;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pushes_and_pulls_that_are_dropped_are_made_good_by_the_next() {
    let Some(server) = RegistryServer::start(Setup::Plain) else {
        return;
    };
    let (registry, here, mut there) = (anonymous(), Sandbox::new(), Sandbox::new());
    for round in 0..30_u64 {
        let large = noise(2_000_000, 1_000 + round);
        let digest = here.put(&[&large, b"small"]);
        let reference: Reference = format!("{}/acme/pilot:{round}", server.host())
            .parse()
            .unwrap();
        let short = Duration::from_millis(round * 7 % 60);
        let push = registry.push(&here.store, &digest, &reference, &Silent);
        let _ = tokio::time::timeout(short, push).await;
        registry
            .push(&here.store, &digest, &reference, &Silent)
            .await
            .unwrap();

        let pull = registry.pull(&reference, &there.store, &Silent);
        let _ = tokio::time::timeout(short, pull).await;
        assert!(there.store.check(StoreRepair::Report).unwrap().is_clean());
        let pulled = registry.pull(&reference, &there.store, &Silent).await;
        assert_eq!(pulled.unwrap(), digest);
        there.store.artifact(&digest).unwrap().verify().unwrap();
        if round % 10 == 9 {
            there = Sandbox::new();
        }
    }
}

#[tokio::test]
async fn two_may_pull_the_same_at_once() {
    let Some(server) = RegistryServer::start(Setup::Plain) else {
        return;
    };
    let (registry, here, there) = (anonymous(), Sandbox::new(), Sandbox::new());
    let digest = here.put(&[&noise(2_000_000, 31)]);
    let reference: Reference = format!("{}/acme/pilot:1", server.host()).parse().unwrap();
    registry
        .push(&here.store, &digest, &reference, &Silent)
        .await
        .unwrap();
    let (first, second) = tokio::join!(
        registry.pull(&reference, &there.store, &Silent),
        registry.pull(&reference, &there.store, &Silent),
    );
    assert_eq!((first.unwrap(), second.unwrap()), (digest, digest));
    there.check();
}
