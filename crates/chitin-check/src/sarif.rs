//! Findings as SARIF 2.1.0, for code scanning services.

use super::CheckReport;
use super::finding::{Finding, Severity};
use super::rules::RULES;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt::Write;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// Returns a report as a SARIF log; `version` is that of the program.
pub fn sarif(report: &CheckReport, version: &str) -> Value {
    let rules: Vec<Value> = RULES
        .iter()
        .map(|rule| {
            json!({
                "id": rule.code,
                "shortDescription": { "text": rule.title },
                "fullDescription": { "text": rule.explanation },
                "help": { "text": rule.remedy },
                "defaultConfiguration": { "level": level(rule.severity) },
            })
        })
        .collect();
    let mut seen = HashMap::new();
    let mut results: Vec<Value> = report
        .findings
        .iter()
        .map(|finding| result(finding, &mut seen))
        .collect();
    for suppressed in &report.suppressed {
        let mut value = result(&suppressed.finding, &mut seen);
        value["suppressions"] = json!([{ "kind": "inSource", "justification": suppressed.reason }]);
        results.push(value);
    }
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "chitin", "version": version, "rules": rules } },
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": {
                "WORKSPACE": { "uri": format!("file://{}/", encode(&report.path)) }
            },
            "properties": { "contract": report.contract },
            "results": results,
        }],
    })
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

fn result(finding: &Finding, seen: &mut HashMap<String, usize>) -> Value {
    let index = RULES.iter().position(|rule| rule.code == finding.code);
    // A skill may lie outside the workspace; its path is absolute then.
    let artifact = if finding.path.starts_with('/') {
        json!({ "uri": format!("file://{}", encode(&finding.path)) })
    } else {
        json!({ "uri": encode(&finding.path), "uriBaseId": "WORKSPACE" })
    };
    let mut location = json!({ "artifactLocation": artifact });
    if let Some(place) = finding.place {
        location["region"] = json!({
            "startLine": place.line,
            "startColumn": place.column,
            "endLine": place.end_line,
            "endColumn": place.end_column,
            "byteOffset": place.start,
            "byteLength": place.end - place.start,
        });
    }
    json!({
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": level(finding.severity),
        "message": { "text": format!("{} {}", finding.message, finding.remedy) },
        "locations": [{ "physicalLocation": location }],
        "partialFingerprints": { "chitin/v1": fingerprint(finding, seen) },
    })
}

/// Names a finding without its line, so that it stays the same when lines move. Made of nothing that is not shown anyway.
fn fingerprint(finding: &Finding, seen: &mut HashMap<String, usize>) -> String {
    let key = format!("{}\0{}\0{}", finding.code, finding.path, finding.message);
    let count = seen.entry(key.clone()).or_default();
    *count += 1;
    let hash = blake3::hash(format!("{key}\0{count}").as_bytes());
    hex::encode(&hash.as_bytes()[..16])
}

/// Writes a path as part of an address.
fn encode(path: &str) -> String {
    let mut encoded = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'-' | b'_' | b'~') {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}
