//! A job: one turn that is to be run. It is in the ledger from before anybody hears of it until it is over.

pub(crate) mod log;
mod outcome;
mod recover;

pub(crate) use outcome::merged_into;
pub use outcome::{EarlierJob, StoredOutcome};

use crate::access::ToolLimits;
use crate::queue::QueuedMessage;
use crate::subagents::announce::CompletionTarget;
use crate::surface::Address;
use crate::threads::AnswerThread;
use chitin_contract::{BoundFirstRun, SubagentRules, UnexpectedCompletion};
use chitin_protocol::event::{RefusedPart, RuleRefusal};
use chitin_protocol::message::ImageBlock;
use chitin_protocol::origin::Origin;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One turn that is to be run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// Its name; also the name of the turn, under which it happens once.
    pub id: String,
    /// The session.
    pub session_key: String,
    /// The agent.
    pub agent_id: String,
    /// What it is.
    pub kind: JobKind,
    /// What is said to the agent.
    pub words: String,
    /// What its senders wrote, message by message, where `words` holds more than that. Rules judge this.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub written: Vec<String>,
    /// Where texts in it come from that are not the owner's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub origins: Vec<Origin>,
    /// Whether somebody who can answer questions for permission listened when it was accepted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_answerable: bool,
    /// Pictures that go with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<ImageBlock>,
    /// Where it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Address>,
    /// The surface's name for the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// Who said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<Sender>,
    /// Where its words go; none means nowhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deliver: Option<Address>,
    /// The thread that its words stand in, when that is not where the message is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_thread: Option<AnswerThread>,
    /// Where the words come from, when no person said them (R25).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Value>,
    /// The model, when one is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How long it may take, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// How long after it was accepted it is tried again in outages, in milliseconds, when its sender says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_ms: Option<u64>,
    /// Whether it asks for a lightweight context.
    #[serde(default)]
    pub light: bool,
    /// Whether a new session begins with it.
    #[serde(default, rename = "afresh")]
    pub new_session: bool,
    /// When it was taken in, in milliseconds since 1970.
    pub accepted_at: i64,
    /// What is known of a run that another session began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child: Option<Box<ChildRun>>,
    /// The run that it brings news of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<Box<About>>,
}

impl Job {
    /// Begins with a message that says nothing and goes nowhere, for what the gateway makes itself.
    pub const fn new(session_key: String, agent_id: String, accepted_at: i64) -> Self {
        Self {
            id: String::new(),
            session_key,
            agent_id,
            kind: JobKind::Message,
            words: String::new(),
            written: Vec::new(),
            origins: Vec::new(),
            is_answerable: false,
            images: Vec::new(),
            from: None,
            message_id: None,
            sender: None,
            deliver: None,
            answer_thread: None,
            provenance: None,
            model: None,
            timeout_ms: None,
            retry_ms: None,
            light: false,
            new_session: false,
            accepted_at,
            child: None,
            about: None,
        }
    }

    /// Returns what its senders wrote.
    pub fn written(&self) -> Vec<String> {
        if self.written.is_empty() {
            vec![self.words.clone()]
        } else {
            self.written.clone()
        }
    }
}

/// What a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum JobKind {
    /// A user's message.
    Message,
    /// A run that another session began.
    Subagent,
    /// News of such a run for the session that began it.
    Announce,
    /// A message from another session.
    SessionSend,
    /// A heartbeat.
    Heartbeat,
    /// A scheduled job.
    Cron,
}

/// Who said it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sender {
    /// The id on the surface.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether it is the owner.
    #[serde(default)]
    pub is_owner: bool,
    /// Whether others hear and speak there, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_room: bool,
    /// What is said of the tools that they have there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Box<ToolLimits>>,
    /// What the configuration tells the agent about the room.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub room_prompt: Option<Box<str>>,
}

impl Sender {
    /// Tells whether two have the same rights. Where nobody speaks, it is as if the owner did.
    pub fn may_the_same(one: Option<&Self>, other: Option<&Self>) -> bool {
        let owns = |sender: Option<&Self>| sender.is_none_or(|sender| sender.is_owner);
        let id = |sender: Option<&Self>| {
            let sender = sender.filter(|sender| !sender.is_owner);
            sender.and_then(|sender| sender.id.clone())
        };
        let tools = |sender: Option<&Self>| sender.and_then(|sender| sender.tools.clone());
        owns(one) == owns(other) && id(one) == id(other) && tools(one) == tools(other)
    }
}

/// A run that another session began (R30–R36).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChildRun {
    /// The run's name.
    pub run_id: String,
    /// The session that began it.
    pub parent_key: String,
    /// How deep in the tree it is; its parent's is one less.
    pub depth: u32,
    /// What it is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What it is to do.
    pub task: String,
    /// Whether the session lives on after the run.
    pub mode: ChildMode,
    /// What becomes of the session after the run.
    pub cleanup: Cleanup,
    /// Whether its parent is told of its end.
    pub expects_completion: bool,
    /// The words that its parent is told what to do with, when they are not the usual ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// The place that the child is bound to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<Address>,
    /// The place of the message that led to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Address>,
    /// Whether its words go to its own thread while it works.
    #[serde(default)]
    pub progress: bool,
    /// The directory that it works in, when that is not the workspace itself but beneath it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Its workspace, when that is not its agent's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_root: Option<String>,
    /// Text for its prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// How deeply its model thinks, when its parent says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
    /// Whether it begins with a copy of its parent's conversation.
    #[serde(default)]
    pub forked: bool,
    /// For whom its result is.
    #[serde(default)]
    pub target: CompletionTarget,
    /// For whom its parent works. News of it gives nobody more rights than that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<Sender>,
}

impl ChildRun {
    /// Tells whether the child posts its own reply to its thread, because its parent does not relay it.
    pub fn posts_own_reply(&self, rules: &SubagentRules) -> bool {
        self.bound.is_some()
            && match rules.bound_first_run {
                BoundFirstRun::Child => self.mode == ChildMode::Session,
                BoundFirstRun::Parent => {
                    !self.expects_completion
                        && rules.announce.unexpected == UnexpectedCompletion::Silent
                }
            }
    }
}

/// News of a run that another session began (R40–R48).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct About {
    /// The session of the run.
    pub child_key: String,
    /// Its agent.
    pub child_agent: String,
    /// The run.
    pub run: ChildRun,
    /// When the run ended, in milliseconds since 1970.
    pub ended_at: i64,
    /// The how manieth attempt to tell of it this is, from one on.
    pub attempt: u32,
    /// When it is tried again at the earliest, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<i64>,
    /// How many attempts timed out. Each of them left a turn that was stopped, so that the next one needs another name.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub timed_out: u32,
}

const fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl About {
    /// Returns the name of this attempt's turn.
    pub(crate) fn turn_key(&self, job_id: &str) -> String {
        match self.timed_out {
            0 => job_id.to_owned(),
            count => format!("{job_id}:retry-{count}"),
        }
    }
}

/// Whether a session lives on after its first run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ChildMode {
    /// One run.
    Run,
    /// A session that others can talk to.
    Session,
}

/// What becomes of a session after its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Cleanup {
    /// It is kept.
    Keep,
    /// It goes, with its transcript.
    Delete,
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobOutcome {
    /// How.
    pub status: JobStatus,
    /// The last answer's text.
    pub text: String,
    /// What went wrong, if something did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Tokens sent, whether a cache had them or not.
    pub input_tokens: u64,
    /// Tokens answered.
    pub output_tokens: u64,
    /// How long it took, in milliseconds.
    pub runtime_ms: u64,
    /// Where texts of the session come from that are not the owner's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub origins: Vec<Origin>,
    /// The rule of the workspace that refused the message, or the last reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<Box<RefusedOutcome>>,
}

/// What a rule of the workspace refused in a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RefusedOutcome {
    /// What was refused.
    pub part: RefusedPart,
    /// The rule.
    #[serde(flatten)]
    pub by: RuleRefusal,
}

/// How a job ended, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum JobStatus {
    /// Well.
    Ok,
    /// Its time was over.
    TimedOut,
    /// Somebody stopped it.
    Stopped,
    /// Something went wrong.
    Failed,
    /// It had no turn: newer messages took its place.
    Dropped,
}

impl QueuedMessage for Job {
    fn words(&self) -> &str {
        &self.words
    }
}
