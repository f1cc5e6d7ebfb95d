//! What an artifact carries beyond the format: a readme that holds the operating rules, extension files, skills below `.agents/skills`, linked documents.

use super::Target;
use super::shared::remark;
use crate::compat::ADAPTER_WARNING;
use crate::layer::LayerKind;
use crate::materialize::options::{LayoutOptions, WriteLayer};
use crate::materialize::plan::Draft;
use crate::materialize::source::AgentContent;
use crate::warning::PackWarning;
use chitin_workspace::adapter::{EXTENSION_FILES, NATIVE_RULES_FILE};

/// Lays the own layers out for a target.
pub(super) fn lay_out(
    target: Target,
    source: &AgentContent<'_>,
    options: &LayoutOptions,
    draft: &mut Draft,
) {
    if target == Target::OpenClaw {
        instructions(source, draft);
    }
    extensions(target, source, draft);
    if target == Target::OpenClaw && options.skills == WriteLayer::Yes {
        write(LayerKind::AgentsSkills, source, draft);
    }
    documents(source, draft);
}

/// The readme comes back as itself. For other runtimes its text is in the document that they read.
fn instructions(source: &AgentContent<'_>, draft: &mut Draft) {
    for file in source.files(LayerKind::Instructions) {
        if file.path == NATIVE_RULES_FILE {
            draft.archived(file.path.as_str(), LayerKind::Instructions, file);
        } else {
            let message = format!(
                "`{}` is not a `{NATIVE_RULES_FILE}` and is not laid out",
                file.path.escape_debug()
            );
            remark(LayerKind::Instructions, message, draft);
        }
    }
}

/// Extension files are Chitin's: elsewhere nothing reads them, and a guardrail that nothing reads must not look like one.
fn extensions(target: Target, source: &AgentContent<'_>, draft: &mut Draft) {
    for file in source.files(LayerKind::Extensions) {
        if !EXTENSION_FILES.contains(&file.path.as_str()) {
            let message = format!(
                "`{}` is not an extension file and is not written",
                file.path.escape_debug()
            );
            remark(LayerKind::Extensions, message, draft);
        } else if target == Target::OpenClaw {
            draft.archived(file.path.as_str(), LayerKind::Extensions, file);
        } else {
            let message = format!(
                "`{}` is not laid out: {} does not read it, and what it says does not hold there",
                file.path,
                target.name()
            );
            let warning = PackWarning::new(ADAPTER_WARNING, message);
            draft.warn(
                warning
                    .layer(LayerKind::Extensions.name())
                    .target(file.path.as_str()),
            );
            draft.lose();
        }
    }
}

fn write(layer: LayerKind, source: &AgentContent<'_>, draft: &mut Draft) {
    for file in source.files(layer) {
        if let Some(path) = layer.workspace_path(&file.path) {
            draft.archived(path, layer, file);
        }
    }
}

/// Documents stand where the links to them lead. What another part of the layout writes, or what is hidden, they never are.
fn documents(source: &AgentContent<'_>, draft: &mut Draft) {
    let taken = draft.names();
    for file in source.files(LayerKind::Documents) {
        let path = file.path.as_str();
        let is_hidden = path.split('/').any(|part| part.starts_with('.'));
        if is_hidden || taken.contains(&path.to_lowercase()) {
            let message = format!(
                "the document `{}` is not written: its path is used by another file",
                path.escape_debug()
            );
            remark(LayerKind::Documents, message, draft);
        } else {
            draft.archived(path, LayerKind::Documents, file);
        }
    }
}
