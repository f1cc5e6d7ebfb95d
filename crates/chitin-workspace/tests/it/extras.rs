//! Files that configuration adds from below the root.

use chitin_contract::CANONICAL;
use chitin_guard::Root;
use chitin_test::TestEnv;
use chitin_workspace::extras::{self, ExtraFileRefusal, ExtraFiles};
use chitin_workspace::load::{LoadOptions, read_policy};
use std::path::Path;

fn find(root: &Path, pattern: &str) -> ExtraFiles {
    let root = Root::open(root).unwrap();
    let policy = read_policy(&CANONICAL, &LoadOptions::default());
    extras::find(&root, &[pattern.to_owned()], &CANONICAL, &policy, &[])
}

fn contents(found: &ExtraFiles) -> Vec<&str> {
    let contents = found.records.iter().filter_map(|record| record.content());
    contents.map(|content| &*content.text).collect()
}

#[test]
fn an_absolute_pattern_names_this_workspace_and_no_neighbour() {
    let env = TestEnv::new();
    env.files([("a/AGENTS.md", "a"), ("-two/b/AGENTS.md", "not meant")]);
    env.file("workspace-two/b/AGENTS.md", "outside");
    let workspace = env.workspace();
    let pattern = |text: &str| workspace.to_string_lossy().into_owned() + text;
    assert_eq!(contents(&find(&workspace, &pattern("/*/AGENTS.md"))), ["a"]);
    assert!(contents(&find(&workspace, &pattern("-two/*/AGENTS.md"))).is_empty());
}

#[test]
fn wildcards_look_into_a_linked_directory_that_the_pattern_names() {
    let env = TestEnv::new();
    env.files([("real/a/AGENTS.md", "a")]);
    env.link("workspace/named", "real");
    let found = find(&env.workspace(), "named/*/AGENTS.md");
    assert_eq!(contents(&found), ["a"]);
    assert_eq!(contents(&find(&env.workspace(), "*/*/AGENTS.md")), ["a"]);
    assert_eq!(
        find(&env.workspace(), "*/*/AGENTS.md").records[0].path,
        env.workspace().join("real/a/AGENTS.md")
    );
}

#[test]
fn a_pattern_without_end_is_reported_and_costs_nothing() {
    let env = TestEnv::new();
    env.files([("a/AGENTS.md", "a")]);
    for hostile in ["**/".repeat(500_000), "{".repeat(1_000_000) + "*"] {
        let found = find(&env.workspace(), &hostile);
        assert_eq!(found.diagnostics[0].reason, ExtraFileRefusal::Io);
    }
    let many = "**/".repeat(1_000) + "AGENTS.md";
    assert_eq!(contents(&find(&env.workspace(), &many)), ["a"]);
}

#[test]
fn extras_stand_in_the_order_of_their_names_and_paths_as_text() {
    let env = TestEnv::new();
    env.files([
        ("a/AGENTS.md", "second"),
        ("a-b/AGENTS.md", "first"),
        ("B/SOUL.md", "third"),
    ]);
    let found = find(&env.workspace(), "*/*.md");
    assert_eq!(contents(&found), ["first", "second", "third"]);
}
