//! `init`, `agents`, `contracts` and `skills` as a user meets them.
#![expect(
    clippy::disallowed_methods,
    reason = "files are deleted and permissions taken away between the steps"
)]

use crate::process::{chitin, command, plain_transcript, transcript};
use chitin_test::TestEnv;
use std::fs;
use std::process::Stdio;

#[test]
fn a_workspace_is_seeded_once_and_never_over_a_loss() {
    let env = TestEnv::new();
    let mut story = transcript(&env, &["init", "new", "--dry-run"]);
    assert!(!env.path().join("new").exists(), "a dry run writes nothing");
    story += &transcript(&env, &["init", "new"]);
    env.file("new/SOUL.md", "mine");
    fs::remove_file(env.path().join("new/TOOLS.md")).unwrap();
    story += &transcript(&env, &["init", "new"]);
    assert_eq!(env.read("new/SOUL.md"), "mine");
    fs::remove_dir_all(env.path().join("new")).unwrap();
    story += &transcript(&env, &["init", "new"]);
    assert!(!env.path().join("new").exists(), "a refusal writes nothing");
    let story = regex_free_times(&story);
    insta::assert_snapshot!(story);
    assert_eq!(
        chitin(&env, &["init", "new", "--reseed"]).status.code(),
        Some(0)
    );
}

#[test]
fn templates_of_the_users_own_take_the_place_of_the_built_in_ones() {
    let env = TestEnv::new();
    env.file("home/mine/AGENTS.md", "# House rules\n");
    env.file("home/mine/IDENTITY.md", "name: Ada\n");
    env.file("home/mine/PERMISSIONS.md", "- deny: rm -rf\n");
    env.file("home/mine/notes.txt", "not a template");
    env.file("home/real.md", "Linked from outside.\n");
    env.file("new/SOUL.md", "mine already");
    let flag = ["init", "new", "--no-git", "--templates", "home/mine"];
    let mut story = transcript(&env, &[&flag[..], &["--dry-run"]].concat());
    assert!(
        !env.path().join("new/AGENTS.md").exists(),
        "a dry run writes nothing"
    );
    story += &transcript(&env, &flag);
    assert_eq!(env.read("new/AGENTS.md"), "# House rules\n");
    assert_eq!(env.read("new/PERMISSIONS.md"), "- deny: rm -rf\n");
    assert_eq!(env.read("new/SOUL.md"), "mine already");
    assert!(!env.path().join("new/notes.txt").exists());
    let built_in = chitin_workspace::seed::template("USER.md").unwrap();
    assert_eq!(env.read("new/USER.md"), built_in);
    // A file of the user's own templates is not a sign that the workspace is in use: set-up is still to come.
    assert!(env.path().join("new/BOOTSTRAP.md").exists());
    story += &transcript(&env, &flag);
    assert!(env.path().join("new/BOOTSTRAP.md").exists());

    // By configuration, for good and for one agent.
    env.file(
        "home/.chitin/chitin.json5",
        "{ templates: '~/mine', agents: { ops: { templates: 'ops-templates' } } }",
    );
    env.file("home/.chitin/ops-templates/AGENTS.md", "# Ops\n");
    story += &transcript(&env, &["init", "by-setting", "--no-git"]);
    assert_eq!(env.read("by-setting/AGENTS.md"), "# House rules\n");
    transcript(&env, &["init", "by-agent", "--no-git", "--agent", "ops"]);
    assert_eq!(env.read("by-agent/AGENTS.md"), "# Ops\n");
    assert!(!env.path().join("by-agent/PERMISSIONS.md").exists());

    // What cannot be read safely stops it before anything is written.
    env.directory_at("bad/link");
    env.link("bad/link/SOUL.md", env.path().join("home/real.md"));
    env.directory_at("bad/fifo");
    env.fifo("bad/fifo/USER.md");
    env.file("bad/large/TOOLS.md", vec![b'x'; 3 << 20]);
    for bad in ["bad/link", "bad/fifo", "bad/large", "bad/absent"] {
        story += &transcript(&env, &["init", "never", "--templates", bad]);
        assert!(!env.path().join("never").exists(), "{bad}");
    }
    insta::assert_snapshot!(regex_free_times(&story));
}

/// Puts a fixed time in place of any instant.
fn regex_free_times(text: &str) -> String {
    let is_instant =
        |word: &str| word.len() == 24 && word.ends_with('Z') && word.as_bytes()[10] == b'T';
    text.split_inclusive(['(', ')', ' '])
        .map(|piece| {
            let (word, end) = piece.split_at(piece.len().saturating_sub(1));
            if is_instant(word) {
                format!("$TIME{end}")
            } else {
                piece.to_owned()
            }
        })
        .collect()
}

#[test]
fn skills_in_groups_are_found_listed_and_checked() {
    let env = TestEnv::new();
    let skill =
        |name: &str| format!("---\nname: {name}\ndescription: Does {name}.\n---\n\nText.\n");
    for (path, name) in [
        ("top", "top"),
        ("yard/timber", "timber"),
        ("yard/heavy/crane", "crane"),
        ("a/b/c/d/e/deep", "deep"),
        ("a/b/c/d/e/f/deeper", "deeper"),
        ("skills/tide", "tide"),
    ] {
        env.file(&format!("workspace/skills/{path}/SKILL.md"), skill(name));
    }
    let list = |more: &[&str]| -> Vec<String> {
        let output = chitin(
            &env,
            &[&["skills", "list", "workspace", "--json"], more].concat(),
        );
        let listed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let skills = listed["skills"].as_array().unwrap().iter();
        skills
            .map(|skill| skill["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(list(&[]), ["crane", "deep", "tide", "timber", "top"]);
    assert_eq!(list(&["--contract", "openclaw-2026.9"]), list(&[]));
    assert_eq!(list(&["--contract", "openclaw-2026.4"]), ["tide"]);
    let prompt = chitin(&env, &["context", "workspace", "--text"]);
    let prompt = String::from_utf8_lossy(&prompt.stdout);
    assert!(
        prompt.contains("Does crane.") && !prompt.contains("Does deeper."),
        "{prompt}"
    );
    // A finding in a nested skill is a finding.
    env.file(
        "workspace/skills/yard/heavy/crane/SKILL.md",
        "---\nname: crane\n---\n",
    );
    let checked = chitin(&env, &["skills", "check", "workspace"]);
    let checked = String::from_utf8_lossy(&checked.stdout);
    assert!(checked.contains("yard/heavy/crane"), "{checked}");
    // The depth is a setting, within bounds.
    env.file("home/.chitin/chitin.json5", "{ skillDepth: 1 }");
    assert_eq!(list(&[]), ["top"]);
    env.file("home/.chitin/chitin.json5", "{ skillDepth: 9 }");
    let judged = chitin(&env, &["config", "validate"]);
    assert_ne!(judged.status.code(), Some(0));
}

#[test]
fn links_among_skills_list_each_skill_once_by_its_own_path() {
    use std::os::unix::fs::symlink;
    let env = TestEnv::new();
    env.file("workspace/AGENTS.md", "Keep the yard.\n");
    let file = env.file(
        "workspace/skills/yard/timber/SKILL.md",
        "---\nname: timber\ndescription: Saws.\n---\n\nText.\n",
    );
    let skills = env.workspace().join("skills");
    symlink(".", skills.join("yard/again")).unwrap();
    symlink("..", skills.join("yard/up")).unwrap();
    symlink("yard", skills.join("alias")).unwrap();
    symlink(".", skills.join("yard/timber/self")).unwrap();
    let json = |arguments: &[&str]| -> serde_json::Value {
        serde_json::from_slice(&chitin(&env, arguments).stdout).unwrap()
    };
    let listed = json(&["skills", "list", "workspace", "--json"]);
    let paths: Vec<_> = listed["skills"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["file"].clone())
        .collect();
    assert_eq!(paths, [file.to_str().unwrap()], "{listed}");
    let shown = json(&["agents", "show", "workspace", "--json"]);
    assert_eq!(shown["skillPaths"], serde_json::json!([file]), "{shown}");
    let checked = chitin(&env, &["skills", "check", "workspace"]);
    let checked = String::from_utf8_lossy(&checked.stdout);
    assert!(checked.contains("yard/again"), "{checked}");
}

#[test]
fn the_harbors_own_groups_are_found() {
    let env = TestEnv::new();
    let harbor = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/harbor");
    let listed = chitin(&env, &["skills", "list", harbor, "--json"]);
    let listed = String::from_utf8_lossy(&listed.stdout);
    assert!(
        listed.contains("steam-bending") && listed.contains("timber-order"),
        "{listed}"
    );
}

/// Four agents, and bindings of every strength.
const BINDINGS: &str = "{
  session: { dmScope: 'per-peer', identityLinks: { alice: ['telegram:5', 'discord:777'] } },
  agents: { list: [{ id: 'main', default: true }, { id: 'ops' }, { id: 'Sales Team' }] },
  bindings: [
    { agentId: 'ops', match: { channel: 'discord', guildId: 'g1' } },
    { agentId: 'sales team', match: { channel: 'discord', guildId: 'g1', roles: ['lead', 'seller'] } },
    { agentId: 'ops', match: { channel: 'discord', peer: { kind: 'channel', id: 'c-ops' } } },
    { agentId: 'ops', match: { channel: 'slack', accountId: 'work' } },
    { agentId: 'ghost', match: { channel: 'signal' } },
    { agentId: 'ops', match: { channel: 'matrix', peer: { kind: 'group', id: '' } } },
  ],
}";

#[test]
fn a_route_is_explained_binding_by_binding() {
    let env = TestEnv::new();
    env.file("home/.openclaw/openclaw.json", BINDINGS);
    let route = |rest: &[&str]| {
        let arguments = [&["agents", "route", "--channel"], rest].concat();
        transcript(&env, &arguments)
    };
    let mut story = route(&[
        "discord",
        "--peer",
        "channel:9",
        "--guild",
        "g1",
        "--role",
        "lead",
    ]);
    story += &route(&[
        "discord",
        "--peer",
        "channel:th1",
        "--parent",
        "channel:c-ops",
    ]);
    story += &route(&[
        "Slack",
        "--peer",
        "channel:C1",
        "--account",
        "Work",
        "--thread",
        "17.A",
    ]);
    story += &route(&["telegram", "--peer", "dm:5"]);
    story += &route(&["signal", "--peer", "direct:5"]);
    story += &route(&[
        "signal",
        "--peer",
        "direct:5",
        "--contract",
        "openclaw-2026.9",
    ]);
    insta::assert_snapshot!(story);
    let json = route(&[
        "discord",
        "--peer",
        "channel:th1",
        "--parent",
        "channel:c-ops",
        "--json",
    ]);
    insta::assert_snapshot!("a_route_as_json", json);
}

#[test]
fn a_message_for_nobody_ends_with_a_hint_and_the_code_for_configuration() {
    let env = TestEnv::new();
    env.file(
        "home/.openclaw/openclaw.json",
        "{ agents: { list: [{ id: 'one' }, { id: 'two' }] } }",
    );
    let arguments = [
        "agents",
        "route",
        "--channel",
        "discord",
        "--contract",
        "openclaw-2026.9",
    ];
    let story = transcript(&env, &arguments);
    assert!(story.contains("hint: Mark one agent"), "{story}");
    assert!(story.ends_with("[exit 4]\n"), "{story}");
    let story = transcript(&env, &["agents", "route", "--channel", "x", "--peer", "42"]);
    assert!(story.contains("write a kind and an id"), "{story}");
}

#[test]
fn agents_say_where_they_live_and_why() {
    let env = TestEnv::new();
    env.file(
        "home/.openclaw/openclaw.json",
        "{ agents: { defaults: { workspace: '~/main' }, list: [{ id: 'Main' }, { id: 'ops', workspace: '~/ops' }, { id: 'lab' }] } }",
    );
    env.file("home/main/AGENTS.md", "rules");
    let mut story = plain_transcript(&env, &["agents"]);
    story += &plain_transcript(&env, &["agents", "--contract", "openclaw-2026.4", "lab"]);
    story += &plain_transcript(&env, &["agents", "--contract", "openclaw-2026.9"]);
    insta::assert_snapshot!(story);
}

#[test]
fn contracts_are_listed_explained_and_compared() {
    let env = TestEnv::new();
    let mut story = transcript(&env, &["contracts"]);
    story += &transcript(
        &env,
        &["contracts", "openclaw-2026.4", "--diff", "openclaw-2026.2"],
    );
    story += &transcript(
        &env,
        &["contracts", "openclaw-2026.8", "--diff", "openclaw-2026.9"],
    );
    story += &transcript(&env, &["contracts", "openclaw-2027.1"]);
    insta::assert_snapshot!(story);
}

#[test]
fn what_is_meant_to_differ_from_a_release_is_listed_with_its_reason() {
    let env = TestEnv::new();
    let keys = |name: &str| -> Vec<String> {
        let output = chitin(&env, &["contracts", name, "--json"]);
        let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let known = told["knownDifferences"].as_array().unwrap().iter();
        known
            .map(|one| {
                for field in ["release", "ours", "reason"] {
                    assert!(one[field].as_str().is_some_and(|text| !text.is_empty()));
                }
                one["key"].as_str().unwrap().to_owned()
            })
            .collect()
    };
    let newest = keys("openclaw-2026.9");
    assert!(newest.contains(&"runtime-facts".to_owned()), "{newest:?}");
    assert!(!keys("openclaw-2026.4").contains(&"runtime-facts".to_owned()));
    for key in ["summary-words", "compaction-time", "compaction-failure"] {
        assert!(keys("openclaw-2026.4").contains(&key.to_owned()), "{key}");
    }
    assert!(!newest.contains(&"compaction-time".to_owned()));
    assert!(keys("openclaw-2026.8").contains(&"linked-workspace".to_owned()));
    assert!(keys("canonical").is_empty());
    let text = chitin(&env, &["contracts", "openclaw-2026.9"]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(
        text.contains("Known differences from the release\ninternal-markers\n    the release: ")
    );
    // The recorder explains a difference by these keys only.
    let recorder = include_str!("../../../../tests/openclaw/compare.py");
    let explained = recorder.split("meant(\"").skip(1);
    let explained: Vec<&str> = explained
        .filter_map(|call| call.split('"').nth(2))
        .collect();
    assert!(!explained.is_empty());
    let releases = ["openclaw-2026.4", "openclaw-2026.8", "openclaw-2026.9"];
    let listed: Vec<String> = releases.into_iter().flat_map(keys).collect();
    for key in explained {
        assert!(listed.iter().any(|known| known == key), "{key}");
    }
}

#[test]
fn skills_are_listed_shown_and_judged() {
    let env = TestEnv::new();
    env.files([
        ("skills/tides/SKILL.md", "---\nname: tides\ndescription: Read the tide table.\n---\nRead it.\n"),
        ("skills/forge/SKILL.md", "---\nname: forge\ndescription: Needs a tool.\nmetadata: {\"openclaw\": {\"requires\": {\"bins\": [\"no-such-tool\"]}}}\n---\n"),
        ("skills/mute/SKILL.md", "---\nname: mute\n---\nNo description.\n"),
    ]);
    env.file(
        "home/.openclaw/skills/tides/SKILL.md",
        "---\nname: tides\ndescription: The managed one.\n---\n",
    );
    let mut story = transcript(&env, &["skills", "workspace"]);
    story += &transcript(&env, &["skills", "list", "--all", "workspace"]);
    story += &transcript(&env, &["skills", "show", "forge", "workspace"]);
    story += &transcript(&env, &["skills", "show", "tydes", "workspace"]);
    story += &transcript(&env, &["skills", "check", "workspace"]);
    insta::assert_snapshot!(story);
}

#[test]
fn bad_places_give_a_clear_error_and_nothing_is_written() {
    let env = TestEnv::new();
    env.file("plain.txt", "not a directory");
    env.file("home/.chitin/chitin.json5", "{ rootFile: ['RULES.md'] }");
    let before = tree(&env);
    let mut story = String::new();
    for arguments in [
        &["check", "plain.txt"][..],
        &["skills", "nowhere"],
        &["init", "plain.txt/below"],
        &["check", "--contract", "openclaw-9999"],
        &["frobnicate"],
        &["check", "workspace", "--format", "xml"],
    ] {
        story += &transcript(&env, arguments);
    }
    insta::assert_snapshot!(story);
    assert_eq!(tree(&env), before);
}

fn tree(env: &TestEnv) -> Vec<String> {
    let mut names = Vec::new();
    let mut open = vec![env.path()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap().flatten() {
            names.push(entry.path().display().to_string());
            if entry.path().is_dir() {
                open.push(entry.path());
            }
        }
    }
    names.sort();
    names
}

#[test]
fn a_shared_file_is_refused_until_the_user_trusts_where_it_lies() {
    let env = TestEnv::new();
    env.files([
        ("AGENTS.md", "rules"),
        ("TOOLS.md", "tools"),
        ("IDENTITY.md", "who"),
        ("USER.md", "you"),
    ]);
    env.file("home/shared/SOUL.md", "one soul for all agents");
    env.link("workspace/SOUL.md", env.home().join("shared/SOUL.md"));
    let refused = transcript(&env, &["check", "workspace"]);
    assert!(
        refused.contains("SOUL.md error CH101") && refused.ends_with("[exit 1]\n"),
        "{refused}"
    );
    env.file(
        "home/.chitin/chitin.json5",
        "{ links: { trustedRoots: ['~/shared'] } }",
    );
    assert_eq!(
        transcript(&env, &["check", "workspace"]),
        "$ chitin check workspace\nNothing to report in 5 files.\n[exit 0]\n"
    );
}

#[test]
fn a_guard_setting_that_is_not_understood_ends_the_command() {
    let env = TestEnv::new();
    env.files([("AGENTS.md", "rules")]);
    for setting in [
        "{ links: 'nonee' }",
        "{ hardlinks: 3 }",
        "{ agents: { ops: { links: true } } }",
    ] {
        env.file("home/.chitin/chitin.json5", setting);
        let story = transcript(&env, &["check", "workspace"]);
        assert!(
            story.ends_with("[exit 4]\n") && story.contains("links` is"),
            "{story}"
        );
    }
}

#[test]
fn the_example_workspaces_are_clean() {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let env = TestEnv::new();
    for name in ["harbor", "minimal"] {
        let output = chitin(
            &env,
            &["check", &format!("{examples}/{name}"), "--deny", "warnings"],
        );
        assert_eq!(
            output.status.code(),
            Some(0),
            "{}",
            String::from_utf8_lossy(&output.stdout)
        );
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let env = TestEnv::new();
    let mut child = command(&env, &["contracts", "canonical"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
}

#[test]
fn one_name_that_is_not_utf8_does_not_cost_the_reader_all_the_json() {
    use std::os::unix::ffi::OsStrExt;
    let env = TestEnv::new();
    let name = std::ffi::OsStr::from_bytes(b"workspace/skills/b\xffd");
    let directory = env.path().join(name);
    fs::create_dir_all(&directory).unwrap();
    fs::write(
        directory.join("SKILL.md"),
        "---\nname: x\ndescription: a \u{202e}b\n---\n",
    )
    .unwrap();
    let output = chitin(&env, &["skills", "workspace", "--json"]);
    let listed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(listed["skills"][0]["name"], "x");
    let text = transcript(&env, &["skills", "workspace"]);
    assert!(!text.contains('\u{202e}'), "{text}");
}
