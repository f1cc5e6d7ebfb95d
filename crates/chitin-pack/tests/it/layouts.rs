//! The same agent for every runtime.

use crate::support::{artifact, document, files};
use chitin_pack::layer::LayerKind;
use chitin_pack::materialize::{ActionKind, Options, plan, supported};
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
        let options = Options {
            adapter: Some(id.r#type.clone()),
            ..Options::default()
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
