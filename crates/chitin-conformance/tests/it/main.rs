//! The recorded cases hold, and the runner tells the truth about those that do not.
#![expect(clippy::disallowed_methods, reason = "a case is written by hand")]

use chitin_conformance::run;
use std::path::{Path, PathBuf};

fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance")
}

#[test]
fn every_case_of_what_is_built_holds() {
    if !chitin_test::needs::time_zones() {
        return;
    }
    let report = run(&[recorded()]).unwrap();
    assert!(!report.has_failures(), "{report}");
    let least = [
        ("bridge", 86),
        ("canonical", 198),
        ("home", 107),
        ("runtime", 171),
        ("skills-memory", 158),
        ("workspace", 228),
    ];
    for (family, cases) in least {
        assert!(
            report.families[family].passed >= cases,
            "{family}: {report}"
        );
    }
    assert!(
        report.families.values().all(|tally| tally.stale.is_empty()),
        "{report}"
    );
}

#[test]
fn what_is_not_built_counts_apart_and_never_as_passed() {
    let directory = tempfile::tempdir().unwrap();
    let cases = directory.path().join("runtime/cases");
    std::fs::create_dir_all(&cases).unwrap();
    let case = r#"{ "id": "later", "op": "telepathy.send", "input": {}, "expected": {} }"#;
    std::fs::write(cases.join("later.json"), case).unwrap();
    let report = run(&[directory.path().to_path_buf()]).unwrap();
    let runtime = &report.families["runtime"];
    assert_eq!((runtime.passed, runtime.failed_cases), (0, 0));
    assert_eq!(runtime.not_yet.values().sum::<usize>(), 1);
}

#[test]
fn a_wrong_expectation_fails_with_its_id_and_a_difference() {
    let directory = tempfile::tempdir().unwrap();
    let cases = directory.path().join("workspace/cases");
    std::fs::create_dir_all(&cases).unwrap();
    let case = r#"{ "id": "wrong", "op": "normalize_agent_id", "input": { "ids": ["Ops"] },
        "expected": { "2026.4.23": { "ids": [{ "input": "Ops", "output": "nobody" }] } } }"#;
    std::fs::write(cases.join("wrong.json"), case).unwrap();
    let report = run(&[directory.path().to_path_buf()]).unwrap();
    assert!(report.has_failures());
    let text = report.to_string();
    assert!(
        text.contains("wrong [openclaw-2026.4]") && text.contains("-      \"output\": \"nobody\""),
        "{text}"
    );
    assert!(
        text.ends_with("workspace: 0 passed, 1 failed, 0 excepted\n"),
        "{text}"
    );
}

#[test]
fn a_directory_without_cases_is_an_error_of_the_caller() {
    assert!(run(&[PathBuf::from("no/such/directory")]).is_err());
}
