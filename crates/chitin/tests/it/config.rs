//! `chitin config` through the binary: what it prints and how it ends.

use crate::process::chitin;
use chitin_test::TestEnv;
use std::process::Output;

fn stdout(test: &TestEnv, output: &Output) -> String {
    test.redact(&String::from_utf8_lossy(&output.stdout))
}

#[test]
fn an_invalid_file_is_shown_with_its_line_and_ends_with_four() {
    let test = TestEnv::new();
    test.file(
        "home/.openclaw/openclaw.json",
        "{\n  session: { dmScoope: 'main' },\n}\n",
    );
    let output = chitin(&test, &["config", "validate"]);
    assert_eq!(output.status.code(), Some(4));
    insta::assert_snapshot!(stdout(&test, &output), @r"
    error: `session`: `dmScoope` is not a known key here.
      --> $TEST_ENV/home/.openclaw/openclaw.json:2:14
       |
     2 |   session: { dmScoope: 'main' },
       |              ^
      hint: did you mean `dmScope`?

    `$TEST_ENV/home/.openclaw/openclaw.json` is not valid for canonical.
    ");
}

#[test]
fn a_broken_file_points_at_the_place() {
    let test = TestEnv::new();
    test.file("broken.json5", "{\n  a: 1\n  b: 2\n}\n");
    let output = chitin(&test, &["config", "validate", "broken.json5"]);
    assert_eq!(output.status.code(), Some(4));
    insta::assert_snapshot!(stdout(&test, &output), @r"
    error: The file cannot be used: it is not JSON5: expected comma.
      --> $TEST_ENV/broken.json5:3:3
       |
     3 |   b: 2
       |   ^

    `$TEST_ENV/broken.json5` is not valid for canonical.
    ");
}

#[test]
fn nothing_to_check_is_fine_and_a_named_file_has_to_exist() {
    let test = TestEnv::new();
    assert_eq!(
        chitin(&test, &["config", "validate"]).status.code(),
        Some(0)
    );
    let named = chitin(&test, &["config", "validate", "none.json"]);
    assert_eq!(named.status.code(), Some(3));
}

#[test]
fn explain_names_the_layer_and_what_it_overrides() {
    let test = TestEnv::new();
    test.file(
        "home/.openclaw/openclaw.json",
        "{ agents: { defaults: { bootstrapMaxChars: 7 } } }",
    );
    test.file(
        "home/.chitin/chitin.json5",
        "{ contract: 'openclaw-2026.9' }",
    );
    let output = chitin(
        &test,
        &["config", "explain", "agents.defaults.bootstrapMaxChars"],
    );
    insta::assert_snapshot!(stdout(&test, &output), @r"
    agents.defaults.bootstrapMaxChars = 7
        from openclaw.json ($TEST_ENV/home/.openclaw/openclaw.json:1)
        overrides 20000 from built in
    ");
}

#[test]
fn secrets_are_never_shown() {
    let test = TestEnv::new();
    test.file(
        "home/.openclaw/openclaw.json",
        "{ gateway: { auth: { token: 'hush' } }, env: { vars: { A: 'hush' } }, channels: { x: [{ apiKey: 'hush' }] } }",
    );
    for args in [
        &["config"][..],
        &["config", "--json"],
        &["config", "explain", "gateway"],
    ] {
        let output = chitin(&test, args);
        assert!(output.status.success());
        let shown = stdout(&test, &output);
        assert!(
            shown.contains("[redacted]") && !shown.contains("hush"),
            "{shown}"
        );
    }
}
