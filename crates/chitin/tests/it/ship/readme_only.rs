//! A directory with no more than a readme ships like any other agent.

use super::{json, tree};
use crate::process::{chitin, plain_transcript};
use chitin_test::TestEnv;

fn tools() -> TestEnv {
    let env = TestEnv::new();
    for (path, text) in [
        (
            "README.md",
            "# Tools\n\nSharpen before use. See [saws](docs/saws.md).\n",
        ),
        ("docs/saws.md", "Oil them. [Back](../README.md)\n"),
        ("PERMISSIONS.md", "deny: swordfish\n"),
        (
            "skills/oil/SKILL.md",
            "---\nname: oil\ndescription: Oils.\n---\n",
        ),
        ("target/junk.o", "junk"),
    ] {
        env.file(&format!("tools/{path}"), text);
    }
    env
}

#[test]
fn it_comes_back_as_it_was() {
    let env = tools();
    let packed = json(&chitin(&env, &["pack", "tools", "--json"]));
    let layers: Vec<_> = packed["layers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|layer| layer["layer"].as_str().unwrap())
        .collect();
    assert_eq!(
        layers,
        ["skills", "instructions", "extensions", "documents"]
    );
    assert_eq!(packed["leftOut"], serde_json::json!(["target"]));

    let laid_out = json(&chitin(
        &env,
        &["unpack", "tools:0.1.0", "back", "--strict", "--json"],
    ));
    let mut there = tree(&env.path().join("tools"));
    there.remove("target/junk.o");
    assert_eq!(tree(&env.path().join("back")), there, "{laid_out}");
    let warnings = laid_out["warnings"].to_string();
    assert!(warnings.contains("README.md"), "{warnings}");
    assert!(!warnings.contains("SOUL.md"), "{warnings}");

    let same = json(&chitin(&env, &["diff", "tools:0.1.0", "./back", "--json"]));
    assert_eq!(same["identical"], true, "{same}");
    env.file("back/README.md", "# Tools\n\nNever sharpen.\n");
    let other = plain_transcript(&env, &["diff", "tools:0.1.0", "./back"]);
    assert!(other.contains("README.md"), "{other}");
}

#[test]
fn another_runtime_gets_its_text_as_instructions() {
    let env = tools();
    json(&chitin(&env, &["pack", "tools", "--json"]));
    json(&chitin(
        &env,
        &[
            "unpack",
            "tools:0.1.0",
            "claude",
            "--adapter",
            "claude-code",
            "--json",
        ],
    ));
    let laid_out = tree(&env.path().join("claude"));
    let text = String::from_utf8(laid_out["CLAUDE.md"].1.clone()).unwrap();
    assert!(text.contains("Sharpen before use."), "{text}");
}

#[test]
fn what_is_no_agent_is_refused_with_a_hint() {
    let env = tools();
    env.directory_at("empty");
    env.file("file", "text");
    for (arguments, said) in [
        (&["pack", "nowhere"][..], "`chitin init"),
        (&["pack", "file"], "hint: "),
        (&["pack", "empty"], "`README.md`"),
        // The format of others has a place for `AGENTS.md` only.
        (&["pack", "tools", "--stax"], "`AGENTS.md`"),
        (
            &["pack", "tools", "--contract", "openclaw-2026.9"],
            "`AGENTS.md`",
        ),
    ] {
        let shown = plain_transcript(&env, arguments);
        assert!(shown.contains("hint: ") && shown.contains(said), "{shown}");
        assert!(shown.ends_with("[exit 1]\n"), "{shown}");
    }
}
