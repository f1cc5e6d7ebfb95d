//! What a definition says of its adapter has effect, or is said not to; a persona becomes files where it may.

use super::json;
use crate::process::chitin;
use chitin_test::TestEnv;
use serde_json::Value;

fn define(env: &TestEnv, adapter: &str) -> Value {
    env.file(
        "pilot/agent.json",
        format!(
            r#"{{"name": "pilot", "version": "1.0.0", "description": "x", "adapter": {adapter},
                "surfaces": "./surfaces", "skills": "./skills", "memory": "./memory", "persona": "./persona.json"}}"#
        ),
    );
    env.file("pilot/surfaces/instructions.md", "Rules.\n");
    env.file("pilot/skills/a/SKILL.md", "a\n");
    env.file("pilot/memory/a.md", "m\n");
    env.file(
        "pilot/persona.json",
        r#"{"name": "mira", "displayName": "Mira Voss", "role": "Pilot", "background": "At sea."}"#,
    );
    json(&chitin(env, &["pack", "pilot", "--definition", "--json"]))
}

fn codes<'j>(result: &'j Value, code: &str) -> Vec<&'j str> {
    let warnings = result["warnings"].as_array().unwrap().iter();
    warnings
        .filter(|warning| warning["code"] == code)
        .map(|warning| {
            warning["target"]
                .as_str()
                .or(warning["message"].as_str())
                .unwrap()
        })
        .collect()
}

#[test]
fn options_under_the_adapter_are_honoured_when_it_is_laid_out() {
    let env = TestEnv::new();
    let packed = define(
        &env,
        r#"{"use": "openclaw", "exact": false, "writeSkills": false, "writeMemory": false,
            "model": "anthropic/claude-x", "modelParams": {"temperature": 0}, "writeSkils": true}"#,
    );
    let said = codes(&packed, "ADAPTER_OPTION_UNKNOWN");
    assert_eq!(
        said,
        ["`adapter.writeSkils` is not used: did you mean `writeSkills`?"]
    );

    let done = json(&chitin(&env, &["unpack", "pilot", "out", "--json"]));
    assert!(!env.path().join("out/skills").exists() && !env.path().join("out/memory").exists());
    assert_eq!(
        env.read("out/SOUL.md"),
        "# Mira Voss\n\n**Role:** Pilot\n\nAt sea.",
        "not exact"
    );
    assert_eq!(codes(&done, "PRESET_OPTION").len(), 3, "{done}");
    assert_eq!(
        codes(&done, "MODEL_NOT_MATERIALIZED").len(),
        2,
        "model and parameters: {done}"
    );

    json(&chitin(
        &env,
        &["unpack", "pilot", "all", "--ignore-options", "--json"],
    ));
    assert!(
        env.path().join("all/skills/a/SKILL.md").exists()
            && env.path().join("all/memory/a.md").exists()
    );
    assert!(!env.path().join("all/SOUL.md").exists(), "exact again");

    json(&chitin(
        &env,
        &[
            "unpack",
            "pilot",
            "cc",
            "--adapter",
            "claude-code",
            "--json",
        ],
    ));
    assert!(
        env.read("cc/.claude/settings.json")
            .contains("\"claude-x\"")
    );

    define(
        &env,
        r#"{"use": "openclaw", "options": {"strictMissingSurfaces": true, "writeBootstrap": false}}"#,
    );
    let refused = chitin(&env, &["unpack", "pilot", "never"]);
    assert_eq!(refused.status.code(), Some(5), "{refused:?}");
    assert!(!env.path().join("never").exists());
}

#[test]
fn a_persona_becomes_soul_and_identity_where_exactness_was_not_asked_for() {
    let env = TestEnv::new();
    define(&env, r#"{"use": "openclaw"}"#);
    let loose = json(&chitin(
        &env,
        &["unpack", "pilot", "loose", "--permissive", "--json"],
    ));
    assert_eq!(
        codes(&loose, "SURFACE_SYNTHESIZED"),
        ["SOUL.md", "IDENTITY.md"]
    );
    assert_eq!(
        env.read("loose/IDENTITY.md"),
        "- **Name:** Mira Voss\n- **Role:** Pilot\n"
    );
    assert_eq!(loose["lossy"], true);

    let exact = json(&chitin(&env, &["unpack", "pilot", "exact", "--json"]));
    assert!(!env.path().join("exact/SOUL.md").exists());
    let missing = codes(&exact, "SURFACE_MISSING");
    assert!(
        missing.contains(&"SOUL.md") && missing.contains(&"IDENTITY.md"),
        "{exact}"
    );
    let output = chitin(&env, &["unpack", "pilot", "exact", "--overwrite"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("SOUL.md is not in the artifact") && said.contains("--permissive"),
        "{said}"
    );

    let strict = chitin(
        &env,
        &["unpack", "pilot", "strict", "--strict", "--permissive"],
    );
    assert_eq!(strict.status.code(), Some(5), "{strict:?}");
}
