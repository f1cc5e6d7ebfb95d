//! The same agent comes out: guardrails, extension files, skills and linked documents, beside what other tools read.

use super::{copied, json, shipped, tree};
use crate::process::chitin;
use chitin_test::TestEnv;
use serde_json::Value;
use std::os::unix::fs::symlink;

/// The digests of an artifact's layers, by name.
fn layers(packed: &Value) -> Vec<(String, String)> {
    let layers = packed["layers"].as_array().unwrap().iter();
    layers
        .map(|layer| {
            let text = |member: &str| layer[member].as_str().unwrap().to_owned();
            (text("layer"), text("digest"))
        })
        .collect()
}

#[test]
fn guardrails_skills_and_linked_documents_come_out_as_they_went_in() {
    let env = TestEnv::new();
    copied(&env, "harbor");
    let packed = json(&chitin(&env, &["pack", "harbor", "--json"]));
    let names: Vec<_> = layers(&packed).into_iter().map(|(name, _)| name).collect();
    assert_eq!(
        names,
        [
            "skills",
            "surfaces",
            "memory",
            "extensions",
            "agentsSkills",
            "documents"
        ]
    );
    json(&chitin(
        &env,
        &["unpack", "harbor", "back", "--strict", "--json"],
    ));
    let (there, here) = (env.path().join("harbor"), env.path().join("back"));
    assert_eq!(tree(&here), shipped(&there), "bytes and modes");
    for path in [
        "PERMISSIONS.md",
        "docs/boats.md",
        ".agents/skills/day-log/SKILL.md",
    ] {
        assert!(tree(&here).contains_key(path), "{path}");
    }

    let seen = json(&chitin(&env, &["inspect", "harbor", "--files", "--json"]));
    let seen = seen["layers"].as_array().unwrap();
    let entries = &seen
        .iter()
        .find(|layer| layer["layer"] == "extensions")
        .unwrap()["entries"];
    assert!(entries.get("PERMISSIONS.md").is_some(), "{entries}");

    let same = json(&chitin(
        &env,
        &["diff", "harbor", "./back", "--no-context", "--json"],
    ));
    assert_eq!(same["identical"], true, "{same}");
    env.file("back/PERMISSIONS.md", "changed\n");
    let other = json(&chitin(
        &env,
        &["diff", "harbor", "./back", "--no-context", "--json"],
    ));
    let layers = other["changes"].as_array().unwrap();
    let changed: Vec<_> = layers
        .iter()
        .filter(|layer| layer["change"] != "identical")
        .collect();
    assert_eq!(changed.len(), 1, "{other}");
    assert_eq!(changed[0]["files"][0]["path"], "PERMISSIONS.md");
}

#[test]
fn what_chitin_keeps_is_never_packed_even_where_it_lies_in_the_workspace() {
    let env = TestEnv::new();
    copied(&env, "minimal");
    env.file("minimal/.kept/server-token", "the token\n");
    env.file("minimal/.kept/agents/main/sessions/a.jsonl", "{}\n");
    env.file("minimal/notes/a.txt", "a note\n");
    let with_home = |arguments: &[&str]| {
        let mut command = crate::process::command(&env, arguments);
        command.env("CHITIN_HOME", env.path().join("minimal/.kept"));
        let done = command.output().unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    with_home(&["pack", "minimal", "--source", "--output", "source.tar"]);
    let seen = json(&chitin(
        &env,
        &["inspect", "source.tar", "--files", "--json"],
    ))
    .to_string();
    assert!(seen.contains("notes/a.txt"), "{seen}");
    assert!(!seen.contains(".kept"), "{seen}");
}

#[test]
fn damage_in_a_layer_of_ours_is_found() {
    let env = TestEnv::new();
    copied(&env, "harbor");
    json(&chitin(
        &env,
        &["pack", "harbor", "--output", "out", "--json"],
    ));
    let seen = json(&chitin(&env, &["inspect", "./out", "--json"]));
    let layers = seen["layers"].as_array().unwrap();
    let ours = layers
        .iter()
        .find(|layer| layer["layer"] == "extensions")
        .unwrap();
    assert_eq!(
        ours["mediaType"],
        "application/vnd.chitin.extensions.v1.tar+gzip"
    );
    let digest = ours["digest"].as_str().unwrap().replace(':', "/");
    env.file(&format!("out/blobs/{digest}"), "not it");
    for arguments in [["verify", "./out"].as_slice(), &["unpack", "./out", "x"]] {
        let output = chitin(&env, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
    }
    assert!(!env.path().join("x").exists());
}

#[test]
fn what_other_tools_read_is_the_same_with_and_without_our_layers() {
    let env = TestEnv::new();
    copied(&env, "harbor");
    let whole = layers(&json(&chitin(&env, &["pack", "harbor", "--json"])));
    let plain = layers(&json(&chitin(
        &env,
        &["pack", "harbor", "--stax", "--json"],
    )));
    assert_eq!(plain.len(), 3);
    assert_eq!(
        whole[..3],
        plain,
        "the layers of the map come first, unchanged"
    );

    for (path, text) in [
        ("AGENTS.md", "Rules.\n"),
        ("SOUL.md", "Calm.\n"),
        ("skills/a/SKILL.md", "a\n"),
    ] {
        env.file(&format!("plain/{path}"), text);
    }
    let digest = |more: &[&str]| {
        let arguments = [["pack", "plain", "--json"].as_slice(), more].concat();
        json(&chitin(&env, &arguments))["digest"].clone()
    };
    assert_eq!(digest(&[]), digest(&["--stax"]));
}

#[test]
fn links_are_followed_inside_the_workspace_and_never_to_state() {
    let env = TestEnv::new();
    env.file(
        "agent/AGENTS.md",
        "[ok](docs/ok.md) [out](../outside.md) [env](.env) [conf](openclaw.json) [cred](credentials/a.md) \
         [log](logs/a.md) [state](docs/sessions/a.md) [memory](MEMORY.md) [link](docs/link.md) [gone](docs/gone.md) \
         [dir](docs) [web](https://example.org/a.md) `[code](docs/code.md)` [big](docs/big.bin)\n",
    );
    env.file(
        "agent/docs/ok.md",
        "[deep](deep/b.md) [round](../AGENTS.md)\n",
    );
    env.file(
        "agent/docs/deep/b.md",
        "[back](../ok.md) [pic](../../img/a.png)\n",
    );
    env.file("agent/img/a.png", "picture");
    env.file("agent/docs/big.bin", vec![b'x'; 5 * 1024 * 1024]);
    for path in [
        "outside.md",
        "agent/.env",
        "agent/openclaw.json",
        "agent/credentials/a.md",
        "agent/logs/a.md",
        "agent/docs/sessions/a.md",
        "agent/MEMORY.md",
        "agent/docs/code.md",
    ] {
        env.file(path, "{}");
    }
    symlink("../../outside.md", env.path().join("agent/docs/link.md")).unwrap();
    let packed = json(&chitin(&env, &["pack", "agent", "--json"]));
    let seen = json(&chitin(&env, &["inspect", "agent", "--files", "--json"]));
    let layers = seen["layers"].as_array().unwrap();
    let documents = layers
        .iter()
        .find(|layer| layer["layer"] == "documents")
        .unwrap();
    let paths: Vec<_> = documents["entries"].as_object().unwrap().keys().collect();
    assert_eq!(paths, ["docs/deep/b.md", "docs/ok.md", "img/a.png"]);
    let warnings = packed["warnings"].as_array().unwrap().iter();
    let mut named: Vec<_> = warnings
        .filter(|warning| warning["code"] == "DOCUMENT_NOT_PACKED")
        .map(|warning| warning["target"].as_str().unwrap())
        .collect();
    named.sort_unstable();
    assert_eq!(
        named,
        [
            "../outside.md",
            ".env",
            "credentials/a.md",
            "docs",
            "docs/big.bin",
            "docs/link.md",
            "docs/sessions/a.md",
            "logs/a.md",
        ],
        "{packed}"
    );
    let left_out = packed["leftOut"].as_array().unwrap();
    for name in ["docs/code.md", "openclaw.json", "MEMORY.md"] {
        assert!(
            left_out.iter().any(|left| left == name),
            "{name}: {left_out:?}"
        );
    }

    // A link that is new is followed the next time, and one whose end came into being.
    env.file("agent/docs/gone.md", "here now\n");
    let again = json(&chitin(&env, &["pack", "agent", "--json"]));
    assert_ne!(again["digest"], packed["digest"]);
}

#[test]
fn an_agent_that_used_its_bootstrap_up_is_whole() {
    let env = TestEnv::new();
    for file in [
        "AGENTS.md",
        "SOUL.md",
        "TOOLS.md",
        "IDENTITY.md",
        "USER.md",
        "HEARTBEAT.md",
    ] {
        env.file(&format!("agent/{file}"), "x\n");
    }
    json(&chitin(&env, &["pack", "agent", "--json"]));
    let unpacked = json(&chitin(
        &env,
        &["unpack", "agent", "back", "--strict", "--json"],
    ));
    assert_eq!(unpacked["warnings"], Value::Array(Vec::new()));
    let by_the_map = chitin(&env, &["unpack", "agent", "other", "--strict", "--stax"]);
    assert_eq!(by_the_map.status.code(), Some(5), "{by_the_map:?}");
}

#[test]
fn strict_asks_for_the_files_that_every_session_gets_and_no_more() {
    let env = TestEnv::new();
    env.file("agent/AGENTS.md", "Keep the harbor.\n");
    env.file("agent/TOOLS.md", "A radio.\n");
    json(&chitin(&env, &["pack", "agent", "--json"]));
    let unpacked = json(&chitin(
        &env,
        &["unpack", "agent", "back", "--strict", "--json"],
    ));
    // What OpenClaw makes of the absent ones is still said.
    let warnings = unpacked["warnings"].as_array().unwrap();
    let named = |file: &str| warnings.iter().any(|one| one["target"] == file);
    assert!(named("HEARTBEAT.md") && named("SOUL.md"), "{unpacked}");
    assert_eq!(env.read("back/TOOLS.md"), "A radio.\n");
    let by_the_map = chitin(&env, &["unpack", "agent", "other", "--strict", "--stax"]);
    assert_eq!(by_the_map.status.code(), Some(5), "{by_the_map:?}");

    env.file("half/AGENTS.md", "Keep the harbor.\n");
    json(&chitin(&env, &["pack", "half", "--json"]));
    let refused = chitin(&env, &["unpack", "half", "never", "--strict"]);
    assert_eq!(refused.status.code(), Some(5), "{refused:?}");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        said.contains("TOOLS.md") && !said.contains("SOUL.md"),
        "{said}"
    );
}
