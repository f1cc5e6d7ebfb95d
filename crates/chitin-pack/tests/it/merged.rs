//! An agent and its packages as one set of layers, and artifacts side by side.

use crate::store_kit::{put, store_at, tar};
use chitin_pack::ErrorClass;
use chitin_pack::archive::{TarWriter, compress};
use chitin_pack::artifact::Artifact;
use chitin_pack::compat::{AGENT, PACKAGE};
use chitin_pack::diff::{self, ArtifactFileChange, LayerChange, diff};
use chitin_pack::inspect::{self, inspect};
use chitin_pack::layer::LayerKind;
use chitin_pack::packages::Merged;
use chitin_pack::store::Store;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use tempfile::TempDir;

fn made(store: &Arc<Store>, kind: &str, layers: &[(LayerKind, Vec<u8>)]) -> Artifact {
    let config = json!({"name": "x", "version": "1.0.0"});
    let manifest = put(store, kind, &config, layers).unwrap();
    store.artifact(&manifest.digest).unwrap()
}

fn read(merged: &Merged, kind: LayerKind) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for file in merged.files(kind) {
        let source = &merged.sources()[file.source];
        let visited = source.files(kind, kind.limit(), |entry, content| {
            if entry.path == file.path {
                let mut text = String::new();
                content.read_to_string(&mut text).unwrap();
                found.insert(entry.path.clone(), text);
            }
            Ok(())
        });
        visited.unwrap();
    }
    found
}

fn json_layer(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}

#[test]
fn whole_units_of_the_agent_replace_those_of_packages() {
    let directory = TempDir::new().unwrap();
    let store = store_at(directory.path());
    let low = made(
        &store,
        PACKAGE,
        &[
            (
                LayerKind::Skills,
                tar(&[
                    ("fix/SKILL.md", "old"),
                    ("fix/extra.md", "old"),
                    ("see/SKILL.md", "see"),
                ]),
            ),
            (
                LayerKind::Rules,
                tar(&[
                    ("z.md", "---\nid: tone\n---\nold tone"),
                    ("late.md", "---\npriority: 9\n---\nlate"),
                    ("plain.md", "plain"),
                ]),
            ),
            (
                LayerKind::Surfaces,
                tar(&[("tools.md", "low tools"), ("user.md", "low user")]),
            ),
            (
                LayerKind::Mcp,
                json_layer(
                    &json!({"servers": {"git": {"command": "a", "args": ["1"]}, "web": {}}}),
                ),
            ),
            (
                LayerKind::Secrets,
                json_layer(&json!([{"key": "K", "required": false}])),
            ),
            (LayerKind::Prompt, b"not a package's business".to_vec()),
        ],
    );
    let own = made(
        &store,
        AGENT,
        &[
            (LayerKind::Skills, tar(&[("fix/SKILL.md", "new")])),
            (
                LayerKind::Rules,
                tar(&[("a.md", "---\nid: tone\n---\nnew tone")]),
            ),
            (LayerKind::Surfaces, tar(&[("tools.md", "own tools")])),
            (
                LayerKind::Mcp,
                json_layer(&json!({"servers": {"git": {"command": "b"}}})),
            ),
            (
                LayerKind::Secrets,
                json_layer(
                    &json!({"specVersion": "1.0.0", "secrets": [{"key": "K", "required": true}]}),
                ),
            ),
        ],
    );
    let merged = Merged::new(vec![low], own).unwrap();
    let texts = |files: &[(&str, &str)]| {
        let files = files.iter();
        let files = files.map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        files.collect::<BTreeMap<_, _>>()
    };
    assert_eq!(
        read(&merged, LayerKind::Skills),
        texts(&[("fix/SKILL.md", "new"), ("see/SKILL.md", "see")])
    );
    assert_eq!(
        read(&merged, LayerKind::Surfaces),
        texts(&[("tools.md", "own tools"), ("user.md", "low user")])
    );
    let rules = merged.files(LayerKind::Rules).iter();
    let rules: Vec<_> = rules
        .map(|rule| (rule.source, rule.path.as_str()))
        .collect();
    assert_eq!(rules, [(0, "plain.md"), (0, "late.md"), (1, "a.md")]);
    assert_eq!(
        merged.document(LayerKind::Mcp).unwrap(),
        &json!({"servers": {"git": {"command": "b"}, "web": {}}})
    );
    assert_eq!(
        merged.document(LayerKind::Secrets).unwrap()["secrets"],
        json!([{"key": "K", "required": true}])
    );
    let codes: Vec<_> = merged
        .warnings
        .iter()
        .map(|one| (one.code, one.layer))
        .collect();
    assert_eq!(codes, [("PACKAGE_LAYER_IGNORED", Some("prompt"))]);
}

#[test]
fn what_cannot_stand_in_one_directory_is_refused() {
    let directory = TempDir::new().unwrap();
    let store = store_at(directory.path());
    let skills = |name: &str| {
        [(
            LayerKind::Skills,
            tar(&[(&format!("{name}/SKILL.md"), "x")]),
        )]
    };
    let low = made(&store, PACKAGE, &skills("Fix"));
    let own = made(&store, AGENT, &skills("fix"));
    let error = Merged::new(vec![low], own.clone()).unwrap_err();
    assert_eq!(error.class(), ErrorClass::DuplicatePath);
    let error = Merged::new(vec![own.clone()], own).unwrap_err();
    assert_eq!(error.class(), ErrorClass::MissingPackage);
}

#[test]
fn differences_are_said_by_layer_and_by_file() {
    let directory = TempDir::new().unwrap();
    let store = store_at(directory.path());
    let left = made(
        &store,
        AGENT,
        &[
            (LayerKind::Rules, tar(&[("same.md", "s")])),
            (
                LayerKind::Skills,
                tar(&[
                    ("a/SKILL.md", "one"),
                    ("a/gone.md", "g"),
                    ("a/run.sh", "#!x"),
                ]),
            ),
            (LayerKind::Prompt, b"p".to_vec()),
        ],
    );
    let right = made(
        &store,
        AGENT,
        &[
            (LayerKind::Knowledge, tar(&[("k.md", "k")])),
            (LayerKind::Rules, tar(&[("same.md", "s")])),
            (
                LayerKind::Skills,
                tar(&[
                    ("a/SKILL.md", "two"),
                    ("a/new.md", "n"),
                    ("a/run.sh", "#!x"),
                ]),
            ),
        ],
    );
    let found = diff(&left, &right, diff::DiffDepth::Files).unwrap();
    let layers: Vec<_> = found
        .changes
        .iter()
        .map(|layer| {
            let kind = LayerKind::from_media_type(&layer.media_type).unwrap();
            let files = layer
                .files
                .iter()
                .map(|file| (file.path.as_str(), file.change));
            (kind, layer.change, files.collect::<Vec<_>>())
        })
        .collect();
    assert_eq!(
        layers,
        [
            (LayerKind::Rules, LayerChange::Identical, vec![]),
            (
                LayerKind::Skills,
                LayerChange::Changed,
                vec![
                    ("a/SKILL.md", ArtifactFileChange::Changed),
                    ("a/gone.md", ArtifactFileChange::Removed),
                    ("a/new.md", ArtifactFileChange::Added),
                ]
            ),
            (
                LayerKind::Prompt,
                LayerChange::Removed,
                vec![("", ArtifactFileChange::Removed)]
            ),
            (
                LayerKind::Knowledge,
                LayerChange::Added,
                vec![("k.md", ArtifactFileChange::Added)]
            ),
        ]
    );
    assert!(!found.identical);
    assert!(
        diff(&left, &left, diff::DiffDepth::Files)
            .unwrap()
            .identical
    );
}

#[test]
fn a_file_that_may_be_run_differs_from_one_that_may_not() {
    let directory = TempDir::new().unwrap();
    let store = store_at(directory.path());
    let packed = |executable| {
        let mut writer = TarWriter::new(compress(Vec::new()));
        writer
            .file("a/run.sh", executable, 3, &mut b"#!x".as_slice())
            .unwrap();
        let bytes = writer.finish().unwrap().finish().unwrap();
        made(&store, AGENT, &[(LayerKind::Skills, bytes)])
    };
    let found = diff(&packed(true), &packed(false), diff::DiffDepth::Files).unwrap();
    assert_eq!(found.changes[0].change, LayerChange::Changed);
    let files = found.changes[0].files.iter();
    let files: Vec<_> = files.map(|file| (&*file.path, file.change)).collect();
    assert_eq!(files, [("a/run.sh", ArtifactFileChange::Mode)]);
}

#[test]
fn an_inspection_counts_what_is_inside() {
    let directory = TempDir::new().unwrap();
    let store = store_at(directory.path());
    let skills = tar(&[("a/SKILL.md", "one"), ("a/run.sh", "#!x")]);
    let artifact = made(
        &store,
        AGENT,
        &[
            (LayerKind::Skills, skills),
            (LayerKind::Prompt, b"p".to_vec()),
        ],
    );
    let found = inspect(&artifact, inspect::InspectDepth::Counts, Vec::new()).unwrap();
    assert_eq!(
        (found.name.as_str(), found.version.as_str()),
        ("x", "1.0.0")
    );
    let layers = found
        .layers
        .iter()
        .map(|layer| (layer.layer, layer.files, layer.file_bytes));
    assert_eq!(
        layers.collect::<Vec<_>>(),
        [
            (Some("skills"), Some(2), Some(6)),
            (Some("prompt"), None, None)
        ]
    );
    let deep = inspect(&artifact, inspect::InspectDepth::Files, Vec::new()).unwrap();
    let entries = deep.layers[0].entries.as_ref().unwrap();
    assert!(entries["a/run.sh"].executable && !entries["a/SKILL.md"].executable);
}
