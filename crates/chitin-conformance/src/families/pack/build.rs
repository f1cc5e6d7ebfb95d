//! Definitions, adapters, builds and packed workspaces.

use super::{bytes, detected, files, judge_error};
use crate::{Check, Outcome};
use anyhow::{Context, Result};
use chitin_pack::adapters::{self, OpenClawOptions};
use chitin_pack::archive;
use chitin_pack::artifact::{Artifact, Descriptor};
use chitin_pack::build::{
    self, BuildOptions, Built, LinkMode, MemoryFileMode, OwnLayers, WorkspaceOptions,
};
use chitin_pack::definition::{self, DefinitionFile, DocumentKind, PackIdentity};
use chitin_pack::layer::{Format, LayerKind};
use chitin_pack::store::Store;
use chitin_pack::{Digest, PackError};
use serde_json::{Map, Value, json};
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

/// How cases call the definition file of the real program, and how ours is called.
const THEIR_ENTRY: &str = "agent.ts";
const OUR_ENTRY: &str = "agent.json";

pub(super) fn run(check: &Check<'_>) -> Outcome {
    let judged = match check.case.op.as_str() {
        "definition" => Ok(definition(check)),
        "adapter-config" => Ok(adapter_config(check)),
        "detect" => detected::run(check),
        "profile" => profile(check),
        "validate" => validate(check),
        "pack-workspace" => pack_workspace(check),
        _ => built(check),
    };
    judged.unwrap_or_else(|error| Outcome::Failed(format!("{error:#}\n")))
}

/// What a case describes, built: the store with it, its manifest, and the directory in which all of that stands.
pub(super) struct BuiltCase {
    pub(super) store: Arc<Store>,
    pub(super) built: Built,
    pub(super) directory: TempDir,
}

impl BuiltCase {
    /// Opens what was built.
    pub(super) fn artifact(&self) -> Result<Artifact, PackError> {
        self.store.artifact(&self.built.manifest.digest)
    }
}

/// Writes the files and the definition of a case and builds it. The outer error is the runner's, the inner one is ours to
/// be judged. Options of the adapter other than `model` and `workspace` belong to the reader: whoever lays the artifact out
/// takes them from the case.
pub(super) fn built_case(input: &Value) -> Result<Result<BuiltCase, PackError>> {
    built_with(input, EntryFile::Definition)
}

fn built_with(input: &Value, entry: EntryFile) -> Result<Result<BuiltCase, PackError>> {
    let directory = tempfile::tempdir()?;
    let project = directory.path().join("project");
    stage(&project, input, entry)?;
    let store = Arc::new(Store::create(&directory.path().join("oci"))?);
    Ok(build_in(&project, input, &store).map(|built| BuiltCase {
        store,
        built,
        directory,
    }))
}

fn build_in(project: &Path, input: &Value, store: &Store) -> Result<Built, PackError> {
    let entry = DefinitionFile::load(project, named_entry(input).as_deref())?;
    build::build(
        &entry.project,
        &entry.definition()?,
        &build_options(input),
        store,
    )
}

/// What the definition file of a case is. Where the recorded program refused that very file, the case does not say what was
/// in it: a file of the kind that was refused is written in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EntryFile {
    /// The definition that the case gives.
    Definition,
    /// A document that defines nothing.
    NoDefinition,
    /// Nothing that can be read.
    Broken,
}

impl EntryFile {
    fn refused_in(expected: &Value) -> Self {
        let code = expected.pointer("/errors/0/code").and_then(Value::as_str);
        let class = expected.get("errorClass").and_then(Value::as_str);
        match (code, class) {
            (Some("INVALID_ENTRY"), _) => Self::Broken,
            (Some("NO_DEFAULT_EXPORT"), _) | (_, Some("bad-entry")) => Self::NoDefinition,
            _ => Self::Definition,
        }
    }

    fn text(self, input: &Value) -> String {
        match self {
            Self::Definition => definition_of(input).to_string(),
            Self::NoDefinition => "null".to_owned(),
            Self::Broken => "{ \"name\": ".to_owned(),
        }
    }
}

/// Writes a case's project. `entry` places the definition elsewhere; `null` means that there is none.
fn stage(project: &Path, input: &Value, entry_file: EntryFile) -> Result<()> {
    let mut tree = Map::new();
    for (path, content) in input["files"].as_object().into_iter().flatten() {
        let content = if path.ends_with(THEIR_ENTRY) {
            // Another program's source: that there is a definition is all that counts.
            json!("{}")
        } else {
            content.clone()
        };
        tree.insert(ours(path), content);
    }
    if !input.get("entry").is_some_and(Value::is_null) {
        let entry = input["entry"].as_str().unwrap_or(THEIR_ENTRY);
        tree.insert(ours(entry), json!(entry_file.text(input)));
    }
    files::write(project, &Value::Object(tree))
}

fn ours(path: &str) -> String {
    path.replace(THEIR_ENTRY, OUR_ENTRY)
}

/// The definition of a case in our form.
fn definition_of(input: &Value) -> Value {
    let mut definition = input["definition"].clone();
    if let Value::Object(members) = &mut definition
        && is_package(input)
    {
        members.entry("kind").or_insert_with(|| json!("package"));
    }
    for adapter in definition
        .get_mut("adapter")
        .into_iter()
        .filter(|adapter| adapter.get("use").is_some())
    {
        if let Some(options) = adapter.get_mut("options").and_then(Value::as_object_mut) {
            options.retain(|name, _| matches!(name.as_str(), "model" | "workspace"));
        }
    }
    definition
}

/// Loads what a command line names as its definition.
pub(super) fn entry(project: &Path, named: Option<&str>) -> Result<(), PackError> {
    DefinitionFile::load(project, named.map(ours).as_deref())?
        .definition()
        .map(drop)
}

/// Packages are defined by another function in the real program; a case says so in a word of its own, or by the name of
/// the file.
fn is_package(input: &Value) -> bool {
    let words = input.as_object().into_iter().flatten();
    words
        .filter_map(|(_, value)| value.as_str())
        .chain(arguments(input))
        .any(|word| word == "package" || word.ends_with("package.ts"))
}

fn arguments(input: &Value) -> Vec<&str> {
    let listed = input["args"].as_array().into_iter().flatten();
    listed.filter_map(Value::as_str).collect()
}

/// The first argument that is no option and no option's value.
fn named_entry(input: &Value) -> Option<String> {
    let arguments = arguments(input);
    let first = *arguments.first()?;
    first.ends_with(".ts").then(|| ours(first))
}

fn build_options(input: &Value) -> BuildOptions {
    let mut options = BuildOptions::default();
    let arguments = arguments(input);
    for (at, argument) in arguments.iter().enumerate() {
        match *argument {
            "--symlink-mode" if arguments.get(at + 1) == Some(&"flatten") => {
                options.links = LinkMode::Flatten;
            }
            _ => {}
        }
    }
    options
}

fn definition(check: &Check<'_>) -> Outcome {
    let Some(kind) = check.input["type"]
        .as_str()
        .and_then(DocumentKind::from_name)
    else {
        return Outcome::NotYet;
    };
    match definition::check(kind, &check.input["value"]) {
        Ok(value) => Outcome::judge(check.expected, &json!({ "ok": true, "value": value })),
        Err(error) => judge_error(check.expected, &error),
    }
}

fn adapter_config(check: &Check<'_>) -> Outcome {
    let mut options = check.input["options"].clone();
    if let Some(options) = options.as_object_mut() {
        options.retain(|name, _| matches!(name.as_str(), "model" | "workspace"));
    }
    match OpenClawOptions::parse(&options) {
        Ok(options) => Outcome::judge(check.expected, &adapters::openclaw(&options)),
        Err(error) => judge_error(check.expected, &error),
    }
}

fn profile(check: &Check<'_>) -> Result<Outcome> {
    let directory = tempfile::tempdir()?;
    let store = Arc::new(Store::create(directory.path())?);
    match build::build_profile(check.input, &BuildOptions::default(), &store) {
        Ok(built) => {
            let actual = described(&store, &built, check.expected)?;
            Ok(Outcome::judge(check.expected, &actual))
        }
        Err(error) => {
            let path = check.expected.get("path").and_then(Value::as_str);
            if path.is_some_and(|path| !error.items().iter().any(|item| item == path)) {
                let items = error.items().join(", ");
                let message = format!("recorded: about {path:?}\nours: about {items}\n");
                return Ok(Outcome::Failed(message));
            }
            Ok(judge_error(check.expected, &error))
        }
    }
}

fn validate(check: &Check<'_>) -> Result<Outcome> {
    let directory = tempfile::tempdir()?;
    let project = directory.path().join("project");
    stage(&project, check.input, EntryFile::refused_in(check.expected))?;
    let named = arguments(check.input).first().map(|name| ours(name));
    let found = match definition::validate(&project, named.as_deref()) {
        Ok(found) => found,
        Err(error) => return Ok(judge_error(check.expected, &error)),
    };
    let exit = u8::from(!found.errors.is_empty());
    let theirs = |findings: &[definition::DefinitionFinding]| -> Vec<Value> {
        findings
            .iter()
            .map(|finding| {
                let path = finding.path.replace(OUR_ENTRY, THEIR_ENTRY);
                json!({ "code": finding.code, "path": path })
            })
            .collect()
    };
    let actual = json!({
        "exit": exit,
        "errors": theirs(&found.errors),
        "warnings": theirs(&found.warnings),
    });
    Ok(Outcome::judge(check.expected, &actual))
}

fn pack_workspace(check: &Check<'_>) -> Result<Outcome> {
    let directory = tempfile::tempdir()?;
    let workspace = directory.path().join("workspace");
    files::write(&workspace, &check.input["workspace"])?;
    let store = Arc::new(Store::create(&directory.path().join("oci"))?);
    let identity = PackIdentity {
        name: "agent".into(),
        version: "1.0.0".into(),
        description: "A case.".into(),
        ..PackIdentity::default()
    };
    let wants_memory = check.input["options"]
        .as_object()
        .into_iter()
        .flatten()
        .any(|(name, value)| {
            name.to_lowercase().contains("memory")
                && !matches!(value, Value::Bool(false) | Value::Null)
        });
    let options = WorkspaceOptions {
        memory_file: if wants_memory {
            MemoryFileMode::Pack
        } else {
            MemoryFileMode::Leave
        },
        // The cases speak of the format's own layers.
        own_layers: OwnLayers::Leave,
        ..WorkspaceOptions::default()
    };
    let built = match build::pack_workspace(&workspace, &identity, &options, &store) {
        Ok(built) => built,
        Err(error) => return Ok(judge_error(check.expected, &error)),
    };
    let mut layers = Map::new();
    for layer in &built.layers {
        let (names, _) = listed(&store, &layer.descriptor)?;
        layers.insert(layer.kind.name().into(), json!(names));
    }
    let mut actual = json!({ "exit": 0, "layers": layers, "skipped": built.skipped });
    add_warnings(&built, check.expected, &mut actual);
    Ok(Outcome::judge(check.expected, &actual))
}

/// Warnings as the case gives them: members that it names, or only how many where it gives words.
fn add_warnings(built: &Built, expected: &Value, actual: &mut Value) {
    let all = json!(built.warnings);
    let of = |given: &Value| -> Vec<Value> {
        let given = given.as_array().map_or(&[][..], Vec::as_slice);
        let ours = all.as_array().into_iter().flatten().enumerate();
        ours.map(|(at, warning)| match given.get(at) {
            Some(Value::Object(members)) => members
                .keys()
                .map(|member| (member.clone(), warning[member.as_str()].clone()))
                .collect(),
            Some(Value::String(text))
                if text.chars().all(|c| c.is_ascii_uppercase() || c == '_') =>
            {
                warning["code"].clone()
            }
            Some(Value::String(text)) => json!(text),
            _ => warning["code"].clone(),
        })
        .collect()
    };
    for member in ["warnings", "warningCodes"] {
        if let Some(given) = expected.get(member) {
            actual[member] = json!(of(given));
        }
    }
    if let Some(given) = expected["warningsInclude"].as_array() {
        let ours = all.as_array().map_or(&[][..], Vec::as_slice);
        let stands = |wanted: &&Value| {
            ours.iter().any(|warning| match wanted {
                Value::Object(members) => members
                    .iter()
                    .all(|(member, value)| warning.get(member) == Some(value)),
                code => warning["code"] == **code,
            })
        };
        actual["warningsInclude"] = given.iter().filter(stands).cloned().collect();
    }
}

fn built(check: &Check<'_>) -> Result<Outcome> {
    if let Err(error) = super::cli::check_arguments("build", &arguments(check.input)) {
        return Ok(judge_error(check.expected, &error));
    }
    let case = match built_with(check.input, EntryFile::refused_in(check.expected))? {
        Ok(case) => case,
        Err(error) => return Ok(judge_error(check.expected, &error)),
    };
    let mut actual = described(&case.store, &case.built, check.expected)?;
    let times = check.input["repeat"].as_u64().unwrap_or(1);
    let mut digests = vec![case.built.manifest.digest];
    for _ in 1..times {
        let project = case.directory.path().join("project");
        if check.input["touchBetween"] == true {
            files::touch(&project)?;
        }
        match build_in(&project, check.input, &case.store) {
            Ok(built) => digests.push(built.manifest.digest),
            Err(error) => return Ok(judge_error(check.expected, &error)),
        }
    }
    if check.expected.get("sameManifestDigest").is_some() {
        let same = digests.windows(2).all(|pair| pair[0] == pair[1]);
        actual["sameManifestDigest"] = json!(same);
    }
    Ok(Outcome::judge(check.expected, &actual))
}

/// Describes what was built by the members that the case gives.
fn described(store: &Arc<Store>, built: &Built, expected: &Value) -> Result<Value> {
    let artifact = store.artifact(&built.manifest.digest)?;
    artifact.verify()?;
    let manifest = &artifact.manifest;
    let mut actual = json!({
        "exit": 0,
        "ok": true,
        "manifestDigest": built.manifest.digest,
        "manifestDigestPortable": expected["manifestDigestPortable"],
        "artifactType": manifest.artifact_type,
        "annotations": manifest.annotations,
        "configMediaType": manifest.config.media_type,
        "configDigest": manifest.config.digest,
        "configKind": artifact.config["kind"],
        "config": artifact.config,
    });
    if let Some(wanted) = expected["configIncludes"].as_object() {
        let members = wanted
            .keys()
            .map(|name| (name.clone(), artifact.config[name.as_str()].clone()));
        actual["configIncludes"] = members.collect();
    }
    let given = expected["layers"].as_array().map_or(&[][..], Vec::as_slice);
    let mut layers = Vec::new();
    let mut texts = Map::new();
    let mut modes = Map::new();
    let mut names = Vec::new();
    for (at, descriptor) in manifest.layers.iter().enumerate() {
        let kind = LayerKind::from_media_type(&descriptor.media_type).context("a layer's kind")?;
        let bytes = blob(store, &descriptor.digest)?;
        let mut layer = json!({ "mediaType": descriptor.media_type });
        if kind.format() == Format::Tar {
            let tar = decompressed(&bytes)?;
            layer["tarSha256"] = json!(Digest::of(&tar).hex());
            layer["tarSize"] = json!(tar.len());
            layer["gzip"] = json!({
                "header": bytes::hex(&bytes[..10]),
                "digest": descriptor.digest,
                "size": descriptor.size,
            });
            let entries = bytes::entries(&tar);
            for entry in entries.as_array().into_iter().flatten() {
                let name = entry_name(entry);
                modes.insert(name.clone(), entry["mode"].clone());
                names.push(name);
            }
            layer["entries"] = entries;
        } else {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            layer["digest"] = json!(descriptor.digest);
            layer["size"] = json!(descriptor.size);
            layer["text"] = json!(text);
            texts.insert(descriptor.media_type.clone(), json!(text));
        }
        keep_given(&mut layer, given.get(at));
        layers.push(layer);
    }
    if layers.is_empty() {
        // Readers pass over the descriptor that stands for none; the manifest itself has it.
        let raw: Value = serde_json::from_slice(&artifact.manifest_bytes)?;
        layers.extend(raw["layers"].as_array().into_iter().flatten().cloned());
    }
    actual["layers"] = json!(layers);
    add_partial(&mut actual, expected, (&texts, &modes, &names));
    add_warnings(built, expected, &mut actual);
    if let (Some(expected), Some(actual)) = (expected.as_object(), actual.as_object_mut()) {
        actual.retain(|member, _| expected.contains_key(member));
    }
    Ok(actual)
}

/// The partial forms: some texts, some modes, some names that must not be there.
fn add_partial(
    actual: &mut Value,
    expected: &Value,
    (texts, modes, names): (&Map<String, Value>, &Map<String, Value>, &[String]),
) {
    let of = |found: &Map<String, Value>, member: &str| -> Value {
        let asked = expected[member].as_object().into_iter().flatten();
        asked
            .map(|(name, _)| (name.clone(), found.get(name).cloned().unwrap_or_default()))
            .collect()
    };
    actual["layerText"] = of(texts, "layerText");
    actual["entryModes"] = of(modes, "entryModes");
    let absent = expected["absentEntries"].as_array().into_iter().flatten();
    actual["absentEntries"] = absent
        .filter(|name| !names.iter().any(|found| name.as_str() == Some(found)))
        .cloned()
        .collect();
}

/// Keeps the members that the case gives, in entries too: those recorded from the real program list fewer fields.
fn keep_given(layer: &mut Value, given: Option<&Value>) {
    let Some(given) = given else { return };
    if let (Value::Object(layer), Value::Object(given)) = (&mut *layer, given) {
        layer.retain(|member, _| given.contains_key(member));
    }
    let fields = given.pointer("/entries/0").and_then(Value::as_object);
    if let (Some(fields), Some(entries)) = (
        fields,
        layer.get_mut("entries").and_then(Value::as_array_mut),
    ) {
        for entry in entries {
            let name = entry_name(entry);
            if let Value::Object(entry) = entry {
                if !fields.contains_key("prefix") {
                    entry.insert("name".into(), json!(name));
                }
                entry.retain(|member, _| fields.contains_key(member));
            }
        }
    }
}

/// The whole path of an entry, which may stand in two fields.
fn entry_name(entry: &Value) -> String {
    let part = |member: &str| entry[member].as_str().unwrap_or_default();
    match part("prefix") {
        "" => part("name").to_owned(),
        prefix => format!("{prefix}/{}", part("name")),
    }
}

/// The names in an archive layer, and its bytes.
fn listed(store: &Arc<Store>, descriptor: &Descriptor) -> Result<(Vec<String>, Vec<u8>)> {
    let tar = decompressed(&blob(store, &descriptor.digest)?)?;
    let entries = bytes::entries(&tar);
    let names = entries.as_array().into_iter().flatten().map(entry_name);
    Ok((names.collect(), tar))
}

fn blob(store: &Arc<Store>, digest: &Digest) -> Result<Vec<u8>> {
    let blobs: Arc<dyn chitin_pack::artifact::Blobs> = Arc::clone(store) as _;
    let mut bytes = Vec::new();
    blobs.open(digest)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn decompressed(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut tar = Vec::new();
    archive::decompress(bytes).read_to_end(&mut tar)?;
    Ok(tar)
}
