//! No configured secret leaves the program, whichever way: the real binary, with secrets wherever they can be configured.
#![expect(
    clippy::disallowed_methods,
    reason = "what was written is looked at behind the program's back"
)]

use crate::process::command;
use crate::run::Talk;
use crate::serve::Serving;
use chitin_test::model_server::Format;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Output;

/// A secret for every place in which one can be configured. None has the shape of a well-known key, and some need escapes in JSON.
const SECRETS: [(&str, &str); 12] = [
    ("provider key", "provider-in-clear-Zq81"),
    ("provider header", "header value Kd72 \"quoted\""),
    ("key of another provider", "unused-provider-Wm33"),
    ("variable that is named", "from-the-variable-Xp54"),
    ("variable by its name", "by-its-telling-name-Rt65"),
    ("gateway token", "gateway\\token\\Bn76"),
    ("gateway password", "gateway-password-Hg87"),
    ("channel token", "channel-in-clear-Lk98"),
    ("kept channel token", "channel-kept-Jy09"),
    ("server of tools: header", "mcp-header-Vc10"),
    ("server of tools: variable", "mcp-variable-Fd21"),
    ("registry password", "registry-password-Sa32"),
];

fn secret(what: &str) -> &'static str {
    let found = SECRETS.iter().find(|(name, _)| *name == what);
    found.unwrap_or_else(|| unreachable!("{what}")).1
}

/// Text around secrets that might hide them: they begin and end wherever they like.
fn around() -> String {
    let mut text = String::new();
    for (at, (_, secret)) in SECRETS.iter().enumerate() {
        let (before, after) = [
            ("", ""),
            ("\"", "\""),
            ("key=", ";"),
            ("é", "é"),
            ("x", "x"),
            ("\n", "\n"),
            ("[", "]("),
        ][at % 7];
        text.push_str(before);
        text.push_str(secret);
        text.push_str(after);
        text.push_str(&secret[..secret.len() / 2]);
        text.push(' ');
    }
    text
}

fn configured(script: &[Value]) -> Talk {
    let talk = Talk::new(Format::Anthropic, script);
    talk.configure(json!({
        "providers": {
            "yard": {
                "api": talk.server.format().api(),
                "baseUrl": talk.server.url(),
                "apiKey": secret("provider key"),
                "headers": {"x-custom": secret("provider header")},
            },
            "other": {"api": "openai", "baseUrl": "http://127.0.0.1:9", "apiKey": secret("key of another provider")},
        },
        "tools": {"deny": ["exec"]},
    }));
    let openclaw = json!({
        "gateway": {"auth": {
            "mode": "token",
            "token": secret("gateway token"),
            "password": secret("gateway password"),
        }},
        "models": {"providers": {"far": {"baseUrl": "http://127.0.0.1:9", "apiKey": "${FAR_AWAY}", "models": []}}},
        "channels": {"telegram": {"enabled": false, "botToken": secret("channel token")}},
        "mcp": {"servers": {"far": {
            "enabled": false,
            "url": "http://127.0.0.1:9",
            "headers": {"X-Far": secret("server of tools: header"), "Accept": "text/plain"},
            "env": {"FAR_TOKEN": secret("server of tools: variable")},
        }}},
    });
    let env = &talk.env;
    env.file("home/.openclaw/openclaw.json", openclaw.to_string());
    let kept = json!({"discord": {"default": {"token": secret("kept channel token")}}});
    let login = base64::Engine::encode(
        &base64::engine::general_purpose::STANDARD,
        format!("ada:{}", secret("registry password")),
    );
    let logins = json!({"auths": {"reg.example": {"auth": login}}});
    for (file, document) in [("channels.json", kept), ("registries.json", logins)] {
        private(&env.file(&format!("home/.chitin/{file}"), document.to_string()));
    }
    env.file("workspace/leak.txt", around());
    talk
}

fn private(file: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600)).unwrap();
}

fn run(talk: &Talk, arguments: &[&str]) -> Output {
    let mut command = command(&talk.env, arguments);
    surroundings(&mut command);
    command.output().unwrap()
}

fn surroundings(command: &mut std::process::Command) {
    command
        .env("FAR_AWAY", secret("variable that is named"))
        .env("SOME_API_KEY", secret("variable by its name"))
        .env("OPENCLAW_CACHE_TRACE", "1")
        .env("OPENCLAW_ANTHROPIC_PAYLOAD_LOG", "1")
        .env("OPENCLAW_RAW_STREAM", "1")
        .env("OPENCLAW_DEBUG_MODEL_PAYLOAD", "full-redacted");
}

/// Checks that a text shows no secret, nor one as it looks inside JSON.
fn shows_none(text: &str, place: &str) {
    for (what, secret) in SECRETS {
        let quoted = Value::from(secret).to_string();
        for spelling in [secret, quoted.trim_matches('"')] {
            let found = text.find(spelling);
            assert!(
                found.is_none(),
                "{place} shows the {what}: {:?}",
                found.map(|at| text.get(at.saturating_sub(60)..(at + 60).min(text.len())))
            );
        }
    }
}

fn says_none(output: &Output, arguments: &[&str]) {
    for (stream, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        let text = String::from_utf8_lossy(bytes);
        shows_none(&text, &format!("{stream} of {arguments:?}"));
    }
}

/// Every file below a directory, but those in which secrets are kept, and the contents of files for `chitin undo`: what is put back
/// must be the file to the byte.
fn written(directory: &Path) -> Vec<std::path::PathBuf> {
    let kept = [
        "chitin.json5",
        "channels.json",
        "registries.json",
        "server-token",
    ];
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("objects") {
            files.extend(written(&path));
        } else if path.is_file() && !kept.iter().any(|name| path.ends_with(name)) {
            files.push(path);
        }
    }
    files
}

/// A turn in which the model reads the file and says what is in it, piece by piece.
fn script() -> Vec<Value> {
    let read = json!({"name": "read", "arguments": {"path": "leak.txt"}});
    vec![
        json!({"text": "I look.", "toolCalls": [read]}),
        json!({"text": around()}),
    ]
}

#[test]
fn no_configured_secret_is_shown_logged_or_recorded() {
    let talk = configured(&script());
    let workspace = talk.env.workspace();
    let workspace = workspace.to_str().unwrap();
    let turn = [
        "run",
        workspace,
        "-m",
        "read leak.txt",
        "--json",
        "--log",
        "trace",
    ];
    let output = run(&talk, &turn);
    assert!(output.status.success(), "{output:?}");
    says_none(&output, &turn);
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(out.contains("[redacted]"), "the secrets were there: {out}");
    let home = talk.env.home().join(".chitin");
    let mut seen = 0;
    for file in written(&home) {
        let text = crate::process::readable(&file);
        let is_transcript = file.to_string_lossy().contains("/sessions/")
            && file.extension().is_some_and(|end| end == "jsonl");
        if !is_transcript {
            shows_none(&text, &file.display().to_string());
            continue;
        }
        // What the model said is kept as it said it; what it was told is not.
        for line in text.lines() {
            let record: Value = serde_json::from_str(line).unwrap();
            if record["message"]["role"] == "toolResult" {
                seen += 1;
                shows_none(line, "the result of a tool in the transcript");
            }
        }
    }
    assert_eq!(seen, 1);
    let logs = home.join("logs");
    for file in [
        "anthropic-payload.jsonl",
        "raw-stream.jsonl",
        "cache-trace.jsonl",
    ] {
        assert!(logs.join(file).exists(), "{file} was written");
    }
    for arguments in [
        ["config", "show"].as_slice(),
        &["config", "show", "--json"],
        &["config", "explain", "gateway.auth", "--json"],
        &["config", "validate", "--json"],
        &["sessions"],
        &["sessions", "show", "agent:main:main"],
        &["sessions", "show", "agent:main:main", "--json"],
        &["trace", "--json"],
        &["trace", "show", "agent:main:main"],
        &["channels", "--json"],
        &["doctor", "--json"],
        &["skills", "--json"],
        &["check", workspace, "--json"],
        &["memory", "search", "leak", "--json"],
        &["context", workspace, "--json"],
        &[
            "pull",
            "127.0.0.1:1/registry-password-Sa32/x:1",
            "--plain-http",
        ],
        &["agents", "--json"],
    ] {
        says_none(&run(&talk, arguments), arguments);
    }
}

#[test]
fn exact_output_is_exact_in_a_pipe() {
    let talk = configured(&[]);
    let workspace = talk.env.workspace();
    let workspace = workspace.to_str().unwrap();
    let key = secret("provider key");
    talk.env
        .file("workspace/AGENTS.md", format!("# Rules\n\nSay {key}.\n"));
    let exact = run(&talk, &["context", workspace, "--text"]);
    assert!(String::from_utf8_lossy(&exact.stdout).contains(key));
    let exact = run(&talk, &["run", workspace, "-m", "hi", "--dry-run"]);
    assert!(String::from_utf8_lossy(&exact.stdout).contains(key));
    // A table is no exact output.
    let arguments = ["context", workspace, "--explain", "Say"];
    says_none(&run(&talk, &arguments), &arguments);
}

#[test]
fn no_configured_secret_is_sent_by_the_server() {
    let talk = configured(&script());
    let serving = Serving::start_with(&talk, surroundings);
    let body = json!({"text": "read leak.txt", "wait": true});
    let (status, answer) = serving.ask("POST", "/api/messages", Some(&body));
    assert_eq!(status, 200, "{answer}");
    shows_none(&answer.to_string(), "the answer to a message");
    assert!(answer.to_string().contains("[redacted]"), "{answer}");
    for path in [
        "/api/sessions",
        "/api/sessions/agent:main:main/messages",
        "/api/sessions/agent:main:main/turns",
        "/api/sessions/agent:main:main/lens?turn=next",
        "/api/traces",
        "/api/status",
        "/api/agents",
        "/api/channels",
    ] {
        let (_, answer) = serving.ask("GET", path, None);
        shows_none(&answer.to_string(), path);
    }
    // The editor of the page gets the text of a file, since it sends it back.
    let (status, file) = serving.ask("GET", "/api/agents/main/file?path=leak.txt", None);
    if status == 200 {
        assert!(file.to_string().contains(secret("provider key")));
    }
    shows_none(&Serving::log(&talk), "the server's log");
}

#[test]
fn a_key_under_a_misspelt_name_is_not_printed() {
    let talk = Talk::new(Format::Anthropic, &[]);
    let (plain, random) = ("hunter-two-in-clear", "9f86d081884c7d659a2feaa0c55ad015");
    for (name, value) in [
        ("apiKye", plain),
        ("apikeey", plain),
        ("tokne", plain),
        ("kee", plain),
        ("kee", random),
        ("modle", random),
    ] {
        let config = format!(
            "{{\n  gateway: {{ {name}: '{value}' }},\n  models: {{ providers: {{ x: {{ {name}: '{value}', baseUrl: 'http://127.0.0.1:9', models: [] }} }} }},\n}}\n"
        );
        talk.env.file("home/.openclaw/openclaw.json", &config);
        talk.env.file("home/.chitin/chitin.json5", &config);
        for arguments in [
            ["config", "validate"].as_slice(),
            &["config", "validate", "--json"],
        ] {
            let output = run(&talk, arguments);
            let said = [&output.stdout[..], &output.stderr[..]].concat();
            let said = String::from_utf8_lossy(&said);
            assert!(said.contains(name), "{said}");
            assert!(!said.contains(value), "{name}: {said}");
        }
        if value == random || name != "kee" {
            for arguments in [["config"].as_slice(), &["config", "--json"]] {
                let output = run(&talk, arguments);
                let said = String::from_utf8_lossy(&output.stdout);
                assert!(!said.contains(value), "{name}: {said}");
            }
        }
    }
}

/// Lays out what a version without these secrets in mind may have written.
fn recorded_before(talk: &Talk) -> (String, Vec<(String, String)>) {
    let leak = around();
    let line = |value: Value| format!("{value}\n");
    let message = |role: &str| {
        line(json!({
            "type": "message", "id": role, "parentId": null, "timestamp": "2026-01-31T12:00:00.000Z",
            "message": {"role": role, "content": [{"type": "text", "text": leak}], "timestamp": 1},
        }))
    };
    let head = line(json!({
        "type": "session", "version": 3, "id": "old", "timestamp": "2026-01-31T12:00:00.000Z", "cwd": "/",
    }));
    let spoken = message("user");
    let transcript = format!("{head}{spoken}{}", message("toolResult"));
    let files = vec![
        ("agents/main/sessions/old.jsonl".to_owned(), transcript),
        (
            "logs/cache-trace.jsonl".to_owned(),
            format!(
                "{}{}",
                line(json!({"text": "nothing"})),
                line(json!({"text": leak}))
            ),
        ),
        (
            "logs/plain.log".to_owned(),
            format!("first\n{leak}\nlast\n"),
        ),
        (
            "logs/trajectory/old.jsonl".to_owned(),
            line(json!({"data": {"deep": [leak]}})),
        ),
    ];
    for (file, text) in &files {
        private(&talk.env.file(&format!("home/.chitin/{file}"), text));
        private(&talk.env.file(&format!("home/.openclaw/{file}"), text));
    }
    (spoken, files)
}

#[test]
fn doctor_finds_what_was_recorded_before_and_takes_it_out() {
    use std::os::unix::fs::PermissionsExt;
    let talk = configured(&[]);
    let (spoken, files) = recorded_before(&talk);
    let looked = run(&talk, &["doctor", "--offline"]);
    says_none(&looked, &["doctor"]);
    let said = String::from_utf8_lossy(&looked.stdout);
    assert!(said.contains("older recordings hold secrets"), "{said}");
    assert!(said.contains("doctor --fix"), "{said}");
    let read = |file: &str| talk.env.read(&format!("home/.chitin/{file}"));
    for (file, text) in &files {
        assert_eq!(read(file), *text, "looking changes nothing");
    }
    let fixed = run(&talk, &["doctor", "--offline", "--fix", "--json"]);
    says_none(&fixed, &["doctor", "--fix"]);
    let said = String::from_utf8_lossy(&fixed.stdout);
    assert!(said.contains("took secrets out of"), "{said}");
    for (file, before) in &files {
        let after = read(file);
        let path = talk.env.home().join(".chitin").join(file);
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
        assert!(after.contains("[redacted]"), "{file}");
        if file.ends_with(".jsonl") {
            for line in after.lines() {
                serde_json::from_str::<Value>(line).unwrap();
            }
            assert_eq!(after.lines().count(), before.lines().count(), "{file}");
        }
        if file.contains("/sessions/") {
            assert!(after.contains(&spoken), "what a person said stays");
            shows_none(after.lines().last().unwrap(), file);
        } else {
            shows_none(&after, file);
        }
        let theirs = talk.env.read(&format!("home/.openclaw/{file}"));
        assert_eq!(theirs, *before, "OpenClaw's own state is left alone");
    }
    let again = run(&talk, &["doctor", "--offline"]);
    let said = String::from_utf8_lossy(&again.stdout);
    assert!(said.contains("no secrets in"), "{said}");
}

#[test]
fn doctor_leaves_a_session_alone_that_a_process_has_open() {
    let wait = json!({"text": "later", "when": "never said", "times": 0});
    let talk = configured(&[json!({"text": "One."}), wait]);
    recorded_before(&talk);
    talk.answer("hello");
    let file = talk.transcript_file();
    let leaking = talk.env.read("home/.chitin/agents/main/sessions/old.jsonl");
    let result = leaking.lines().last().unwrap();
    let before = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{before}{result}\n")).unwrap();
    // As a turn holds it, in this process or another.
    let held = std::fs::File::open(&file).unwrap();
    rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let fixed = run(&talk, &["doctor", "--offline", "--fix"]);
    let said = String::from_utf8_lossy(&fixed.stdout);
    assert!(said.contains("because a process uses it"), "{said}");
    assert_eq!(
        std::fs::read_to_string(&file).unwrap(),
        format!("{before}{result}\n")
    );
    drop(held);
    run(&talk, &["doctor", "--offline", "--fix"]);
    let after = std::fs::read_to_string(&file).unwrap();
    shows_none(after.lines().last().unwrap(), "the transcript");
    assert!(after.starts_with(&before));
}

/// Names that a model, a caller or the user chose may hold a secret. Spans leave the machine.
#[cfg(feature = "otel")]
#[test]
fn spans_for_a_collector_hold_no_configured_secret() {
    use std::io::{Read, Write};
    let collector = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", collector.local_addr().unwrap());
    let receive = std::thread::spawn(move || {
        let (mut stream, _) = collector.accept().unwrap();
        let mut read = Vec::new();
        loop {
            let mut piece = [0; 4096];
            let count = stream.read(&mut piece).unwrap();
            read.extend_from_slice(&piece[..count]);
            let text = String::from_utf8_lossy(&read).into_owned();
            let Some((head, body)) = text.split_once("\r\n\r\n") else {
                continue;
            };
            let head = head.to_lowercase();
            let length = head.split("content-length: ").nth(1).unwrap();
            let length: usize = length.lines().next().unwrap().trim().parse().unwrap();
            if body.len() >= length {
                stream
                    .write_all(
                        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}",
                    )
                    .unwrap();
                return body.to_owned();
            }
        }
    });
    let tool = format!("look_{}", secret("provider key"));
    let talk = configured(&[
        json!({"toolCalls": [{"name": tool, "arguments": {}}]}),
        json!({"text": "Done."}),
    ]);
    let serving = Serving::start_with(&talk, |command| {
        surroundings(command);
        command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &address);
    });
    serving.say(secret("gateway password"), "Look");
    serving.rest();
    serving.end();
    let body = receive.join().unwrap();
    assert!(body.contains("execute_tool look_"), "{body}");
    assert!(body.contains("chitin.session"), "{body}");
    for (what, secret) in SECRETS {
        assert!(!body.contains(secret), "{what}: {body}");
    }
}
