//! Searching files: honest about what was left out, and never lost.

use crate::kit::{call, call_within, done, failed};
use chitin_test::TestEnv;
use chitin_tools::files::{FileOptions, SearchTool};
use serde_json::{Value, json};
use std::sync::Arc;

fn tool() -> SearchTool {
    SearchTool::new(Arc::new(FileOptions::default()))
}

fn search(env: &TestEnv, arguments: Value) -> String {
    done(&call(env, &tool(), arguments))
}

#[test]
fn lines_are_found_with_path_and_number() {
    let env = TestEnv::new();
    env.files([
        ("a.rs", "fn one() {}\r\nfn two() {}\n"),
        ("docs/b.md", "One fn here\n"),
        ("docs/c.bin", "fn\0binary"),
        (".hidden/d.md", "fn hidden\n"),
        ("target/e.rs", "fn ignored\n"),
        (".gitignore", "/target\n*.log\n!keep.log\n"),
        ("x.log", "fn log\n"),
        ("keep.log", "fn keep\n"),
        (".git/config", "fn git\n"),
    ]);
    assert_eq!(
        search(&env, json!({"pattern": r"\bfn\b"})),
        ".hidden/d.md:1: fn hidden\na.rs:1: fn one() {}\na.rs:2: fn two() {}\ndocs/b.md:1: One fn here\nkeep.log:1: fn keep\n"
    );
    assert_eq!(
        search(&env, json!({"pattern": "one()", "literal": true})),
        "a.rs:1: fn one() {}\n"
    );
    assert_eq!(
        search(
            &env,
            json!({"pattern": "ONE", "ignoreCase": true, "glob": "*.md"})
        ),
        "docs/b.md:1: One fn here\n"
    );
    assert_eq!(
        search(&env, json!({"pattern": "fn", "path": "docs"})),
        "docs/b.md:1: One fn here\n"
    );
    assert_eq!(
        search(&env, json!({"pattern": "fn", "path": "target/e.rs"})),
        "target/e.rs:1: fn ignored\n"
    );
    assert_eq!(
        search(
            &env,
            json!({"pattern": "fn", "ignored": true, "glob": "target/**"})
        ),
        "target/e.rs:1: fn ignored\n"
    );
    assert_eq!(search(&env, json!({"pattern": "nowhere"})), "[No matches.]");
    assert_eq!(
        search(&env, json!({"pattern": "fn", "glob": "a.*", "limit": 1})),
        "a.rs:1: fn one() {}\n[There are more matches: narrow the search, or use a larger `limit`.]"
    );
}

#[test]
fn rules_of_directories_above_hold_below() {
    let env = TestEnv::new();
    env.files([
        (".gitignore", "*.tmp\n"),
        ("a/b/x.tmp", "fn\n"),
        ("a/b/y.rs", "fn\n"),
        ("a/.ignore", "y.rs\n"),
    ]);
    assert_eq!(
        search(&env, json!({"pattern": "fn", "path": "a/b"})),
        "[No matches.]"
    );
}

#[test]
fn lines_around_are_shown_once() {
    let env = TestEnv::new();
    env.file(
        "workspace/a.md",
        "1\n2\nhit 3\n4\nhit 5\n6\n7\n8\n9\nhit 10\n",
    );
    assert_eq!(
        search(&env, json!({"pattern": "hit", "context": 1})),
        "a.md-2- 2\na.md:3: hit 3\na.md-4- 4\na.md:5: hit 5\na.md-6- 6\n--\na.md-9- 9\na.md:10: hit 10\n"
    );
}

#[test]
fn expressions_that_are_none_and_those_that_explode_are_outcomes() {
    let env = TestEnv::new();
    env.file("workspace/a.md", "a".repeat(100_000));
    for pattern in ["(", "", &"(a{1000}){1000}".repeat(5)] {
        failed(&call(&env, &tool(), json!({ "pattern": pattern })));
    }
    // Linear time by the engine's own promise; a backtracking one would still be at it.
    assert_eq!(search(&env, json!({"pattern": "(a*)*b"})), "[No matches.]");
}

#[test]
fn long_lines_and_many_hits_stay_within_the_bound() {
    let env = TestEnv::new();
    env.file("workspace/a.md", "hit ü\u{1b} ".repeat(5000) + "\n");
    let long = search(&env, json!({"pattern": "hit"}));
    assert!(long.chars().count() < 400 && long.trim_end().ends_with('…'));
    env.file("workspace/b.md", "hit\n".repeat(10_000));
    let many = done(&call_within(
        &env,
        &tool(),
        json!({"pattern": "hit", "limit": 100_000}),
        1000,
    ));
    assert!(many.len() <= 1000 && many.contains("There are more matches"));
}

#[test]
fn links_and_what_lies_outside_are_not_searched() {
    let env = TestEnv::new();
    env.file("secret.md", "SECRET");
    env.link("workspace/out.md", "../secret.md");
    env.link("workspace/up", "..");
    env.link("workspace/loop", ".");
    assert_eq!(search(&env, json!({"pattern": "SECRET"})), "[No matches.]");
    for path in ["..", "up", "out.md", "/etc"] {
        failed(&call(
            &env,
            &tool(),
            json!({"pattern": "SECRET", "path": path}),
        ));
    }
}
