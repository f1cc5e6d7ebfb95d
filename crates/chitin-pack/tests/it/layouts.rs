//! The same agent for every runtime.

use crate::support::{artifact, contents, document, files, package};
use chitin_pack::ErrorClass;
use chitin_pack::layer::LayerKind;
use chitin_pack::materialize::{
    ActionKind, ApplyOptions, LayoutMode, LayoutOptions, Overwrite, apply, plan, supported,
};
use chitin_pack::packages::Merged;
use chitin_pack::store::Store;
use serde_json::json;
use std::fmt::Write as _;
use std::sync::Arc;
use tempfile::TempDir;

#[test]
fn one_agent_is_laid_out_for_every_runtime_and_what_is_lost_is_said() {
    let directory = TempDir::new().unwrap();
    let store = Arc::new(Store::create(directory.path()).unwrap());
    let agent = artifact(
        &store,
        &[
            files(LayerKind::Knowledge, &[("tides.md", b"Twice a day.\n")]),
            files(
                LayerKind::Rules,
                &[
                    (
                        "brief.md",
                        b"---\nid: brief\nscope: always\n---\nBe brief.\n",
                    ),
                    ("late.md", b"---\nscope: manual\n---\nOnly on demand.\n"),
                ],
            ),
            files(
                LayerKind::Skills,
                &[("trim/SKILL.md", b"Trim.\n"), ("trim/run.sh", b"#!\n")],
            ),
            document(
                LayerKind::Mcp,
                &json!({ "servers": {
                    "tide": { "command": "tide-mcp", "args": ["--port", "0"], "secrets": ["TIDE_KEY"] },
                    "ais": { "url": "https://ais.example/mcp", "transport": "http" },
                } }),
            ),
            files(
                LayerKind::Surfaces,
                &[
                    ("instructions.md", b"Follow the lamp.\n"),
                    ("tools.md", b"- lamp\n"),
                    ("other.md", b"?\n"),
                ],
            ),
            (
                LayerKind::Prompt,
                b"Hello {{persona.displayName}}.\n".to_vec(),
            ),
            document(
                LayerKind::Persona,
                &json!({ "name": "wick", "displayName": "Wick", "role": "Keeper" }),
            ),
            document(
                LayerKind::Subagents,
                &json!({ "agents": { "scout": { "description": "Looks", "instructions": "Look." } } }),
            ),
            files(LayerKind::Memory, &[("oil.md", b"low\n")]),
        ],
    );
    let mut shown = String::new();
    for id in supported() {
        let options = LayoutOptions {
            adapter: Some(id.r#type.clone()),
            ..LayoutOptions::default()
        };
        let plan = plan(&agent, &options).unwrap();
        let _ = writeln!(
            shown,
            "# {}: {}, lossy {}",
            plan.adapter, plan.fidelity, plan.lossy
        );
        for warning in &plan.warnings {
            let about = warning
                .target
                .as_deref()
                .or(warning.layer)
                .unwrap_or_default();
            let _ = writeln!(shown, "{} {about}", warning.code);
        }
        for action in plan.actions(&agent).unwrap() {
            match action.kind {
                ActionKind::Mkdir => {}
                ActionKind::Write => {
                    let _ = writeln!(shown, "{}: {:?}", action.path, action.content.unwrap());
                }
            }
        }
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn packages_are_laid_out_beneath_the_agent_and_give_way_to_it() {
    let directory = TempDir::new().unwrap();
    let store = Arc::new(Store::create(&directory.path().join("store")).unwrap());
    let base = package(
        &store,
        &[
            files(
                LayerKind::Rules,
                &[
                    ("a.md", b"---\nid: shared\n---\nOf the package.\n"),
                    ("b.md", b"Low.\n"),
                ],
            ),
            files(
                LayerKind::Skills,
                &[
                    ("other/SKILL.md", b"Other.\n"),
                    ("trim/SKILL.md", b"Old.\n"),
                    ("trim/old.md", b"Old.\n"),
                ],
            ),
            files(
                LayerKind::Surfaces,
                &[("instructions.md", b"Low.\n"), ("tools.md", b"- oil\n")],
            ),
            files(LayerKind::Memory, &[("not.md", b"mine\n")]),
        ],
    );
    let agent = artifact(
        &store,
        &[
            files(
                LayerKind::Rules,
                &[("a.md", b"---\nid: shared\n---\nOf the agent.\n")],
            ),
            files(LayerKind::Skills, &[("trim/SKILL.md", b"New.\n")]),
            files(LayerKind::Surfaces, &[("instructions.md", b"High.\n")]),
        ],
    );
    let merged = Merged::new(vec![base.clone()], agent).unwrap();
    let options = LayoutOptions {
        mode: Some(LayoutMode::Permissive),
        ..LayoutOptions::default()
    };
    let planned = plan(&merged, &options).unwrap();
    let target = directory.path().join("out");
    let overwrite = Overwrite::Refuse;
    apply(&planned, &merged, &target, ApplyOptions { overwrite }).unwrap();
    let expected = [
        (
            "AGENTS.md",
            "High.\n\n\n## Rule: b\n\nLow.\n\n## Rule: shared\n\nOf the agent.",
        ),
        ("TOOLS.md", "- oil\n"),
        ("skills/other/SKILL.md", "Other.\n"),
        ("skills/trim/SKILL.md", "New.\n"),
    ];
    let found = contents(&target);
    let found: Vec<_> = found
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    assert_eq!(found, expected);
    let alone = plan(&base, &options).unwrap_err();
    assert_eq!(alone.class(), ErrorClass::NoCompatibleAdapter);
}
