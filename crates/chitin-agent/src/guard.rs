//! What may go into a turn and come out of it: the rules of a workspace's `PERMISSIONS.md`.
//!
//! In: a message, a reply or the arguments of a tool call. Out: an admission, or a refusal that names the rule. Every way
//! to an agent passes here, because the turn asks; whoever embeds an agent can hand in rules of its own.

use chitin_guard::ReadPolicy;
use chitin_protocol::event::{RefusedPart, RuleRefusal};
use chitin_workspace::adapter::LazyDefinition;
use chitin_workspace::extensions::permissions::{
    self, CONCURRENCY_LIMIT, CallerUsage, FILE, MessageDecision, PermissionRequest, Permissions,
    PermissionsError,
};
use chitin_workspace::extensions::{LiveFile, LiveText};
use jiff::Timestamp;
use serde_json::Value;
use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::slice;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;

/// How many senders are counted at once. When there are more, those who are idle are forgotten.
const MOST_SENDERS: usize = 10_000;

/// Judges what goes into a turn and comes out of it. Implementations decide quickly and without waiting for the network.
pub trait MessageGuard: Send + Sync {
    /// Lets a message in, or says why not. What comes back is held until the turn is over.
    fn admit(&self, message: &GuardedMessage<'_>) -> Result<Admission, Box<RuleRefusal>>;

    /// Says which of several messages would be refused if one turn took them together, and why. Nothing is counted.
    fn foresee(&self, messages: &[GuardedMessage<'_>]) -> Vec<Option<RuleRefusal>> {
        vec![None; messages.len()]
    }

    /// Returns what rings whenever a message that was let in is done, and another one may find room.
    fn bells(&self) -> Vec<Arc<Notify>> {
        Vec::new()
    }

    /// Tells whether replies are judged. Where they are not, they are streamed as they come.
    fn judges_replies(&self) -> bool;

    /// Says why a reply is refused, if it is.
    fn reply(&self, text: &str) -> Option<RuleRefusal>;

    /// Says why a tool call is refused, if it is.
    fn tool_call(&self, arguments: &Value) -> Option<RuleRefusal>;
}

/// A message that asks to be let in.
#[derive(Debug, Clone, Copy)]
pub struct GuardedMessage<'a> {
    /// What the model would get, framing included.
    pub whole: &'a str,
    /// Who sent it, and what exactly they wrote.
    pub origin: &'a MessageOrigin,
    /// What the adapter made of the agent's workspace. A guard that wants it for replies or tool calls keeps a clone.
    pub agent: &'a LazyDefinition,
    /// The time, in milliseconds since 1970.
    pub now_ms: i64,
    /// Whether it goes into a turn of the same sender that runs. Such a message is no other turn under way.
    pub joins: bool,
}

/// Who sent a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MessageOrigin {
    /// Whether a person sent it.
    pub kind: OriginKind,
    /// The sender's role.
    pub role: SenderRole,
    /// The sender's name for counting, such as `discord:1815`. The owner is counted as one, whatever the channel.
    pub sender: Option<String>,
    /// What was written, message by message, where the turn's text holds more than that.
    pub written: Vec<String>,
}

/// What sent a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OriginKind {
    /// A person, or a program that speaks for one.
    #[default]
    Person,
    /// This program: a subagent's task, an announcement, a heartbeat, a scheduled job.
    Internal,
}

/// The role of a sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SenderRole {
    /// Owns the agent.
    #[default]
    Owner,
    /// May talk to it.
    Guest,
}

impl SenderRole {
    /// Returns the name that `require-role` knows it by.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Guest => "guest",
        }
    }
}

/// A message that was let in. Dropping it says that its turn is over.
#[derive(Default)]
pub struct Admission(Option<Box<dyn FnOnce() + Send>>);

impl Admission {
    /// Does something when the turn is over.
    pub fn until(finish: impl FnOnce() + Send + 'static) -> Self {
        Self(Some(Box::new(finish)))
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        if let Some(finish) = self.0.take() {
            finish();
        }
    }
}

impl fmt::Debug for Admission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Admission")
    }
}

/// Tells whether a message is refused only because so many of its sender are under way: it may be let in when one of them is done.
pub fn is_for_now(refusal: &RuleRefusal) -> bool {
    refusal.rule == CONCURRENCY_LIMIT
}

/// Lets everything pass.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoRules;

impl MessageGuard for NoRules {
    fn admit(&self, _: &GuardedMessage<'_>) -> Result<Admission, Box<RuleRefusal>> {
        Ok(Admission::default())
    }

    fn judges_replies(&self) -> bool {
        false
    }

    fn reply(&self, _: &str) -> Option<RuleRefusal> {
        None
    }

    fn tool_call(&self, _: &Value) -> Option<RuleRefusal> {
        None
    }
}

/// Several guards as one: what any of them refuses is refused.
pub struct AllGuards(Vec<Arc<PermissionGuard>>);

impl AllGuards {
    /// Takes the guards, in the order in which they are asked.
    pub fn new(guards: Vec<PermissionGuard>) -> Self {
        Self(guards.into_iter().map(Arc::new).collect())
    }

    /// Adds a guard. Those that are there already go on counting together, wherever they are asked.
    #[must_use]
    pub fn and(&self, guard: PermissionGuard) -> Self {
        let guards = self.0.iter().cloned();
        Self(guards.chain([Arc::new(guard)]).collect())
    }
}

impl MessageGuard for AllGuards {
    fn admit(&self, message: &GuardedMessage<'_>) -> Result<Admission, Box<RuleRefusal>> {
        // A message that one of them refuses does not count for the others either.
        if let Some(refusal) = self.foresee(slice::from_ref(message)).pop().flatten() {
            return Err(Box::new(refusal));
        }
        let admitted = self.0.iter().map(|guard| guard.admit(message));
        let admitted = admitted.collect::<Result<Vec<_>, _>>()?;
        Ok(Admission::until(move || drop(admitted)))
    }

    fn foresee(&self, messages: &[GuardedMessage<'_>]) -> Vec<Option<RuleRefusal>> {
        let mut all = vec![None; messages.len()];
        for guard in &self.0 {
            for (known, found) in all.iter_mut().zip(guard.foresee(messages)) {
                *known = known.take().or(found);
            }
        }
        all
    }

    fn bells(&self) -> Vec<Arc<Notify>> {
        self.0.iter().flat_map(|guard| guard.bells()).collect()
    }

    fn judges_replies(&self) -> bool {
        self.0.iter().any(|guard| guard.judges_replies())
    }

    fn reply(&self, text: &str) -> Option<RuleRefusal> {
        self.0.iter().find_map(|guard| guard.reply(text))
    }

    fn tool_call(&self, arguments: &Value) -> Option<RuleRefusal> {
        self.0.iter().find_map(|guard| guard.tool_call(arguments))
    }
}

/// The rules of one workspace's `PERMISSIONS.md`, as the file is at the moment of asking. One guard serves all turns of an
/// agent, so that limits count across its sessions. A file that cannot be used allows nothing.
pub struct PermissionGuard {
    agent: String,
    /// What refusals call the file.
    shown: String,
    file: LiveFile<Rules>,
    usage: Arc<Mutex<HashMap<String, CallerUsage>>>,
    /// Rings when a message that was counted is done.
    bell: Arc<Notify>,
}

/// What the file asks for.
enum Rules {
    None,
    Use(Permissions),
    Broken(RuleRefusal),
}

impl PermissionGuard {
    /// Guards the agent of a workspace. Nothing is read yet.
    pub fn new(directory: &Path, agent: &str, policy: ReadPolicy) -> Self {
        Self {
            agent: agent.to_owned(),
            shown: FILE.to_owned(),
            file: LiveFile::new(directory, FILE, policy),
            usage: Arc::default(),
            bell: Arc::default(),
        }
    }

    /// Guards an agent by the rules of a workspace that is not its own. Refusals name the directory, and not its path, which
    /// is nobody's business but the owner's.
    pub fn of_other(directory: &Path, agent: &str, policy: ReadPolicy) -> Self {
        let name = directory.file_name().unwrap_or(directory.as_os_str());
        Self {
            shown: format!("{}/{FILE}", name.to_string_lossy()),
            ..Self::new(directory, agent, policy)
        }
    }

    /// Says in which file a rule stands.
    fn refused(&self, decision: MessageDecision) -> Option<RuleRefusal> {
        match decision {
            MessageDecision::Admit => None,
            MessageDecision::Refuse {
                by,
                rule,
                line,
                reason,
            } => Some(RuleRefusal {
                rule: rule.to_owned(),
                policy: Some(by),
                line,
                reason,
                ..self.refusal()
            }),
        }
    }

    fn refusal(&self) -> RuleRefusal {
        RuleRefusal {
            file: self.shown.clone(),
            rule: String::new(),
            policy: None,
            line: None,
            column: None,
            reason: String::new(),
        }
    }

    /// Where the file is broken. What stands there is not told: it may be what nobody is to see.
    fn broken(&self, error: &PermissionsError) -> RuleRefusal {
        let position = error.position;
        RuleRefusal {
            rule: "unusable".to_owned(),
            line: Some(position.line),
            column: Some(position.column),
            reason: "this line cannot be understood, so nothing is allowed; `chitin check` says what is wrong"
                .to_owned(),
            ..self.refusal()
        }
    }

    fn rules(&self) -> Arc<Rules> {
        self.file.get(|text| match text {
            LiveText::Absent => Rules::None,
            LiveText::Unreadable(reason) => Rules::Broken(RuleRefusal {
                rule: "unreadable".to_owned(),
                reason: format!("the file cannot be used ({reason}), so nothing is allowed"),
                ..self.refusal()
            }),
            LiveText::Text(text) => match permissions::parse(text, &self.agent) {
                Ok(permissions) => Rules::Use(permissions),
                Err(error) => Rules::Broken(self.broken(&error)),
            },
        })
    }

    fn admit_person(
        &self,
        rules: &Permissions,
        message: &GuardedMessage<'_>,
    ) -> Result<Admission, Box<RuleRefusal>> {
        let mut all = self.usage.lock().unwrap_or_else(PoisonError::into_inner);
        let name = counted_as(message.origin);
        if all.len() >= MOST_SENDERS && !all.contains_key(&name) {
            all.retain(|_, usage| usage.in_flight > 0);
        }
        let usage = all.entry(name.clone()).or_default();
        let before = usage.in_flight;
        if let Some(refusal) = self.count(rules, message, usage) {
            return Err(Box::new(refusal));
        }
        if usage.in_flight == before {
            return Ok(Admission::default());
        }
        drop(all);
        let (all, bell) = (Arc::clone(&self.usage), Arc::clone(&self.bell));
        Ok(Admission::until(move || {
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(usage) = all.get_mut(&name) {
                usage.finish();
            }
            drop(all);
            bell.notify_waiters();
        }))
    }

    /// Judges a person's message and counts it: as one turn, and once for each text that it holds. One that is refused leaves
    /// the counts as they were.
    fn count(
        &self,
        rules: &Permissions,
        message: &GuardedMessage<'_>,
        usage: &mut CallerUsage,
    ) -> Option<RuleRefusal> {
        let origin = message.origin;
        let held = [origin.role.as_str()];
        let whole = [message.whole.to_owned()];
        let written = match origin.written.as_slice() {
            [] => &whole,
            written => written,
        };
        let others = usage.in_flight.saturating_sub(message.joins.into());
        let mut counted = usage.clone();
        for text in written {
            counted.in_flight = others;
            let request = request(text, &held, message.now_ms);
            if let Some(refusal) = self.refused(rules.admit(request, &mut counted)) {
                return Some(refusal);
            }
        }
        // What stands around the message is judged by what it says alone: the sender did not write it.
        if let Some(refusal) = self.refused(rules.screen_answer(message.whole)) {
            return Some(refusal);
        }
        if message.joins {
            counted.in_flight = usage.in_flight;
        }
        *usage = counted;
        None
    }

    /// Judges a message of this program, which counts for nobody.
    fn judge_internal(
        &self,
        rules: &Permissions,
        message: &GuardedMessage<'_>,
    ) -> Option<RuleRefusal> {
        let held = [message.origin.role.as_str()];
        let request = request(message.whole, &held, message.now_ms);
        self.refused(rules.decide_internal(request, &CallerUsage::default()))
    }
}

/// Returns the name under which a sender's messages are counted.
fn counted_as(origin: &MessageOrigin) -> String {
    match (&origin.sender, origin.role) {
        (Some(sender), SenderRole::Guest) => sender.clone(),
        (None, SenderRole::Guest) => "guest".to_owned(),
        (_, SenderRole::Owner) => "owner".to_owned(),
    }
}

impl MessageGuard for PermissionGuard {
    fn admit(&self, message: &GuardedMessage<'_>) -> Result<Admission, Box<RuleRefusal>> {
        match &*self.rules() {
            Rules::None => Ok(Admission::default()),
            Rules::Broken(refusal) => Err(Box::new(refusal.clone())),
            Rules::Use(rules) => match message.origin.kind {
                OriginKind::Person => self.admit_person(rules, message),
                OriginKind::Internal => match self.judge_internal(rules, message) {
                    Some(refusal) => Err(Box::new(refusal)),
                    None => Ok(Admission::default()),
                },
            },
        }
    }

    fn foresee(&self, messages: &[GuardedMessage<'_>]) -> Vec<Option<RuleRefusal>> {
        let rules = self.rules();
        let mut foreseen: HashMap<String, CallerUsage> = HashMap::new();
        let mut judge = |message: &GuardedMessage<'_>| match (&*rules, message.origin.kind) {
            (Rules::None, _) => None,
            (Rules::Broken(refusal), _) => Some(refusal.clone()),
            (Rules::Use(rules), OriginKind::Internal) => self.judge_internal(rules, message),
            (Rules::Use(rules), OriginKind::Person) => {
                let name = counted_as(message.origin);
                let usage = foreseen.entry(name).or_insert_with_key(|name| {
                    let all = self.usage.lock().unwrap_or_else(PoisonError::into_inner);
                    all.get(name).cloned().unwrap_or_default()
                });
                // They are one turn, so none of them is under way before another.
                let before = usage.in_flight;
                let refusal = self.count(rules, message, usage);
                usage.in_flight = before;
                refusal
            }
        };
        messages.iter().map(&mut judge).collect()
    }

    fn bells(&self) -> Vec<Arc<Notify>> {
        vec![Arc::clone(&self.bell)]
    }

    fn judges_replies(&self) -> bool {
        match &*self.rules() {
            Rules::None => false,
            Rules::Use(rules) => rules.judges_replies(),
            Rules::Broken(_) => true,
        }
    }

    fn reply(&self, text: &str) -> Option<RuleRefusal> {
        match &*self.rules() {
            Rules::None => None,
            Rules::Use(rules) => self.refused(rules.screen_answer(text)),
            Rules::Broken(refusal) => Some(refusal.clone()),
        }
    }

    fn tool_call(&self, arguments: &Value) -> Option<RuleRefusal> {
        match &*self.rules() {
            Rules::None => None,
            Rules::Use(rules) if !rules.judges_replies() => None,
            // As JSON, quotes and line ends are spelled with a backslash; so every text in it is looked at as well.
            Rules::Use(rules) => self
                .refused(rules.screen_tool_arguments(&arguments.to_string()))
                .or_else(|| {
                    texts(arguments, &mut |text| {
                        self.refused(rules.screen_answer(text))
                    })
                }),
            Rules::Broken(refusal) => Some(refusal.clone()),
        }
    }
}

/// Calls for every text of a value, keys included, until something comes back.
fn texts<T>(value: &Value, look: &mut impl FnMut(&str) -> Option<T>) -> Option<T> {
    match value {
        Value::String(text) => look(text),
        Value::Array(values) => values.iter().find_map(|value| texts(value, look)),
        Value::Object(fields) => fields
            .iter()
            .find_map(|(name, value)| look(name).or_else(|| texts(value, look))),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

fn request<'a>(message: &'a str, roles: &'a [&'a str], now_ms: i64) -> PermissionRequest<'a> {
    PermissionRequest {
        message,
        roles,
        now: Timestamp::from_millisecond(now_ms).unwrap_or_default(),
    }
}

/// What a sender reads in place of what was refused.
pub fn sentence(part: RefusedPart, refusal: &RuleRefusal) -> String {
    let what = match part {
        RefusedPart::Message => "message",
        RefusedPart::Reply => "reply",
        RefusedPart::ToolCall => "tool call",
    };
    let place = match (refusal.line, refusal.column) {
        (Some(line), Some(column)) => format!(", line {line}, column {column}"),
        (Some(line), None) => format!(", line {line}"),
        (None, _) => String::new(),
    };
    format!(
        "`{}` refuses this {what} (rule `{}`{place}): {}.",
        refusal.file, refusal.rule, refusal.reason
    )
}

#[cfg(test)]
#[path = "guard_tests.rs"]
mod tests;
