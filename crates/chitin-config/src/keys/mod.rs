//! What each release knows of `openclaw.json`, as data: the table of its keys, which the release itself prints, and what a table cannot say.

pub(super) mod channels;
pub(super) mod networks;
mod rules;
mod table;

use super::scan::Step;
use super::shape::{Check, Field, Shape};
use chitin_contract::ConfigRules;
pub(super) use rules::{BUILT_IN_PROVIDERS, CommandRules, Earlier, SEARCH_PROVIDERS};
use std::sync::OnceLock;
use table::Table;

static TABLE_4: Table = Table::new(include_str!("2026.4.keys"));
static TABLE_9: Table = Table::new(include_str!("2026.9.keys"));

/// What each release knows, for those who judge a configuration.
pub(super) trait ReleaseKeys {
    /// The shape of a whole configuration.
    fn shape(self) -> &'static Shape;
    /// What the release asks beyond shapes: a dotted pattern, and what must hold of the values that it names.
    fn checks(self) -> &'static [(&'static str, Check)];
    /// What the release itself turns into the newer spelling when it reads a file.
    fn earlier(self) -> &'static [Earlier];
    /// What only the release's command asks.
    fn command(self) -> &'static CommandRules;
    /// Tells whether a value is for a plugin of the release to judge, and not for its core.
    fn is_of_plugins(&self, path: &[Step]) -> bool;
    /// What `agents.list` means.
    fn agent_list(self) -> AgentList;
}

impl ReleaseKeys for ConfigRules {
    fn shape(self) -> &'static Shape {
        static KEYS_2: OnceLock<Shape> = OnceLock::new();
        static KEYS_4: OnceLock<Shape> = OnceLock::new();
        match self {
            Self::Keys2026_2 => {
                KEYS_2.get_or_init(|| with(TABLE_4.shape(), &[("channels", channels::OPEN)]))
            }
            Self::Keys2026_4 => KEYS_4.get_or_init(|| {
                let channels = with(field_of(TABLE_4.shape(), "channels"), channels::SHARED);
                with(
                    TABLE_4.shape(),
                    Vec::leak([&[("channels", channels)], MOVED].concat()),
                )
            }),
            Self::Keys2026_9 => TABLE_9.shape(),
        }
    }

    fn checks(self) -> &'static [(&'static str, Check)] {
        match self {
            Self::Keys2026_2 | Self::Keys2026_4 => rules::CHECKS_4,
            Self::Keys2026_9 => rules::CHECKS_9,
        }
    }

    fn earlier(self) -> &'static [Earlier] {
        match self {
            Self::Keys2026_2 | Self::Keys2026_4 => rules::EARLIER_4,
            Self::Keys2026_9 => rules::EARLIER_9,
        }
    }

    fn command(self) -> &'static CommandRules {
        match self {
            Self::Keys2026_2 | Self::Keys2026_4 => &rules::COMMAND_4,
            Self::Keys2026_9 => &rules::COMMAND_9,
        }
    }

    fn is_of_plugins(&self, path: &[Step]) -> bool {
        let is = |index: usize, name: &str| matches!(path.get(index), Some(Step::Key(key)) if key == name);
        let in_channel = is(0, "channels")
            && path.len() > 1
            && !channels::SHARED.iter().any(|(name, _)| is(1, name));
        (*self == Self::Keys2026_9 && in_channel)
            || (is(0, "plugins") && is(1, "entries") && is(3, "config"))
    }

    fn agent_list(self) -> AgentList {
        match self {
            Self::Keys2026_2 | Self::Keys2026_4 => AgentList::Known,
            Self::Keys2026_9 => AgentList::Moved,
        }
    }
}

/// What `agents.list` means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AgentList {
    /// A key like any other.
    Known,
    /// An earlier spelling of `agents.entries`.
    Moved,
}

/// What 2026.4 knows by the place that it had before.
const MOVED: &[Field] = &[
    ("heartbeat", Shape::Moved("agents.defaults.heartbeat")),
    ("memorySearch", Shape::Moved("agents.defaults.memorySearch")),
];

/// Adds keys to an object, which have the last word.
fn with(shape: &Shape, more: &'static [Field]) -> Shape {
    let added = |groups: &'static [&'static [Field]]| &*Vec::leak([groups, &[more]].concat());
    match *shape {
        Shape::Object(groups) => Shape::Object(added(groups)),
        Shape::Open(groups) => Shape::Open(added(groups)),
        other => other,
    }
}

fn field_of(shape: &Shape, name: &str) -> &'static Shape {
    match shape {
        Shape::Object(groups) => super::shape::field(groups, name).unwrap_or(&Shape::Any),
        _ => &Shape::Any,
    }
}
