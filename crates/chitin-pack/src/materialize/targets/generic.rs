//! A runtime that nobody knows: the prompt, and nothing else.

use super::shared::{document, left_behind, other_surfaces, unsupported};
use crate::layer::LayerKind;
use crate::materialize::plan::Draft;
use crate::materialize::source::Source;

pub(super) fn lay_out(source: &Source<'_>, draft: &mut Draft) {
    let prompt = source.prompt.clone().unwrap_or_default();
    document(draft, "INSTRUCTIONS.md", prompt.into_bytes());
    other_surfaces(source, &[], draft);
    for layer in [
        LayerKind::Rules,
        LayerKind::Skills,
        LayerKind::Mcp,
        LayerKind::InstructionTree,
        LayerKind::Persona,
        LayerKind::Subagents,
        LayerKind::Memory,
    ] {
        unsupported(source, layer, draft);
    }
    left_behind(source, draft);
}
