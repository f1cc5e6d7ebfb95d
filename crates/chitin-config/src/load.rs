//! From a path to a judged configuration.

use super::command::judge;
use super::include::{IncludeError, IncludeProblem, read_with_includes};
use super::scan::{self, Step, dotted};
use super::source::{ConfigFile, SourceLocation, find};
use super::variables::{VariableError, substitute};
use super::{Issue, IssueSeverity, compat};
use crate::env::Env;
use crate::home;
use chitin_contract::ConfigRules;
use chitin_guard::ReadError;
use chitin_protocol::record::FileRefusal;
use chitin_protocol::text::trim_js;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// More repeated keys than anybody reads about.
const MAX_REPEATED: usize = 20;

/// A configuration with everything that can be said about it.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedConfig {
    /// The file that was asked for.
    pub path: PathBuf,
    /// The value: includes merged, variables filled in.
    pub value: Value,
    /// The files it came from, in the order of their say.
    pub files: Vec<ConfigFile>,
    /// What is wrong or odd.
    pub issues: Vec<Issue>,
}

impl LoadedConfig {
    /// Tells whether nothing is wrong.
    pub fn is_valid(&self) -> bool {
        self.issues
            .iter()
            .all(|issue| issue.severity != IssueSeverity::Error)
    }

    /// Finds where the value at a dotted path was said.
    pub fn place(&self, path: &str) -> Option<SourceLocation> {
        find(&self.files, &steps(&self.value, path)?)
    }

    /// Returns the value at a dotted path.
    pub fn get(&self, path: &str) -> Option<&Value> {
        value_at(&self.value, &steps(&self.value, path)?)
    }
}

/// A configuration that cannot be read at all.
#[derive(Debug, Error)]
#[error("The configuration cannot be read.")]
pub struct ConfigError {
    /// Why.
    #[from]
    pub source: IncludeError,
}

impl ConfigError {
    /// Returns the same as a finding.
    pub fn issue(&self) -> Issue {
        let error = &self.source;
        let hint = match *error.problem {
            IncludeProblem::Unreadable(ReadError::Refused {
                reason: FileRefusal::OutsideRoot,
                ..
            }) => Some(if error.file.ends_with(super::chitin_json5::OWN_FILE) {
                "name the directory of the real file with `CHITIN_HOME`".to_owned()
            } else {
                "name the real file with `OPENCLAW_CONFIG_PATH`".to_owned()
            }),
            IncludeProblem::Outside(_) => {
                Some("included files have to stay beside the file that includes them".to_owned())
            }
            IncludeProblem::Unreadable(_)
            | IncludeProblem::Missing
            | IncludeProblem::TooLarge
            | IncludeProblem::NotText
            | IncludeProblem::Syntax(_)
            | IncludeProblem::TooDeep
            | IncludeProblem::Cycle(_)
            | IncludeProblem::IncludesTooDeep
            | IncludeProblem::TooMany
            | IncludeProblem::NotAName
            | IncludeProblem::SiblingsNeedObject => None,
        };
        Issue {
            hint,
            file: Some(error.file.clone()),
            line: error.position.map(|(line, _)| line),
            column: error.position.map(|(_, column)| column),
            ..Issue::new(
                IssueSeverity::Error,
                error.path.clone(),
                format!("The file cannot be used: {}.", error.problem),
            )
        }
    }

    /// Tells whether the file that was asked for is simply not there.
    pub fn is_missing(&self, path: &Path) -> bool {
        matches!(*self.source.problem, IncludeProblem::Missing) && self.source.file == path
    }
}

/// Reads a configuration: JSON5, then includes, then variables. What is in it is not judged; see [`judge`](super::judge).
///
/// Gives nothing when there is no such file, and an error when it cannot be put together. Everything else that is wrong
/// is a finding, so that a caller can show all of it at once.
pub fn read(path: &Path, env: &Env) -> Result<Option<LoadedConfig>, ConfigError> {
    let included = match read_with_includes(path).map_err(ConfigError::from) {
        Ok(included) => included,
        Err(error) if error.is_missing(path) => return Ok(None),
        Err(error) => return Err(error),
    };
    let (mut value, files) = (included.value, included.files);
    let mut issues = repeated_keys(&files);
    let own = own_variables(&value);
    let get = |name: &str| {
        let set = env.get(name).filter(|text| !text.is_empty());
        set.or_else(|| own.get(name).map(String::as_str))
    };
    let missing = match substitute(&mut value, get) {
        Ok(()) => Vec::new(),
        Err(VariableError::Missing(missing)) => missing,
        Err(error @ VariableError::TooLarge) => {
            issues.push(Issue::new(IssueSeverity::Error, "", format!("{error}.")));
            Vec::new()
        }
    };
    for variable in missing {
        let message = format!(
            "The variable `{}` is not set or empty, so its name stays in the text.",
            variable.name
        );
        let mut issue = placed(&files, &variable.steps, &variable.steps, message);
        // A file that is meant for several machines mentions what one of them lacks.
        issue.severity = IssueSeverity::Warning;
        issue.hint = Some(format!(
            "set it, or write `$${{{}}}` for the text itself",
            variable.name
        ));
        issues.push(issue);
    }
    sort(&mut issues);
    Ok(Some(LoadedConfig {
        path: path.to_owned(),
        value,
        files,
        issues,
    }))
}

/// Reads a configuration and judges it by the rules of a release.
pub fn load(
    path: &Path,
    env: &Env,
    rules: ConfigRules,
) -> Result<Option<LoadedConfig>, ConfigError> {
    let Some(mut loaded) = read(path, env)? else {
        return Ok(None);
    };
    let judged = judge(&loaded, env, rules);
    loaded.issues.extend(judged);
    sort(&mut loaded.issues);
    Ok(Some(loaded))
}

/// People fix a file from top to bottom.
fn sort(issues: &mut [Issue]) {
    issues.sort_by(|a, b| (&a.file, a.line, a.column).cmp(&(&b.file, b.line, b.column)));
}

/// Returns the variables that the configuration itself sets, which count where the environment says nothing.
fn own_variables(value: &Value) -> BTreeMap<String, String> {
    let env = &value["env"];
    [env, &env["vars"]]
        .into_iter()
        .filter_map(Value::as_object)
        .flatten()
        .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
        .filter(|(_, value)| !trim_js(value).is_empty() && !value.contains("${"))
        .collect()
}

pub(super) fn placed(
    files: &[ConfigFile],
    path: &[Step],
    point: &[Step],
    message: String,
) -> Issue {
    let place = find(files, point);
    Issue {
        file: place.as_ref().map(|place| place.file.clone()),
        line: place.as_ref().map(|place| place.line),
        column: place.as_ref().map(|place| place.column),
        ..Issue::new(IssueSeverity::Error, dotted(path), message)
    }
}

/// Finds keys that stand twice in one object: the last one holds, and the first is easily taken for it.
fn repeated_keys(files: &[ConfigFile]) -> Vec<Issue> {
    let mut issues = Vec::new();
    for file in files {
        let mut seen: BTreeSet<Vec<Step>> = BTreeSet::new();
        scan::walk(&file.text, |path, at| {
            if matches!(path.last(), Some(Step::Key(_))) && !seen.insert(path.to_vec()) {
                // The second object begins anew: its own keys repeat nothing.
                seen.retain(|known| known.len() <= path.len() || !known.starts_with(path));
                let place = file.place(at);
                let whole = [file.mount.as_slice(), path].concat();
                issues.push(Issue {
                    file: Some(place.file),
                    line: Some(place.line),
                    column: Some(place.column),
                    ..Issue::new(
                        IssueSeverity::Warning,
                        dotted(&whole),
                        "The key is set twice; the last value is used.",
                    )
                });
            }
            if issues.len() < MAX_REPEATED {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        });
    }
    issues
}

/// Splits a dotted path by what the value holds, so that keys with dots in them are found too.
pub(super) fn steps(value: &Value, path: &str) -> Option<Vec<Step>> {
    if path.is_empty() {
        return Some(Vec::new());
    }
    match value {
        Value::Object(fields) => fields.iter().find_map(|(key, field)| {
            let rest = path.strip_prefix(key.as_str())?;
            let rest = match rest.strip_prefix('.') {
                Some(rest) => rest,
                None if rest.is_empty() => rest,
                None => return None,
            };
            let mut found = steps(field, rest)?;
            found.insert(0, Step::Key(key.clone()));
            Some(found)
        }),
        Value::Array(items) => {
            let (index, rest) = path.split_once('.').unwrap_or((path, ""));
            let index: usize = index.parse().ok()?;
            let mut found = steps(items.get(index)?, rest)?;
            found.insert(0, Step::Index(index));
            Some(found)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

pub(super) fn value_at<'a>(value: &'a Value, steps: &[Step]) -> Option<&'a Value> {
    steps
        .iter()
        .try_fold(value, |value, step| match (value, step) {
            (Value::Object(fields), Step::Key(key)) => fields.get(key),
            (Value::Array(items), Step::Index(index)) => items.get(*index),
            _ => None,
        })
}

/// Returns where `openclaw.json` is: the path that the environment names, else the file in the state directory.
pub fn openclaw_config_path(env: &Env, state_directory: &Path) -> PathBuf {
    compat::PATH_VARIABLES
        .into_iter()
        .find_map(|name| user_path(env, env.get(name)?))
        .unwrap_or_else(|| state_directory.join(compat::FILE_NAME))
}

/// Reads a path as users write it; nothing when blank.
pub(super) fn user_path(env: &Env, text: &str) -> Option<PathBuf> {
    let given = !trim_js(text).is_empty();
    given.then(|| {
        home::path_from(
            text,
            home::plain_home(env).as_deref(),
            env.working_directory(),
        )
    })
}
