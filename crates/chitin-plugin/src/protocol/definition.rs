//! The answer of `adapter/load`: a definition, whole or not at all.

use super::typed;
use chitin_workspace::adapter::{
    AgentDefinition, EXTENSION_FILES, Extensions, Sections, SkillPath, system_prompt,
};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Component, Path};

const LONGEST_NAME: usize = 200;
const MOST_SKILLS: usize = 10_000;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Loaded {
    name: Option<String>,
    #[serde(default)]
    identity: String,
    #[serde(default)]
    persona: String,
    #[serde(default)]
    user_profile: String,
    #[serde(default)]
    operating_rules: String,
    #[serde(default)]
    skills: Vec<String>,
    #[serde(default)]
    extensions: BTreeMap<String, String>,
}

/// Reads the answer of `adapter/load` for a directory. `adapter` is the plugin's name in the configuration.
pub fn definition(value: Value, root: &Path, adapter: &str) -> Result<AgentDefinition, String> {
    let loaded: Loaded = typed(value)?;
    let name = name_of(loaded.name.as_deref(), root)?;
    if loaded.skills.len() > MOST_SKILLS {
        return Err(format!("`skills` has more than {MOST_SKILLS} entries"));
    }
    for skill in &loaded.skills {
        check_relative(skill)?;
    }
    let mut extensions = Extensions::default();
    for (file, text) in loaded.extensions {
        if !EXTENSION_FILES.contains(&file.as_str()) {
            return Err(format!(
                "`extensions` has `{file}`; the extension files are {}",
                EXTENSION_FILES.join(", ")
            ));
        }
        if !text.trim().is_empty() {
            extensions.set(file, text);
        }
    }
    let system_prompt = system_prompt(Sections {
        identity: &loaded.identity,
        persona: &loaded.persona,
        user_profile: &loaded.user_profile,
        operating_rules: &loaded.operating_rules,
    });
    if system_prompt.is_empty() && loaded.skills.is_empty() && extensions.is_empty() {
        return Err("the definition has no text, no skill and no extension file".to_owned());
    }
    Ok(AgentDefinition {
        name,
        adapter_name: adapter.to_owned(),
        workspace_root: root.to_path_buf(),
        system_prompt,
        identity: loaded.identity,
        persona: loaded.persona,
        user_profile: loaded.user_profile,
        operating_rules: loaded.operating_rules,
        skill_paths: loaded
            .skills
            .iter()
            .map(|skill| SkillPath::new(root, skill))
            .collect(),
        extensions,
        warnings: Vec::new(),
    })
}

fn name_of(given: Option<&str>, root: &Path) -> Result<String, String> {
    match given {
        Some(name) => {
            let is_odd = name.trim().is_empty()
                || name.chars().count() > LONGEST_NAME
                || name.contains(char::is_control);
            if is_odd {
                return Err(format!("`name` must have 1 to {LONGEST_NAME} characters"));
            }
            Ok(name.trim().to_owned())
        }
        None => root
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .ok_or_else(|| "`name` is missing, and the directory has none".to_owned()),
    }
}

/// A skill lies beneath the workspace.
fn check_relative(skill: &str) -> Result<(), String> {
    let path = Path::new(skill);
    let mut components = path.components().peekable();
    let is_beneath = components.peek().is_some()
        && components.all(|component| matches!(component, Component::Normal(_)));
    if is_beneath && !skill.contains('\0') {
        Ok(())
    } else {
        Err(format!(
            "the skill `{skill}` is not a path beneath the workspace"
        ))
    }
}
