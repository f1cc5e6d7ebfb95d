//! A plugin as an adapter: claims, definitions, the order, adding and removing.

use crate::lab::Lab;
use chitin_plugin::PluginFault;
use chitin_test::needs;
use chitin_workspace::adapter::{AdapterError, SkillPath};

const CLAIMS: &str = r#"
def answer(method, params, id):
    if method == "adapter/supports": return {"supports": os.path.exists(params["root"] + "/agent.txt")}
    if method == "adapter/load": return {"name": "Ada", "operatingRules": open(params["root"] + "/agent.txt").read()}
"#;

#[test]
fn the_example_adapter_makes_a_definition_of_a_directory() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let lab = Lab::new();
    lab.reload([lab.example("prompt", "prompt_adapter.py")]);
    let workspace = lab.env.workspace();
    lab.env.files([
        ("PROMPT.md", "# Lighthouse\n\nAnswer briefly.\n"),
        ("STYLE.md", "Warm.\n"),
        ("skills/tides/SKILL.md", "---\nname: tides\n---\n"),
    ]);
    let agent = lab.registry().load(&workspace).unwrap();
    assert_eq!(agent.name, "Lighthouse");
    assert_eq!(agent.adapter_name, "prompt");
    assert_eq!(agent.workspace_root, workspace);
    assert!(agent.system_prompt.contains("Answer briefly."));
    assert_eq!(agent.persona, "Warm.\n");
    let skills: Vec<_> = agent.skill_paths.iter().map(SkillPath::path).collect();
    assert_eq!(skills, [workspace.join("skills/tides/SKILL.md")]);
    assert_eq!(lab.notes(), []);
}

#[test]
fn a_directory_that_a_plugin_does_not_claim_goes_to_the_built_in_adapters() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let lab = Lab::with(CLAIMS);
    lab.env.files([("README.md", "Plain.\n")]);
    let agent = lab.registry().load(&lab.env.workspace()).unwrap();
    assert_eq!(agent.adapter_name, "atmosphere-native");
    assert_eq!(lab.notes(), []);
}

#[test]
fn the_priority_is_what_the_plugin_says_unless_the_settings_say_it() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let early = format!("HELLO['adapter'] = {{'priority': 1}}\n{CLAIMS}");
    let files = [
        ("AGENTS.md", "Of OpenClaw.\n"),
        ("agent.txt", "Of the plugin.\n"),
    ];
    for (script, set, winner) in [
        (CLAIMS, None, "openclaw"),
        (&*early, None, "p"),
        (&*early, Some(500), "openclaw"),
        (CLAIMS, Some(-1), "p"),
    ] {
        let lab = Lab::with_settings(script, |settings| {
            settings.sandbox = Some(false);
            settings.priority = set;
        });
        lab.env.files(files);
        let agent = lab.registry().load(&lab.env.workspace()).unwrap();
        assert_eq!(agent.adapter_name, winner, "{set:?}");
    }
}

#[test]
fn a_plugin_whose_priority_is_set_is_not_started_where_an_earlier_adapter_claims() {
    let lab = Lab::with_settings(
        "open(os.environ['TMPDIR'] + '/../../../started', 'w')",
        |settings| {
            settings.sandbox = Some(false);
            settings.priority = Some(20);
        },
    );
    lab.env.files([("AGENTS.md", "Of OpenClaw.\n")]);
    let agent = lab.registry().load(&lab.env.workspace()).unwrap();
    assert_eq!(agent.adapter_name, "openclaw");
    let status = lab.set.status("p").unwrap();
    assert!(status.handshake.is_none(), "{status:?}");
}

#[test]
fn a_load_that_fails_uses_the_last_good_definition_and_else_the_next_adapter() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let lab = Lab::with(
        r#"
def answer(method, params, id):
    if method == "adapter/supports": return {"supports": True}
    if method == "adapter/load":
        if os.path.exists(params["root"] + "/broken"): return {"operatingRules": ["half"]}
        return {"operatingRules": "Whole."}
"#,
    );
    lab.env.files([("broken", ""), ("README.md", "Plain.\n")]);
    let registry = lab.registry();
    let agent = registry.load(&lab.env.workspace()).unwrap();
    assert_eq!(
        agent.adapter_name, "atmosphere-native",
        "there is no good answer yet"
    );
    let notes = lab.notes();
    assert_eq!(notes.len(), 1, "{notes:?}");
    let said = notes[0].to_string();
    assert!(
        said.contains("`p`") && said.contains("adapter/load"),
        "{said}"
    );
    assert!(said.contains("Other adapters are asked."), "{said}");

    lab.remove("workspace/broken");
    std::thread::sleep(std::time::Duration::from_millis(700));
    let agent = registry.load(&lab.env.workspace()).unwrap();
    assert_eq!(
        (&*agent.adapter_name, &*agent.operating_rules),
        ("p", "Whole.")
    );
    lab.env.files([("broken", "")]);
    let again = registry.load(&lab.env.workspace()).unwrap();
    assert_eq!(again, agent, "the last good answer");
    let said = lab.notes()[0].to_string();
    assert!(said.contains("Its last good answer is used."), "{said}");
}

#[test]
fn definitions_that_reach_outside_or_are_empty_are_refused() {
    for (answer, why) in [
        (
            r#"{"operatingRules": "x", "skills": ["../x/SKILL.md"]}"#,
            "beneath",
        ),
        (
            r#"{"operatingRules": "x", "skills": ["/etc/passwd"]}"#,
            "beneath",
        ),
        (r#"{"operatingRules": "x", "skills": [""]}"#, "beneath"),
        (
            r#"{"operatingRules": "x", "extensions": {"AGENTS.md": "y"}}"#,
            "extensions",
        ),
        (r#"{"operatingRules": "x", "name": "a\nb"}"#, "name"),
        (
            r#"{"operatingRules": "x", "sytemPrompt": "y"}"#,
            "unknown field",
        ),
        (r#"{"operatingRules": 5}"#, "invalid type"),
        (r#"{"operatingRules": "  "}"#, "no text"),
        ("{}", "no text"),
        ("[]", "invalid"),
    ] {
        let value = serde_json::from_str(answer).unwrap();
        let root = std::path::Path::new("/w");
        let error = chitin_plugin::protocol::definition(value, root, "p").unwrap_err();
        assert!(error.contains(why), "{answer}: {error}");
    }
}

#[test]
fn plugins_are_added_and_removed_while_the_registry_is_in_use() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let lab = Lab::new();
    lab.env.files([("PROMPT.md", "Rules.\n")]);
    let registry = lab.registry();
    let workspace = lab.env.workspace();
    assert_eq!(
        registry.load(&workspace).unwrap().adapter_name,
        "atmosphere-native"
    );

    let example = lab.example("prompt", "prompt_adapter.py");
    lab.reload([example.clone()]);
    lab.set.update_adapters(&registry);
    assert_eq!(registry.load(&workspace).unwrap().adapter_name, "prompt");
    let held = registry.find(&workspace).unwrap();

    // The same settings again: the process stays.
    lab.reload([example]);
    lab.set.update_adapters(&registry);
    assert_eq!(registry.adapters().len(), 3);
    assert_eq!(registry.load(&workspace).unwrap().adapter_name, "prompt");

    lab.reload::<String>([]);
    lab.set.update_adapters(&registry);
    assert_eq!(
        registry.load(&workspace).unwrap().adapter_name,
        "atmosphere-native"
    );
    assert!(lab.set.status("prompt").is_none());
    // Whoever still holds it starts nothing.
    let error = held.load(&workspace);
    assert!(
        error.is_ok() || matches!(error, Err(AdapterError::Unavailable { .. })),
        "{error:?}"
    );
    assert_eq!(lab.notes(), []);
}

#[test]
fn a_plugin_without_an_adapter_claims_nothing_and_is_not_reported() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let lab = Lab::with("HELLO['offers'] = ['contextEngine', 'channel']");
    lab.env.files([("README.md", "Plain.\n")]);
    assert_eq!(
        lab.registry()
            .load(&lab.env.workspace())
            .unwrap()
            .adapter_name,
        "atmosphere-native"
    );
    assert_eq!(lab.faults(), Vec::<PluginFault>::new());
}
