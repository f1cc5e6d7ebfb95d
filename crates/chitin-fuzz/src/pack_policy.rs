//! What people and other programs write about artifacts: policies, lock files, packages layers, references and names.
//!
//! Every input is read as each of them.

use crate::novelty;
use chitin_pack::locate::{LocatedArtifact, PathKind, PathProbe, locate};
use chitin_pack::packages::{Lock, read_list};
use chitin_pack::reference::Reference;
use chitin_pack::signatures::{PublicKey, TrustPolicy};
use std::path::Path;

/// What they are made of.
pub const DICTIONARY: &[&str] = &[
    "{default: 'require'",
    "default: 'warn'",
    "keys: {release: '",
    "rules: [{match: '",
    "reg.example/team/**",
    "reg.example/*",
    "mode: 'none'",
    "keys: ['release']",
    "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
    "-----BEGIN PUBLIC KEY-----\n",
    "\n-----END PUBLIC KEY-----\n",
    "{\"lockVersion\":1,\"specVersion\":\"1.0.0\",\"packages\":{",
    "\"digest\":\"sha256:",
    "1111111111111111111111111111111111111111111111111111111111111111",
    "\"dependencies\":[",
    "{\"packages\":[{\"kind\":\"package\",\"ref\":\"",
    "reg.example/p/tides:1.0.0",
    "localhost:5000/",
    "oci://",
    "@sha256:",
    "./",
    "/..",
    ".tar",
    ":",
    "'",
    "\"",
    ",",
    "}",
    "]",
    "\u{feff}",
    "\0",
    "\u{1f600}",
];

const TARGETS: [Option<&str>; 4] = [
    None,
    Some("harbor"),
    Some("reg.example/team/agent"),
    Some("reg.example/x"),
];

/// A disk on which everything is there.
struct Everything;

impl PathProbe for Everything {
    fn look(&self, path: &Path) -> Option<PathKind> {
        let length = path.as_os_str().len();
        [
            Some(PathKind::Artifact),
            Some(PathKind::File),
            Some(PathKind::Directory),
            None,
        ][length % 4]
    }
}

/// Reads the input as everything that it could be.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    policy(&text);
    lock(data);
    reference(&text);
    if let Ok(key) = PublicKey::parse(&text) {
        let again = PublicKey::parse(&key.to_base64());
        assert_eq!(again.ok(), Some(key), "a key reads back as another one");
        novelty::note("key");
    }
}

fn policy(text: &str) {
    let Ok(policy) = TrustPolicy::parse(text) else {
        return;
    };
    for target in TARGETS {
        let requirement = policy.requirement(target);
        novelty::note((requirement.mode as u8, requirement.keys.len().min(3)));
        let known = |key| policy.keys().contains(key);
        assert!(requirement.keys.iter().all(known), "a key from nowhere");
    }
}

fn lock(data: &[u8]) {
    if let Ok(lock) = Lock::parse(data) {
        let again = Lock::parse(lock.to_text().as_bytes());
        assert_eq!(
            again.ok().as_ref(),
            Some(&lock),
            "a lock reads back as another one"
        );
        novelty::note(("lock", lock.packages.len().min(4)));
    }
    if let Ok(value) = serde_json::from_slice(data)
        && let Ok(list) = read_list(&value)
    {
        for dependency in &list {
            let parsed = dependency.reference.parse::<Reference>();
            assert!(parsed.is_ok(), "a package that is no reference");
        }
        novelty::note(("list", list.len().min(4)));
    }
}

fn reference(text: &str) {
    if let Ok(reference) = text.parse::<Reference>() {
        assert_eq!(
            reference.to_string(),
            text,
            "a reference is written otherwise"
        );
        novelty::note((reference.registry.is_some(), reference.tag.is_some()));
        novelty::note(reference.digest.is_some());
    }
    match locate(text, &Everything) {
        Ok(LocatedArtifact::Remote(reference)) => {
            assert!(reference.registry.is_some(), "a host that nobody named");
            novelty::note("remote");
        }
        Ok(LocatedArtifact::Layout(path, tag) | LocatedArtifact::Archive(path, tag)) => {
            let tag = tag.map_or_else(String::new, |tag| format!(":{tag}"));
            assert_eq!(
                format!("{}{tag}", path.display()),
                text,
                "a path from nowhere"
            );
            novelty::note("path");
        }
        Ok(LocatedArtifact::Stored(name)) => {
            assert_eq!(name, text);
            novelty::note("stored");
        }
        Ok(LocatedArtifact::Digest(_)) => novelty::note("digest"),
        Err(error) => novelty::note(error.class()),
    }
}
