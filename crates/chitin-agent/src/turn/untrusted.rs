//! The untrusted text of a turn: known from its records, and from the files in its context.
//!
//! Nothing is looked up before the first tool is called: until then nothing could be done about it.

use super::{Running, TurnError};
use crate::compat;
use crate::origins::{self, of_injected};
use crate::source::RecalledPath;
use chitin_contract::CANONICAL;
use chitin_protocol::origin::{Origin, add_origins};
use chitin_protocol::transcript::EntryBody;
use chitin_tools::policy::{WRITING, normalize_name};
use chitin_tools::untrusted::OwnFiles;
use chitin_tools::{Rights, Untrusted};
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;

/// Where untrusted text of a turn comes from, as far as it was looked for.
#[derive(Default)]
pub(crate) struct TurnOrigins {
    found: Vec<Origin>,
    /// How many records were looked at.
    records: usize,
    /// Whether the files in the context were.
    has_files: bool,
}

impl Running<'_> {
    /// Brings the origins up to date with the records.
    pub(super) async fn look_for_origins(&mut self) {
        let rules = &self.agent.parts.untrusted;
        let entries = self.conversation.entries();
        let new = entries.get(self.origins.records..).unwrap_or(entries);
        let mut found = origins::origins_of(new);
        self.origins.records = entries.len();
        if !self.origins.has_files {
            self.origins.has_files = true;
            found.extend(self.origins_of_files().await);
        }
        found.retain(|origin| !rules.trusts(origin));
        add_origins(&mut self.origins.found, &found);
    }

    /// Returns the origins of files in the context, injected or recalled. Those that the agent is made of are the owner's.
    async fn origins_of_files(&self) -> Vec<Origin> {
        let workspace = self.agent.parts.workspace.clone();
        let records = self.request.prepared.context.files.records.iter();
        let mut paths: Vec<PathBuf> = records.map(|record| record.path.clone()).collect();
        let mut found = Vec::new();
        for recalled in &self.request.recalled {
            match recalled {
                RecalledPath::Note(path) => paths.push(workspace.join(path)),
                RecalledPath::Conversation { path, origins } => {
                    let rules = &self.agent.parts.untrusted;
                    found.extend(rules.of_session(path, origins.clone()));
                }
            }
        }
        let files = Arc::clone(&self.agent.parts.files);
        let looking = tokio::task::spawn_blocking(move || of_injected(&*files, &workspace, &paths));
        found.extend(looking.await.unwrap_or_default());
        found
    }

    /// Returns the origins that the session has from here on. What only files brought is stored: they may be gone when the next turn
    /// begins, and what the model made of them is not.
    pub(super) async fn origins_at_end(&mut self) -> Result<Vec<Origin>, TurnError> {
        self.look_for_origins().await;
        let stored = origins::origins_of(self.conversation.entries());
        let known = &self.origins.found;
        let new: Vec<&Origin> = known.iter().filter(|one| !stored.contains(one)).collect();
        if !new.is_empty() {
            let record = EntryBody::Custom {
                custom_type: compat::ORIGINS.to_owned(),
                data: Some(json!({ compat::ORIGINS: new })),
            };
            self.store(vec![record]).await?;
        }
        Ok(self.origins.found.clone())
    }

    /// Returns what a call may do at this moment.
    pub(super) fn rights(&self) -> Rights {
        Rights {
            guest: self.identity.guest,
            untrusted: Untrusted {
                origins: self.origins.found.clone(),
                rules: Arc::clone(&self.agent.parts.untrusted),
                files: Arc::clone(&self.agent.parts.files),
                commands: Arc::clone(&self.agent.parts.commands),
            },
        }
    }

    /// Returns the untrusted origins that are known.
    pub(super) fn known_origins(&self) -> &[Origin] {
        &self.origins.found
    }

    /// Returns the moment before a call that may change files. What there is then is known, if there is untrusted text.
    pub(super) async fn before_changes(&self) -> i64 {
        let files = Arc::clone(&self.agent.parts.files);
        if !self.origins.found.is_empty() {
            let looking = Arc::clone(&files);
            // Where it fails, more counts as new than is.
            let _ = tokio::task::spawn_blocking(move || looking.remember()).await;
        }
        files.moment()
    }

    /// Takes down what commands changed that are held for the sake of untrusted text and still run, in whatever session: nobody waits for
    /// their end.
    pub(super) async fn take_down_background(&self) {
        if let Some(since) = self.agent.parts.commands.held_since() {
            self.take_down(since, OwnFiles::TakenDown).await;
        }
    }

    /// Takes down which files a call changed since a moment, if that was done with untrusted text.
    pub(super) async fn take_down_changes(&self, since: i64, tool: &str) {
        if self.origins.found.is_empty() {
            return;
        }
        let tool = normalize_name(&CANONICAL.runtime.tools, tool);
        let own = if WRITING.contains(&tool.as_str()) {
            OwnFiles::Approved
        } else {
            OwnFiles::TakenDown
        };
        self.take_down(since, own).await;
    }

    async fn take_down(&self, since: i64, own: OwnFiles) {
        let files = Arc::clone(&self.agent.parts.files);
        let recording = tokio::task::spawn_blocking(move || files.record(since, own));
        let recorded = recording
            .await
            .unwrap_or_else(|error| Err(error.to_string()));
        if let Err(error) = recorded {
            let note = format!(
                "could not note which files were written from untrusted text, so all count as such: {error}"
            );
            self.sink.note(&note).await;
        }
    }
}
