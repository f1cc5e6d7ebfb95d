//! Bundles: what they hold, what they hide, how they are put in place.

use super::{KEY, NOON, Plan, SESSION, Scene};
use chitin_agent::journal::{
    self, Bundle, BundleInput, JournalRedactor, TraceError, TraceFile, Transcript,
    default_export_path,
};
use chitin_contract::TraceRules;
use proptest::prelude::*;
use serde_json::Value;
use std::path::Path;

const TRANSCRIPT: &str = r#"{"type":"session","version":3,"id":"5f0c7a52-1111-4222-8333-444455556666","timestamp":"2023-11-14T22:13:00.000Z","cwd":"/"}
{"type":"model_change","id":"a1","parentId":null,"timestamp":"2023-11-14T22:13:00Z","provider":"mock","modelId":"mock-1"}
{"type":"message","id":"a2","parentId":"a1","timestamp":"2023-11-14T22:13:20.500Z","message":{"role":"user","content":"hi"}}
{"type":"message","id":"b1","parentId":"a1","timestamp":"2023-11-14T22:13:21.000Z","message":{"role":"user","content":"another branch"}}
{"type":"message","id":"a3","parentId":"a2","timestamp":"2023-11-14T22:13:22.000Z","message":{"role":"assistant","content":[{"type":"text","text":"Well."},{"type":"toolCall","id":"t1","name":"read","arguments":{"path":"n"}}]}}
{"type":"label","id":"a4","parentId":"a3","timestamp":"2023-11-14T22:13:23.000Z","targetId":"a2","label":"start"}
"#;

fn trace(scene: &Scene, plan: &Plan) -> TraceFile {
    scene.turn(&mut scene.journal(&[]), plan);
    journal::read(&scene.trajectory()).unwrap()
}

fn build(scene: &Scene, trace: &TraceFile, transcript: Option<&Transcript>) -> Bundle {
    let events: Vec<_> = trace.events().collect();
    journal::build(&BundleInput {
        events: &events,
        transcript,
        session_id: SESSION,
        session_key: KEY,
        workspace: &scene.env.workspace(),
        home: Some(&scene.env.path()),
        session_file: Some(&scene.transcript()),
        runtime_file: Some(&trace.path),
        now: NOON,
        rules: &scene.rules,
        redactor: &JournalRedactor::default(),
    })
}

fn file<'a>(bundle: &'a Bundle, name: &str) -> &'a str {
    let file = bundle.files.iter().find(|file| file.name == name).unwrap();
    std::str::from_utf8(&file.bytes).unwrap()
}

#[test]
fn events_of_both_sources_stand_by_time_on_the_active_branch() {
    let scene = Scene::new(TraceRules::OPENCLAW_2026_4);
    let transcript = Transcript::parse(TRANSCRIPT.as_bytes()).unwrap();
    assert_eq!(transcript.leaf(), Some("a4"));
    let bundle = build(&scene, &trace(&scene, &Plan::default()), Some(&transcript));
    let events: Vec<Value> = file(&bundle, "events.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let shown: Vec<String> = events
        .iter()
        .map(|event| {
            let word = |name: &str| event[name].as_str().unwrap().to_owned();
            format!("{} {}", &word("source")[..1], word("type"))
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r"
    t session.model_change
    r session.started
    r trace.metadata
    r context.compiled
    r prompt.submitted
    r model.completed
    r trace.artifacts
    r session.ended
    t user.message
    t assistant.message
    t tool.call
    t session.label
    ");
    let numbers = events.iter().map(|event| event["seq"].as_u64().unwrap());
    assert!(numbers.eq(1..=12));
    assert_eq!(events[10]["data"]["blockIndex"], 1);
    assert_eq!(events[10]["entryId"], "a3");
    assert_eq!(events[11]["data"]["label"], "start");
}

#[test]
fn the_manifest_counts_what_is_there() {
    let scene = Scene::new(TraceRules::CANONICAL);
    let transcript = Transcript::parse(TRANSCRIPT.as_bytes()).unwrap();
    let bundle = build(&scene, &trace(&scene, &Plan::default()), Some(&transcript));
    let manifest: Value = serde_json::from_str(file(&bundle, "manifest.json")).unwrap();
    assert_eq!(manifest["eventCount"], 16);
    assert_eq!(manifest["runtimeEventCount"], 11);
    assert_eq!(manifest["transcriptEventCount"], 5);
    assert_eq!(manifest["leafId"], "a4");
    assert_eq!(manifest["workspaceDir"], "$WORKSPACE_DIR");
    let contents = manifest["contents"].as_array().unwrap();
    assert_eq!(contents.len(), bundle.files.len() - 1);
    for (listed, file) in contents.iter().zip(&bundle.files[1..]) {
        assert_eq!(listed["path"], file.name);
        assert_eq!(listed["bytes"], file.bytes.len());
    }
}

#[test]
fn a_session_without_a_transcript_gives_what_there_is() {
    let scene = Scene::new(TraceRules::CANONICAL);
    let bundle = build(&scene, &trace(&scene, &Plan::default()), None);
    let names: Vec<&str> = bundle.files.iter().map(|file| file.name).collect();
    assert!(!names.contains(&"session-branch.json"));
    assert_eq!(file(&bundle, "system-prompt.txt"), "Be brief.");

    let nothing = journal::read(&scene.env.file("nothing.jsonl", "")).unwrap();
    let bundle = build(&scene, &nothing, None);
    let names: Vec<&str> = bundle.files.iter().map(|file| file.name).collect();
    assert_eq!(names, ["manifest.json", "events.jsonl"]);
}

#[test]
fn a_limit_of_values_cuts_long_lists_and_keeps_the_names_of_fields() {
    let mut rules = TraceRules::OPENCLAW_2026_9;
    rules.export_values = Some(8);
    let scene = Scene::new(rules);
    let bundle = build(&scene, &trace(&scene, &Plan::default()), None);
    let artifacts: Value = serde_json::from_str(file(&bundle, "artifacts.json")).unwrap();
    assert_eq!(artifacts["sessionKey"], KEY);
    assert_eq!(artifacts["usage"], "[Truncated]");
    assert_eq!(artifacts["toolMetas"], "[Truncated]");
    let tools: Value = serde_json::from_str(file(&bundle, "tools.json")).unwrap();
    assert_eq!(tools.as_array().unwrap().last().unwrap(), "[Truncated]");
}

#[test]
fn damaged_transcripts_are_read_as_far_as_they_go() {
    let circle = r#"{"type":"session","version":3,"id":"x","timestamp":""}
{"type":"label","id":"a","parentId":"b","timestamp":""}
not json
{"type":"label","id":"b","parentId":"a","timestamp":""}
"#;
    let read = Transcript::parse(circle.as_bytes()).unwrap();
    assert_eq!((read.branch.len(), read.damaged), (2, 1));
    assert!(Transcript::parse(b"").is_err());
    assert!(Transcript::parse(b"{}").is_err());
}

#[test]
fn a_bundle_is_put_in_place_whole_and_never_over_something() {
    let scene = Scene::new(TraceRules::CANONICAL);
    let bundle = build(&scene, &trace(&scene, &Plan::default()), None);
    let target = default_export_path(&scene.env.workspace(), SESSION, NOON);
    let below = target.strip_prefix(scene.env.workspace()).unwrap();
    assert_eq!(
        below,
        Path::new(".openclaw/trajectory-exports/openclaw-trajectory-5f0c7a52-2023-11-14T22-13-20")
    );
    bundle.write(&target).unwrap();
    for file in &bundle.files {
        assert_eq!(std::fs::read(target.join(file.name)).unwrap(), file.bytes);
    }
    let again = bundle.write(&target);
    assert!(matches!(again, Err(TraceError::Exists { .. })));

    // A directory that cannot hold it gets no half of it.
    let blocked = scene.env.file("workspace/blocked", "");
    assert!(bundle.write(&blocked.join("bundle")).is_err());
    let left = std::fs::read_dir(target.parent().unwrap()).unwrap().count();
    assert_eq!(left, 1, "no staging directory is left behind");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Wherever a path of this machine stands, a bundle hides it; names that only begin alike stay.
    #[test]
    fn no_path_of_this_machine_gets_out(around in "[ -~]{0,20}", below in "[a-z/]{0,12}") {
        let scene = Scene::new(TraceRules::CANONICAL);
        let (workspace, home) = (scene.env.workspace(), scene.env.path());
        let plan = Plan {
            prompt: format!("{around} {}/{below}", workspace.display()),
            system: format!("home is {}/{below} or {}", home.display(), home.display()),
            tool_output: format!("'{}'", workspace.display()),
            ..Plan::default()
        };
        let bundle = build(&scene, &trace(&scene, &plan), None);
        for file in &bundle.files {
            let text = std::str::from_utf8(&file.bytes).unwrap();
            prop_assert!(!text.contains(home.to_str().unwrap()), "{} in {}", home.display(), file.name);
        }
        let prompts: Value = serde_json::from_str(file(&bundle, "prompts.json")).unwrap();
        let said = prompts["latestSubmittedPrompt"].as_str().unwrap();
        let marked = format!("$WORKSPACE_DIR/{below}");
        prop_assert!(said.ends_with(&marked), "{}", said);
    }
}

#[test]
fn a_longer_name_is_another_directory() {
    let scene = Scene::new(TraceRules::CANONICAL);
    let plan = Plan {
        prompt: format!("{}-old/x", scene.env.workspace().display()),
        ..Plan::default()
    };
    let bundle = build(&scene, &trace(&scene, &plan), None);
    let prompts: Value = serde_json::from_str(file(&bundle, "prompts.json")).unwrap();
    assert_eq!(prompts["latestSubmittedPrompt"], "~/workspace-old/x");
}
