//! What is wrong with `channels`: by the keys that count, by the networks themselves, and by what accounts lack.

use chitin_config::{
    ConfigFile, Issue, IssueSeverity, LoadedChitinConfig, LoadedConfig, place_issue,
};
use chitin_runtime::channels::{self, Activation, ChannelIssue, ChannelKind};
use chitin_runtime::{Configuration, Host, Notes, chitin_home};
use serde_json::Value;

/// A file, and what is said of it so far.
struct Judged<'a> {
    files: &'a [ConfigFile],
    value: &'a Value,
    issues: Vec<Issue>,
}

/// Judges `channels` of `chitin.json5`.
pub(super) fn of_own(own: &LoadedChitinConfig) -> Vec<Issue> {
    let mut judged = Judged {
        files: &own.files,
        value: &own.value,
        issues: chitin_config::channel_issues(own),
    };
    for (which, section) in sections(&own.value) {
        judged.add(
            which,
            IssueSeverity::Error,
            channels::unusable(which, section),
        );
        let in_clear = channels::secrets_in_clear(which, section);
        judged.add(which, IssueSeverity::Warning, in_clear);
    }
    judged.issues
}

/// Judges `channels` of `openclaw.json`, which is not ours: all that is said are notes.
pub(super) fn of_openclaw(loaded: &LoadedConfig) -> Vec<Issue> {
    let mut judged = Judged {
        files: &loaded.files,
        value: &loaded.value,
        issues: chitin_config::channel_notes(loaded),
    };
    for (which, section) in sections(&loaded.value) {
        judged.add(
            which,
            IssueSeverity::Note,
            channels::unusable(which, section),
        );
        let elsewhere = channels::secrets_elsewhere(which, section);
        judged.add(which, IssueSeverity::Note, elsewhere);
    }
    judged.issues
}

/// Says what the accounts of networks lack that `chitin serve` is to connect.
pub(super) fn of_accounts(
    host: &Host,
    contract: Option<&str>,
    own: Option<&LoadedChitinConfig>,
) -> Vec<Issue> {
    let configuration = Configuration::read(host, contract, &Notes::none());
    let (Ok(configuration), Some(state)) = (configuration, chitin_home(host)) else {
        // Whatever keeps it from being read is said already.
        return Vec::new();
    };
    let plans = match channels::plans(host, &configuration, &state) {
        Ok(plans) => plans,
        Err(error) => {
            return vec![Issue::new(
                IssueSeverity::Warning,
                "channels",
                error.to_string(),
            )];
        }
    };
    let mut issues = Vec::new();
    for plan in plans
        .iter()
        .filter(|plan| plan.activation == Activation::On)
    {
        for wrong in channels::lacks(plan) {
            let issue = issue(plan.kind, IssueSeverity::Warning, wrong);
            let here = own.map(|own| place_issue(issue.clone(), &own.files, &own.value));
            let here = here.filter(|issue| issue.file.is_some());
            issues.push(here.unwrap_or_else(|| {
                let openclaw = configuration.openclaw.as_ref();
                openclaw.map_or(issue.clone(), |loaded| {
                    place_issue(issue, &loaded.files, &loaded.value)
                })
            }));
        }
    }
    issues
}

impl Judged<'_> {
    /// Adds what nothing was said of yet at the same path.
    fn add(&mut self, which: ChannelKind, severity: IssueSeverity, wrong: Vec<ChannelIssue>) {
        for wrong in wrong {
            let issue = issue(which, severity, wrong);
            if self.issues.iter().all(|said| said.path != issue.path) {
                self.issues.push(place_issue(issue, self.files, self.value));
            }
        }
    }
}

fn issue(which: ChannelKind, severity: IssueSeverity, wrong: ChannelIssue) -> Issue {
    let section = format!("channels.{}", which.id());
    let path = match wrong.path.as_str() {
        "" => section,
        path => format!("{section}.{path}"),
    };
    Issue {
        hint: wrong.hint,
        ..Issue::new(severity, path, wrong.message)
    }
}

/// Returns the sections of the networks that a configuration speaks of.
fn sections(value: &Value) -> impl Iterator<Item = (ChannelKind, &Value)> {
    let networks = ChannelKind::ALL.into_iter();
    networks
        .map(|which| (which, &value["channels"][which.id()]))
        .filter(|(_, section)| section.is_object())
}
