//! Signatures and what is demanded of them; artifacts inspected, compared and extracted.

use super::build::{BuiltCase, built_case};
use super::judge_error;
use crate::{Check, Outcome};
use anyhow::{Context, Result};
use chitin_pack::artifact::{Artifact, Descriptor, Manifest};
use chitin_pack::compat::{AGENT, CONFIG, OCI_MANIFEST, SIGNATURE_PAYLOAD};
use chitin_pack::diff::{self, diff};
use chitin_pack::inspect::{self, documents, inspect};
use chitin_pack::signatures::{
    PrivateKey, Requirement, Signature, SignatureMode, SignedName, TrustedKey, verify,
};
use chitin_pack::store::{ImageLayout, Store, extract};
use chitin_pack::{ErrorClass, PackError};
use serde_json::{Map, Value, json};
use std::sync::Arc;

pub(super) fn run(check: &Check<'_>) -> Outcome {
    let judged = match check.case.op.as_str() {
        "verify-policy" => verify_policy(check.input),
        "diff" => compare(check.input),
        "extract" => extracted(check.input),
        _ => inspected(check.input),
    };
    match judged {
        Ok(Ok(actual)) => judge(check.expected, &actual),
        Ok(Err(error)) => judge_error(check.expected, &error),
        Err(error) => Outcome::Failed(format!("{error:#}\n")),
    }
}

/// Compares the members that the case gives. Notes are for people.
fn judge(expected: &Value, actual: &Map<String, Value>) -> Outcome {
    let mut expected = expected.clone();
    let mut compared = Value::Object(actual.clone());
    if let (Value::Object(expected), Value::Object(compared)) = (&mut expected, &mut compared) {
        expected.remove("note");
        compared.retain(|member, _| expected.contains_key(member));
        if let (Some(given), Some(ours)) = (expected.get("json"), compared.get_mut("json")) {
            keep_given(given, ours);
        }
    }
    Outcome::judge(&expected, &compared)
}

/// Leaves of our document what the case speaks of.
fn keep_given(given: &Value, ours: &mut Value) {
    if let (Value::Object(given), Value::Object(ours)) = (given, ours) {
        ours.retain(|member, _| given.contains_key(member));
        for (member, value) in ours {
            keep_given(&given[member], value);
        }
    }
}

type Judged = Result<Result<Map<String, Value>, PackError>>;

fn members(value: Value) -> Judged {
    match value {
        Value::Object(members) => Ok(Ok(members)),
        _ => anyhow::bail!("not an object"),
    }
}

/// Signs a small artifact as the case says, and asks whether it may be used.
fn verify_policy(input: &Value) -> Judged {
    let directory = tempfile::tempdir()?;
    let store = Arc::new(Store::create(directory.path())?);
    let manifest = Manifest {
        artifact_type: AGENT.to_owned(),
        config: store.put(CONFIG, b"{\"name\":\"harbor\"}")?,
        layers: Vec::new(),
        annotations: std::collections::BTreeMap::new(),
        subject: None,
    };
    let put = store.put_manifest(&manifest)?;
    let subject = Descriptor::new(OCI_MANIFEST, put.digest, put.size);
    let (ours, theirs) = (PrivateKey::generate()?, PrivateKey::generate()?);
    let name = SignedName::parse("harbor")?;
    let sign =
        |key: &PrivateKey| Signature::make(&subject, &name, key, "Ada", "2026-01-31T12:00:00Z");
    match input["signatureReferrer"].as_str() {
        None | Some("absent") => {}
        Some("valid") => drop(sign(&ours)?.put(&store)?),
        Some("untrusted") => drop(sign(&theirs)?.put(&store)?),
        Some("invalid") => {
            let mut signature = sign(&ours)?;
            signature.payload.push(b'\n');
            signature.manifest.layers = vec![Descriptor::of(SIGNATURE_PAYLOAD, &signature.payload)];
            signature.put(&store)?;
        }
        Some(other) => anyhow::bail!("a signature that is `{other}`"),
    }
    let requirement = Requirement {
        mode: match SignatureMode::parse(input["policy"].as_str().unwrap_or_default()) {
            Ok(mode) => mode,
            Err(error) => return Ok(Err(error)),
        },
        keys: vec![TrustedKey {
            name: "ours".to_owned(),
            key: ours.public(),
        }],
        ..Requirement::default()
    };
    let signatures = store.signatures_of(&subject.digest)?;
    match verify(&subject, None, &signatures, &requirement) {
        Ok(verdict) => {
            let codes: Vec<_> = verdict
                .warnings
                .iter()
                .map(|warning| warning.code)
                .collect();
            members(json!({ "exit": 0, "warnings": verdict.warnings, "warningCodes": codes }))
        }
        Err(error) => Ok(Err(error)),
    }
}

fn compare(input: &Value) -> Judged {
    let (left, right) = match (side(&input["left"])?, side(&input["right"])?) {
        (Ok(left), Ok(right)) => (left, right),
        (Err(error), _) | (_, Err(error)) => return Ok(Err(error)),
    };
    let difference = match diff(&left.1, &right.1, diff::DiffDepth::Files) {
        Ok(difference) => difference,
        Err(error) => return Ok(Err(error)),
    };
    let changes = difference.changes.iter().map(|change| {
        let differs = change.change != diff::LayerChange::Identical;
        anyhow::ensure!(differs != change.files.is_empty(), "no file says why");
        Ok(json!({ "mediaType": change.media_type, "change": change.change }))
    });
    let changes = changes.collect::<Result<Vec<_>>>()?;
    members(json!({ "exit": 0, "changes": changes, "identical": difference.identical }))
}

/// Builds one side; a side that is not described is one that is not there.
fn side(input: &Value) -> Result<Result<(BuiltCase, Artifact), PackError>> {
    if input.get("definition").is_none() {
        let message = "the case names something that is not there";
        return Ok(Err(PackError::new(ErrorClass::MissingManifest, message)));
    }
    Ok(built_case(input)?.and_then(|built| {
        let artifact = built.artifact()?;
        Ok((built, artifact))
    }))
}

fn inspected(input: &Value) -> Judged {
    let artifact = match side(input)? {
        Ok((_built, artifact)) => (
            inspect(&artifact, inspect::InspectDepth::Files, Vec::new()),
            artifact,
        ),
        Err(error) => return Ok(Err(error)),
    };
    let (inspection, artifact) = match artifact {
        (Ok(inspection), artifact) => (inspection, artifact),
        (Err(error), _) => return Ok(Err(error)),
    };
    let name = input["definition"]["name"].as_str();
    anyhow::ensure!(name == Some(&inspection.name), "another name");
    members(json!({ "exit": 0, "json": documents(&artifact) }))
}

/// Extracts, and reads what was extracted as an artifact of its own.
fn extracted(input: &Value) -> Judged {
    let (built, artifact) = match side(input)? {
        Ok(side) => side,
        Err(error) => return Ok(Err(error)),
    };
    let target = built.directory.path().join("extracted");
    let blobs = match extract(&target, &artifact) {
        Ok(blobs) => blobs,
        Err(error) => return Ok(Err(error)),
    };
    let copy = ImageLayout::open(&target)?.artifact(None)?;
    copy.verify().context("what was extracted")?;
    anyhow::ensure!(copy.digest == artifact.digest, "another manifest");
    members(json!({ "exit": 0, "blobs": blobs }))
}
