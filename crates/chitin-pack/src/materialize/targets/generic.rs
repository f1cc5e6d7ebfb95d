//! A runtime that is not known: one document with all that says who the agent is, and skills beside it.

use super::shared::{document, model_not_written, other_surfaces, section, skills, text_part};
use crate::error::PackError;
use crate::materialize::options::{LayoutFidelity, LayoutOptions};
use crate::materialize::plan::Draft;
use crate::materialize::rules;
use crate::materialize::source::AgentContent;

const INSTRUCTIONS_FILE: &str = "INSTRUCTIONS.md";

pub(super) fn lay_out(
    source: &AgentContent<'_>,
    options: &LayoutOptions,
    draft: &mut Draft,
) -> Result<(), PackError> {
    match options.layout {
        LayoutFidelity::Stax => {
            let prompt = source.prompt.clone().unwrap_or_default();
            document(draft, options, INSTRUCTIONS_FILE, prompt.into_bytes());
        }
        LayoutFidelity::Whole => {
            let mut text = text_part(source, options, draft)?;
            section(&mut text, rules::joined(&rules::read(source)?).as_bytes());
            document(draft, options, INSTRUCTIONS_FILE, text);
            skills(source, options, "skills/", draft)?;
            model_not_written(options, draft);
        }
    }
    other_surfaces(source, options, &[], draft);
    Ok(())
}
