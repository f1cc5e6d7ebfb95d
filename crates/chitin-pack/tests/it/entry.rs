//! Finding definitions, and everything that is wrong with them.

use crate::project::{Project, files};
use chitin_pack::ErrorClass;
use chitin_pack::definition::{DefinitionFile, DefinitionFinding, validate};
use serde_json::json;

fn class(project: &Project, named: Option<&str>) -> ErrorClass {
    DefinitionFile::load(&project.path(), named)
        .unwrap_err()
        .class()
}

#[test]
fn the_only_definition_is_found_and_several_are_not_chosen_from() {
    let project = Project::new(files(&[("a.txt", "x")]));
    assert_eq!(class(&project, None), ErrorClass::NoEntry);
    assert_eq!(
        class(&project, Some("agent.json")),
        ErrorClass::MissingEntry
    );
    assert_eq!(
        class(&project, Some("no/agent.json")),
        ErrorClass::MissingEntry
    );

    project.write(".stax/pilot/agent.json", "{}");
    let entry = DefinitionFile::load(&project.path(), None).unwrap();
    assert_eq!(entry.project, project.path().join(".stax/pilot"));

    project.write("agent.json", "{}");
    let error = DefinitionFile::load(&project.path(), None).unwrap_err();
    assert_eq!(error.class(), ErrorClass::AmbiguousEntry);
    assert_eq!(error.items(), ["agent.json", ".stax/pilot/agent.json"]);
}

#[test]
fn a_file_that_is_no_definition_is_told_apart_from_one_that_cannot_be_read() {
    for (text, code) in [
        ("{name: nope}", "INVALID_ENTRY"),
        ("", "INVALID_ENTRY"),
        ("\u{feff}{}", "INVALID_ENTRY"),
        ("null", "NO_DEFAULT_EXPORT"),
        ("[1]", "NO_DEFAULT_EXPORT"),
    ] {
        let project = Project::new(files(&[("agent.json", text)]));
        assert_eq!(
            class(&project, Some("agent.json")),
            ErrorClass::BadEntry,
            "{text}"
        );
        let found = validate(&project.path(), Some("agent.json")).unwrap();
        assert_eq!(found.errors, [finding(code, "agent.json")], "{text}");
    }
}

fn finding(code: &'static str, path: &str) -> DefinitionFinding {
    DefinitionFinding {
        code,
        path: path.to_owned(),
    }
}

#[test]
fn everything_wrong_is_reported_at_once_and_in_order() {
    let definition = json!({
        "name": "Bad Name", "version": "1", "description": "", "tags": ["a", "a"],
        "prompt": "./missing.md", "persona": "./rules", "skills": "./skills", "rules": "./rules/../a.md",
        "packages": ["fine.example/p:1", " "], "secrets": [{"key": "A"}, {"key": "A"}],
    });
    let project = Project::new(files(&[
        ("agent.json", &definition.to_string()),
        ("a.md", "x"),
        ("rules/r.md", "x"),
        ("skills/s/SKILL.md", "x"),
    ]));
    project.link("skills/s/l.md", "SKILL.md");
    let found = validate(&project.path(), None).unwrap();
    assert_eq!(
        found.errors,
        [
            finding("INVALID_NAME", "agent.json"),
            finding("INVALID_VERSION", "agent.json"),
            finding("EMPTY_DESCRIPTION", "agent.json"),
            finding("MISSING_ADAPTER", "agent.json"),
            finding("DUPLICATE_TAGS", "agent.json"),
            finding("MISSING_PATH", "missing.md"),
            finding("WRONG_PATH_TYPE", "rules"),
            finding("WRONG_PATH_TYPE", "a.md"),
            finding("SYMLINK_FOUND", "skills/s/l.md"),
            finding("INVALID_PACKAGE_REF", "agent.json"),
            finding("DUPLICATE_SECRET_KEYS", "agent.json"),
        ]
    );
    assert_eq!(found.warnings, []);
}
