//! Skills: front matter, discovery, eligibility, allow-lists, the list in the prompt, slash commands.
#![expect(
    clippy::disallowed_methods,
    reason = "cases describe trees and programs on purpose"
)]

mod prompt;

use crate::{Check, Outcome, tree};
use anyhow::{Context, Result};
use chitin_config::env::Env;
use chitin_contract::SkillSource;
use chitin_workspace::skills::{
    AllowList, CommandParts, DiscoverOptions, Eligibility, Invocation, Metadata, Release,
    ReleaseChoice, SkillCommand, SkillFrontMatter, SkillPlaces, SkillSet, commands_from_parts,
    discover, find_invocation, parse_front_matter,
};
use serde_json::{Map, Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

pub(super) fn run(check: &Check<'_>) -> Outcome {
    let actual = match check.case.op.as_str() {
        "skills.parse" => parse(check),
        "skills.discover" => discover_tree(check),
        "skills.release" => release(check),
        "skills.turn" => prompt::turn(check),
        "skills.eligible" => eligible(check),
        "skills.filter" => filter(check),
        "skills.prompt" => prompt::prompt(check),
        "skills.commands" => commands(check),
        "skills.invoke" => invoke(check),
        _ => return Outcome::NotYet,
    };
    match actual {
        Ok(actual) => Outcome::judge(check.expected, &actual),
        Err(error) => Outcome::Failed(format!("{error:#}\n")),
    }
}

fn parse(check: &Check<'_>) -> Result<Value> {
    let text = tree::text(&check.input["content"])?;
    let rules = &check.contract.skills;
    let parsed = match parse_front_matter(&text, rules) {
        Ok(parsed) => parsed.values,
        Err(error) => return Ok(json!({ "error": error.code })),
    };
    Ok(json!({
        "frontmatter": parsed,
        "metadata": Metadata::from_front_matter(&parsed, rules),
        "invocation": Invocation::from_front_matter(&parsed),
    }))
}

fn discover_tree(check: &Check<'_>) -> Result<Value> {
    let directory = tempfile::tempdir()?;
    let root = fs::canonicalize(directory.path())?;
    for name in ["ws", "home", "bundled"] {
        fs::create_dir_all(root.join(name))?;
    }
    tree::write_map(&root, &check.input["tree"])?;
    let extra: Vec<Value> = strings(&check.input["extraDirs"])
        .into_iter()
        .map(|path| json!(root.join(path)))
        .collect();
    let mut config = check.input.get("config").cloned().unwrap_or(json!({}));
    if !config["skills"].is_object() {
        config["skills"] = json!({});
    }
    if let Some(limits) = check.input.get("limits") {
        config["skills"]["limits"] = limits.clone();
    }
    if !config["skills"]["load"].is_object() {
        config["skills"]["load"] = json!({});
    }
    config["skills"]["load"]["extraDirs"] = Value::Array(extra);
    let targets: Vec<Value> = strings(&check.input["allowSymlinkTargets"])
        .into_iter()
        .map(|path| json!(root.join(path)))
        .collect();
    if !targets.is_empty() {
        config["skills"]["load"]["allowSymlinkTargets"] = Value::Array(targets);
    }
    let places = SkillPlaces {
        workspace: root.join("ws"),
        home: Some(root.join("home")),
        state: Some(root.join("home/.openclaw")),
        bundled: Some(root.join("bundled")),
        working_directory: root.clone(),
        ..SkillPlaces::default()
    };
    let rules = &check.contract.skills;
    let set = discover(&places, &config, rules, &DiscoverOptions::default());
    let skills: Vec<Value> = set
        .skills
        .iter()
        .map(|skill| {
            json!({
                "name": skill.name,
                "description": skill.description,
                "source": skill.source,
                "file": skill.file.strip_prefix(&root).unwrap_or(&skill.file),
                "inPrompt": !skill.invocation.disable_model_invocation,
                "userInvocable": skill.invocation.user_invocable,
            })
        })
        .collect();
    Ok(json!({ "skills": skills }))
}

/// What is listed with an installation at `package`, for the agent that looks after the machine.
fn release(check: &Check<'_>) -> Result<Value> {
    let directory = tempfile::tempdir()?;
    let root = fs::canonicalize(directory.path())?;
    let (set, env) = installed(check, &root)?;
    let eligibility = Eligibility::new(&env, &check.input["config"], &check.contract.skills);
    let skills = set.skills.iter().map(|skill| {
        json!({
            "name": skill.name,
            "source": skill.source,
            "eligible": eligibility.judge(skill).is_empty(),
        })
    });
    Ok(Value::Array(skills.collect()))
}

/// Finds the skills of the workspace `ws` and of the installation `package` below a directory.
fn installed(check: &Check<'_>, root: &Path) -> Result<(SkillSet, Env)> {
    tree::write_map(root, &check.input["tree"])?;
    let (config, contract) = (&check.input["config"], check.contract);
    let env = Env::new(root).with("HOME", root.join("home").to_string_lossy());
    let choice = ReleaseChoice::At(root.join("package"));
    let Release::Used(found) = Release::find(&choice, &root.join("ws"), &env, contract) else {
        anyhow::bail!("the package is no installation");
    };
    let places = SkillPlaces::from_env(&root.join("ws"), &env, contract);
    let places = found.added_to(places, config, contract, true);
    let set = discover(
        &places,
        config,
        &contract.skills,
        &DiscoverOptions::default(),
    );
    Ok((set, env))
}

fn eligible(check: &Check<'_>) -> Result<Value> {
    let rules = &check.contract.skills;
    let directory = tempfile::tempdir()?;
    for name in strings(&check.input["bins"]) {
        let path = directory.path().join(name);
        fs::write(&path, "#!/bin/sh\n")?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    }
    let mut env = Env::new(directory.path())
        .with("PATH", directory.path().to_string_lossy())
        .with("HOME", "/nonexistent");
    for (name, value) in check.input["env"].as_object().into_iter().flatten() {
        env = env.with(name, value.as_str().unwrap_or_default());
    }
    let config = check.input.get("config").cloned().unwrap_or(json!({}));
    let metadata = check.input["metadata"]
        .as_object()
        .map(|member| Metadata::from_member(member, rules));
    let source = check.input["source"]
        .as_str()
        .and_then(SkillSource::from_tag)
        .unwrap_or(SkillSource::Workspace);
    let reasons = Eligibility::new(&env, &config, rules)
        .on_platform("linux")
        .judge_parts("probe", source, metadata.as_ref());
    Ok(json!({ "eligible": reasons.is_empty() }))
}

fn filter(check: &Check<'_>) -> Result<Value> {
    let agent = check.input["agentId"].as_str().context("no agent id")?;
    let list = AllowList::for_agent(&check.input["config"], agent, check.contract);
    let kept: Vec<&str> = strings(&check.input["skills"])
        .into_iter()
        .filter(|name| list.allows_name(name, name))
        .collect();
    Ok(json!({ "filter": list.names(), "skills": kept }))
}

fn commands(check: &Check<'_>) -> Result<Value> {
    let skills = check.input["skills"].as_array().context("no skills")?;
    let described: Vec<(&str, &str, SkillFrontMatter)> = skills
        .iter()
        .map(|skill| {
            let text = |name: &str| skill[name].as_str().unwrap_or_default();
            let front_matter = skill["frontmatter"].as_object().into_iter().flatten();
            let front_matter = front_matter
                .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())));
            (text("name"), text("description"), front_matter.collect())
        })
        .collect();
    let parts = described
        .iter()
        .map(|(name, description, front_matter)| CommandParts {
            name,
            description,
            front_matter,
        });
    let reserved = strings(&check.input["reserved"]);
    let commands = commands_from_parts(parts, &reserved, &check.contract.skills);
    Ok(json!({ "commands": commands }))
}

fn invoke(check: &Check<'_>) -> Result<Value> {
    let body = check.input["body"].as_str().context("no body")?;
    let commands: Vec<SkillCommand> = check.input["commands"]
        .as_array()
        .context("no commands")?
        .iter()
        .map(|command| {
            let text = |name: &str| command[name].as_str().unwrap_or_default().to_owned();
            SkillCommand {
                name: text("name"),
                skill_name: text("skillName"),
                description: text("description"),
                dispatch: None,
            }
        })
        .collect();
    let Some(found) = find_invocation(body, &commands) else {
        return Ok(json!({ "command": null }));
    };
    let mut result = Map::new();
    result.insert("command".to_owned(), json!(found.command.name));
    result.insert("args".to_owned(), json!(found.args));
    Ok(Value::Object(result))
}

fn strings(value: &Value) -> Vec<&str> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}
