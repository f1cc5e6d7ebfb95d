//! What the page asks about a workspace, of the real server: prompts of turns, files, effects of edits, findings, memory, traces.

use super::Serving;
use crate::run::Talk;
use chitin_test::model_server::Format;
use serde_json::{Value, json};
use std::os::unix::fs::symlink;

const MAIN: &str = "/api/sessions/agent:main:main";

fn talk() -> Talk {
    let answer = |text: &str| json!({"text": text});
    Talk::new(
        Format::Anthropic,
        &[answer("One."), answer("Two."), answer("Three.")],
    )
}

fn get(serving: &Serving, path: &str) -> Value {
    let (status, value) = serving.ask("GET", path, None);
    assert_eq!(status, 200, "{path}: {value}");
    value
}

fn say(serving: &Serving, text: &str) {
    let body = json!({"text": text, "wait": true});
    let (status, answer) = serving.ask("POST", "/api/messages", Some(&body));
    assert_eq!((status, &answer["status"]), (200, &json!("ok")), "{answer}");
}

fn list<'a>(value: &'a Value, name: &str) -> &'a Vec<Value> {
    value[name]
        .as_array()
        .unwrap_or_else(|| unreachable!("no `{name}`: {value}"))
}

fn named<'a>(items: &'a [Value], field: &str, name: &str) -> &'a Value {
    let found = items.iter().find(|item| item[field] == name);
    found.unwrap_or_else(|| unreachable!("no `{name}` among {items:?}"))
}

/// The prompt that a lens shows, put together again.
fn prompt(lens: &Value) -> String {
    let parts = list(lens, "fragments").iter();
    let system = parts.filter(|part| part["role"] == "system");
    system
        .flat_map(|part| list(part, "pieces"))
        .map(|piece| piece["text"].as_str().unwrap())
        .collect()
}

#[test]
fn the_lens_shows_every_turn_and_what_an_edit_did_to_the_cache() {
    let talk = talk();
    let serving = Serving::start(&talk, &[]);
    say(&serving, "hello");
    let next = get(&serving, &format!("{MAIN}/lens?turn=next"));
    assert_eq!(
        next["before"]["same"], true,
        "nothing changed: {}",
        next["before"]
    );

    say(&serving, "and again");
    talk.env.file("workspace/SOUL.md", "Long and cold.\n");
    say(&serving, "once more");
    let turns = get(&serving, &format!("{MAIN}/turns"));
    assert_eq!(turns["recorded"], true);
    let turns = list(&turns, "turns");
    assert_eq!(turns.len(), 3);
    assert_eq!(
        (&turns[0]["status"], &turns[0]["messages"]),
        (&json!("success"), &json!(5))
    );
    assert_eq!(turns[0]["model"], "yard/test-model");

    let lens = |turn: &Value| {
        let id = turn["id"].as_str().unwrap();
        get(&serving, &format!("{MAIN}/lens?turn={id}"))
    };
    let (newest, middle, oldest) = (lens(&turns[0]), lens(&turns[1]), lens(&turns[2]));
    // What is shown is what was sent, to the byte.
    let sent = talk.server.requests();
    for (lens, sent) in [&oldest, &middle, &newest].iter().zip(&sent) {
        let body: Value = serde_json::from_slice(&sent.body).unwrap();
        let blocks = body["system"].as_array().unwrap().iter();
        let lines = blocks.flat_map(|block| block["text"].as_str().unwrap().lines());
        let shown = prompt(lens);
        let boundary = lens["boundary"]["afterFragment"].as_u64();
        assert!(boundary.is_some() && list(lens, "fragments").len() > 5);
        let soul = named(list(lens, "fragments"), "name", "SOUL.md");
        assert!(shown.contains(soul["pieces"][0]["text"].as_str().unwrap()));
        for line in lines {
            assert!(shown.contains(line), "{line}");
        }
    }
    // And so are the figures of what goes with it.
    for (at, (lens, sent)) in [&oldest, &middle, &newest].iter().zip(&sent).enumerate() {
        let body: Value = serde_json::from_slice(&sent.body).unwrap();
        let tools = body["tools"].as_array().unwrap();
        assert_eq!(lens["toolDefinitions"]["count"], tools.len());
        let chars: usize = tools
            .iter()
            .map(|tool| tool.to_string().encode_utf16().count())
            .sum();
        assert_eq!(lens["toolDefinitions"]["chars"], chars);
        assert_eq!(lens["history"]["messages"], 2 * at);
        assert_eq!(
            lens["history"]["state"],
            if at == 0 { "new" } else { "kept" }
        );
        let tokens = |part: &Value| part["tokens"].as_u64().unwrap();
        let totals = &lens["totals"];
        let parts = [
            &totals["system"],
            &lens["toolDefinitions"],
            &lens["history"],
            &lens["message"],
        ];
        assert_eq!(tokens(totals), parts.into_iter().map(tokens).sum::<u64>());
        assert_eq!(totals["complete"], true);
    }
    let next = get(&serving, &format!("{MAIN}/lens"));
    assert_eq!(
        (&next["history"]["messages"], &next["history"]["turns"]),
        (&json!(6), &json!(3))
    );
    assert!(next["totals"]["costUsd"].as_f64().unwrap() > 0.0);
    let context = get(&serving, &format!("{MAIN}/context"));
    assert_eq!(context["history"]["messages"], 6);
    assert!(context["toolDefinitions"]["tokens"].as_u64() > Some(1000));
    assert!(oldest.get("before").is_none());
    assert_eq!(middle["before"]["same"], true);
    assert_eq!(middle["before"]["lostTokens"], 0);
    let before = &newest["before"];
    assert_eq!(before["same"], false);
    assert_eq!(before["firstDifference"]["fragment"], "SOUL.md");
    assert!(before["lostTokens"].as_u64().unwrap() > 0);
    assert!(before["lostCostUsd"].as_f64().unwrap() > 0.0);
    let diff = list(before, "diff");
    let has = |op: &str, text: &str| {
        diff.iter()
            .any(|line| line["op"] == op && line["text"] == text)
    };
    assert!(
        has("remove", "Short and warm.") && has("add", "Long and cold."),
        "{diff:?}"
    );
    assert!(diff.iter().any(|line| line["op"] == "skip"));

    let (status, problem) = serving.ask("GET", &format!("{MAIN}/lens?turn=nobody"), None);
    assert_eq!(
        (status, &problem["error"]["code"]),
        (404, &json!("not_found"))
    );
    let unknown = get(&serving, "/api/sessions/agent:main:web:channel:none/turns");
    assert_eq!(unknown["recorded"], false);
}

#[test]
fn a_run_that_another_began_hangs_below_it_and_has_a_lens_too() {
    let spawn = json!({"name": "sessions_spawn", "arguments": {"task": "Count the lanterns", "label": "lanterns"}});
    let talk = Talk::new(
        Format::Anthropic,
        &[
            json!({"when": "[Subagent Task]: Count", "times": 0, "text": "Seven."}),
            json!({"when": "[Internal task completion event]", "times": 0, "text": "Noted."}),
            json!({"when": "Begin", "text": "At once.", "toolCalls": [spawn]}),
            json!({"times": 0, "text": "It is at work."}),
        ],
    );
    let serving = Serving::start(&talk, &[]);
    say(&serving, "Begin");
    serving.rest();
    let tree = get(&serving, "/api/tree");
    let child = named(list(&tree, "sessions"), "label", "lanterns");
    assert_eq!(
        (&child["kind"], &child["parent"]),
        (&json!("subagent"), &json!("agent:main:main"))
    );
    assert_eq!(
        (&child["state"], &child["agentId"]),
        (&json!("idle"), &json!("main"))
    );
    let key = child["key"].as_str().unwrap();
    let lens = get(&serving, &format!("/api/sessions/{key}/lens"));
    assert_eq!(lens["before"]["same"], true, "{}", lens["before"]);
    // What it is told about itself is known from its last turn.
    named(list(&lens, "fragments"), "name", "extra-context");
}

#[test]
fn a_cut_file_shows_what_was_cut_and_the_budget_moves_as_one_types() {
    let talk = talk();
    let lines: String = (0..3_000).fold(String::new(), |text, at| {
        text + &format!("- line {at} of the board\n")
    });
    talk.env.file("workspace/MEMORY.md", &lines);
    let serving = Serving::start(&talk, &[]);
    let lens = get(&serving, &format!("{MAIN}/lens"));
    let memory = named(list(&lens, "fragments"), "name", "MEMORY.md");
    assert_eq!(memory["decision"], "cut");
    assert!(
        list(memory, "pieces")
            .iter()
            .any(|piece| piece["kind"] == "cut-marker")
    );
    let cut = &list(memory, "cutText")[0];
    let (from, words) = (
        cut["fromLine"].as_u64().unwrap(),
        cut["text"].as_str().unwrap(),
    );
    assert!(
        words.contains(&format!("line {from} of")),
        "{from}: {}",
        &words[..80]
    );

    let preview = |text: &str| {
        let body = json!({"path": "MEMORY.md", "text": text});
        let (status, value) = serving.ask("POST", "/api/agents/main/preview", Some(&body));
        assert_eq!(status, 200, "{value}");
        value
    };
    let short = preview("- One line.\n");
    assert_eq!(short["file"]["state"], "kept");
    assert_eq!(short["file"]["rawChars"], 12);
    assert!(short["total"]["chars"].as_u64() < short["total"]["before"]["chars"].as_u64());
    let same = preview(&lines);
    assert_eq!(same["total"]["chars"], same["total"]["before"]["chars"]);
    assert_eq!(same["file"]["state"], "cut");
    assert!(!list(&same["file"], "cut").is_empty());
    // Only looked at: the file is as it was.
    assert_eq!(
        std::fs::read_to_string(talk.env.workspace().join("MEMORY.md")).unwrap(),
        lines
    );

    // A turn of the past shows what was left out as long as that can be known.
    say(&serving, "hello");
    let past = || {
        let turns = get(&serving, &format!("{MAIN}/turns"));
        let id = list(&turns, "turns")[0]["id"].as_str().unwrap().to_owned();
        let lens = get(&serving, &format!("{MAIN}/lens?turn={id}"));
        named(list(&lens, "fragments"), "name", "MEMORY.md").clone()
    };
    assert_eq!(past()["cutText"], memory["cutText"]);
    talk.env.file("workspace/MEMORY.md", "- One line.\n");
    let changed = past();
    assert!(changed.get("cutText").is_none());
    let cause = changed["cause"].as_str().unwrap();
    assert!(cause.contains("the omitted text is unknown"), "{cause}");
}

#[test]
fn files_are_saved_whole_and_never_over_somebody_elses_words() {
    let talk = talk();
    let serving = Serving::start(&talk, &[]);
    let listed = get(&serving, "/api/agents/main/files");
    let files = list(&listed, "files");
    assert_eq!(named(files, "path", "AGENTS.md")["kind"], "bootstrap");
    assert_eq!(named(files, "path", "MEMORY.md")["kind"], "memory");
    assert_eq!(named(files, "path", "board.md")["kind"], "other");
    let soul = get(&serving, "/api/agents/main/file?path=SOUL.md");
    assert_eq!(soul["text"], "Short and warm.\n");
    let save = |path: &str, body: Value| {
        serving.ask(
            "PUT",
            &format!("/api/agents/main/file?path={path}"),
            Some(&body),
        )
    };
    let (status, saved) = save(
        "SOUL.md",
        json!({"text": "New.\n", "version": soul["version"]}),
    );
    assert_eq!(status, 200, "{saved}");
    let on_disk = || std::fs::read_to_string(talk.env.workspace().join("SOUL.md")).unwrap();
    assert_eq!(on_disk(), "New.\n");
    // The version that was read first is gone: whoever still has it is told.
    let (status, problem) = save(
        "SOUL.md",
        json!({"text": "Other.\n", "version": soul["version"]}),
    );
    assert_eq!(
        (status, &problem["error"]["code"]),
        (409, &json!("conflict"))
    );
    assert_eq!(problem["current"]["text"], "New.\n");
    assert_eq!(problem["current"]["version"], saved["version"]);
    assert_eq!(on_disk(), "New.\n");
    let (status, problem) = save("SOUL.md", json!({"text": "As if new.\n", "version": null}));
    assert_eq!((status, on_disk().as_str()), (409, "New.\n"), "{problem}");
    let (status, made) = save(
        "memory/2026-11-16.md",
        json!({"text": "Made.\n", "version": null}),
    );
    assert_eq!(status, 200, "{made}");
    let (status, gone) = save("nowhere.md", json!({"text": "x", "version": "0"}));
    assert_eq!((status, &gone["current"]["text"]), (409, &Value::Null));
}

#[test]
fn nothing_outside_the_workspace_is_read_or_written_and_it_says_why() {
    let talk = talk();
    let workspace = talk.env.workspace();
    let secret = talk.env.home().join("secret.md");
    std::fs::write(&secret, "nobody's business").unwrap();
    symlink(&secret, workspace.join("link.md")).unwrap();
    symlink(talk.env.home(), workspace.join("door")).unwrap();
    std::fs::hard_link(&secret, workspace.join("second.md")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        workspace.join("pipe.md"),
        rustix::fs::FileType::Fifo,
        0o600.into(),
        0,
    )
    .unwrap();
    std::fs::write(workspace.join("picture.bin"), [0xff, 0xfe, 0x00]).unwrap();
    std::fs::write(workspace.join(".env"), "KEY=1").unwrap();
    let serving = Serving::start(&talk, &[]);
    for path in [
        "../home/secret.md",
        "/etc/passwd",
        "%2Fetc%2Fpasswd",
        "..%2Fhome%2Fsecret.md",
        "link.md",
        "door/secret.md",
        "second.md",
        "pipe.md",
        "picture.bin",
        ".env",
        ".openclaw/workspace-state.json",
        "memory/../../home/secret.md",
        "AGENTS.md/",
        "a%5Cb",
    ] {
        let path = format!("/api/agents/main/file?path={path}");
        let (status, problem) = serving.ask("GET", &path, None);
        assert_eq!(
            (status, &problem["error"]["code"]),
            (403, &json!("refused")),
            "{path}: {problem}"
        );
        assert!(problem["error"]["message"].as_str().unwrap().len() > 20);
        let body = json!({"text": "mine now", "version": null});
        let (status, problem) = serving.ask("PUT", &path, Some(&body));
        assert_eq!(
            (status, &problem["error"]["code"]),
            (403, &json!("refused")),
            "{path}: {problem}"
        );
    }
    assert_eq!(
        std::fs::read_to_string(&secret).unwrap(),
        "nobody's business"
    );
    let listed = get(&serving, "/api/agents/main/files");
    for path in ["link.md", "pipe.md", "second.md"] {
        let file = named(list(&listed, "files"), "path", path);
        assert_eq!(
            (&file["state"], &file["editable"]),
            (&json!("refused"), &json!(false))
        );
    }
    assert!(!listed.to_string().contains(".env"));
    let huge = json!({"text": "x".repeat((2 << 20) + 1), "version": null});
    let (status, problem) = serving.ask("PUT", "/api/agents/main/file?path=huge.md", Some(&huge));
    assert_eq!(
        (status, &problem["error"]["code"]),
        (413, &json!("too_large"))
    );
    assert!(!workspace.join("huge.md").exists());
}

#[test]
fn skills_findings_memory_traces_and_the_tree_are_there() {
    let talk = talk();
    talk.env.files([
        ("skills/tides/SKILL.md", "---\nname: tides\ndescription: Knows the tides.\n---\nAsk the harbour.\n"),
        ("skills/gone/SKILL.md", "---\nname: gone\ndescription: Needs a tool.\nmetadata: {\"openclaw\": {\"requires\": {\"bins\": [\"no-such-tool-here\"]}}}\n---\nx\n"),
    ]);
    talk.env.file(
        "workspace/AGENTS.md",
        "See [the plan](plan-that-is-not-there.md).\n",
    );
    let serving = Serving::start(&talk, &[]);
    say(&serving, "hello <script>alert(1)</script>");
    let skills = get(&serving, "/api/agents/main/skills");
    let skills = list(&skills, "skills");
    let tides = named(skills, "name", "tides");
    assert_eq!(
        (&tides["eligible"], &tides["inPrompt"]),
        (&json!(true), &json!(true))
    );
    let gone = named(skills, "name", "gone");
    assert_eq!(gone["eligible"], false);
    assert!(!list(gone, "why").is_empty());
    let findings = get(&serving, "/api/agents/main/findings");
    let broken = list(&findings, "findings").iter();
    let mut broken = broken.filter(|finding| finding["path"] == "AGENTS.md");
    assert!(broken.any(|finding| finding["line"] == 1), "{findings}");
    let found = get(&serving, "/api/agents/main/memory?q=larch&limit=3");
    let notes = list(&found, "results");
    assert!(
        notes.iter().any(|note| note["path"] == "MEMORY.md"),
        "{found}"
    );
    assert_eq!(get(&serving, "/api/agents/main/memory")["enabled"], true);
    let traces = get(&serving, "/api/traces?agent=main");
    let trace = &list(&traces, "traces")[0];
    assert_eq!(
        (&trace["sessionKey"], &trace["turns"]),
        (&json!("agent:main:main"), &json!(1))
    );
    let trace = get(
        &serving,
        &format!("/api/traces/{}", trace["id"].as_str().unwrap()),
    );
    assert_eq!(trace["truncated"], false);
    assert!(list(&trace, "events").len() >= 5);
    let tree = get(&serving, "/api/tree");
    let main = named(list(&tree, "sessions"), "key", "agent:main:main");
    assert_eq!(
        (&main["kind"], &main["state"]),
        (&json!("main"), &json!("idle"))
    );
    let (status, problem) = serving.ask("GET", "/api/agents/nobody/files", None);
    assert_eq!(
        (status, &problem["error"]["code"]),
        (404, &json!("unknown_agent"))
    );
    let routes = get(&serving, "/api/routes");
    assert_eq!(routes["defaultAgent"], "main");
}

#[test]
fn tokens_sent_mean_the_same_wherever_the_api_shows_them() {
    let usage = json!({"input": 10, "cacheRead": 500, "output": 5});
    let talk = Talk::new(
        Format::Anthropic,
        &[json!({"times": 0, "text": "Fine.", "usage": usage})],
    );
    let serving = Serving::start(&talk, &[]);
    let body = json!({"text": "hello", "wait": true});
    let (_, done) = serving.ask("POST", "/api/messages", Some(&body));
    assert_eq!(done["inputTokens"], 510, "{done}");
    let turns = get(&serving, &format!("{MAIN}/turns"));
    let turn = &list(&turns, "turns")[0];
    assert_eq!(
        (&turn["inputTokens"], &turn["cacheRead"]),
        (&json!(510), &json!(500)),
        "{turn}"
    );
}

#[test]
fn every_view_of_the_next_turn_has_the_tools_of_the_turn() {
    let talk = talk();
    let serving = Serving::start(&talk, &[]);
    let names = |tools: &[Value]| -> Vec<String> {
        let names = tools.iter().map(|tool| tool["name"].as_str().unwrap());
        names.map(str::to_owned).collect()
    };
    let look = || {
        let context = get(&serving, &format!("{MAIN}/context"));
        let lens = get(&serving, &format!("{MAIN}/lens?turn=next"));
        let files = get(&serving, "/api/agents/main/files");
        let body = json!({"path": "AGENTS.md", "text": talk.env.read("workspace/AGENTS.md")});
        let (_, preview) = serving.ask("POST", "/api/agents/main/preview", Some(&body));
        let chars = [
            &lens["budget"]["systemChars"],
            &files["budget"]["systemChars"],
            &preview["total"]["systemChars"],
        ];
        assert!(chars[0].is_u64(), "{lens}");
        assert!(chars.iter().all(|one| *one == chars[0]), "{chars:?}");
        (
            names(list(&context["toolDefinitions"], "tools")),
            names(list(&lens["toolDefinitions"], "tools")),
        )
    };
    let (in_context, in_lens) = look();
    say(&serving, "hello");
    let sent: Value = serde_json::from_slice(&talk.server.requests()[0].body).unwrap();
    let mut sent = names(list(&sent, "tools"));
    sent.sort();
    assert!(sent.contains(&"cron".to_owned()), "{sent:?}");
    for mut shown in [in_context, in_lens, look().0, look().1] {
        shown.sort();
        assert_eq!(shown, sent);
    }
}

#[test]
fn a_misspelt_session_key_is_the_callers_mistake() {
    let talk = talk();
    let serving = Serving::start(&talk, &[]);
    for view in ["context", "lens"] {
        let path = format!("/api/sessions/mian/{view}");
        let (status, answer) = serving.ask("GET", &path, None);
        assert_eq!(status, 400, "{answer}");
        assert_eq!(answer["error"]["code"], "bad_request", "{answer}");
    }
}
