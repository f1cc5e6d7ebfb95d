//! Backups that are damaged, cut off or made to do harm: each is refused, and the home stays as it was.

use super::{code, files, shown};
use crate::process::{chitin, command};
use crate::run::Talk;
use crate::undo::kills::Dice;
use chitin_test::model_server::Format;
use serde_json::json;
use std::io::Write;
use std::path::Path;

fn with_backup() -> (Talk, Vec<u8>) {
    let talk = Talk::new(Format::Anthropic, &[json!({"text": "Heard.", "times": 0})]);
    talk.answer("Hello.");
    let made = chitin(&talk.env, &["backup", "one.tar.gz"]);
    assert_eq!(code(&made), 0, "{}", shown(&made));
    let bytes = std::fs::read(talk.env.path().join("one.tar.gz")).unwrap();
    (talk, bytes)
}

/// Tries to restore it into an empty place and over a home, and sees that nothing came of it.
fn refused(talk: &Talk, bytes: &[u8], what: &str) -> String {
    std::fs::write(talk.env.path().join("bad.tar.gz"), bytes).unwrap();
    let empty = talk.env.path().join("beside/home");
    std::fs::create_dir_all(empty.parent().unwrap()).unwrap();
    let mut restore = command(&talk.env, &["restore", "bad.tar.gz"]);
    let output = restore.env("CHITIN_HOME", &empty).output().unwrap();
    assert!(matches!(code(&output), 3 | 5), "{what}: {}", shown(&output));
    let beside = std::fs::read_dir(empty.parent().unwrap()).unwrap().count();
    assert_eq!(beside, 0, "{what}: {}", shown(&output));
    let checked = chitin(&talk.env, &["restore", "--check", "bad.tar.gz"]);
    assert_eq!(code(&checked), code(&output), "{what}: {}", shown(&checked));
    shown(&output)
}

#[test]
fn a_damaged_backup_is_refused_whatever_byte_is_damaged() {
    let (talk, whole) = with_backup();
    let home = super::home(&talk);
    let before = files(&home);
    let mut dice = Dice(7);
    for round in 0..40 {
        let mut bytes = whole.clone();
        let at = usize::try_from(dice.below(bytes.len() as u64)).unwrap();
        bytes[at] ^= 1 << dice.below(8);
        // Bytes of the compressed format's own header say nothing.
        if at < 10 {
            continue;
        }
        refused(&talk, &bytes, &format!("round {round}: byte {at}"));
    }
    for round in 0..15 {
        let length = usize::try_from(dice.below(whole.len() as u64)).unwrap();
        refused(
            &talk,
            &whole[..length],
            &format!("round {round}: {length} bytes"),
        );
    }
    let mut more = whole.clone();
    more.extend_from_slice(&whole);
    refused(&talk, &more, "twice");
    refused(&talk, b"", "empty");
    refused(
        &talk,
        b"no archive at all, only a text of some length",
        "text",
    );
    let forced = chitin(&talk.env, &["restore", "bad.tar.gz", "--force"]);
    assert_eq!(code(&forced), 3, "{}", shown(&forced));
    assert_eq!(files(&home), before, "a home that is there stays");
}

/// An archive made by hand: entries of a name, a kind and a content.
fn archive(entries: &[(&str, u8, &[u8])]) -> Vec<u8> {
    let mut out = chitin_pack::archive::compress(Vec::new());
    for (name, kind, content) in entries {
        let mut header = [0_u8; 512];
        let shown = &name.as_bytes()[..name.len().min(100)];
        header[..shown.len()].copy_from_slice(shown);
        header[100..107].copy_from_slice(b"0000600");
        header[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
        header[156] = *kind;
        header[157..161].copy_from_slice(b"/etc");
        header[257..265].copy_from_slice(b"ustar  \0");
        header[148..156].copy_from_slice(b"        ");
        let sum: u64 = header.iter().map(|byte| u64::from(*byte)).sum();
        header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        out.write_all(&header).unwrap();
        out.write_all(content).unwrap();
        let rest = (512 - content.len() % 512) % 512;
        out.write_all(&vec![0; rest]).unwrap();
    }
    out.write_all(&[0; 1024]).unwrap();
    out.finish().unwrap()
}

const HEAD: &[u8] = br#"{"format":"chitin-backup","version":1,"chitin":"0.1.0","created":"2026-01-01T00:00:00Z","home":"/h","secrets":true,"artifacts":true}"#;

/// A name, the entries of an archive, and what is said of it.
type Case<'a> = (&'a str, Vec<(&'a str, u8, &'a [u8])>, &'a str);

#[test]
fn a_hostile_backup_writes_nothing_anywhere() {
    let (talk, _) = with_backup();
    let head = ("chitin-backup.json", b'0', HEAD);
    let long = format!("home/{}d\0", "d/".repeat(80));
    let cases: Vec<Case<'_>> = vec![
        (
            "climbs",
            vec![head, ("home/../../evil", b'0', b"x")],
            "not safe",
        ),
        (
            "absolute",
            vec![head, ("home//etc/evil", b'0', b"x")],
            "not safe",
        ),
        (
            "elsewhere",
            vec![head, ("/etc/evil", b'0', b"x")],
            "does not belong",
        ),
        ("dots", vec![head, ("home/./a", b'0', b"x")], "not safe"),
        (
            "deep",
            vec![
                head,
                ("././@LongLink", b'L', long.as_bytes()),
                ("home/d", b'0', b"x"),
            ],
            "not safe",
        ),
        ("symbolic link", vec![head, ("home/a", b'2', b"")], "a link"),
        ("hard link", vec![head, ("home/a", b'1', b"")], "a link"),
        ("device", vec![head, ("home/a", b'3', b"")], "a device"),
        ("pipe", vec![head, ("home/a", b'6', b"")], "a device"),
        (
            "directory",
            vec![head, ("home/a", b'5', b"")],
            "other than files",
        ),
        (
            "no end",
            vec![head, ("home/a", b'0', b"x")],
            "its end is missing",
        ),
        ("no head", vec![("home/a", b'0', b"x")], "not a backup"),
        (
            "twice",
            vec![head, ("home/a", b'0', b"x"), ("home/a", b'0', b"y")],
            "twice",
        ),
        (
            "a file as a directory",
            vec![head, ("home/a", b'0', b"x"), ("home/a/b", b'0', b"y")],
            "below a file",
        ),
        (
            "wrong list",
            vec![
                head,
                ("home/a", b'0', b"x"),
                (
                    "manifest/0001.jsonl",
                    b'0',
                    b"{\"path\":\"a\",\"size\":1,\"executable\":false,\"digest\":\"00\"}\n",
                ),
            ],
            "not what was backed up",
        ),
        (
            "no list",
            vec![
                head,
                ("home/a", b'0', b"x"),
                (
                    "end.json",
                    b'0',
                    b"{\"files\":1,\"bytes\":1,\"digest\":\"00\"}\n",
                ),
            ],
            "files are missing",
        ),
        (
            "long name",
            vec![head, ("././@LongLink", b'L', &[b'a'; 9000])],
            "other than files",
        ),
    ];
    for (what, entries, expected) in cases {
        let said = refused(&talk, &archive(&entries), what);
        assert!(said.contains(expected), "{what}: {said}");
    }
    let newer = String::from_utf8(HEAD.to_vec())
        .unwrap()
        .replace("\"version\":1", "\"version\":2");
    let newer = archive(&[("chitin-backup.json", b'0', newer.as_bytes())]);
    let said = refused(&talk, &newer, "newer");
    assert!(said.contains("newer version"), "{said}");
    assert!(!Path::new("/etc/evil").exists());
}
