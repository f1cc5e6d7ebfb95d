//! Builds the directory trees that cases describe.
#![expect(
    clippy::disallowed_methods,
    reason = "cases describe trees, links and odd entries on purpose"
)]

use anyhow::{Context, Result};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// Writes a map `path → text | {"symlink": target} | {"base64": …}` below a directory (skills and bridge cases).
pub fn write_map(root: &Path, tree: &Value) -> Result<()> {
    let Some(entries) = tree.as_object() else {
        return Ok(());
    };
    for (path, content) in entries {
        let path = root.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        if let Some(target) = content.get("symlink").and_then(Value::as_str) {
            symlink(target, &path)?;
        } else if let Some(encoded) = content.get("base64").and_then(Value::as_str) {
            fs::write(&path, base64(encoded)?)?;
        } else {
            fs::write(
                &path,
                text(content).with_context(|| format!("odd content for `{}`", path.display()))?,
            )?;
        }
    }
    Ok(())
}

/// Expands `{"$repeat": s, "times": n}` and `{"$concat": […]}` to text.
pub fn text(value: &Value) -> Result<String> {
    if let Some(text) = value.as_str() {
        return Ok(text.to_owned());
    }
    if let (Some(part), Some(times)) = (
        value.get("$repeat"),
        value.get("times").and_then(Value::as_u64),
    ) {
        return Ok(text(part)?.repeat(usize::try_from(times)?));
    }
    if let (Some(part), Some(times)) = (
        value.get("$numbered"),
        value.get("times").and_then(Value::as_u64),
    ) {
        let part = text(part)?;
        return Ok((0..times)
            .map(|number| part.replace('#', &number.to_string()))
            .collect());
    }
    let parts = value
        .get("$concat")
        .and_then(Value::as_array)
        .context("neither text nor a recipe for text")?;
    parts.iter().map(text).collect()
}

/// Above this length a recorded text is described, not quoted.
const QUOTED_UNITS: usize = 6_000;

/// Returns a text as cases record it: whole, or length, digest and both ends. `units` is the length that the case states.
pub fn quoted(text: String, units: usize) -> Value {
    if units <= QUOTED_UNITS {
        return Value::String(text);
    }
    let all: Vec<u16> = text.encode_utf16().collect();
    let part = |range: &[u16]| String::from_utf16_lossy(range);
    let sum = Sha256::digest(text.as_bytes())
        .iter()
        .fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        });
    json!({ "$text": {
        "length": units,
        "sha256": sum,
        "head": part(&all[..all.len().min(60)]),
        "tail": part(&all[all.len().saturating_sub(160)..]),
    } })
}

/// Decodes standard base64.
pub fn base64(encoded: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(encoded.len() * 3 / 4);
    let (mut bits, mut count) = (0_u32, 0_u32);
    for c in encoded
        .bytes()
        .filter(|c| !c.is_ascii_whitespace() && *c != b'=')
    {
        let value = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => anyhow::bail!("not base64: `{encoded}`"),
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from((bits >> count) & 0xff)?);
        }
    }
    Ok(bytes)
}
