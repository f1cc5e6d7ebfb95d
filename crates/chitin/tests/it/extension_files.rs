//! Extension files as a user meets them: each rule of `PERMISSIONS.md`, and what `RUNTIME.md`, `CHANNELS.md` and `SKILLS.md` do, in
//! `chitin run` and `chitin serve`.
#![expect(
    clippy::disallowed_methods,
    reason = "files are changed between the steps"
)]

use crate::process::{chitin, transcript};
use crate::run::{Talk, lines, text};
use crate::serve::{Serving, place};
use chitin_test::model_server::Format;
use serde_json::{Value, json};
use std::process::Output;

/// An agent with rules, whose model has nothing forbidden to say.
pub(crate) fn ruled(permissions: &str) -> Talk {
    let talk = Talk::new(Format::Anthropic, &[json!({"times": 0, "text": "Fine."})]);
    talk.env.files([("PERMISSIONS.md", permissions)]);
    talk
}

/// Tells whether a turn was refused by a rule: exit code, sentence, and no request.
pub(crate) fn assert_refused(talk: &Talk, output: &Output, rule: &str, line: usize) {
    let (out, error) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(5), "{out}\n{error}");
    let names = format!("`PERMISSIONS.md` refuses this message (rule `{rule}`, line {line})");
    assert!(error.contains(&names), "{error}");
    assert!(out.trim().is_empty(), "{out}");
    assert!(talk.server.requests().is_empty(), "the model was asked");
}

/// Sends a message and waits for its end.
fn send(serving: &Serving, words: &str) -> (u16, Value) {
    let body = json!({"text": words, "from": place("yard"), "wait": true});
    serving.ask("POST", "/api/messages", Some(&body))
}

/// A time window that is open now, and one that is not.
fn windows() -> (String, String) {
    let now = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC);
    let hour = |later: i64| {
        let time = now
            .checked_add(jiff::SignedDuration::from_hours(later))
            .unwrap();
        time.strftime("%H:%M").to_string()
    };
    (
        format!("{}-{}", hour(-2), hour(2)),
        format!("{}-{}", hour(2), hour(4)),
    )
}

#[test]
fn run_holds_every_rule_about_messages() {
    let (_, shut) = windows();
    for (rules, rule, line, words) in [
        ("# Rules\n- deny: swordfish\n", "deny", 2, "the SwordFish"),
        (
            "deny-regex: sword\\s*fish\n",
            "deny-regex",
            1,
            "sword  fish",
        ),
        ("allow: board\nallow: berth\n", "allow", 1, "the weather"),
        ("\nmessage-length: 5\n", "message-length", 2, "too long"),
        ("require-role: guest\n", "require-role", 1, "hello"),
        (&format!("time-window: {shut}\n"), "time-window", 1, "hello"),
    ] {
        let talk = ruled(rules);
        assert_refused(&talk, &talk.say(words), rule, line);
    }
    let talk = ruled("allow: board\nmessage-length: 40\nrequire-role: owner\nrate-limit: 9/60\n");
    assert_eq!(talk.answer("What is on the board?").trim(), "Fine.");
}

#[test]
fn rules_that_contradict_each_other_refuse_and_check_says_so() {
    let talk = ruled("allow: board\ndeny: board\n");
    assert_refused(&talk, &talk.say("What is on the board?"), "deny", 2);
    let talk = ruled("require-role: owner\nrequire-role: guest\n");
    assert_refused(&talk, &talk.say("hello"), "require-role", 2);
    let workspace = talk.env.workspace().display().to_string();
    let found = transcript(&talk.env, &["check", &workspace]);
    let says = "No sender is both `owner` and `guest`, so every message is refused.";
    assert!(found.contains("PERMISSIONS.md:2:15 error"), "{found}");
    assert!(found.contains(says), "{found}");
}

#[test]
fn a_refused_message_is_in_the_journal_and_the_transcript_without_its_text() {
    let talk = ruled("deny: swordfish\n");
    let events = talk.events("the swordfish");
    let refused = events
        .iter()
        .find(|event| event["type"] == "refused")
        .unwrap();
    assert_eq!(refused["part"], "message");
    assert_eq!(
        (&refused["rule"], &refused["line"], &refused["policy"]),
        (&json!("deny"), &json!(1), &json!("workspace-deny-main"))
    );
    let records = talk.transcript();
    let record = records
        .iter()
        .find(|record| record["customType"] == "chitin:refused");
    let data = &record.unwrap()["data"];
    assert_eq!(
        (
            &data["part"],
            &data["rule"],
            &data["line"],
            &data["characters"]
        ),
        (&json!("message"), &json!("deny"), &json!(1), &json!(13))
    );
    assert!(!json!(records).to_string().contains("the swordfish"));
    let sessions = talk.env.home().join(".chitin");
    let journal = find(&sessions, "trajectory");
    assert!(journal.contains("\"permission.refused\""), "{journal}");
    assert!(journal.contains("\"rule\":\"deny\""), "{journal}");
    assert!(!journal.contains("the swordfish"), "{journal}");
}

/// Reads the first log below a directory whose path has a word in it.
fn find(directory: &std::path::Path, word: &str) -> String {
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.to_string_lossy().contains(word)
                && path.extension().is_some_and(|ending| ending == "jsonl")
            {
                return crate::process::readable(&path);
            }
        }
    }
    String::new()
}

#[test]
fn a_refused_reply_is_neither_streamed_nor_kept_nor_are_its_tools_run() {
    let talk = Talk::new(
        Format::Anthropic,
        &[json!({
            "text": "The word is swordfish, so I write it down.",
            "toolCalls": [{"name": "write", "arguments": {"path": "leak.md", "content": "x"}}],
        })],
    );
    talk.env.files([("PERMISSIONS.md", "deny: swordfish\n")]);
    let events = talk.events("What is the word?");
    let all = json!(events).to_string();
    assert!(!all.contains("swordfish"), "{all}");
    let refused = events
        .iter()
        .find(|event| event["type"] == "refused")
        .unwrap();
    assert_eq!(
        (&refused["part"], &refused["line"]),
        (&json!("reply"), &json!(1))
    );
    let finished = events.last().unwrap();
    let said = "`PERMISSIONS.md` refuses this reply (rule `deny`, line 1): it contains something on the deny list.";
    assert_eq!(finished["text"], said);
    let kept = json!(talk.transcript()).to_string();
    assert!(
        !kept.contains("swordfish") && kept.contains("chitin:refused"),
        "{kept}"
    );
    assert!(!talk.env.workspace().join("leak.md").exists());
}

#[test]
fn without_rules_about_replies_they_are_streamed_as_they_come() {
    let script = [json!({"times": 0, "text": "One two three four five six seven eight."})];
    let deltas = |rules: Option<&str>| {
        let talk = Talk::new(Format::Anthropic, &script);
        if let Some(rules) = rules {
            talk.env.files([("PERMISSIONS.md", rules)]);
        }
        let events = talk.events("Count.");
        let deltas = events.iter().filter(|event| event["type"] == "text-delta");
        deltas.count()
    };
    let plain = deltas(None);
    assert!(plain > 1, "the script comes in pieces");
    assert_eq!(deltas(Some("message-length: 100\n")), plain);
    assert_eq!(deltas(Some("deny: nine\n")), 1, "judged whole, then told");
}

#[test]
fn a_tool_call_is_refused_even_when_json_spells_the_phrase_otherwise() {
    let talk = Talk::new(
        Format::Anthropic,
        &[
            json!({"toolCalls": [{"name": "write", "arguments": {"path": "a.md", "content": "say \"now\""}}]}),
            json!({"text": "It was not written."}),
        ],
    );
    talk.env.files([("PERMISSIONS.md", "deny: say \"now\"\n")]);
    let events = talk.events("Write it.");
    let refused = events
        .iter()
        .find(|event| event["type"] == "refused")
        .unwrap();
    assert_eq!(refused["part"], "tool-call");
    assert!(!talk.env.workspace().join("a.md").exists());
    let finished = events
        .iter()
        .find(|event| event["type"] == "tool-finished")
        .unwrap();
    assert!(
        finished["summary"]
            .as_str()
            .unwrap()
            .contains("rule `deny`, line 1"),
        "{finished}"
    );
}

#[test]
fn a_broken_file_allows_nothing_and_says_where() {
    let talk = ruled("deny: a\n- time-window: 25:00-26:00\n");
    let output = talk.say("hello");
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{error}");
    assert!(error.contains("line 2, column 16"), "{error}");
    assert!(talk.server.requests().is_empty());
    talk.env.file("workspace/PERMISSIONS.md", b"deny: \xff\n");
    assert_eq!(talk.say("hello").status.code(), Some(5));
}

#[test]
fn serve_counts_the_rate_and_sees_an_edit_at_once() {
    let talk = ruled("rate-limit: 2/3600\n");
    let serving = Serving::start(&talk, &[]);
    for _ in 0..2 {
        let (status, done) = send(&serving, "hello");
        assert_eq!(
            (status, done["text"].as_str()),
            (200, Some("Fine.")),
            "{done}"
        );
    }
    let (_, done) = send(&serving, "hello");
    assert_eq!(done["status"], "failed", "{done}");
    assert_eq!(
        (&done["refused"]["rule"], &done["refused"]["line"]),
        (&json!("rate-limit"), &json!(1)),
        "{done}"
    );
    assert!(
        done["error"]
            .as_str()
            .unwrap()
            .contains("rule `rate-limit`, line 1"),
        "{done}"
    );
    talk.env.files([("PERMISSIONS.md", "deny: hello\n")]);
    let (_, done) = send(&serving, "hello");
    assert_eq!(done["refused"]["rule"], "deny", "{done}");
    std::fs::remove_file(talk.env.workspace().join("PERMISSIONS.md")).unwrap();
    let (_, done) = send(&serving, "hello");
    assert_eq!(done["text"], "Fine.", "{done}");
}

#[test]
fn serve_tells_the_page_and_openai_clients_which_rule_refused() {
    let script = [json!({"times": 0, "text": "The word is swordfish."})];
    let talk = Talk::new(Format::Anthropic, &script);
    talk.env
        .files([("PERMISSIONS.md", "deny: swordfish\nmessage-length: 20\n")]);
    let serving = Serving::start(&talk, &[]);
    let heard = serving.listen();
    let (_, done) = send(&serving, "this is longer than twenty characters");
    assert_eq!(done["refused"]["rule"], "message-length", "{done}");
    let (_, done) = send(&serving, "the word?");
    assert_eq!(
        (&done["status"], &done["refused"]["part"]),
        (&json!("ok"), &json!("reply")),
        "{done}"
    );
    assert!(!done.to_string().contains("swordfish."), "{done}");

    let ask = |words: &str| {
        let body = json!({"model": "chitin", "messages": [{"role": "user", "content": words}]});
        serving.ask("POST", "/v1/chat/completions", Some(&body))
    };
    let (status, refused) = ask("this is longer than twenty characters");
    assert_eq!(status, 403, "{refused}");
    assert!(refused.to_string().contains("message-length"), "{refused}");
    let (status, answer) = ask("the word?");
    assert_eq!(status, 200, "{answer}");
    assert_eq!(
        answer["choices"][0]["finish_reason"], "content_filter",
        "{answer}"
    );
    assert!(!answer.to_string().contains("swordfish."), "{answer}");

    serving.rest();
    let heard = json!(*heard.lock().unwrap()).to_string();
    assert!(
        heard.contains("\"refused\"") && heard.contains("message-length"),
        "{heard}"
    );
    assert!(!heard.contains("word is swordfish"), "{heard}");
}

#[test]
fn a_guest_on_discord_is_told_which_rule_refused_and_whom_channels_md_shuts_out() {
    use chitin_test::discord::{FakeDiscord, TOKEN};
    let discord = FakeDiscord::start();
    let talk = ruled("require-role: owner\n");
    let mut section = discord.section();
    section["enabled"] = json!(true);
    section["token"] = json!(TOKEN);
    section["dmPolicy"] = json!("open");
    section["allowFrom"] = json!(["*"]);
    talk.configure(json!({"channels": {"discord": section}}));
    let serving = Serving::start(&talk, &[]);
    serving.wait_until("it is connected", |_| discord.is_connected());
    let ada = discord.person("Ada");
    let direct = discord.direct(&ada);
    let told = |what: &str, part: &str| {
        serving.wait_until(what, |_| {
            discord.texts().iter().any(|text| text.contains(part))
        });
    };
    discord.say(&direct, &ada, "Where is the larch?");
    told("she is told the rule", "rule `require-role`, line 1");
    std::fs::remove_file(talk.env.workspace().join("PERMISSIONS.md")).unwrap();
    talk.env
        .files([("CHANNELS.md", "# Where I answer\n- web: the page\n")]);
    discord.say(&direct, &ada, "And now?");
    told("she is told the file", "`CHANNELS.md`");
    assert!(talk.server.requests().is_empty(), "the model was asked");
    let (status, done) = send(&serving, "hello");
    assert_eq!(
        (status, done["text"].as_str()),
        (200, Some("Fine.")),
        "{done}"
    );

    talk.env.files([("CHANNELS.md", "discord\n")]);
    let (status, refused) = send(&serving, "hello");
    assert_eq!(status, 403, "{refused}");
    assert!(refused.to_string().contains("CHANNELS.md"), "{refused}");
    discord.say(&direct, &ada, "Once more?");
    told("she is answered", "Fine.");
    assert_eq!(
        talk.answer("At my own terminal.").trim(),
        "Fine.",
        "which is the owner's own"
    );
}

#[test]
fn a_message_that_comes_while_a_turn_runs_is_judged_too() {
    let talk = Talk::new(
        Format::Anthropic,
        &[
            json!({"when": "Begin.", "delayMs": 1500, "toolCalls": [{"name": "read", "arguments": {"path": "board.md"}}]}),
            json!({"times": 0, "text": "Done."}),
        ],
    );
    talk.env.files([("PERMISSIONS.md", "deny: swordfish\n")]);
    let serving = Serving::start(&talk, &[]);
    let heard = serving.listen();
    serving.say("yard", "Begin.");
    assert!(
        talk.server
            .wait_for_requests(1, std::time::Duration::from_mins(1))
    );
    let body = json!({"text": "The swordfish!", "from": place("yard"), "queue": "steer"});
    let (status, accepted) = serving.ask("POST", "/api/messages", Some(&body));
    assert_eq!(
        (status, &accepted["place"]),
        (202, &json!("steers")),
        "{accepted}"
    );
    serving.rest();
    let heard: Vec<Value> = heard.lock().unwrap().clone();
    let refused = heard
        .iter()
        .find(|happening| happening["event"]["type"] == "refused")
        .unwrap_or_else(|| unreachable!("{heard:?}"));
    assert_eq!(refused["event"]["key"], accepted["jobId"], "{refused}");
    assert_eq!(refused["event"]["rule"], "deny", "{refused}");
    let requests = talk.server.requests();
    assert_eq!(requests.len(), 2, "the turn goes on without it");
    assert!(
        requests
            .iter()
            .all(|one| !text(&one.body).contains("swordfish"))
    );
}

#[test]
fn whoever_lists_channels_hears_which_are_shut_out() {
    use chitin_test::discord::{FakeDiscord, TOKEN};
    let discord = FakeDiscord::start();
    let talk = ruled("");
    let mut section = discord.section();
    section["enabled"] = json!(true);
    section["token"] = json!(TOKEN);
    talk.configure(json!({"channels": {"discord": section}}));
    talk.env.files([("CHANNELS.md", "slack\n")]);
    let workspace = talk.env.workspace();
    talk.env.file(
        "home/.openclaw/openclaw.json",
        json!({"agents": {"defaults": {"workspace": workspace}}}).to_string(),
    );
    let shown = transcript(&talk.env, &["channels"]);
    let note = "agent `main`: This agent takes no messages from the channel `discord`: `CHANNELS.md` in its workspace does not list it.";
    assert!(shown.contains(note), "{shown}");
}

#[test]
fn a_subagent_is_held_by_the_rules_too() {
    let talk = Talk::new(
        Format::Anthropic,
        &[
            json!({"when": "Ask one.", "toolCalls": [{"name": "sessions_spawn", "arguments": {"task": "Find the word."}}]}),
            json!({"when": "[Subagent Task]: Find the word.", "times": 0, "text": "It is swordfish."}),
            json!({"times": 0, "text": "Noted."}),
        ],
    );
    talk.env.files([("PERMISSIONS.md", "deny: swordfish\n")]);
    let serving = Serving::start(&talk, &[]);
    let heard = serving.listen();
    let _ = send(&serving, "Ask one.");
    serving.wait_until("the child is judged", |_| {
        let heard = json!(*heard.lock().unwrap()).to_string();
        heard.contains("\"reply\"") && heard.contains("refused")
    });
    serving.rest();
    let requests = talk.server.requests();
    let sent: Vec<String> = requests.iter().map(|one| text(&one.body)).collect();
    assert!(
        sent.iter().all(|body| !body.contains("swordfish")),
        "{sent:?}"
    );
}

#[test]
fn runtime_md_suggests_a_model_and_the_user_decides() {
    let talk = Talk::new(Format::Anthropic, &[json!({"times": 0, "text": "Fine."})]);
    let without_model = |talk: &Talk| {
        let file = talk.env.home().join(".chitin/chitin.json5");
        let mut config: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        config.as_object_mut().unwrap().remove("model");
        std::fs::write(file, config.to_string()).unwrap();
    };
    let body = |talk: &Talk| -> Value {
        let requests = talk.server.requests();
        serde_json::from_slice(&requests.last().unwrap().body).unwrap()
    };
    talk.env.files([(
        "RUNTIME.md",
        "model: yard/test-model\nmax-tokens: 77\nbase-url: http://127.0.0.1:9\napi-key: k\n",
    )]);
    without_model(&talk);
    let output = talk.say("hello");
    let error = text(&output.stderr);
    assert!(output.status.success(), "{error}");
    assert!(
        error.contains("using `yard/test-model`, as `RUNTIME.md` suggests"),
        "{error}"
    );
    assert!(
        error.contains("`base-url` in `RUNTIME.md`, line 3, has no effect"),
        "{error}"
    );
    assert!(
        error.contains("`api-key` in `RUNTIME.md`, line 4, has no effect"),
        "{error}"
    );
    assert_eq!(
        (&body(&talk)["model"], &body(&talk)["max_tokens"]),
        (&json!("test-model"), &json!(77))
    );

    let output = talk.say_with("hello", &["--model", "offline"]);
    let error = text(&output.stderr);
    assert!(
        error.contains("`RUNTIME.md` suggests `yard/test-model`; using your selection `offline`"),
        "{error}"
    );
    for (model, why) in [
        ("nobody/x", "cannot be used"),
        ("anthropic/claude-sonnet-5-5", "cannot be used"),
        ("ollama/llama", "`ollama` is not configured"),
        ("scripted//etc/passwd", "names a file of this machine"),
        ("mystery", "names no provider"),
    ] {
        talk.env
            .files([("RUNTIME.md", &*format!("model: {model}\n"))]);
        let output = talk.say("hello");
        let error = text(&output.stderr);
        assert!(
            error.contains(why) && error.contains("`RUNTIME.md`, line 1"),
            "{model}: {error}"
        );
    }
    talk.configure(json!({}));
    talk.env.files([("RUNTIME.md", "max-tokens: 999999\n")]);
    assert_eq!(talk.answer("hello").trim(), "Fine.");
    assert_eq!(body(&talk)["max_tokens"], 4_000, "a limit only narrows");
}

#[test]
fn skills_md_stands_in_the_canonical_prompt_and_not_in_those_of_openclaw() {
    let talk = Talk::new(Format::Anthropic, &[]);
    talk.env
        .files([("SKILLS.md", "Prefer the crane over the forklift.\n")]);
    let context = |contract: &str| {
        let workspace = talk.env.workspace();
        let arguments = [
            "context",
            &workspace.to_string_lossy(),
            "--contract",
            contract,
            "--text",
        ];
        text(&chitin(&talk.env, &arguments).stdout)
    };
    assert!(context("canonical").contains("Prefer the crane over the forklift."));
    assert!(context("atmosphere").contains("Prefer the crane over the forklift."));
    for release in ["openclaw-2026.4", "openclaw-2026.9"] {
        assert!(!context(release).contains("forklift"), "{release}");
    }
    let shown = transcript(
        &talk.env,
        &["context", &talk.env.workspace().to_string_lossy()],
    );
    assert!(shown.contains("SKILLS.md"), "{shown}");
}

#[test]
fn a_skills_md_that_is_refused_is_said() {
    let talk = Talk::new(Format::Anthropic, &[]);
    talk.env.file("secret.md", "Nothing for a model.\n");
    let workspace = talk.env.workspace();
    std::os::unix::fs::symlink("../secret.md", workspace.join("SKILLS.md")).unwrap();
    let shown = transcript(&talk.env, &["context", &workspace.to_string_lossy()]);
    let line = shown.lines().find(|line| line.contains("SKILLS.md"));
    assert!(line.is_some_and(|line| line.contains("refused")), "{shown}");
    assert!(!shown.contains("Nothing for a model"), "{shown}");
}

#[test]
fn files_that_are_there_and_refused_are_said_when_the_agent_runs() {
    let talk = Talk::new(Format::Anthropic, &[json!({"text": "Fine."})]);
    let workspace = talk.env.workspace();
    talk.env.file("secret.md", "Nothing for a model.\n");
    let link = |to: &str, name: &str| {
        let at = workspace.join(name);
        let _ = std::fs::remove_file(&at);
        std::os::unix::fs::symlink(to, at).unwrap();
    };
    link("AGENTS.md", "AGENTS.md");
    link("../secret.md", "SKILLS.md");
    let output = talk.say("Hello");
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    for note in [
        "`AGENTS.md` is not used: its links go in a circle",
        "`SKILLS.md` is not used: a link leads out of the workspace",
    ] {
        assert_eq!(said.matches(note).count(), 1, "{note}: {said}");
    }
    assert!(said.contains("`chitin check`"), "{said}");
}

#[test]
fn check_judges_all_five_with_line_and_column() {
    let talk = Talk::new(Format::Anthropic, &[]);
    talk.env.files([
        (
            "PERMISSIONS.md",
            "# Rules\n- deny: sword\n- denny: fish\n- allow: swordfish\n- deny-regex: (\n- time-window: 25:00-26:00\n\
             - message-length: 5\n- message-length: 6\n- require-role: admin\n",
        ),
        (
            "RUNTIME.md",
            "model: antropic/claude\napi-key: abc\nbase-url: http://127.0.0.1\nmax-tokens: lots\ntemperature: 1\n",
        ),
        ("CHANNELS.md", "discrod\nslack\n"),
        ("MCP.md", "files: ftp://x\nbad: http://[\ngood: http://127.0.0.1/mcp\ngood: http://127.0.0.1/b\n"),
        ("SKILLS.md", "- `tide-table`: when boats move\n"),
    ]);
    let workspace = talk.env.workspace();
    let output = chitin(
        &talk.env,
        &["check", &workspace.to_string_lossy(), "--json"],
    );
    let report: Value = lines(text(&output.stdout).replace('\n', " ").as_bytes()).remove(0);
    let found: Vec<String> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["code"].as_str().unwrap().starts_with("CH8"))
        .map(|finding| {
            let place = &finding["place"];
            format!(
                "{}:{}:{} {} {}",
                finding["path"].as_str().unwrap(),
                place["line"],
                place["column"],
                finding["code"].as_str().unwrap(),
                finding["message"].as_str().unwrap()
            )
        })
        .collect();
    insta::assert_snapshot!(found.join("\n"));
    assert_eq!(output.status.code(), Some(1));
}
