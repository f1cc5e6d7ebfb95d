//! Blobs stream: however large they are, the process stays small.
#![expect(
    clippy::disallowed_methods,
    reason = "the child is this program once more, and looks at its own size"
)]

use crate::sample::{Sandbox, anonymous, noise};
use chitin_pack::reference::Reference;
use chitin_registry::Silent;
use chitin_test::registry::{RegistryServer, Setup};
use std::io::Write;
use std::process::Command;

const HOST: &str = "CHITIN_TEST_MEMORY_HOST";
const LAYER_BYTES: usize = 50_000_000;
const LIMIT_KIB: u64 = 64 * 1024;

/// Not a test of its own: what the other one starts.
#[tokio::test]
async fn the_child_that_stays_small() {
    let Ok(host) = std::env::var(HOST) else {
        return;
    };
    let (registry, here, there) = (anonymous(), Sandbox::new(), Sandbox::new());
    // Written piece by piece: the sample's own way would hold it whole.
    let piece = noise(1_000_000, 41);
    for seed in 0..3_u8 {
        let mut blob = here.store.begin_blob().unwrap();
        for _ in 0..LAYER_BYTES / piece.len() {
            blob.write_all(&piece).unwrap();
        }
        blob.write_all(&[seed]).unwrap();
        blob.keep().unwrap();
    }
    let digest = here.put_of_all_blobs();
    let reference: Reference = format!("{host}/acme/large:1").parse().unwrap();
    registry
        .push(&here.store, &digest, &reference, &Silent)
        .await
        .unwrap();
    registry
        .pull(&reference, &there.store, &Silent)
        .await
        .unwrap();
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.trim().split(' ').next())
        .and_then(|number| number.parse::<u64>().ok());
    let peak = peak.expect("the peak is known");
    assert!(peak < LIMIT_KIB, "{peak} KiB at the peak");
}

#[test]
fn one_hundred_and_fifty_megabytes_go_there_and_back_in_sixty_four() {
    let Some(server) = RegistryServer::start(Setup::Plain) else {
        return;
    };
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "memory::the_child_that_stays_small",
            "--nocapture",
        ])
        .env(HOST, server.host())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
