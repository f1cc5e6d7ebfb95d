//! Cut connections: what has arrived is not sent again.

use crate::sample::{Recorded, Sandbox, anonymous, failed, noise, options};
use chitin_pack::Digest;
use chitin_pack::reference::Reference;
use chitin_registry::{Keychain, RegistryClient, RegistryOptions, Retries, Silent};
use chitin_test::registry::{CuttingProxy, RegistryServer, Reply, ScriptedServer, Setup};
use std::sync::{Arc, Mutex};

const SIZE: usize = 6_000_000;
/// Headers, manifests, and what was on the way when a connection was cut.
const SMALL: u64 = 1_500_000;

#[tokio::test]
async fn a_cut_download_goes_on_where_it_stopped() {
    let Some(server) = RegistryServer::start(Setup::Plain) else {
        return;
    };
    let (here, layer) = (Sandbox::new(), noise(SIZE, 5));
    let digest = here.put(&[&layer]);
    let direct: Reference = format!("{}/acme/pilot:1", server.host()).parse().unwrap();
    let pushed = anonymous()
        .push(&here.store, &digest, &direct, &Silent)
        .await;
    pushed.unwrap();

    // Within one run.
    let proxy = CuttingProxy::start(server.port());
    proxy.cut_down_at([1_000_000, 2_500_000, 4_000_000]);
    let cut: Reference = format!("{}/acme/pilot:1", proxy.host()).parse().unwrap();
    let (there, events) = (Sandbox::new(), Recorded::default());
    let pulled = anonymous().pull(&cut, &there.store, &events).await;
    assert_eq!(pulled.unwrap(), digest);
    there.check();
    assert!(proxy.down() < SIZE as u64 + SMALL, "{} bytes", proxy.down());

    // Over two runs.
    let impatient = RegistryOptions {
        retries: Retries {
            attempts: 0,
            ..options().retries
        },
        ..options()
    };
    let impatient = RegistryClient::new(impatient, Keychain::default()).unwrap();
    let proxy = CuttingProxy::start(server.port());
    proxy.cut_down_at([4_000_000]);
    let cut: Reference = format!("{}/acme/pilot:1", proxy.host()).parse().unwrap();
    let (there, events) = (Sandbox::new(), Recorded::default());
    let pulled = impatient.pull(&cut, &there.store, &Silent).await;
    assert_eq!(failed(pulled), ("registry", 3));
    there.check();
    let pulled = impatient.pull(&cut, &there.store, &events).await;
    assert_eq!(pulled.unwrap(), digest);
    there.check();
    let [resumed] = events.resumed()[..] else {
        unreachable!("one blob goes on: {:?}", events.resumed())
    };
    assert!(resumed > 2_500_000, "{resumed}");
    assert!(proxy.down() < SIZE as u64 + SMALL, "{} bytes", proxy.down());
}

#[tokio::test]
async fn a_leftover_that_was_damaged_does_not_get_in_the_way() {
    let Some(server) = RegistryServer::start(Setup::Plain) else {
        return;
    };
    let (here, there, layer) = (Sandbox::new(), Sandbox::new(), noise(500_000, 6));
    let digest = here.put(&[&layer]);
    let reference: Reference = format!("{}/acme/pilot:1", server.host()).parse().unwrap();
    let registry = anonymous();
    let pushed = registry
        .push(&here.store, &digest, &reference, &Silent)
        .await;
    pushed.unwrap();
    let manifest = here.store.artifact(&digest).unwrap().manifest;
    let mut leftover = there.store.resume_blob(&manifest.layers[0]).unwrap();
    leftover.append(b"not what it was").unwrap();
    drop(leftover);
    let pulled = registry.pull(&reference, &there.store, &Silent).await;
    assert_eq!(pulled.unwrap(), digest);
    there.check();
}

#[tokio::test]
async fn an_upload_between_two_pieces_goes_on_with_the_next() {
    let Some(server) = RegistryServer::start(Setup::Plain) else {
        return;
    };
    let (here, layer) = (Sandbox::new(), noise(SIZE, 7));
    let digest = here.put(&[&layer]);
    let proxy = CuttingProxy::start(server.port());
    proxy.cut_before_request("PATCH ", 4);
    let reference: Reference = format!("{}/acme/pilot:1", proxy.host()).parse().unwrap();
    let events = Recorded::default();
    let pushed = small_pieces()
        .push(&here.store, &digest, &reference, &events)
        .await;
    assert_eq!(pushed.unwrap(), digest);
    assert_eq!(events.resumed(), [3_000_000]);
    assert!(proxy.up() < SIZE as u64 + SMALL, "{} bytes", proxy.up());
}

/// This registry throws away an upload that was cut within a piece: it is begun again, and the result is the same.
#[tokio::test]
async fn an_upload_that_the_registry_forgets_is_begun_again() {
    let Some(server) = RegistryServer::start(Setup::Plain) else {
        return;
    };
    let (here, there, layer) = (Sandbox::new(), Sandbox::new(), noise(SIZE, 8));
    let digest = here.put(&[&layer]);
    let proxy = CuttingProxy::start(server.port());
    proxy.cut_up_at([2_300_000]);
    let reference: Reference = format!("{}/acme/pilot:1", proxy.host()).parse().unwrap();
    let pushed = small_pieces()
        .push(&here.store, &digest, &reference, &Silent)
        .await;
    assert_eq!(pushed.unwrap(), digest);
    let pulled = anonymous().pull(&reference, &there.store, &Silent).await;
    assert_eq!(pulled.unwrap(), digest);
    there.check();
}

fn small_pieces() -> RegistryClient {
    let options = RegistryOptions {
        chunk_bytes: 1_000_000,
        ..options()
    };
    RegistryClient::new(options, Keychain::default()).unwrap()
}

/// A registry by the book: it keeps what it has of a piece, and says how much.
#[tokio::test]
async fn an_upload_cut_within_a_piece_goes_on_within_it() {
    let kept: Arc<Mutex<Vec<u8>>> = Arc::default();
    let shared = Arc::clone(&kept);
    let server = ScriptedServer::start(move |request| {
        let mut kept = shared.lock().unwrap();
        let range = |kept: &[u8]| format!("0-{}", kept.len().saturating_sub(1));
        let is_large = |kept: &[u8]| kept.len() > 100;
        match request.method.as_str() {
            "POST" => Reply::status(202).header("Location", "/upload?state=1"),
            "PATCH" if kept.len() == 1_000_000 => {
                kept.extend_from_slice(&request.body[..400_000]);
                Reply::nothing()
            }
            "PATCH" => {
                kept.extend_from_slice(&request.body);
                Reply::status(202)
                    .header("Location", "/upload?state=2")
                    .header("Range", range(&kept))
            }
            "GET" if is_large(&kept) => Reply::status(204)
                .header("Location", "/upload?state=3")
                .header("Range", range(&kept)),
            "PUT" => Reply::status(201),
            _ => Reply::status(404),
        }
    });
    let (here, layer) = (Sandbox::new(), noise(2_600_000, 9));
    let digest = here.put(&[&layer]);
    let reference: Reference = format!("{}/acme/pilot:1", server.host()).parse().unwrap();
    let events = Recorded::default();
    let pushed = small_pieces()
        .push(&here.store, &digest, &reference, &events)
        .await;
    assert_eq!(pushed.unwrap(), digest);
    assert_eq!(events.resumed(), [1_400_000]);
    assert_eq!(Digest::of(&kept.lock().unwrap()), Digest::of(&layer));
    let last = server.requests().into_iter().rfind(|request| {
        request.method == "PUT" && request.path() == "/upload" && request.body.is_empty()
    });
    let last = last.expect("the upload is closed");
    assert_eq!(last.query("state"), ["2"], "the query of the address stays");
    assert_eq!(last.query("digest"), [Digest::of(&layer).to_string()]);
}
