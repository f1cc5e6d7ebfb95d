//! Whether, where and when an announce is made (R44, R46–R48).

use super::action::Requester;
use crate::compat::ANNOUNCE_SKIP;
use chitin_contract::{AnnounceRules, RetryRules, UnexpectedCompletion};
use serde::Serialize;
use std::time::Duration;

/// What is known when a child is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChildEnd<'a> {
    /// Its last words.
    pub words: &'a str,
    /// Whether these mean silence, by the contract's rule for replies.
    pub is_silent: bool,
    /// Whether a message is expected.
    pub expects_message: bool,
    /// How many of its own children are not done.
    pub open_descendants: usize,
    /// Whether the parent is a child that is done and closed itself.
    pub parent_closed: bool,
}

/// What becomes of an announce.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// The parent gets a turn.
    Announce,
    /// Not yet: children of the child are not done.
    Defer,
    /// The parent gets none.
    Skip(SkipAnnounce),
}

/// Why a parent does not hear of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SkipAnnounce {
    /// Nobody expects a message.
    NotExpected,
    /// The parent is done and closed itself.
    ParentClosed,
    /// The child's words mean silence.
    Silent,
}

/// Says what becomes of an announce.
pub fn fate(child: &ChildEnd<'_>, rules: &AnnounceRules) -> Fate {
    let unexpected = match rules.unexpected {
        UnexpectedCompletion::Silent => !child.expects_message,
        UnexpectedCompletion::Announced => false,
    };
    if unexpected {
        Fate::Skip(SkipAnnounce::NotExpected)
    } else if child.parent_closed {
        Fate::Skip(SkipAnnounce::ParentClosed)
    } else if child.open_descendants > 0 {
        Fate::Defer
    } else if child.is_silent || child.words.trim() == ANNOUNCE_SKIP {
        Fate::Skip(SkipAnnounce::Silent)
    } else {
        Fate::Announce
    }
}

/// Says where the parent's reply to an announce goes; none is nowhere.
///
/// The place that the child is bound to comes before the place that the parent was asked from. A parent that nobody sees
/// speaks nowhere.
pub fn destination<P>(
    requester: Requester,
    expects_message: bool,
    bound_to_child: Option<P>,
    from_plugin: Option<P>,
    origin: Option<P>,
) -> Option<P> {
    match (requester, expects_message) {
        (Requester::Internal, _) => None,
        (Requester::Visible, true) => bound_to_child.or(from_plugin).or(origin),
        (Requester::Visible, false) => origin,
    }
}

/// Says how long to wait after the attempt of that number, counted from one; none when it is too late for another.
pub fn wait(
    attempt: u32,
    since_end: Duration,
    expects_message: bool,
    rules: &RetryRules,
) -> Option<Duration> {
    let doublings = attempt.saturating_sub(1).min(63);
    let wait = RetryRules::FIRST_MS
        .saturating_mul(1 << doublings)
        .min(rules.most_ms);
    let limit = if expects_message {
        RetryRules::EXPECTED_MS
    } else {
        RetryRules::UNEXPECTED_MS
    };
    let wait = Duration::from_millis(wait);
    (since_end.saturating_add(wait) <= Duration::from_millis(limit)).then_some(wait)
}
