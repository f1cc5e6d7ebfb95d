//! Blobs of the local store that were damaged behind its back: each verb mends them, or fails and says so.

use super::{copied, json, shipped};
use crate::process::chitin;
use chitin_test::TestEnv;
use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Output;

/// What happens to a file.
#[derive(Debug, Clone, Copy)]
enum Harm {
    Emptied,
    CutShort,
    FlippedBit,
}

const HARMS: [Harm; 3] = [Harm::Emptied, Harm::CutShort, Harm::FlippedBit];

impl Harm {
    fn of(self, mut bytes: Vec<u8>) -> Vec<u8> {
        match self {
            Self::Emptied => Vec::new(),
            Self::CutShort => bytes[..bytes.len() / 2].to_vec(),
            Self::FlippedBit => {
                let middle = bytes.len() / 2;
                bytes[middle] ^= 1;
                bytes
            }
        }
    }
}

fn blobs(env: &TestEnv) -> Vec<PathBuf> {
    let directory = env.home().join(".chitin/oci/blobs/sha256");
    let entries = fs::read_dir(directory).unwrap();
    let mut blobs: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    blobs.sort();
    blobs
}

fn damage(blob: &PathBuf, harm: Harm) {
    fs::write(blob, harm.of(fs::read(blob).unwrap())).unwrap();
}

/// A workspace that was packed.
fn packed() -> TestEnv {
    let env = TestEnv::new();
    copied(&env, "harbor");
    json(&pack(&env));
    env
}

fn pack(env: &TestEnv) -> Output {
    chitin(env, &["pack", "harbor", "--version", "1.0.0", "--json"])
}

/// The store holds nothing that is damaged, and the artifact comes out of it as it went in.
fn is_whole(env: &TestEnv, name: &str, what: &str) {
    let checked = json(&chitin(env, &["cache", "check", "--json"]));
    assert_eq!(checked["clean"], true, "{what}: {checked}");
    let copy = env.path().join("copy");
    let _ = fs::remove_dir_all(&copy);
    json(&chitin(env, &["unpack", name, "copy", "--json"]));
    assert_eq!(
        shipped(&copy),
        shipped(&env.path().join("harbor")),
        "{what}"
    );
}

/// It failed, named the damage, and said what to do.
fn is_told(output: &Output, what: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{what}: {said}");
    assert!(said.contains("sha256:"), "{what}: {said}");
    assert!(said.contains("hint: "), "{what}: {said}");
    assert!(!said.contains("127.0.0.1"), "{what}: {said}");
}

#[test]
fn packing_again_mends_whatever_is_damaged() {
    for harm in HARMS {
        let env = packed();
        let of_pack = blobs(&env);
        assert!(of_pack.len() > 3);
        for blob in &of_pack {
            damage(blob, harm);
            // What the last build noted is believed, as far as it can be checked.
            json(&pack(&env));
            is_whole(
                &env,
                "harbor:1.0.0",
                &format!("{harm:?} {}", blob.display()),
            );
        }
        for blob in &of_pack {
            damage(blob, harm);
        }
        let _ = fs::remove_dir_all(env.home().join(".chitin/oci/packs"));
        json(&pack(&env));
        is_whole(&env, "harbor:1.0.0", &format!("{harm:?}, all"));
    }
}

#[test]
fn nothing_damaged_is_signed_or_pushed() {
    for harm in HARMS {
        let env = packed();
        json(&chitin(&env, &["sign", "--new-key", "ada", "--json"]));
        let sign = ["sign", "harbor:1.0.0", "--key", "ada.pem"];
        // Nobody listens there: it is found before anything is sent.
        let nowhere = "127.0.0.1:1/team/harbor:1";
        let push = ["push", "harbor:1.0.0", nowhere, "--plain-http"];
        for blob in blobs(&env) {
            let whole = fs::read(&blob).unwrap();
            damage(&blob, harm);
            let what = format!("{harm:?} {}", blob.display());
            is_told(&chitin(&env, &sign), &format!("sign, {what}"));
            is_told(&chitin(&env, &push), &format!("push, {what}"));
            fs::write(&blob, whole).unwrap();
        }
        let signed = chitin(&env, &sign);
        assert!(signed.status.success(), "{signed:?}");
    }
}

/// A registry that gives out what a store holds, under one tag.
fn registry_of(env: &TestEnv, manifest: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let held: HashMap<String, Vec<u8>> = blobs(env)
        .into_iter()
        .map(|blob| {
            let name = blob.file_name().unwrap().to_str().unwrap().to_owned();
            (format!("sha256:{name}"), fs::read(blob).unwrap())
        })
        .collect();
    let manifest = manifest.to_owned();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let request = lines.next().unwrap_or_else(|| Ok(String::new())).unwrap();
            // The head ends with an empty line.
            while lines.next().is_some_and(|line| !line.unwrap().is_empty()) {}
            let path = request.split(' ').nth(1).unwrap_or_default();
            let (kind, last) = path.rsplit_once('/').unwrap_or_default();
            let is_tag = kind.ends_with("/manifests") && last == "1.0.0";
            let digest = if is_tag { manifest.as_str() } else { last };
            let is_held = kind.ends_with("/manifests") || kind.ends_with("/blobs");
            let (status, body) = match held.get(digest).filter(|_| is_held) {
                Some(body) => ("200 OK", body.as_slice()),
                None => ("404 Not Found", b"{}".as_slice()),
            };
            let kind = "application/vnd.oci.image.manifest.v1+json";
            let answer = format!(
                "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\ndocker-content-digest: {digest}\r\nconnection: close\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all(answer.as_bytes());
            if !request.starts_with("HEAD") {
                let _ = stream.write_all(body);
            }
        }
    });
    address
}

#[test]
fn pulling_again_mends_whatever_is_damaged() {
    let author = TestEnv::new();
    copied(&author, "harbor");
    let digest = json(&pack(&author))["digest"].as_str().unwrap().to_owned();
    let place = format!("{}/team/harbor:1.0.0", registry_of(&author, &digest));
    for harm in HARMS {
        let reader = TestEnv::new();
        copied(&reader, "harbor");
        let pull = ["pull", &place, "--plain-http", "--json"];
        json(&chitin(&reader, &pull));
        for blob in blobs(&reader) {
            damage(&blob, harm);
            json(&chitin(&reader, &pull));
            is_whole(&reader, &place, &format!("{harm:?} {}", blob.display()));
        }
        // Who only uses it has it mended, too.
        for blob in blobs(&reader) {
            damage(&blob, harm);
        }
        let unpack = ["unpack", &place, "again", "--plain-http", "--json"];
        json(&chitin(&reader, &unpack));
        is_whole(&reader, &place, &format!("{harm:?}, all"));
    }
}
