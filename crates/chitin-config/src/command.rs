//! The verdict of a release's command `config validate`: what its table and rules say, less what it still reads, and what it asks of
//! channels and plugins.

use super::keys::{CommandRules, ReleaseKeys};
use super::load::{LoadedConfig, placed, value_at};
use super::scan::Step;
use super::shape::{Shape, field, names};
use super::validate::{self, Finding, has_shape, matching};
use super::{Issue, IssueSeverity};
use crate::env::Env;
use crate::home;
use chitin_contract::ConfigRules;
use chitin_protocol::text::trim_js;
use serde_json::Value;
use std::path::PathBuf;

/// Judges a configuration as the command of the release would: errors where it would refuse the file.
pub fn judge(loaded: &LoadedConfig, env: &Env, rules: ConfigRules) -> Vec<Issue> {
    let mut value = loaded.value.clone();
    let mut issues = Vec::new();
    for path in take_earlier(&mut value, rules) {
        let message = "An earlier spelling, which is still read.".to_owned();
        issues.push(Issue {
            severity: IssueSeverity::Warning,
            ..placed(&loaded.files, &path, &path, message)
        });
    }
    let mut findings = validate::find(&value, rules);
    let asked = Command {
        value: &value,
        env,
        root: rules.shape(),
        rules: rules.command(),
    };
    match asked.missing_paths() {
        missing if missing.is_empty() => asked.find(&mut findings),
        missing if asked.rules.missing_path_is_error => {
            findings.extend(missing);
            asked.find(&mut findings);
        }
        missing => {
            // What such a plugin would know cannot be known, so nothing of plugins is judged.
            findings.retain(|finding| !rules.is_of_plugins(&finding.path));
            issues.extend(missing.into_iter().map(|finding| Issue {
                severity: IssueSeverity::Warning,
                ..place(loaded, finding)
            }));
        }
    }
    issues.extend(findings.into_iter().map(|finding| place(loaded, finding)));
    issues
}

fn place(loaded: &LoadedConfig, finding: Finding) -> Issue {
    let point = finding.pointed().to_vec();
    Issue {
        hint: finding.hint,
        is_unknown_key: !finding.unknown_keys.is_empty(),
        ..placed(&loaded.files, &finding.path, &point, finding.message)
    }
}

/// Takes out what the release turns into another spelling when it reads the file, and says where it was.
fn take_earlier(value: &mut Value, rules: ConfigRules) -> Vec<Vec<Step>> {
    let mut taken = Vec::new();
    for (pattern, shape) in rules.earlier() {
        for path in matching(value, pattern) {
            if !value_at(value, &path).is_some_and(|value| has_shape(shape, value)) {
                continue;
            }
            let Some((Step::Key(key), above)) = path.split_last() else {
                continue;
            };
            let mut holder = &mut *value;
            for step in above {
                holder = match step {
                    Step::Key(key) => &mut holder[key.as_str()],
                    Step::Index(index) => &mut holder[*index],
                };
            }
            if let Some(fields) = holder.as_object_mut() {
                fields.shift_remove(key);
                taken.push(path);
            }
        }
    }
    taken
}

struct Command<'a> {
    value: &'a Value,
    env: &'a Env,
    root: &'static Shape,
    rules: &'static CommandRules,
}

impl Command<'_> {
    fn find(&self, found: &mut Vec<Finding>) {
        self.channels(found);
        self.heartbeat_targets(found);
        self.search_provider(found);
        self.plugins(found);
    }

    /// The names that the release knows below a path of objects.
    fn known(&self, path: &[&str]) -> Vec<&'static str> {
        let mut shape = self.root;
        for name in path {
            let (Shape::Object(groups) | Shape::Open(groups) | Shape::OpenWith(groups, _)) = shape
            else {
                return Vec::new();
            };
            match field(groups, name) {
                Some(inner) => shape = inner,
                None => return Vec::new(),
            }
        }
        match shape {
            Shape::Object(groups) | Shape::Open(groups) | Shape::OpenWith(groups, _) => {
                names(groups).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Tells whether `plugins` names a plugin.
    fn is_named(&self, id: &str) -> bool {
        let plugins = &self.value["plugins"];
        let allowed = plugins["allow"].as_array().into_iter().flatten();
        let is = |name: &str| trim_js(name).eq_ignore_ascii_case(id);
        allowed.filter_map(Value::as_str).any(is)
            || ["entries", "installs"]
                .into_iter()
                .filter_map(|key| plugins[key].as_object())
                .any(|entries| entries.keys().any(|name| is(name)))
    }

    /// Tells whether a plugin of the user's may bring a channel: one of that name is installed, or one lies at a path that only it knows.
    fn may_be_installed(&self, id: &str) -> bool {
        let state = match self.env.get("OPENCLAW_STATE_DIR").map(trim_js) {
            Some(text) if !text.is_empty() => Some(PathBuf::from(text)),
            _ => home::plain_home(self.env).map(|home| home.join(".openclaw")),
        };
        let is_name = !id.contains(['/', '\\']) && !id.starts_with('.');
        let installed =
            state.is_some_and(|state| chitin_guard::exists(&state.join("extensions").join(id)));
        (is_name && installed) || !matching(self.value, "plugins.load.paths.*").is_empty()
    }

    fn channels(&self, found: &mut Vec<Finding>) {
        let known = self.known(&["channels"]);
        // A release whose channels are not known refuses none.
        if known.len() <= 2 {
            return;
        }
        for path in matching(self.value, "channels.*") {
            let Some(Step::Key(id)) = path.last() else {
                continue;
            };
            let id = trim_js(id);
            let excused = (self.rules.plugins_excuse_channels && self.is_named(id))
                || self.may_be_installed(id);
            if !id.is_empty() && !known.contains(&id) && !excused {
                let mut finding = Finding::soft(&path, format!("There is no channel `{id}`."));
                finding.hint = chitin_protocol::nearest::nearest(id, known.iter().copied())
                    .map(|near| format!("did you mean `{near}`?"));
                found.push(finding);
            }
        }
    }

    fn heartbeat_targets(&self, found: &mut Vec<Finding>) {
        let known = self.known(&["channels"]);
        for pattern in [
            "agents.defaults.heartbeat.target",
            "agents.entries|list.*.heartbeat.target",
        ] {
            for path in matching(self.value, pattern) {
                let Some(target) = value_at(self.value, &path).and_then(Value::as_str) else {
                    continue;
                };
                let target = trim_js(target).to_lowercase();
                let fits = self.rules.heartbeat_targets.contains(&target.as_str())
                    || known.contains(&target.as_str());
                if !fits {
                    found.push(Finding::soft(
                        &path,
                        format!("A heartbeat cannot go to `{target}`: it is no channel."),
                    ));
                }
            }
        }
    }

    fn search_provider(&self, found: &mut Vec<Finding>) {
        let (Some(known), Some(provider)) = (
            self.rules.search_providers,
            self.value
                .pointer("/tools/web/search/provider")
                .and_then(Value::as_str),
        ) else {
            return;
        };
        let provider = trim_js(provider);
        if !known.contains(&provider) && !self.is_named(provider) {
            let path = ["tools", "web", "search", "provider"].map(|key| Step::Key(key.to_owned()));
            let mut finding = Finding::soft(&path, format!("`{provider}` cannot search here."));
            finding.hint = Some(format!("the release brings {}", known.join(", ")));
            found.push(finding);
        }
    }

    fn plugins(&self, found: &mut Vec<Finding>) {
        let known = self.known(&["plugins", "entries"]);
        let unknown =
            |path: &[Step], id: &str| Finding::soft(path, format!("There is no plugin `{id}`."));
        let slot = "plugins.slots.memory";
        let denied = if self.rules.denied_plugins_are_known {
            "plugins.deny.*"
        } else {
            slot
        };
        for pattern in [denied, slot] {
            for path in matching(self.value, pattern) {
                let id = value_at(self.value, &path).and_then(Value::as_str);
                let id = trim_js(id.unwrap_or_default());
                let fits = id.is_empty() || id == "none" || known.contains(&id);
                // One that is known elsewhere is not missing, only not installed.
                let is_elsewhere = id == "memory-lancedb" && !self.rules.denied_plugins_are_known;
                if !fits && !is_elsewhere {
                    let path = match path.as_slice() {
                        [above @ .., Step::Index(_)] => above.to_vec(),
                        whole => whole.to_vec(),
                    };
                    if !found.iter().any(|finding| finding.path == path) {
                        found.push(unknown(&path, id));
                    }
                }
            }
        }
    }

    /// Finds plugins whose paths are not there.
    fn missing_paths(&self) -> Vec<Finding> {
        let mut found = Vec::new();
        for path in matching(self.value, "plugins.load.paths.*") {
            let text = value_at(self.value, &path).and_then(Value::as_str);
            let Some(text) = text.map(trim_js).filter(|text| !text.is_empty()) else {
                continue;
            };
            let home = home::plain_home(self.env);
            let place = home::path_from(text, home.as_deref(), self.env.working_directory());
            if !chitin_guard::exists(&place) {
                let message = format!("`{text}` does not exist.");
                found.push(Finding {
                    point: Some(path.clone()),
                    ..Finding::soft(&path[..path.len() - 1], message)
                });
            }
        }
        found
    }
}
