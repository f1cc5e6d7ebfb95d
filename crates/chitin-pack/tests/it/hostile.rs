//! Artifacts that mean harm: refused whole, with the target as it was.

use crate::support::{Layer, RawEntry, artifact, files, gzip, listing, put, raw_archive};
use chitin_pack::artifact::Artifact;
use chitin_pack::layer::{LayerKind, MB};
use chitin_pack::materialize::{ApplyOptions, LayoutOptions, Overwrite, apply, plan};
use chitin_pack::store::Store;
use chitin_pack::{ErrorClass, PackError};
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

struct Bench {
    directory: TempDir,
    store: Arc<Store>,
}

impl Bench {
    /// A target with something in it already.
    fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let store = Arc::new(Store::create(&directory.path().join("store")).unwrap());
        let bench = Self { directory, store };
        fs::create_dir_all(bench.target().join("memory")).unwrap();
        fs::write(bench.target().join("memory/mine.md"), "mine").unwrap();
        fs::write(bench.target().join("AGENTS.md"), "old").unwrap();
        bench
    }

    fn around(&self) -> PathBuf {
        self.directory.path().join("around")
    }

    fn target(&self) -> PathBuf {
        self.around().join("a/b/out")
    }

    fn refused(&self, what: &str, result: Result<Artifact, PackError>, class: ErrorClass) {
        let before = listing(&self.around());
        let error = result
            .and_then(|artifact| lay(&artifact, &self.target()))
            .unwrap_err();
        assert_eq!(error.class(), class, "{what}: {error}");
        assert_eq!(listing(&self.around()), before, "{what}");
    }
}

fn lay(artifact: &Artifact, target: &Path) -> Result<(), PackError> {
    let plan = plan(artifact, &LayoutOptions::default())?;
    let options = ApplyOptions {
        overwrite: Overwrite::Allow,
    };
    apply(&plan, artifact, target, options).map(drop)
}

fn memory(entries: &[RawEntry]) -> Layer {
    (LayerKind::Memory, gzip(&raw_archive(entries)))
}

/// An archive with extended headers, by a writer that checks nothing.
fn extended(files: &[(&str, &[u8])]) -> Layer {
    let mut tar = tar::Builder::new(Vec::new());
    for (path, bytes) in files {
        // The count counts its own digits.
        let digits = if path.len() + 10 < 1000 { 3 } else { 4 };
        let record = format!("{} path={path}\n", path.len() + 7 + digits);
        let length = record.len() as u64;
        let mut header = tar::Header::new_ustar();
        header.set_entry_type(tar::EntryType::XHeader);
        header.set_size(length);
        header.set_cksum();
        tar.append(&header, record.as_bytes()).unwrap();
        let mut header = tar::Header::new_ustar();
        header.set_path("short").unwrap();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        tar.append(&header, *bytes).unwrap();
    }
    (LayerKind::Memory, gzip(&tar.into_inner().unwrap()))
}

#[test]
fn no_archive_with_an_odd_entry_is_laid_out() {
    let bench = Bench::new();
    let file = |name: &str| RawEntry::file(name);
    let directory = |name: &str| RawEntry::odd(name, b'5');
    let unsafe_path = ErrorClass::UnsafePath;
    let odd = ErrorClass::UnsupportedEntryType;
    let twice = ErrorClass::DuplicatePath;
    let cases = [
        ("absolute", vec![file("/etc/x")], unsafe_path),
        ("absolute directory", vec![directory("/etc/")], unsafe_path),
        ("climbing", vec![file("../../x")], unsafe_path),
        ("climbing inside", vec![file("a/../../x")], unsafe_path),
        ("climbing directory", vec![directory("..")], unsafe_path),
        ("here", vec![file("./x")], unsafe_path),
        ("empty part", vec![file("a//x")], unsafe_path),
        ("empty", vec![file("")], unsafe_path),
        ("backslash", vec![file("a\\..\\x")], unsafe_path),
        ("NUL", vec![file("a\0b")], unsafe_path),
        (
            "not UTF-8",
            vec![RawEntry::file(vec![b'a', 0xff])],
            unsafe_path,
        ),
        ("hard link", vec![RawEntry::odd("x", b'1')], odd),
        ("link", vec![RawEntry::odd("x", b'2'), file("x/y")], odd),
        ("character device", vec![RawEntry::odd("x", b'3')], odd),
        ("block device", vec![RawEntry::odd("x", b'4')], odd),
        ("FIFO", vec![RawEntry::odd("x", b'6')], odd),
        ("unknown type", vec![RawEntry::odd("x", b'V')], odd),
        ("twice", vec![file("x"), file("x")], twice),
        ("case", vec![file("Notes.md"), file("notes.md")], twice),
        ("file, then directory", vec![file("x"), file("x/y")], twice),
        ("directory, then file", vec![file("x/y"), file("x")], twice),
        (
            "directory in another case, then file",
            vec![file("X/y"), file("x")],
            twice,
        ),
        (
            "good before bad",
            vec![file("good.md"), file("../x")],
            unsafe_path,
        ),
    ];
    for (what, entries, class) in cases {
        let digest = put(&bench.store, &[memory(&entries)]);
        bench.refused(what, bench.store.artifact(&digest), class);
        // Also in a layer of which nothing would be written.
        let knowledge = (LayerKind::Knowledge, gzip(&raw_archive(&entries)));
        let good = files(LayerKind::Memory, &[("good.md", b"good")]);
        let digest = put(&bench.store, &[knowledge, good]);
        bench.refused(what, bench.store.artifact(&digest), class);
    }
}

#[test]
fn no_archive_is_unpacked_beyond_its_limits() {
    let bench = Bench::new();
    let zeros = RawEntry {
        content: vec![0; usize::try_from(64 * MB).unwrap()],
        ..RawEntry::file("zeros")
    };
    let bomb = put(&bench.store, &[memory(&[zeros])]);
    bench.refused(
        "bomb",
        bench.store.artifact(&bomb),
        ErrorClass::LayerTooLarge,
    );
    let deep = "a/".repeat(200) + "x";
    let long: Vec<_> = (0..3000)
        .map(|n| format!("{n}-{}", "x".repeat(3900)))
        .collect();
    let long: Vec<_> = long.iter().map(|path| (path.as_str(), &b""[..])).collect();
    let deep = put(&bench.store, &[extended(&[(&deep, b"")])]);
    bench.refused("deep", bench.store.artifact(&deep), ErrorClass::UnsafePath);
    let long = put(&bench.store, &[extended(&long)]);
    bench.refused(
        "long names",
        bench.store.artifact(&long),
        ErrorClass::LayerTooLarge,
    );
    let many: Vec<_> = (0..100_000)
        .map(|n| RawEntry {
            content: Vec::new(),
            ..RawEntry::file(format!("{n}"))
        })
        .collect();
    let many = put(&bench.store, &[memory(&many)]);
    bench.refused(
        "many",
        bench.store.artifact(&many),
        ErrorClass::LayerTooLarge,
    );
}

#[test]
fn no_blob_is_used_that_is_not_what_its_name_says() {
    let bench = Bench::new();
    let good = files(LayerKind::Memory, &[("good.md", b"good")]);
    let blob = |artifact: &Artifact| {
        let hex = artifact.layer(LayerKind::Memory).unwrap().digest.hex();
        bench.directory.path().join("store/blobs/sha256").join(hex)
    };
    let opened = artifact(&bench.store, std::slice::from_ref(&good));
    let path = blob(&opened);
    let other = files(LayerKind::Memory, &[("good.md", b"evil")]).1;
    fs::write(&path, &other).unwrap();
    bench.refused(
        "other bytes",
        Ok(opened.clone()),
        ErrorClass::DigestMismatch,
    );
    fs::write(&path, &good.1[..good.1.len() - 9]).unwrap();
    bench.refused("cut off", Ok(opened.clone()), ErrorClass::DigestMismatch);
    fs::remove_file(&path).unwrap();
    bench.refused("gone", Ok(opened), ErrorClass::MissingBlob);
}

#[test]
fn no_archive_is_used_that_is_cut_off_or_followed_by_something() {
    let bench = Bench::new();
    let whole = gzip(&raw_archive(&[RawEntry::file("x")]));
    let tar = raw_archive(&[RawEntry::file("x")]);
    let mut trailed = whole.clone();
    trailed.extend(&whole);
    let damaged = [
        ("compression cut off", whole[..whole.len() - 4].to_vec()),
        ("archive cut off", gzip(&tar[..700])),
        ("no end", gzip(&tar[..1024])),
        ("a second stream", trailed),
        ("no compression", tar),
        ("nothing", Vec::new()),
    ];
    for (what, bytes) in damaged {
        let digest = put(&bench.store, &[(LayerKind::Memory, bytes)]);
        bench.refused(
            what,
            bench.store.artifact(&digest),
            ErrorClass::MalformedArchive,
        );
    }
}

#[test]
fn two_layers_of_a_kind_are_refused() {
    let bench = Bench::new();
    let layers = [
        files(LayerKind::Memory, &[("a.md", b"a")]),
        files(LayerKind::Memory, &[("b.md", b"b")]),
    ];
    let digest = put(&bench.store, &layers);
    let result = bench.store.artifact(&digest);
    bench.refused("two layers", result, ErrorClass::DuplicateLayerType);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn nothing_ever_appears_outside_the_target(
        names in prop::collection::vec(
            prop::collection::vec(
                prop::sample::select(vec!["a", "b", "..", ".", "", "/", "\\", "\0", "é", "openclaw.json", "sessions"]),
                1..5,
            ),
            1..6,
        ),
        flags in prop::collection::vec(prop::sample::select(b"00000512".to_vec()), 6),
        layer in prop::sample::select(vec![LayerKind::Memory, LayerKind::Skills, LayerKind::Surfaces]),
    ) {
        let bench = Bench::new();
        let entries: Vec<_> = names
            .iter()
            .zip(&flags)
            .map(|(parts, flag)| RawEntry { flag: *flag, ..RawEntry::file(parts.join("/")) })
            .map(|entry| match entry.flag {
                b'0' => entry,
                _ => RawEntry { content: Vec::new(), ..entry },
            })
            .collect();
        let outside = |found: &std::collections::BTreeMap<String, crate::support::Seen>| {
            found.keys().filter(|path| !path.starts_with("a/b/out")).cloned().collect::<Vec<_>>()
        };
        let before = listing(&bench.around());
        let made = artifact(&bench.store, &[(layer, gzip(&raw_archive(&entries)))]);
        let result = lay(&made, &bench.target());
        let after = listing(&bench.around());
        prop_assert_eq!(outside(&before), outside(&after));
        if result.is_err() {
            prop_assert_eq!(before, after);
        } else {
            for path in after.keys().filter(|path| !before.contains_key(*path)) {
                let inside = path.strip_prefix("a/b/out/").unwrap();
                prop_assert!(!["openclaw.json", "sessions"].contains(&inside.split('/').next().unwrap()));
            }
        }
    }
}
