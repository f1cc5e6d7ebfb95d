//! What a release makes of a user's own files, through the binary: configuration, agents and skills by the contract of that release.
#![expect(
    clippy::disallowed_methods,
    reason = "an installation is made and taken away"
)]

use crate::process::{chitin, command, plain_command};
use chitin_test::TestEnv;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::process::Output;

const CONFIG: &str = "home/.openclaw/openclaw.json";

fn text(output: &Output) -> String {
    let out = String::from_utf8_lossy(&output.stdout);
    format!("{out}{}", String::from_utf8_lossy(&output.stderr))
}

fn judged(test: &TestEnv, release: &str) -> (Option<i32>, String) {
    let contract = format!("openclaw-{release}");
    let output = chitin(test, &["config", "validate", "--contract", &contract]);
    (output.status.code(), text(&output))
}

#[test]
fn a_retired_key_is_refused_by_the_release_that_retired_it() {
    let test = TestEnv::new();
    test.file(
        CONFIG,
        "{\n  meta: { lastTouchedAt: '2026-04-01T00:00:00.000Z' },\n  gateway: { tailscale: { resetOnExit: false } },\n}\n",
    );
    let (code, said) = judged(&test, "2026.4");
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = judged(&test, "2026.9");
    assert_eq!(code, Some(4), "{said}");
    assert!(
        said.contains("`lastTouchedAt` is not a known key here."),
        "{said}"
    );
    assert!(said.contains("openclaw.json:2:11"), "{said}");
    assert!(
        said.contains("`gateway.tailscale`: `resetOnExit`"),
        "{said}"
    );
}

#[test]
fn what_a_release_writes_itself_is_valid() {
    let test = TestEnv::new();
    test.file(
        CONFIG,
        "{ agents: { ownership: 'explicit', defaults: { systemAgent: { agentId: 'reef' }, authInheritance: { agentId: 'reef' } },
           entries: { tide: {}, reef: {} } } }",
    );
    let (code, said) = judged(&test, "2026.9");
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = judged(&test, "2026.4");
    assert_eq!(code, Some(4), "{said}");
}

#[test]
fn an_earlier_spelling_that_is_still_read_is_no_error() {
    let test = TestEnv::new();
    test.file(
        CONFIG,
        "{ channels: { telegram: { botToken: 'x', streamMode: 'partial', accounts: { dock: { streaming: true } } } } }",
    );
    let (code, said) = judged(&test, "2026.4");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("earlier spelling"), "{said}");
    let (code, said) = judged(&test, "2026.9");
    assert_eq!(code, Some(4), "{said}");
    assert!(said.contains("`streamMode`"), "{said}");
}

#[test]
fn a_variable_that_is_not_set_is_a_warning_and_one_of_the_file_itself_counts() {
    let test = TestEnv::new();
    test.file(
        CONFIG,
        "{ env: { vars: { TIDE_NAME: 'x' } }, gateway: { auth: { token: '${HARBOR_TOKEN}' } }, agents: { defaults: { workspace: '/yard/${TIDE_NAME}' } } }",
    );
    for release in ["2026.4", "2026.9"] {
        let (code, said) = judged(&test, release);
        assert_eq!(code, Some(0), "{release}: {said}");
        assert!(said.contains("`HARBOR_TOKEN` is not set"), "{said}");
        assert!(!said.contains("`TIDE_NAME` is not set"), "{said}");
    }
}

#[test]
fn no_start_waits_for_a_verdict_and_the_doctor_gives_it() {
    let test = TestEnv::new();
    test.file(CONFIG, "{ lanterns: 3 }");
    test.file("workspace/AGENTS.md", "Rules.");
    let context = chitin(&test, &["context", "workspace"]);
    assert_eq!(context.status.code(), Some(0));
    assert!(!text(&context).contains("lanterns"), "{}", text(&context));
    let doctor = text(&chitin(&test, &["doctor", "workspace"]));
    assert!(
        doctor.contains("`lanterns` is not a known key here."),
        "{doctor}"
    );
}

#[test]
fn a_migrated_roster_has_the_default_agent_that_it_names() {
    let test = TestEnv::new();
    test.file("reef/AGENTS.md", "Rules of the reef.");
    test.file("tide/AGENTS.md", "Rules of the tide.");
    let (reef, tide) = (test.path().join("reef"), test.path().join("tide"));
    test.file(
        CONFIG,
        serde_json::json!({"agents": {"ownership": "explicit", "defaults": {"systemAgent": {"agentId": "reef"}},
            "entries": {"tide": {"workspace": tide}, "reef": {"workspace": reef}}}})
        .to_string(),
    );
    let context = |contract: &str| {
        let arguments = ["context", "--text", "--contract", contract];
        let output = plain_command(&test, &arguments).output().unwrap();
        (output.status.code(), text(&output))
    };
    let (code, said) = context("openclaw-2026.9");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("Rules of the reef."), "{said}");
    // Without the name nothing says which of the two is meant.
    test.file(
        CONFIG,
        serde_json::json!({"agents": {"ownership": "explicit",
            "entries": {"tide": {"workspace": tide}, "reef": {"workspace": reef}}}})
        .to_string(),
    );
    let (code, said) = context("openclaw-2026.9");
    assert_eq!(code, Some(4), "{said}");
    assert!(said.contains("systemAgent"), "{said}");
}

fn skill(name: &str, more: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}.\n{more}---\n\nText.\n")
}

/// Lists the skills of the workspace as name, source and whether they are ready.
fn skills(test: &TestEnv, contract: &str) -> (Vec<(String, String, bool)>, String) {
    skills_by(test, contract, "")
}

/// The same, with directories on PATH.
fn skills_by(test: &TestEnv, contract: &str, path: &str) -> (Vec<(String, String, bool)>, String) {
    let arguments = [
        "skills",
        "list",
        "workspace",
        "--all",
        "--json",
        "--contract",
        contract,
    ];
    let output = command(test, &arguments)
        .env("PATH", path)
        .output()
        .unwrap();
    let listed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let rows = listed["skills"].as_array().unwrap().iter();
    let rows = rows.filter(|row| row["shadowedBy"].is_null()).map(|row| {
        let ready = row["eligible"] == Value::Bool(true);
        (word(&row["name"]), word(&row["source"]), ready)
    });
    (
        rows.collect(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

#[test]
fn metadata_of_the_projects_earlier_name_counts_where_the_release_reads_it() {
    let test = TestEnv::new();
    let metadata =
        "metadata: {\"clawdbot\":{\"requires\":{\"bins\":[\"no-such-program-here\"]}}}\n";
    test.file("workspace/skills/tide/SKILL.md", skill("tide", metadata));
    let ready = |contract| skills(&test, contract).0[0].2;
    assert!(ready("openclaw-2026.4"));
    assert!(!ready("openclaw-2026.9"));
    assert!(ready("canonical"));
}

/// An installation of our own making, with a plugin that is on by default and one that is not.
fn install(test: &TestEnv, place: &str, version: &str) {
    let file = |path: &str, content: String| test.file(&format!("{place}/{path}"), content);
    file(
        "package.json",
        format!("{{\"name\":\"openclaw\",\"version\":\"{version}\"}}"),
    );
    file("openclaw.mjs", String::new());
    file("skills/weather/SKILL.md", skill("weather", ""));
    file("skills/tide/SKILL.md", skill("tide", ""));
    file("custodian-skills/mend/SKILL.md", skill("mend", ""));
    for (id, on) in [("canvas", true), ("diffs", false)] {
        file(
            &format!("dist/extensions/{id}/openclaw.plugin.json"),
            format!(
                "{{\"id\":\"{id}\",\"enabledByDefault\":{on},\"skills\":[\"./skills\",\"../../../../secret\"]}}"
            ),
        );
        file(
            &format!("dist/extensions/{id}/skills/{id}/SKILL.md"),
            skill(id, ""),
        );
    }
}

#[test]
fn skills_of_an_installed_release_are_in_its_catalogue_and_only_there() {
    let test = TestEnv::new();
    test.file("workspace/AGENTS.md", "Rules.");
    test.file("workspace/skills/tide/SKILL.md", skill("tide", ""));
    test.file(
        "home/.npm-global/lib/secret/steal/SKILL.md",
        skill("steal", ""),
    );
    let place = "home/.npm-global/lib/node_modules/openclaw";
    let names = |contract| -> Vec<String> {
        let (rows, _) = skills(&test, contract);
        rows.into_iter()
            .map(|(name, source, _)| format!("{name} {source}"))
            .collect()
    };
    assert_eq!(names("openclaw-2026.9"), ["tide openclaw-workspace"]);
    let (_, said) = skills(&test, "openclaw-2026.9");
    assert_eq!(
        said.matches("no installation of `openclaw-2026.9`").count(),
        1,
        "{said}"
    );
    let context = chitin(
        &test,
        &["context", "workspace", "--contract", "openclaw-2026.9"],
    );
    assert_eq!(
        text(&context).matches("no installation of").count(),
        1,
        "{}",
        text(&context)
    );

    install(&test, place, "2026.9.6");
    assert_eq!(
        names("openclaw-2026.9"),
        [
            "canvas openclaw-extra",
            "mend openclaw-custodian",
            "tide openclaw-workspace",
            "weather openclaw-bundled",
        ]
    );
    let (_, said) = skills(&test, "openclaw-2026.9");
    assert!(!said.contains("installation"), "{said}");
    // Another release has other skills, and our own contract has none but the user's.
    assert_eq!(names("openclaw-2026.4"), ["tide openclaw-workspace"]);
    let (_, said) = skills(&test, "openclaw-2026.4");
    assert!(
        said.contains("is 2026.9.6, not of `openclaw-2026.4`"),
        "{said}"
    );
    assert_eq!(names("canonical"), ["tide openclaw-workspace"]);
    let prompt = chitin(
        &test,
        &[
            "context",
            "workspace",
            "--text",
            "--contract",
            "openclaw-2026.9",
        ],
    );
    assert!(text(&prompt).contains("Does weather."));
}

#[test]
fn an_installation_is_found_by_the_program_on_the_path_or_by_its_name() {
    let test = TestEnv::new();
    test.file("workspace/AGENTS.md", "Rules.");
    install(&test, "opt/packages/openclaw", "2026.4.23");
    let count = |contract| skills(&test, contract).0.len();
    assert_eq!(count("openclaw-2026.4"), 0);
    // A link on PATH leads to the program, and the program lies in its package.
    let program = test.path().join("opt/packages/openclaw/openclaw.mjs");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    test.directory_at("opt/bin");
    test.link("opt/bin/openclaw", "../packages/openclaw/openclaw.mjs");
    let path = test.path().join("opt/bin");
    let (rows, said) = skills_by(&test, "openclaw-2026.4", &path.to_string_lossy());
    assert_eq!(rows.len(), 3, "{said}");
    let named = |value: &str| {
        test.file(
            "home/.chitin/chitin.json5",
            format!("{{ releaseSkills: '{value}' }}"),
        );
    };
    named(&test.path().join("opt/packages/openclaw").to_string_lossy());
    // Bundled skills and those of the plugin that is on; custodians came later.
    assert_eq!(count("openclaw-2026.4"), 3);
    assert_eq!(count("canonical"), 3);
    named("off");
    assert_eq!(count("openclaw-2026.4"), 0);
    assert!(!skills(&test, "openclaw-2026.4").1.contains("installation"));
    named("/nowhere/at/all");
    let (_, said) = skills(&test, "openclaw-2026.4");
    assert!(said.contains("is no installation of OpenClaw"), "{said}");
}

#[test]
fn a_package_cannot_lead_out_of_itself() {
    let test = TestEnv::new();
    test.file("workspace/AGENTS.md", "Rules.");
    let place = "home/.npm-global/lib/node_modules/openclaw";
    install(&test, place, "2026.9.6");
    test.file("secret/steal/SKILL.md", skill("steal", ""));
    test.link(
        &format!("{place}/skills/steal"),
        test.path().join("secret/steal"),
    );
    test.link(
        &format!("{place}/dist/extensions/out"),
        test.path().join("secret"),
    );
    let (rows, _) = skills(&test, "openclaw-2026.9");
    assert!(rows.iter().all(|(name, ..)| name != "steal"), "{rows:?}");
    // A package in the workspace is not an installation.
    std::fs::remove_dir_all(test.home().join(".npm-global")).unwrap();
    install(&test, "workspace/lib/node_modules/openclaw", "2026.9.6");
    let path = test.path().join("workspace/bin");
    let (rows, _) = skills_by(&test, "openclaw-2026.9", &path.to_string_lossy());
    assert!(rows.is_empty(), "{rows:?}");
}
