//! Skills and notes: files that stay where they are in every release (H70, H71).

use crate::compat;
use crate::configuration::HomeAgent;
use crate::problem::Problems;
use crate::walk;
use chitin_guard::Root;
use serde::Serialize;
use std::path::Path;

/// How many notes a workspace may have.
const MAX_NOTES: usize = 20_000;

/// A skill in a home.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FoundSkill {
    /// Who has it: `managed` for every agent, or `workspace:` and an agent.
    pub scope: String,
    /// The name of its directory.
    pub name: String,
}

/// Returns the skills of a home: those for all agents, then those of each workspace.
pub(crate) fn skills(state: &Root, agents: &[(&HomeAgent, Option<Root>)]) -> Vec<FoundSkill> {
    let mut found = Vec::new();
    let mut add = |root: &Root, scope: String| {
        let skills = Path::new(compat::SKILLS);
        for name in walk::directories(root, skills) {
            if walk::is_there(root, &skills.join(&name).join(compat::SKILL_FILE)) {
                found.push(FoundSkill {
                    scope: scope.clone(),
                    name,
                });
            }
        }
    };
    add(state, "managed".to_owned());
    for (agent, workspace) in agents {
        if let Some(root) = workspace {
            add(root, format!("workspace:{}", agent.id));
        }
    }
    found
}

/// Returns the notes of each workspace.
pub(crate) fn markdown(
    agents: &[(&HomeAgent, Option<Root>)],
    problems: &mut Problems,
) -> Vec<(String, Vec<String>)> {
    let skip = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with('.') || name == "node_modules"
    };
    let mut found = Vec::new();
    for (agent, workspace) in agents {
        let Some(root) = workspace else { continue };
        let (files, cut) = walk::below(root, Path::new(""), MAX_NOTES * 10, &skip);
        let mut names: Vec<String> = files
            .into_iter()
            .filter_map(|path| path.into_os_string().into_string().ok())
            .filter(|path| path.ends_with(".md"))
            .collect();
        if cut || names.len() > MAX_NOTES {
            names.truncate(MAX_NOTES);
            problems.say(root.path(), "It has more files than are looked at.");
        }
        names.sort();
        found.push((agent.id.clone(), names));
    }
    found
}
