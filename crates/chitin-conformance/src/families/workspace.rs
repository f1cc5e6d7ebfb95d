//! The `workspace` and `canonical` families: loading, filters, keys, directories, seeding, prompts.

mod contexts;
mod directories;
mod loading;
mod prompts;
mod rendering;
mod seeding;
mod turns;
mod whole_turns;

use crate::{Check, Outcome};
use serde_json::Value;

pub(super) fn run(check: &Check<'_>) -> Outcome {
    let actual = match check.case.op.as_str() {
        "load" => loading::load(check),
        "extra" => loading::extra(check),
        "strip" => Ok(loading::strip(check)),
        "filter" => Ok(turns::filter(check)),
        "session_keys" => Ok(turns::session_keys(check)),
        "completed_turn" => turns::completed_turn(check),
        "marker_due" => Ok(turns::marker_due(check)),
        "bootstrap_mode" => Ok(turns::bootstrap_mode(check)),
        "normalize_agent_id" => Ok(directories::normalize_agent_id(check)),
        "limits" => Ok(directories::limits(check)),
        "workspace_dir" => directories::workspace_dir(check),
        "default_dir" => directories::default_dir(check),
        "spawn_dir" => directories::spawn_dir(check),
        "trim" => rendering::trim(check),
        "report" => rendering::report(check),
        "render" => rendering::render(check),
        "context" => contexts::context(check),
        "refresh" => contexts::refresh(check),
        "turn" => whole_turns::turn(check),
        "seed" => seeding::seed(check),
        "status" => seeding::status(check),
        "sections" => Ok(prompts::sections(check)),
        "prefix" => Ok(prompts::prefix(check)),
        _ => return Outcome::NotYet,
    };
    match actual {
        Ok(actual) => Outcome::judge(
            &without_diagnosis(check.expected),
            &without_diagnosis(&actual),
        ),
        Err(error) => Outcome::Failed(format!("the runner failed: {error:#}")),
    }
}

/// Leaves out what is there for diagnosis only: beginnings and ends of long texts, the length of a text that is given
/// whole (it repeats the text, and is not binding where surrogates were removed), and the wording of errors.
fn without_diagnosis(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(name, _)| {
                let given_whole = fields.contains_key("content") || fields.contains_key("sha256");
                !(given_whole
                    && matches!(
                        name.as_str(),
                        "head" | "tail" | "utf16_len" | "lone_surrogates_removed"
                    ))
            });
            kept.map(|(name, value)| match (name.as_str(), value) {
                ("error", Value::String(_)) if !fields.contains_key("entries") => {
                    (name.clone(), Value::from("{MESSAGE}"))
                }
                _ => (name.clone(), without_diagnosis(value)),
            })
            .collect()
        }
        Value::Array(items) => items.iter().map(without_diagnosis).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}
