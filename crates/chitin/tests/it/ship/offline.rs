//! What was pulled is here: the registry is not asked again unless the user says so.

use super::{copied, json};
use crate::process::chitin;
use chitin_test::TestEnv;
use chitin_test::registry::{Reply, Request, ScriptedServer};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A registry that gives out one OCI layout, until it is gone.
#[derive(Default)]
struct Registry {
    is_gone: AtomicBool,
    asked: AtomicUsize,
}

impl Registry {
    fn answer(&self, layout: &Path, request: &Request) -> Reply {
        self.asked.fetch_add(1, Ordering::SeqCst);
        if self.is_gone.load(Ordering::SeqCst) {
            return Reply::nothing();
        }
        let name = request
            .path()
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .to_owned();
        let blob = |digest: &str| fs::read(layout.join("blobs").join(digest.replace(':', "/")));
        let index: serde_json::Value =
            serde_json::from_slice(&fs::read(layout.join("index.json")).unwrap()).unwrap();
        let manifest = index["manifests"][0]["digest"].as_str().unwrap();
        let is_manifest = request.path().contains("/manifests/");
        let bytes = match name.as_str() {
            "v2" | "" => return Reply::status(200),
            "1" if is_manifest => blob(manifest),
            digest if digest.starts_with("sha256:") && !request.path().contains("/referrers/") => {
                blob(digest)
            }
            _ => return Reply::status(404),
        };
        match bytes {
            Ok(bytes) if is_manifest => Reply::bytes(bytes)
                .header("content-type", "application/vnd.oci.image.manifest.v1+json"),
            Ok(bytes) => Reply::bytes(bytes),
            Err(_) => Reply::status(404),
        }
    }
}

#[test]
fn after_a_pull_nothing_goes_back_to_the_network() {
    let author = TestEnv::new();
    copied(&author, "harbor");
    let packed = json(&chitin(
        &author,
        &["pack", "harbor", "--output", "out", "--json"],
    ));
    let layout: PathBuf = author.path().join("out");
    let registry = Arc::new(Registry::default());
    let shared = Arc::clone(&registry);
    let server = ScriptedServer::start(move |request| shared.answer(&layout, request));
    let reference = format!("{}/team/harbor:1", server.host());
    let env = TestEnv::new();
    let run = |arguments: &[&str]| chitin(&env, &[arguments, &["--plain-http"]].concat());

    json(&run(&["pull", &reference, "--json"]));
    registry.is_gone.store(true, Ordering::SeqCst);
    let before = registry.asked.load(Ordering::SeqCst);
    assert!(before > 0);
    env.file("none.json5", "{ default: 'none' }");
    for arguments in [
        ["inspect", &reference, "--json"].as_slice(),
        &["verify", &reference, "--policy", "none.json5", "--json"],
        &["unpack", &reference, "back", "--json"],
    ] {
        let done = json(&run(arguments));
        assert_eq!(done["digest"], packed["digest"], "{arguments:?}");
        assert_eq!(done["source"], "store", "{arguments:?}");
    }
    json(&run(&[
        "diff",
        &reference,
        "./back",
        "--no-context",
        "--json",
    ]));
    let said = run(&["inspect", &reference]);
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(
        said.contains("local store") && said.contains("--refresh"),
        "{said}"
    );
    let by_digest = format!(
        "{}/team/harbor@{}",
        server.host(),
        packed["digest"].as_str().unwrap()
    );
    json(&run(&["inspect", &by_digest, "--json"]));
    assert_eq!(
        registry.asked.load(Ordering::SeqCst),
        before,
        "nothing was asked"
    );

    let refreshed = run(&["inspect", &reference, "--refresh"]);
    assert_eq!(refreshed.status.code(), Some(3), "{refreshed:?}");
    registry.is_gone.store(false, Ordering::SeqCst);
    let refreshed = json(&run(&["inspect", &reference, "--refresh", "--json"]));
    assert_eq!(refreshed["source"], "registry");
}
