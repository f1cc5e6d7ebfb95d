//! What several layouts do alike.

use super::{compose, skill_layout};
use crate::compat::{ADAPTER_WARNING, MODEL_NOT_MATERIALIZED, SURFACES, UNSUPPORTED_FEATURE};
use crate::error::{ErrorClass, PackError};
use crate::layer::LayerKind;
use crate::materialize::options::{LayoutFidelity, LayoutOptions, WriteLayer};
use crate::materialize::plan::Draft;
use crate::materialize::servers::{Server, Subagent, subagents};
use crate::materialize::source::AgentContent;
use crate::warning::PackWarning;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

pub(super) const INSTRUCTIONS: &str = "instructions.md";
const SURFACE_DIRECTORY: &str = "surfaces/";

/// Two parts of a merged document stand this far apart.
pub(super) const BLANK_LINE: &[u8] = b"\n\n";

/// Puts the general text together: instructions, prompt, and the persona: a few words on it, or all that there is.
pub(super) fn text_part(
    source: &AgentContent<'_>,
    options: &LayoutOptions,
    draft: &mut Draft,
) -> Result<Vec<u8>, PackError> {
    if options.layout == LayoutFidelity::Whole {
        let mut text = compose::instructions(source, draft)?;
        compose::add(&mut text, &compose::sections(source, options)?, draft);
        return Ok(text);
    }
    let mut text = surface(source, INSTRUCTIONS)?.unwrap_or_default();
    let persona = source.persona.as_ref().map(persona_summary);
    for part in source.prompt.iter().chain(&persona) {
        append(&mut text, part.as_bytes());
        draft.lose();
    }
    Ok(text)
}

/// Adds a part to a document, after a blank line if there is anything before it.
pub(super) fn append(document: &mut Vec<u8>, part: &[u8]) {
    if part.is_empty() {
        return;
    }
    if !document.is_empty() {
        document.extend_from_slice(BLANK_LINE);
    }
    document.extend_from_slice(part);
}

/// Adds a section, after a blank line whatever stands before it.
pub(super) fn section(document: &mut Vec<u8>, part: &[u8]) {
    if !part.is_empty() {
        document.extend_from_slice(BLANK_LINE);
        document.extend_from_slice(part);
    }
}

/// Adds a document unless there is nothing in it. One of ours ends with its last line.
pub(super) fn document(draft: &mut Draft, options: &LayoutOptions, path: &str, mut bytes: Vec<u8>) {
    if bytes.is_empty() {
        return;
    }
    if options.layout == LayoutFidelity::Whole {
        if bytes.starts_with(BLANK_LINE) {
            bytes.drain(..BLANK_LINE.len());
        }
        if !bytes.ends_with(b"\n") {
            bytes.push(b'\n');
        }
    }
    draft.document(path, bytes);
}

/// Reads a surface.
pub(super) fn surface(source: &AgentContent<'_>, name: &str) -> Result<Option<Vec<u8>>, PackError> {
    if source.file(LayerKind::Surfaces, name).is_none() {
        return Ok(None);
    }
    let found = source.contents(LayerKind::Surfaces, |path| path == name)?;
    Ok(found.into_iter().next().map(|(_, bytes)| bytes))
}

/// Says who the persona is: a heading and the role.
pub(super) fn persona_summary(persona: &Value) -> String {
    let member = |name: &str| persona[name].as_str().unwrap_or_default();
    format!(
        "# {}\n\n**Role:** {}",
        member("displayName"),
        member("role")
    )
}

/// Lays skills out below a directory: where and as the runtime finds them, or as they are.
pub(super) fn skills(
    source: &AgentContent<'_>,
    options: &LayoutOptions,
    below: &str,
    draft: &mut Draft,
) -> Result<(), PackError> {
    if options.layout == LayoutFidelity::Whole {
        return skill_layout::skills(source, options, below, draft);
    }
    plain_skills(source, options, below, draft);
    Ok(())
}

/// Lays whole skill directories out below a directory, as they are.
pub(super) fn plain_skills(
    source: &AgentContent<'_>,
    options: &LayoutOptions,
    below: &str,
    draft: &mut Draft,
) {
    if options.skills == WriteLayer::Yes {
        for file in source.files(LayerKind::Skills) {
            draft.archived(format!("{below}{}", file.path), LayerKind::Skills, file);
        }
    }
}

/// Lays subagents out as Markdown files.
pub(super) fn agents(
    source: &AgentContent<'_>,
    draft: &mut Draft,
    path: impl Fn(&str) -> String,
    write: impl Fn(&str, &Subagent) -> String,
) -> Result<(), PackError> {
    for (name, agent) in subagents(source.subagents.as_ref())? {
        draft.document(path(&file_stem(&name)), write(&name, &agent));
        draft.lose();
    }
    Ok(())
}

/// A subagent's description, as front matter has it.
pub(super) fn description(agent: &Subagent) -> String {
    format!("description: {}\n", Value::from(agent.description.as_str()))
}

/// A subagent's model, as front matter has it; nothing where it has none.
pub(super) fn model(agent: &Subagent) -> String {
    agent.model.as_ref().map_or_else(String::new, |model| {
        format!("model: {}\n", crate::materialize::servers::one_line(model))
    })
}

/// Makes a file name of an id: one part of a path, whatever the id holds.
pub(super) fn file_stem(id: &str) -> String {
    let plain = |c: char| {
        if c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ' ') {
            c
        } else {
            '-'
        }
    };
    let stem: String = id.chars().map(plain).collect();
    match stem.strip_prefix('.') {
        Some(hidden) => format!("-{hidden}"),
        None => stem,
    }
}

/// A server as most JSON settings have it.
#[derive(Serialize)]
pub(super) struct JsonServer<'s> {
    #[serde(skip_serializing_if = "Option::is_none")]
    r#type: Option<&'s str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'s str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<&'s [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'s str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    transport: Option<&'s str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    env: Option<&'s BTreeMap<String, String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    headers: Option<&'s BTreeMap<String, String>>,
}

/// How servers say what they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kinds {
    /// All of them, as a type.
    Type,
    /// Those at an address, as a transport.
    Transport,
}

/// Writes servers as most JSON settings have them.
pub(super) fn json_servers(
    servers: &BTreeMap<String, Server>,
    kinds: Kinds,
) -> BTreeMap<&str, JsonServer<'_>> {
    servers
        .iter()
        .map(|(name, server)| {
            let is_remote = server.url.is_some();
            let kind = match server.transport.as_deref() {
                _ if !is_remote => "stdio",
                Some(transport) => transport,
                None => "http",
            };
            let server = JsonServer {
                r#type: (kinds == Kinds::Type).then_some(kind),
                command: server.command.as_deref().filter(|_| !is_remote),
                args: (!is_remote).then_some(server.args.as_slice()),
                url: server.url.as_deref(),
                transport: server
                    .transport
                    .as_deref()
                    .filter(|_| is_remote && kinds == Kinds::Transport),
                env: (!is_remote).then_some(&server.env),
                headers: (!server.headers.is_empty()).then_some(&server.headers),
            };
            (name.as_str(), server)
        })
        .collect()
}

/// Settings that hold nothing but servers.
pub(super) fn settings(member: &str, servers: &impl Serialize) -> Result<String, PackError> {
    pretty(&BTreeMap::from([(member, servers)]))
}

pub(super) fn pretty(value: &impl Serialize) -> Result<String, PackError> {
    serde_json::to_string_pretty(value).map_err(|error| {
        let class = ErrorClass::InvalidField;
        PackError::new(class, "a settings file cannot be written").caused_by(error)
    })
}

/// Reports a layer that has no place, if the artifact has it (rule P37).
pub(super) fn unsupported(source: &AgentContent<'_>, layer: LayerKind, draft: &mut Draft) {
    if source.has(layer) {
        let message = format!(
            "Feature \"{}\" is not supported by this adapter",
            layer.name()
        );
        draft.warn(PackWarning::new(UNSUPPORTED_FEATURE, message).layer(layer.name()));
        draft.lose();
    }
}

/// Says something about a layer that is particular to the target.
pub(super) fn remark(layer: LayerKind, message: impl Into<String>, draft: &mut Draft) {
    draft.warn(PackWarning::new(ADAPTER_WARNING, message).layer(layer.name()));
    draft.lose();
}

/// Reports what no layout writes: packages that were not merged before, and knowledge, which is looked up, not laid out.
pub(super) fn left_behind(source: &AgentContent<'_>, draft: &mut Draft) -> Result<(), PackError> {
    if source.has(LayerKind::Knowledge) {
        let message = "knowledge is not laid out; it stays in the artifact";
        remark(LayerKind::Knowledge, message, draft);
    }
    if source.lacks_packages()? {
        let message = "packages that the artifact builds on were not merged and are not laid out";
        remark(LayerKind::Packages, message, draft);
    }
    Ok(())
}

/// Returns the surface that stands for `MEMORY.md`, where one was chosen (rule P32).
pub(super) fn memory_surface(
    source: &AgentContent<'_>,
    options: &LayoutOptions,
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
    match name {
        Some(name) => Ok(Some(name.to_owned())),
        None => Err(PackError::new(
            ErrorClass::InvalidField,
            "`memoryFile` does not name a surface that is free for it",
        )
        .hint("write `surfaces/memory.md`")),
    }
}

/// Returns the model as a runtime knows it that has one provider's models only; says so where it is another's.
pub(super) fn model_of(
    provider: &str,
    options: &LayoutOptions,
    draft: &mut Draft,
) -> Option<String> {
    let model = options.model.as_deref()?;
    if options.layout == LayoutFidelity::Stax {
        return Some(model.to_owned());
    }
    match model.split_once('/') {
        None => Some(model.to_owned()),
        Some((named, model)) if named == provider => Some(model.to_owned()),
        Some(_) => {
            model_not_written(options, draft);
            None
        }
    }
}

/// Says that a layout has no place for the model that the artifact names.
pub(super) fn model_not_written(options: &LayoutOptions, draft: &mut Draft) {
    if let (Some(model), LayoutFidelity::Whole) = (&options.model, options.layout) {
        let message = format!(
            "the model `{}` is not written: the layout does not support it; select it in the runtime's own settings",
            model.escape_debug()
        );
        draft.warn(PackWarning::new(MODEL_NOT_MATERIALIZED, message));
    }
}

/// Says that no layout has a place for parameters of the model.
pub(super) fn model_params_not_written(options: &LayoutOptions, draft: &mut Draft) {
    if options.layout == LayoutFidelity::Whole && !options.model_params.is_empty() {
        let names: Vec<_> = options
            .model_params
            .keys()
            .map(|name| format!("`{}`", name.escape_debug()))
            .collect();
        let message = format!(
            "the model's parameters {} are not written: they belong into the runtime's own settings",
            names.join(", ")
        );
        draft.warn(PackWarning::new(MODEL_NOT_MATERIALIZED, message));
    }
}

/// Reports the surfaces that a layout has no place for.
pub(super) fn other_surfaces(
    source: &AgentContent<'_>,
    options: &LayoutOptions,
    held: &[&str],
    draft: &mut Draft,
) {
    let held = match options.layout {
        LayoutFidelity::Whole => &compose::HELD,
        LayoutFidelity::Stax => held,
    };
    for (surface, _) in SURFACES {
        if !held.contains(&surface) && source.file(LayerKind::Surfaces, surface).is_some() {
            let message = format!("this layout does not support the surface `{surface}`");
            let warning = PackWarning::new(ADAPTER_WARNING, message);
            draft.warn(warning.layer(LayerKind::Surfaces.name()).target(surface));
            draft.lose();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::file_stem;

    #[test]
    fn an_id_names_one_file_and_nothing_above_it() {
        assert_eq!(file_stem("brief"), "brief");
        assert_eq!(file_stem("../../etc/passwd"), "-.-..-etc-passwd");
        assert_eq!(file_stem(".."), "-.");
        assert_eq!(file_stem("a\\b\0c"), "a-b-c");
    }
}
