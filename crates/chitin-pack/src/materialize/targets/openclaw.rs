//! OpenClaw: every surface in a file of its own, byte for byte (rules P32–P39).

use super::shared::{BLANK_LINE, INSTRUCTIONS, append, persona_summary, skills, surface};
use crate::compat::{
    MEMORY_FILE, PROMPT_NOT_MATERIALIZED, RULES_NOT_MATERIALIZED, SURFACE_MISSING,
    SURFACE_SYNTHESIZED, SURFACES,
};
use crate::error::{ErrorClass, PackError};
use crate::layer::LayerKind;
use crate::materialize::options::{MissingSurfaces, Mode, Options, WriteLayer};
use crate::materialize::plan::Draft;
use crate::materialize::rules;
use crate::materialize::source::Source;
use crate::warning::Warning;
use serde_json::Value;

const PERSONA: &str = "persona.md";
const BOOTSTRAP: &str = "bootstrap.md";
const SURFACE_DIRECTORY: &str = "surfaces/";

pub(super) fn lay_out(
    source: &Source<'_>,
    options: &Options,
    mode: Mode,
    draft: &mut Draft,
) -> Result<(), PackError> {
    let expected = || {
        SURFACES
            .into_iter()
            .filter(|(surface, _)| *surface != BOOTSTRAP || options.bootstrap == WriteLayer::Yes)
    };
    let is_there = |surface: &str| source.file(LayerKind::Surfaces, surface).is_some();
    if options.missing == MissingSurfaces::Refuse {
        let missing: Vec<_> = expected()
            .filter(|(surface, _)| !is_there(surface))
            .collect();
        if !missing.is_empty() {
            return Err(PackError::new(
                ErrorClass::MissingSurface,
                "surfaces that OpenClaw expects are not in the artifact",
            )
            .about(missing.into_iter().map(|(_, file)| file.to_owned())));
        }
    }
    for (name, file) in expected() {
        if let Some(made) = made(source, name, mode, draft)? {
            draft.document(file, made);
        } else if let Some(found) = source.file(LayerKind::Surfaces, name) {
            draft.archived(file, LayerKind::Surfaces, found);
        } else {
            let message =
                format!("{file} not materialized; OpenClaw may inject a missing-file marker");
            draft.warn(Warning::new(SURFACE_MISSING, message).target(file));
        }
    }
    let memory_surface = memory_file(source, options, draft)?;
    skills(source, options, "skills/", draft);
    if options.memory == WriteLayer::Yes {
        for file in source.files(LayerKind::Memory) {
            draft.archived(format!("memory/{}", file.path), LayerKind::Memory, file);
        }
    }
    report(source, mode, memory_surface.as_deref(), draft);
    Ok(())
}

/// Puts a file together that is not a surface as it is; only where exactness was not asked for.
fn made(
    source: &Source<'_>,
    name: &str,
    mode: Mode,
    draft: &mut Draft,
) -> Result<Option<Vec<u8>>, PackError> {
    if mode == Mode::Exact {
        return Ok(None);
    }
    match (name, &source.persona) {
        (INSTRUCTIONS, _) => instructions(source, draft),
        (PERSONA, Some(persona)) if source.file(LayerKind::Surfaces, PERSONA).is_none() => {
            let message = "SOUL.md synthesized from persona; byte-exact preservation not possible";
            draft.warn(Warning::new(SURFACE_SYNTHESIZED, message).target("SOUL.md"));
            draft.lose();
            let mut text = persona_summary(persona).into_bytes();
            append(
                &mut text,
                persona["background"]
                    .as_str()
                    .unwrap_or_default()
                    .as_bytes(),
            );
            Ok(Some(text))
        }
        _ => Ok(None),
    }
}

/// The instructions with prompt and rules after them (rule P35); `None` when there is neither.
fn instructions(source: &Source<'_>, draft: &mut Draft) -> Result<Option<Vec<u8>>, PackError> {
    let rules = rules::joined(&rules::read(source)?);
    if source.prompt.is_none() && rules.is_empty() {
        return Ok(None);
    }
    draft.lose();
    let mut text = surface(source, INSTRUCTIONS)?.unwrap_or_default();
    append(
        &mut text,
        source.prompt.as_deref().unwrap_or_default().as_bytes(),
    );
    if !rules.is_empty() {
        // Before rules the blank line stands even when they come first.
        text.extend_from_slice(BLANK_LINE);
        text.extend_from_slice(rules.as_bytes());
    }
    Ok(Some(text))
}

/// Writes `MEMORY.md` where a surface was chosen for it (rule P32); returns that surface.
fn memory_file(
    source: &Source<'_>,
    options: &Options,
    draft: &mut Draft,
) -> Result<Option<String>, PackError> {
    let chosen = options.config.get("memoryFile");
    let chosen = match chosen.or_else(|| source.adapter_config().get("memoryFile")) {
        None | Some(Value::Null) => return Ok(None),
        Some(chosen) => chosen,
    };
    let name = chosen
        .as_str()
        .and_then(|path| path.strip_prefix(SURFACE_DIRECTORY))
        .filter(|name| !name.contains('/') && SURFACES.iter().all(|(known, _)| known != name));
    let Some(name) = name else {
        return Err(PackError::new(
            ErrorClass::InvalidField,
            "`memoryFile` does not name a surface that is free for it",
        )
        .hint("write `surfaces/memory.md`"));
    };
    if let Some(file) = source.file(LayerKind::Surfaces, name) {
        draft.archived(MEMORY_FILE, LayerKind::Surfaces, file);
    }
    Ok(Some(name.to_owned()))
}

/// Says what did not come through.
fn report(source: &Source<'_>, mode: Mode, memory_surface: Option<&str>, draft: &mut Draft) {
    if mode == Mode::Exact {
        if source.prompt.is_some() {
            let message = "the prompt is not laid out: exact mode writes surfaces only";
            let warning = Warning::new(PROMPT_NOT_MATERIALIZED, message);
            draft.warn(warning.layer(LayerKind::Prompt.name()));
            draft.lose();
        }
        if !source.files(LayerKind::Rules).is_empty() {
            let message = "rules are not laid out: exact mode writes surfaces only";
            let warning = Warning::new(RULES_NOT_MATERIALIZED, message);
            draft.warn(warning.layer(LayerKind::Rules.name()));
            draft.lose();
        }
        if source.persona.is_some() && source.file(LayerKind::Surfaces, PERSONA).is_none() {
            draft.lose();
        }
    }
    let is_known = |path: &str| {
        SURFACES.iter().any(|(surface, _)| *surface == path) || memory_surface == Some(path)
    };
    if source
        .files(LayerKind::Surfaces)
        .iter()
        .any(|file| !is_known(&file.path))
    {
        draft.lose();
    }
}
