//! Who somebody is, and whether a list names them.

use chitin_protocol::text::trim_js;
use serde_json::Value;

/// What stands for everybody in a list.
pub(super) const ANYBODY: &str = "*";
/// What an id may be written with before it.
const USER: &str = "user:";
/// What the id of a role may be written with before it.
const ROLE: &str = "role:";

/// Somebody who writes, as lists may name them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Person<'a> {
    /// The network, in lower case.
    pub(super) channel: &'a str,
    /// The id there.
    pub(super) id: &'a str,
    /// The name that others see, which anybody may choose for themselves.
    pub(super) shown: Option<&'a str>,
    /// Other names.
    pub(super) names: &'a [String],
}

/// Whether a name may stand for somebody. Names can be taken by others; ids cannot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Naming {
    /// Only ids count.
    Ids,
    /// Names count, too: the configuration says so.
    Names,
}

/// A list of people as a configuration has it.
#[derive(Debug, Clone, Default)]
pub(super) struct AllowedPeople(Vec<String>);

impl AllowedPeople {
    /// Reads a list; nothing when there is none. Numbers are ids, too. An empty list is a list: it names nobody.
    pub(super) fn read(value: &Value) -> Option<Self> {
        let entries = value.as_array()?.iter().filter_map(|entry| match entry {
            Value::String(text) => Some(trim_js(text).to_owned()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        });
        Some(Self(entries.filter(|entry| !entry.is_empty()).collect()))
    }

    /// Tells whether it stands for everybody.
    pub(super) fn has_anybody(&self) -> bool {
        self.0.iter().any(|entry| entry == ANYBODY)
    }

    /// Tells whether it names somebody, or everybody.
    pub(super) fn names(&self, person: Person<'_>, naming: Naming) -> bool {
        self.has_anybody() || self.names_exactly(person, naming)
    }

    /// Tells whether it names this very person.
    pub(super) fn names_exactly(&self, person: Person<'_>, naming: Naming) -> bool {
        self.0.iter().any(|entry| is_meant(entry, person, naming))
    }

    /// Tells whether it holds one of the roles that somebody has.
    pub(super) fn holds_role(&self, roles: &[String]) -> bool {
        let bare = self.0.iter().map(|entry| {
            let inner = entry.strip_prefix("<@&").and_then(|e| e.strip_suffix('>'));
            let entry = inner.unwrap_or(entry);
            strip(entry, ROLE).unwrap_or(entry)
        });
        let mut bare = bare;
        bare.any(|entry| entry == ANYBODY || roles.iter().any(|role| same(entry, role)))
    }
}

/// Tells whether an entry of a list means somebody: by the id, with or without the words that may stand before it.
fn is_meant(entry: &str, person: Person<'_>, naming: Naming) -> bool {
    if person.id.is_empty() || entry == ANYBODY {
        return false;
    }
    let bare = bare_id(entry, person.channel);
    if same(bare, person.id) {
        return true;
    }
    let named = || {
        person
            .shown
            .into_iter()
            .chain(person.names.iter().map(String::as_str))
    };
    naming == Naming::Names && named().any(|name| is_same_name(bare, name))
}

/// Takes off what an id may be written with: the network's name, `user:`, the signs of a mention.
pub(super) fn bare_id<'a>(entry: &'a str, channel: &str) -> &'a str {
    let mut rest = trim_js(entry);
    if let Some(own) = rest.get(..channel.len())
        && !channel.is_empty()
        && same(own, channel)
        && rest[channel.len()..].starts_with(':')
    {
        rest = trim_js(&rest[channel.len() + 1..]);
    }
    rest = strip(rest, USER).map_or(rest, trim_js);
    let mention = rest
        .strip_prefix("<@")
        .and_then(|rest| rest.strip_suffix('>'));
    mention.map_or(rest, |id| id.trim_start_matches('!'))
}

/// Compares names as people write them: without a sign before it, whatever the case.
pub(super) fn is_same_name(entry: &str, name: &str) -> bool {
    let plain = |text: &str| trim_js(text).trim_start_matches('@').to_lowercase();
    let name = plain(name);
    !name.is_empty() && plain(entry) == name
}

/// Compares ids: their case does not count on any network.
pub(super) fn same(one: &str, other: &str) -> bool {
    !one.is_empty() && one.eq_ignore_ascii_case(trim_js(other))
}

fn strip<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let start = text.get(..prefix.len())?;
    start
        .eq_ignore_ascii_case(prefix)
        .then(|| &text[prefix.len()..])
}
