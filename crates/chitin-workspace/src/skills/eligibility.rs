//! Whether a skill can be used here and now, and if not, everything that stands in the way (S30–S37).

use super::compat::TRUE_BY_DEFAULT;
use super::metadata::{Metadata, js_text};
use super::skill::Skill;
use chitin_config::env::Env;
use chitin_contract::{BlankVariable, SkillRules, SkillSource};
use chitin_protocol::text::{is_blank_js, trim_js};
use serde::Serialize;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// What other machines, joined to this one, bring along.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RemoteNodes {
    /// Their operating systems.
    pub platforms: Vec<String>,
    /// Programs on them.
    pub bins: Vec<String>,
}

/// Judges skills by configuration, environment and operating system.
#[derive(Debug)]
pub struct Eligibility<'a> {
    env: &'a Env,
    config: &'a Value,
    rules: &'a SkillRules,
    platform: &'a str,
    remote: RemoteNodes,
    allowed_bundled: Vec<String>,
    search_path: Vec<PathBuf>,
    known_bins: RefCell<BTreeMap<String, bool>>,
}

/// One thing that stands in the way of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "reason")]
pub enum Ineligible {
    /// Configuration switches it off.
    Disabled {
        /// The entry in `skills.entries`.
        key: String,
    },
    /// It is bundled, and `skills.allowBundled` does not name it.
    NotAllowedBundled {
        /// The name that would have to be listed.
        key: String,
    },
    /// It is made for other operating systems.
    WrongOs {
        /// Those.
        wanted: Vec<String>,
        /// This one.
        have: String,
    },
    /// A program is not on the search path.
    MissingBin {
        /// The program.
        name: String,
    },
    /// None of several programs is on the search path.
    MissingAnyBin {
        /// The programs.
        names: Vec<String>,
    },
    /// A variable is not set.
    MissingEnv {
        /// The variable.
        name: String,
    },
    /// A config path holds nothing.
    MissingConfig {
        /// The path.
        path: String,
    },
    /// The agent's allow-list does not name it.
    NotInAllowList,
}

impl fmt::Display for Ineligible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disabled { key } => write!(f, "`skills.entries.{key}.enabled` is false"),
            Self::NotAllowedBundled { key } => {
                write!(f, "`skills.allowBundled` does not list `{key}`")
            }
            Self::WrongOs { wanted, have } => {
                write!(f, "made for `{}`, this is `{have}`", wanted.join("`, `"))
            }
            Self::MissingBin { name } => write!(f, "`{name}` is not on PATH"),
            Self::MissingAnyBin { names } => {
                write!(f, "none of `{}` is on PATH", names.join("`, `"))
            }
            Self::MissingEnv { name } => write!(f, "`{name}` is not set"),
            Self::MissingConfig { path } => write!(f, "`{path}` is not set in configuration"),
            Self::NotInAllowList => write!(f, "the agent's list of skills leaves it out"),
        }
    }
}

impl<'a> Eligibility<'a> {
    /// Prepares to judge skills on this machine.
    pub fn new(env: &'a Env, config: &'a Value, rules: &'a SkillRules) -> Self {
        let search_path = env
            .get("PATH")
            .unwrap_or_default()
            .split(':')
            .filter(|part| !part.is_empty())
            .map(|part| env.working_directory().join(part))
            .collect();
        let allowed_bundled = config
            .pointer("/skills/allowBundled")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .map(|entry| trim_js(&js_text(entry)).to_owned())
            .filter(|entry| !entry.is_empty())
            .collect();
        Self {
            env,
            config,
            rules,
            platform: this_platform(),
            remote: RemoteNodes::default(),
            allowed_bundled,
            search_path,
            known_bins: RefCell::default(),
        }
    }

    /// Judges as if on another operating system (`linux`, `darwin`, `win32`).
    #[must_use]
    pub const fn on_platform(mut self, platform: &'a str) -> Self {
        self.platform = platform;
        self
    }

    /// Counts what joined machines bring along.
    #[must_use]
    pub fn with_remote(mut self, remote: RemoteNodes) -> Self {
        self.remote = remote;
        self
    }

    /// Returns everything that stands in the way of a skill; nothing means that it is eligible.
    pub fn judge(&self, skill: &Skill) -> Vec<Ineligible> {
        self.judge_parts(&skill.name, skill.source, skill.metadata.as_ref())
    }

    /// Judges a skill by its name, source and metadata.
    pub fn judge_parts(
        &self,
        name: &str,
        source: SkillSource,
        metadata: Option<&Metadata>,
    ) -> Vec<Ineligible> {
        let key = metadata
            .and_then(|metadata| metadata.skill_key.as_deref())
            .unwrap_or(name);
        let entry = self
            .config
            .pointer("/skills/entries")
            .and_then(|entries| entries.get(key));
        let mut reasons = Vec::new();
        if entry.and_then(|entry| entry.get("enabled")) == Some(&Value::Bool(false)) {
            reasons.push(Ineligible::Disabled {
                key: key.to_owned(),
            });
        }
        let listed = |name: &str| self.allowed_bundled.iter().any(|entry| entry == name);
        if matches!(source, SkillSource::Bundled | SkillSource::Custodian)
            && !self.allowed_bundled.is_empty()
            && !listed(key)
            && !listed(name)
        {
            reasons.push(Ineligible::NotAllowedBundled {
                key: key.to_owned(),
            });
        }
        let Some(metadata) = metadata else {
            return reasons;
        };
        if let Some(wanted) = &metadata.os {
            let here = |os: &String| os == self.platform || self.remote.platforms.contains(os);
            if !wanted.is_empty() && !wanted.iter().any(here) {
                reasons.push(Ineligible::WrongOs {
                    wanted: wanted.clone(),
                    have: self.platform.to_owned(),
                });
            }
        }
        if metadata.always != Some(true) {
            self.judge_requirements(metadata, entry, &mut reasons);
        }
        reasons
    }

    fn judge_requirements(
        &self,
        metadata: &Metadata,
        entry: Option<&Value>,
        reasons: &mut Vec<Ineligible>,
    ) {
        let Some(requires) = &metadata.requires else {
            return;
        };
        let missing_bins = requires.bins.iter().filter(|bin| !self.has_bin(bin));
        reasons.extend(missing_bins.map(|name| Ineligible::MissingBin { name: name.clone() }));
        if !requires.any_bins.is_empty() && !requires.any_bins.iter().any(|bin| self.has_bin(bin)) {
            reasons.push(Ineligible::MissingAnyBin {
                names: requires.any_bins.clone(),
            });
        }
        let primary = metadata.primary_env.as_deref();
        let missing_env = requires
            .env
            .iter()
            .filter(|name| !self.has_variable(name, entry, primary));
        reasons.extend(missing_env.map(|name| Ineligible::MissingEnv { name: name.clone() }));
        let missing_config = requires
            .config
            .iter()
            .filter(|path| !is_config_path_set(self.config, path));
        reasons.extend(missing_config.map(|path| Ineligible::MissingConfig { path: path.clone() }));
    }

    fn has_bin(&self, name: &str) -> bool {
        if let Some(known) = self.known_bins.borrow().get(name) {
            return *known;
        }
        let here = !name.contains('\0')
            && self
                .search_path
                .iter()
                .any(|directory| chitin_guard::is_executable(&join_plainly(directory, name)));
        let found = here || self.remote.bins.iter().any(|bin| bin == name);
        self.known_bins.borrow_mut().insert(name.to_owned(), found);
        found
    }

    fn has_variable(&self, name: &str, entry: Option<&Value>, primary: Option<&str>) -> bool {
        let counts = |text: &str| match self.rules.blank_variable {
            BlankVariable::Set => !text.is_empty(),
            BlankVariable::Missing => !is_blank_js(text),
        };
        let configured = |value: &Value| match value {
            Value::String(text) => counts(text),
            other => self.rules.blank_variable == BlankVariable::Set && is_truthy(other),
        };
        let key_configured = |value: &Value| match value {
            Value::String(text) => counts(text),
            other => self.rules.blank_variable == BlankVariable::Missing || is_truthy(other),
        };
        let in_entry = |field: &str| entry.and_then(|entry| entry.get(field));
        self.env.get(name).is_some_and(counts)
            || in_entry("env")
                .and_then(|env| env.get(name))
                .is_some_and(configured)
            || (primary == Some(name) && in_entry("apiKey").is_some_and(key_configured))
    }
}

/// Joins a name as it is written, also when it begins with a slash.
fn join_plainly(directory: &std::path::Path, name: &str) -> PathBuf {
    directory.join(name.trim_start_matches('/'))
}

/// Returns the operating system by the name that skills use.
pub const fn this_platform() -> &'static str {
    if cfg!(target_os = "macos") {
        "darwin"
    } else if cfg!(target_os = "windows") {
        "win32"
    } else {
        std::env::consts::OS
    }
}

/// Tells whether a dotted path holds something (S33).
fn is_config_path_set(config: &Value, path: &str) -> bool {
    let mut current = Some(config);
    for part in path.split('.').filter(|part| !part.is_empty()) {
        current = match current {
            Some(Value::Object(fields)) => fields.get(part),
            Some(Value::Array(items)) => part.parse::<usize>().ok().and_then(|at| items.get(at)),
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) | None => None,
        };
    }
    match current {
        None => TRUE_BY_DEFAULT.contains(&path),
        Some(Value::String(text)) => !is_blank_js(text),
        Some(other) => is_truthy(other),
    }
}

fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64().is_some_and(|number| number != 0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}
