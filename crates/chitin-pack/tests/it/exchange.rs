//! Artifacts leave and come back: layouts, archives, extracts, and what other tools make of them.

use crate::store_kit::{agent, sign, store_at};
use chitin_pack::ErrorClass;
use chitin_pack::archive::TarWriter;
use chitin_pack::artifact::{Artifact, Descriptor};
use chitin_pack::compat::OCI_MANIFEST;
use chitin_pack::found;
use chitin_pack::locate::{OnDisk, locate};
use chitin_pack::signatures::{
    PrivateKey, Requirement, SignatureCandidate, SignatureMode, TrustedKey, verify,
};
use chitin_pack::store::{
    ArchiveFile, Export, ImageLayout, Store, extract, write_archive, write_layout,
};
use chitin_test::needs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use tempfile::TempDir;

struct Bench {
    directory: TempDir,
    store: Arc<Store>,
    key: PrivateKey,
    artifact: Artifact,
    signatures: Vec<SignatureCandidate>,
}

impl Bench {
    fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let store = store_at(&directory.path().join("oci"));
        let key = PrivateKey::generate().unwrap();
        let manifest = agent(&store, 1).unwrap();
        store.tag("agent-1:1.0.0", &manifest).unwrap();
        sign(&store, &manifest, &key);
        Self {
            artifact: store.artifact(&manifest.digest).unwrap(),
            signatures: store.signatures_of(&manifest.digest).unwrap(),
            directory,
            store,
            key,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn export(&self) -> Export<'_> {
        let referrers = self.signatures.iter();
        Export {
            artifact: &self.artifact,
            referrers: referrers.map(|one| one.found.as_ref().unwrap()).collect(),
            tag: Some("1.0.0"),
        }
    }

    /// Checks that a copy is the artifact, whole and signed.
    fn is_same(&self, copy: &Artifact, signatures: &[SignatureCandidate]) {
        assert_eq!(copy.manifest_bytes, self.artifact.manifest_bytes);
        copy.verify().unwrap();
        let subject = Descriptor::of(OCI_MANIFEST, &copy.manifest_bytes);
        let requirement = Requirement {
            mode: SignatureMode::Require,
            keys: vec![TrustedKey {
                name: "release".to_owned(),
                key: self.key.public(),
            }],
            ..Requirement::default()
        };
        let verdict = verify(&subject, None, signatures, &requirement);
        assert!(verdict.unwrap().verified);
    }
}

fn bytes(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

fn write(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).unwrap();
}

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_layout_and_an_archive_hold_the_artifact_and_its_signature() {
    let bench = Bench::new();
    write_layout(&bench.path("layout"), &bench.export()).unwrap();
    assert_eq!(
        names(&bench.path("layout")),
        ["blobs", "index.json", "oci-layout"]
    );
    let layout = Arc::new(ImageLayout::open(&bench.path("layout")).unwrap());
    for tag in [None, Some("1.0.0")] {
        let copy = layout.find(tag).unwrap();
        bench.is_same(&copy, &layout.signatures_of(&copy.digest).unwrap());
    }
    let other = layout.find(Some("2.0.0")).unwrap_err();
    assert_eq!(other.class(), ErrorClass::MissingManifest);

    write_archive(&bench.path("a.tar"), &bench.export()).unwrap();
    write_archive(&bench.path("b.tar"), &bench.export()).unwrap();
    assert_eq!(bytes(&bench.path("a.tar")), bytes(&bench.path("b.tar")));
    let archive = Arc::new(ArchiveFile::open(&bench.path("a.tar")).unwrap());
    let copy = archive.find(Some("1.0.0")).unwrap();
    bench.is_same(&copy, &archive.signatures_of(&copy.digest));

    // And into another store.
    let other = store_at(&bench.path("other"));
    let adding = other.adding().unwrap();
    let manifest = other.copy_in(&copy).unwrap();
    other
        .copy_signatures(&archive.signatures_of(&copy.digest))
        .unwrap();
    other.tag("copy", &manifest).unwrap();
    drop(adding);
    let copy = other.artifact(&manifest.digest).unwrap();
    bench.is_same(&copy, &other.signatures_of(&copy.digest).unwrap());
}

#[test]
fn whatever_somebody_types_the_same_artifact_is_found() {
    let bench = Bench::new();
    write_layout(&bench.path("layout"), &bench.export()).unwrap();
    write_archive(&bench.path("a.tar"), &bench.export()).unwrap();
    let base = bench.directory.path();
    let places = OnDisk {
        base: base.to_owned(),
    };
    let open = |text: &str| {
        let located = locate(text, &places).unwrap();
        found::open(&located, base, Some(&bench.store)).unwrap()
    };
    let digest = bench.artifact.digest.to_string();
    for (text, target) in [
        ("./layout", None),
        ("layout:1.0.0", None),
        ("a.tar", None),
        ("./a.tar:1.0.0", None),
        (digest.as_str(), None),
        ("agent-1", Some("agent-1")),
        ("agent-1:1.0.0", Some("agent-1")),
    ] {
        let found = open(text).unwrap();
        bench.is_same(&found.artifact, &found.signatures);
        assert_eq!(found.target.as_deref(), target, "{text}");
    }
    assert!(open("reg.example/agent-1:1.0.0").is_none());
    // A workspace of the same name does not stand in the way, and a name that is not there is said.
    std::fs::create_dir(bench.path("agent-1")).unwrap();
    assert!(open("agent-1").is_some());
    let located = locate("agent-2", &places).unwrap();
    let error = found::open(&located, base, Some(&bench.store)).unwrap_err();
    assert_eq!(error.class(), ErrorClass::MissingManifest);
}

#[test]
fn what_is_there_is_never_written_over_and_what_fails_leaves_nothing() {
    let bench = Bench::new();
    write(&bench.path("taken"), b"mine");
    for error in [
        write_layout(&bench.path("taken"), &bench.export()).unwrap_err(),
        write_archive(&bench.path("taken"), &bench.export()).unwrap_err(),
        extract(&bench.path("taken"), &bench.artifact).unwrap_err(),
    ] {
        assert_eq!(error.class(), ErrorClass::Conflict);
    }
    assert_eq!(bytes(&bench.path("taken")), b"mine");

    let layer = bench.artifact.manifest.layers[1].digest;
    let blob = bench.store.path().join("blobs/sha256").join(layer.hex());
    write(&blob, b"other bytes");
    for error in [
        write_layout(&bench.path("new"), &bench.export()).unwrap_err(),
        write_archive(&bench.path("new"), &bench.export()).unwrap_err(),
        extract(&bench.path("new"), &bench.artifact).unwrap_err(),
        store_at(&bench.path("new-store"))
            .copy_in(&bench.artifact)
            .unwrap_err(),
    ] {
        assert!(
            matches!(error.class(), ErrorClass::DigestMismatch | ErrorClass::Io),
            "{error}"
        );
    }
    assert_eq!(names(bench.directory.path()), ["new-store", "oci", "taken"]);
    assert!(!names(&bench.path("new-store/blobs/sha256")).contains(&layer.hex()));
}

#[test]
fn an_extract_is_the_manifest_beside_its_blobs() {
    let bench = Bench::new();
    let count = extract(&bench.path("out"), &bench.artifact).unwrap();
    assert_eq!(count, 3);
    assert_eq!(names(&bench.path("out")), ["blobs", "manifest.json"]);
    assert_eq!(
        bytes(&bench.path("out/manifest.json")),
        bench.artifact.manifest_bytes
    );
    let copy = ImageLayout::open(&bench.path("out"))
        .unwrap()
        .artifact(None)
        .unwrap();
    copy.verify().unwrap();
}

#[test]
fn a_hostile_archive_is_refused_whole() {
    let bench = Bench::new();
    write_archive(&bench.path("good.tar"), &bench.export()).unwrap();
    let good = bytes(&bench.path("good.tar"));
    let mut cut = good.clone();
    cut.truncate(good.len() / 2);
    let mut changed = good.clone();
    // The first header's name: its checksum no longer holds.
    changed[0] ^= 1;
    let mut twice = TarWriter::new(Vec::new());
    twice
        .file("index.json", false, 2, &mut b"{}".as_slice())
        .unwrap();
    let no_marker = twice.finish().unwrap();
    for (what, bytes) in [
        ("cut", cut),
        ("changed", changed),
        ("no marker", no_marker),
        ("empty", Vec::new()),
    ] {
        write(&bench.path("bad.tar"), &bytes);
        assert!(ArchiveFile::open(&bench.path("bad.tar")).is_err(), "{what}");
    }
    // Blobs that are not what their names say are found when they are read.
    let layer = &bench.artifact.manifest.layers[0];
    let blob = bytes(
        &bench
            .store
            .path()
            .join("blobs/sha256")
            .join(layer.digest.hex()),
    );
    let at = good
        .windows(blob.len())
        .position(|window| window == blob)
        .unwrap();
    let mut swapped = good;
    swapped[at + 20] ^= 1;
    write(&bench.path("bad.tar"), &swapped);
    let archive = Arc::new(ArchiveFile::open(&bench.path("bad.tar")).unwrap());
    let error = archive.find(None).unwrap().verify().unwrap_err();
    assert_eq!(error.class(), ErrorClass::DigestMismatch);
}

#[test]
fn skopeo_reads_what_we_write_and_we_read_what_skopeo_writes() {
    if !needs::programs(&["skopeo"]) {
        return;
    }
    let bench = Bench::new();
    write_layout(&bench.path("layout"), &bench.export()).unwrap();
    write_archive(&bench.path("a.tar"), &bench.export()).unwrap();
    let layout = format!("oci:{}:1.0.0", bench.path("layout").display());
    let archive = format!("oci-archive:{}:1.0.0", bench.path("a.tar").display());
    for source in [&layout, &archive] {
        let output = Command::new("skopeo")
            .args(["inspect", "--raw", source])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        assert_eq!(output.stdout, bench.artifact.manifest_bytes);
    }
    // What skopeo makes of it, we read.
    let theirs = bench.path("theirs.tar");
    let target = format!("oci-archive:{}:1.0.0", theirs.display());
    let output = Command::new("skopeo")
        .args(["copy", "--quiet", &archive, &target])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let copy = Arc::new(ArchiveFile::open(&theirs).unwrap());
    let copy = copy.find(Some("1.0.0")).unwrap();
    copy.verify().unwrap();
    assert_eq!(copy.digest, bench.artifact.digest);
}
