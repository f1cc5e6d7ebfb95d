//! A signature holds under the name and version that were signed, and what is older than before is noticed.

use super::{copied, json, tree};
use crate::process::chitin;
use chitin_test::TestEnv;
use chitin_test::registry::{RegistryServer, Setup};
use std::path::Path;
use std::process::Output;

/// A registry, whoever publishes there, and somebody who uses what is there.
struct Stage {
    registry: RegistryServer,
    author: TestEnv,
    reader: TestEnv,
}

impl Stage {
    /// `None` where no registry is installed.
    fn new() -> Option<Self> {
        let stage = Self {
            registry: RegistryServer::start(Setup::Plain)?,
            author: TestEnv::new(),
            reader: TestEnv::new(),
        };
        copied(&stage.author, "minimal");
        json(&chitin(
            &stage.author,
            &["sign", "--new-key", "ada", "--json"],
        ));
        let public = stage.author.read("ada.pub.pem");
        stage.reader.file("ada.pub.pem", &public);
        let policy = serde_json::json!({
            "keys": {"ada": public},
            "rules": [{"match": format!("{}/**", stage.registry.host()), "mode": "require"}],
        });
        stage
            .reader
            .file("home/.chitin/trust.json5", policy.to_string());
        Some(stage)
    }

    fn name(&self, rest: &str) -> String {
        format!("{}/{rest}", self.registry.host())
    }

    /// Packs a version of the agent `toy` and signs it.
    fn publish(&self, version: &str, text: &str) {
        self.author.file("minimal/AGENTS.md", text);
        let tag = format!("toy:{version}");
        for arguments in [
            ["pack", "minimal", "--name", "toy", "--version", version].as_slice(),
            &["sign", &tag, "--key", "ada.pem", "--signer", "ada"],
        ] {
            let done = chitin(&self.author, arguments);
            assert!(done.status.success(), "{done:?}");
        }
    }

    /// Whoever holds the registry puts what is signed under a name of their choice. Returns what `push` said.
    fn put(&self, tag: &str, under: &str) -> String {
        let pushed = chitin(
            &self.author,
            &["push", tag, &self.name(under), "--plain-http"],
        );
        assert!(pushed.status.success(), "{pushed:?}");
        String::from_utf8(pushed.stderr).unwrap()
    }

    fn read(&self, arguments: &[&str]) -> Output {
        chitin(&self.reader, &[arguments, &["--plain-http"]].concat())
    }

    /// Checks that an artifact gets in nowhere, and why.
    fn refuses(&self, name: &str, why: &[&str]) {
        for arguments in [
            ["pull", name].as_slice(),
            &["unpack", name, "out"],
            &["unpack", name, "out", "--refresh"],
            &["verify", name, "--refresh"],
        ] {
            let refused = self.read(arguments);
            let said = String::from_utf8_lossy(&refused.stderr);
            assert_eq!(refused.status.code(), Some(6), "{arguments:?}: {said}");
            for part in why {
                assert!(said.contains(part), "{arguments:?}: `{part}` in {said}");
            }
        }
        assert!(!self.reader.path().join("out").exists());
    }
}

#[test]
fn what_was_signed_as_one_agent_is_not_accepted_as_another() {
    let Some(stage) = Stage::new() else { return };
    stage.publish("1.0.0", "A toy.\n");
    let said = stage.put("toy:1.0.0", "team/prod:9.9.9");
    assert!(said.contains("is signed as `toy:1.0.0`"), "{said}");
    let prod = stage.name("team/prod:9.9.9");
    stage.refuses(
        &prod,
        &["another name or version", "as `toy:1.0.0`", "--as"],
    );
    // The right name with another version, and the other name by a word or by digest.
    stage.put("toy:1.0.0", "team/toy:9.9.9");
    stage.refuses(&stage.name("team/toy:9.9.9"), &["another name or version"]);
    stage.put("toy:1.0.0", "team/prod:latest");
    stage.refuses(&stage.name("team/prod"), &["another name or version"]);
    let inspected = json(&stage.read(&["inspect", &prod, "--json"]));
    let digest = inspected["digest"].as_str().unwrap();
    let exact = stage.name(&format!("team/prod@{digest}"));
    stage.refuses(&exact, &["another name or version"]);
    assert_eq!(
        inspected["signatures"][0]["signedName"],
        serde_json::json!({"name": "toy", "version": "1.0.0"})
    );
    // Under its own name it is what it was signed as.
    let said = stage.put("toy:1.0.0", "team/toy:1.0.0");
    assert!(!said.contains("warning"), "{said}");
    for arguments in [
        ["pull", &stage.name("team/toy:1.0.0"), "--json"].as_slice(),
        &[
            "verify",
            &stage.name(&format!("team/toy@{digest}")),
            "--json",
        ],
    ] {
        json(&stage.read(arguments));
    }
}

#[test]
fn a_name_that_is_signed_whole_holds_there_alone() {
    let Some(stage) = Stage::new() else { return };
    stage.publish("1.0.0", "A toy.\n");
    let here = stage.name("team/prod:2026-01-31");
    let signed = chitin(
        &stage.author,
        &[
            "sign",
            "toy:1.0.0",
            "--key",
            "ada.pem",
            "--as",
            &here,
            "--json",
        ],
    );
    let name = stage.name("team/prod");
    assert_eq!(
        json(&signed)["signedName"],
        serde_json::json!({"name": name, "version": "2026-01-31"})
    );
    let said = stage.put("toy:1.0.0", "team/prod:2026-01-31");
    assert!(!said.contains("warning"), "{said}");
    json(&stage.read(&["verify", &here, "--json"]));
    stage.put("toy:1.0.0", "team/team/prod:2026-01-31");
    let elsewhere = stage.name("team/team/prod:2026-01-31");
    stage.refuses(&elsewhere, &["another name or version"]);
}

#[test]
fn a_registry_cannot_go_back_to_an_older_agent_unnoticed() {
    let Some(stage) = Stage::new() else { return };
    stage.publish("1.0.0", "Has a hole.\n");
    stage.publish("1.1.0", "Mended.\n");
    let latest = stage.name("team/toy:latest");
    stage.put("toy:1.0.0", "team/toy:latest");
    json(&stage.read(&["pull", &latest, "--json"]));
    stage.put("toy:1.1.0", "team/toy:latest");
    json(&stage.read(&["pull", &latest, "--json"]));
    let pins = stage.reader.read("home/.chitin/signature-pins.json");
    assert!(
        pins.contains("team/toy:latest") && pins.contains("1.1.0"),
        "{pins}"
    );
    stage.put("toy:1.0.0", "team/toy:latest");
    for arguments in [
        ["pull", &latest].as_slice(),
        &["unpack", &latest, "out", "--refresh"],
        &["verify", &latest, "--refresh"],
    ] {
        let refused = stage.read(arguments);
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(6), "{arguments:?}: {said}");
        for part in [
            "is older than",
            "version 1.0.0",
            "version 1.1.0",
            "--allow-older",
        ] {
            assert!(said.contains(part), "`{part}` in {said}");
        }
    }
    assert!(!stage.reader.path().join("out").exists());
    let used = json(&stage.read(&["unpack", &latest, "newer", "--json"]));
    assert_eq!(
        used["source"], "store",
        "what was pulled before stays usable"
    );
    assert_eq!(stage.reader.read("newer/AGENTS.md"), "Mended.\n");
    // An older release that is asked for by its version is no rollback.
    stage.put("toy:1.0.0", "team/toy:1.0.0");
    json(&stage.read(&["pull", &stage.name("team/toy:1.0.0"), "--json"]));
    // Going back on purpose is a decision, which is kept.
    let allowed = json(&stage.read(&["pull", &latest, "--allow-older", "--json"]));
    assert_eq!(allowed["warnings"][0]["code"], "SIGNATURE_OLDER");
    json(&stage.read(&["unpack", &latest, "older", "--json"]));
    assert_eq!(stage.reader.read("older/AGENTS.md"), "Has a hole.\n");
    // A damaged memory of what was accepted is an error, not an empty one.
    stage.reader.file("home/.chitin/signature-pins.json", "{");
    let refused = stage.read(&["pull", &latest]);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(
        !refused.status.success() && said.contains("is damaged"),
        "{said}"
    );
}

#[test]
fn signatures_of_earlier_versions_count_only_where_the_policy_accepts_them() {
    let Some(stage) = Stage::new() else { return };
    let before = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/ship/signed_before");
    for (path, (_, bytes)) in tree(&before) {
        stage.author.file(&format!("before/{path}"), &bytes);
        stage.reader.file(&format!("before/{path}"), &bytes);
    }
    stage.put("./before", "team/minimal:1.0.0");
    let name = stage.name("team/minimal:1.0.0");
    let policy = |more: &str| {
        let key = stage.reader.read("before/ada.pub.pem");
        let rule = format!(
            "{{ match: '{}/**', mode: 'require' }}",
            stage.registry.host()
        );
        let key = serde_json::json!(key);
        let text = format!("{{ {more} keys: {{ ada: {key} }}, rules: [{rule}] }}");
        stage.reader.file("home/.chitin/trust.json5", text);
    };
    policy("");
    stage.refuses(&name, &["binds neither name nor version", "unbound"]);
    policy("unbound: 'accept',");
    let pulled = json(&stage.read(&["pull", &name, "--json"]));
    assert_eq!(pulled["signature"]["verified"], true);
    assert_eq!(pulled["warnings"][0]["code"], "SIGNATURE_UNBOUND");
}
