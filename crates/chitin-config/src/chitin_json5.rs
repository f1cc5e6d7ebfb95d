//! Chitin's own file, `chitin.json5`.

use super::include::read_with_includes;
use super::keys::networks::{NAMES, OTHERS};
use super::load::{ConfigError, placed, user_path};
use super::run_settings::{PLUGIN, PROVIDER, RUN};
use super::shape::{COUNT, Field, Shape, TEXTS};
use super::source::ConfigFile;
use super::validate::{self, Finding};
use super::{Issue, IssueSeverity};
use crate::env::Env;
use crate::home;
use chitin_protocol::config::{ChitinConfig, Price};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The name of the file in Chitin's home.
pub const OWN_FILE: &str = "chitin.json5";

/// A bound that leaves room for something and that a prompt can reach.
const BOUND: Shape = Shape::Whole(16, 50_000_000);

const STEP: Shape = Shape::Object(&[&[
    ("files", Shape::Required(&TEXTS)),
    ("keep", Shape::Required(&Shape::Whole(0, 100))),
]]);

const OVERRIDES: &[Field] = &[
    (
        "budget",
        Shape::Object(&[&[
            ("unit", Shape::OneOf(&["characters", "tokens"])),
            ("perFile", BOUND),
            ("total", BOUND),
            ("files", Shape::Map(&BOUND)),
        ]]),
    ),
    ("contract", Shape::SomeText),
    ("hardlinks", Shape::OneOf(&["refuse", "allow"])),
    (
        "links",
        Shape::Either(&[
            Shape::OneOf(&["inside", "none"]),
            Shape::Object(&[&[("trustedRoots", Shape::Required(&TEXTS))]]),
        ]),
    ),
    ("refresh", Shape::OneOf(&["live", "session"])),
    ("releaseSkills", Shape::SomeText),
    ("model", Shape::SomeText),
    ("rootFiles", TEXTS),
    ("sectionsOff", TEXTS),
    ("skillDepth", Shape::Whole(1, 8)),
    (
        "smallWindow",
        Shape::Object(&[&[
            (
                "plan",
                Shape::Required(&Shape::Either(&[Shape::SomeText, Shape::List(&STEP)])),
            ),
            ("share", Shape::Whole(1, 100)),
            ("tokens", BOUND),
        ]]),
    ),
    ("subagentFiles", TEXTS),
    ("templates", Shape::SomeText),
    ("with", TEXTS),
    ("workspace", Shape::SomeText),
];

const PRICE: Shape = Shape::Number(0.0, Price::MOST);

const MODEL: &[Field] = &[
    ("cacheReadPrice", PRICE),
    ("cacheWritePrice", PRICE),
    ("contextWindow", COUNT),
    ("inputPrice", PRICE),
    ("maxOutput", COUNT),
    ("outputPrice", PRICE),
    ("tokenizer", Shape::OneOf(&["none", "o200k_base"])),
];

/// How many of something a server may hold.
const MANY: Shape = Shape::Whole(1, 1_000_000);

const SERVER: &[Field] = &[
    ("address", Shape::SomeText),
    ("allowRemote", Shape::Flag),
    ("drainSeconds", Shape::Whole(0, 86_400)),
    ("files", Shape::SomeText),
    ("hosts", TEXTS),
    ("idleAgentSeconds", Shape::Whole(1, 86_400)),
    ("idleAgents", MANY),
    ("keepOutcomesSeconds", Shape::Whole(0, 2_592_000)),
    ("maxBodyBytes", Shape::Whole(1_024, 1 << 30)),
    ("maxConnections", MANY),
    ("maxOpenJobs", MANY),
    ("minFreeBytes", Shape::Whole(0, i64::MAX)),
    ("origins", TEXTS),
    ("port", Shape::Whole(0, 65_535)),
    ("approvalSeconds", MANY),
    ("requestsPerMinute", MANY),
    ("retrySeconds", Shape::Whole(0, 2_592_000)),
];

const CHITIN: Shape = Shape::Object(&[
    OVERRIDES,
    RUN,
    &[
        ("$schema", Shape::Text),
        ("agents", Shape::Map(&Shape::Object(&[OVERRIDES, RUN]))),
        // What each takes is judged by [`super::channel_issues`], and by the network itself.
        ("channels", Shape::Partly(&[NAMES], &[OTHERS])),
        ("models", Shape::Map(&Shape::Object(&[MODEL]))),
        ("plugins", Shape::Map(&Shape::Object(&[PLUGIN]))),
        ("providers", Shape::Map(&Shape::Object(&[PROVIDER]))),
        ("server", Shape::Object(&[SERVER])),
    ],
]);

/// Chitin's own configuration with everything that can be said about it.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedChitinConfig {
    /// The file.
    pub path: PathBuf,
    /// What it says, typed; what is not understood is left out.
    pub config: ChitinConfig,
    /// What it says, as it stands.
    pub value: Value,
    /// The files it came from.
    pub files: Vec<ConfigFile>,
    /// What is wrong or odd: unknown keys warn, values of the wrong kind are errors.
    pub issues: Vec<Issue>,
}

/// Returns Chitin's home: what the environment names, else `.chitin` below the user's home.
pub fn chitin_home(env: &Env) -> Option<PathBuf> {
    env.get("CHITIN_HOME")
        .and_then(|text| user_path(env, text))
        .or_else(|| Some(home::plain_home(env)?.join(".chitin")))
}

/// Reads `chitin.json5` from Chitin's home; gives nothing when there is none.
pub fn load_chitin_config(home: &Path) -> Result<Option<LoadedChitinConfig>, ConfigError> {
    let path = home.join(OWN_FILE);
    let included = match read_with_includes(&path).map_err(ConfigError::from) {
        Ok(included) => included,
        Err(error) if error.is_missing(&path) => return Ok(None),
        Err(error) => return Err(error),
    };
    let (value, files) = (included.value, included.files);
    let findings = validate::find_by(&CHITIN, &value);
    let issues = findings
        .iter()
        .map(|finding| issue(&files, finding))
        .collect();
    let mut understood = value.clone();
    for finding in &findings {
        remove(&mut understood, finding);
    }
    let config = serde_json::from_value(understood).unwrap_or_default();
    Ok(Some(LoadedChitinConfig {
        path,
        config,
        value,
        files,
        issues,
    }))
}

pub(super) fn issue(files: &[ConfigFile], finding: &Finding) -> Issue {
    let place = placed(
        files,
        &finding.path,
        finding.pointed(),
        finding.message.clone(),
    );
    Issue {
        hint: finding.hint.clone(),
        is_unknown_key: !finding.unknown_keys.is_empty(),
        severity: if finding.unknown_keys.is_empty() {
            IssueSeverity::Error
        } else {
            IssueSeverity::Warning
        },
        ..place
    }
}

/// Takes out what was found wrong, so that the rest can still be used.
fn remove(value: &mut Value, finding: &Finding) {
    if finding.unknown_keys.is_empty() {
        if let Some((last, parents)) = finding.path.split_last()
            && let Some(Value::Object(fields)) = at_mut(value, parents)
        {
            fields.shift_remove(&last.to_string());
        }
        return;
    }
    if let Some(Value::Object(fields)) = at_mut(value, &finding.path) {
        for key in &finding.unknown_keys {
            fields.shift_remove(key);
        }
    }
}

fn at_mut<'a>(value: &'a mut Value, steps: &[super::scan::Step]) -> Option<&'a mut Value> {
    steps
        .iter()
        .try_fold(value, |value, step| value.get_mut(step.to_string()))
}

#[cfg(test)]
#[path = "chitin_json5_tests.rs"]
mod tests;
