//! Laying out: plans and directories, templates, skill variables, the choice of an adapter.

mod staged;

use super::{files, judge_error};
use crate::{Check, Outcome};
use anyhow::{Context, Result};
use chitin_pack::artifact::Artifact;
use chitin_pack::materialize::{
    self, AdapterId, ApplyOptions, LayoutFidelity, LayoutMode, LayoutOptions, Overwrite,
    UnpackOutcome, UnpackPlan,
};
use chitin_pack::skill_vars::{SkillVariables, substitute};
use chitin_pack::{ErrorClass, PackError, PackWarning, template};
use serde_json::{Map, Value, json};
use staged::Stage;

/// How a case writes a message that is not binding.
const ANY_MESSAGE: &str = "{MESSAGE}";

pub(super) fn run(check: &Check<'_>) -> Outcome {
    let input = check.input;
    match check.case.op.as_str() {
        "template" => {
            let persona = Some(&input["persona"]).filter(|persona| !persona.is_null());
            let text = template::render(text(&input["template"]), persona);
            Outcome::judge(check.expected, &json!({ "text": text }))
        }
        "skill-vars" => {
            let given = |names: &[&str]| names.iter().find_map(|name| input[*name].as_str());
            let variables = SkillVariables {
                arguments: given(&["arguments"]).unwrap_or_default(),
                skill_directory: given(&["skillDir", "skillDirectory", "STAX_SKILL_DIR"])
                    .unwrap_or_default(),
                workspace: given(&["workspace", "workspaceDir", "STAX_WORKSPACE"])
                    .unwrap_or_default(),
            };
            let text = substitute(text(&input["body"]), &variables);
            Outcome::judge(check.expected, &json!({ "text": text }))
        }
        "adapter-select" => select(check),
        _ => lay(check).unwrap_or_else(|error| Outcome::Failed(format!("{error:#}\n"))),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn select(check: &Check<'_>) -> Outcome {
    let ids = |name: &str| -> Vec<AdapterId> {
        serde_json::from_value(check.input[name].clone()).unwrap_or_default()
    };
    let Ok(primary) = serde_json::from_value::<AdapterId>(check.input["primary"].clone()) else {
        return Outcome::Failed("the primary adapter is not one\n".to_owned());
    };
    match materialize::select(&primary, &ids("fallback"), &ids("supported")) {
        Ok(selected) => Outcome::judge(check.expected, &json!({ "selected": selected.r#type })),
        Err(error) => match same(check.expected, "attempted", &json!(error.items())) {
            Some(difference) => Outcome::Failed(difference),
            None => judge_error(check.expected, &error),
        },
    }
}

/// What the arguments ask for.
#[derive(Debug, Default)]
struct Asked {
    options: LayoutOptions,
    plan_only: bool,
    overwrite: bool,
}

impl Asked {
    fn new(check: &Check<'_>) -> Result<Self, PackError> {
        let given = &check.input["definition"]["adapter"]["options"];
        let mut options = match given {
            Value::Null => LayoutOptions::default(),
            given => LayoutOptions::from_json(given)?,
        };
        options.layout = LayoutFidelity::Stax;
        match check.input["mode"].as_str() {
            Some("permissive") => options.mode = Some(LayoutMode::Permissive),
            Some("exact") => options.mode = Some(LayoutMode::Exact),
            _ => {}
        }
        let mut asked = Self {
            options,
            plan_only: check.case.op == "plan",
            overwrite: check.input["overwrite"] == true,
        };
        let mut arguments = check.input["args"]
            .as_array()
            .into_iter()
            .flatten()
            .map(text);
        while let Some(argument) = arguments.next() {
            match argument {
                "--adapter" | "--consumer" => {
                    asked.options.adapter = arguments.next().map(str::to_owned);
                }
                "--exact" => asked.options.mode = Some(LayoutMode::Exact),
                "--plan" => asked.plan_only = true,
                "--overwrite" => asked.overwrite = true,
                "--json" => {}
                // Every case has a target of its own.
                "--out" | "--output" => drop(arguments.next()),
                flag => {
                    let message = format!("there is no `{flag}`");
                    return Err(PackError::new(ErrorClass::Usage, message));
                }
            }
        }
        Ok(asked)
    }
}

fn lay(check: &Check<'_>) -> Result<Outcome> {
    let stage = Stage::new()?;
    files::write(&stage.target(), &check.input["existing"]).context("the existing files")?;
    let before = stage.surroundings()?;
    let untouched = files::read(&stage.target())?;
    let result = attempt(check, &stage);
    let mut differences = Vec::new();
    if stage.surroundings()? != before {
        differences.push("something appeared outside the target\n".to_owned());
    }
    differences.extend(stage.compare(&check.expected["files"], &check.input["existing"])?);
    let is_plan = result.as_ref().is_ok_and(|done| done.applied.is_none());
    if (is_plan || result.is_err()) && files::read(&stage.target())? != untouched {
        differences.push("something was written\n".to_owned());
    }
    match result {
        Ok(done) => differences.extend(done.compare(check.expected)?),
        Err(error) => {
            let items = json!(error.items());
            differences.extend(same(check.expected, "missing", &items));
            differences.extend(same(check.expected, "conflicts", &items));
            match judge_error(check.expected, &error) {
                Outcome::Failed(difference) => differences.push(difference),
                Outcome::Passed | Outcome::NotYet => {}
            }
        }
    }
    Ok(if differences.is_empty() {
        Outcome::Passed
    } else {
        Outcome::Failed(differences.concat())
    })
}

/// What came out.
struct Done {
    artifact: Artifact,
    plan: UnpackPlan,
    applied: Option<UnpackOutcome>,
}

fn attempt(check: &Check<'_>, stage: &Stage) -> Result<Done, PackError> {
    let asked = Asked::new(check)?;
    let artifact = stage.artifact(check.input)?;
    let plan = materialize::plan(&artifact, &asked.options)?;
    let overwrite = if asked.overwrite {
        Overwrite::Allow
    } else {
        Overwrite::Refuse
    };
    let applied = if asked.plan_only {
        None
    } else {
        let options = ApplyOptions { overwrite };
        Some(materialize::apply(
            &plan,
            &artifact,
            &stage.target(),
            options,
        )?)
    };
    Ok(Done {
        artifact,
        plan,
        applied,
    })
}

impl Done {
    fn compare(&self, expected: &Value) -> Result<Vec<String>> {
        let mut differences = Vec::new();
        if expected["exit"].as_u64().is_some_and(|exit| exit > 0)
            || expected.get("errorClass").is_some()
        {
            differences.push("ours succeeded\n".to_owned());
        }
        let plan = &self.plan;
        differences.extend(same(expected, "adapter", &json!(plan.adapter)));
        differences.extend(same(expected, "fidelity", &json!(plan.fidelity)));
        differences.extend(same(expected, "lossy", &json!(plan.lossy)));
        let later = self.applied.iter().flat_map(|applied| &applied.warnings);
        let warnings: Vec<&PackWarning> = plan.warnings.iter().chain(later).collect();
        let warnings = json!(warnings);
        if let Some(wanted) = expected["warnings"].as_array() {
            differences.extend(members(wanted, &warnings));
        }
        if let Some(wanted) = expected["warningCodes"].as_array() {
            let mut codes: Vec<&Value> = wanted.iter().collect();
            // Where the case names layers, it speaks of the warnings about layers; missing surfaces are another rule's.
            let of_layers = expected.get("warningLayers").is_some();
            let ours = warnings.as_array().into_iter().flatten();
            let ours: Vec<&Value> = ours
                .filter(|warning| !of_layers || warning.get("layer").is_some())
                .collect();
            if let Some(wanted) = expected["warningLayers"].as_array() {
                let mut wanted: Vec<&str> = wanted.iter().map(text).collect();
                let mut layers: Vec<&str> = ours.iter().map(|w| text(&w["layer"])).collect();
                wanted.sort_unstable();
                layers.sort_unstable();
                if wanted != layers {
                    differences.push(format!("layers: recorded {wanted:?}, ours {layers:?}\n"));
                }
            }
            let mut ours: Vec<&Value> = ours.into_iter().map(|w| &w["code"]).collect();
            codes.sort_by_key(|code| text(code));
            ours.sort_by_key(|code| text(code));
            if codes != ours {
                differences.push(format!("codes: recorded {codes:?}, ours {ours:?}\n"));
            }
        }
        for wanted in expected["warningsInclude"].as_array().into_iter().flatten() {
            let ours = warnings.as_array().into_iter().flatten();
            if !ours.clone().any(|warning| given_members(wanted, warning)) {
                differences.push(format!("no warning like {wanted} among {warnings}\n"));
            }
        }
        if let Some(wanted) = expected["actions"].as_array() {
            let actions = json!(self.plan.actions(&self.artifact)?);
            differences.extend(members(wanted, &actions));
        }
        Ok(differences)
    }
}

/// Compares a member if the case gives it.
fn same(expected: &Value, member: &str, ours: &Value) -> Option<String> {
    let recorded = expected.get(member)?;
    (recorded != ours).then(|| format!("{member}: recorded {recorded}, ours {ours}\n"))
}

/// Compares lists, of each item the members that the case gives.
fn members(wanted: &[Value], ours: &Value) -> Option<String> {
    let found = ours.as_array().map_or(&[][..], Vec::as_slice);
    let agree = wanted.len() == found.len()
        && wanted
            .iter()
            .zip(found)
            .all(|(wanted, found)| given_members(wanted, found));
    let recorded = json!(wanted);
    (!agree).then(|| format!("recorded {recorded}\nours {ours}\n"))
}

fn given_members(wanted: &Value, found: &Value) -> bool {
    let nothing = Map::new();
    let wanted = wanted.as_object().unwrap_or(&nothing);
    wanted
        .iter()
        .all(|(member, value)| *value == ANY_MESSAGE || found.get(member) == Some(value))
}
