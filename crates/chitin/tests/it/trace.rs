//! `chitin trace` as a user meets it: the recordings are written by a real journal.
#![expect(
    clippy::disallowed_methods,
    reason = "files are looked at and changed between the steps"
)]

use crate::process::{chitin, command, transcript};
use chitin_agent::journal::{
    Journal, JournalEnvironment, JournalRedactor, LookupDirectories, RequestSent, RunEnded,
    RunStarted, RunSurroundings, Switches, TurnMoment, trajectory_path,
};
use chitin_contract::Contract;
use chitin_model::{Api, Prepared};
use chitin_protocol::message::{
    AssistantMessage, Block, Content, CostShares, Extra, Message, StopReason, ToolCallBlock,
    ToolResultMessage, Usage,
};
use chitin_protocol::settings::TraceSettings;
use chitin_protocol::tool::ToolSpec;
use chitin_test::TestEnv;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::process::Stdio;
use std::sync::Arc;

const NOON: i64 = 1_700_000_000_000;
const ONE: &str = "5f0c7a52-1111-4222-8333-444455556666";
const OTHER: &str = "5f0cbeef-1111-4222-8333-444455556666";
const TOOLS: &str = "read,list,search,write,edit,apply_patch,exec,process,memory_search,memory_get,sessions_list,sessions_history,sessions_send,sessions_spawn,subagents,session_status,message,agents_list";

fn yard() -> TestEnv {
    let env = TestEnv::new();
    env.files([
        ("AGENTS.md", "# Rules\n\nKeep the board.\nSay who knows.\n"),
        ("SOUL.md", "Short and warm.\n"),
    ]);
    env
}

/// What one recorded turn is made of.
struct Recorded<'a> {
    session: &'a str,
    key: &'a str,
    contract: &'static Contract,
    prompts: &'a [&'a str],
    tools: &'a str,
    /// Variables that are set while it is recorded.
    on: &'a [&'a str],
    /// Whether another turn has the recording at the same time, so that only events are written, as by earlier versions.
    held: bool,
}

const PLAIN: Recorded<'static> = Recorded {
    session: ONE,
    key: "agent:main:main",
    contract: &chitin_contract::CANONICAL,
    prompts: &["What is planned?"],
    tools: TOOLS,
    on: &[],
    held: false,
};

/// Records turns as `chitin run` would: with the system prompt that the workspace gives now. Returns the bodies.
fn record(env: &TestEnv, recorded: &Recorded<'_>) -> Vec<String> {
    let name = recorded.contract.name;
    let rules = recorded.contract.runtime.trace;
    let state = env.home().join(".chitin");
    let transcript_file = state.join(format!("agents/main/sessions/{}.jsonl", recorded.session));
    let places = LookupDirectories {
        logs: state.join("logs"),
        home: Some(env.home()),
        working_directory: env.path(),
    };
    let settings = TraceSettings::default();
    let lookup = |name: &str| recorded.on.contains(&name).then(|| "1".to_owned());
    let switches = Switches::from_lookup(lookup, &settings, &Value::Null, &places, &rules);
    let trajectory = switches
        .trajectory
        .as_ref()
        .map(|switch| trajectory_path(switch, &rules, recorded.session, Some(&transcript_file)));
    let _held = trajectory.filter(|_| recorded.held).map(|path| {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let file = std::fs::File::create(path).unwrap();
        rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive).unwrap();
        file
    });
    let mut journal = Journal::new(
        &switches,
        JournalEnvironment {
            rules,
            redactor: JournalRedactor::default(),
            clock: Arc::new(|| NOON),
            note: Arc::new(|note| assert_eq!(note, "", "nothing goes wrong")),
            summary: Arc::new(|_| {}),
        },
    );
    let tools: Vec<ToolSpec> = recorded
        .tools
        .split(',')
        .map(|name| ToolSpec {
            name: name.to_owned(),
            description: String::new(),
            parameters: json!({"type": "object"}),
        })
        .collect();
    let mut messages: Vec<Message> = Vec::new();
    let mut bodies = Vec::new();
    for (at, prompt) in recorded.prompts.iter().enumerate() {
        let turn = if at == 0 { "first" } else { "next" };
        let model = "anthropic/claude-sonnet-5-5";
        let arguments = [
            "context",
            "workspace",
            "--text",
            "--contract",
            name,
            "--turn",
            turn,
            "--model",
            model,
        ];
        let system = String::from_utf8(chitin(env, &arguments).stdout).unwrap();
        let run_id = format!("run-{at}");
        journal.observe(TurnMoment::RunStarted(&RunStarted {
            run_id: &run_id,
            session_id: recorded.session,
            session_key: recorded.key,
            agent_id: "main",
            workspace: &env.workspace(),
            session_file: Some(&transcript_file),
            provider: "anthropic",
            model: "claude-sonnet-5-5",
            api: Api::AnthropicMessages,
            thinking: None,
            tools: &tools,
            trigger: "user",
            channel: None,
            contract: name,
            surroundings: &RunSurroundings {
                version: "0.1.0",
                ..RunSurroundings::default()
            },
        }));
        let before_prompt = messages.len();
        messages.push(Message::user(*prompt, NOON));
        let body = json!({"system": system, "messages": messages}).to_string();
        let digest = Sha256::digest(body.as_bytes());
        let digest = digest.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        journal.observe(TurnMoment::RequestSent(&RequestSent {
            call: 1,
            provider: "anthropic",
            model: "claude-sonnet-5-5",
            prepared: &Prepared {
                api: Api::AnthropicMessages,
                method: "POST",
                url: "http://127.0.0.1:9/".to_owned(),
                headers: Vec::new(),
                secret_headers: Vec::new(),
                body: body.clone().into(),
                digest,
                tee: None,
                gone_out: None,
                rules: chitin_contract::ProviderRules::CANONICAL,
            },
            system: &system,
            messages: &messages,
            before_prompt,
            tools: &tools,
            prompt,
            images: 0,
            max_tokens: 1000,
            leaf: None,
            sent_at: NOON,
        }));
        bodies.push(body);
        answer(&mut journal, &mut messages);
        journal.observe(TurnMoment::RunEnded(&RunEnded {
            stop_reason: Some(&StopReason::Stop),
            stopped: None,
            error: None,
            prompt,
            messages: &messages,
            spending: None,
        }));
    }
    bodies
}

fn answer(journal: &mut Journal, messages: &mut Vec<Message>) {
    let call = ToolCallBlock {
        id: "t1".to_owned(),
        name: "read".to_owned(),
        arguments: Some(json!({"path": "plan.md"})),
        extra: Extra::new(),
    };
    let result = ToolResultMessage {
        tool_call_id: "t1".to_owned(),
        tool_name: Some("read".to_owned()),
        content: Content::Blocks(vec![Block::text("A launch.\n")]),
        details: None,
        is_error: false,
        timestamp: None,
        extra: Extra::new(),
    };
    let message = AssistantMessage {
        content: Content::Blocks(vec![Block::text("A launch is planned.")]),
        api: None,
        provider: None,
        model: None,
        usage: Some(Usage {
            input: 1200,
            output: 34,
            total_tokens: 1234,
            cost: CostShares {
                total: 0.0125,
                ..CostShares::default()
            },
            ..Usage::default()
        }),
        stop_reason: Some(StopReason::Stop),
        error_message: None,
        timestamp: None,
        response_id: None,
        extra: Extra::new(),
    };
    journal.observe(TurnMoment::ToolCalled(&call));
    journal.observe(TurnMoment::ToolDone {
        result: &result,
        summary: None,
    });
    journal.observe(TurnMoment::Answered {
        call: 1,
        message: &message,
    });
    messages.push(Message::Assistant(message));
}

/// Figures that depend on how long the test's own path is become `#`.
fn without_sizes(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let is_sized = ["bytes", "byte ", "tokens", "sha", "call 1"]
            .iter()
            .any(|word| line.contains(word));
        let mut line = line.to_owned();
        if let Some(at) = line
            .find(" bytes, ")
            .filter(|_| line.contains("model.request"))
        {
            line.replace_range(at.., " bytes, #");
        }
        if is_sized {
            let (head, tail) = line.split_at(line.find("  ").map_or(0, |at| at + 2));
            let mut masked = String::new();
            for c in tail.chars() {
                match c {
                    '0'..='9' | ',' if masked.ends_with('#') => {}
                    '0'..='9' => masked.push('#'),
                    c => masked.push(c),
                }
            }
            line = format!("{head}{masked}");
        }
        while line.contains("   ") && is_sized {
            line = line.replace("   ", "  ");
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

fn json_of(env: &TestEnv, arguments: &[&str]) -> Value {
    let output = chitin(env, &[arguments, &["--json"]].concat());
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn recorded_sessions_are_listed_and_shown() {
    let env = yard();
    let mut story = transcript(&env, &["trace"]);
    record(&env, &PLAIN);
    record(
        &env,
        &Recorded {
            session: OTHER,
            key: "agent:main:discord:channel:42",
            contract: &chitin_contract::OPENCLAW_2026_4,
            prompts: &["hi", "and now?"],
            ..PLAIN
        },
    );
    story += &transcript(&env, &["trace", "list"]);
    story += &transcript(&env, &["trace", "show", "agent:main:main"]);
    insta::assert_snapshot!(without_sizes(&story));
    let listed = json_of(&env, &["trace", "list"]);
    assert_eq!(listed["traces"].as_array().unwrap().len(), 2);
    let shown = json_of(&env, &["trace", "show", OTHER]);
    assert_eq!(shown["trace"]["turns"], 2);
    assert_eq!(shown["events"].as_array().unwrap().len(), 14);
}

#[test]
fn a_name_that_fits_none_or_several_is_explained() {
    let env = yard();
    let mut story = transcript(&env, &["trace", "show", "agent:main:main"]);
    record(&env, &PLAIN);
    record(
        &env,
        &Recorded {
            session: OTHER,
            key: "agent:main:cron:x",
            ..PLAIN
        },
    );
    story += &transcript(&env, &["trace", "show", "agent:main:mian"]);
    story += &transcript(&env, &["trace", "show", "5f0c"]);
    story += &transcript(&env, &["trace", "show", "5f0"]);
    story += &transcript(&env, &["trace", "show", "5f0c7", "--request", "2"]);
    insta::assert_snapshot!(story);
    let usage = chitin(&env, &["trace", "show", "x", "--request", "0"]);
    assert_eq!(usage.status.code(), Some(2));
}

#[test]
fn a_request_is_printed_to_the_byte() {
    let env = yard();
    let bodies = record(&env, &PLAIN);
    let output = chitin(&env, &["trace", "show", "5f0c7a52", "--request", "1"]);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), bodies[0]);
    assert!(output.stderr.is_empty());
    let json = json_of(&env, &["trace", "show", "5f0c7a52", "--request", "1"]);
    assert_eq!(
        (&json["exact"], &json["body"]),
        (&json!(true), &json!(bodies[0]))
    );

    let older = Recorded {
        session: OTHER,
        key: "agent:main:old",
        contract: &chitin_contract::OPENCLAW_2026_4,
        held: true,
        ..PLAIN
    };
    record(&env, &older);
    insta::assert_snapshot!(transcript(
        &env,
        &["trace", "show", OTHER, "--request", "1"]
    ));
    let logged = Recorded {
        on: &["OPENCLAW_ANTHROPIC_PAYLOAD_LOG"],
        ..older
    };
    let bodies = record(&env, &logged);
    let json = json_of(&env, &["trace", "show", OTHER, "--request", "1"]);
    assert_eq!(
        (&json["exact"], &json["body"]),
        (&json!(true), &json!(bodies[0])),
        "the payload log has it"
    );
}

#[test]
fn an_export_holds_no_path_of_this_machine_and_never_replaces_anything() {
    let env = yard();
    record(&env, &PLAIN);
    let arguments = ["trace", "export", "agent:main:main", "--out", "bundle"];
    let mut story = transcript(&env, &arguments);
    story += &transcript(&env, &arguments);
    insta::assert_snapshot!(without_sizes(&story));
    for entry in std::fs::read_dir(env.path().join("bundle")).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let (home, workspace) = (env.home(), env.workspace());
        assert!(!text.contains(home.to_str().unwrap()));
        assert!(!text.contains(workspace.to_str().unwrap()));
    }
    let json = json_of(&env, &["trace", "export", "agent:main:main"]);
    let directory = json["directory"].as_str().unwrap();
    let below = env
        .workspace()
        .join(".openclaw/trajectory-exports/openclaw-trajectory-5f0c7a52-");
    assert!(
        directory.starts_with(below.to_str().unwrap()),
        "{directory}"
    );
    assert!(
        std::path::Path::new(directory)
            .join("manifest.json")
            .exists()
    );
}

#[test]
fn an_export_does_not_follow_a_link_out_of_the_workspace() {
    let env = yard();
    record(&env, &PLAIN);
    env.directory_at("elsewhere");
    env.link("workspace/.openclaw", "../elsewhere");
    insta::assert_snapshot!(transcript(&env, &["trace", "export", "agent:main:main"]));
    let elsewhere = std::fs::read_dir(env.path().join("elsewhere")).unwrap();
    assert_eq!(elsewhere.count(), 0);
}

#[test]
fn a_workspace_that_did_not_change_gives_the_same_prompt_in_every_contract() {
    for contract in chitin_contract::ALL {
        let env = yard();
        record(
            &env,
            &Recorded {
                contract,
                prompts: &["one", "two"],
                tools: match contract.runtime.tools.list_tool {
                    "ls" => {
                        "ls,read,search,write,edit,apply_patch,exec,process,memory_search,memory_get,sessions_list,sessions_history,sessions_send,sessions_spawn,subagents,session_status,message,agents_list"
                    }
                    _ => TOOLS,
                },
                ..PLAIN
            },
        );
        let json = json_of(&env, &["trace", "replay", "agent:main:main"]);
        let requests = json["requests"].as_array().unwrap();
        assert_eq!(requests.len(), 2);
        for request in requests {
            assert_eq!(request["system"]["diff"], "", "{}", contract.name);
            assert_eq!(request["cachedPrefixKept"], true);
        }
    }
}

#[test]
fn an_edit_shows_where_it_changes_what_is_sent() {
    let env = yard();
    record(
        &env,
        &Recorded {
            prompts: &["What is planned?", "And then?"],
            ..PLAIN
        },
    );
    env.files([
        (
            "AGENTS.md",
            "# Rules\n\nKeep the board tidy.\nSay who knows.\n",
        ),
        ("SOUL.md", "Short, warm and plain.\n"),
    ]);
    let story = transcript(&env, &["trace", "replay", "agent:main:main"]);
    insta::assert_snapshot!(without_sizes(&story));

    let json = json_of(&env, &["trace", "replay", ONE]);
    let first = &json["requests"][0];
    let now = chitin(
        &env,
        &[
            "context",
            "workspace",
            "--text",
            "--model",
            "anthropic/claude-sonnet-5-5",
        ],
    );
    assert_eq!(first["system"]["bytesNow"], now.stdout.len());
    let byte = first["system"]["firstDifference"]["byte"].as_u64().unwrap();
    let byte = usize::try_from(byte).unwrap();
    assert!(now.stdout[..byte].ends_with(b"Keep the board"));
    assert_eq!(
        first["system"]["changedIn"],
        json!(["`AGENTS.md`", "`SOUL.md`"])
    );
    assert_eq!(json["requests"][1]["messages"], 2);
}

#[test]
fn a_copy_elsewhere_is_compared_as_if_it_stood_in_the_same_place() {
    let env = yard();
    record(&env, &PLAIN);
    env.file("copy/AGENTS.md", env.read("workspace/AGENTS.md"));
    env.file("copy/SOUL.md", env.read("workspace/SOUL.md"));
    let json = json_of(&env, &["trace", "replay", "agent:main:main", "copy"]);
    assert_eq!(json["requests"][0]["system"]["diff"], "");
    env.file("copy/SOUL.md", "Other.\n");
    let json = json_of(&env, &["trace", "replay", "agent:main:main", "copy"]);
    let change = &json["requests"][0]["system"];
    assert_eq!(change["firstDifference"]["part"], "`SOUL.md`");
    assert_eq!(json["requests"][0]["cachedPrefixKept"], false);
}

#[test]
fn tools_that_came_and_went_are_named() {
    let env = yard();
    record(
        &env,
        &Recorded {
            tools: "read,list,write,edit,apply_patch,exec,process,sessions_list,sessions_history,sessions_send,sessions_spawn,subagents,message,agents_list,canvas",
            prompts: &["one", "two"],
            ..PLAIN
        },
    );
    let json = json_of(&env, &["trace", "replay", ONE]);
    let second = &json["requests"][1];
    assert_eq!(
        second["toolsAdded"],
        json!(["search", "memory_search", "memory_get", "session_status"])
    );
    assert_eq!(second["toolsRemoved"], json!(["canvas"]));
    assert_eq!(second["cachedPrefixKept"], false);
    let story = transcript(&env, &["trace", "replay", ONE]);
    let lost = "lost: it starts with the tools; 2 earlier messages are sent again";
    assert!(story.contains(lost), "{story}");
}

#[test]
fn a_workspace_that_is_gone_is_said() {
    let env = yard();
    record(&env, &PLAIN);
    std::fs::remove_dir_all(env.workspace()).unwrap();
    insta::assert_snapshot!(transcript(&env, &["trace", "replay", "agent:main:main"]));
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let env = yard();
    record(&env, &PLAIN);
    let mut child = command(&env, &["trace", "show", "agent:main:main", "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}
