//! Configuration: read as it is, judged by release, explained by layer.

use chitin_config::env::Env;
use chitin_config::{
    ConfigError, ConfigLayer, IncludeProblem, Issue, IssueSeverity, Layers, LoadedConfig, load,
    load_chitin_config, openclaw_config_path, read_with_includes, substitute, validate,
};
use chitin_contract::ConfigRules;
use chitin_test::TestEnv;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;
use std::time::{Duration, Instant};

const RULES: [ConfigRules; 2] = [ConfigRules::Keys2026_4, ConfigRules::Keys2026_9];

fn paths(config: &Value, rules: ConfigRules) -> Vec<String> {
    validate(config, rules)
        .into_iter()
        .map(|issue| issue.path)
        .collect()
}

fn load_at(test: &TestEnv, env: &Env, rules: ConfigRules) -> Result<LoadedConfig, ConfigError> {
    load(&test.path().join("config/openclaw.json"), env, rules)
        .map(|loaded| loaded.unwrap_or_else(|| unreachable!("the file is there")))
}

fn tell(test: &TestEnv, issues: &[Issue]) -> String {
    let mut told = String::new();
    for issue in issues {
        let hint = issue.hint.as_deref().unwrap_or("-");
        let _ = writeln!(told, "{:?} {issue} [{hint}]", issue.severity);
    }
    test.redact(&told)
}

#[test]
fn a_config_with_the_documented_keys_is_valid() {
    let config = json!({
        "session": {
            "dmScope": "per-peer", "mainKey": "main", "scope": "per-sender", "identityLinks": {"ada": ["telegram:1"]},
            "reset": {"mode": "daily", "atHour": 4, "idleMinutes": 60}, "resetByType": {"group": {"mode": "idle"}},
            "resetByChannel": {"discord": {"mode": "daily"}}, "store": "~/s.json", "threadBindings": {"enabled": true},
        },
        "bindings": [{"agentId": "ops", "match": {"channel": "discord", "guildId": "1", "roles": ["r"]}}],
        "agents": {
            "defaults": {
                "workspace": "~/w", "model": {"primary": "a/b", "fallbacks": ["c/d"]}, "maxConcurrent": 2,
                "timeoutSeconds": 60, "contextInjection": "always", "bootstrapMaxChars": 12000,
                "bootstrapTotalMaxChars": 60000, "skipBootstrap": true, "blockStreamingDefault": "on",
                "heartbeat": {"every": "30m", "target": "last"},
                "subagents": {"maxSpawnDepth": 5, "maxChildrenPerAgent": 20, "maxConcurrent": 8, "runTimeoutSeconds": 0,
                    "archiveAfterMinutes": 60, "announceTimeoutMs": 120_000, "allowAgents": ["*"], "requireAgentId": false},
            },
            "list": [{"id": "ops", "default": true, "workspace": "~/ops", "model": "a/b", "tools": {"profile": "coding",
                "alsoAllow": ["message"]}, "subagents": {"allowAgents": ["*"]}, "heartbeat": {"every": "0m"}}],
        },
        "tools": {"profile": "coding", "deny": ["exec"], "alsoAllow": ["message"], "byProvider": {"openai": {"allow": ["read"]}},
            "exec": {"security": "allowlist"}, "fs": {"workspaceOnly": true}, "subagents": {"tools": {"deny": ["cron"]}}},
        "messages": {"queue": {"mode": "collect", "cap": 20, "drop": "old", "byChannel": {"discord": "steer"},
            "debounceMsByChannel": {"slack": 5}}},
        "channels": {"slack": {"textChunkLimit": 4000, "replyToMode": "first", "replyToModeByChatType": {"direct": "all"},
            "streaming": {"mode": "partial", "chunkMode": "newline", "block": {"enabled": true}}, "accounts": {"work": {}}},
            "my-plugin": {"anything": [1]}},
        "diagnostics": {"cacheTrace": {"enabled": true}},
        "models": {"providers": {"x": {"baseUrl": "http://h", "apiKey": "k", "api": "openai-completions",
            "models": [{"id": "m", "name": "M"}]}}},
        "plugins": {"enabled": true},
    });
    for rules in RULES {
        assert_eq!(paths(&config, rules), [""; 0], "{rules:?}");
    }
}

#[test]
fn releases_differ_in_the_keys_they_know() {
    for (config, in_4, in_9) in [
        (
            json!({"session": {"parentForkMaxTokens": 5}}),
            "",
            "session",
        ),
        (
            json!({"messages": {"queue": {"debounceMs": 5}}}),
            "",
            "messages.queue",
        ),
        (
            json!({"session": {"resetByType": {"dm": {}}}}),
            "",
            "session.resetByType",
        ),
        (
            json!({"session": {"reset": {"mode": "none"}}}),
            "session.reset.mode",
            "",
        ),
        (
            json!({"agents": {"defaults": {"contextInjection": "never"}}}),
            "agents.defaults.contextInjection",
            "",
        ),
        (
            json!({"agents": {"list": [{"id": "a", "bootstrapMaxChars": 5}]}}),
            "agents.list.0",
            "",
        ),
        (json!({"agents": {"entries": {"a": {}}}}), "agents", ""),
        (
            json!({"agents": {"list": [{"name": "x"}]}}),
            "agents.list.0.id",
            "agents",
        ),
        (
            json!({"agents": {"list": {"x": {}}}}),
            "agents.list",
            "agents",
        ),
        (
            json!({"agents": {"list": [{"id": "x", "colour": "red"}]}}),
            "agents.list.0",
            "agents.entries.x",
        ),
        (
            json!({"agents": {"list": [{"id": "x", "tools": {"profile": "y"}}]}}),
            "agents.list.0.tools.profile",
            "agents.entries.x.tools.profile",
        ),
        (
            json!({"diagnostics": {"cacheTrace": {"filePath": "x"}}}),
            "",
            "diagnostics.cacheTrace",
        ),
        (
            json!({"agents": {"list": [{"id": "a"}]}, "bindings": [{"agentId": "ghost", "match": {"channel": "x"}}]}),
            "",
            "bindings.0.agentId",
        ),
    ] {
        for (rules, expected) in RULES.into_iter().zip([in_4, in_9]) {
            let expected: Vec<_> = (!expected.is_empty())
                .then_some(expected)
                .into_iter()
                .collect();
            assert_eq!(paths(&config, rules), expected, "{rules:?} {config}");
        }
    }
}

#[test]
fn channels_of_the_oldest_release_are_not_judged_by_later_spellings() {
    let flat = json!({"channels": {"telegram": {"chunkMode": "newline", "streaming": "partial"}}});
    assert_eq!(
        paths(&flat, chitin_contract::OPENCLAW_2026_2.config),
        [""; 0]
    );
    assert_eq!(
        paths(&flat, chitin_contract::OPENCLAW_2026_4.config),
        ["channels.telegram.streaming", "channels.telegram"]
    );
}

#[test]
fn a_finding_is_reported_where_the_recorded_validators_report_it() {
    for (config, path) in [
        (
            json!({"agents": {"defaults": {"subagents": {"maxSpawnDepth": 0}}}}),
            "agents.defaults.subagents.maxSpawnDepth",
        ),
        (
            json!({"agents": {"defaults": {"subagents": {"maxSpawnDepth": 1.5}}}}),
            "agents.defaults.subagents.maxSpawnDepth",
        ),
        (
            json!({"agents": {"defaults": {"subagents": {"maxChildrenPerAgent": 21}}}}),
            "agents.defaults.subagents.maxChildrenPerAgent",
        ),
        (
            json!({"agents": {"defaults": {"heartbeat": {"every": "soon"}}}}),
            "agents.defaults.heartbeat.every",
        ),
        (
            json!({"agents": {"defaults": {"heartbeat": {"every": "5m", "activeHours": {"start": "24:00"}}}}}),
            "agents.defaults.heartbeat.activeHours.start",
        ),
        (
            json!({"agents": {"defaults": {"heartbeat": {"every": "5m", "activeHours": {"end": "8:00"}}}}}),
            "agents.defaults.heartbeat.activeHours.end",
        ),
        (
            json!({"agents": {"defaults": {"model": 5}}}),
            "agents.defaults.model",
        ),
        (
            json!({"tools": {"allow": ["a"], "alsoAllow": ["b"]}}),
            "tools",
        ),
        (
            json!({"tools": {"subagents": {"tools": {"allow": ["a"], "alsoAllow": ["b"]}}}}),
            "tools.subagents.tools",
        ),
        (json!({"tools": {"allow": "read"}}), "tools.allow"),
        (
            json!({"bindings": [{"agentId": "a", "match": {"channel": "x"}, "extra": 1}]}),
            "bindings.0",
        ),
        (
            json!({"bindings": [{"agentId": "a", "match": {"channel": "x", "peer": {"kind": "lamp", "id": "1"}}}]}),
            "bindings.0",
        ),
        (
            json!({"bindings": [{"type": "acp", "agentId": "a", "match": {"channel": "x"}}]}),
            "bindings.0.match.peer",
        ),
        (json!({"session": {"mainKey": null}}), "session.mainKey"),
        (
            json!({"session": {"reset": {"atHour": 24}}}),
            "session.reset.atHour",
        ),
        (json!({"session": "main"}), "session"),
        (
            json!({"messages": {"queue": {"cap": 0}}}),
            "messages.queue.cap",
        ),
        (
            json!({"messages": {"queue": {"drop": "middle"}}}),
            "messages.queue.drop",
        ),
        (json!({"plugins": {"enabled": "yes"}}), "plugins.enabled"),
        (json!([]), ""),
    ] {
        for rules in RULES {
            assert_eq!(paths(&config, rules), [path], "{rules:?} {config}");
        }
    }
    // One release still knows what stood there; the other does not.
    let moved = json!({"heartbeat": {"every": "5m"}});
    assert_eq!(paths(&moved, RULES[0]), ["heartbeat"]);
    assert_eq!(paths(&moved, RULES[1]), [""]);
    // Empty lists do not exclude each other.
    assert_eq!(
        paths(
            &json!({"tools": {"allow": [], "alsoAllow": ["b"]}}),
            RULES[0]
        ),
        [""; 0]
    );
    for every in ["45", "0m", "1.5h", "1h30m", "500MS"] {
        let config = json!({"agents": {"defaults": {"heartbeat": {"every": every}}}});
        assert_eq!(paths(&config, RULES[0]), [""; 0], "{every}");
    }
    // Hours count only beside an interval.
    let hours = json!({"agents": {"defaults": {"heartbeat": {"activeHours": {"start": "soon"}}}}});
    assert_eq!(paths(&hours, RULES[0]), [""; 0]);
}

#[test]
fn findings_name_file_line_column_and_the_nearest_key() {
    let test = TestEnv::new();
    test.file(
        "config/openclaw.json",
        "// mine\n{\n  session: { dmscope: 'main' },\n  agents: { $include: './parts/agents.json5' },\n  tools: { profile: 'codin', },\n}\n",
    );
    test.file(
        "config/parts/agents.json5",
        "{\n  defaults: {\n    workspace: '${NOT_SET}/w',\n    subagent: {},\n  },\n}\n",
    );
    let loaded = load_at(&test, &Env::new("/"), RULES[0]).expect("loads");
    insta::assert_snapshot!(tell(&test, &loaded.issues), @r#"
    Error $TEST_ENV/config/openclaw.json:3:14: `session`: `dmscope` is not a known key here. [did you mean `dmScope`?]
    Error $TEST_ENV/config/openclaw.json:5:12: `tools.profile`: Expected one of `minimal`, `coding`, `messaging`, `full`; found `"codin"`. [did you mean `coding`?]
    Warning $TEST_ENV/config/parts/agents.json5:3:5: `agents.defaults.workspace`: The variable `NOT_SET` is not set or empty, so its name stays in the text. [set it, or write `$${NOT_SET}` for the text itself]
    Error $TEST_ENV/config/parts/agents.json5:4:5: `agents.defaults`: `subagent` is not a known key here. [did you mean `subagents`?]
    "#);
    assert!(!loaded.is_valid());
    let place = loaded.place("agents.defaults.workspace").expect("is said");
    assert_eq!((place.line, place.column), (3, 5));
}

#[test]
fn a_finding_in_a_moved_list_points_at_what_was_written() {
    let test = TestEnv::new();
    test.file(
        "config/openclaw.json",
        "{ agents: { list: [{ id: 'a' },\n  { id: 'b', colour: 1 }] } }",
    );
    let loaded = load_at(&test, &Env::new("/"), RULES[1]).expect("loads");
    let issue = &loaded.issues[0];
    assert_eq!(
        (issue.path.as_str(), issue.line, issue.column),
        ("agents.entries.b", Some(2), Some(14))
    );
    // What is wrong with all of them points at the list.
    test.file(
        "config/openclaw.json",
        "{ agents: { list: [{ id: 'a' }, { id: 'b' }] } }",
    );
    let loaded = load_at(&test, &Env::new("/"), RULES[1]).expect("loads");
    let issue = &loaded.issues[0];
    assert_eq!(
        (issue.path.as_str(), issue.column),
        ("agents.ownership", Some(13))
    );
}

#[test]
fn a_key_that_stands_twice_is_a_warning() {
    let test = TestEnv::new();
    test.file(
        "config/openclaw.json",
        "{ gateway: { port: 1 },\n  gateway: { port: 2 } }",
    );
    let loaded = load_at(&test, &Env::new("/"), RULES[0]).expect("loads");
    assert_eq!(loaded.get("gateway.port"), Some(&json!(2)));
    assert_eq!(loaded.issues.len(), 1);
    assert_eq!(
        (loaded.issues[0].severity, loaded.issues[0].line),
        (IssueSeverity::Warning, Some(2))
    );
    assert!(loaded.is_valid());
}

#[test]
fn a_broken_file_says_where() {
    let test = TestEnv::new();
    test.file("config/openclaw.json", "{\n  a: 1\n  b: 2\n}");
    let error = load_at(&test, &Env::new("/"), RULES[0]).expect_err("broken");
    assert_eq!(error.source.position, Some((3, 3)));
    assert_eq!(error.source.source_line.as_deref(), Some("  b: 2"));
    test.file("config/openclaw.json", "{\n  a: [1,\n");
    let error = load_at(&test, &Env::new("/"), RULES[0]).expect_err("broken");
    assert!(error.source.position.is_some());
}

#[test]
fn no_file_is_no_error() {
    let test = TestEnv::new();
    let loaded = load(
        &test.path().join("none/openclaw.json"),
        &Env::new("/"),
        RULES[0],
    );
    assert!(matches!(loaded, Ok(None)));
}

#[test]
fn a_cycle_is_told_with_its_whole_chain() {
    let test = TestEnv::new();
    test.file("config/openclaw.json", "{ a: { $include: 'one.json5' } }");
    test.file("config/one.json5", "{ b: { $include: './two.json5' } }");
    test.file("config/two.json5", "{ c: 1,\n  $include: 'one.json5' }");
    let error = read_with_includes(&test.path().join("config/openclaw.json")).expect_err("cycle");
    assert_eq!(
        test.redact(&error.to_string()),
        "`$TEST_ENV/config/two.json5`: files include each other: `$TEST_ENV/config/openclaw.json` -> \
         `$TEST_ENV/config/one.json5` -> `$TEST_ENV/config/two.json5` -> `$TEST_ENV/config/one.json5`"
    );
    assert_eq!((error.path.as_str(), error.position), ("a.b", Some((2, 3))));
}

#[test]
fn includes_stay_in_the_directory_by_name_and_by_link() {
    let test = TestEnv::new();
    test.file("secret.json5", "{ token: 'x' }");
    test.file("config/inside.json5", "{ ok: true }");
    test.link("config/link-out.json5", test.path().join("secret.json5"));
    test.link("config/link-in.json5", "inside.json5");
    let read = |name: &str| {
        test.file(
            "config/openclaw.json",
            json!({"$include": name}).to_string(),
        );
        read_with_includes(&test.path().join("config/openclaw.json"))
    };
    assert_eq!(
        read("link-in.json5").expect("inside").value,
        json!({"ok": true})
    );
    let absolute = test.path().join("config/inside.json5");
    assert_eq!(
        read(&absolute.to_string_lossy()).expect("inside").value,
        json!({"ok": true})
    );
    for outside in [
        "../secret.json5",
        "x/../../secret.json5",
        "/etc/passwd",
        ".",
        "",
    ] {
        let error = read(outside).expect_err("outside");
        assert!(
            matches!(*error.problem, IncludeProblem::Outside(_)),
            "{outside}: {error}"
        );
    }
    let error = read("link-out.json5").expect_err("a link out");
    assert!(
        matches!(*error.problem, IncludeProblem::Unreadable(_)),
        "{error}"
    );
    let error = read("nothing.json5").expect_err("missing");
    assert!(matches!(*error.problem, IncludeProblem::Missing), "{error}");
    assert_eq!(error.position, Some((1, 2)), "the line that asks for it");
}

#[test]
fn the_users_own_file_may_be_a_link_and_its_includes_still_stay() {
    let test = TestEnv::new();
    test.file(
        "dotfiles/openclaw.json",
        "{ $include: './more.json5', session: { mainKey: 'x' } }",
    );
    test.file("config/more.json5", "{ agents: { list: [{ id: 'ops' }] } }");
    test.link(
        "config/openclaw.json",
        test.path().join("dotfiles/openclaw.json"),
    );
    let read = read_with_includes(&test.path().join("config/openclaw.json"));
    assert_eq!(
        read.expect("the user's own").value,
        json!({ "agents": { "list": [{ "id": "ops" }] }, "session": { "mainKey": "x" } })
    );
}

#[test]
fn bombs_are_refused_quickly() {
    let test = TestEnv::new();
    let path = test.path().join("config/openclaw.json");
    let started = Instant::now();
    let refused = |content: &str| {
        test.file("config/openclaw.json", content);
        *read_with_includes(&path).expect_err("refused").problem
    };
    let long_line = format!("{{ a: '{}' }}", "x".repeat(1024 * 1024));
    assert!(matches!(refused(&long_line), IncludeProblem::TooLarge));
    assert!(matches!(
        refused(&"[".repeat(500_000)),
        IncludeProblem::TooDeep
    ));
    assert!(matches!(
        refused(&"{a:".repeat(200_000)),
        IncludeProblem::TooDeep
    ));
    // Many findings in a large file.
    let mut many = String::from("{ agents: { list: [");
    for index in 0..20_000 {
        let _ = writeln!(many, "{{ id: 'a{index}', colour: {index}, x: '-' }},");
    }
    many.push_str("] } }");
    test.file("config/openclaw.json", &many);
    let loaded = load_at(&test, &Env::new("/"), RULES[0]).expect("loads");
    assert_eq!(loaded.issues.len(), 200);
    assert!(
        Layers::built_in(&chitin_contract::CANONICAL)
            .with_openclaw(&loaded)
            .all()
            .len()
            > 1
    );
    // Every file includes the next one twice.
    for depth in 0..10 {
        let next = format!("f{}.json5", depth + 1);
        test.file(
            &format!("config/f{depth}.json5"),
            json!({"x": {"$include": next}, "y": {"$include": next}}).to_string(),
        );
    }
    test.file("config/f10.json5", "{}");
    assert!(matches!(
        refused("{ $include: 'f1.json5' }"),
        IncludeProblem::TooMany
    ));
    // A chain that is too long.
    for depth in 0..12 {
        let next = format!("c{}.json5", depth + 1);
        test.file(
            &format!("config/c{depth}.json5"),
            json!({"$include": next}).to_string(),
        );
    }
    assert!(matches!(
        refused("{ $include: 'c0.json5' }"),
        IncludeProblem::IncludesTooDeep
    ));
    // Many mentions of a large variable, and many that never end.
    let mentions = format!("{{ a: '{}' }}", "${BIG}".repeat(100_000));
    test.file("config/openclaw.json", mentions);
    let env = Env::new("/").with("BIG", "x".repeat(100_000));
    let loaded = load_at(&test, &env, RULES[0]).expect("loads");
    assert!(
        loaded
            .issues
            .iter()
            .any(|issue| issue.message.contains("more than"))
    );
    test.file(
        "config/openclaw.json",
        format!("{{ a: '{}' }}", "${A".repeat(300_000)),
    );
    load_at(&test, &env, RULES[0]).expect("loads");
    assert!(
        started.elapsed() < Duration::from_secs(20),
        "{:?}",
        started.elapsed()
    );
}

#[test]
fn layers_say_where_a_value_comes_from() {
    let test = TestEnv::new();
    test.file(
        "config/openclaw.json",
        "{\n  agents: { defaults: { bootstrapMaxChars: 5 } },\n}",
    );
    test.file(
        "home/.chitin/chitin.json5",
        "{\n  contract: 'openclaw-2026.4',\n  agents: { Ops: { contract: 'canonical' } },\n}",
    );
    let env = Env::new("/").with("CHITIN_CONTRACT", "openclaw-2026.9");
    let loaded = load_at(&test, &env, RULES[0]).expect("loads");
    let own = load_chitin_config(&test.home().join(".chitin"))
        .expect("loads")
        .expect("is there");
    let files = Layers::built_in(&chitin_contract::CANONICAL)
        .with_openclaw(&loaded)
        .with_chitin(&own);
    let told = files
        .explain("agents.defaults.bootstrapMaxChars")
        .expect("is said");
    assert_eq!(
        (told.value, told.layer, told.line),
        (json!(5), ConfigLayer::OpenClaw, Some(2))
    );
    assert_eq!(told.overridden[0].layer, ConfigLayer::BuiltIn);
    assert_eq!(told.overridden[0].value, json!(12_000));
    let told = files.explain("contract").expect("is said");
    assert_eq!(
        (told.value, told.layer, told.line),
        (json!("openclaw-2026.4"), ConfigLayer::Chitin, Some(2))
    );
    let all = files
        .clone()
        .with_flag("--contract", "contract", json!("atmosphere"))
        .with_environment(&env);
    let told = all.explain("contract").expect("is said");
    assert_eq!(
        (told.value, told.layer, told.name.as_deref()),
        (json!("atmosphere"), ConfigLayer::Flag, Some("--contract"))
    );
    let layers: Vec<_> = told.overridden.iter().map(|lower| lower.layer).collect();
    assert_eq!(
        layers,
        [
            ConfigLayer::Environment,
            ConfigLayer::Chitin,
            ConfigLayer::BuiltIn
        ]
    );
    let ops = chitin_protocol::agent_id::AgentId::normalize("ops");
    assert_eq!(
        files.settings(Some(&ops)).contract.as_deref(),
        Some("canonical")
    );
    assert_eq!(
        files.settings(None).contract.as_deref(),
        Some("openclaw-2026.4")
    );
    assert_eq!(files.explain("nothing.like.this"), None);
}

#[test]
fn what_a_parent_hears_of_its_children_is_said_for_all_agents_and_for_one() {
    let test = TestEnv::new();
    test.file(
        "home/.chitin/chitin.json5",
        "{
  subagents: { announce: { expectsCompletionMessage: false } },
  agents: { ops: { subagents: { announce: { action: 'Post the result to the log.' } } } },
}",
    );
    let own = load_chitin_config(&test.home().join(".chitin"))
        .expect("loads")
        .expect("is there");
    assert_eq!(tell(&test, &own.issues), "");
    let layers = Layers::built_in(&chitin_contract::CANONICAL).with_chitin(&own);
    let of = |agent: &str| {
        let agent = chitin_protocol::agent_id::AgentId::normalize(agent);
        let settings = layers.settings(Some(&agent)).subagents;
        settings.announce.expect("is said")
    };
    assert_eq!(of("main").expects_completion_message, Some(false));
    assert_eq!(of("main").action, None);
    assert_eq!(
        of("ops").expects_completion_message,
        Some(false),
        "what is left out is taken from above"
    );
    assert_eq!(
        of("ops").action.as_deref(),
        Some("Post the result to the log.")
    );
}

#[test]
fn our_own_file_warns_of_unknown_keys_and_keeps_the_rest() {
    let test = TestEnv::new();
    test.file(
        "home/.chitin/chitin.json5",
        "{\n  rootfiles: ['X.md'],\n  links: { trustedRoots: ['/srv'] },\n  hardlinks: 'maybe',\n  subagentFiles: ['AGENTS.md'],\n}",
    );
    let own = load_chitin_config(&test.home().join(".chitin"))
        .expect("loads")
        .expect("is there");
    insta::assert_snapshot!(tell(&test, &own.issues), @r#"
    Error $TEST_ENV/home/.chitin/chitin.json5:4:3: `hardlinks`: Expected one of `refuse`, `allow`; found `"maybe"`. [-]
    Warning $TEST_ENV/home/.chitin/chitin.json5:2:3: `rootfiles` is not a known key here. [did you mean `rootFiles`?]
    "#);
    insta::assert_json_snapshot!(own.config, @r#"
    {
      "links": {
        "trustedRoots": [
          "/srv"
        ]
      },
      "subagentFiles": [
        "AGENTS.md"
      ]
    }
    "#);
    assert!(matches!(load_chitin_config(&test.home()), Ok(None)));
}

#[test]
fn the_environment_names_the_file_and_our_own_name_wins() {
    let env = Env::new("/here").with("HOME", "/home/ada");
    let at = |env: &Env| openclaw_config_path(env, Path::new("/state"));
    assert_eq!(at(&env), Path::new("/state/openclaw.json"));
    let env = env.with("OPENCLAW_CONFIG_PATH", "~/oc.json");
    assert_eq!(at(&env), Path::new("/home/ada/oc.json"));
    let env = env.with("CHITIN_CONFIG_PATH", "mine.json");
    assert_eq!(at(&env), Path::new("/here/mine.json"));
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[$${}A-Z_a\\x00é]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 5, |inner| {
        let key = prop_oneof![
            Just("agents"),
            Just("list"),
            Just("defaults"),
            Just("tools"),
            Just("bindings"),
            Just("match"),
            Just("session"),
            Just("heartbeat"),
            Just("every"),
            Just("$include"),
            Just("broadcast"),
            Just("allow"),
            Just("")
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..5).prop_map(|fields| Value::Object(
                fields.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()
            )),
        ]
    })
}

proptest! {
    #[test]
    fn no_value_makes_judging_or_filling_in_panic(value in any_json()) {
        for rules in RULES {
            let _ = validate(&value, rules);
        }
        let mut filled = value;
        let _ = substitute(&mut filled, |name| (name.len() < 3).then_some("x"));
    }

    #[test]
    fn no_files_make_reading_panic(first in "[\\[\\]{}:,'\"$a-z./ \\n]{0,60}", second in any_json()) {
        let test = TestEnv::new();
        test.file("config/a", first);
        test.file("config/openclaw.json", second.to_string());
        let _ = load(&test.path().join("config/a"), &Env::new("/"), RULES[1]);
        let _ = load(&test.path().join("config/openclaw.json"), &Env::new("/"), RULES[0]);
    }
}
