//! Workspaces packed without a definition.
#![expect(clippy::disallowed_methods, reason = "workspaces are written by hand")]

use crate::project::{Files, Project, contents, files};
use chitin_pack::build::{Built, MemoryFileMode, WorkspaceOptions, pack_workspace};
use chitin_pack::definition::PackIdentity;
use chitin_pack::layer::LayerKind;
use chitin_pack::{ErrorClass, PackError};
use proptest::prelude::*;

fn pack(project: &Project, memory_file: MemoryFileMode) -> Result<Built, PackError> {
    let identity = PackIdentity {
        name: "keeper".into(),
        version: "0.3.0".into(),
        description: "Keeps the lamp.".into(),
        ..PackIdentity::default()
    };
    let options = WorkspaceOptions {
        memory_file,
        ..WorkspaceOptions::default()
    };
    pack_workspace(&project.path(), &identity, &options, &project.store)
}

#[test]
fn the_memory_file_travels_only_when_asked_for_and_says_where_it_belongs() {
    let project = Project::new(files(&[
        ("AGENTS.md", "a"),
        ("MEMORY.md", "m"),
        ("memory/x.md", "x"),
    ]));
    let left = pack(&project, MemoryFileMode::Leave).unwrap();
    assert_eq!(left.skipped, ["MEMORY.md"]);
    assert_eq!(
        left.warnings.iter().map(|w| w.code).collect::<Vec<_>>(),
        ["MEMORY_FILE_NOT_PACKED"]
    );
    let artifact = project.artifact(&left);
    assert_eq!(
        contents(&artifact, LayerKind::Surfaces),
        files(&[("instructions.md", "a")])
    );
    assert!(
        artifact.config["adapter"]["config"]
            .as_object()
            .unwrap()
            .is_empty()
    );

    let taken = pack(&project, MemoryFileMode::Pack).unwrap();
    assert_eq!((taken.skipped.len(), taken.warnings.len()), (0, 0));
    let artifact = project.artifact(&taken);
    let expected = files(&[("instructions.md", "a"), ("memory.md", "m")]);
    assert_eq!(contents(&artifact, LayerKind::Surfaces), expected);
    assert_eq!(
        artifact.config["adapter"]["config"]["memoryFile"],
        "surfaces/memory.md"
    );
}

#[test]
fn state_inside_skills_and_memory_stays_behind_and_is_named() {
    let project = Project::new(files(&[
        ("AGENTS.md", "a"),
        ("skills/s/SKILL.md", "s"),
        ("skills/s/.openclaw/x", "no"),
        ("skills/s/__pycache__/x.pyc", "no"),
        ("memory/openclaw.json", "{}"),
        ("memory/.git/HEAD", "no"),
        ("memory/sessions/curated.md", "yes"),
    ]));
    let built = pack(&project, MemoryFileMode::Leave).unwrap();
    let artifact = project.artifact(&built);
    assert_eq!(
        contents(&artifact, LayerKind::Skills),
        files(&[("s/SKILL.md", "s")])
    );
    assert_eq!(
        contents(&artifact, LayerKind::Memory),
        files(&[("sessions/curated.md", "yes")])
    );
    let named: Vec<_> = built
        .warnings
        .iter()
        .map(|w| (w.code, w.target.as_deref().unwrap()))
        .collect();
    assert_eq!(
        named,
        [
            ("STATE_NOT_PACKED", "memory/openclaw.json"),
            ("STATE_NOT_PACKED", "skills/s/.openclaw"),
            ("STATE_NOT_PACKED", "skills/s/__pycache__"),
        ]
    );
}

#[test]
fn a_directory_that_is_no_workspace_is_not_packed() {
    let project = Project::new(files(&[("agents.md", "lower case")]));
    assert_eq!(
        pack(&project, MemoryFileMode::Leave).unwrap_err().class(),
        ErrorClass::NotAWorkspace
    );
    project.link("AGENTS.md", "agents.md");
    assert_eq!(
        pack(&project, MemoryFileMode::Leave).unwrap_err().class(),
        ErrorClass::Symlink
    );
    std::fs::remove_dir_all(project.path()).unwrap();
    assert_eq!(
        pack(&project, MemoryFileMode::Leave).unwrap_err().class(),
        ErrorClass::NotAWorkspace
    );
}

/// Paths of workspaces, those that must stay among them.
fn paths() -> impl Strategy<Value = String> {
    let top = prop_oneof![
        Just("SOUL.md"),
        Just("README.md"),
        Just("openclaw.json"),
        Just(".openclaw/state.json"),
        Just("sessions/s.jsonl"),
        Just("agents/main/sessions/s.jsonl"),
        Just("credentials/token"),
        Just("logs/run.log"),
        Just("cache/x"),
        Just(".git/HEAD"),
        Just("MEMORY.md"),
    ];
    let below = prop_oneof![
        Just(".git/HEAD"),
        Just(".openclaw/x"),
        Just("openclaw.json"),
        Just(".cache/x"),
        Just("notes.md"),
        Just("deep/.openclaw/x"),
        Just("deep/openclaw.json"),
        Just("node_modules/m"),
    ];
    prop_oneof![
        top.prop_map(str::to_owned),
        below.clone().prop_map(|path| format!("memory/{path}")),
        below.prop_map(|path| format!("skills/s/{path}")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn state_secrets_and_caches_are_never_packed(found in proptest::collection::btree_set(paths(), 0..14)) {
        let mut tree: Files = found.into_iter().map(|path| (path, "x".to_owned())).collect();
        tree.insert("AGENTS.md".into(), "a".into());
        tree.insert("skills/s/SKILL.md".into(), "s".into());
        let project = Project::new(tree);
        let built = pack(&project, MemoryFileMode::Leave).unwrap();
        let artifact = project.artifact(&built);
        let names = [".git", ".openclaw", "openclaw.json", ".cache", "node_modules"];
        for (kind, _) in artifact.layers() {
            for path in contents(&artifact, *kind).keys() {
                prop_assert!(!path.split('/').any(|part| names.contains(&part)), "{path}");
                let known = match kind {
                    LayerKind::Surfaces => ["instructions.md", "persona.md"].contains(&path.as_str()),
                    LayerKind::Skills => path.starts_with("s/"),
                    LayerKind::Memory => path == "notes.md",
                    _ => false,
                };
                prop_assert!(known, "{kind:?} {path}");
            }
        }
    }
}
