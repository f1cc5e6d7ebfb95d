//! Bad input: an exit code, a reason in one line, a hint, and nothing changed.

use super::{copied, tree};
use crate::process::transcript;
use chitin_test::TestEnv;
use std::fs;
use std::os::unix::fs::PermissionsExt;

#[test]
fn every_refusal_says_why_and_leaves_everything_as_it_was() {
    let env = TestEnv::new();
    copied(&env, "minimal");
    env.file("bare/SOUL.md", "no rules");
    env.file("grouped/AGENTS.md", "x");
    env.file("grouped/skills/bad/notes.md", "n");
    env.file("piped/AGENTS.md", "x");
    env.directory_at("piped/memory");
    env.fifo("piped/memory/pipe");
    env.file("linked/AGENTS.md", "x");
    env.directory_at("linked/memory");
    env.link("linked/memory/passwords", "/etc/passwd");
    env.file("twice/AGENTS.md", "x");
    env.file("twice/memory/A.md", "1");
    env.file("twice/memory/a.md", "2");
    env.file("cut.tar", "not an archive");
    env.directory_at("empty");
    let mut story = transcript(&env, &["pack", "minimal", "-q", "--output", "good"]);
    fs::create_dir(env.path().join("target")).unwrap();
    std::os::unix::fs::symlink("..", env.path().join("target/AGENTS.md")).unwrap();
    let before = tree(&env.path().join("minimal"));
    for arguments in [
        ["pack", "bare"].as_slice(),
        &["pack", "nowhere"],
        &["pack", "grouped"],
        &["pack", "piped"],
        &["pack", "linked"],
        &["pack", "twice"],
        &["pack", "minimal", "--name", "Bad Name"],
        &["pack", "minimal", "--version", "v1"],
        &["pack", "minimal", "--limit", "soup=1"],
        &["pack", "minimal", "--output", "good"],
        &["pack", "--definition", "nope.json", "minimal"],
        &["unpack", "minimal"],
        &["unpack", "cut.tar", "out"],
        &["unpack", "./empty", "out"],
        &["unpack", "nobody:1", "out"],
        &["unpack", "minimal", "target"],
        &["unpack", "a b", "out"],
        &["inspect", "./nowhere"],
        &["inspect"],
        &["diff", "minimal"],
        &["push", "nobody:1", "127.0.0.1:1/a/b:1", "--plain-http"],
        &["push", "minimal", "no-host:1"],
        &["pull", "registry.example/a b"],
        &["pull", "registry.example/a:1", "--plain-http"],
        &["sign", "minimal", "--key", "none.pem"],
        &["login", "registry.example", "--password-stdin"],
        &["cache", "remove", "nobody"],
    ] {
        story += &transcript(&env, arguments);
    }
    insta::assert_snapshot!(story);
    assert_eq!(tree(&env.path().join("minimal")), before);
    assert!(!env.path().join("out").exists());
}

#[test]
fn a_damaged_store_is_noticed_before_anything_is_written() {
    let env = TestEnv::new();
    copied(&env, "minimal");
    let packed = transcript(&env, &["pack", "minimal", "--json", "-q"]);
    let layer = packed
        .lines()
        .find_map(|line| line.trim().strip_prefix("\"digest\": \"sha256:"))
        .map(|rest| rest.trim_end_matches(['"', ',']).to_owned());
    assert!(layer.is_some());
    let blobs = env.path().join("home/.chitin/oci/blobs/sha256");
    for entry in fs::read_dir(&blobs).unwrap() {
        let path = entry.unwrap().path();
        let mut bytes = fs::read(&path).unwrap();
        if bytes.starts_with(b"\x1f\x8b") {
            let last = bytes.len() - 12;
            bytes[last] ^= 1;
            fs::write(&path, bytes).unwrap();
        }
    }
    let story = transcript(&env, &["unpack", "minimal", "out"])
        + &transcript(&env, &["verify", "minimal"])
        + &transcript(&env, &["cache", "check"])
        + &transcript(&env, &["cache", "check", "--repair"])
        + &transcript(&env, &["pack", "minimal", "-q"])
        + &transcript(&env, &["cache", "check"]);
    insta::assert_snapshot!(story);
    assert!(!env.path().join("out").exists());
}

#[test]
fn a_policy_that_others_may_change_or_that_is_not_there_protects_nobody_and_stops() {
    let env = TestEnv::new();
    copied(&env, "minimal");
    assert!(transcript(&env, &["pack", "minimal"]).ends_with("[exit 0]\n"));
    let policy = env.file("home/.chitin/trust.json5", "{ default: 'none' }");
    fs::set_permissions(&policy, fs::Permissions::from_mode(0o666)).unwrap();
    let open = transcript(&env, &["unpack", "minimal", "out"]);
    assert!(
        open.contains("Others may change the policy") && open.ends_with("[exit 2]\n"),
        "{open}"
    );
    let absent = transcript(
        &env,
        &["unpack", "minimal", "out", "--policy", "none.json5"],
    );
    assert!(
        absent.contains("There is no trust policy") && absent.ends_with("[exit 1]\n"),
        "{absent}"
    );
    assert!(!env.path().join("out").exists());
}
