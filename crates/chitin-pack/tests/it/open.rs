//! An artifact as a workspace, without a trace.

use crate::support::{artifact, files, listing};
use chitin_contract::CANONICAL;
use chitin_guard::Root;
use chitin_pack::layer::LayerKind;
use chitin_pack::materialize::LayoutOptions;
use chitin_pack::open::open_workspace;
use chitin_pack::store::Store;
use chitin_workspace::load::LoadOptions;
use std::sync::Arc;
use tempfile::TempDir;

#[test]
fn an_artifact_is_loaded_like_a_directory_and_leaves_nothing_behind() {
    let directory = TempDir::new().unwrap();
    let store = Arc::new(Store::create(&directory.path().join("store")).unwrap());
    let lamp = artifact(
        &store,
        &[
            files(
                LayerKind::Skills,
                &[(
                    "trim/SKILL.md",
                    b"---\nname: trim\ndescription: Trims\n---\n",
                )],
            ),
            files(
                LayerKind::Surfaces,
                &[("instructions.md", b"Follow the lamp.\n")],
            ),
        ],
    );
    let (state, _) = Root::create(&directory.path().join("state")).unwrap();
    // What a killed process left goes with the next.
    let left = state
        .make_scratch("artifact-1-0".as_ref())
        .unwrap()
        .unwrap();
    left.file("x".as_ref(), b"x").unwrap();
    std::mem::forget(left);
    let open = || {
        open_workspace(
            &lamp,
            &LayoutOptions::default(),
            &state,
            &CANONICAL,
            &LoadOptions::default(),
        )
        .unwrap()
    };
    let first = open();
    let second = open();
    for opened in [&first, &second] {
        let rules = opened
            .workspace
            .record("AGENTS.md")
            .and_then(|record| record.content());
        assert_eq!(
            rules.map(|content| &*content.text),
            Some("Follow the lamp.\n")
        );
        assert!(listing(opened.path()).contains_key("skills/trim/SKILL.md"));
        assert_eq!(opened.plan.adapter, "openclaw");
    }
    assert_ne!(first.path(), second.path());
    drop(first);
    assert!(listing(second.path()).contains_key("AGENTS.md"));
    drop(second);
    let names: Vec<_> = listing(&directory.path().join("state"))
        .into_keys()
        .collect();
    // The forgotten one is still claimed by this very process.
    assert_eq!(names, ["artifact-1-0", "artifact-1-0/x"]);
}
