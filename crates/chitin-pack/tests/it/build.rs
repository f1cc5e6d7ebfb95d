//! Builds: what goes in and what stays out.

use crate::project::{Files, Project, contents, files};
use chitin_pack::ErrorClass;
use chitin_pack::build::{
    Annotations, BuildOptions, LinkMode, OutsidePaths, build_profile, build_source,
};
use chitin_pack::layer::LayerKind;
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

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
