//! Reading kept state.

use super::compat::{FACTS_FILE, NOTES_DIRECTORY};
use super::conversation::ConversationMessage;
use super::entry::StateEntry;
use super::name::{Name, NameError};
use crate::adapter::{AdapterWarning, Sections, TextFile, system_prompt};
use chitin_guard::{LinkPolicy, ReadError, Root, WriteError};
use jiff::civil::Date;
use serde::Serialize;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// How many agents are looked at.
const MAX_AGENTS: usize = 1_000;

/// Why state was not read or not written. Nothing was changed.
#[derive(Debug, Error)]
pub enum StateError {
    /// A name is refused.
    #[error(transparent)]
    Name(#[from] NameError),
    /// An entry cannot be written as it is.
    #[error("the entry is refused: {reason}")]
    Entry {
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A file is there and cannot be read, so it is not rewritten either.
    #[error(transparent)]
    Unreadable(AdapterWarning),
    /// The state directory cannot be opened.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The write failed.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// Whose memory: one user with one agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner<'a> {
    user: Name<'a>,
    agent: Name<'a>,
}

impl<'a> Owner<'a> {
    /// Takes the names of a user and an agent.
    pub fn new(user: &'a str, agent: &'a str) -> Result<Self, NameError> {
        Ok(Self {
            user: Name::user(user)?,
            agent: Name::agent(agent)?,
        })
    }

    pub(super) fn directory(self) -> PathBuf {
        ["users", self.user.as_str(), "agents", self.agent.as_str()]
            .iter()
            .collect()
    }

    /// Returns where the facts are, relative to the state directory.
    pub fn facts_file(self) -> PathBuf {
        self.directory().join(FACTS_FILE)
    }

    /// Returns where the notes of a day are, relative to the state directory.
    pub fn notes_file(self, day: Date) -> PathBuf {
        self.notes_directory().join(format!("{day}.md"))
    }

    pub(super) fn notes_directory(self) -> PathBuf {
        self.directory().join(NOTES_DIRECTORY)
    }
}

/// The rules that hold for a user and an agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StateRules {
    /// The four texts as one prompt.
    pub system_prompt: String,
    /// The text of `IDENTITY.md`.
    pub identity: String,
    /// The text of `SOUL.md`.
    pub persona: String,
    /// The text of `USER.md`.
    pub user_profile: String,
    /// The text of `AGENTS.md`.
    pub operating_rules: String,
    /// What was there and could not be read.
    pub warnings: Vec<AdapterWarning>,
}

/// Reads what is kept beneath one directory.
#[derive(Debug)]
pub struct State {
    root: Root,
}

impl State {
    /// Opens a state directory.
    pub fn open(directory: &Path) -> Result<Self, StateError> {
        Ok(Self {
            root: Root::open(directory)?,
        })
    }

    /// Returns the rules: an agent's own files before those of the root, and of a user only the user's own profile.
    pub fn rules(&self, user: Option<&str>, agent: Option<&str>) -> Result<StateRules, StateError> {
        let agent_directory = match agent {
            Some(agent) => Some(Path::new("agents").join(Name::agent(agent)?.as_str())),
            None => None,
        };
        let user_file = match user {
            Some(user) => Path::new("users")
                .join(Name::user(user)?.as_str())
                .join("USER.md"),
            None => PathBuf::from("USER.md"),
        };
        let mut warnings = Vec::new();
        let mut own_or_root = |name: &str| {
            let own = agent_directory
                .as_ref()
                .map_or(TextFile::Absent, |directory| {
                    TextFile::read(&self.root, &directory.join(name))
                });
            match own {
                TextFile::Absent => TextFile::read(&self.root, Path::new(name)),
                TextFile::Text(_) | TextFile::Unreadable(_) => own,
            }
            .text_or_empty(&mut warnings)
        };
        let identity = own_or_root("IDENTITY.md");
        let persona = own_or_root("SOUL.md");
        let operating_rules = own_or_root("AGENTS.md");
        let user_profile = TextFile::read(&self.root, &user_file).text_or_empty(&mut warnings);
        Ok(StateRules {
            system_prompt: system_prompt(Sections {
                identity: &identity,
                persona: &persona,
                user_profile: &user_profile,
                operating_rules: &operating_rules,
            }),
            identity,
            persona,
            user_profile,
            operating_rules,
            warnings,
        })
    }

    /// Returns the facts, oldest first.
    pub fn facts(&self, owner: Owner<'_>) -> Result<Vec<StateEntry>, StateError> {
        Ok(StateEntry::parse_all(&self.text(&owner.facts_file())?))
    }

    /// Returns the notes of a day, oldest first.
    pub fn notes(&self, owner: Owner<'_>, day: Date) -> Result<Vec<StateEntry>, StateError> {
        Ok(StateEntry::parse_all(&self.text(&owner.notes_file(day))?))
    }

    /// Returns the other agents that keep something about the same user here.
    pub fn other_agents(&self, owner: Owner<'_>) -> Result<Vec<String>, StateError> {
        let own = owner.directory();
        let agents = own.parent().unwrap_or(&own);
        let entries = match self.root.list(agents, &LinkPolicy::Refuse, MAX_AGENTS) {
            Ok(entries) => entries,
            Err(ReadError::Missing { .. }) => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        };
        let names = entries.into_iter().map(|entry| entry.name.into_string());
        let mut names: Vec<String> = names.filter_map(Result::ok).collect();
        names.retain(|name| *name != owner.agent.as_str() && Name::agent(name).is_ok());
        names.sort_unstable();
        Ok(names)
    }

    /// Returns a conversation.
    pub fn conversation(
        &self,
        agent: &str,
        session: &str,
    ) -> Result<Vec<ConversationMessage>, StateError> {
        Ok(ConversationMessage::parse_all(
            &self.text(&conversation_file(agent, session)?)?,
        ))
    }

    fn text(&self, relative: &Path) -> Result<String, StateError> {
        read_text(&self.root, relative)
    }
}

/// The most bytes of one file of kept state: conversations grow.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Reads a file that may be absent; one that is there and gives no text is an error.
pub(super) fn read_text(root: &Root, relative: &Path) -> Result<String, StateError> {
    match TextFile::read_up_to(root, relative, MAX_BYTES) {
        TextFile::Absent => Ok(String::new()),
        TextFile::Text(text) => Ok(text),
        TextFile::Unreadable(warning) => Err(StateError::Unreadable(warning)),
    }
}

/// Returns where a conversation is, relative to the state directory.
pub(super) fn conversation_file(agent: &str, session: &str) -> Result<PathBuf, NameError> {
    let (agent, session) = (Name::agent(agent)?, Name::session(session)?);
    Ok(["agents", agent.as_str(), "sessions"]
        .iter()
        .collect::<PathBuf>()
        .join(format!("{}.jsonl", session.as_str())))
}
