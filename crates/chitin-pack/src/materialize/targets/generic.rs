//! A runtime that nobody knows: the prompt, and nothing else.

use super::shared::{document, other_surfaces};
use crate::materialize::plan::Draft;
use crate::materialize::source::Source;

pub(super) fn lay_out(source: &Source<'_>, draft: &mut Draft) {
    let prompt = source.prompt.clone().unwrap_or_default();
    document(draft, "INSTRUCTIONS.md", prompt.into_bytes());
    other_surfaces(source, &[], draft);
}
