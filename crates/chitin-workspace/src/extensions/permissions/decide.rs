//! Decisions: a message, the time and what was used so far in; admitted or refused out.

use super::pattern::{Match, Pattern};
use super::policy::{PermissionPolicy, Permissions, PolicyRule};
use crate::adapter::text::is_blank;
use chitin_protocol::text::utf16_len;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use std::collections::VecDeque;

/// The most bytes of tool arguments that are screened; more are refused unread.
const SCREENED_ARGUMENTS: usize = 1 << 20;

/// A message that asks to be let in.
#[derive(Debug, Clone, Copy)]
pub struct PermissionRequest<'a> {
    /// The text.
    pub message: &'a str,
    /// The roles that the caller holds.
    pub roles: &'a [&'a str],
    /// When it came.
    pub now: Timestamp,
}

/// What one caller has used so far. Keep one per user, or per session where there is no user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallerUsage {
    /// When messages were let through, oldest first.
    pub recent: VecDeque<Timestamp>,
    /// How many are under way.
    pub in_flight: u32,
    /// Why the kill switch was pulled, when it was.
    pub killed: Option<String>,
}

impl CallerUsage {
    /// Notes that a message that was let in is done.
    pub fn finish(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }
}

/// What became of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "decision")]
pub enum MessageDecision {
    /// It may go on.
    Admit,
    /// It may not.
    Refuse {
        /// The name of the first policy that refused it.
        by: String,
        /// The key of the line that refused it, such as `deny`.
        rule: &'static str,
        /// That line, counted from one.
        line: Option<usize>,
        /// Why, in words that do not give the rule away.
        reason: String,
    },
}

/// Why a rule refuses, and which of its lines.
struct Objection {
    at: usize,
    reason: String,
}

impl Permissions {
    /// Decides about a message without counting it. The first refusal wins.
    pub fn decide(&self, request: PermissionRequest<'_>, usage: &CallerUsage) -> MessageDecision {
        self.ask(request, usage).0
    }

    /// Decides about a message and counts it: a message that passed the rate limit counts against it even when a later
    /// policy refuses it, and one that passed the concurrency limit is under way until [`CallerUsage::finish`] or a refusal.
    pub fn admit(
        &self,
        request: PermissionRequest<'_>,
        usage: &mut CallerUsage,
    ) -> MessageDecision {
        let (decision, passed) = self.ask(request, usage);
        for policy in passed {
            match policy.rule {
                PolicyRule::RateLimit { window_seconds, .. } => {
                    let since = window_start(request.now, window_seconds);
                    usage.recent.retain(|at| *at >= since);
                    usage.recent.push_back(request.now);
                }
                PolicyRule::ConcurrencyLimit { .. } if decision == MessageDecision::Admit => {
                    usage.in_flight = usage.in_flight.saturating_add(1);
                }
                PolicyRule::ConcurrencyLimit { .. }
                | PolicyRule::DenyList { .. }
                | PolicyRule::AllowList { .. }
                | PolicyRule::Authorization { .. }
                | PolicyRule::MessageLength { .. }
                | PolicyRule::TimeWindow(_)
                | PolicyRule::KillSwitch => {}
            }
        }
        decision
    }

    /// Decides about a message that no person wrote: a task of a subagent, a heartbeat, news of a run. What such messages
    /// say and for whom is judged. How long they are, how many come and when is the program's own doing: what follows from
    /// a message that was let in is finished, and schedules have hours of their own.
    pub fn decide_internal(
        &self,
        request: PermissionRequest<'_>,
        usage: &CallerUsage,
    ) -> MessageDecision {
        let applies = |policy: &&PermissionPolicy| match policy.rule {
            PolicyRule::DenyList { .. }
            | PolicyRule::Authorization { .. }
            | PolicyRule::KillSwitch => true,
            PolicyRule::AllowList { .. }
            | PolicyRule::MessageLength { .. }
            | PolicyRule::RateLimit { .. }
            | PolicyRule::ConcurrencyLimit { .. }
            | PolicyRule::TimeWindow(_) => false,
        };
        self.policies
            .iter()
            .filter(applies)
            .find_map(|policy| {
                let objection = objection(&policy.rule, request, usage)?;
                Some(refuse(policy, &objection))
            })
            .unwrap_or(MessageDecision::Admit)
    }

    /// Tells whether any rule judges replies. Where none does, they need not be held back.
    pub fn judges_replies(&self) -> bool {
        let judges = |policy: &PermissionPolicy| matches!(policy.rule, PolicyRule::DenyList { .. });
        self.policies.iter().any(judges)
    }

    /// Decides about the model's answer: only deny lists look at it.
    pub fn screen_answer(&self, answer: &str) -> MessageDecision {
        self.screen(answer)
    }

    /// Decides about the arguments of a tool call: only deny lists look at them, and very long ones are refused.
    pub fn screen_tool_arguments(&self, arguments: &str) -> MessageDecision {
        let screens =
            |policy: &&PermissionPolicy| matches!(policy.rule, PolicyRule::DenyList { .. });
        match self.policies.iter().find(screens) {
            Some(policy) if arguments.len() > SCREENED_ARGUMENTS => refuse(
                policy,
                &Objection {
                    at: 0,
                    reason: "the arguments are too long to screen".to_owned(),
                },
            ),
            _ => self.screen(arguments),
        }
    }

    fn screen(&self, text: &str) -> MessageDecision {
        for policy in &self.policies {
            if let PolicyRule::DenyList { patterns } = &policy.rule
                && let Some(objection) = denied(patterns, text)
            {
                return refuse(policy, &objection);
            }
        }
        MessageDecision::Admit
    }

    /// Returns the decision and the policies that had let the message through by then.
    fn ask(
        &self,
        request: PermissionRequest<'_>,
        usage: &CallerUsage,
    ) -> (MessageDecision, &[PermissionPolicy]) {
        for (at, policy) in self.policies.iter().enumerate() {
            if let Some(objection) = objection(&policy.rule, request, usage) {
                return (refuse(policy, &objection), &self.policies[..at]);
            }
        }
        (MessageDecision::Admit, &self.policies)
    }
}

fn refuse(policy: &PermissionPolicy, objection: &Objection) -> MessageDecision {
    MessageDecision::Refuse {
        by: policy.name.clone(),
        rule: policy.rule.key(objection.at),
        line: policy.lines.get(objection.at).copied(),
        reason: objection.reason.clone(),
    }
}

/// Returns what a rule has against a message.
fn objection(
    rule: &PolicyRule,
    request: PermissionRequest<'_>,
    usage: &CallerUsage,
) -> Option<Objection> {
    let say = |objects: bool, reason: String| objects.then_some(Objection { at: 0, reason });
    match rule {
        PolicyRule::DenyList { patterns } => denied(patterns, request.message),
        PolicyRule::AllowList { patterns } => say(
            !is_allowed(patterns, request.message),
            "it contains nothing on the allow list".to_owned(),
        ),
        PolicyRule::Authorization { roles } => roles
            .iter()
            .position(|role| !request.roles.contains(&role.as_str()))
            .map(|at| Objection {
                at,
                reason: format!("the role `{}` is required", roles[at]),
            }),
        PolicyRule::MessageLength { max_chars } => say(
            utf16_len(request.message) > *max_chars as usize,
            format!("it is longer than {max_chars} characters"),
        ),
        PolicyRule::RateLimit {
            limit,
            window_seconds,
        } => {
            let since = window_start(request.now, *window_seconds);
            let used = usage.recent.iter().filter(|at| **at >= since).count();
            say(
                used >= *limit as usize,
                format!("the limit of {limit} messages in {window_seconds} s is reached"),
            )
        }
        PolicyRule::ConcurrencyLimit { max_concurrent } => say(
            usage.in_flight >= *max_concurrent,
            format!("the limit of {max_concurrent} messages at a time is reached"),
        ),
        PolicyRule::TimeWindow(window) => say(
            !window.contains(request.now),
            "it is outside the time window".to_owned(),
        ),
        PolicyRule::KillSwitch => usage
            .killed
            .clone()
            .map(|reason| Objection { at: 0, reason }),
    }
}

/// A blank text is never denied. A search that was given up counts as found.
fn denied(patterns: &[Pattern], text: &str) -> Option<Objection> {
    if is_blank(text) {
        return None;
    }
    let at = patterns
        .iter()
        .position(|pattern| pattern.search(text) != Match::Absent)?;
    Some(Objection {
        at,
        reason: "it contains something on the deny list".to_owned(),
    })
}

/// A blank text is never allowed. A search that was given up counts as not found.
fn is_allowed(patterns: &[Pattern], text: &str) -> bool {
    !is_blank(text)
        && patterns
            .iter()
            .any(|pattern| pattern.search(text) == Match::Found)
}

fn window_start(now: Timestamp, seconds: u32) -> Timestamp {
    now.checked_sub(SignedDuration::from_secs(i64::from(seconds)))
        .unwrap_or(Timestamp::MIN)
}
