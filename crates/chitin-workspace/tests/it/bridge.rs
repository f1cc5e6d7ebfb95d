//! The bridge: adapters, composition, extension files.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests look at trees from outside the guard"
)]

use chitin_config::env::Env;
use chitin_test::TestEnv;
use chitin_workspace::adapter::{
    AdapterError, AdapterRegistry, AdapterWarning, AgentDefinition, DefinitionPart, NativeAdapter,
    OpenClawAdapter, Precedence, WorkspaceAdapter, compose, location,
};
use chitin_workspace::extensions::permissions::{
    self, CallerUsage, MessageDecision, PermissionRequest,
};
use chitin_workspace::extensions::runtime::{self, Overrides, SuggestedEndpoint};
use chitin_workspace::extensions::{mcp, skills};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn load(env: &TestEnv) -> AgentDefinition {
    AdapterRegistry::with_built_ins()
        .load(&env.workspace())
        .unwrap()
}

struct Custom {
    priority: i32,
}

impl WorkspaceAdapter for Custom {
    fn supports(&self, _: &Path) -> bool {
        true
    }

    fn load(&self, root: &Path) -> Result<AgentDefinition, AdapterError> {
        let mut definition = NativeAdapter.load(root)?;
        "custom".clone_into(&mut definition.adapter_name);
        Ok(definition)
    }

    fn name(&self) -> &'static str {
        "custom"
    }

    fn priority(&self) -> i32 {
        self.priority
    }
}

#[test]
fn a_plain_openclaw_workspace_runs_with_no_conversion() {
    let env = TestEnv::new();
    env.files([
        ("AGENTS.md", "Answer briefly.\n"),
        ("SOUL.md", "Calm.\n"),
        ("IDENTITY.md", "name: lantern\n"),
        ("MEMORY.md", "never shown"),
        ("TOOLS.md", "never shown"),
        ("RUNTIME.md", "model: m\napi-key: k-123\n"),
        ("skills/calc/SKILL.md", "Adds."),
        (".agents/skills/web/SKILL.md", "Looks."),
    ]);
    let json = serde_json::to_string_pretty(&load(&env)).unwrap();
    insta::assert_snapshot!(env.redact(&json), @r###"
    {
      "name": "lantern",
      "adapterName": "openclaw",
      "workspaceRoot": "$TEST_ENV/workspace",
      "identity": "name: lantern\n",
      "persona": "Calm.\n",
      "userProfile": "",
      "operatingRules": "Answer briefly.\n",
      "systemPrompt": "## Identity\n\nname: lantern\n\n## Persona\n\nCalm.\n\n## Operating rules\n\nAnswer briefly.",
      "skillPaths": [
        "$TEST_ENV/workspace/skills/calc/SKILL.md",
        "$TEST_ENV/workspace/.agents/skills/web/SKILL.md"
      ],
      "extensions": {
        "RUNTIME.md": "model: m\napi-key: [redacted]\n"
      },
      "warnings": []
    }
    "###);
}

#[test]
fn a_key_shows_neither_in_debug_nor_in_json_and_is_there_for_who_asks() {
    let env = TestEnv::new();
    env.files([("AGENTS.md", "R"), ("RUNTIME.md", "api-key: k-123\n")]);
    let definition = load(&env);
    let applied = runtime::apply(
        definition.extensions.get("RUNTIME.md").unwrap(),
        Overrides::new(&BTreeMap::new(), &Env::default()),
        None,
    );
    let settings = applied.settings.unwrap();
    let shown = [
        format!("{definition:?}"),
        serde_json::to_string(&definition).unwrap(),
        format!("{settings:?}"),
        serde_json::to_string(&settings).unwrap(),
    ];
    for shown in shown {
        assert!(!shown.contains("k-123"), "{shown}");
    }
    assert_eq!(settings.api_key.unwrap().expose(), "k-123");
}

#[test]
fn a_refused_file_is_empty_and_says_why() {
    let env = TestEnv::new();
    env.file("outside/secret.md", "secret");
    env.file("workspace/USER.md", b"\xff\xfe");
    env.file("workspace/SOUL.md", vec![b'x'; 2 * 1024 * 1024 + 1]);
    env.directory_at("workspace/IDENTITY.md");
    env.directory_at("workspace/skills");
    env.link("workspace/AGENTS.md", "../outside/secret.md");
    env.link("workspace/skills/out", "../../outside");
    env.link("workspace/MCP.md", "gone.md");
    let definition = load(&env);
    assert_eq!(
        definition.adapter_name, "openclaw",
        "a refusal is not hidden behind the fallback"
    );
    assert_eq!(definition.system_prompt, "");
    assert!(definition.skill_paths.is_empty());
    let warnings: Vec<_> = definition
        .warnings
        .iter()
        .map(AdapterWarning::to_string)
        .collect();
    insta::assert_snapshot!(env.redact(&warnings.join("\n")), @r"
    `$TEST_ENV/workspace/IDENTITY.md` is taken as empty: `$TEST_ENV/workspace/IDENTITY.md` is refused: it is not a regular file
    `$TEST_ENV/workspace/SOUL.md` is taken as empty: `$TEST_ENV/workspace/SOUL.md` is refused: it is larger than the contract reads
    `$TEST_ENV/workspace/USER.md` is taken as empty: it is not UTF-8 at byte 0
    `$TEST_ENV/workspace/AGENTS.md` is taken as empty: `$TEST_ENV/workspace/AGENTS.md` is refused: a link leads out of the workspace
    the skills in `$TEST_ENV/workspace/skills/out` are left out: `$TEST_ENV/workspace/skills/out` is refused: a link leads out of the workspace
    ");
}

#[test]
fn a_fifo_does_not_hold_up_a_load() {
    let env = TestEnv::new();
    env.files([("AGENTS.md", "R")]);
    env.fifo("workspace/SOUL.md");
    assert_eq!(load(&env).warnings.len(), 1);
}

#[test]
fn without_the_fallback_a_directory_nobody_claims_is_an_error_with_the_count() {
    let env = TestEnv::new();
    let registry = AdapterRegistry::with_built_ins();
    assert_eq!(registry.remove("atmosphere-native"), 1);
    let error = registry.load(&env.workspace()).unwrap_err();
    assert!(matches!(error, AdapterError::NoAdapter { asked: 1, .. }));
    let error = OpenClawAdapter::default()
        .load(&env.workspace())
        .unwrap_err();
    assert!(matches!(error, AdapterError::InvalidArgument { .. }));
    let error = NativeAdapter.load(Path::new("relative")).unwrap_err();
    assert!(matches!(error, AdapterError::InvalidArgument { .. }));
}

#[test]
fn adapters_come_and_go_while_others_load() {
    let env = TestEnv::new();
    env.files([("AGENTS.md", "R")]);
    let (registry, root) = (AdapterRegistry::with_built_ins(), env.workspace());
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let loads: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let mut seen = [false; 2];
                    while !done.load(Ordering::Relaxed) || seen == [false; 2] {
                        let definition = registry.load(&root).unwrap();
                        match definition.adapter_name.as_str() {
                            "custom" => seen[0] = true,
                            "openclaw" => seen[1] = true,
                            other => panic!("{other}"),
                        }
                        assert_eq!(definition.workspace_root, root);
                    }
                })
            })
            .collect();
        for _ in 0..200 {
            registry.register(Arc::new(Custom { priority: 5 }));
            assert_eq!(registry.find(&root).unwrap().name(), "custom");
            assert_eq!(registry.remove("custom"), 1);
            assert_eq!(registry.find(&root).unwrap().name(), "openclaw");
        }
        done.store(true, Ordering::Relaxed);
        for load in loads {
            load.join().unwrap();
        }
    });
    assert_eq!(registry.adapters().len(), 2);
}

#[test]
fn nested_skills_are_found_when_asked_for_and_links_make_no_wheel() {
    let env = TestEnv::new();
    env.files([
        ("AGENTS.md", "R"),
        ("skills/a/SKILL.md", "1"),
        ("skills/a/inner/SKILL.md", "2"),
        ("skills/group/b/SKILL.md", "3"),
        ("skills/group/deep/c/SKILL.md", "4"),
    ]);
    env.link("workspace/skills/group/up", "..");
    let found = |adapter: OpenClawAdapter| -> Vec<PathBuf> {
        adapter
            .load(&env.workspace())
            .unwrap()
            .skill_paths
            .iter()
            .map(|skill| skill.relative().to_path_buf())
            .collect()
    };
    assert_eq!(
        found(OpenClawAdapter::default()),
        [Path::new("skills/a/SKILL.md")]
    );
    assert_eq!(
        found(OpenClawAdapter::with_skill_depth(3)),
        [
            "skills/a/SKILL.md",
            "skills/a/inner/SKILL.md",
            "skills/group/b/SKILL.md",
            "skills/group/deep/c/SKILL.md",
        ]
        .map(PathBuf::from)
    );
}

#[test]
fn several_workspaces_make_one_agent_and_every_part_says_where_it_came_from() {
    let env = TestEnv::new();
    for (path, text) in [
        ("team/AGENTS.md", "Be kind.\n"),
        ("team/SOUL.md", "Dry."),
        ("team/PERMISSIONS.md", "deny: sink\nmessage-length: 5\n"),
        ("team/RUNTIME.md", "model: big\ntemperature: 1\n"),
        ("team/skills/calc/SKILL.md", "team"),
        ("team/skills/mail/SKILL.md", "team"),
        ("mine/AGENTS.md", "Be quick.\n"),
        ("mine/IDENTITY.md", "name: bee\n"),
        ("mine/PERMISSIONS.md", "message-length: 50\n"),
        ("mine/RUNTIME.md", "model: small\n"),
        ("mine/skills/calc/SKILL.md", "mine"),
    ] {
        env.file(path, text);
    }
    let registry = AdapterRegistry::with_built_ins();
    let definitions = ["team", "mine"].map(|name| registry.load(&env.path().join(name)).unwrap());
    let composed = compose(&definitions, Precedence::LastWins).unwrap();
    let agent = &composed.definition;
    assert_eq!(agent.name, "bee");
    assert_eq!(
        agent.system_prompt,
        "## Identity\n\nname: bee\n\n## Persona\n\nDry.\n\n## Operating rules\n\nBe kind.\n\nBe quick."
    );
    assert_eq!(
        skills::augment(None, agent)
            .prompt
            .split("\n\n")
            .skip(7)
            .collect::<Vec<_>>(),
        ["## Skill: calc", "mine", "## Skill: mail", "team"]
    );
    let settings = runtime::apply(
        agent.extensions.get("RUNTIME.md").unwrap(),
        Overrides::new(&BTreeMap::new(), &Env::default()),
        None,
    )
    .settings
    .unwrap();
    assert_eq!(
        (settings.model.as_str(), settings.temperature),
        ("small", Some(1.0))
    );
    let permissions =
        permissions::parse(agent.extensions.get("PERMISSIONS.md").unwrap(), "bee").unwrap();
    assert_eq!(permissions.policies.len(), 2);
    let ask = |message| {
        let request = PermissionRequest {
            message,
            roles: &[],
            now: jiff::Timestamp::UNIX_EPOCH,
        };
        permissions.decide(request, &CallerUsage::default())
    };
    assert_eq!(ask("longer than five"), MessageDecision::Admit);
    assert_ne!(
        ask("sink"),
        MessageDecision::Admit,
        "a denial is never lost by composing"
    );
    let calc = composed
        .provenance
        .iter()
        .find(|one| one.part == DefinitionPart::Skill("calc".to_owned()))
        .unwrap();
    assert_eq!(calc.from, [env.path().join("mine")]);
    assert_eq!(calc.hidden, [env.path().join("team")]);
    assert!(compose(&[], Precedence::FirstWins).is_none());
    let alone = compose(&definitions[..1], Precedence::FirstWins).unwrap();
    assert_eq!(
        alone.definition, definitions[0],
        "one workspace stays as it is"
    );
}

#[test]
fn a_catastrophic_pattern_refuses_instead_of_hanging() {
    let text = "a".repeat(200);
    for line in [
        r"deny-regex: ^(a|aa)+\1b",
        r"allow-regex: ((a|aa)+)\1{5}$(?<!a)",
    ] {
        let permissions = permissions::parse(line, "bee").unwrap();
        let request = PermissionRequest {
            message: &text,
            roles: &[],
            now: jiff::Timestamp::UNIX_EPOCH,
        };
        let decision = permissions.decide(request, &CallerUsage::default());
        assert!(matches!(decision, MessageDecision::Refuse { .. }), "{line}");
    }
}

#[test]
fn limits_count_what_was_let_through() {
    let permissions =
        permissions::parse("rate-limit: 2/60\nconcurrency-limit: 1\n", "bee").unwrap();
    let mut usage = CallerUsage::default();
    let at = |second: i64, usage: &mut CallerUsage| {
        let now = jiff::Timestamp::from_second(second).unwrap();
        let request = PermissionRequest {
            message: "hi",
            roles: &[],
            now,
        };
        match permissions.admit(request, usage) {
            MessageDecision::Admit => "admitted".to_owned(),
            MessageDecision::Refuse { by, .. } => by,
        }
    };
    assert_eq!(at(0, &mut usage), "admitted");
    assert_eq!(at(10, &mut usage), "workspace-concurrency-limit-bee");
    usage.finish();
    assert_eq!(at(20, &mut usage), "workspace-rate-limit-bee");
    assert_eq!(at(61, &mut usage), "admitted", "the window slides");
}

#[test]
fn a_time_window_knows_midnight_weekends_and_summer_time() {
    if !chitin_test::needs::time_zones() {
        return;
    }
    let inside = |line: &str, instant: &str| {
        let permissions = permissions::parse(&format!("time-window: {line}"), "bee").unwrap();
        let request = PermissionRequest {
            message: "hi",
            roles: &[],
            now: instant.parse().unwrap(),
        };
        permissions.decide(request, &CallerUsage::default()) == MessageDecision::Admit
    };
    assert!(inside("09:00-17:00", "2026-03-02T09:00:00Z"));
    assert!(
        !inside("09:00-17:00", "2026-03-02T17:00:00Z"),
        "the end is outside"
    );
    assert!(!inside("09:00-17:00", "2026-03-01T12:00:00Z"), "a Sunday");
    assert!(inside("22:00-06:00", "2026-03-02T23:00:00Z"));
    assert!(inside("22:00-06:00", "2026-03-02T05:59:59Z"));
    assert!(!inside("22:00-06:00", "2026-03-02T12:00:00Z"));
    assert!(inside("09:00-17:00 Europe/Paris", "2026-07-01T07:00:00Z"));
    assert!(!inside("09:00-17:00 Europe/Paris", "2026-01-07T07:00:00Z"));
}

#[test]
fn a_broken_control_fails_the_load() {
    for line in [
        "message-length: -1",
        "message-length: 99999999999",
        "rate-limit: 5",
        "rate-limit: 5/0",
        "rate-limit: 5/60/2",
        "concurrency-limit: many",
        "time-window: 9:00-17:00",
        "time-window: 09:00-09:00",
        "time-window: 09:00-17:00 Mars/Phobos",
        "time-window: always",
        "deny-regex: (",
        "allow-regex: [a",
        "deny-regex: *",
        r"deny-regex: \i",
    ] {
        assert!(permissions::parse(line, "bee").is_err(), "{line}");
    }
}

#[test]
fn settings_belong_to_one_agent() {
    let (properties, env) = (BTreeMap::new(), Env::default());
    let overrides = Overrides::new(&properties, &env);
    let first = runtime::apply("mode: local\ntemperature: 9\nstop: a,,b\n", overrides, None);
    let first_settings = first.settings.unwrap();
    assert_eq!(first_settings.endpoint, SuggestedEndpoint::Local);
    assert_eq!(
        (first_settings.temperature, first.warnings.len()),
        (Some(2.0), 1)
    );
    let second = runtime::apply("mode: local\n", overrides, None)
        .settings
        .unwrap();
    assert_eq!(second.temperature, None);
    assert_eq!(
        runtime::apply("just prose\n", overrides, None).settings,
        None
    );
}

#[test]
fn tools_of_a_server_get_a_tame_prefix() {
    let prefixes = ["Weather Now!", "--x", "日本", "a__b"].map(mcp::tool_prefix);
    assert_eq!(prefixes, ["weather_now_", "x_", "mcp_", "a_b_"]);
}

#[test]
fn the_location_is_the_setting_then_the_variable_then_the_parameter() {
    let env = Env::new("/base")
        .with("ATMOSPHERE_WORKSPACE", " /from/env ")
        .with_os_home("/home/ines");
    assert_eq!(
        location::configured(Some("/set"), &env, None).as_deref(),
        Some("/set")
    );
    assert_eq!(
        location::configured(Some(" "), &env, None).as_deref(),
        Some("/from/env")
    );
    assert_eq!(
        location::configured(None, &Env::default(), Some("p")).as_deref(),
        Some("p")
    );
    let state = |agent| location::state_directory(None, &env, agent);
    assert_eq!(
        state("bee").unwrap(),
        Some(PathBuf::from("/home/ines/.atmosphere/workspace/agents/bee"))
    );
    assert!(state("../bee").is_err());
}

/// Makes a link beneath a root, and its parents as real directories. A parent that is a link already is left alone:
/// building through it would put things outside the test's own directory.
fn make_link(root: &Path, name: &Path, target: &str) {
    let mut parent = root.to_path_buf();
    for component in name.parent().into_iter().flat_map(Path::components) {
        parent.push(component);
        match std::fs::symlink_metadata(&parent) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return,
            Err(_) => std::fs::create_dir(&parent).unwrap(),
        }
    }
    let link = root.join(name);
    if std::fs::symlink_metadata(&link).is_err() {
        std::os::unix::fs::symlink(target, link).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever links stand in a workspace, a load shows nothing from outside its root.
    #[test]
    fn no_load_reads_outside_its_root(
        names in proptest::collection::vec(
            prop::sample::select(vec![
                "AGENTS.md", "SOUL.md", "USER.md", "IDENTITY.md", "RUNTIME.md", "SKILLS.md",
                "README.md", "skills", ".agents", "skills/a", "skills/a/SKILL.md",
            ]), 1..5),
        targets in proptest::collection::vec(
            prop::sample::select(vec![
                "../outside", "../outside/secret.md", "../workspace/../outside/secret.md",
                "../../outside/secret.md", ".", "..", "/", "../outside/a", "inside.md",
            ]), 5),
    ) {
        let env = TestEnv::new();
        env.file("outside/secret.md", "SECRET");
        env.file("outside/SKILL.md", "SECRET");
        env.file("outside/a/SKILL.md", "SECRET");
        env.file("workspace/inside.md", "fine");
        for (name, target) in names.iter().zip(&targets) {
            make_link(&env.workspace(), Path::new(name), target);
        }
        let definition = AdapterRegistry::with_adapters([
            Arc::new(OpenClawAdapter::with_skill_depth(4)) as Arc<dyn WorkspaceAdapter>,
        ])
        .load(&env.workspace())
        .unwrap();
        let shown = format!("{definition:?}{}", skills::augment(None, &definition).prompt);
        prop_assert!(!shown.contains("SECRET"), "{shown}");
    }

    /// No extension file, however odd, makes a reader panic.
    #[test]
    fn readers_take_any_text(text in "(?s).{0,200}", lines in proptest::collection::vec(
        "(deny-regex|allow-regex|time-window|rate-limit|temperature|x): ?[\\PC]{0,30}", 0..4,
    )) {
        let text = format!("{text}\n{}", lines.join("\n"));
        let _ = chitin_workspace::extensions::channels::parse(&text);
        let _ = mcp::parse(&text);
        let _ = runtime::apply(&text, Overrides::new(&BTreeMap::new(), &Env::default()), None);
        if let Ok(permissions) = permissions::parse(&text, "bee") {
            let request = PermissionRequest { message: &text, roles: &[], now: jiff::Timestamp::UNIX_EPOCH };
            let _ = permissions.decide(request, &CallerUsage::default());
        }
    }
}
