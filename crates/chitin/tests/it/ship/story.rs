//! From a directory to an artifact and back, read as one story.

use super::copied;
use crate::process::{chitin, transcript};
use chitin_test::TestEnv;

/// Puts fixed words in place of what differs from run to run: times, keys, and every digest but the artifact's.
fn settled(text: &str, artifact: &str) -> String {
    let instant =
        |word: &str| word.len() == 24 && word.ends_with('Z') && word.as_bytes()[10] == b'T';
    let is_key = |word: &str| word.len() == 16 && word.bytes().all(|b| b.is_ascii_hexdigit());
    text.split_inclusive([' ', '\n'])
        .map(|piece| {
            let word = piece.trim_end_matches([' ', '\n', ',', ';', '.', ':']);
            if instant(word) {
                piece.replace(word, "$TIME")
            } else if is_key(word) {
                piece.replace(word, "$KEY")
            } else if word.starts_with("sha256:") && !artifact.starts_with(word) {
                piece.replace(word, "$SIGNATURE")
            } else {
                piece.to_owned()
            }
        })
        .collect()
}

/// The prompt names the test's directory, which has another name each time: figures that depend on it are left out.
fn without_figures(story: &str) -> String {
    let depends = |line: &&str| line.contains("tokens") || line.contains("bytes are the same");
    let mut settled = String::new();
    for line in story.split_inclusive('\n') {
        if depends(&line) {
            let letters = line.split(|c: char| c.is_ascii_digit());
            let parts: Vec<_> = letters
                .filter(|part| !part.is_empty() && *part != ",")
                .collect();
            settled += &parts.join("N");
        } else {
            settled += line;
        }
    }
    settled
}

#[test]
fn a_workspace_is_packed_looked_at_and_laid_out_again() {
    let env = TestEnv::new();
    copied(&env, "harbor");
    let mut story = transcript(&env, &["pack", "harbor", "--version", "1.0.0"]);
    story += &transcript(&env, &["pack", "harbor", "--version", "1.0.0", "--quiet"]);
    story += &transcript(&env, &["inspect", "harbor", "--files"]);
    story += &transcript(&env, &["unpack", "harbor", "copy", "--plan", "-q"]);
    story += &transcript(&env, &["unpack", "harbor", "copy", "--no-memory"]);
    story += &transcript(&env, &["unpack", "harbor", "copy", "-q"]);
    env.file("copy/SOUL.md", "Mine.\n");
    env.file("copy/notes.txt", "Not theirs.\n");
    story += &transcript(&env, &["diff", "harbor:1.0.0", "copy", "--text"]);
    story += &transcript(&env, &["unpack", "harbor", "copy", "-q"]);
    assert_eq!(env.read("copy/SOUL.md"), "Mine.\n");
    story += &transcript(&env, &["unpack", "harbor", "copy", "-q", "--overwrite"]);
    assert_eq!(env.read("copy/notes.txt"), "Not theirs.\n");
    story += &transcript(&env, &["diff", "harbor:1.0.0", "copy", "--no-context"]);
    insta::assert_snapshot!(without_figures(&story));
}

#[test]
fn an_agent_is_shipped_to_other_runtimes() {
    let env = TestEnv::new();
    copied(&env, "minimal");
    let mut story = transcript(&env, &["pack", "minimal", "--quiet"]);
    for adapter in [
        "claude-code",
        "codex",
        "cursor",
        "github-copilot",
        "windsurf",
        "opencode",
        "generic",
    ] {
        story += &transcript(&env, &["unpack", "minimal", adapter, "--adapter", adapter]);
    }
    story += &transcript(
        &env,
        &["unpack", "minimal", "x", "--adapter", "codex", "--exact"],
    );
    story += &transcript(&env, &["unpack", "minimal", "x", "--adapter", "emacs"]);
    story += &transcript(&env, &["unpack", "minimal", "x", "--strict"]);
    insta::assert_snapshot!(story);
}

#[test]
fn a_signature_is_made_checked_and_missed() {
    let env = TestEnv::new();
    copied(&env, "minimal");
    let mut story = transcript(&env, &["pack", "minimal", "--quiet"]);
    let artifact = story.lines().find(|line| line.starts_with("sha256:"));
    let artifact = artifact.unwrap().to_owned();
    story += &transcript(&env, &["sign", "--new-key", "ada"]);
    story += &transcript(&env, &["sign", "--new-key", "ada"]);
    story += &transcript(&env, &["verify", "minimal", "--trust", "ada.pub.pem"]);
    story += &transcript(
        &env,
        &[
            "sign",
            "minimal",
            "--key",
            "ada.pem",
            "--signer",
            "ada@example.org",
        ],
    );
    story += &transcript(&env, &["verify", "minimal", "--trust", "ada.pub.pem"]);
    chitin(&env, &["sign", "--new-key", "eve"]);
    let by_eve = transcript(&env, &["verify", "minimal", "--trust", "eve.pub.pem"]);
    assert!(by_eve.contains("not with a trusted key") && by_eve.ends_with("[exit 6]\n"));
    // Whoever names a key wants it to be looked at, where files are written too.
    let by_eve = transcript(
        &env,
        &["unpack", "minimal", "eves", "--trust", "eve.pub.pem"],
    );
    assert!(by_eve.ends_with("[exit 6]\n") && !env.path().join("eves").exists());
    env.file("home/.chitin/trust.json5", "{ defualt: 'require' }");
    story += &transcript(&env, &["unpack", "minimal", "out"]);
    env.file("home/.chitin/trust.json5", "{ default: 'warn' }");
    story += &transcript(
        &env,
        &[
            "unpack",
            "minimal",
            "out",
            "--require-signature",
            "--trust",
            "ada.pub.pem",
        ],
    );
    insta::assert_snapshot!(settled(&story, &artifact));
}

#[test]
fn the_store_is_listed_checked_and_swept() {
    let env = TestEnv::new();
    copied(&env, "minimal");
    let mut story = transcript(&env, &["cache"]);
    story += &transcript(&env, &["pack", "minimal", "--quiet", "--tag", "mine"]);
    story += &transcript(&env, &["cache"]);
    story += &transcript(&env, &["cache", "check"]);
    story += &transcript(&env, &["cache", "remove", "mine", "minimal:0.1.0"]);
    story += &transcript(&env, &["cache", "remove", "mine"]);
    story += &transcript(&env, &["cache", "gc", "--dry-run"]);
    story += &transcript(&env, &["cache", "gc"]);
    story += &transcript(&env, &["cache"]);
    insta::assert_snapshot!(story);
}

#[test]
fn secrets_stay_at_home_and_so_do_those_of_openclaw() {
    let env = TestEnv::new();
    env.file("agent/AGENTS.md", "Rules.\n");
    env.file(
        "agent/TOOLS.md",
        "key: ghp_R9xQ2mW7tK4vB8nL1pZ5cY3dF6hJ0sA2uE9i\n",
    );
    env.file("agent/openclaw.json", "{}");
    env.file("home/.openclaw/openclaw.json", "{ agents: { defaults: { model: { primary: 'anthropic/claude' } } }, gateway: { port: 18789, auth: { mode: 'token', token: 'sesame' } } }");
    let mut story = transcript(&env, &["pack", "agent"]);
    story += &transcript(&env, &["cache"]);
    story += &transcript(&env, &["pack", "agent", "--allow-secrets", "-q"]);
    story += &transcript(&env, &["pack", "--profile", "--name", "gateway"]);
    let profile = transcript(&env, &["inspect", "gateway", "--raw"]);
    assert!(
        profile.contains("claude") && !profile.contains("sesame"),
        "{profile}"
    );
    insta::assert_snapshot!(story);
}
