//! The list of skills in the prompt.

use crate::{Check, tree};
use anyhow::{Context, Result, bail};
use chitin_context::catalogue::{
    Catalogue, CatalogueNotice, CatalogueSkill, Form, catalogue, counted_guidance, counted_notice,
    guidance, limits,
};
use chitin_context::fragment::FragmentSource;
use chitin_contract::CatalogueRules;
use chitin_workspace::skills::Eligibility;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;

/// The agent that a case gives a limit of its own, when it does not name one.
const AGENT: &str = "probe";

pub(super) fn prompt(check: &Check<'_>) -> Result<Value> {
    let given = Given::read(check.input)?;
    let texts = check.input["skills"]
        .as_array()
        .context("no skills")?
        .iter()
        .map(|skill| {
            let text = |name: &str| match &skill[name] {
                Value::Null => Ok(String::new()),
                value => tree::text(value),
            };
            Ok([
                text("name")?,
                text("description")?,
                text("filePath")?,
                text("locationNote")?,
            ])
        })
        .collect::<Result<Vec<_>>>()?;
    let skills: Vec<CatalogueSkill<'_>> = texts
        .iter()
        .zip(check.input["skills"].as_array().into_iter().flatten())
        .map(
            |([name, description, location, note], skill)| CatalogueSkill {
                name,
                description,
                location: Cow::Borrowed(location),
                location_note: Some(note.as_str()).filter(|note| !note.is_empty()),
                visible: skill["disableModelInvocation"] != Value::Bool(true),
            },
        )
        .collect();
    let rules = &check.contract.skills;
    let homes: Vec<&Path> = given.homes.iter().map(Path::new).collect();
    let limits = limits(&given.config, Some(given.agent), check.contract);
    let listed = catalogue(&skills, limits, &homes, given.note, rules, None);
    let (text, units) = listed.map_or_else(Default::default, |listed| {
        (
            with_placeholders(&listed, &rules.catalogue),
            listed.counted_units,
        )
    });
    Ok(json!({ "prompt": tree::quoted(text, units), "chars": units }))
}

/// The list of skills in the request of a whole turn, with those of an installation. The release ran at the paths that the case names: how much
/// fits depends on their length.
pub(super) fn turn(check: &Check<'_>) -> Result<Value> {
    let directory = tempfile::tempdir()?;
    let root = directory.path().canonicalize()?;
    let (set, env) = super::installed(check, &root)?;
    let eligibility = Eligibility::new(&env, &check.input["config"], &check.contract.skills);
    let place = |name: &str| check.input["places"][name].as_str().context("no place");
    let (package, workspace) = (place("package")?, place("workspace")?);
    let found = set
        .skills
        .iter()
        .filter(|skill| eligibility.judge(skill).is_empty());
    let skills: Vec<CatalogueSkill<'_>> = found
        .map(|skill| {
            let mut listed = CatalogueSkill::from(skill);
            let at = |name: &str| root.join(name).to_string_lossy().into_owned();
            let location = listed.location.replace(&at("package"), package);
            listed.location = Cow::Owned(location.replace(&at("ws"), workspace));
            listed
        })
        .collect();
    let rules = &check.contract.skills;
    let limits = limits(&check.input["config"], Some("main"), check.contract);
    let window = check.input["window"].as_u64().map(usize::try_from);
    let listed = catalogue(&skills, limits, &[], None, rules, window.transpose()?);
    let text = listed.map_or_else(String::new, |listed| listed.text());
    let (_, rest) = text.split_once("<available_skills>").unwrap_or_default();
    let (entries, _) = rest.split_once("</available_skills>").unwrap_or_default();
    Ok(json!({ "listed": entries }))
}

/// What a case gives besides skills.
struct Given<'a> {
    config: Value,
    agent: &'a str,
    homes: Vec<&'a str>,
    note: Option<&'a str>,
}

impl<'a> Given<'a> {
    /// Reads the input by what its members are about, since not every case has every member. One that is not understood is
    /// an error: a case must not pass because something was overlooked.
    fn read(input: &'a Value) -> Result<Self> {
        let mut given = Self {
            config: input.get("config").cloned().unwrap_or(json!({})),
            agent: input["agentId"].as_str().unwrap_or(AGENT),
            homes: Vec::new(),
            note: None,
        };
        for (key, value) in input.as_object().into_iter().flatten() {
            let about = key.to_lowercase();
            match value {
                _ if key == "skills" || key == "config" || value.is_null() => {}
                Value::String(_) if key == "agentId" => {}
                Value::Object(_) if key == "limits" => {
                    given.config["skills"]["limits"] = value.clone();
                }
                Value::Number(_) if about.contains("agent") => {
                    given.own_limits(&json!({ "maxSkillsPromptChars": value }));
                }
                Value::Object(_) if about.contains("agent") => given.own_limits(value),
                Value::String(text) if about.contains("home") => given.homes.push(text),
                Value::String(text) if about.contains("note") || about.contains("remote") => {
                    given.note = Some(text);
                }
                Value::Object(remote) if about.contains("remote") => {
                    given.note = remote.get("note").and_then(Value::as_str);
                }
                _ => bail!("`{key}` is not understood"),
            }
        }
        Ok(given)
    }

    fn own_limits(&mut self, limits: &Value) {
        self.config["agents"] = json!({ "list": [{ "id": self.agent, "skillsLimits": limits }] });
    }
}

/// Joins the pieces, with what each program words for itself as the cases write it.
fn with_placeholders(listed: &Catalogue, rules: &CatalogueRules) -> String {
    let notice = listed.notice.map(|notice| (notice, notice.to_string()));
    let mut out = String::new();
    for piece in &listed.pieces {
        let text = piece.text.as_str();
        let ours = piece.source == FragmentSource::Ours;
        match &notice {
            Some((notice, words)) if ours && text == words => {
                let units = counted_notice(notice, rules);
                let _ = write!(out, "{{NOTICE:{units} {}}}", facts(notice));
            }
            _ if ours && text == guidance(listed.form) => {
                let units = counted_guidance(listed.form, rules);
                let _ = write!(out, "{{GUIDANCE:{units}}}");
            }
            _ => out.push_str(text),
        }
    }
    out
}

/// The facts that a notice states, as the cases write them.
fn facts(notice: &CatalogueNotice) -> String {
    let descriptions = match notice.form {
        Form::Full => None,
        Form::Shortened(_) => Some("descriptions shortened"),
        Form::Compact => Some("descriptions omitted"),
    };
    match (notice.is_truncated(), descriptions) {
        (true, None) => format!(
            "truncated: included {} of {}",
            notice.included, notice.total
        ),
        (true, Some(descriptions)) => format!(
            "truncated: included {} of {} (compact format, {descriptions})",
            notice.included, notice.total
        ),
        (false, descriptions) => format!(
            "catalog using compact format ({})",
            descriptions.unwrap_or_default()
        ),
    }
}
