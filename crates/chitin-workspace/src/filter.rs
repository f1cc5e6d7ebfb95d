//! Which records a turn keeps (W12–W19, W55, CN6, CN10).

use crate::snapshot::Record;
use chitin_config::settings::injection;
use chitin_contract::{Contract, Filtered, GroupMemory, Lightweight, LinkedMemory};
use chitin_guard::{LinkPolicy, Root};
use chitin_protocol::record::FileRefusal;
use chitin_protocol::session_key::{self, ChatType};
use serde::Serialize;
use serde_json::Value;
use std::fmt;
use std::path::Path;

const HEARTBEAT: &str = "HEARTBEAT.md";
const BOOTSTRAP: &str = "BOOTSTRAP.md";
const MEMORY: &str = "MEMORY.md";
const USER: &str = "USER.md";

/// What is known of the turn that files are wanted for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TurnFacts<'a> {
    /// The session's key.
    pub session_key: Option<&'a str>,
    /// The session's id, which the releases test when there is no key.
    pub session_id: Option<&'a str>,
    /// Whether the run asked for a lightweight context.
    pub context_mode: ContextMode,
    /// What started the run.
    pub run_kind: RunKind,
    /// The kind of chat, when the caller knows it; otherwise the key tells.
    pub chat_type: Option<ChatType>,
    /// The value of `contextInjection`; none means `always`.
    pub context_injection: Option<&'a str>,
    /// Whether the session holds a valid first-turn marker.
    pub marked: bool,
    /// Whether the workspace's set-up is complete.
    pub setup_complete: bool,
    /// Whether this turn sets the workspace up in full.
    pub bootstrap_full: bool,
    /// Whether heartbeats are switched off for this agent, in contracts that care.
    pub heartbeat_off: bool,
    /// The exact list that a subagent gets, when configuration sets one.
    pub subagent_files: Option<&'a [String]>,
    /// The root files that are links to something else than workspace memory, in contracts that leave those out.
    pub linked_memory: &'a [&'static str],
    /// Whether the owner's memory is left out, because somebody else is answered. This rule is ours, under every contract.
    pub without_memory: bool,
}

/// How much context a run asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ContextMode {
    /// All of it.
    #[default]
    Full,
    /// As little as possible.
    Lightweight,
}

/// What started a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RunKind {
    /// A user, or anything not named below.
    #[default]
    Default,
    /// A heartbeat.
    Heartbeat,
    /// A scheduled job.
    Cron,
}

/// Whether a record came from the root's own set or was added from below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Primary,
    Extra,
}

/// Why a turn does not keep a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NotKept {
    /// The kind of session, a subagent or a scheduled job, does not get this file.
    Session,
    /// Others read along in a group or channel chat.
    GroupChat,
    /// The workspace is set up.
    SetupComplete,
    /// The run asked for a lightweight context.
    Lightweight,
    /// Heartbeats are switched off for this agent.
    HeartbeatOff,
    /// It stood in the first turn, and configuration does not repeat it.
    Continuation,
    /// Configuration injects no files at all.
    NeverInjected,
    /// It is a link to something else than workspace memory.
    LinkedMemory,
    /// It is the owner's memory, and the turn answers a guest.
    OnlyForOwner,
}

impl fmt::Display for NotKept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Session => "a session of this kind does not get it",
            Self::GroupChat => "others read along in this chat",
            Self::SetupComplete => "the workspace is set up",
            Self::Lightweight => "the run asked for a lightweight context",
            Self::HeartbeatOff => "heartbeats are switched off for this agent",
            Self::Continuation => {
                "only the first turn had it: `contextInjection` does not repeat it, and the conversation does not hold it"
            }
            Self::NeverInjected => "`contextInjection` is `never`",
            Self::LinkedMemory => "it is a link to something else than workspace memory",
            Self::OnlyForOwner => "it is only for the owner, and the turn answers a guest",
        })
    }
}

/// Answers for one turn, record by record.
#[derive(Debug)]
pub struct Filter<'a> {
    contract: &'a Contract,
    facts: &'a TurnFacts<'a>,
    directory: &'a Path,
    allowed: Allowed<'a>,
    group: bool,
}

/// What the session's kind lets through.
#[derive(Debug)]
enum Allowed<'a> {
    All,
    Listed(&'static [&'static str]),
    Configured(&'a [String]),
}

impl<'a> Filter<'a> {
    /// Prepares the answers. `directory` is the workspace, as its records spell it.
    pub fn new(contract: &'a Contract, facts: &'a TurnFacts<'a>, directory: &'a Path) -> Self {
        let filters = &contract.filters;
        let grammar = contract.session_keys;
        let key = facts.session_key.filter(|key| !key.trim().is_empty()).or(
            if filters.session_id_stands_in {
                facts.session_id
            } else {
                None
            },
        );
        let is_subagent = key.is_some_and(|key| session_key::is_subagent(key, grammar));
        let is_cron = key.is_some_and(|key| session_key::is_cron(key, grammar));
        let allowed = match (
            is_subagent,
            facts.subagent_files,
            is_cron,
            filters.cron_files,
        ) {
            (true, Some(configured), _, _) => Allowed::Configured(configured),
            (true, None, _, _) => Allowed::Listed(filters.subagent_files),
            (false, _, true, Some(listed)) => Allowed::Listed(listed),
            (false, _, true, None) | (false, _, false, _) => Allowed::All,
        };
        let chat = facts
            .chat_type
            .or_else(|| key.and_then(session_key::chat_type));
        let group = filters.group_memory == GroupMemory::Dropped
            && matches!(chat, Some(ChatType::Group | ChatType::Channel));
        Self {
            contract,
            facts,
            directory,
            allowed,
            group,
        }
    }

    /// Tells whether the turn keeps a record.
    pub fn keeps(&self, record: &Record) -> bool {
        self.judge(record).is_none()
    }

    /// Says why the turn does not keep a record; `None` when it does.
    pub fn judge(&self, record: &Record) -> Option<NotKept> {
        let kind = if record.extra {
            Kind::Extra
        } else {
            Kind::Primary
        };
        let name = &*record.name;
        if self.facts.without_memory && self.is_memory(record) {
            return Some(NotKept::OnlyForOwner);
        }
        let is_root_file = || record.path.parent() == Some(self.directory);
        let session = match self.allowed {
            Allowed::All => true,
            Allowed::Listed(names) => names.contains(&name),
            Allowed::Configured(names) => names.iter().any(|allowed| allowed == name),
        };
        if !session {
            return Some(NotKept::Session);
        }
        if self.group && name == MEMORY && is_root_file() {
            return Some(NotKept::GroupChat);
        }
        if self.facts.linked_memory.contains(&name) && is_root_file() {
            return Some(NotKept::LinkedMemory);
        }
        let hides_bootstrap =
            self.contract.filters.setup_hides_bootstrap && self.facts.setup_complete;
        if hides_bootstrap && name == BOOTSTRAP && is_root_file() {
            return Some(NotKept::SetupComplete);
        }
        self.judge_mode(name, kind)
            .or_else(|| self.judge_turn(name))
    }

    /// Tells whether a record is memory, under whichever directory of the workspace and in whichever case it is spelled.
    fn is_memory(&self, record: &Record) -> bool {
        let inside = record.path.strip_prefix(self.directory).ok();
        // Of what lies elsewhere only the name is known to mean something.
        let path = inside.unwrap_or_else(|| Path::new(record.path.file_name().unwrap_or_default()));
        let names = path
            .iter()
            .map(|name| name.to_string_lossy().to_lowercase());
        let is_memory = |name: String| ["memory.md", "user.md", "memory"].contains(&name.as_str());
        names.chain([record.name.to_lowercase()]).any(is_memory)
    }

    fn judge_mode(&self, name: &str, kind: Kind) -> Option<NotKept> {
        let filters = &self.contract.filters;
        if self.facts.context_mode == ContextMode::Full {
            let off = filters.heartbeat_switch
                && self.facts.heartbeat_off
                && self.facts.run_kind != RunKind::Heartbeat
                && kind == Kind::Primary
                && name == HEARTBEAT;
            return off.then_some(NotKept::HeartbeatOff);
        }
        if kind == Kind::Extra && filters.lightweight_extras == Filtered::No {
            return None;
        }
        let kept = match filters.lightweight {
            Lightweight::Unknown => true,
            Lightweight::HeartbeatOnly => {
                self.facts.run_kind == RunKind::Heartbeat && name == HEARTBEAT
            }
            Lightweight::Nothing => false,
        };
        (!kept).then_some(NotKept::Lightweight)
    }

    fn judge_turn(&self, name: &str) -> Option<NotKept> {
        let turns = &self.contract.turns;
        let value = self.facts.context_injection.unwrap_or(injection::ALWAYS);
        if !turns.injection_values.contains(&value) || value == injection::ALWAYS {
            return None;
        }
        if value == injection::NEVER {
            return Some(NotKept::NeverInjected);
        }
        (self.is_continuation() && !turns.continuation_files.contains(&name))
            .then_some(NotKept::Continuation)
    }

    fn is_continuation(&self) -> bool {
        use chitin_contract::ContinuationExempt;
        let exempt = match self.contract.turns.continuation_exempt {
            ContinuationExempt::Nobody => false,
            ContinuationExempt::Heartbeats => {
                self.facts.run_kind == RunKind::Heartbeat || self.facts.bootstrap_full
            }
        };
        self.facts.marked && !exempt
    }
}

/// Returns the root files of memory that are links to something else than workspace memory, in contracts that leave those out.
/// Nobody vouches for where the text of such a file comes from.
pub fn linked_memory(records: &[Record], contract: &Contract, root: &Root) -> Vec<&'static str> {
    if contract.filters.linked_memory == LinkedMemory::AsAnyLink {
        return Vec::new();
    }
    let is_foreign = |name: &&'static str| {
        let mut records = records.iter().filter(|record| !record.extra);
        // Only a link is refused as one, so that other files cost nothing.
        let refused = records.find(|record| &*record.name == *name)?.refused()?;
        let links = [
            FileRefusal::LinkNotAllowed,
            FileRefusal::OutsideRoot,
            FileRefusal::Dangling,
            FileRefusal::Loop,
        ];
        if !links.contains(&refused) {
            return None;
        }
        let end = root.walk(Path::new(name), &LinkPolicy::Anywhere).ok();
        let below =
            end.and_then(|end| Some(end.path.strip_prefix(root.real_path()).ok()?.to_owned()));
        (!below.is_some_and(|below| is_workspace_memory(&below))).then_some(*name)
    };
    [MEMORY, USER].iter().filter_map(is_foreign).collect()
}

/// The plugin that looks after memory in a release unless the configuration selects another.
const MEMORY_PLUGIN: &str = "memory-core";

/// Tells whether a turn with this `openclaw.json` asks where the text of memory comes from. The memory plugin of the release answers that;
/// without a configuration, or with the plugin off, nobody does.
#[must_use]
pub fn judges_memory(config: &Value) -> bool {
    if config.is_null() {
        return false;
    }
    let plugins = &config["plugins"];
    let selected = plugins["slots"]["memory"].as_str().map(str::trim);
    let is_selected = selected.is_none_or(|id| id.is_empty() || id == MEMORY_PLUGIN);
    let mut denied = plugins["deny"].as_array().into_iter().flatten();
    let is_denied = denied.any(|name| {
        name.as_str()
            .is_some_and(|name| name.trim() == MEMORY_PLUGIN)
    });
    let is_off = |value: &Value| *value == Value::Bool(false);
    is_selected
        && !is_denied
        && !is_off(&plugins["enabled"])
        && !is_off(&plugins["entries"][MEMORY_PLUGIN]["enabled"])
}

/// Tells whether a path below the root is one where memory of the workspace lies.
fn is_workspace_memory(path: &Path) -> bool {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    match parts.iter().map(AsRef::as_ref).collect::<Vec<&str>>()[..] {
        ["MEMORY.md" | "memory.md" | "USER.md"] => true,
        ["memory", "dreaming" | ".dreams", ..] => false,
        ["memory", .., file] => file.ends_with(".md"),
        ["users", user, "USER.md"] => {
            user.starts_with(|c: char| c.is_ascii_alphanumeric())
                && user.len() <= 128
                && user
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b))
        }
        _ => false,
    }
}

/// Returns the records that a turn keeps, in their order.
pub fn filter<'r>(
    records: &'r [Record],
    contract: &Contract,
    facts: &TurnFacts<'_>,
    directory: &Path,
) -> Vec<&'r Record> {
    let filter = Filter::new(contract, facts, directory);
    records
        .iter()
        .filter(|record| filter.keeps(record))
        .collect()
}
