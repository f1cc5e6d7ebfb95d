//! Guardrails as their author meets them: what `chitin check` says of `PERMISSIONS.md` and `CHANNELS.md` is what a turn does with them.
#![expect(
    clippy::disallowed_methods,
    reason = "files are changed between the steps"
)]

use crate::process::{chitin, command, transcript};
use crate::run::{Talk, text};
use chitin_test::TestEnv;
use chitin_test::model_server::{Format, ModelServer};
use serde_json::json;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

fn talk() -> Talk {
    Talk::new(Format::Anthropic, &[json!({"times": 0, "text": "Fine."})])
}

/// What `chitin check` prints about a workspace.
fn checked(talk: &Talk) -> String {
    transcript(
        &talk.env,
        &["check", &talk.env.workspace().to_string_lossy()],
    )
}

#[test]
fn a_line_that_looks_like_a_rule_and_is_none_is_said_by_check_run_and_serve() {
    let talk = talk();
    let rules = "- deny: sword\n1. deny: hello\n- **deny**: hello\n* [ ] deny: hello\n- deny = hello\n2) message-length: 3\n";
    talk.env
        .files([("PERMISSIONS.md", rules), ("CHANNELS.md", "1. web\n")]);
    let found = checked(&talk);
    for (place, spelled) in [
        ("PERMISSIONS.md:2:1 error", "Write `- deny: hello`."),
        ("PERMISSIONS.md:3:3 error", "Write `- deny: hello`."),
        ("PERMISSIONS.md:4:3 error", "Write `- deny: hello`."),
        ("PERMISSIONS.md:5:3 error", "Write `- deny: hello`."),
        ("PERMISSIONS.md:6:1 error", "Write `- message-length: 3`."),
        ("CHANNELS.md:1:1 error", "Write `- web`"),
    ] {
        assert!(found.contains(place), "{place}: {found}");
        assert!(found.contains(spelled), "{spelled}: {found}");
    }
    let output = talk.say("hello");
    assert!(output.status.success(), "the grammar is what it was");
    let error = text(&output.stderr);
    let note = "`PERMISSIONS.md`, line 2: this looks like a rule and is none, so it has no effect; write it as `- deny: …`.";
    assert!(error.contains(note), "{error}");
    let mut serving = command(&talk.env, &["serve", "--listen", "127.0.0.1:0"])
        .arg(talk.env.workspace())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let said = BufReader::new(serving.stderr.take().unwrap());
    let is_said = said
        .lines()
        .map_while(Result::ok)
        .any(|line| line.contains("line 2: this looks like a rule"));
    serving.kill().unwrap();
    serving.wait().unwrap();
    assert!(is_said, "the server said nothing");
}

#[test]
fn check_says_of_a_guardrail_what_a_turn_makes_of_it() {
    for name in ["PERMISSIONS.md", "CHANNELS.md"] {
        let talk = talk();
        std::fs::create_dir(talk.env.workspace().join(name)).unwrap();
        let output = chitin(
            &talk.env,
            &["check", &talk.env.workspace().to_string_lossy()],
        );
        let found = text(&output.stdout);
        assert_eq!(output.status.code(), Some(1), "{found}");
        assert!(
            found.contains(name) && found.contains("cannot be used"),
            "{found}"
        );
    }
    // With a byte order mark the first rule holds, and nobody says that there is none.
    let talk = talk();
    talk.env
        .file("workspace/PERMISSIONS.md", "\u{feff}deny: swordfish\n");
    assert_eq!(talk.say("the swordfish").status.code(), Some(5));
    let found = checked(&talk);
    assert!(!found.contains("nothing is guarded"), "{found}");
    // A link inside the workspace is followed, by both.
    let workspace = talk.env.workspace();
    std::fs::remove_file(workspace.join("PERMISSIONS.md")).unwrap();
    talk.env
        .file("workspace/rules/ours.md", "deny: swordfish\n");
    std::os::unix::fs::symlink("rules/ours.md", workspace.join("PERMISSIONS.md")).unwrap();
    assert_eq!(talk.say("the swordfish").status.code(), Some(5));
    let output = chitin(&talk.env, &["check", &workspace.to_string_lossy()]);
    let found = text(&output.stdout);
    assert!(!found.contains("PERMISSIONS.md"), "{found}");
    assert_eq!(output.status.code(), Some(0), "{found}");
}

#[test]
fn a_refusal_by_another_workspace_names_its_directory() {
    let talk = talk();
    talk.env.file("team/AGENTS.md", "# Rules of the team\n");
    talk.env.file("team/PERMISSIONS.md", "deny: swordfish\n");
    let team = talk.env.workspace().with_file_name("team");
    let output = talk.say_with("the swordfish", &["--with", &team.to_string_lossy()]);
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{error}");
    let says = "`team/PERMISSIONS.md` refuses this message (rule `deny`, line 1)";
    assert!(error.contains(says), "{error}");
    assert!(
        error.contains("rules are in `PERMISSIONS.md` of the directory `team`"),
        "{error}"
    );
}

#[test]
fn check_judges_the_guardrails_of_composed_workspaces_too() {
    let env = TestEnv::new();
    env.file("harbor/AGENTS.md", "# Rules\n\nKeep the harbor.\n");
    env.file("team/AGENTS.md", "# Rules of the team\n");
    env.file("team/PERMISSIONS.md", "time-window: 99\n");
    let refused = chitin(
        &env,
        &[
            "run",
            "harbor",
            "--with",
            "team",
            "-m",
            "hello",
            "--model",
            "offline/offline",
        ],
    );
    assert_eq!(refused.status.code(), Some(5), "{}", text(&refused.stderr));
    let checked = chitin(&env, &["check", "harbor", "--with", "team", "--json"]);
    assert_eq!(checked.status.code(), Some(1), "{}", text(&checked.stderr));
    let report: serde_json::Value = serde_json::from_slice(&checked.stdout).unwrap();
    let found: Vec<_> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["path"] == "team/PERMISSIONS.md")
        .map(|finding| {
            (
                finding["code"].as_str().unwrap(),
                finding["place"]["line"].as_u64(),
            )
        })
        .collect();
    assert_eq!(found, [("CH801", Some(1))], "{report}");
    assert_eq!(report["summary"]["errors"], 1, "{report}");
}

/// An agent that begins a child in another workspace.
fn with_child(rules: &str, says: &str) -> Talk {
    let mut talk = talk();
    talk.env
        .file("home/work/site/AGENTS.md", "# Rules of the site\n");
    talk.env.files([("PERMISSIONS.md", rules)]);
    let site = talk.env.home().join("work/site");
    let arguments = json!({"task": "Read the log", "workspace": site});
    let script = [
        json!({"when": "[Subagent Task]: Read the log", "times": 0, "text": says}),
        json!({"when": "[Internal task completion event]", "times": 0, "text": "Noted."}),
        json!({"toolCalls": [{"name": "sessions_spawn", "arguments": arguments}]}),
        json!({"text": "It is being read.", "times": 0}),
    ];
    let script: Vec<String> = script.iter().map(ToString::to_string).collect();
    talk.server = ModelServer::start(Format::Anthropic, &script.join("\n"));
    talk.configure(json!({"subagents": {"workspaces": ["~/work/site"]}}));
    talk
}

#[test]
fn a_child_in_another_workspace_is_bound_by_the_rules_of_its_agent_too() {
    let talk = with_child("deny: swordfish\n", "It is swordfish.");
    let output = talk.say("What does the log say?");
    let (out, error) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{out}\n{error}");
    assert!(out.contains("Noted."), "{out}\n{error}");
    let requests = talk.server.requests();
    let told = requests.iter().map(|one| text(&one.body));
    let told = told.filter(|body| body.contains("[Internal task completion event]"));
    let told: Vec<String> = told.collect();
    assert!(!told.is_empty(), "{error}");
    for body in told {
        assert!(
            body.contains("`PERMISSIONS.md` refuses this reply"),
            "{body}"
        );
        assert!(!body.contains("It is swordfish."), "{body}");
    }
    let mut open = vec![talk.env.home().join(".chitin/agents")];
    let mut transcripts = 0;
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|end| end == "jsonl")
                && !path.to_string_lossy().contains("trajectory")
            {
                transcripts += 1;
                let kept = std::fs::read_to_string(&path).unwrap();
                assert!(!kept.contains("It is swordfish."), "{}", path.display());
            }
        }
    }
    assert!(transcripts >= 2, "both conversations are kept");
}

#[test]
fn news_of_a_child_that_a_rule_refuses_is_said() {
    let talk = with_child("deny: task completion event\n", "It was open.");
    let output = talk.say("What does the log say?");
    let error = text(&output.stderr);
    assert!(
        error.contains("could not announce to `agent:main:main`"),
        "{error}"
    );
    assert!(
        error.contains("`PERMISSIONS.md` refuses this message (rule `deny`, line 1)"),
        "{error}"
    );
    assert_eq!(text(&output.stdout).matches("Noted.").count(), 0);
}
