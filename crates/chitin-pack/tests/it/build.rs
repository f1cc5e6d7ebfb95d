//! Builds: what goes in, what stays out, and what is not read twice.
#![expect(
    clippy::disallowed_methods,
    reason = "projects are written by hand, with odd entries on purpose"
)]
#![expect(
    clippy::unwrap_used,
    reason = "a kit for tests stops at the first surprise"
)]

use chitin_pack::archive::EntryKind;
use chitin_pack::artifact::Artifact;
use chitin_pack::build::{
    Annotations, BuildOptions, Built, LinkMode, OutsidePaths, Reuse, build, build_profile,
    build_source,
};
use chitin_pack::definition::Definition;
use chitin_pack::layer::LayerKind;
use chitin_pack::store::Store;
use chitin_pack::{ErrorClass, PackError};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};
use tempfile::TempDir;

/// Paths and texts.
pub(crate) type Files = BTreeMap<String, String>;

pub(crate) fn files(files: &[(&str, &str)]) -> Files {
    files
        .iter()
        .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
        .collect()
}

/// A project, and a store beside it.
pub(crate) struct Project {
    directory: TempDir,
    pub(crate) store: Arc<Store>,
}

impl Project {
    pub(crate) fn new(files: Files) -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("project")).unwrap();
        let store = Arc::new(Store::create(&directory.path().join("oci")).unwrap());
        let project = Self { directory, store };
        for (path, text) in files {
            project.write(&path, &text);
        }
        project
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("project")
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn link(&self, path: &str, target: &str) {
        symlink(target, self.path().join(path)).unwrap();
    }

    /// Waits until nothing was changed just now.
    pub(crate) fn settle() {
        // The clock that files get their times from ticks a few hundred times a second.
        std::thread::sleep(Duration::from_millis(25));
    }

    pub(crate) fn build(&self, paths: Value, options: &BuildOptions) -> Result<Built, PackError> {
        let mut definition = json!({
            "name": "harbor-pilot", "version": "1.2.0", "description": "Guides ships.",
            "adapter": { "use": "openclaw" },
        });
        if let (Value::Object(definition), Value::Object(paths)) = (&mut definition, paths) {
            definition.extend(paths);
        }
        build(
            &self.path(),
            &Definition::parse(&definition).unwrap(),
            options,
            &self.store,
        )
    }

    pub(crate) fn artifact(&self, built: &Built) -> Artifact {
        self.store.artifact(&built.manifest.digest).unwrap()
    }

    fn refused(&self, paths: Value, options: &BuildOptions) -> ErrorClass {
        self.build(paths, options).unwrap_err().class()
    }
}

/// The files of a layer, with a `*` behind those that may be run.
pub(crate) fn contents(artifact: &Artifact, kind: LayerKind) -> Files {
    let mut found = Files::new();
    artifact
        .files(kind, u64::MAX, |entry, content| {
            if let EntryKind::File { executable, .. } = entry.kind {
                let mut text = String::new();
                content.read_to_string(&mut text).unwrap();
                let mark = if executable { "*" } else { "" };
                found.insert(format!("{}{mark}", entry.path), text);
            }
            Ok(())
        })
        .unwrap();
    found
}

fn flatten() -> BuildOptions {
    BuildOptions {
        links: LinkMode::Flatten,
        ..BuildOptions::default()
    }
}

#[test]
fn patterns_are_relative_to_the_project_and_some_names_are_never_packed() {
    let project = Project::new(files(&[
        (
            ".staxignore",
            "# no\n/knowledge/private/\n*.log\n!keep.log\nknowledge/**/draft-*\n",
        ),
        ("knowledge/a.md", "a"),
        ("knowledge/.hidden", "h"),
        ("knowledge/private/p.md", "no"),
        ("knowledge/deep/private/p.md", "yes"),
        ("knowledge/x.log", "no"),
        ("knowledge/keep.log", "yes"),
        ("knowledge/deep/draft-1.md", "no"),
        ("knowledge/node_modules/m/index.js", "no"),
        ("knowledge/deep/.git/HEAD", "no"),
        ("knowledge/.stax/x", "no"),
        ("knowledge/out/manifest.json", "no"),
    ]));
    let options = BuildOptions {
        output: Some(project.path().join("knowledge/out")),
        ..BuildOptions::default()
    };
    let built = project
        .build(json!({"knowledge": "./knowledge"}), &options)
        .unwrap();
    assert_eq!(
        contents(&project.artifact(&built), LayerKind::Knowledge),
        files(&[
            ("a.md", "a"),
            (".hidden", "h"),
            ("deep/private/p.md", "yes"),
            ("keep.log", "yes")
        ])
    );
}

#[test]
fn what_cannot_be_packed_is_refused_by_its_kind() {
    let project = Project::new(files(&[
        ("memory/a.md", "a"),
        ("rules/r.md", "r"),
        ("surfaces/notes.txt", "n"),
        ("skills/s/notes.md", "n"),
        ("p.md", "p"),
        ("bad.json", "{"),
        (
            "persona.json",
            r#"{"name": "x", "displayName": "X", "role": ""}"#,
        ),
    ]));
    let plain = BuildOptions::default();
    let refused = |paths| project.refused(paths, &plain);
    assert_eq!(
        refused(json!({"memory": "./nope"})),
        ErrorClass::MissingPath
    );
    assert_eq!(
        refused(json!({"memory": "./p.md"})),
        ErrorClass::WrongPathType
    );
    assert_eq!(
        refused(json!({"prompt": "./memory"})),
        ErrorClass::WrongPathType
    );
    assert_eq!(
        refused(json!({"surfaces": "surfaces"})),
        ErrorClass::InvalidSurface
    );
    assert_eq!(
        refused(json!({"skills": "skills"})),
        ErrorClass::SkillWithoutDocument
    );
    assert_eq!(
        refused(json!({"mcp": "bad.json"})),
        ErrorClass::MalformedJson
    );
    assert_eq!(
        refused(json!({"persona": "persona.json"})),
        ErrorClass::EmptyField
    );
    assert_eq!(
        refused(json!({"memory": "../elsewhere"})),
        ErrorClass::MissingPath
    );
    assert_eq!(
        refused(json!({"memory": "../oci"})),
        ErrorClass::OutsideRoot
    );
    assert_eq!(
        refused(json!({"prompt": "/etc/hostname"})),
        ErrorClass::OutsideRoot
    );

    project.link("rules/l.md", "r.md");
    assert_eq!(refused(json!({"rules": "rules"})), ErrorClass::Symlink);
    fs::write(
        project
            .path()
            .join("memory")
            .join(std::ffi::OsStr::from_bytes(b"\xff")),
        "x",
    )
    .unwrap();
    assert_eq!(
        refused(json!({"memory": "memory"})),
        ErrorClass::InvalidUtf8
    );
    fs::create_dir(project.path().join("k")).unwrap();
    project.write("k/back\\slash", "x");
    assert_eq!(
        refused(json!({"knowledge": "k"})),
        ErrorClass::BackslashPath
    );
    project.write("prompt.md", "twice");
    fs::hard_link(
        project.path().join("prompt.md"),
        project.path().join("second.md"),
    )
    .unwrap();
    assert_eq!(
        refused(json!({"prompt": "prompt.md"})),
        ErrorClass::HardLink
    );
}

#[test]
fn links_are_flattened_to_files_that_could_be_packed_themselves() {
    let project = Project::new(files(&[
        (".staxignore", "hidden.md\n"),
        ("rules/r.md", "r"),
        ("shared/s.md", "shared"),
        ("hidden.md", "h"),
        (".git/config", "g"),
    ]));
    project.link("rules/l.md", "../shared/s.md");
    let built = project
        .build(json!({"rules": "rules"}), &flatten())
        .unwrap();
    let expected = files(&[("r.md", "r"), ("l.md", "shared")]);
    assert_eq!(
        contents(&project.artifact(&built), LayerKind::Rules),
        expected
    );

    for (target, class) in [
        ("nowhere", ErrorClass::SymlinkDangling),
        ("../shared", ErrorClass::SymlinkToDirectory),
        ("odd.md", ErrorClass::SymlinkCycle),
        ("../../oci/index.json", ErrorClass::SymlinkOutsideRoot),
        ("/etc/passwd", ErrorClass::SymlinkOutsideRoot),
        ("../hidden.md", ErrorClass::Symlink),
        ("../.git/config", ErrorClass::Symlink),
    ] {
        project.link("rules/odd.md", target);
        assert_eq!(
            project.refused(json!({"rules": "rules"}), &flatten()),
            class,
            "{target}"
        );
        fs::remove_file(project.path().join("rules/odd.md")).unwrap();
    }
}

#[test]
fn a_path_outside_is_packed_when_somebody_asks_for_it() {
    let project = Project::new(files(&[("agent.json", "{}")]));
    let outside = project.path().join("../outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("a.md"), "a").unwrap();
    let options = BuildOptions {
        outside: OutsidePaths::Allow,
        ..BuildOptions::default()
    };
    let paths = json!({"knowledge": "../outside", "prompt": "../outside/a.md"});
    let built = project.build(paths, &options).unwrap();
    let artifact = project.artifact(&built);
    assert_eq!(
        contents(&artifact, LayerKind::Knowledge),
        files(&[("a.md", "a")])
    );
    assert_eq!(artifact.document(LayerKind::Prompt).unwrap().unwrap(), b"a");
}

#[test]
fn limits_hold_until_they_are_raised_and_large_things_deserve_a_word() {
    let project = Project::new(files(&[("rules/r.md", "r")]));
    project.write("rules/large.md", &"x".repeat(11 << 20));
    let paths = json!({"rules": "rules"});
    let built = project
        .build(paths.clone(), &BuildOptions::default())
        .unwrap();
    let codes: Vec<_> = built
        .warnings
        .iter()
        .map(|warning| (warning.code, warning.target.clone()))
        .collect();
    assert_eq!(codes, [("LARGE_FILE", Some("large.md".to_owned()))]);
    project.write("rules/larger.md", &"x".repeat(6 << 20));
    assert_eq!(
        project.refused(paths.clone(), &BuildOptions::default()),
        ErrorClass::LayerTooLarge
    );
    let options = BuildOptions {
        limits: BTreeMap::from([(LayerKind::Rules, 32 << 20)]),
        ..BuildOptions::default()
    };
    project.build(paths.clone(), &options).unwrap();
    // Taken from the store or read again: a limit is a limit.
    assert_eq!(
        project.refused(paths, &BuildOptions::default()),
        ErrorClass::LayerTooLarge
    );
}

#[test]
fn an_empty_directory_is_an_empty_layer_and_a_warning() {
    let project = Project::new(Files::new());
    fs::create_dir(project.path().join("memory")).unwrap();
    let built = project
        .build(json!({"memory": "memory"}), &BuildOptions::default())
        .unwrap();
    assert_eq!(built.layers[0].tar.unwrap().1, 1024);
    assert_eq!(built.warnings.len(), 1);
    assert_eq!(
        (built.warnings[0].code, built.warnings[0].layer),
        ("EMPTY_DIRECTORY", Some("memory"))
    );
}

#[test]
fn full_notes_are_written_when_asked_for() {
    let project = Project::new(files(&[
        ("memory/a.md", "a"),
        ("knowledge/a.md", "a"),
        ("skills/s/SKILL.md", "s"),
        ("skills/s/a.md", "a"),
        ("skills/t/SKILL.md", "t"),
        (
            "persona.json",
            r#"{"name": "mira", "displayName": "Mira", "role": "pilot"}"#,
        ),
    ]));
    let options = BuildOptions {
        annotations: Annotations::Full,
        ..BuildOptions::default()
    };
    let paths = json!({"memory": "memory", "knowledge": "knowledge", "persona": "persona.json", "author": "Ines", "skills": "skills"});
    let built = project.build(paths, &options).unwrap();
    let manifest = project.artifact(&built).manifest;
    let layers: Vec<_> = manifest
        .layers
        .iter()
        .map(|layer| json!(layer.annotations))
        .collect();
    assert_eq!(
        layers,
        [
            json!({"org.opencontainers.image.title": "knowledge.tar.gz", "dev.stax.knowledge.files": "1"}),
            json!({"org.opencontainers.image.title": "skills.tar.gz", "dev.stax.skills.count": "2"}),
            json!({"org.opencontainers.image.title": "persona.json"}),
            json!({"org.opencontainers.image.title": "memory.tar.gz", "dev.stax.memory.snapshot": "seed"}),
        ]
    );
    assert_eq!(manifest.annotations["dev.stax.persona"], "mira");
    assert_eq!(
        manifest.annotations["org.opencontainers.image.vendor"],
        "Ines"
    );
}

#[test]
fn profiles_and_sources_are_artifacts_of_their_own() {
    let project = Project::new(files(&[
        ("src/a.rs", "a"),
        (".git/HEAD", "h"),
        (".hg/x", "h"),
        (".env", "e"),
    ]));
    let options = BuildOptions::default();
    let profile =
        json!({"name": "keeper", "version": "1.0.0", "openclaw": {"gateway": {"port": 1}}});
    let built = build_profile(&profile, &options, &project.store).unwrap();
    let artifact = project.artifact(&built);
    assert_eq!(
        artifact.manifest.artifact_type,
        "application/vnd.stax.profile.v1"
    );
    assert_eq!(
        artifact.config,
        json!({
            "kind": "profile", "profileType": "openclaw", "specVersion": "1.0.0", "name": "keeper", "version": "1.0.0",
            "openclaw": {"gateway": {"port": 1}},
        })
    );
    artifact.verify().unwrap();

    let source = json!({"name": "tree", "version": "1.0.0"});
    let built = build_source(&project.path(), &source, &options, &project.store).unwrap();
    let artifact = project.artifact(&built);
    assert_eq!(artifact.config["kind"], "source");
    let expected = files(&[("src/a.rs", "a"), (".env", "e")]);
    assert_eq!(contents(&artifact, LayerKind::SourceSnapshot), expected);
}

#[test]
fn what_did_not_change_is_not_opened_again() {
    let project = Project::new(files(&[
        ("memory/a.md", "a"),
        ("memory/b/c.md", "c"),
        ("p.md", "p"),
    ]));
    let paths = json!({"memory": "memory", "prompt": "p.md"});
    let again = || {
        project
            .build(paths.clone(), &BuildOptions::default())
            .unwrap()
    };
    Project::settle();
    let first = again();
    assert_eq!(first.reused, 0);
    let secret = project.path().join("memory/a.md");
    let second = again();
    assert_eq!(
        (second.reused, second.manifest.digest),
        (2, first.manifest.digest)
    );

    // Same size, same modification time: the change is seen all the same.
    let before = File::open(&secret)
        .unwrap()
        .metadata()
        .unwrap()
        .modified()
        .unwrap();
    project.write("memory/a.md", "b");
    File::options()
        .write(true)
        .open(&secret)
        .unwrap()
        .set_modified(before)
        .unwrap();
    let third = again();
    assert_eq!(third.reused, 1);
    assert_eq!(
        contents(&project.artifact(&third), LayerKind::Memory)["a.md"],
        "b"
    );

    // A file that may be run now makes another layer.
    Project::settle();
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(
        contents(&project.artifact(&again()), LayerKind::Memory)["a.md*"],
        "b"
    );

    let nothing = BuildOptions {
        reuse: Reuse::Nothing,
        ..BuildOptions::default()
    };
    assert_eq!(project.build(paths.clone(), &nothing).unwrap().reused, 0);
}

#[test]
fn a_blob_that_went_away_is_made_again() {
    let project = Project::new(files(&[("memory/a.md", "a")]));
    let again = || {
        project
            .build(json!({"memory": "memory"}), &BuildOptions::default())
            .unwrap()
    };
    Project::settle();
    let first = again();
    let blob = first.layers[0].descriptor.digest.hex();
    fs::remove_file(project.store.path().join("blobs/sha256").join(blob)).unwrap();
    let second = again();
    assert_eq!(
        (second.reused, second.manifest.digest),
        (0, first.manifest.digest)
    );
    project.artifact(&second).verify().unwrap();
}

#[test]
fn a_file_written_in_the_same_tick_is_never_believed_unread() {
    let project = Project::new(files(&[("memory/a.md", "0000")]));
    for round in 1..200 {
        project.write("memory/a.md", &format!("{round:04}"));
        let built = project
            .build(json!({"memory": "memory"}), &BuildOptions::default())
            .unwrap();
        let found = contents(&project.artifact(&built), LayerKind::Memory);
        assert_eq!(found["a.md"], format!("{round:04}"));
    }
}

fn names() -> impl Strategy<Value = String> {
    proptest::collection::vec("[a-c]{1,2}|ö|é|x y|\\.d", 1..4)
        .prop_map(|parts| format!("{}.md", parts.join("/")))
}

fn set_times(directory: &Path, seconds: u64) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            set_times(&path, seconds);
        }
        let time = UNIX_EPOCH + Duration::from_secs(seconds);
        File::open(&path).unwrap().set_modified(time).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn the_same_files_give_the_same_digest_whatever_their_order_times_and_permissions(
        tree in proptest::collection::btree_map(names(), ".{0,40}", 1..12),
        seconds in 1_u64..2_000_000_000,
        order in any::<bool>(),
        mode in prop_oneof![Just(0o600), Just(0o640), Just(0o664), Just(0o400)],
    ) {
        let listed: Vec<_> = tree.iter().collect();
        let reversed: Vec<_> = listed.iter().rev().copied().collect();
        let [first, second] = [listed.clone(), if order { listed } else { reversed }].map(|written| {
            let project = Project::new(Files::new());
            for (path, text) in written {
                // `a.md` may stand in the way of `a.md/b.md`, never here: directories have no suffix.
                project.write(&format!("knowledge/{path}"), text);
            }
            project
        });
        for path in tree.keys() {
            let path = second.path().join("knowledge").join(path);
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }
        set_times(&second.path(), seconds);
        let built = [&first, &second].map(|project| {
            project.build(json!({"knowledge": "knowledge"}), &BuildOptions::default())
                .map(|built| built.manifest.digest)
                .map_err(|error| error.class())
        });
        prop_assert_eq!(&built[0], &built[1]);
    }

    #[test]
    fn what_is_taken_from_an_earlier_build_is_what_reading_would_give(
        changes in proptest::collection::vec((0_usize..6, 0_usize..3, "[ab]{1,2}"), 1..10),
    ) {
        let project = Project::new(files(&[("memory/0", "aa"), ("memory/1", "ab"), ("memory/d/2", "b")]));
        let paths = json!({"memory": "memory"});
        let nothing = BuildOptions { reuse: Reuse::Nothing, ..BuildOptions::default() };
        for (change, at, text) in changes {
            let names = ["memory/0", "memory/1", "memory/d/2"];
            let path = project.path().join(names[at]);
            match change {
                0 => project.write(names[at], &text),
                1 => {
                    let time = fs::metadata(&path).and_then(|found| found.modified());
                    project.write(names[at], &text);
                    if let Ok(time) = time {
                        File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
                    }
                }
                2 => drop(fs::set_permissions(&path, fs::Permissions::from_mode(0o700))),
                3 => drop(fs::remove_file(&path)),
                4 => drop(fs::rename(&path, project.path().join(names[(at + 1) % 3]))),
                _ => Project::settle(),
            }
            let [quick, thorough] = [&BuildOptions::default(), &nothing]
                .map(|options| project.build(paths.clone(), options).unwrap().manifest.digest);
            prop_assert_eq!(quick, thorough);
        }
    }

    #[test]
    fn no_byte_from_outside_the_project_is_ever_packed(
        targets in proptest::collection::vec(
            prop_oneof![
                Just("../outside/secret.md"), Just("../../outside/secret.md"), Just("/proc/self/cwd/secret.md"),
                Just("in.md"), Just("out"), Just("out/secret.md"), Just("../knowledge/in.md"), Just("ABSOLUTE"),
            ],
            1..4,
        ),
        flattened in any::<bool>(),
        declared in prop_oneof![Just("knowledge"), Just("knowledge/out"), Just("knowledge/.."), Just("knowledge/l0")],
    ) {
        let project = Project::new(files(&[("knowledge/in.md", "inside")]));
        let outside = project.path().join("../outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("secret.md"), "SECRET").unwrap();
        project.link("knowledge/out", "../../outside");
        for (at, target) in targets.iter().enumerate() {
            let absolute = outside.join("secret.md");
            let target = if *target == "ABSOLUTE" { absolute.to_str().unwrap() } else { target };
            project.link(&format!("knowledge/l{at}"), target);
        }
        if targets.iter().all(|target| *target == "in.md") {
            fs::remove_file(project.path().join("knowledge/out")).unwrap();
        }
        let options = if flattened { flatten() } else { BuildOptions::default() };
        if let Ok(built) = project.build(json!({"knowledge": declared}), &options) {
            let found = contents(&project.artifact(&built), LayerKind::Knowledge);
            prop_assert!(found.values().all(|text| text == "inside"), "{found:?}");
        }
    }
}
