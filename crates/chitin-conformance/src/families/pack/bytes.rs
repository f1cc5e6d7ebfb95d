//! Canonical JSON, archives and references.

use super::judge_error;
use crate::{Check, Outcome};
use chitin_pack::archive::{self, TarWriter};
use chitin_pack::canonical;
use chitin_pack::digest::Digest;
use chitin_pack::error::PackError;
use chitin_pack::reference::Reference;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::io::Write as _;

/// How a case writes the host that the format assumes and we do not.
const DEFAULT_REGISTRY: &str = "<DEFAULT_REGISTRY>";

pub(super) fn run(check: &Check<'_>) -> Outcome {
    let actual = match check.case.op.as_str() {
        "canonical-json" => Ok(canonical_json(check.input)),
        "tar" => tar(check.input, check.expected),
        _ => reference(check.input),
    };
    match actual {
        Ok(actual) => Outcome::judge(check.expected, &actual),
        Err(error) => judge_error(check.expected, &error),
    }
}

fn canonical_json(input: &Value) -> Value {
    let text = canonical::to_string(&input["value"]);
    json!({ "text": text, "sha256": Digest::of(text.as_bytes()).hex() })
}

fn reference(input: &Value) -> Result<Value, PackError> {
    let text = input["reference"].as_str().unwrap_or_default();
    let found: Reference = text.parse()?;
    let registry = found.registry.as_deref().unwrap_or(DEFAULT_REGISTRY);
    let mut parsed = Map::new();
    parsed.insert("registry".into(), json!(registry));
    parsed.insert("repository".into(), json!(found.repository));
    if let Some(tag) = &found.tag {
        parsed.insert("tag".into(), json!(tag));
    }
    if let Some(digest) = &found.digest {
        parsed.insert("digest".into(), json!(digest));
    }
    Ok(json!({ "ok": true, "parsed": parsed }))
}

/// The members that the case gives are compared; `trailerBytes` and `gzip` are not in all of them.
fn tar(input: &Value, expected: &Value) -> Result<Value, PackError> {
    let mut files: Vec<(&str, Vec<u8>)> = Vec::new();
    for file in input["files"].as_array().into_iter().flatten() {
        let bytes = super::files::content(&file[1]).unwrap_or_default();
        files.push((file[0].as_str().unwrap_or_default(), bytes));
    }
    for (path, _) in &files {
        archive::check_path(path)?;
    }
    let mut seen = archive::SeenPaths::default();
    for (path, _) in &files {
        seen.add(path)?;
    }
    files.sort_by_key(|(path, _)| path.as_bytes());
    let mut writer = TarWriter::new(Vec::new());
    for (path, bytes) in &files {
        writer.file(path, false, bytes.len() as u64, &mut bytes.as_slice())?;
    }
    let tar = writer.finish()?;
    let trailer = tar.iter().rev().take_while(|byte| **byte == 0).count();
    let mut actual = Map::new();
    actual.insert("ok".into(), json!(true));
    actual.insert("tarSha256".into(), json!(Digest::of(&tar).hex()));
    actual.insert("tarSize".into(), json!(tar.len()));
    actual.insert("entries".into(), entries(&tar));
    // The padding of the last file may be zeros too; what counts is that the end itself is no longer than it must be.
    actual.insert("trailerBytes".into(), json!(trailer.min(1024)));
    let mut gzip = archive::compress(Vec::new());
    let compressed = gzip
        .write_all(&tar)
        .and_then(|()| gzip.finish())
        .unwrap_or_default();
    actual.insert(
        "gzip".into(),
        json!({
            "header": hex(&compressed[..10.min(compressed.len())]),
            "sha256": Digest::of(&compressed).hex(),
            "size": compressed.len(),
        }),
    );
    actual.retain(|member, _| expected.get(member).is_some());
    Ok(Value::Object(actual))
}

/// Every header field as it is stored.
pub(super) fn entries(tar: &[u8]) -> Value {
    let mut entries = Vec::new();
    let mut at = 0;
    while tar.len() >= at + 512 && tar[at..at + 512].iter().any(|byte| *byte != 0) {
        let header = &tar[at..at + 512];
        let size = u64::from_str_radix(&text(&header[124..136]), 8).unwrap_or(0);
        entries.push(json!({
            "name": text(&header[..100]),
            "type": text(&header[156..157]),
            "mode": text(&header[100..108]),
            "uid": text(&header[108..116]),
            "gid": text(&header[116..124]),
            "size": size,
            "mtime": text(&header[136..148]),
            "magic": whole(&header[257..263]),
            "version": whole(&header[263..265]),
            "uname": text(&header[265..297]),
            "gname": text(&header[297..329]),
            "prefix": text(&header[345..500]),
            "chksum": whole(&header[148..156]),
        }));
        at += 512 + usize::try_from(size.div_ceil(512) * 512).unwrap_or(0);
    }
    Value::Array(entries)
}

fn text(field: &[u8]) -> String {
    let end = field
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(field.len());
    String::from_utf8_lossy(&field[..end]).into_owned()
}

fn whole(field: &[u8]) -> String {
    String::from_utf8_lossy(field).replace('\0', "\\0")
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
