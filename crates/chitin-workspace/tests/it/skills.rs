//! Skills: what is read, from where, who wins, and what is said about the rest.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use chitin_config::env::Env;
use chitin_contract::{Contract, OPENCLAW_2026_4, OPENCLAW_2026_9, SkillRules, SkillSource};
use chitin_test::TestEnv;
use chitin_workspace::skills::{
    AllowList, DiscoverOptions, Eligibility, Metadata, SkillPlaces, SkillSet, discover,
    find_invocation, parse_front_matter, skill_commands,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;

fn skill_file(name: &str, description: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\n\n# {name}\n")
}

fn places(env: &TestEnv) -> SkillPlaces {
    SkillPlaces {
        workspace: env.workspace(),
        home: Some(env.home()),
        state: Some(env.home().join(".openclaw")),
        bundled: Some(env.path().join("bundled")),
        working_directory: env.path(),
        ..SkillPlaces::default()
    }
}

fn find(env: &TestEnv, contract: &Contract, config: &Value) -> SkillSet {
    discover(
        &places(env),
        config,
        &contract.skills,
        &DiscoverOptions::default(),
    )
}

/// Says what was found in lines that can be compared.
fn tell(env: &TestEnv, set: &SkillSet) -> String {
    let mut out = String::new();
    for skill in &set.skills {
        let _ = writeln!(out, "{} <- {}", skill.name, skill.file.display());
    }
    for lost in &set.shadowed {
        let _ = writeln!(
            out,
            "shadowed: {} <- {} by {}",
            lost.skill.name,
            lost.skill.file.display(),
            lost.by
        );
    }
    for problem in &set.problems {
        let _ = writeln!(out, "{problem}");
    }
    env.redact(&out)
}

/// Reads the front matter and says what came out, or the code.
fn read(block: &str, rules: &SkillRules) -> String {
    match parse_front_matter(&format!("---\n{block}\n---\nbody\n"), rules) {
        Ok(parsed) => serde_json::to_string(&parsed.values).unwrap(),
        Err(error) => format!("{} at line {}", error.code, error.line),
    }
}

#[test]
fn a_flaw_that_no_quoting_repairs_is_placed_in_the_line_as_written() {
    let line = "description:\"\"\"\u{7f}";
    let text = format!("---\nname: a\n{line}\n---\n");
    let error = parse_front_matter(&text, &SkillRules::B).unwrap_err();
    assert_eq!(error.line, 3);
    assert!(error.column <= line.chars().count() + 1, "{error:?}");
}

#[test]
fn yaml_wins_key_by_key_and_lines_fill_the_gaps() {
    let block = "name: ' tide '\nflag: yes\noctal: 010\nbig: 1e3\nhalf: 1.50\nnothing: ~\nempty:\n\
                 tags: [a, 2, {b: null}]\nmeta: {\"a\": [1,2]}\nfolded: >\n  one\n  two\n\
                 multi:\n  k: .inf\n  2: x\n";
    insta::assert_snapshot!(read(block, &SkillRules::A), @r#"{"name":"tide","flag":"yes","octal":"10","big":"1000","half":"1.5","tags":"[a, 2, {b: null}]","meta":"{\"a\": [1,2]}","folded":"one two","multi":"{\"2\":\"x\",\"k\":null}","nothing":"~"}"#);
    assert_eq!(read(block, &SkillRules::A), read(block, &SkillRules::B));
}

#[test]
fn what_is_not_well_formed_is_read_by_line_or_refused_with_a_code() {
    let mut told = String::new();
    for block in [
        "name: a\nname: b",
        "name: a\n\tindented: b",
        "- a\n- b",
        "just text",
        "# only a comment",
        "name: a\nloose words\nmore: b",
        "name: a\nloose words",
        "name: a: b",
        "name: \"open\nmore: b",
        "name: @handle",
        "name: *nowhere",
        "name: 'a' b",
        "meta:\n{\n  \"a\": 1\n}",
        "meta: {\n  \"a\": 1\n}",
        "meta: {\"a\": 1",
        "name: \"\\q\"",
        "a: 1\n...\nb: 2",
    ] {
        let _ = writeln!(
            told,
            "{block:?}\n  A {}\n  B {}",
            read(block, &SkillRules::A),
            read(block, &SkillRules::B)
        );
    }
    insta::assert_snapshot!(told);
}

#[test]
fn a_strict_contract_quotes_the_line_that_breaks_the_block() {
    let mut told = String::new();
    for block in [
        "description: Use when: the tide is low\nsummary: first: second\nread_when: a: b",
        "description: *starred* words",
        "description: *alias",
        "description: He said \"hi\": twice",
        "description: 'it's here'",
        "description: \"never closed",
        "description: \"never closed\nname: x",
        "description: [draft] of a text",
        "description: @handle",
        "summary: @handle",
        "title: a: b",
    ] {
        let _ = writeln!(told, "{}", read(block, &SkillRules::B));
    }
    insta::assert_snapshot!(told);
}

#[test]
fn fences_are_lenient_or_strict() {
    let told: Vec<String> = [
        "---\nname: a\n---tail\n",
        "\u{feff}---\nname: a\n---\n",
        "---  \r\nname: a\r\n--- \r\n",
        "---\nname: a\n",
        "---",
        "",
    ]
    .into_iter()
    .map(|text| {
        let show = |rules| match parse_front_matter(text, rules) {
            Ok(parsed) => serde_json::to_string(&parsed.values).unwrap(),
            Err(error) => error.code.to_owned(),
        };
        format!("{} | {}", show(&SkillRules::A), show(&SkillRules::B))
    })
    .collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    {"name":"a"} | UNTERMINATED_FRONTMATTER
    {} | {"name":"a"}
    {"name":"a"} | {"name":"a"}
    {} | UNTERMINATED_FRONTMATTER
    {} | {}
    {} | {}
    "#);
}

#[test]
fn metadata_keeps_what_is_safe_to_install() {
    let block = r#"metadata:
  {openclaw: {os: "linux, darwin", install: [
    {type: "BREW", cask: "some/tap@1"}, {kind: "brew", formula: "../up"},
    {kind: "node", package: "@scope/name@^1.0.0"}, {kind: "node", package: "@scope/name@1.0.0+b"},
    {kind: "go", module: "https://x"}, {kind: "uv", package: "ruff>=0.4"},
    {kind: "download", url: "HTTPS://Example.Invalid:443/a/../b", sha256: "12"},
    {kind: "download", url: "ftp://example.invalid"}, {kind: "apt"}]}}"#;
    let show = |rules| {
        let parsed = parse_front_matter(&format!("---\n{block}\n---\n"), rules).unwrap();
        let metadata = Metadata::from_front_matter(&parsed.values, rules).unwrap();
        serde_json::to_string(&metadata).unwrap()
    };
    insta::assert_snapshot!(format!("{}\n{}", show(&SkillRules::A), show(&SkillRules::B)), @r#"
    {"os":["linux","darwin"],"install":[{"kind":"brew","formula":"some/tap@1"},{"kind":"node","package":"@scope/name@1.0.0+b"},{"kind":"uv","package":"ruff>=0.4"},{"kind":"download","url":"https://example.invalid/b"}]}
    {"os":["linux","darwin"],"install":[{"kind":"brew","formula":"some/tap@1"},{"kind":"node","package":"@scope/name@1.0.0+b"},{"kind":"uv","package":"ruff>=0.4"}]}
    "#);
}

#[test]
fn the_nearest_source_wins_and_the_losers_are_named() {
    let env = TestEnv::new();
    for (place, name) in [
        ("workspace/skills", "tide"),
        ("workspace/.agents/skills", "tide"),
        ("home/.openclaw/skills", "tide"),
        ("bundled", "harbour"),
        ("more", "harbour"),
        ("workspace/skills", "Wharf"),
    ] {
        env.file(
            &format!("{place}/{name}/SKILL.md"),
            skill_file(name, &format!("from {place}")),
        );
    }
    let config = json!({ "skills": { "load": { "extraDirs": ["more"] } } });
    let set = find(&env, &chitin_contract::CANONICAL, &config);
    insta::assert_snapshot!(tell(&env, &set), @"
    Wharf <- $TEST_ENV/workspace/skills/Wharf/SKILL.md
    harbour <- $TEST_ENV/bundled/harbour/SKILL.md
    tide <- $TEST_ENV/workspace/skills/tide/SKILL.md
    shadowed: harbour <- $TEST_ENV/more/harbour/SKILL.md by openclaw-bundled
    shadowed: tide <- $TEST_ENV/home/.openclaw/skills/tide/SKILL.md by openclaw-workspace
    shadowed: tide <- $TEST_ENV/workspace/.agents/skills/tide/SKILL.md by openclaw-workspace
    ");
    let dictionary = find(&env, &OPENCLAW_2026_4, &config);
    let names: Vec<_> = dictionary.skills.iter().map(|skill| &*skill.name).collect();
    assert_eq!(names, ["harbour", "tide", "Wharf"]);
}

#[test]
fn a_broken_skill_is_reported_and_stops_no_other() {
    let env = TestEnv::new();
    env.files([
        ("skills/good/SKILL.md", "---\ndescription: fine\n---\n"),
        ("skills/mute/SKILL.md", "---\nname: mute\n---\n"),
        (
            "skills/twice/SKILL.md",
            "---\ndescription: a\nx: 1\nx: 2\n---\n",
        ),
        ("skills/huge/SKILL.md", &"x".repeat(300_000)),
        ("outside/SKILL.md", &skill_file("outside", "elsewhere")),
        (
            "skills/linked/body.md",
            &skill_file("linked", "behind a link"),
        ),
        ("skills/empty/readme.txt", "no skill"),
        (
            "skills/cut/SKILL.md",
            "---\ndescription: d\nmetadata: {openclaw:\n  {}}\n---\n",
        ),
    ]);
    env.link("workspace/skills/linked/SKILL.md", "body.md");
    env.link("workspace/skills/away", "../outside");
    env.link("workspace/skills/again", "good");
    env.link("workspace/skills/dangling", "nowhere");
    env.directory_at("workspace/skills/pipe");
    env.fifo("workspace/skills/pipe/SKILL.md");
    env.directory_at("workspace/skills/directory/SKILL.md");
    let config = json!({});
    insta::assert_snapshot!(tell(
        &env,
        &find(&env, &chitin_contract::CANONICAL, &config)
    ));
    insta::assert_snapshot!(tell(&env, &find(&env, &OPENCLAW_2026_9, &config)));
}

#[test]
fn groups_are_searched_as_deep_as_the_contract_or_the_caller_says() {
    let env = TestEnv::new();
    env.files([
        ("skills/sea/tide/SKILL.md", &skill_file("tide", "d")),
        ("skills/sea/deep/er/SKILL.md", &skill_file("er", "d")),
        ("skills/top/SKILL.md", &skill_file("top", "d")),
        ("skills/top/inner/SKILL.md", &skill_file("inner", "d")),
    ]);
    let names = |contract: &Contract, group_depth: Option<usize>| -> Vec<String> {
        let options = DiscoverOptions {
            group_depth,
            ..DiscoverOptions::default()
        };
        discover(&places(&env), &json!({}), &contract.skills, &options)
            .skills
            .into_iter()
            .map(|skill| skill.name)
            .collect()
    };
    assert_eq!(
        names(&chitin_contract::CANONICAL, None),
        ["er", "tide", "top"]
    );
    assert_eq!(names(&chitin_contract::CANONICAL, Some(2)), ["tide", "top"]);
    assert_eq!(names(&chitin_contract::CANONICAL, Some(1)), ["top"]);
    assert_eq!(names(&chitin_contract::ATMOSPHERE, None), ["top"]);
    assert_eq!(names(&OPENCLAW_2026_4, None), ["top"]);
    assert_eq!(names(&OPENCLAW_2026_9, None), ["er", "tide", "top"]);
}

#[test]
fn groups_count_together_and_a_cut_is_said() {
    let env = TestEnv::new();
    for number in 0..6 {
        let name = format!("s{number}");
        let path = format!("workspace/skills/g{}/{name}/SKILL.md", number % 3);
        env.file(&path, skill_file(&name, "d"));
    }
    let config = json!({ "skills": { "limits": { "maxSkillsLoadedPerSource": 4 } } });
    let set = find(&env, &chitin_contract::CANONICAL, &config);
    assert_eq!(set.skills.len(), 4);
    let said: Vec<&str> = set
        .problems
        .iter()
        .map(|problem| &*problem.message)
        .collect();
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].starts_with("The root holds more than 4 skills;"),
        "{said:?}"
    );
}

#[test]
fn limits_are_kept_and_said() {
    let env = TestEnv::new();
    for number in 0..5 {
        env.file(
            &format!("workspace/skills/s{number}/SKILL.md"),
            skill_file(&format!("s{number}"), "d"),
        );
    }
    let config = json!({ "skills": { "limits": { "maxSkillsLoadedPerSource": 2 } } });
    insta::assert_snapshot!(tell(&env, &find(&env, &OPENCLAW_2026_4, &config)), @"
    s0 <- $TEST_ENV/workspace/skills/s0/SKILL.md
    s1 <- $TEST_ENV/workspace/skills/s1/SKILL.md
    $TEST_ENV/workspace/skills: warning: The directory holds 5 directories; only the first 2 are looked at. [truncated]
    ");
    assert_eq!(find(&env, &OPENCLAW_2026_9, &config).skills.len(), 2);
}

#[test]
fn very_many_skills_come_in_the_same_order() {
    let env = TestEnv::new();
    let count = 700;
    for number in 0..count {
        let text = match number % 100 {
            0 => "---\nname: mute\n---\n".to_owned(),
            _ => skill_file(&format!("s{number:03}"), "d"),
        };
        env.file(&format!("workspace/skills/d{number:03}/SKILL.md"), text);
    }
    let options = DiscoverOptions {
        max_skills_per_source: Some(count),
        max_candidates_per_root: Some(count),
        ..DiscoverOptions::default()
    };
    let set = discover(
        &places(&env),
        &json!({}),
        &chitin_contract::CANONICAL.skills,
        &options,
    );
    let names: Vec<_> = set.skills.iter().map(|skill| skill.name.clone()).collect();
    let expected: Vec<_> = (0..count)
        .filter(|number| number % 100 != 0)
        .map(|number| format!("s{number:03}"))
        .collect();
    assert_eq!(names, expected);
    let mute: Vec<_> = set.problems.iter().map(|problem| &problem.path).collect();
    assert!(mute.len() == 7 && mute.is_sorted());
}

#[test]
fn links_may_leave_only_where_the_contract_and_configuration_say_so() {
    let env = TestEnv::new();
    env.file("shared/pool/SKILL.md", skill_file("pool", "shared"));
    env.link("workspace/skills", env.path().join("nowhere"));
    env.directory_at("workspace/.agents/skills");
    env.link(
        "workspace/.agents/skills/pool",
        env.path().join("shared/pool"),
    );
    let open = json!({ "skills": { "load": { "allowSymlinkTargets": ["shared"] } } });
    assert_eq!(find(&env, &OPENCLAW_2026_9, &json!({})).skills.len(), 0);
    assert_eq!(find(&env, &OPENCLAW_2026_9, &open).skills.len(), 1);
    assert_eq!(find(&env, &OPENCLAW_2026_4, &open).skills.len(), 0);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the kit makes no hard links")]
fn bundled_and_plugin_files_may_not_have_a_second_name() {
    let env = TestEnv::new();
    let text = skill_file("twin", "two names");
    for place in ["bundled/twin", "plugin/twin", "workspace/skills/twin"] {
        let file = env.file(&format!("{place}/SKILL.md"), &text);
        std::fs::hard_link(&file, file.with_extension("copy")).unwrap();
    }
    let places = SkillPlaces {
        plugins: vec![env.path().join("plugin")],
        ..places(&env)
    };
    let refused = |contract: &Contract| {
        let rules = &contract.skills;
        discover(&places, &json!({}), rules, &DiscoverOptions::default())
            .problems
            .iter()
            .map(|problem| problem.source)
            .collect::<Vec<_>>()
    };
    assert_eq!(refused(&OPENCLAW_2026_4), []);
    assert_eq!(
        refused(&OPENCLAW_2026_9),
        [SkillSource::Extra, SkillSource::Bundled]
    );
}

#[test]
fn every_reason_against_a_skill_is_given() {
    let member = json!({
        "os": ["darwin"], "skillKey": "tide-key",
        "requires": { "bins": ["no-such-program"], "anyBins": ["a", "b"], "env": ["KEY"], "config": ["a.b"] }
    });
    let metadata = Metadata::from_member(member.as_object().unwrap(), &SkillRules::A);
    let config = json!({ "skills": {
        "entries": { "tide-key": { "enabled": false } }, "allowBundled": ["other"]
    } });
    let env = Env::new("/").with("PATH", "/nonexistent:");
    let reasons: Vec<String> = Eligibility::new(&env, &config, &SkillRules::A)
        .on_platform("linux")
        .judge_parts("tide", SkillSource::Bundled, Some(&metadata))
        .iter()
        .map(ToString::to_string)
        .collect();
    insta::assert_snapshot!(reasons.join("\n"), @"
    `skills.entries.tide-key.enabled` is false
    `skills.allowBundled` does not list `tide-key`
    made for `darwin`, this is `linux`
    `no-such-program` is not on PATH
    none of `a`, `b` is on PATH
    `KEY` is not set
    `a.b` is not set in configuration
    ");
}

#[test]
fn a_session_adds_and_removes_by_key_where_the_contract_knows_it() {
    let config = json!({ "agents": { "list": [{ "id": "Main", "skills": [" tide ", ""] }] } });
    let wishes = BTreeMap::from([("tide".to_owned(), false), ("wharf".to_owned(), true)]);
    let allows = |contract: &Contract| {
        let list = AllowList::for_agent(&config, "main", contract);
        let list = list.with_session(wishes.clone(), contract);
        (
            list.allows_name("tide", "tide"),
            list.allows_name("Wharf", "wharf"),
        )
    };
    assert_eq!(allows(&OPENCLAW_2026_4), (true, false));
    assert_eq!(allows(&OPENCLAW_2026_9), (false, true));
}

#[test]
fn commands_are_named_after_skills_and_found_by_either_name() {
    let env = TestEnv::new();
    let long = "a".repeat(40);
    env.files([
        ("skills/one/SKILL.md", &skill_file("Noise Report", "d")),
        ("skills/two/SKILL.md", &skill_file("noise_report", "d")),
        ("skills/three/SKILL.md", &skill_file(&long, "d")),
        (
            "skills/four/SKILL.md",
            "---\nname: shell\ndescription: d\ncommand-dispatch: Tool\ncommand_tool: exec\n---\n",
        ),
        (
            "skills/five/SKILL.md",
            "---\nname: private\ndescription: d\nuser-invocable: off\n---\n",
        ),
    ]);
    let set = find(&env, &chitin_contract::CANONICAL, &json!({}));
    let commands = skill_commands(&set.skills, &["SHELL"], &chitin_contract::CANONICAL.skills);
    let told: Vec<String> = commands
        .iter()
        .map(|command| serde_json::to_string(command).unwrap())
        .collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    {"name":"noise_report","skillName":"Noise Report","description":"d"}
    {"name":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","skillName":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","description":"d"}
    {"name":"noise_report_2","skillName":"noise_report","description":"d"}
    {"name":"shell_2","skillName":"shell","description":"d","dispatch":{"kind":"tool","toolName":"exec","argMode":"raw"}}
    "#);
    let found = |body| {
        find_invocation(body, &commands).map(|found| (found.command.name.clone(), found.args))
    };
    assert_eq!(
        found(" /Noise_Report_2  now  "),
        Some(("noise_report_2".to_owned(), Some("now".to_owned())))
    );
    assert_eq!(
        found("/skill noise-report"),
        Some(("noise_report".to_owned(), None))
    );
    assert_eq!(found("/noise-report"), None);
    assert_eq!(found("/skill"), None);
}

/// Lines that front matter is made of, well formed and not.
fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("---".to_owned()),
        "[a-z]{1,4}: [ -~é\t]{0,12}",
        "[ \t]{0,3}[-?:&*!|>{}\\[\\]\"'#%@`,a-z0-9 ]{0,10}",
        "description: [ -~]{0,12}",
        any::<String>().prop_map(|text| text.replace('\n', " ")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn front_matter_never_panics_and_leniency_never_fails(lines in prop::collection::vec(line(), 0..12)) {
        let text = format!("---\n{}\n---\n", lines.join("\n"));
        prop_assert!(parse_front_matter(&text, &SkillRules::A).is_ok());
        for rules in [&SkillRules::A, &SkillRules::B] {
            if let Ok(parsed) = parse_front_matter(&text, rules) {
                let _ = Metadata::from_front_matter(&parsed.values, rules);
            }
        }
    }

    #[test]
    fn discovery_never_returns_a_file_outside_its_root(
        links in prop::collection::vec((0_usize..6, 0_usize..8), 0..6)
    ) {
        let env = TestEnv::new();
        env.file("secret/SKILL.md", skill_file("secret", "outside"));
        env.file("workspace/skills/real/SKILL.md", skill_file("real", "inside"));
        env.directory_at("workspace/skills/group");
        let places_for_links = [
            "skills/a", "skills/b", "skills/group/c", "skills/skills", "skills/real/d", "skills/e",
        ];
        let targets = [
            "../../secret", "..", "/", "real", "../skills", "group", "../../secret/SKILL.md", "a",
        ];
        for (place, target) in links {
            let path = env.workspace().join(places_for_links[place]);
            let _ = std::os::unix::fs::symlink(targets[target], path);
        }
        for contract in chitin_contract::ALL {
            for skill in find(&env, contract, &json!({})).skills {
                prop_assert_eq!(&skill.name, "real", "{} took {}", contract.name, skill.file.display());
            }
        }
    }
}

#[test]
fn skills_that_a_link_brings_in_from_outside_are_pointed_out_and_not_used_by_default() {
    let env = TestEnv::new();
    env.file("elsewhere/two/SKILL.md", skill_file("two", "theirs"));
    env.file("workspace/shared/one/SKILL.md", skill_file("one", "ours"));
    env.directory_at("workspace/.agents");
    env.link("workspace/.agents/skills", "../shared");
    env.link("workspace/skills", "../elsewhere");
    for (contract, used) in [
        (&chitin_contract::CANONICAL, 1),
        (&chitin_contract::OPENCLAW_2026_4, 2),
    ] {
        let set = find(&env, contract, &Value::Null);
        let pointed_out: Vec<_> = set.problems.iter().map(|p| (p.code, p.source)).collect();
        assert_eq!(
            pointed_out,
            [("root-outside-workspace", SkillSource::Workspace)]
        );
        assert_eq!(set.skills.len(), used, "{}", contract.name);
    }
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the test changes the tree behind the program's back"
)]
fn a_root_that_is_swapped_for_a_link_while_it_is_searched_gives_nothing_from_outside() {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, Instant};
    let env = TestEnv::new();
    env.file("elsewhere/two/SKILL.md", skill_file("two", "theirs"));
    env.file(
        "elsewhere/group/three/SKILL.md",
        skill_file("three", "theirs"),
    );
    env.file("workspace/skills/one/SKILL.md", skill_file("one", "ours"));
    env.file(
        "workspace/skills/group/four/SKILL.md",
        skill_file("four", "ours"),
    );
    let over = AtomicBool::new(false);
    let (skills, aside) = (
        env.workspace().join("skills"),
        env.workspace().join("aside"),
    );
    let outside = env.path().join("elsewhere");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // The root, and a group in it, in turns.
            let pairs = [
                (skills.clone(), outside.clone()),
                (skills.join("group"), outside.join("group")),
            ];
            while !over.load(Ordering::Relaxed) {
                for (place, target) in &pairs {
                    let _ = std::fs::rename(place, &aside);
                    let _ = std::os::unix::fs::symlink(target, place);
                    std::thread::yield_now();
                    let _ = std::fs::remove_file(place);
                    let _ = std::fs::rename(&aside, place);
                }
            }
        });
        let until = Instant::now() + Duration::from_secs(3);
        let mut searched = 0;
        let mut taken = Vec::new();
        while Instant::now() < until && searched < 20_000 {
            for skill in find(&env, &chitin_contract::CANONICAL, &Value::Null).skills {
                if !matches!(skill.name.as_str(), "one" | "four") {
                    taken.push((searched, skill.name.clone()));
                }
            }
            searched += 1;
        }
        over.store(true, Ordering::Relaxed);
        assert_eq!(taken, [], "of {searched}");
    });
}
