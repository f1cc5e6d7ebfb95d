//! Where skills are looked for: sources become directories.

use super::compat::{AGENTS_DIRECTORY, SKILLS_DIRECTORY, STATE_DIRECTORY};
use chitin_config::env::Env;
use chitin_config::home;
use chitin_contract::{Contract, PersonalRoot, SkillRules, SkillSource};
use chitin_protocol::text::trim_js;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The directories that sources hang on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkillPlaces {
    /// The workspace.
    pub workspace: PathBuf,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// Where the runtime keeps its state; by default `.openclaw` in home.
    pub state: Option<PathBuf>,
    /// What ships with the runtime.
    pub bundled: Option<PathBuf>,
    /// What ships with the runtime for the agent that looks after it.
    pub custodian: Option<PathBuf>,
    /// The agent's workshop.
    pub workshop: Option<PathBuf>,
    /// Directories that plugins bring.
    pub plugins: Vec<PathBuf>,
    /// Directories outside the workspace that its links may lead to.
    pub trusted: Vec<PathBuf>,
    /// The skill files that an adapter names, relative to the workspace. Then the workspace's own directories are not searched.
    pub named: Option<Vec<PathBuf>>,
    /// What relative directories in configuration start from.
    pub working_directory: PathBuf,
}

impl SkillPlaces {
    /// Derives the places from the environment, as the contract's runtime reads it.
    pub fn from_env(workspace: &Path, env: &Env, contract: &Contract) -> Self {
        let bundled = env
            .get("OPENCLAW_BUNDLED_SKILLS_DIR")
            .map(trim_js)
            .filter(|text| !text.is_empty());
        Self {
            workspace: env.working_directory().join(workspace),
            state: home::state_directory(env, &contract.agents).ok(),
            bundled: bundled.and_then(|text| home::user_path(text, env, &contract.agents).ok()),
            custodian: None,
            workshop: None,
            plugins: Vec::new(),
            trusted: Vec::new(),
            named: None,
            working_directory: env.working_directory().to_path_buf(),
            home: home::home(env, &contract.agents).ok(),
        }
    }

    /// Returns the roots to look into, lowest precedence first. Directories that do not exist are among them.
    pub fn roots(&self, config: &Value, rules: &SkillRules) -> Vec<SkillRoot> {
        rules
            .sources
            .iter()
            .flat_map(|&source| {
                self.directories(source, config, rules)
                    .into_iter()
                    .map(move |directory| SkillRoot {
                        source,
                        from_plugin: source == SkillSource::Extra
                            && self.plugins.contains(&directory),
                        directory,
                    })
            })
            .collect()
    }

    fn directories(&self, source: SkillSource, config: &Value, rules: &SkillRules) -> Vec<PathBuf> {
        let below = |place: &Option<PathBuf>| {
            place
                .iter()
                .map(|place| place.join(SKILLS_DIRECTORY))
                .collect()
        };
        match source {
            SkillSource::Extra => self
                .listed(config, "extraDirs")
                .into_iter()
                .chain(self.plugins.iter().cloned())
                .collect(),
            SkillSource::Bundled => self.bundled.iter().cloned().collect(),
            SkillSource::Custodian => self.custodian.iter().cloned().collect(),
            SkillSource::Workshop => self.workshop.iter().cloned().collect(),
            SkillSource::Managed => below(&self.state),
            SkillSource::Personal => match (&self.home, rules.personal_root) {
                (None, _) => Vec::new(),
                (Some(home), PersonalRoot::DefaultStateOnly)
                    if self.state != Some(home.join(STATE_DIRECTORY)) =>
                {
                    Vec::new()
                }
                (Some(home), PersonalRoot::Always | PersonalRoot::DefaultStateOnly) => {
                    vec![home.join(AGENTS_DIRECTORY).join(SKILLS_DIRECTORY)]
                }
            },
            SkillSource::Project => {
                vec![self.workspace.join(AGENTS_DIRECTORY).join(SKILLS_DIRECTORY)]
            }
            SkillSource::Workspace => vec![self.workspace.join(SKILLS_DIRECTORY)],
        }
    }

    /// Returns the directories of a list in `skills.load`.
    pub(super) fn listed(&self, config: &Value, name: &str) -> Vec<PathBuf> {
        let list = config
            .pointer("/skills/load")
            .and_then(|load| load.get(name))
            .and_then(Value::as_array);
        list.into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(trim_js)
            .filter(|text| !text.is_empty())
            .map(|text| home::path_from(text, self.home.as_deref(), &self.working_directory))
            .collect()
    }
}

/// A directory in which skills are looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillRoot {
    /// What kind of place it is.
    pub source: SkillSource,
    /// The directory, as given.
    pub directory: PathBuf,
    /// Whether a plugin brought it.
    pub from_plugin: bool,
}
