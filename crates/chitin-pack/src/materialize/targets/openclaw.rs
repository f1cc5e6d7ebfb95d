//! OpenClaw: every surface in a file of its own, byte for byte (rules P32–P39).

use super::shared::{
    BLANK_LINE, INSTRUCTIONS, append, memory_surface, model_not_written, persona_summary,
    plain_skills, surface,
};
use crate::compat::{
    MEMORY_FILE, PROMPT_NOT_MATERIALIZED, RULES_NOT_MATERIALIZED, SURFACE_MISSING,
    SURFACE_SYNTHESIZED, SURFACES,
};
use crate::error::{ErrorClass, PackError};
use crate::layer::LayerKind;
use crate::materialize::options::{
    LayoutFidelity, LayoutMode, LayoutOptions, MissingSurfaces, WriteLayer,
};
use crate::materialize::plan::Draft;
use crate::materialize::rules;
use crate::materialize::servers::one_line;
use crate::materialize::source::AgentContent;
use crate::warning::PackWarning;
use chitin_workspace::adapter::NATIVE_RULES_FILE;
use serde_json::Value;

const PERSONA: &str = "persona.md";
const IDENTITY: &str = "identity.md";
const BOOTSTRAP: &str = "bootstrap.md";
const TOOLS: &str = "tools.md";

/// What an agent needs to be whole (E1).
const REQUIRED: [&str; 2] = [INSTRUCTIONS, TOOLS];

pub(super) fn lay_out(
    source: &AgentContent<'_>,
    options: &LayoutOptions,
    mode: LayoutMode,
    draft: &mut Draft,
) -> Result<(), PackError> {
    let is_there = |surface: &str| source.file(LayerKind::Surfaces, surface).is_some();
    // An agent by its readme has none of the files, and is whole without them.
    let is_readme = options.layout == LayoutFidelity::Whole && source.is_readme_agent();
    if is_readme {
        let message = format!(
            "the agent's operating rules are its `{NATIVE_RULES_FILE}`, which Chitin reads and OpenClaw does not; there is no AGENTS.md"
        );
        draft.warn(PackWarning::new(SURFACE_MISSING, message).target(NATIVE_RULES_FILE));
    }
    // The first conversation uses it up: an agent without it is a healthy one, unless the format's own word counts.
    let bootstrap = options.bootstrap == WriteLayer::Yes
        && (options.layout == LayoutFidelity::Stax || is_there(BOOTSTRAP));
    let expected = || {
        SURFACES
            .into_iter()
            .filter(|(surface, _)| *surface != BOOTSTRAP || bootstrap)
            .filter(|_| !is_readme)
    };
    if options.missing == MissingSurfaces::Refuse {
        // Every session gets these two; without the others an agent is whole, unless the format's own word counts.
        let is_required =
            |surface: &str| options.layout == LayoutFidelity::Stax || REQUIRED.contains(&surface);
        let missing: Vec<_> = expected()
            .filter(|(surface, _)| is_required(surface) && !is_there(surface))
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
        if let Some(made) = made(source, name, mode, options, draft)? {
            draft.document(file, made);
        } else if let Some(found) = source.file(LayerKind::Surfaces, name) {
            draft.archived(file, LayerKind::Surfaces, found);
        } else {
            let message = if options.layout == LayoutFidelity::Whole
                && synthesized(source, name).is_some()
            {
                format!(
                    "{file} is not in the artifact and exact mode does not make it up; `--permissive` writes it from the persona layer"
                )
            } else {
                format!("{file} not materialized; OpenClaw may inject a missing-file marker")
            };
            draft.warn(PackWarning::new(SURFACE_MISSING, message).target(file));
        }
    }
    let memory_surface = memory_file(source, options, draft)?;
    plain_skills(source, options, "skills/", draft);
    model_not_written(options, draft);
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
    source: &AgentContent<'_>,
    name: &str,
    mode: LayoutMode,
    options: &LayoutOptions,
    draft: &mut Draft,
) -> Result<Option<Vec<u8>>, PackError> {
    if mode == LayoutMode::Exact {
        return Ok(None);
    }
    if name == INSTRUCTIONS {
        return instructions(source, draft);
    }
    let synthetic = match options.layout {
        LayoutFidelity::Whole => synthesized(source, name),
        // The format's own tool makes no identity of a persona.
        LayoutFidelity::Stax => synthesized(source, name).filter(|_| name == PERSONA),
    };
    if let (Some(_), Some((_, file))) = (
        &synthetic,
        SURFACES.iter().find(|(known, _)| *known == name),
    ) {
        let message =
            format!("{file} synthesized from persona; byte-exact preservation not possible");
        draft.warn(PackWarning::new(SURFACE_SYNTHESIZED, message).target(*file));
        draft.lose();
    }
    Ok(synthetic)
}

/// Makes `SOUL.md` or `IDENTITY.md` of the persona layer, where no surface speaks for it (rule P36).
fn synthesized(source: &AgentContent<'_>, name: &str) -> Option<Vec<u8>> {
    let persona = source.persona.as_ref()?;
    if source.file(LayerKind::Surfaces, name).is_some() {
        return None;
    }
    let member = |pointer: &str| persona.pointer(pointer).and_then(Value::as_str);
    match name {
        PERSONA => {
            let mut text = persona_summary(persona).into_bytes();
            append(
                &mut text,
                member("/background").unwrap_or_default().as_bytes(),
            );
            Some(text)
        }
        IDENTITY => {
            let lines = [
                ("Name", member("/displayName")),
                ("Role", member("/role")),
                ("Vibe", member("/personality/communicationStyle")),
            ];
            let lines = lines.into_iter().filter_map(|(label, value)| {
                Some(format!("- **{label}:** {}\n", one_line(value?)))
            });
            Some(lines.collect::<String>().into_bytes())
        }
        _ => None,
    }
}

/// The instructions with prompt and rules after them (rule P35); `None` when there is neither.
fn instructions(
    source: &AgentContent<'_>,
    draft: &mut Draft,
) -> Result<Option<Vec<u8>>, PackError> {
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
    source: &AgentContent<'_>,
    options: &LayoutOptions,
    draft: &mut Draft,
) -> Result<Option<String>, PackError> {
    let Some(name) = memory_surface(source, options)? else {
        return Ok(None);
    };
    if let Some(file) = source.file(LayerKind::Surfaces, &name) {
        draft.archived(MEMORY_FILE, LayerKind::Surfaces, file);
    }
    Ok(Some(name))
}

/// Says what did not come through.
fn report(
    source: &AgentContent<'_>,
    mode: LayoutMode,
    memory_surface: Option<&str>,
    draft: &mut Draft,
) {
    if mode == LayoutMode::Exact {
        if source.prompt.is_some() {
            let message = "the prompt is not laid out: exact mode writes surfaces only";
            let warning = PackWarning::new(PROMPT_NOT_MATERIALIZED, message);
            draft.warn(warning.layer(LayerKind::Prompt.name()));
            draft.lose();
        }
        if !source.files(LayerKind::Rules).is_empty() {
            let message = "rules are not laid out: exact mode writes surfaces only";
            let warning = PackWarning::new(RULES_NOT_MATERIALIZED, message);
            draft.warn(warning.layer(LayerKind::Rules.name()));
            draft.lose();
        }
        if synthesized(source, PERSONA).is_some() {
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
