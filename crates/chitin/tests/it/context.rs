//! `chitin context` as a user meets it.
#![expect(
    clippy::disallowed_methods,
    reason = "files are looked at and changed between the steps"
)]

use crate::process::{chitin, command, transcript};
use chitin_test::TestEnv;
use chitin_test::needs;
use serde_json::Value;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// A small agent: one file too long, one link that leads out, one file with front matter.
fn yard() -> TestEnv {
    let env = TestEnv::new();
    let memory: String = (1..=900).fold(String::new(), |mut text, n| {
        let _ = writeln!(text, "- note {n}: oak, larch and glue");
        text
    });
    env.files([
        (
            "AGENTS.md",
            "---\nowner: Ingrid\n---\n# Rules\n\nKeep the board.\n\n\n\nSay who knows.\n",
        ),
        ("SOUL.md", "Short and warm.\n"),
        ("HEARTBEAT.md", "- Is a launch planned?\n"),
        ("MEMORY.md", &memory),
        (
            "skills/tide/SKILL.md",
            "---\nname: tide\ndescription: Find launch times.\n---\nLook it up.\n",
        ),
    ]);
    env.link("workspace/TOOLS.md", "../home/tools.md");
    env
}

/// Figures depend on how long the test's own path is: every number becomes `#`, and bars go.
fn without_figures(text: &str) -> String {
    let mut shown = String::new();
    for line in text.lines() {
        let mut line: String = line
            .chars()
            .filter(|c| !('\u{2588}'..='\u{258f}').contains(c))
            .collect();
        for digit in '0'..='9' {
            line = line.replace(digit, "#");
        }
        while line.contains("##") || line.contains("#,#") || line.contains("   ") {
            line = line
                .replace("##", "#")
                .replace("#,#", "#")
                .replace("   ", "  ");
        }
        shown += line.trim_end();
        shown.push('\n');
    }
    shown
}

fn text_of(env: &TestEnv, arguments: &[&str]) -> String {
    let output = chitin(
        env,
        &[&["context", "workspace", "--text"], arguments].concat(),
    );
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

fn json_of(env: &TestEnv, arguments: &[&str]) -> Value {
    let output = chitin(
        env,
        &[&["context", "workspace", "--json"], arguments].concat(),
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_table_shows_every_part_in_order_and_what_is_not_there() {
    let env = yard();
    insta::assert_snapshot!(without_figures(&transcript(
        &env,
        &["context", "workspace"]
    )));
}

#[test]
fn the_text_is_the_prompt_to_the_byte_and_json_says_where_each_byte_came_from() {
    let env = yard();
    let text = text_of(&env, &[]);
    assert_eq!(text, text_of(&env, &[]), "nothing changed, so no byte does");
    let whole = json_of(&env, &["--text"]);
    assert_eq!(whole["system"], text.as_str());

    let json = json_of(&env, &[]);
    let mut at = 0;
    for fragment in json["fragments"].as_array().unwrap() {
        if fragment["role"] != "system" {
            continue;
        }
        assert_eq!(
            fragment["start"], at,
            "fragments follow each other without a gap"
        );
        at = usize::try_from(fragment["end"].as_u64().unwrap()).unwrap();
        let path = fragment["origin"]["path"].as_str();
        for piece in fragment["pieces"].as_array().unwrap() {
            let range = |value: &Value| {
                let byte = |key: &str| usize::try_from(value[key].as_u64().unwrap()).unwrap();
                byte("start")..byte("end")
            };
            if piece["source"]["kind"] == "file" {
                let file = std::fs::read_to_string(path.unwrap()).unwrap();
                assert_eq!(text[range(piece)], file[range(&piece["source"])]);
            }
        }
    }
    assert_eq!(at, text.len());
    assert!(text.contains("[REFUSED] outside-root: "), "{text}");
    assert!(!text.contains("Ingrid"), "front matter is removed");
}

#[test]
fn a_line_is_explained_in_both_directions() {
    let env = yard();
    let mut story = String::new();
    for line in [
        "1",
        "AGENTS.md:6",
        "AGENTS.md:8",
        "AGENTS.md:2",
        "MEMORY.md:450",
        "MEMORY.md:900",
        "TOOLS.md:1",
        "NOTES.md:1",
        "AGENTS.md:99",
        "0",
        "soon",
    ] {
        story += &transcript(&env, &["context", "workspace", "--explain", line]);
    }
    insta::assert_snapshot!(story.replace(&text_line(&env, "Keep the board."), "N"));
}

/// The number of the prompt line that reads so.
fn text_line(env: &TestEnv, wanted: &str) -> String {
    let text = text_of(env, &[]);
    let line = text.lines().position(|line| line == wanted).unwrap() + 1;
    let back = chitin(
        env,
        &["context", "workspace", "--explain", &line.to_string()],
    );
    let back = String::from_utf8(back.stdout).unwrap();
    assert!(back.contains("AGENTS.md:6"), "{back}");
    format!("line {line} of the prompt")
}

#[test]
fn each_kind_of_run_gets_its_own_files() {
    let env = yard();
    let headings = |arguments: &[&str]| {
        let text = text_of(&env, arguments);
        let files = text.lines().filter_map(|line| line.strip_prefix("## /"));
        files
            .map(|path| path.rsplit('/').next().unwrap().to_owned())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let runs = [
        &[] as &[&str],
        &["--run", "subagent"],
        &["--run", "cron"],
        &["--run", "heartbeat", "--light"],
        &["--light"],
        &[
            "--session",
            "agent:main:discord:channel:7",
            "--contract",
            "openclaw-2026.9",
        ],
        &["--run", "subagent", "--contract", "openclaw-2026.9"],
        &["--mode", "none"],
    ];
    let lines: Vec<String> = runs
        .iter()
        .map(|run| format!("{}: {}", run.join(" "), headings(run)))
        .collect();
    let story = lines.join("\n");
    insta::assert_snapshot!(story, @r"
    : AGENTS.md SOUL.md IDENTITY.md USER.md TOOLS.md MEMORY.md HEARTBEAT.md
    --run subagent: AGENTS.md SOUL.md IDENTITY.md USER.md TOOLS.md
    --run cron: AGENTS.md SOUL.md IDENTITY.md USER.md TOOLS.md
    --run heartbeat --light: HEARTBEAT.md
    --light: 
    --session agent:main:discord:channel:7 --contract openclaw-2026.9: AGENTS.md SOUL.md IDENTITY.md
    --run subagent --contract openclaw-2026.9: AGENTS.md
    --mode none: 
    ");
    env.file(
        "home/.openclaw/openclaw.json",
        "{ agents: { defaults: { contextInjection: 'continuation-skip' } } }",
    );
    assert_eq!(
        headings(&["--turn", "next"]),
        "SOUL.md IDENTITY.md USER.md HEARTBEAT.md"
    );
}

#[test]
fn two_contexts_are_compared_by_contract_directory_and_revision() {
    if !needs::programs(&["git"]) {
        return;
    }
    let env = yard();
    let git = |arguments: &[&str]| {
        let done = Command::new("git")
            .args([
                "-c",
                "user.name=t",
                "-c",
                "user.email=t@t",
                "-c",
                "init.defaultBranch=main",
            ])
            .args(arguments)
            .current_dir(env.workspace())
            .env("HOME", env.home())
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-qm", "first"]);
    env.file("workspace/SOUL.md", "Short, warm and dry.\n");
    env.file(
        "other/AGENTS.md",
        "# Rules\n\nKeep the board.\n\nSay who knows.\n",
    );
    let run = |other: &str| {
        let output = command(&env, &["context", "workspace", "--diff", other])
            .env("PATH", std::env::var_os("PATH").unwrap())
            .output()
            .unwrap();
        let text = |bytes: &[u8]| env.redact(&String::from_utf8_lossy(bytes));
        // A commit is ten hexadecimal digits between parentheses; the name of a contract is not.
        let commit = text(&output.stdout)
            .split(['(', ')'])
            .find(|word| word.len() == 10 && word.bytes().all(|b| b.is_ascii_hexdigit()))
            .map(str::to_owned);
        let story = format!(
            "$ --diff {other}\n{}{}[exit {}]\n",
            text(&output.stdout),
            text(&output.stderr),
            output.status.code().unwrap()
        );
        without_figures(&match commit {
            Some(commit) => story.replace(&commit, "COMMIT"),
            None => story,
        })
    };
    let mut story = run("HEAD");
    let summary = |text: String| {
        text.lines()
            .take_while(|line| !line.starts_with("--- "))
            .fold(String::new(), |all, line| all + line + "\n")
    };
    story += &summary(run("openclaw-2026.4"));
    story += &summary(run("other"));
    story += &run("maim");
    insta::assert_snapshot!(story);
    let left = std::fs::read_dir(env.home().join(".chitin/cache")).unwrap();
    assert_eq!(left.count(), 0, "nothing of the revision is left behind");
}

#[test]
fn bad_input_is_a_clear_error_of_the_command_line() {
    let env = yard();
    env.file(
        "home/.openclaw/openclaw.json",
        "{ agents: { list: [{ id: 'main', workspace: '~/../workspace' }, { id: 'helper', workspace: '~/../workspace' }] } }",
    );
    let mut story = String::new();
    for arguments in [
        &["--contract", "openclaw-2026.5"] as &[&str],
        &["--session", "agent:mian:main"],
        &["--session", "agent:main:subagnet:1"],
        &["--session", "nonsense"],
        &["--budget", "file=0"],
        &["--budget", "total=1"],
        &["--budget", "file=-5"],
        &["--budget", "total=99999999999999999999"],
        &["--budget", "fiel=4000"],
        &["--budget", "unit=bytes"],
        &["--diff", "no-such-thing"],
        &["--diff", ""],
        &["--text", "--html", "x.html"],
    ] {
        let arguments = [&["context", "workspace"], arguments].concat();
        assert_eq!(
            chitin(&env, &arguments).status.code(),
            Some(2),
            "{arguments:?}"
        );
        story += &transcript(&env, &arguments);
    }
    story += &transcript(&env, &["context", "nowhere"]);
    insta::assert_snapshot!(story);
}

#[test]
fn limits_can_be_tried_in_characters_and_tokens_and_by_file() {
    let env = yard();
    let injected = |arguments: &[&str], name: &str| {
        let json = json_of(&env, arguments);
        let files = json["files"].as_array().unwrap().clone();
        let file = files.into_iter().find(|file| file["name"] == name).unwrap();
        (
            file["state"].as_str().unwrap().to_owned(),
            file["injected"]["tokens"].as_u64().unwrap(),
        )
    };
    assert_eq!(injected(&[], "MEMORY.md").0, "cut");
    assert_eq!(
        injected(&["--budget", "file=40000"], "MEMORY.md").0,
        "whole"
    );
    let (state, tokens) = injected(&["--budget", "unit=tokens,MEMORY.md=500"], "MEMORY.md");
    assert_eq!(state, "cut");
    // The heading with the path comes on top of what is budgeted.
    assert!((400..=560).contains(&tokens), "{tokens}");
    assert_eq!(
        injected(&["--budget", "total=300"], "MEMORY.md").0,
        "left-out"
    );
}

#[test]
fn the_window_that_openclaw_json_states_counts() {
    let env = yard();
    let description = "Find launch times. ".repeat(8);
    env.file(
        "workspace/skills/tide/SKILL.md",
        format!("---\nname: tide\ndescription: {description}\n---\nLook it up.\n"),
    );
    let listed = |window: u64| {
        let config = serde_json::json!({
            "models": { "providers": { "loop": {
                "baseUrl": "http://127.0.0.1:9/v1", "api": "openai-completions",
                "models": [{ "id": "own", "name": "own", "contextWindow": window }],
            } } },
            "agents": { "defaults": { "model": { "primary": "loop/own" } } },
        });
        env.file("home/.openclaw/openclaw.json", config.to_string());
        let contract = ["--contract", "openclaw-2026.9"];
        let text = text_of(&env, &contract);
        let line = text.lines().find(|line| line.contains("<description>"));
        let figures = json_of(&env, &contract);
        assert!(
            figures
                .to_string()
                .contains(&format!("\"window\":{window}"))
        );
        line.unwrap().trim().len()
    };
    let marks = "<description></description>".len();
    assert_eq!(listed(200_000), marks + description.trim_end().len());
    assert_eq!(listed(2000), marks + 64);
}

#[test]
fn a_plan_for_small_windows_shrinks_what_it_says_and_hides_nothing() {
    let env = yard();
    env.file(
        "home/.chitin/chitin.json5",
        "{ smallWindow: { plan: 'memory-first', tokens: 3500 } }",
    );
    let text = text_of(&env, &[]);
    assert!(text.contains("[...truncated, read MEMORY.md for full content...]"));
    let json = json_of(&env, &[]);
    assert_eq!(json["degraded"]["plan"]["name"], "memory-first");
    assert!(json["degraded"]["after"].as_u64() <= json["degraded"]["allowed"].as_u64());
    let check = chitin(&env, &["check", "workspace", "--ignore", "CH101,CH303"]);
    let check = String::from_utf8(check.stdout).unwrap();
    assert!(check.contains("MEMORY.md warning CH305"), "{check}");

    env.file(
        "home/.chitin/chitin.json5",
        "{ smallWindow: { plan: [{ files: ['MEMORY.md'], keep: 0 }], tokens: 1200 } }",
    );
    assert!(text_of(&env, &[]).contains("[LEFT OUT] "));
    env.file(
        "home/.chitin/chitin.json5",
        "{ smallWindow: { plan: 'memory-frist' } }",
    );
    let wrong = chitin(&env, &["context", "workspace"]);
    assert_eq!(wrong.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("did you mean `memory-first`?"));
}

#[test]
fn sections_can_be_switched_off_and_a_wrong_key_is_named() {
    let env = yard();
    env.file(
        "home/.chitin/chitin.json5",
        "{ sectionsOff: ['messaging', 'silent-replies'] }",
    );
    let text = text_of(&env, &[]);
    assert!(!text.contains("## Messaging") && !text.contains("## Silent Replies"));
    env.file("home/.chitin/chitin.json5", "{ sectionsOff: ['mesaging'] }");
    let wrong = chitin(&env, &["context", "workspace"]);
    assert_eq!(wrong.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("did you mean `messaging`?"));
}

#[test]
fn the_page_is_written_whole_or_not_at_all() {
    let env = yard();
    let done = chitin(&env, &["context", "workspace", "--html", "page.html"]);
    assert!(done.status.success(), "{done:?}");
    let page = env.read("page.html");
    assert!(page.starts_with("<!doctype html>") || page.starts_with("<!DOCTYPE html>"));
    assert!(page.contains("openclaw-2026.9"));
    env.directory_at("folder");
    env.link("link.html", "page.html");
    env.file("notes.txt", "mine");
    for (file, code) in [
        ("folder", 5),
        ("link.html", 5),
        ("notes.txt", 5),
        ("no/such/page.html", 3),
    ] {
        let failed = chitin(&env, &["context", "workspace", "--html", file]);
        assert_eq!(failed.status.code(), Some(code), "{file}");
    }
    assert_eq!(env.read("notes.txt"), "mine");
    let again = chitin(&env, &["context", "workspace", "--html", "page.html"]);
    assert!(again.status.success(), "an earlier page is replaced");
    assert_eq!(page, env.read("page.html"));
    let soul = env.read("workspace/SOUL.md");
    let refused = chitin(
        &env,
        &["context", "workspace", "--html", "workspace/./SOUL.md"],
    );
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert_eq!(soul, env.read("workspace/SOUL.md"));
}

#[test]
fn a_file_is_called_changed_when_its_text_is_and_not_when_only_its_place_is() {
    let env = yard();
    env.file("a-longer-name/SOUL.md", "Short and warm.\n");
    env.file("a-longer-name/HEARTBEAT.md", "- Is a Launch planned?\n");
    let json = json_of(&env, &["--diff", "a-longer-name"]);
    let files = json["files"].as_array().unwrap();
    let names: Vec<&str> = files
        .iter()
        .filter_map(|file| file["name"].as_str())
        .collect();
    assert!(names.contains(&"HEARTBEAT.md"), "one letter: {names:?}");
    assert!(!names.contains(&"SOUL.md"), "the same text: {names:?}");
}

#[test]
fn names_that_a_terminal_would_obey_are_taken_apart_in_notes_and_errors() {
    let env = yard();
    env.file(
        "home/.openclaw/openclaw.json",
        r#"{ hooks: { internal: { enabled: true, entries: { "bootstrap-extra-files": { enabled: true, paths: ["*/*.md"] } } } } }"#,
    );
    env.file("workspace/\u{1b}]0;x\u{7}\nerror: y/notes.md", "x");
    for at in 0..30 {
        env.file(&format!("workspace/b{at}/notes.md"), "x");
    }
    let said = |arguments: &[&str]| {
        let output = chitin(&env, &[&["context", "workspace"], arguments].concat());
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    let table = said(&[]);
    assert!(
        table.contains("\u{fffd}]0;x\u{fffd}\u{fffd}error: y"),
        "{table}"
    );
    assert!(table.contains("26 more extra files"), "{table}");
    for arguments in [
        &[] as &[&str],
        &["--model", "\u{1b}[31m"],
        &["--html", "\u{1b}[31m/x"],
        &["--diff", "openclaw-2026.4"],
    ] {
        assert!(!said(arguments).contains('\u{1b}'), "{arguments:?}");
    }
}

#[test]
fn notes_about_the_configuration_are_said_once() {
    let env = yard();
    env.file("home/.chitin/chitin.json5", "{ budgte: {} }");
    for arguments in [
        &["--html", "page.html"] as &[&str],
        &["--diff", "openclaw-2026.4"],
        &["--session", "agent:ops:main"],
    ] {
        let output = chitin(&env, &[&["context", "workspace"], arguments].concat());
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(said.matches("`budgte`").count(), 1, "{arguments:?}: {said}");
    }
}

#[test]
fn a_limit_for_a_file_that_is_not_there_is_noted() {
    let env = yard();
    let output = chitin(&env, &["context", "workspace", "--budget", "MEMROY.md=500"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("did you mean `MEMORY.md`?"), "{said}");
}

#[test]
fn watching_what_cannot_be_shown_ends_at_once() {
    let env = yard();
    for (arguments, code) in [
        (&["nowhere"] as &[&str], 3),
        (&["workspace", "--budget", "file=0"], 2),
    ] {
        let output = chitin(&env, &[&["context", "--watch"], arguments].concat());
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
    }
}

/// The bridge has neither limits nor placeholders: nothing is said to be cut, and a refusal leaves no trace in the prompt.
#[test]
fn the_bridge_cuts_nothing_and_writes_no_placeholder() {
    let env = yard();
    env.file("workspace/USER.md", "word ".repeat(4000));
    std::fs::remove_file(env.workspace().join("SOUL.md")).unwrap();
    env.link("workspace/SOUL.md", "../home/soul.md");
    let bridge = ["--contract", "atmosphere", "--budget", "file=100"];
    let text = text_of(&env, &bridge);
    assert!(text.len() > 20_000 && !text.contains("[REFUSED]"), "{text}");
    let table = transcript(&env, &[&["context", "workspace"], &bridge[..]].concat());
    assert!(table.contains("SOUL.md: it was not read, outside-root: a link leads out"));
    assert!(table.contains("warning: `SOUL.md` was not read (outside-root)"));
    assert!(table.contains("no limits: this contract does not truncate"));
    let check = transcript(&env, &["check", "workspace", "--contract", "atmosphere"]);
    assert!(!check.contains("CH301"), "{check}");
}

#[test]
fn watching_shows_an_edit() {
    let env = yard();
    let mut child = command(&env, &["context", "workspace", "--watch", "-q"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (sender, lines) = mpsc::channel();
    let stdout = BufReader::new(child.stdout.take().unwrap());
    let reader = std::thread::spawn(move || {
        for line in stdout.lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    let until = |words: [&str; 2]| {
        let patience = Duration::from_secs(20);
        loop {
            let line = lines.recv_timeout(patience).unwrap();
            if words.iter().all(|word| line.contains(word)) {
                break;
            }
        }
    };
    until(["IDENTITY.md", "missing"]);
    until(["System prompt:", "tokens"]);
    env.file("workspace/IDENTITY.md", "Name: Tern\n");
    until(["IDENTITY.md", "whole"]);
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap();
}
