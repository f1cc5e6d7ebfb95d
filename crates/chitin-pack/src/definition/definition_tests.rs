use super::*;
use crate::error::{ErrorClass, ExitKind};
use proptest::prelude::*;
use serde_json::{Value, json};

fn agent(extra: Value) -> Value {
    let mut value = json!({
        "name": "harbor-pilot", "version": "1.2.0", "description": "Guides ships.",
        "adapter": { "use": "openclaw" },
    });
    if let (Value::Object(value), Value::Object(extra)) = (&mut value, extra) {
        value.extend(extra);
    }
    value
}

fn class(kind: DocumentKind, value: &Value) -> ErrorClass {
    check(kind, value).unwrap_err().class()
}

#[test]
fn the_first_rule_that_an_agent_breaks_is_named() {
    let breaks = [
        (json!({"name": "A"}), ErrorClass::InvalidName),
        (json!({"name": 1}), ErrorClass::InvalidName),
        (json!({"version": "v1.0.0"}), ErrorClass::InvalidVersion),
        (json!({"description": ""}), ErrorClass::EmptyField),
        (json!({"adapter": null}), ErrorClass::MissingAdapter),
        (json!({"adapter": "openclaw"}), ErrorClass::MissingAdapter),
        (json!({"tags": ["a", "a"]}), ErrorClass::DuplicateTags),
        (json!({"tags": "a"}), ErrorClass::InvalidField),
        (
            json!({"packages": ["white space"]}),
            ErrorClass::InvalidReference,
        ),
        (
            json!({"secrets": [{"key": "A"}, {"key": "A"}]}),
            ErrorClass::DuplicateSecretKey,
        ),
        (
            json!({"secrets": [{"key": "A", "kind": "pin"}]}),
            ErrorClass::InvalidEnum,
        ),
        (
            json!({"secrets": [{"key": "A", "value": "hush"}]}),
            ErrorClass::InvalidField,
        ),
        (
            json!({"workspaceSources": [{"id": "a", "ref": "r", "mountPath": "/m"},
                {"id": "b", "ref": "r", "mountPath": "/m/"}]}),
            ErrorClass::DuplicateMountPath,
        ),
        (
            json!({"workspaceSources": [{"id": "a", "ref": "r", "mountPath": "m"}]}),
            ErrorClass::InvalidField,
        ),
    ];
    for (extra, expected) in breaks {
        let value = agent(extra.clone());
        assert_eq!(class(DocumentKind::Agent, &value), expected, "{extra}");
    }
    // Tags that differ in case differ.
    check(DocumentKind::Agent, &agent(json!({"tags": ["a", "A"]}))).unwrap();
}

#[test]
fn a_package_needs_no_adapter_and_carries_neither_prompt_nor_persona() {
    let package =
        json!({"name": "tides", "version": "0.1.0", "description": "Tides.", "kind": "package"});
    assert_eq!(
        Definition::parse(&package).unwrap().config,
        json!({
            "kind": "package", "name": "tides", "version": "0.1.0", "description": "Tides.", "specVersion": "1.0.0",
        })
    );
    for member in ["prompt", "persona"] {
        let mut package = package.clone();
        package[member] = json!("./x.md");
        assert_eq!(
            class(DocumentKind::Package, &package),
            ErrorClass::InvalidField
        );
    }
}

#[test]
fn the_config_holds_what_was_given_and_no_null() {
    let value = agent(json!({
        "author": "Ines", "license": null, "tags": ["sea"], "hints": {"a": null, "b": 1}, "unknown": true,
        "adapter": {"type": "t", "runtime": "r", "adapterVersion": "2.0.0", "model": null, "exact": true},
        "adapterFallback": [{"use": "generic"}],
    }));
    let config = Definition::parse(&value).unwrap().config;
    assert_eq!(config["adapterFallback"][0]["type"], "generic");
    let mut rest = config;
    rest.as_object_mut().unwrap().remove("adapterFallback");
    assert_eq!(
        rest,
        json!({
            "kind": "agent", "specVersion": "1.0.0", "name": "harbor-pilot", "version": "1.2.0",
            "description": "Guides ships.", "author": "Ines", "tags": ["sea"], "hints": {"b": 1},
            "adapter": {"type": "t", "runtime": "r", "adapterVersion": "2.0.0", "config": {"exact": true}},
        })
    );
}

#[test]
fn options_of_the_reader_are_kept_wherever_they_stand_and_what_is_not_used_is_said() {
    let beside = agent(json!({
        "adapter": {"use": "openclaw", "model": "m", "writeMemory": false, "options": {"exact": false}},
    }));
    let read = Definition::parse(&beside).unwrap();
    assert_eq!(read.warnings, []);
    assert_eq!(read.config["adapter"]["model"], "m");
    assert_eq!(
        read.config["adapter"]["config"],
        json!({"exact": false, "writeMemory": false})
    );
    let odd = agent(json!({
        "adapter": {"use": "openclaw", "options": {"writeSkils": false, "workspaceRoot": "/x"}},
    }));
    let said = Definition::parse(&odd).unwrap().warnings;
    let said: Vec<&str> = said
        .iter()
        .map(|warning| warning.message.as_str())
        .collect();
    assert_eq!(
        said,
        [
            "`adapter.workspaceRoot` is not used: the directory is chosen when the artifact is laid out",
            "`adapter.writeSkils` is not used: did you mean `writeSkills`?",
        ]
    );
    let wrong = agent(json!({"adapter": {"use": "openclaw", "exact": "yes"}}));
    let error = Definition::parse(&wrong).unwrap_err();
    assert_eq!(error.class(), ErrorClass::InvalidField);
}

#[test]
fn a_build_with_a_wrong_definition_ends_like_a_build_that_failed() {
    let entry = DefinitionFile {
        file: "agent.json".into(),
        project: ".".into(),
        value: json!({"name": "Bad Name"}),
    };
    let error = entry.definition().unwrap_err();
    assert_eq!(
        (error.class(), error.exit()),
        (ErrorClass::InvalidName, ExitKind::Local)
    );
    assert_eq!(
        Definition::parse(&entry.value).unwrap_err().exit(),
        ExitKind::Input
    );
}

#[test]
fn a_whole_config_leaves_secrets_state_and_machine_paths_behind() {
    let config = json!({
        "agents": {"defaults": {"model": "m-large", "workspace": "/home/ines/ws", "maxTokens": 4096}},
        "gateway": {"port": 18789, "auth": {"mode": "token", "token": "hush"}},
        "channels": {"slack": {"botToken": "hush", "signing_secret": "hush", "enabled": true}},
        "models": {"providers": {"x": {"apiKey": "hush", "baseUrl": "https://x.example/v1"}}},
        "oauth": {"x": {"access": "hush"}}, "sessions": [1], "meta": {"lastTouchedAt": "now"},
        "logging": {"file": "/var/log/x"}, "paths": ["~/a", "C:\\b", "relative/c"],
    });
    assert_eq!(
        portable(&config),
        json!({
            "agents": {"defaults": {"model": "m-large", "maxTokens": 4096}},
            "gateway": {"port": 18789, "auth": {"mode": "token"}},
            "channels": {"slack": {"enabled": true}},
            "models": {"providers": {"x": {"baseUrl": "https://x.example/v1"}}},
            "paths": ["relative/c"],
        })
    );
}

fn any_json() -> impl Strategy<Value = Value> {
    let word = prop_oneof![
        Just("name"),
        Just("version"),
        Just("adapter"),
        Just("use"),
        Just("secrets"),
        Just("key"),
        Just("token"),
        Just("apiKey"),
        Just("openclaw"),
        Just("packages"),
        Just("servers"),
        Just("agents"),
        Just("tags"),
        Just("workspaceSources"),
        Just("prompt"),
        Just("kind"),
        Just("package"),
        Just("1.0.0"),
        Just("")
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        word.clone().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((word.clone(), inner), 0..6).prop_map(|members| members
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect()),
        ]
    })
}

proptest! {
    #[test]
    fn what_may_travel_never_holds_a_secret_member(value in any_json()) {
        prop_assert_eq!(secret_in(&portable(&value)), None);
        prop_assert_eq!(portable(&portable(&value)), portable(&value));
    }

    #[test]
    fn a_complete_document_is_complete(value in any_json()) {
        for kind in DocumentKind::ALL {
            if let Ok(complete) = check(kind, &value) {
                prop_assert_eq!(check(kind, &complete).unwrap(), complete);
            }
        }
    }
}
