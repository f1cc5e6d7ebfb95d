//! Memory as a user and an agent meet it: the real binary, real files, a real SQLite.
#![expect(
    clippy::disallowed_methods,
    reason = "files are looked at and changed between the steps"
)]

use crate::process::{chitin, transcript};
use crate::run::Talk;
use chitin_test::TestEnv;
use chitin_test::model_server::Format;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

const VENDORS: &str = "# Vendors

- Timber: Bergset, larch and oak, five weeks.
- Bronze: Kvam Foundry, rivets and roves, ten days.

## Plumbers

- Ada Quill fixed the boiler in the drying loft; she answers after six.
";

/// A yard that remembers.
fn yard() -> TestEnv {
    let env = TestEnv::new();
    env.files([
        ("AGENTS.md", "# Rules\n\nKeep the board.\n"),
        ("MEMORY.md", "- The crane is inspected every May.\n"),
        ("memory/vendors.md", VENDORS),
        ("memory/people/oda.md", "Oda rivets. She is left-handed.\n"),
        (
            "memory/multilingual.md",
            "船台を月曜日に修理する。\n배터리를 교체했다.\n",
        ),
    ]);
    env
}

fn json_of(env: &TestEnv, arguments: &[&str]) -> Value {
    let output = chitin(env, arguments);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        unreachable!("{error}: {}", String::from_utf8_lossy(&output.stderr))
    })
}

fn paths(found: &Value) -> Vec<&str> {
    let results = found["results"].as_array().into_iter().flatten();
    results
        .filter_map(|result| result["path"].as_str())
        .collect()
}

#[test]
fn a_person_looks_around_searches_and_reads() {
    let env = yard();
    let mut story = transcript(&env, &["memory", "workspace"]);
    story += &transcript(
        &env,
        &["memory", "search", "who fixed the boiler", "workspace"],
    );
    story += &transcript(
        &env,
        &[
            "memory",
            "search",
            "larch",
            "workspace",
            "--explain",
            "--results",
            "1",
        ],
    );
    story += &transcript(&env, &["memory", "search", "zeppelin", "workspace"]);
    story += &transcript(
        &env,
        &["memory", "show", "memory/vendors.md:3-4", "workspace"],
    );
    story += &transcript(&env, &["memory", "show", "AGENTS.md", "workspace"]);
    story += &transcript(&env, &["memory", "show", "memory/nobody.md", "workspace"]);
    story += &transcript(&env, &["memory", "workspace"]);
    story += &transcript(&env, &["memory", "search", "two words", "unquoted"]);
    insta::with_settings!({filters => vec![
        (r"main-[0-9a-f]{12}", "main-[WORKSPACE]"),
        (r"\d+\.\d kB\n", "[SIZE]\n"),
    ]}, {
        insta::assert_snapshot!(story);
    });
}

#[test]
fn scripts_without_spaces_are_searched_like_any_other() {
    let env = yard();
    for (question, line) in [("船台", 1), ("修理", 1), ("배터리 교체", 2)] {
        let found = json_of(&env, &["--json", "memory", "search", question, "workspace"]);
        assert_eq!(paths(&found), ["memory/multilingual.md"], "{question}");
        let snippet = found["results"][0]["snippet"].as_str().unwrap();
        assert!(snippet.lines().count() >= line, "{question}: {snippet}");
    }
}

/// An edit shows in the next search, and only the file that was edited is read again.
#[test]
fn an_edit_is_found_by_the_next_search_and_nothing_else_is_read() {
    let env = yard();
    let first = json_of(&env, &["--json", "memory", "index", "workspace"]);
    assert_eq!(first["read"], 4, "{first}");
    env.file(
        "workspace/memory/people/oda.md",
        "Oda rivets, and now she welds.\n",
    );
    let second = json_of(&env, &["--json", "memory", "index", "workspace"]);
    assert_eq!((&second["looked"], &second["read"]), (&json!(4), &json!(1)));
    let found = json_of(&env, &["--json", "memory", "search", "welds", "workspace"]);
    assert_eq!(paths(&found), ["memory/people/oda.md"]);
    fs::remove_file(env.workspace().join("memory/people/oda.md")).unwrap();
    let gone = json_of(&env, &["--json", "memory", "search", "welds", "workspace"]);
    assert!(paths(&gone).is_empty(), "{gone}");
}

#[test]
fn an_agent_asks_its_memory_by_tools() {
    let env = yard();
    let say = |words: &str| {
        let output = chitin(&env, &["run", "workspace", "-m", words]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let found = say(r#"call memory_search {"query": "boiler plumber"}"#);
    assert!(found.contains("memory/vendors.md#L"), "{found}");
    assert!(found.contains("Ada Quill"), "{found}");
    let read = say(r#"call memory_get {"path": "memory/vendors.md", "from": 3, "lines": 1}"#);
    assert!(read.contains("Timber: Bergset"), "{read}");
    assert!(!read.contains("Kvam"), "{read}");
    let refused = say(r#"call memory_get {"path": "../home/.chitin/chitin.json5"}"#);
    assert!(refused.contains("error"), "{refused}");
}

/// Where others read along, what the contract keeps from them is not found and not read, however it is spelled.
#[test]
fn what_a_group_may_not_see_is_not_in_its_memory() {
    let env = yard();
    let say = |session: &str, words: &str| {
        let arguments = [
            "run",
            "workspace",
            "--contract",
            "openclaw-2026.9",
            "--session",
            session,
            "-m",
            words,
        ];
        let output = chitin(&env, &arguments);
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let (main, group) = ("agent:main:main", "agent:main:discord:channel:7");
    let search = r#"call memory_search {"query": "crane inspected"}"#;
    assert!(say(main, search).contains("every May"));
    assert!(!say(group, search).contains("every May"));
    for path in ["MEMORY.md", "./MEMORY.md", "memory/../MEMORY.md"] {
        let get = format!(r#"call memory_get {{"path": "{path}"}}"#);
        assert!(say(main, &get).contains("every May"), "{path}");
        assert!(!say(group, &get).contains("every May"), "{path}");
    }
}

/// What fits a message stands in the prompt below the cache boundary; `chitin context` shows the same; and the recorded releases,
/// which do not do that, do not.
#[test]
fn what_fits_a_message_is_in_the_prompt() {
    let env = yard();
    let words = "who was the plumber that fixed our boiler?";
    let body = |more: &[&str]| {
        let mut arguments = vec!["--json", "run", "workspace", "--dry-run", "-m", words];
        arguments.extend(more);
        json_of(&env, &arguments)["body"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let recalled = body(&[]);
    assert!(recalled.contains("## Memory Search Results"), "{recalled}");
    assert!(
        recalled.contains("> - Ada Quill fixed the boiler"),
        "{recalled}"
    );
    let boundary = recalled.find("OPENCLAW_CACHE_BOUNDARY");
    assert!(boundary < recalled.find("## Memory Search Results"));
    assert!(!body(&["--contract", "openclaw-2026.4"]).contains("Memory Search Results"));
    let shown = chitin(&env, &["context", "workspace", "--text", "-m", words]);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("> - Ada Quill fixed the boiler"), "{shown}");
    let silent = chitin(&env, &["context", "workspace", "--text", "-m", "zeppelin"]);
    assert!(!String::from_utf8_lossy(&silent.stdout).contains("Memory Search Results"));
    env.file(
        "home/.chitin/chitin.json5",
        "{memory: {recall: {enabled: false}}}",
    );
    assert!(!body(&[]).contains("Memory Search Results"));
    env.file("home/.chitin/chitin.json5", "{memory: {enabled: false}}");
    assert!(!body(&[]).contains("memory_search"));
}

/// Past conversations are the owner's: the main session finds them, and nobody else does. What looks like a key is not kept.
#[test]
fn past_conversations_are_found_again_by_the_main_session_alone() {
    let talk = Talk::new(
        Format::Anthropic,
        &[
            json!({"text": "Noted."}),
            json!({"text": "Hello."}),
            json!({"toolCalls": [{"name": "memory_search", "arguments": {"query": "Gudrun harmonium"}}]}),
            json!({"text": "Done."}),
            json!({"toolCalls": [{"name": "memory_search", "arguments": {"query": "Gudrun harmonium"}}]}),
            json!({"text": "Done."}),
        ],
    );
    talk.answer(
        "Gudrun's harmonium goes to the museum. The key is sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA, and \
         API_KEY=q7Zp2LxV9mWc4RtB8nYd5KsH6jFg3TuE",
    );
    assert!(talk.say_with("Good morning", &["--new"]).status.success());
    let workspace = talk.env.workspace();
    let workspace = workspace.to_str().unwrap();
    let found = json_of(
        &talk.env,
        &[
            "--json",
            "memory",
            "search",
            "harmonium",
            workspace,
            "--source",
            "sessions",
        ],
    );
    let snippet = found["results"][0]["snippet"].as_str().unwrap();
    assert!(
        snippet.contains("User: ") && snippet.contains("museum"),
        "{snippet}"
    );
    assert!(!snippet.contains("AAAAAAAAAAAA"), "{snippet}");
    assert!(
        !snippet.contains("q7Zp2LxV9mWc4RtB8nYd5KsH6jFg3TuE"),
        "{snippet}"
    );
    let results = |session: &str| {
        talk.say_with("look it up", &["--session", session]);
        let requests = talk.server.requests();
        requests.last().unwrap().text()
    };
    assert!(results("main").contains("goes to the museum"));
    assert!(!results("agent:main:discord:direct:7").contains("goes to the museum"));
}

/// The index is a cache: garbage, another program's file, no permission, no room are said and cost nothing but time.
#[test]
fn a_damaged_or_unusable_index_is_no_obstacle() {
    let env = yard();
    let index = |env: &TestEnv| {
        let directory = env.home().join(".chitin/memory");
        let files = fs::read_dir(directory).unwrap().flatten();
        files
            .map(|entry| entry.path())
            .find(|path| path.extension().is_some_and(|end| end == "sqlite"))
            .unwrap()
    };
    let boiler = ["--json", "memory", "search", "boiler", "workspace"];
    assert_eq!(paths(&json_of(&env, &boiler)), ["memory/vendors.md"]);
    fs::write(index(&env), vec![0x5a; 40_000]).unwrap();
    assert_eq!(paths(&json_of(&env, &boiler)), ["memory/vendors.md"]);
    let bytes = fs::read(index(&env)).unwrap();
    fs::write(index(&env), &bytes[..bytes.len() / 2]).unwrap();
    assert_eq!(paths(&json_of(&env, &boiler)), ["memory/vendors.md"]);
    fs::remove_file(index(&env)).unwrap();
    assert_eq!(paths(&json_of(&env, &boiler)), ["memory/vendors.md"]);
    // A directory where the index should be can never be written, not even by root.
    let place = index(&env);
    for end in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{end}", place.display()));
    }
    fs::create_dir(&place).unwrap();
    let output = chitin(&env, &boiler);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(paths(&found), ["memory/vendors.md"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("kept in memory"), "{said}");
}

#[test]
fn questions_of_any_kind_are_answered_or_refused_clearly() {
    let env = yard();
    let long = "boiler ".repeat(15_000);
    let questions = [
        r#"" OR NEAR( * ^ { } : -"#,
        "AND",
        "'; DROP TABLE pieces; --",
        "🚢🚢🚢",
        "\u{0}",
        &long,
    ];
    for question in &questions[..4] {
        let output = chitin(&env, &["memory", "search", question, "workspace"]);
        let code = output.status.code();
        assert!(matches!(code, Some(0 | 1)), "{question}: {output:?}");
    }
    let found = json_of(&env, &["--json", "memory", "search", &long, "workspace"]);
    assert_eq!(paths(&found), ["memory/vendors.md"]);
    let blank = chitin(&env, &["memory", "search", "  ", "workspace"]);
    assert_eq!(blank.status.code(), Some(2));
}

/// What cannot be read as text is read as far as it can; what is too large is cut and said; nothing blocks.
#[test]
fn notes_of_any_kind_are_taken_as_far_as_they_go() {
    let env = yard();
    env.file("workspace/memory/latin.md", b"caf\xe9 on the quay\n");
    env.file(
        "workspace/memory/long.md",
        format!("{} lighthouse\n", "x ".repeat(50_000)),
    );
    env.fifo("workspace/memory/pipe.md");
    env.link("workspace/memory/loop.md", "loop.md");
    env.file("workspace/memory/empty.md", "");
    let closed = env.file("workspace/memory/closed.md", "secret");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    let found = json_of(&env, &["--json", "memory", "search", "quay", "workspace"]);
    assert_eq!(paths(&found), ["memory/latin.md"]);
    let found = json_of(
        &env,
        &["--json", "memory", "search", "lighthouse", "workspace"],
    );
    assert_eq!(paths(&found), ["memory/long.md"]);
}

#[test]
fn facts_about_a_user_are_added_promoted_removed_and_found() {
    let env = TestEnv::new();
    env.file("workspace/MEMORY.md", "- Not about anybody.\n");
    let facts = |more: &[&str]| -> (Option<i32>, serde_json::Value) {
        let fixed = ["memory", "facts", "workspace", "--user", "ada", "--json"];
        let output = chitin(&env, &[&fixed[..], more].concat());
        let value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        (output.status.code(), value)
    };
    assert_eq!(facts(&[]).1["entries"], serde_json::json!([]));
    assert!(
        !env.path().join("workspace/users").exists(),
        "a look makes nothing"
    );
    let (_, added) = facts(&["--add", "Prefers oak\nto larch."]);
    assert_eq!(added["added"]["content"], "Prefers oak to larch.");
    let day = ["--day", "2026-03-02"];
    let (_, answer) = facts(&[&day[..], &["--add", "The violet crane came."]].concat());
    let note = answer["added"]["id"].as_str().unwrap();
    let file = "workspace/users/ada/agents/main/memory/2026-03-02.md";
    assert!(env.read(file).starts_with(&format!("- [id:{note}|at:20")));
    // A note becomes a fact, with its id.
    let (_, promoted) = facts(&[&day[..], &["--promote", note]].concat());
    assert_eq!(promoted["entries"].as_array().unwrap().len(), 2);
    assert_eq!(promoted["entries"][1]["id"], note);
    assert_eq!(env.read(file), "");
    // The agent finds it where the user lets it look.
    env.file(
        "home/.chitin/chitin.json5",
        "{ memory: { extraPaths: ['users'] } }",
    );
    let found = chitin(&env, &["memory", "search", "violet crane", "workspace"]);
    let found = String::from_utf8_lossy(&found.stdout).into_owned();
    assert!(found.contains("users/ada/agents/main/MEMORY.md"), "{found}");
    assert_eq!(facts(&["--remove", note]).0, Some(0));
    assert_eq!(facts(&[]).1["entries"].as_array().unwrap().len(), 1);
    assert_eq!(env.read("workspace/MEMORY.md"), "- Not about anybody.\n");
    // Clear errors, and nothing is made.
    assert_eq!(facts(&["--remove", note]).0, Some(3));
    for wrong in ["../ada", "a/b", ""] {
        let output = chitin(&env, &["memory", "facts", "workspace", "--user", wrong]);
        assert_eq!(output.status.code(), Some(2), "{wrong}");
    }
    let output = chitin(
        &env,
        &["memory", "facts", "absent", "--user", "ada", "--add", "x"],
    );
    assert_eq!(output.status.code(), Some(3));
    assert!(!env.path().join("absent").exists());
}

#[test]
fn a_look_recalls_what_a_turn_would() {
    let env = TestEnv::new();
    env.file("harbor/AGENTS.md", "Keep the harbor.\n");
    let words = "the ferry leaves at seven";
    let said = |arguments: &[&str]| {
        let output = crate::process::plain_command(&env, arguments)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    said(&["run", "harbor", "-m", words]);
    let found = "## Memory Search Results";
    let shown = said(&["context", "harbor", "-m", words, "--text"]);
    let sent = said(&["run", "harbor", "-m", words, "--dry-run"]);
    assert!(!sent.contains(found), "{sent}");
    assert!(!shown.contains(found), "the session's own words: {shown}");
    // In a new session they are remembered.
    said(&["run", "harbor", "--new", "-m", "good morning to all"]);
    let shown = said(&["context", "harbor", "-m", words, "--text"]);
    let sent = said(&["run", "harbor", "-m", words, "--dry-run"]);
    assert_eq!(shown.contains(found), sent.contains(found), "{shown}");
}
