//! What the owner is asked before it happens: changes of guardrail files, at a terminal and where nobody sits.
#![expect(
    clippy::disallowed_methods,
    reason = "files are looked at between the steps"
)]

use crate::process::chitin;
use crate::run::{Talk, text};
use crate::serve::{Serving, place};
use chitin_test::model_server::Format;
use chitin_test::needs;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long anything may take.
const PATIENCE: Duration = Duration::from_mins(1);
/// How a question ends.
const QUESTION: &str = "and why: ";
/// What looks like a key.
const SECRET: &str = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
const RULES: &str = "message-length: 4000\n";

fn call(name: &str, arguments: Value) -> Value {
    Value::from_iter([("name", name.into()), ("arguments", arguments)])
}

/// An agent with a rule, and a model that calls tools and then says something.
fn agent(calls: Value) -> Talk {
    let script = [
        Value::from_iter([("toolCalls", calls)]),
        json!({"times": 0, "text": "Well."}),
    ];
    let talk = Talk::new(Format::Anthropic, &script);
    talk.env.files([("PERMISSIONS.md", RULES)]);
    talk
}

/// What the tools of the first reply said, as the model read it.
fn results(talk: &Talk) -> Vec<String> {
    let request = talk.server.requests()[1].json();
    let last = request["messages"].as_array().unwrap().last().unwrap();
    let blocks = last["content"].as_array().unwrap().iter();
    let results = blocks.filter(|block| block["type"] == "tool_result");
    results.map(|block| block["content"].to_string()).collect()
}

/// `chitin run` at a terminal where somebody sits.
pub(crate) struct Terminal {
    process: Child,
    keys: ChildStdin,
    shown: Arc<Mutex<String>>,
}

impl Terminal {
    pub(crate) fn run(talk: &Talk, words: &str) -> Self {
        let workspace = talk.env.workspace();
        Self::start(talk, &format!("run '{}' -m '{words}'", workspace.display()))
    }

    /// The same for another command.
    fn start(talk: &Talk, arguments: &str) -> Self {
        let (program, workspace) = (env!("CARGO_BIN_EXE_chitin"), talk.env.workspace());
        let line = format!("'{program}' {arguments}");
        let mut process = Command::new("script")
            .args(["-qefc", &line, "/dev/null"])
            .current_dir(talk.env.path())
            .env_clear()
            .env("HOME", talk.env.home())
            .env("PATH", "/usr/bin:/bin")
            .env("SHELL", "/bin/sh")
            .env("TERM", "dumb")
            .env("CHITIN_WORKSPACE", &workspace)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let shown: Arc<Mutex<String>> = Arc::default();
        let (mut out, showing) = (process.stdout.take().unwrap(), Arc::clone(&shown));
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(length @ 1..) = out.read(&mut bytes) {
                showing.lock().unwrap().push_str(&text(&bytes[..length]));
            }
        });
        Self {
            keys: process.stdin.take().unwrap(),
            process,
            shown,
        }
    }

    fn wait_for(&self, what: &str) -> String {
        let began = Instant::now();
        loop {
            let shown = self.shown.lock().unwrap().clone();
            if shown.contains(what) {
                return shown;
            }
            assert!(began.elapsed() < PATIENCE, "{what}: {shown}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits for the end; returns all that was shown.
    fn end(mut self) -> String {
        self.process.wait().unwrap();
        // The last words may still be on their way.
        let mut shown = self.shown.lock().unwrap().clone();
        loop {
            std::thread::sleep(Duration::from_millis(50));
            let now = self.shown.lock().unwrap().clone();
            if now == shown {
                return shown;
            }
            shown = now;
        }
    }

    /// Answers a question, and waits for the end.
    pub(crate) fn answer(self, line: &str) -> String {
        self.answer_to(QUESTION, line, "Well.")
    }

    /// Answers a question that ends so, and waits for words.
    fn answer_to(mut self, question: &str, line: &str, until: &str) -> String {
        self.wait_for(question);
        writeln!(self.keys, "{line}").unwrap();
        self.wait_for(until);
        drop(self.keys);
        self.process.wait().unwrap();
        self.shown.lock().unwrap().clone()
    }
}

fn new_rules() -> Value {
    json!([call(
        "edit",
        json!({"path": "PERMISSIONS.md", "old_text": "4000", "new_text": "9999"})
    )])
}

#[test]
fn at_a_terminal_the_owner_sees_the_change_of_a_guardrail_file_and_decides() {
    if !needs::programs(&["script"]) {
        return;
    }
    let talk = agent(new_rules());
    let shown = Terminal::run(&talk, "Relax.").answer("y");
    for part in [
        "change `PERMISSIONS.md`",
        "-message-length: 4000",
        "+message-length: 9999",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert_eq!(
        talk.env.read("workspace/PERMISSIONS.md"),
        "message-length: 9999\n"
    );

    let talk = agent(new_rules());
    Terminal::run(&talk, "Relax.").answer("no, ask me on Monday");
    assert_eq!(talk.env.read("workspace/PERMISSIONS.md"), RULES);
    let said = &results(&talk)[0];
    assert!(
        said.contains("the user denied it and said: ask me on Monday"),
        "{said}"
    );
}

/// Every way to a guarded file that a file tool knows.
fn attempts() -> Vec<Value> {
    let patch = |text: &str| {
        let input = format!("*** Begin Patch\n{text}\n*** End Patch");
        call("apply_patch", json!({"input": input}))
    };
    let mut attempts: Vec<Value> = [
        "PERMISSIONS.md",
        "./permissions.md",
        "sub/../PERMISSIONS.md",
        "rules",
        "MCP.md",
        "RUNTIME.md",
        "CHANNELS.md",
        "SKILLS.md",
        "chitin.json5",
        ".git/config",
        ".git/hooks/post-checkout",
        "sub/.git/config",
        ".GIT/hooks/x",
        "away/config",
        ".envrc",
        ".vscode/tasks.json",
        ".idea/workspace.xml",
    ]
    .iter()
    .map(|path| call("write", json!({"path": path, "content": "x"})))
    .collect();
    attempts.push(new_rules()[0].clone());
    attempts.push(patch("*** Delete File: PERMISSIONS.md"));
    attempts.push(patch(
        "*** Update File: PERMISSIONS.md\n*** Move to: old.txt\n@@\n-message-length: 4000\n+x",
    ));
    attempts.push(patch(
        "*** Update File: board.md\n*** Move to: MCP.md\n@@\n-oak: 3\n+oak: 4",
    ));
    attempts.push(patch(
        "*** Add File: harmless.txt\n+x\n*** Add File: .git/hooks/pre-commit\n+x",
    ));
    attempts
}

fn guarded() -> Talk {
    let talk = agent(json!(attempts()));
    talk.env.files([(".git/config", "[core]\n")]);
    talk.env.link("workspace/rules", "PERMISSIONS.md");
    talk.env.link("workspace/away", ".git");
    talk
}

fn assert_untouched(talk: &Talk) {
    let results = results(talk);
    assert_eq!(results.len(), attempts().len());
    for (attempt, result) in attempts().iter().zip(&results) {
        let says = "it needs the owner's approval, and there is nobody to ask";
        assert!(result.contains(says), "{attempt}: {result}");
    }
    assert_eq!(talk.env.read("workspace/PERMISSIONS.md"), RULES);
    assert_eq!(talk.env.read("workspace/.git/config"), "[core]\n");
    assert!(talk.env.read("workspace/board.md").contains("oak: 3"));
    for path in [
        "MCP.md",
        ".envrc",
        ".vscode",
        ".git/hooks",
        "harmless.txt",
        "permissions.md",
    ] {
        assert!(!talk.env.workspace().join(path).exists(), "{path}");
    }
}

#[test]
fn where_nobody_can_be_asked_guardrail_files_stay_and_model_and_user_are_told() {
    let talk = guarded();
    let output = talk.say("Relax.");
    assert!(output.status.success());
    let said = text(&output.stderr);
    assert!(said.contains("change `PERMISSIONS.md`"), "{said}");
    assert!(said.contains("nobody to ask"), "{said}");
    assert_untouched(&talk);
}

#[test]
fn a_server_that_nobody_watches_changes_no_guardrail_file() {
    let talk = guarded();
    let serving = Serving::start(&talk, &[]);
    let body = json!({"text": "Relax.", "from": place("yard"), "wait": true});
    let (status, ended) = serving.ask("POST", "/api/messages", Some(&body));
    assert_eq!((status, &ended["text"]), (200, &json!("Well.")), "{ended}");
    assert_untouched(&talk);
}

#[test]
fn files_that_only_look_like_guardrails_are_written_unasked() {
    let paths = [
        "docs/PERMISSIONS.md",
        ".gitignore",
        ".github/workflows/x.yml",
        "notes/config",
    ];
    let calls = paths.map(|path| call("write", json!({"path": path, "content": "x"})));
    let talk = agent(json!(calls));
    talk.answer("Write.");
    for path in paths {
        assert_eq!(talk.env.read(&format!("workspace/{path}")), "x", "{path}");
    }
}

/// What was allowed for good, as `chitin approvals` lists it.
fn remembered(talk: &Talk) -> Vec<Value> {
    let listed = chitin(&talk.env, &["approvals", "list", "--json"]);
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    listed["approvals"].as_array().unwrap().clone()
}

#[test]
fn an_answer_for_good_is_listed_holds_without_a_terminal_and_can_be_taken_back() {
    if !needs::programs(&["script"]) {
        return;
    }
    let write = |content: &str| {
        json!([call(
            "write",
            json!({"path": "SKILLS.md", "content": content})
        )])
    };
    let reply = |text: &str| json!({"when": text, "toolCalls": write(text)});
    let script = [
        reply("ALPHA"),
        reply("BRAVO"),
        reply("CHARLIE"),
        json!({"times": 0, "text": "Well."}),
    ];
    let talk = Talk::new(Format::Anthropic, &script);
    assert_eq!(remembered(&talk), [] as [Value; 0]);
    Terminal::run(&talk, "ALPHA").answer("a");
    assert_eq!(talk.env.read("workspace/SKILLS.md"), "ALPHA");
    let allowed = remembered(&talk);
    assert_eq!(allowed.len(), 1, "{allowed:?}");
    assert_eq!(
        (&allowed[0]["tool"], &allowed[0]["pattern"]),
        (&json!("write"), &json!("`SKILLS.md`"))
    );
    talk.answer("BRAVO");
    assert_eq!(talk.env.read("workspace/SKILLS.md"), "BRAVO");
    let id = allowed[0]["id"].as_str().unwrap();
    let revoked = chitin(&talk.env, &["approvals", "revoke", id]);
    assert!(text(&revoked.stdout).starts_with("Revoked:"), "{revoked:?}");
    assert_eq!(remembered(&talk), [] as [Value; 0]);
    talk.answer("CHARLIE");
    assert_eq!(talk.env.read("workspace/SKILLS.md"), "BRAVO");
    let unknown = chitin(&talk.env, &["approvals", "revoke", id]);
    assert_eq!(unknown.status.code(), Some(3), "{unknown:?}");
}

#[test]
fn a_command_that_destroys_is_asked_about_at_a_terminal() {
    if !needs::programs(&["script"]) {
        return;
    }
    let commands = |command: &str| json!([call("exec", json!({"command": command}))]);
    let talk = agent(commands("rm -r logs"));
    talk.env.file("workspace/logs/a", "x");
    let shown = Terminal::run(&talk, "Tidy up.").answer("no, keep the logs");
    assert!(
        shown.contains("rm -r logs") && shown.contains("deletes directories"),
        "{shown}"
    );
    assert!(talk.env.workspace().join("logs/a").exists());
    let said = &results(&talk)[0];
    assert!(
        said.contains("the user denied it and said: keep the logs"),
        "{said}"
    );
}

#[test]
fn a_question_at_a_terminal_masks_secrets_and_says_so() {
    if !needs::programs(&["script"]) {
        return;
    }
    let command =
        format!("rm -r logs; DB_PASSWORD=hunter-2x ./deploy --token {SECRET} --api-key k3y-x");
    let talk = agent(json!([call("exec", json!({"command": command}))]));
    talk.env.file("workspace/logs/a", "x");
    let shown = Terminal::run(&talk, "Deploy.").answer("n");
    for secret in ["hunter-2x", SECRET, "k3y-x"] {
        assert!(!shown.contains(secret), "{secret}: {shown}");
    }
    for part in [
        "DB_PASSWORD=[masked] ./deploy",
        "--api-key [masked]",
        "masked here (`DB_PASSWORD`",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn what_is_masked_in_a_question_is_whole_in_the_command_and_in_what_is_remembered() {
    if !needs::programs(&["script"]) {
        return;
    }
    let command = |value: &str| {
        json!([call(
            "exec",
            json!({"command": format!("rm -rf logs; DB_PASSWORD={value} sh -c 'echo $DB_PASSWORD_X; env > seen-{value}'")})
        )])
    };
    let script = [
        json!({"when": "ALPHA", "toolCalls": command("first1")}),
        json!({"when": "BRAVO", "toolCalls": command("first1")}),
        json!({"when": "CHARLIE", "toolCalls": command("other2")}),
        json!({"times": 0, "text": "Well."}),
    ];
    let talk = Talk::new(Format::Anthropic, &script);
    Terminal::run(&talk, "ALPHA").answer("a");
    let seen = talk.env.workspace().join("seen-first1");
    if !seen.exists() {
        needs::skipped("a sandbox for commands");
        return;
    }
    assert!(
        talk.env
            .read("workspace/seen-first1")
            .contains("DB_PASSWORD=first1")
    );
    let listed = chitin(&talk.env, &["approvals"]);
    let listed = text(&listed.stdout);
    assert!(listed.contains("DB_PASSWORD=[masked]"), "{listed}");
    std::fs::remove_file(&seen).unwrap();
    let again = Terminal::run(&talk, "BRAVO").end();
    assert!(!again.contains(QUESTION), "{again}");
    assert!(seen.exists());
    // Another value is another command, although it looks the same.
    Terminal::run(&talk, "CHARLIE").answer("n");
    assert!(!talk.env.workspace().join("seen-other2").exists());
}

#[test]
fn a_file_that_undo_cannot_bring_back_is_not_replaced_unasked() {
    if !needs::programs(&["script"]) {
        return;
    }
    let commands = |command: &str| json!([call("exec", json!({"command": command}))]);
    let asked = |talk: &Talk| {
        let shown = Terminal::run(talk, "Go.").answer("n");
        assert!(shown.contains("undo does not cover it"), "{shown}");
    };
    for command in [
        "echo new > target/plan.md",
        "cp board.md target/plan.md",
        "mv board.md target",
        "echo new | tee target/plan.md",
        "sed -i s/old/new/ target/plan.md",
        "truncate -s 0 target/plan.md",
        "dd if=board.md of=target/plan.md",
    ] {
        let talk = agent(commands(command));
        for path in ["target/plan.md", "target/board.md"] {
            talk.env.file(&format!("workspace/{path}"), "old");
        }
        asked(&talk);
        for path in ["target/plan.md", "target/board.md"] {
            let path = format!("workspace/{path}");
            assert_eq!(talk.env.read(&path), "old", "{command}");
        }
    }
    // A file that is larger than undo keeps, and one where there is no undo at all.
    for undo in [json!({"maxFileBytes": 4}), json!({"enabled": false})] {
        let talk = agent(commands("echo new > board.md"));
        talk.configure(json!({"undo": undo}));
        asked(&talk);
        assert!(talk.env.read("workspace/board.md").contains("larch"));
    }

    // What undo brings back is replaced unasked, and comes back.
    let talk = agent(commands("echo new > board.md"));
    let shown = Terminal::run(&talk, "Go.").end();
    assert!(!shown.contains(QUESTION), "{shown}");
    assert_eq!(talk.env.read("workspace/board.md"), "new\n");
    let undone = chitin(&talk.env, &["undo"]);
    assert!(undone.status.success(), "{undone:?}");
    assert!(talk.env.read("workspace/board.md").contains("larch"));
}

#[test]
fn an_answer_for_good_names_the_kind_of_command_and_covers_it() {
    if !needs::programs(&["script"]) {
        return;
    }
    let reply = |word: &str, command: &str| json!({"when": word, "toolCalls": [call("exec", json!({"command": command}))]});
    let script = [
        reply("ALPHA", "ls -a"),
        reply("BRAVO", "ls memory"),
        reply("CHARLIE", "ls && touch made"),
        json!({"times": 0, "text": "Well."}),
    ];
    let talk = Talk::new(Format::Anthropic, &script);
    talk.configure(json!({"exec": {"approvals": "ask"}}));
    let shown = Terminal::run(&talk, "ALPHA").answer("a");
    assert!(shown.contains("[a]lways for ls *"), "{shown}");
    assert_eq!(remembered(&talk)[0]["pattern"], "ls *");
    let shown = Terminal::run(&talk, "BRAVO").wait_for("Well.");
    assert!(!shown.contains(QUESTION), "{shown}");
    let shown = Terminal::run(&talk, "CHARLIE").answer("n");
    assert!(shown.contains("[a]lways for exactly this"), "{shown}");
    assert!(!talk.env.workspace().join("made").exists());
}

#[test]
fn a_terminal_shows_no_secret_of_the_context_unless_it_is_asked_to() {
    if !needs::programs(&["script"]) {
        return;
    }
    let talk = agent(json!([]));
    talk.env
        .file("workspace/TOOLS.md", format!("The key is {SECRET}.\n"));
    let workspace = talk.env.workspace();
    let workspace = workspace.display();
    for command in [
        format!("context '{workspace}' --text"),
        format!("run '{workspace}' -m hi --dry-run"),
    ] {
        let masked = Terminal::start(&talk, &command).end();
        assert!(masked.contains("The key is "), "{command}: {masked}");
        assert!(!masked.contains(SECRET), "{command}: {masked}");
        let shown = Terminal::start(&talk, &format!("{command} --show-secrets")).end();
        assert!(shown.contains(SECRET), "{command}: {shown}");
    }
    // A pipe gets the exact bytes: the model does.
    let piped = chitin(&talk.env, &["context", "--text"]);
    assert!(text(&piped.stdout).contains(SECRET), "{piped:?}");
}

#[test]
fn the_context_of_a_guest_is_without_memory() {
    let talk = agent(json!([]));
    let shown = |more: &[&str]| {
        let mut arguments = vec!["context", "--text"];
        arguments.extend(more);
        let output = chitin(&talk.env, &arguments);
        assert!(output.status.success(), "{output:?}");
        text(&output.stdout)
    };
    let (own, guests) = (shown(&[]), shown(&["--guest"]));
    for private in ["The larch came on Monday.", "Ingrid."] {
        assert!(own.contains(private), "{private}: {own}");
        assert!(!guests.contains(private), "{private}: {guests}");
    }
    assert!(guests.contains("Short and warm."), "{guests}");
}

#[test]
fn at_a_terminal_an_undo_asks_before_it_takes_back_what_others_changed() {
    if !needs::programs(&["script"]) {
        return;
    }
    let changed = || {
        let write = json!({"path": "board.md", "content": "oak: 4\n"});
        let talk = agent(json!([call("write", write)]));
        talk.answer("Write.");
        talk.env.file("workspace/board.md", "mine\n");
        talk
    };
    let question = "Take these back too?";
    let talk = changed();
    let shown = Terminal::start(&talk, "undo").answer_to(question, "n", "left");
    assert!(shown.contains("board.md"), "{shown}");
    assert_eq!(talk.env.read("workspace/board.md"), "mine\n");
    Terminal::start(&talk, "undo --turn 1").answer_to(question, "y", "Undid");
    assert_eq!(talk.env.read("workspace/board.md"), "oak: 3\nlarch: 5\n");

    // Who forces it is not asked.
    let talk = changed();
    let shown = Terminal::start(&talk, "undo --force").end();
    assert!(!shown.contains(question), "{shown}");
    assert_eq!(talk.env.read("workspace/board.md"), "oak: 3\nlarch: 5\n");
}

#[test]
fn a_list_that_allows_a_command_by_name_asks_nobody() {
    if !needs::programs(&["script"]) {
        return;
    }
    let talk = agent(json!([call("exec", json!({"command": "rm -r logs"}))]));
    talk.env.file("workspace/logs/a", "x");
    talk.configure(json!({"exec": {"allow": ["rm *"]}}));
    let terminal = Terminal::run(&talk, "Tidy up.");
    let shown = terminal.wait_for("Well.");
    assert!(!shown.contains(QUESTION), "{shown}");
}
