//! What the settings of a plugin mean, and which are refused.

use crate::lab::Lab;
use chitin_plugin::{PluginFault, PluginState};
use chitin_protocol::settings::PluginSettings;

fn command(words: &[&str]) -> PluginSettings {
    PluginSettings {
        command: words.iter().map(ToString::to_string).collect(),
        ..PluginSettings::default()
    }
}

#[test]
fn settings_that_make_no_sense_are_reported_and_the_others_are_used() {
    let lab = Lab::new();
    lab.script("p.py", "");
    let good = command(&["python3", "plugins/p.py"]);
    let off = PluginSettings {
        enabled: Some(false),
        ..command(&["python3", "plugins/p.py"])
    };
    lab.reload([
        ("empty", command(&[])),
        ("gone", command(&["python3", "plugins/q.py"])),
        ("lost", command(&["./no/such/program"])),
        ("legacy", good.clone()),
        ("a b", good.clone()),
        ("../up", good.clone()),
        ("good", good),
        ("off", off),
    ]);
    let mut noted: Vec<_> = lab.notes().into_iter().map(|note| note.plugin).collect();
    noted.sort();
    assert_eq!(noted, ["../up", "a b", "empty", "gone", "legacy", "lost"]);
    let names: Vec<_> = lab
        .set
        .adapters()
        .iter()
        .map(|one| one.name().to_owned())
        .collect();
    assert_eq!(names, ["good"]);
    assert_eq!(lab.set.status("off").unwrap().state, PluginState::Disabled);
    let gone = lab.set.status("gone").unwrap();
    assert_eq!(gone.state, PluginState::Failed);
    let Some(PluginFault::Misconfigured(why)) = gone.fault else {
        panic!("{gone:?}")
    };
    assert!(why.contains(".chitin/plugins/q.py"), "{why}");
    assert!(lab.set.status("never").is_none());
}

#[test]
fn nothing_is_started_by_a_configuration_alone() {
    let lab = Lab::with("");
    assert_eq!(lab.set.adapters().len(), 1);
    assert_eq!(lab.set.engines(&lab.env.workspace()).len(), 1);
    let status = lab.set.status("p").unwrap();
    assert_eq!(status.state, PluginState::Idle);
    assert!(!lab.exists("home/.chitin/plugin-data"));
}

#[test]
fn a_configuration_that_did_not_change_changes_nothing() {
    let lab = Lab::new();
    lab.script("p.py", "");
    let settings = PluginSettings {
        timeout_seconds: Some(2),
        ..command(&["python3", "plugins/p.py"])
    };
    let one = |settings: &PluginSettings| [("p".to_owned(), settings.clone())].into();
    assert_eq!(lab.set.reload(&one(&settings)).added, ["p"]);
    assert!(lab.set.reload(&one(&settings)).is_empty());
    let other = PluginSettings {
        timeout_seconds: Some(3),
        ..settings
    };
    assert_eq!(lab.set.reload(&one(&other)).changed, ["p"]);
    let gone = lab.set.reload(&std::collections::BTreeMap::new());
    assert_eq!(gone.removed, ["p"]);
    assert!(lab.set.is_empty());
}
