//! Several workspaces as one agent, and where every part of it came from.
//!
//! One definition has *precedence* over another. What an agent has only one of (name, identity, persona, user) comes from
//! the definition with the highest precedence that has any. What adds up (operating rules, skills, extensions) is taken
//! from all of them:
//!
//! | part | from |
//! |---|---|
//! | name, root, adapter | highest precedence |
//! | identity, persona, user profile | highest precedence that is not blank |
//! | operating rules | all, lowest first, so that the last word is the strongest |
//! | skills | all, highest first; a directory name that a higher workspace has hides it in the lower ones |
//! | `RUNTIME.md`, `MCP.md` | all, highest first, because the first of a name wins in them |
//! | `CHANNELS.md`, `PERMISSIONS.md`, `SKILLS.md` | all, lowest first, because lines add up and the last limit wins |

use super::definition::{AgentDefinition, Extensions, SkillPath};
use super::prompt::{Sections, system_prompt};
use super::text::{is_blank, trim};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Which end of the list is the strongest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precedence {
    /// The first definition wins over the later ones.
    FirstWins,
    /// The last definition wins over the earlier ones.
    LastWins,
}

/// One agent made of several workspaces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Composition {
    /// The definition, fit for everything that takes one.
    pub definition: AgentDefinition,
    /// Where each part came from.
    pub provenance: Vec<Provenance>,
}

/// Where one part of a composed definition came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Provenance {
    /// The part.
    pub part: DefinitionPart,
    /// The roots of the workspaces that gave it, in the order in which their texts stand.
    pub from: Vec<PathBuf>,
    /// The roots of the workspaces that had it too and were passed over.
    pub hidden: Vec<PathBuf>,
}

/// A part of a composed definition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind", content = "name")]
pub enum DefinitionPart {
    /// The agent's name.
    Name,
    /// The identity text.
    Identity,
    /// The persona text.
    Persona,
    /// The user profile.
    UserProfile,
    /// The operating rules.
    OperatingRules,
    /// A skill, by the name of its directory.
    Skill(String),
    /// An extension file, by its name.
    Extension(String),
}

/// Extension files in which the first line of a name wins, so the strongest workspace stands first.
const STRONGEST_FIRST: [&str; 2] = ["RUNTIME.md", "MCP.md"];

/// Extension files that hold for an agent whichever of its workspaces they are in.
const EACH_HOLDS: [&str; 2] = ["PERMISSIONS.md", "CHANNELS.md"];

/// Merges definitions into one. `None` when there is none to merge.
pub fn compose(definitions: &[AgentDefinition], precedence: Precedence) -> Option<Composition> {
    let mut strongest_first: Vec<&AgentDefinition> = definitions.iter().collect();
    match precedence {
        Precedence::FirstWins => {}
        Precedence::LastWins => strongest_first.reverse(),
    }
    let strongest = *strongest_first.first()?;
    let mut provenance = vec![Provenance {
        part: DefinitionPart::Name,
        from: vec![strongest.workspace_root.clone()],
        hidden: roots(&strongest_first[1..]),
    }];
    let mut only = |part, text: fn(&AgentDefinition) -> &str| {
        let mut having = strongest_first.iter().filter(|one| !is_blank(text(one)));
        let chosen = having.next()?;
        provenance.push(Provenance {
            part,
            from: vec![chosen.workspace_root.clone()],
            hidden: having.map(|one| one.workspace_root.clone()).collect(),
        });
        Some(text(chosen).to_owned())
    };
    let identity = only(DefinitionPart::Identity, |one| &one.identity).unwrap_or_default();
    let persona = only(DefinitionPart::Persona, |one| &one.persona).unwrap_or_default();
    let user_profile =
        only(DefinitionPart::UserProfile, |one| &one.user_profile).unwrap_or_default();
    let operating_rules = joined(
        DefinitionPart::OperatingRules,
        strongest_first
            .iter()
            .rev()
            .map(|one| (*one, one.operating_rules.as_str())),
        &mut provenance,
    )
    .unwrap_or_default();
    let skill_paths = skills(&strongest_first, &mut provenance);
    let extensions = extensions(&strongest_first, &mut provenance);
    let definition = AgentDefinition {
        name: strongest.name.clone(),
        adapter_name: strongest.adapter_name.clone(),
        workspace_root: strongest.workspace_root.clone(),
        system_prompt: system_prompt(Sections {
            identity: &identity,
            persona: &persona,
            user_profile: &user_profile,
            operating_rules: &operating_rules,
        }),
        identity,
        persona,
        user_profile,
        operating_rules,
        skill_paths,
        extensions,
        warnings: definitions
            .iter()
            .flat_map(|one| one.warnings.iter().cloned())
            .collect(),
    };
    Some(Composition {
        definition,
        provenance,
    })
}

/// Merges the definition of an agent with those of the workspaces that are composed with it, the strongest first, as its turns
/// do: its own rules stand first, each workspace's `PERMISSIONS.md` and `CHANNELS.md` hold, and the other extension files are
/// its own alone.
pub fn compose_agent(own: AgentDefinition, others: &[AgentDefinition]) -> AgentDefinition {
    if others.is_empty() {
        return own;
    }
    let definitions: Vec<AgentDefinition> = std::iter::once(&own).chain(others).cloned().collect();
    let Some(composed) = compose(&definitions, Precedence::FirstWins) else {
        return own;
    };
    let mut agent = composed.definition;
    let all = |text: &dyn Fn(&'_ AgentDefinition) -> String| {
        let texts: Vec<String> = definitions.iter().map(text).collect();
        let texts = definitions.iter().zip(texts.iter().map(String::as_str));
        joined(DefinitionPart::OperatingRules, texts, &mut Vec::new())
    };
    agent.operating_rules = all(&|one| one.operating_rules.clone()).unwrap_or_default();
    agent.system_prompt = system_prompt(Sections {
        identity: &agent.identity,
        persona: &agent.persona,
        user_profile: &agent.user_profile,
        operating_rules: &agent.operating_rules,
    });
    let mut extensions = own.extensions;
    for name in EACH_HOLDS {
        let of = |one: &AgentDefinition| one.extensions.get(name).unwrap_or_default().to_owned();
        if let Some(text) = all(&of) {
            extensions.set(name, text);
        }
    }
    agent.extensions = extensions;
    agent
}

fn roots(definitions: &[&AgentDefinition]) -> Vec<PathBuf> {
    definitions
        .iter()
        .map(|one| one.workspace_root.clone())
        .collect()
}

/// Joins the non-blank texts with one blank line between them. A single text stays as it is, to the byte.
fn joined<'a>(
    part: DefinitionPart,
    texts: impl Iterator<Item = (&'a AgentDefinition, &'a str)>,
    provenance: &mut Vec<Provenance>,
) -> Option<String> {
    let (givers, texts): (Vec<_>, Vec<_>) = texts.filter(|(_, text)| !is_blank(text)).unzip();
    let joined = match texts.as_slice() {
        [] => return None,
        [alone] => (*alone).to_owned(),
        several => {
            let trimmed: Vec<_> = several.iter().map(|text| trim(text)).collect();
            trimmed.join("\n\n") + "\n"
        }
    };
    provenance.push(Provenance {
        part,
        from: roots(&givers),
        hidden: Vec::new(),
    });
    Some(joined)
}

fn skills(
    strongest_first: &[&AgentDefinition],
    provenance: &mut Vec<Provenance>,
) -> Vec<SkillPath> {
    let mut paths = Vec::new();
    let mut taken: BTreeSet<String> = BTreeSet::new();
    for definition in strongest_first {
        // Two skills of one name inside one workspace both count, as they do without composing.
        let own: BTreeSet<String> = definition
            .skill_paths
            .iter()
            .map(SkillPath::directory_name)
            .collect();
        for skill in &definition.skill_paths {
            if !taken.contains(&skill.directory_name()) {
                paths.push(skill.clone());
            }
        }
        for name in own {
            if taken.contains(&name) {
                let known = provenance.iter_mut().find(
                    |known| matches!(&known.part, DefinitionPart::Skill(other) if *other == name),
                );
                if let Some(known) = known {
                    known.hidden.push(definition.workspace_root.clone());
                }
            } else {
                provenance.push(Provenance {
                    part: DefinitionPart::Skill(name.clone()),
                    from: vec![definition.workspace_root.clone()],
                    hidden: Vec::new(),
                });
                taken.insert(name);
            }
        }
    }
    paths
}

fn extensions(
    strongest_first: &[&AgentDefinition],
    provenance: &mut Vec<Provenance>,
) -> Extensions {
    let mut merged = Extensions::default();
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in strongest_first.iter().flat_map(|one| one.extensions.iter()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    for name in names {
        let mut texts: Vec<_> = strongest_first
            .iter()
            .filter_map(|one| Some((*one, one.extensions.get(name)?)))
            .collect();
        if !STRONGEST_FIRST.contains(&name) {
            texts.reverse();
        }
        let part = DefinitionPart::Extension(name.to_owned());
        if let Some(text) = joined(part, texts.into_iter(), provenance) {
            merged.set(name, text);
        }
    }
    merged
}
