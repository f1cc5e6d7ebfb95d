//! Skills that the prompt offers can be opened, wherever they lie; nothing else becomes readable.
#![expect(
    clippy::disallowed_methods,
    reason = "the disk is looked at behind the program's back"
)]

use crate::process::plain_command;
use crate::run::{Talk, text};
use crate::serve::Serving;
use chitin_test::model_server::Format;
use chitin_test::{TestEnv, needs};
use serde_json::{Value, json};

fn skill(name: &str) -> String {
    format!("---\nname: {name}\ndescription: About {name}.\n---\n\nSteps of {name}.\n")
}

/// Skills in all the places besides the workspace.
fn put_skills(env: &TestEnv) {
    env.file("home/.openclaw/skills/tides/SKILL.md", skill("tides"));
    env.file("home/.openclaw/skills/tides/run.sh", "echo high water\n");
    env.file("home/.agents/skills/knots/SKILL.md", skill("knots"));
    env.file("team/skills/ropes/SKILL.md", skill("ropes"));
    env.file("team/AGENTS.md", "A team.\n");
    env.file("team/secret.md", "the team's lantern\n");
    env.file("home/.openclaw/openclaw.json", "{ /* cfg-lantern */ }\n");
    let needs = "---\nname: far\ndescription: Needs more.\nmetadata: {\"openclaw\": {\"requires\": {\"bins\": [\"no-such-program\"]}}}\n---\n\nfar lantern\n";
    env.file("home/.openclaw/skills/far/SKILL.md", needs);
    env.link("home/.openclaw/skills/tides/out.md", "../../openclaw.json");
}

fn call(env: &TestEnv, tool: &str, arguments: &Value) -> String {
    let message = format!("call {tool} {arguments}");
    let output = plain_command(env, &["run", "harbor", "--with", "team", "-m", &message])
        .output()
        .unwrap();
    let said = format!("{}{}", text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{said}");
    said
}

#[test]
fn every_skill_that_is_offered_is_read_at_its_location() {
    let env = TestEnv::new();
    env.file("harbor/AGENTS.md", "Keep the harbor.\n");
    put_skills(&env);
    let prompt = plain_command(&env, &["context", "harbor", "--with", "team", "--text"])
        .output()
        .unwrap();
    let prompt = text(&prompt.stdout);
    let locations: Vec<&str> = prompt
        .split("<location>")
        .skip(1)
        .map(|rest| rest.split_once("</location>").unwrap().0)
        .collect();
    assert_eq!(locations.len(), 3, "{prompt}");
    assert!(locations.iter().any(|at| at.starts_with("~/")), "{prompt}");
    for location in locations {
        let said = call(&env, "read", &json!({"path": location}));
        assert!(said.contains("Steps of "), "{location}: {said}");
    }
    let tides = "~/.openclaw/skills/tides";
    let said = call(&env, "read", &json!({"path": format!("{tides}/SKILL.md")}));
    assert!(said.contains("Steps of tides."), "{said}");
    let said = call(&env, "list", &json!({"path": tides}));
    assert!(said.contains("run.sh"), "{said}");
    let said = call(&env, "search", &json!({"path": tides, "pattern": "Steps"}));
    assert!(said.contains("Steps of tides."), "{said}");
}

#[test]
fn a_skill_is_not_written_and_nothing_beside_it_is_read() {
    let env = TestEnv::new();
    env.file("harbor/AGENTS.md", "Keep the harbor.\n");
    put_skills(&env);
    let team = env.path().join("team/secret.md").display().to_string();
    for (tool, arguments) in [
        (
            "write",
            json!({"path": "~/.openclaw/skills/tides/SKILL.md", "content": "x"}),
        ),
        ("read", json!({"path": "~/.openclaw/openclaw.json"})),
        ("read", json!({"path": "~/.openclaw/skills/tides/out.md"})),
        ("read", json!({"path": "~/.openclaw/skills/far/SKILL.md"})),
        ("list", json!({"path": "~/.openclaw/skills"})),
        ("read", json!({"path": team})),
    ] {
        let said = call(&env, tool, &arguments);
        let refused = ["outside the workspace", "is read-only", "is refused"];
        assert!(refused.iter().any(|words| said.contains(words)), "{said}");
        assert!(!said.contains("lantern\n"), "{tool} {arguments}: {said}");
    }
    assert_eq!(
        env.read("home/.openclaw/skills/tides/SKILL.md"),
        skill("tides")
    );
}

#[test]
fn commands_run_what_a_skill_brings_and_change_nothing_there() {
    if !needs::bwrap() {
        return;
    }
    let env = TestEnv::new();
    env.file("harbor/AGENTS.md", "Keep the harbor.\n");
    put_skills(&env);
    env.file(
        "home/.chitin/chitin.json5",
        "{ exec: { approvals: 'full' } }\n",
    );
    let at = env.home().join(".openclaw/skills/tides");
    let command = format!(
        "sh {0}/run.sh; sh ~/.openclaw/skills/tides/run.sh; echo x > {0}/new; cat {0}/../far/SKILL.md {0}/../../openclaw.json; echo end",
        at.display()
    );
    let said = call(&env, "exec", &json!({"command": command}));
    assert_eq!(said.matches("high water").count(), 2, "{said}");
    assert!(said.contains("end") && !said.contains("lantern"), "{said}");
    assert!(!at.join("new").exists());
}

#[test]
fn a_server_opens_skills_that_come_while_it_runs() {
    let talk = Talk::new(
        Format::Anthropic,
        &[
            json!({"toolCalls": [{"name": "read", "arguments": {"path": "~/.openclaw/skills/tides/SKILL.md"}}]}),
            json!({"text": "Not yet."}),
            json!({"toolCalls": [{"name": "read", "arguments": {"path": "~/.openclaw/skills/tides/SKILL.md"}}]}),
            json!({"text": "Done."}),
        ],
    );
    let server = Serving::start(&talk, &[]);
    server.say("harbor", "Read it.");
    server.rest();
    put_skills(&talk.env);
    server.say("harbor", "Read it again.");
    server.rest();
    let requests = talk.server.requests();
    let (before, after) = (requests[1].text(), requests[3].text());
    assert!(before.contains("outside the workspace"), "{before}");
    assert!(after.contains("Steps of tides."), "{after}");
}

/// Brackets in strings once made up for those outside, and the stack of whoever looked at the skill overflowed.
#[test]
fn a_skill_with_endless_metadata_is_a_problem_and_no_crash() {
    let env = TestEnv::new();
    env.file("harbor/AGENTS.md", "Keep the harbor.\n");
    env.file("harbor/skills/tides/SKILL.md", skill("tides"));
    let nested = "[\"]\",".repeat(30_000);
    env.file(
        "harbor/skills/deep/SKILL.md",
        format!("---\nname: deep\ndescription: Deep.\nmetadata: '{nested}'\n---\n\nx\n"),
    );
    // The quotes of each key double in the one around it.
    env.file(
        "harbor/skills/keys/SKILL.md",
        format!(
            "---\nname: keys\ndescription: Keys.\n{}:\n---\n\nx\n",
            "? ".repeat(50)
        ),
    );
    let listed = plain_command(&env, &["skills", "list", "harbor"])
        .output()
        .unwrap();
    let said = text(&listed.stdout);
    assert!(listed.status.success(), "{}: {said}", listed.status);
    assert!(said.contains("tides"), "{said}");
    let checked = plain_command(&env, &["skills", "check", "harbor"])
        .output()
        .unwrap();
    let said = text(&checked.stdout);
    assert!(said.contains("nests deeper than 64 levels"), "{said}");
}
