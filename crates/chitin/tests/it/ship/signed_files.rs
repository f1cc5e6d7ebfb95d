//! A signature goes where the artifact is: into the store, the directory or the archive that was named.

use super::{copied, json, tree};
use crate::process::chitin;
use chitin_test::TestEnv;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Output;

/// An author with an agent and a key.
fn author() -> TestEnv {
    let env = TestEnv::new();
    copied(&env, "minimal");
    json(&chitin(&env, &["sign", "--new-key", "ada", "--json"]));
    env
}

/// Packs the agent into a file or directory; the store forgets it.
fn written(env: &TestEnv, to: &str) {
    let out = chitin(
        env,
        &[
            "pack",
            "minimal",
            "--name",
            "toy",
            "--version",
            "1.0.0",
            "--output",
            to,
        ],
    );
    assert!(out.status.success(), "{out:?}");
    fs::remove_dir_all(env.path().join("home/.chitin/oci")).unwrap();
}

fn sign(env: &TestEnv, what: &str) -> Output {
    chitin(
        env,
        &[
            "sign", what, "--key", "ada.pem", "--signer", "ada", "--json",
        ],
    )
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Verifies on another machine what the author hands over; returns what was verified.
fn verified_elsewhere(env: &TestEnv, what: &str) -> serde_json::Value {
    let reader = TestEnv::new();
    reader.file("ada.pub.pem", env.read("ada.pub.pem"));
    let from = env.path().join(what);
    let files = if from.is_dir() {
        tree(&from)
    } else {
        BTreeMap::from([(String::new(), (false, fs::read(&from).unwrap()))])
    };
    for (path, (_, bytes)) in files {
        reader.file(
            Path::new(what)
                .join(path)
                .to_str()
                .unwrap()
                .trim_end_matches('/'),
            bytes,
        );
    }
    json(&chitin(
        &reader,
        &[
            "verify",
            &format!("./{what}"),
            "--trust",
            "ada.pub.pem",
            "--json",
        ],
    ))
}

/// The files of an archive, as `tar` would show them: path → bytes, in order.
fn entries(archive: &Path) -> Vec<(String, Vec<u8>)> {
    let bytes = fs::read(archive).unwrap();
    let mut found = Vec::new();
    let mut at = 0;
    while bytes[at] != 0 {
        let header = &bytes[at..at + 512];
        let text = |range: std::ops::Range<usize>| {
            let field = &header[range];
            let end = field.iter().position(|byte| *byte == 0);
            String::from_utf8(field[..end.unwrap_or(field.len())].to_vec()).unwrap()
        };
        let size = usize::from_str_radix(text(124..136).trim(), 8).unwrap();
        let content = bytes[at + 512..at + 512 + size].to_vec();
        found.push((text(0..100), content));
        at += 512 + size.next_multiple_of(512);
    }
    assert!(bytes[at..].iter().all(|byte| *byte == 0));
    assert!(bytes.len() - at >= 1024);
    found
}

#[test]
fn an_archive_that_is_signed_holds_its_signature_elsewhere_too() {
    let env = author();
    written(&env, "toy.tar");
    let archive = env.path().join("toy.tar");
    fs::set_permissions(&archive, fs::Permissions::from_mode(0o640)).unwrap();
    let before = entries(&archive);
    let signed = json(&sign(&env, "toy.tar"));
    let path = |name: &str| env.path().join(name).to_str().unwrap().to_owned();
    assert_eq!(signed["signedIn"], path("toy.tar"));
    assert_eq!(signed["signatures"], 1);
    assert!(!env.path().join("home/.chitin/oci/index.json").exists());
    assert_eq!(verified_elsewhere(&env, "toy.tar")["verified"], true);
    // All other contents are the same, byte for byte, and no more than a signature came.
    let after = entries(&archive);
    let index = |(path, _): &&(String, Vec<u8>)| path != "index.json";
    let others: Vec<_> = before.iter().filter(index).collect();
    let kept: Vec<_> = after.iter().filter(index).take(others.len()).collect();
    assert_eq!(others, kept);
    assert_eq!(after.len(), before.len() + 3, "payload, config, manifest");
    let mode = fs::metadata(&archive).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    // The agent is the same artifact, and a second signature stands beside the first. A link leads to the file.
    chitin(&env, &["sign", "--new-key", "bob"]);
    symlink("toy.tar", env.path().join("link.tar")).unwrap();
    let again = chitin(&env, &["sign", "link.tar:1.0.0", "--key", "bob.pem"]);
    let said = String::from_utf8_lossy(&again.stdout);
    assert!(
        said.contains("2 signatures") && said.contains(&format!("is in `{}`", path("toy.tar"))),
        "{said}{}",
        stderr(&again)
    );
    let verified = verified_elsewhere(&env, "toy.tar");
    assert_eq!(verified["digest"], signed["digest"]);
    assert_eq!(verified["signatures"].as_array().unwrap().len(), 2);
    let left: Vec<_> = fs::read_dir(env.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains("tmp"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_directory_that_is_signed_holds_its_signature_elsewhere_too() {
    let env = author();
    written(&env, "layout");
    let directory = env.path().join("layout");
    // What other tools noted in the index stays.
    let index: serde_json::Value = serde_json::from_str(&env.read("layout/index.json")).unwrap();
    let mut noted = index.clone();
    noted["annotations"] = serde_json::json!({"org.example.note": "kept"});
    env.file("layout/index.json", noted.to_string());
    let before = tree(&directory);
    let signed = json(&sign(&env, "layout"));
    assert_eq!(signed["signedIn"], directory.to_str().unwrap());
    assert!(!env.path().join("home/.chitin/oci/index.json").exists());
    assert_eq!(verified_elsewhere(&env, "layout")["verified"], true);
    let after = tree(&directory);
    assert_eq!(after.len(), before.len() + 3, "payload, config, manifest");
    for (path, found) in &before {
        if path != "index.json" {
            assert_eq!(after.get(path), Some(found), "{path}");
        }
    }
    let now: serde_json::Value = serde_json::from_str(&env.read("layout/index.json")).unwrap();
    assert_eq!(now["annotations"], noted["annotations"]);
    assert_eq!(now["manifests"][0], index["manifests"][0]);
    // The store's own signatures stay its own: what is named is what is signed.
    let packed = chitin(
        &env,
        &["pack", "minimal", "--name", "toy", "--version", "1.0.0"],
    );
    assert!(packed.status.success());
    let stored = json(&sign(&env, "toy:1.0.0"));
    assert_eq!(stored["signedIn"], "store");
    assert_eq!(tree(&directory), after);
}

#[test]
fn a_file_that_cannot_be_signed_is_left_as_it_is() {
    let env = author();
    written(&env, "toy.tar");
    written(&env, "layout");
    let refused = |what: &str, why: &[&str]| {
        let archive = fs::read(env.path().join("toy.tar")).unwrap();
        let layout = tree(&env.path().join("layout"));
        let output = sign(&env, what);
        let said = stderr(&output);
        assert!(!output.status.success(), "{what} was signed");
        for part in why {
            assert!(said.contains(part), "`{part}` in {said}");
        }
        assert!(
            said.contains("nothing was changed") || said.contains(":TAG"),
            "{said}"
        );
        assert_eq!(fs::read(env.path().join("toy.tar")).unwrap(), archive);
        assert_eq!(tree(&env.path().join("layout")), layout);
        assert!(!env.path().join("home/.chitin/oci/index.json").exists());
    };
    let allow = |what: &str, mode: u32| {
        let permissions = fs::Permissions::from_mode(mode);
        fs::set_permissions(env.path().join(what), permissions).unwrap();
    };
    allow("toy.tar", 0o444);
    refused("toy.tar", &["toy.tar`", "read-only"]);
    allow("toy.tar", 0o644);
    allow("layout", 0o555);
    refused("layout", &["layout`", "read-only"]);
    allow("layout", 0o755);
    // Which of two agents is meant must be said.
    let mut index: serde_json::Value =
        serde_json::from_str(&env.read("layout/index.json")).unwrap();
    let mut other = index["manifests"][0].clone();
    other["digest"] = format!("sha256:{}", "0".repeat(64)).into();
    other["annotations"]["org.opencontainers.image.ref.name"] = "2.0.0".into();
    index["manifests"].as_array_mut().unwrap().push(other);
    env.file("layout/index.json", index.to_string());
    refused("layout", &["several artifacts", ":TAG"]);
    // Named, it is signed, and the other one stays in the list.
    let signed = json(&sign(&env, "layout:1.0.0"));
    assert_eq!(signed["signatures"], 1);
    let now: serde_json::Value = serde_json::from_str(&env.read("layout/index.json")).unwrap();
    assert_eq!(now["manifests"].as_array().unwrap().len(), 3);
}

#[test]
fn what_was_verified_is_said_and_a_name_that_means_two_things_is_told() {
    let env = author();
    let pack = |version: &str, more: &[&str]| {
        let arguments = ["pack", "minimal", "--name", "toy", "--version", version];
        let out = chitin(&env, &[&arguments, more].concat());
        assert!(out.status.success(), "{out:?}");
    };
    let verify = |what: &str| {
        let text = chitin(&env, &["verify", what, "--trust", "ada.pub.pem"]);
        let json = json(&chitin(
            &env,
            &["verify", what, "--trust", "ada.pub.pem", "--json"],
        ));
        (
            String::from_utf8_lossy(&text.stdout).into_owned(),
            stderr(&text),
            json,
        )
    };
    pack("1.0.0", &[]);
    json(&sign(&env, "toy:1.0.0"));
    let (said, notes, seen) = verify("toy:1.0.0");
    assert!(
        said.contains("toy:1.0.0 in the local store is intact"),
        "{said}"
    );
    assert_eq!(
        (notes.as_str(), seen["place"].as_str()),
        ("", Some("store"))
    );

    // A directory of that name without an artifact in it.
    env.file("toy/AGENTS.md", "Not this one.\n");
    let (said, notes, _) = verify("toy:1.0.0");
    assert!(said.contains("in the local store"), "{said}");
    assert!(
        notes.contains("from the local store, not from `toy`")
            && notes.contains("`./toy` names that"),
        "{notes}"
    );
    let signed = sign(&env, "toy:1.0.0");
    assert!(stderr(&signed).contains("`./toy` names that"), "{signed:?}");

    // One with another artifact in it.
    fs::remove_dir_all(env.path().join("toy")).unwrap();
    let stored = verify("toy:1.0.0").2["digest"].as_str().unwrap().to_owned();
    pack("2.0.0", &["--output", "toy"]);
    json(&sign(&env, "./toy"));
    let missing = chitin(&env, &["verify", "toy:1.0.0", "--trust", "ada.pub.pem"]);
    let hint = format!("the local store has `toy:1.0.0`, too: `{stored}` names that");
    assert!(stderr(&missing).contains(&hint), "{missing:?}");
    for (what, is_clear) in [("toy", false), ("./toy", true)] {
        let (said, notes, seen) = verify(what);
        assert!(said.contains("in `") && said.contains("/toy`"), "{said}");
        assert!(seen["place"].as_str().unwrap().ends_with("/toy"), "{seen}");
        assert_ne!(seen["digest"], stored.as_str());
        assert_eq!(notes.is_empty(), is_clear, "{notes}");
        assert!(
            is_clear || notes.contains(&format!("which `{stored}` names")),
            "{notes}"
        );
    }
    let (said, notes, seen) = verify(&stored);
    assert!(said.contains("in the local store"), "{said}");
    assert_eq!(
        (notes.as_str(), &seen["digest"]),
        ("", &stored.clone().into())
    );
}
