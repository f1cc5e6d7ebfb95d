//! Manifests and their notes (rules P12–P14, P19).

use super::options::{Annotations, BuildOptions, BuiltLayer};
use super::write;
use crate::artifact::{Descriptor, Manifest, read_verified};
use crate::canonical;
use crate::compat::{
    ANNOTATION_ADAPTER_RUNTIME, ANNOTATION_ADAPTER_TYPE, ANNOTATION_CREATED,
    ANNOTATION_DESCRIPTION, ANNOTATION_KNOWLEDGE_FILES, ANNOTATION_LOCK, ANNOTATION_MEMORY,
    ANNOTATION_PERSONA, ANNOTATION_RULES_COUNT, ANNOTATION_SKILLS_COUNT, ANNOTATION_SPEC_VERSION,
    ANNOTATION_TITLE, ANNOTATION_VENDOR, ANNOTATION_VERSION, CREATED,
};
use crate::error::PackError;
use crate::layer::{Format, LayerKind};
use crate::store::Store;
use serde_json::Value;
use std::collections::BTreeMap;

/// What kind of artifact a manifest is for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Types {
    pub(super) artifact: &'static str,
    pub(super) config: &'static str,
}

/// Puts config and manifest; the layers are in the store already.
pub(super) fn put(
    store: &Store,
    types: Types,
    config: &Value,
    layers: &mut [BuiltLayer],
    options: &BuildOptions,
) -> Result<Descriptor, PackError> {
    layers.sort_by_key(|layer| layer.kind);
    let mut annotations = of_config(config);
    if options.annotations == Annotations::Full {
        annotations.extend(optional(config, options));
        annotations.extend(persona(store, layers)?);
        for layer in &mut *layers {
            layer.descriptor.annotations = of_layer(layer);
        }
    }
    if layers.is_empty() {
        write::empty(store)?;
    }
    let manifest = Manifest {
        artifact_type: types.artifact.to_owned(),
        config: store.put(types.config, canonical::to_string(config).as_bytes())?,
        layers: layers
            .iter()
            .map(|layer| layer.descriptor.clone())
            .collect(),
        annotations,
        subject: None,
    };
    store.put_manifest(&manifest)
}

fn of_config(config: &Value) -> BTreeMap<String, String> {
    let pairs = [
        (ANNOTATION_CREATED, Some(CREATED)),
        (ANNOTATION_VERSION, text(config, "/version")),
        (ANNOTATION_TITLE, text(config, "/name")),
        (ANNOTATION_SPEC_VERSION, text(config, "/specVersion")),
        (ANNOTATION_ADAPTER_TYPE, text(config, "/adapter/type")),
        (ANNOTATION_ADAPTER_RUNTIME, text(config, "/adapter/runtime")),
    ];
    named(pairs)
}

fn optional(config: &Value, options: &BuildOptions) -> BTreeMap<String, String> {
    let lock = options.lock.map(|digest| digest.to_string());
    named([
        (ANNOTATION_DESCRIPTION, text(config, "/description")),
        (ANNOTATION_VENDOR, text(config, "/author")),
        (ANNOTATION_LOCK, lock.as_deref()),
    ])
}

/// The persona's name, from its layer.
fn persona(store: &Store, layers: &[BuiltLayer]) -> Result<Option<(String, String)>, PackError> {
    let Some(layer) = layers.iter().find(|layer| layer.kind == LayerKind::Persona) else {
        return Ok(None);
    };
    let bytes = read_verified(store, &layer.descriptor, u64::MAX)?;
    let persona: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let name = persona.get("name").and_then(Value::as_str);
    Ok(name.map(|name| (ANNOTATION_PERSONA.to_owned(), name.to_owned())))
}

fn text<'c>(config: &'c Value, pointer: &str) -> Option<&'c str> {
    config.pointer(pointer).and_then(Value::as_str)
}

fn named<const N: usize>(pairs: [(&str, Option<&str>); N]) -> BTreeMap<String, String> {
    pairs
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
        .collect()
}

/// The notes that the contract advises for a layer: a file name, and how much is in it.
fn of_layer(layer: &BuiltLayer) -> BTreeMap<String, String> {
    let suffix = match layer.kind.format() {
        Format::Tar => "tar.gz",
        Format::Json => "json",
        Format::Raw => "md",
    };
    let title = format!("{}.{suffix}", layer.kind.name());
    let count = layer.units.to_string();
    let mut notes = named([(ANNOTATION_TITLE, Some(title.as_str()))]);
    let more = match layer.kind {
        LayerKind::Knowledge => Some((ANNOTATION_KNOWLEDGE_FILES, count.as_str())),
        LayerKind::Rules => Some((ANNOTATION_RULES_COUNT, count.as_str())),
        LayerKind::Skills => Some((ANNOTATION_SKILLS_COUNT, count.as_str())),
        LayerKind::Memory => Some((ANNOTATION_MEMORY, "seed")),
        _ => None,
    };
    notes.extend(more.map(|(name, value)| (name.to_owned(), value.to_owned())));
    notes
}
