//! The system prompt's own sections: `sections`, `prefix`.

use super::rendering::given_file;
use crate::Check;
use crate::families::provider::MOVABLE;
use chitin_context::sections::{
    Confinement, HostFacts, ModelAlias, Placed, PromptFacts, PromptMode, Reactions, Reasoning,
    Slot, ToolFact, bootstrap_notice, sections as placed,
};
use chitin_context::{FragmentOrigin, render};
use chitin_contract::SectionKey;
use chitin_workspace::seed::BootstrapMode;
use serde_json::{Map, Value, json};

/// Lists the heading lines of a prompt, those of the two context files included.
pub(super) fn sections(check: &Check<'_>) -> Value {
    let facts = facts(check.input);
    let files = ["/w/AGENTS.md", "/w/HEARTBEAT.md"].map(|path| given_file(path, "text".to_owned()));
    let blocks = render::blocks(&files, &check.contract.rendering, &[]);
    let mut fragments = Vec::new();
    for part in placed(&check.contract.prompt, &facts) {
        match part {
            Placed::Section(fragment) => fragments.push(fragment),
            Placed::Slot(Slot::ProjectContext) => fragments.extend(blocks.stable.iter().cloned()),
            Placed::Slot(Slot::DynamicContext) => fragments.extend(blocks.dynamic.iter().cloned()),
            Placed::Slot(Slot::Boundary) => fragments.push(render::boundary()),
            Placed::Slot(Slot::MemoryResults) => {}
        }
    }
    let headings: Vec<String> = fragments
        .iter()
        .flat_map(|fragment| {
            let text = fragment.text();
            let lines = text.lines().map(str::to_owned);
            let mut lines = lines.collect::<Vec<_>>();
            // The builder of the release marks what may be moved; ours does so when the prompt is handed to a model.
            let runtime_line = SectionKey::RuntimeLine.name();
            if fragment.origin == (FragmentOrigin::Section { key: runtime_line }) {
                let [begin, end] = MOVABLE.map(str::to_owned);
                lines.insert(0, begin);
                lines.push(end);
            }
            lines
        })
        .filter(|line| line.starts_with('#') || line.starts_with("<!--"))
        .collect();
    json!({ "headings": headings })
}

fn facts(input: &Value) -> PromptFacts {
    let names = input["tools"].as_array().into_iter().flatten();
    let bare = PromptFacts {
        mode: match input["prompt_mode"].as_str() {
            Some("minimal") => PromptMode::Minimal,
            Some("none") => PromptMode::None,
            _ => PromptMode::Full,
        },
        tools: names
            .filter_map(Value::as_str)
            .map(|name| ToolFact {
                name: name.into(),
                summary: "".into(),
            })
            .collect(),
        workspace: "/w".into(),
        ..PromptFacts::default()
    };
    if input["rich"] != true {
        return bare;
    }
    PromptFacts {
        skills: Some("<available_skills></available_skills>".into()),
        time_zone: Some("UTC".into()),
        documentation: Some("/docs".into()),
        owners: vec!["+1".to_owned()],
        model_aliases: vec![ModelAlias {
            alias: "fast".into(),
            model: "provider/model".into(),
        }],
        channel: Some("webchat".into()),
        host: HostFacts::default(),
        heartbeats: true,
        extra: Some("extra".into()),
        reactions: Some(Reactions::Sparing),
        voice: Some("voice".into()),
        reasoning: Reasoning::Tagged,
        confinement: Confinement::Sandboxed,
        bootstrap: BootstrapMode::Full,
        files_cut: true,
        ..bare
    }
}

/// Gives the notice before the user's prompt per mode, with our words as a placeholder.
pub(super) fn prefix(check: &Check<'_>) -> Value {
    let modes = [
        ("none", BootstrapMode::None),
        ("limited", BootstrapMode::Limited),
        ("full", BootstrapMode::Full),
    ];
    let prefixes: Map<String, Value> = modes
        .into_iter()
        .map(|(name, mode)| {
            let notice = bootstrap_notice(&check.contract.prompt, mode).map(|fragment| {
                let text = fragment.text();
                match text.split_once('\n') {
                    Some((marker, _)) => format!("{marker}\n{{GUIDANCE:{name}}}"),
                    None => text,
                }
            });
            (name.to_owned(), json!(notice))
        })
        .collect();
    json!({ "prefixes": prefixes })
}
