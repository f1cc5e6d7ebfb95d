//! Budgets and blocks from records that a case describes: `trim`, `report`, `render`.

use crate::{Check, stage};
use anyhow::{Context, Result};
use chitin_config::settings::TruncationWarning;
use chitin_context::body::Body;
use chitin_context::budget::{BudgetLimits, ContextFile, Spent, spend};
use chitin_context::memory_results::{self, MemoryResult};
use chitin_context::render::{blocks, files_only, join};
use chitin_context::report::{
    Announced, around_words, report as reckon, system_notice, user_notice,
};
use chitin_context::{BudgetDecision, CutCause, Fragment, FragmentPiece, Size};
use chitin_contract::{Contract, NoticePlace, TotalCause};
use chitin_protocol::record::{FileRefusal, OversizeFile};
use chitin_workspace::snapshot::{FileContent, Record, RecordState};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::sync::Arc;

pub(super) fn trim(check: &Check<'_>) -> Result<Value> {
    let records = records(check.input)?;
    let spent = spent(check, &records);
    Ok(json!({
        "context_files": context_files(&spent.files, &|text| text.to_owned()),
        "warnings": spent.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
    }))
}

pub(super) fn report(check: &Check<'_>) -> Result<Value> {
    let contract = check.contract;
    let records = records(check.input)?;
    let limits = limits(check.input, contract);
    let spent = spent(check, &records);
    let kept: Vec<&Record> = records.iter().collect();
    let report = reckon(&kept, &spent, contract, &limits);
    let files: Vec<Value> = report
        .files
        .iter()
        .map(|file| {
            let mut fields = json!({
                "name": file.name,
                "raw_chars": file.raw,
                "injected_chars": file.injected,
                "truncated": file.truncated,
            });
            if contract.budgets.total_cause != TotalCause::Untold {
                fields["near_limit"] = json!(file.near_limit);
                fields["causes"] = file.causes.iter().copied().map(cause).collect();
            }
            fields
        })
        .collect();
    if contract.budgets.total_cause == TotalCause::Untold {
        return Ok(json!({ "files": files }));
    }
    let lines = report.warning_lines(contract, &limits);
    let mut result = json!({
        "files": files,
        "total_near_limit": report.near_total,
        "totals": {
            "raw_chars": report.raw,
            "injected_chars": report.injected,
            "truncated_chars": report.raw.saturating_sub(report.injected),
        },
        "warning_lines": lines.iter().map(|line| guided(line)).collect::<Vec<_>>(),
    });
    if check.expected.get("modes").is_some() {
        let mode = |mode| {
            let mut announced = Announced::default();
            let (first, second) = (
                announced.is_due(&report, mode),
                announced.is_due(&report, mode),
            );
            json!({ "first_shown": first, "second_shown": second })
        };
        result["modes"] = json!({
            "off": mode(TruncationWarning::Off),
            "once": mode(TruncationWarning::Once),
            "always": mode(TruncationWarning::Always),
        });
        let prompt = check.input["prompt"].as_str().unwrap_or("hi");
        let notice = user_notice(&lines, contract).map(|block| guided_block(&block));
        result["prompt_with_warning"] = json!(around_words(None, prompt, notice.as_deref()));
    }
    if contract.budgets.notice == NoticePlace::SystemPrompt {
        result["mode"] = json!("always");
        result["notice"] =
            json!(system_notice(&lines, contract).map(|notice| guided_block(&notice)));
    }
    Ok(result)
}

fn cause(cause: CutCause) -> Value {
    json!(match cause {
        CutCause::PerFileLimit => "per-file-limit",
        CutCause::TotalLimit => "total-limit",
        CutCause::Plan => "plan",
    })
}

/// Lines of figures and counts are the contract's; the others are guidance.
fn guided(line: &str) -> String {
    let fixed = line.contains(" raw -> ") || line.ends_with(" more truncated file(s).");
    if fixed {
        line.to_owned()
    } else {
        "{GUIDANCE}".to_owned()
    }
}

/// The same for a whole block: a run of guidance is one placeholder.
pub(super) fn guided_block(block: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in block.lines() {
        let bare = line.strip_prefix("- ").unwrap_or(line);
        let shown = if line.starts_with(['[', '#']) || guided(bare) == bare {
            line.to_owned()
        } else {
            "{GUIDANCE}".to_owned()
        };
        if shown != "{GUIDANCE}" || lines.last().is_none_or(|last| last != "{GUIDANCE}") {
            lines.push(shown);
        }
    }
    lines.join("\n")
}

pub(super) fn render(check: &Check<'_>) -> Result<Value> {
    let mut files = Vec::new();
    for (at, entry) in check.input["context_files"]
        .as_array()
        .context("context_files")?
        .iter()
        .enumerate()
    {
        let path: Arc<str> = entry["path"].as_str().unwrap_or_default().into();
        if path.trim().is_empty() && check.contract.rendering.boundary {
            continue;
        }
        let text = String::from_utf8(stage::content(entry)?)?;
        let mut file = given_file(&path, text);
        file.record = at;
        file.extra = entry["extra"] == true;
        files.push(file);
    }
    let projects: Vec<String> = check.input["active_project_keys"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|key| Some(key.as_str()?.to_owned()))
        .collect();
    let blocks = blocks(&files, &check.contract.rendering, &projects);
    Ok(json!({ "rendered": rendered(check, blocks, &|text| text.to_owned())? }))
}

/// A file as cases hand it to the recorded programs: with a path, whatever the contract would head it with.
pub(super) fn given_file(path: &str, text: String) -> ContextFile {
    ContextFile {
        record: 0,
        name: path.rsplit('/').next().unwrap_or_default().into(),
        path: path.into(),
        heading: path.into(),
        extra: false,
        body: Arc::new(Body::of(FragmentPiece::given(text))),
        raw: Size::default(),
        remaining: None,
        decision: BudgetDecision::Whole,
    }
}

/// The blocks as cases show them, guidance replaced.
pub(super) fn rendered(
    check: &Check<'_>,
    blocks: chitin_context::render::Blocks,
    redact: &dyn Fn(&str) -> String,
) -> Result<Value> {
    let rendering = &check.contract.rendering;
    let results: Vec<MemoryResult> = match &check.input["memory_results"] {
        Value::Null => Vec::new(),
        results => serde_json::from_value(results.clone())?,
    };
    let memory = memory_results::pieces(&results);
    let text = |fragments: &[Fragment]| {
        if fragments.is_empty() {
            return Value::Null;
        }
        let shown = with_guidance_hidden(&redact(&join(fragments)));
        digested(&shown)
    };
    let mut result = json!({
        "stable": text(&blocks.stable),
        "dynamic": text(&blocks.dynamic),
    });
    if rendering.memory_results {
        let memory: String = memory.iter().map(|piece| piece.text.as_str()).collect();
        result["memory"] = if memory.is_empty() {
            Value::Null
        } else {
            digested(&with_guidance_hidden(&redact(&memory)))
        };
    }
    if check.input["whole_text"] == true {
        result["text"] = text(&files_only(blocks, memory, rendering));
    }
    Ok(result)
}

/// Puts one placeholder in place of what stands between a block's heading and the first file, wherever such a heading
/// stands: the recorded texts were made that way.
fn with_guidance_hidden(text: &str) -> String {
    const HEADINGS: [&str; 2] = ["# Project Context\n", "# Dynamic Project Context\n"];
    let mut shown = String::new();
    let mut rest = text;
    while let Some(end) = HEADINGS
        .iter()
        .filter_map(|heading| Some(rest.find(heading)? + heading.len()))
        .min()
    {
        shown.push_str(&rest[..end]);
        shown.push_str("{GUIDANCE}");
        rest = rest[end..].find("\n## ").map_or("", |at| &rest[end + at..]);
    }
    shown + rest
}

/// A rendered text: whole, or its digest when it is long.
fn digested(shown: &str) -> Value {
    if shown.encode_utf16().count() <= 3000 {
        return json!({ "content": shown });
    }
    let digest = Sha256::digest(shown.as_bytes());
    let hex = digest.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    });
    json!({ "sha256": hex })
}

/// Context files as cases show them.
pub(super) fn context_files(files: &[ContextFile], redact: &dyn Fn(&str) -> String) -> Vec<Value> {
    files
        .iter()
        .map(|file| {
            let text = file.body.text();
            let mut fields = json!({ "path": redact(&file.heading) });
            let shown = redact(&text);
            if file.body.units <= 3000 {
                fields["content"] = json!(shown);
            } else {
                fields["sha256"] = digested(&shown)["sha256"].clone();
            }
            if file.extra {
                fields["extra"] = json!(true);
            }
            fields
        })
        .collect()
}

fn limits(input: &Value, contract: &Contract) -> BudgetLimits {
    let size = |key: &str| input[key].as_f64().map(to_size);
    let own = BudgetLimits::of(contract);
    let per_file = size("max_chars").unwrap_or(own.per_file);
    BudgetLimits {
        per_file,
        total: own
            .total
            .map(|total| size("total_max_chars").unwrap_or_else(|| total.max(per_file))),
        ..own
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "limits in cases are small; what is negative is nothing"
)]
fn to_size(number: f64) -> usize {
    number.max(0.0).floor() as usize
}

fn spent(check: &Check<'_>, records: &[Record]) -> Spent {
    let records: Vec<&Record> = records.iter().collect();
    spend(
        &records,
        check.contract,
        &limits(check.input, check.contract),
    )
}

fn records(input: &Value) -> Result<Vec<Record>> {
    input["files"]
        .as_array()
        .context("files")?
        .iter()
        .map(|entry| {
            let name = entry["name"].as_str().context("a name")?;
            let path = match entry["path"].as_str() {
                Some(path) => path.to_owned(),
                None => format!("/w/{name}"),
            };
            let state = match entry["refused"].as_str() {
                Some(reason) => RecordState::Refused(refusal(reason)?),
                None if entry["missing"] == true => RecordState::Missing,
                None => RecordState::Present(Arc::new(FileContent {
                    oversize: match &entry["oversize"] {
                        Value::Null => None,
                        oversize => Some(serde_json::from_value::<OversizeFile>(oversize.clone())?),
                    },
                    ..FileContent::in_memory(String::from_utf8(stage::content(entry)?)?)
                })),
            };
            Ok(Record {
                name: name.into(),
                path: path.into(),
                state,
                extra: entry["extra"] == true,
            })
        })
        .collect()
}

fn refusal(reason: &str) -> Result<FileRefusal> {
    Ok(serde_json::from_value(json!(reason))?)
}
