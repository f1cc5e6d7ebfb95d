//! Configuration in several files that include each other.
//!
//! A line `@@@ NAME` begins a further file of that name; the text before the first one is `openclaw.json`. A file whose
//! text begins with `-> ` is a link to what follows.

use crate::tree::{make_parent, write_in, write_new};
use crate::{novelty, scratch};
use chitin_config::env::Env;
use chitin_config::{Issue, Layers, LoadedConfig, load, load_chitin_config, substitute};
use chitin_contract::ConfigRules;
use chitin_protocol::agent_id::AgentId;
use std::os::unix::fs::symlink;
use std::path::Path;

/// What configuration is made of.
pub const DICTIONARY: &[&str] = &[
    "\n@@@ a.json5\n",
    "\n@@@ sub/b.json5\n",
    "\n@@@ chitin.json5\n",
    "-> ",
    "-> ../secret.json5",
    "-> a.json5",
    "$include: ",
    "\"$include\": \"a.json5\"",
    "\"$include\": [\"a.json5\", \"sub/b.json5\"]",
    "\"./sub/../a.json5\"",
    "\"../secret.json5\"",
    "${HOME}",
    "$${HOME}",
    "${MISSING}",
    "${",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "//",
    "/*",
    "*/",
    "'",
    "\"",
    "\\\n",
    "\\x41",
    "\\u00e9",
    "\\ud800",
    "+Infinity",
    "NaN",
    "0x10",
    ".5",
    "1e400",
    "-0",
    "99999999999999999999",
    "null",
    "true",
    "agents",
    "agents: {defaults: {workspace: '~/w'}, list: [{id: 'ops'}]}",
    "list: [",
    "bindings: [{agentId: 'x', match: {channel: 'discord'}}]",
    "channels: {slack: {}}",
    "session: {dmScope: 'per-peer'}",
    "models: {providers: {x: {}}}",
    "contract: 'canonical'",
    "links: {trustedRoots: ['x']}",
    "__proto__",
    "constructor",
    "$schema",
    "\u{2028}",
    "\u{feff}",
    "\u{1f600}",
];

const RULES: [ConfigRules; 3] = [
    ConfigRules::Keys2026_2,
    ConfigRules::Keys2026_4,
    ConfigRules::Keys2026_9,
];
const SECRET: &str = "0utside-the-c0nfiguration";
const MAX_FILES: usize = 8;

/// Writes the files, loads them by every set of rules, and explains what came out.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if text.contains(SECRET) {
        return;
    }
    let base = scratch::fresh("config");
    write_in(
        &base,
        "secret.json5",
        format!("{{secret: '{SECRET}'}}").as_bytes(),
    );
    let directory = base.join("home");
    write(&directory, data);
    let env = Env::new(&directory)
        .with("HOME", "/home/x")
        .with("EMPTY", "")
        .with("CHITIN_CONTRACT", "openclaw-2026.4")
        .with_os_home("/home/x");
    let path = directory.join("openclaw.json");
    for rules in RULES {
        match load(&path, &env, rules) {
            Ok(Some(loaded)) => check(&loaded, &directory, &env),
            Ok(None) => novelty::note("absent"),
            Err(error) => {
                let issue = error.issue();
                novelty::note(std::mem::discriminant(&*error.source.problem));
                check_issue(&issue);
                // What is wrong with one set of rules is wrong with all: it concerns the files.
                break;
            }
        }
    }
    if let Ok(Some(own)) = load_chitin_config(&directory) {
        own.issues.iter().for_each(check_issue);
        novelty::note(("own", own.issues.len().min(4)));
        let layers = Layers::built_in(&chitin_contract::CANONICAL).with_chitin(&own);
        let _ = (
            layers.all(),
            layers.settings(Some(&AgentId::normalize("ops"))),
        );
    }
}

/// Writes plain files first and links last, so that no file is written through a link.
fn write(directory: &Path, data: &[u8]) {
    let mut files = vec![("openclaw.json".to_owned(), Vec::new())];
    for line in data.split(|byte| *byte == b'\n') {
        match line.strip_prefix(b"@@@ ") {
            Some(name) if files.len() < MAX_FILES => {
                files.push((plain_name(&String::from_utf8_lossy(name)), Vec::new()));
            }
            Some(_) | None => {
                if let Some((_, content)) = files.last_mut() {
                    content.extend_from_slice(line);
                    content.push(b'\n');
                }
            }
        }
    }
    let mut links = Vec::new();
    for (name, content) in files {
        let path = directory.join(name);
        make_parent(&path);
        // The user's own files may be links to wherever they keep them; what is tested is that nothing else leads out.
        let is_own = path.ends_with("openclaw.json") || path.ends_with("chitin.json5");
        match content.strip_prefix(b"-> ").filter(|_| !is_own) {
            Some(target) => links.push((String::from_utf8_lossy(target).into_owned(), path)),
            // A name that is taken, or that goes through a file, is left out.
            None => drop(write_new(&path, &content)),
        }
    }
    for (target, path) in links {
        let _ = symlink(target.trim(), path);
    }
}

/// Keeps a name inside the directory: what the files say may lead out, where they stand may not.
fn plain_name(text: &str) -> String {
    let parts: Vec<String> = text
        .split('/')
        .take(3)
        .map(|part| {
            part.chars()
                .filter(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
                .take(40)
                .collect::<String>()
        })
        .filter(|part| !part.trim_matches('.').is_empty())
        .collect();
    if parts.is_empty() {
        "x".to_owned()
    } else {
        parts.join("/")
    }
}

fn check(loaded: &LoadedConfig, directory: &Path, env: &Env) {
    novelty::note((loaded.files.len(), loaded.issues.len().min(6)));
    for issue in &loaded.issues {
        check_issue(issue);
        novelty::note((&issue.path, issue.severity));
        if let (Some(file), Some(line)) = (&issue.file, issue.line) {
            let known = loaded.files.iter().find(|known| known.path == *file);
            let known = known.unwrap_or_else(|| panic!("a finding about a foreign file: {issue}"));
            let lines = known.text.lines().count().max(1);
            assert!(line <= lines + 1, "line {line} of {lines}: {issue}");
        }
    }
    for file in &loaded.files {
        assert!(file.path.starts_with(directory), "{}", file.path.display());
    }
    let shown = loaded.value.to_string();
    assert!(
        !shown.contains(SECRET),
        "a file outside the directory was read"
    );
    let layers = Layers::built_in(&chitin_contract::OPENCLAW_2026_4)
        .with_openclaw(loaded)
        .with_environment(env);
    for explanation in layers.all() {
        let again = layers.explain(&explanation.path);
        assert!(again.is_some(), "{} is not explained", explanation.path);
        let _ = loaded.place(&explanation.path);
    }
    let _ = layers.nearest("agents.defaults.workspcae");
    let _ = layers.settings(Some(&AgentId::normalize("ops")));
    let mut value = loaded.value.clone();
    let _ = substitute(&mut value, |name| env.get(name));
}

fn check_issue(issue: &Issue) {
    assert!(issue.line.is_none_or(|line| line > 0), "{issue}");
    assert!(issue.column.is_none_or(|column| column > 0), "{issue}");
    assert!(!issue.message.is_empty() && !issue.to_string().contains(SECRET));
}
