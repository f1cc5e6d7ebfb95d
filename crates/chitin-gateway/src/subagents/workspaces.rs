//! Which workspace a child gets: its parent's, or one that the user allows (S11).

use super::SpawnRefusal;
use super::position::workspace_in;
use super::spawn::{Parent, broken};
use crate::gateway::Inner;
use crate::jobs::Job;
use chitin_guard::Root;
use chitin_protocol::agent_id::AgentId;
use chitin_protocol::session_key::SessionKey;
use std::path::Path;

/// The setting that lists the workspaces.
const SETTING: &str = "subagents.workspaces";

impl Inner {
    /// Returns the workspace of a child, when it is not its agent's own.
    pub(crate) fn child_workspace(
        &self,
        parent: &Parent,
        target: &AgentId,
        wanted: Option<&str>,
    ) -> Result<Option<String>, SpawnRefusal> {
        let wanted = wanted.map(str::trim).filter(|wanted| !wanted.is_empty());
        let Some(wanted) = wanted else {
            // A child of the same agent works where its parent works.
            let job = parent.job.as_ref().and_then(|job| job.child.as_ref());
            let by_job = job.and_then(|run| run.workspace_root.clone());
            let inherited = by_job.or_else(|| workspace_in(parent.entry.as_ref()?));
            return Ok(inherited.filter(|_| *target == parent.agent));
        };
        let allowed = self.parts.host.subagents(parent.agent.as_str()).workspaces;
        let Some(workspace) = allowed.iter().find(|known| is_same(known, wanted)) else {
            return Err(SpawnRefusal::forbidden(refusal(wanted, &allowed)));
        };
        Root::open(Path::new(workspace)).map_err(|error| broken(&error))?;
        Ok(Some(workspace.clone()))
    }

    /// Says why a session may not go on in its workspace: the user may have taken it off the list since the session began.
    pub(crate) fn still_allowed(&self, job: &Job, workspace: Option<&str>) -> Result<(), String> {
        let Some(workspace) = workspace else {
            return Ok(());
        };
        let parent = match &job.child {
            Some(run) => Some(run.parent_key.clone()),
            None => self
                .entry(&job.agent_id, &job.session_key)
                .and_then(|entry| entry.spawned_by),
        };
        let parsed = parent
            .as_deref()
            .and_then(|key| SessionKey::parse(key, self.parts.contract.session_keys));
        let agent = parsed.map_or_else(|| job.agent_id.clone(), |key| key.agent().to_string());
        let allowed = self.parts.host.subagents(&agent).workspaces;
        if allowed.iter().any(|known| is_same(known, workspace)) {
            return Ok(());
        }
        Err(refusal(workspace, &allowed))
    }
}

fn is_same(known: &str, wanted: &str) -> bool {
    Path::new(known) == Path::new(wanted)
}

fn refusal(wanted: &str, allowed: &[String]) -> String {
    if allowed.is_empty() {
        return format!(
            "The workspace `{wanted}` is not allowed: `{SETTING}` in `chitin.json5` lists none. Leave `workspace` out."
        );
    }
    let allowed: Vec<String> = allowed.iter().map(|known| format!("`{known}`")).collect();
    format!(
        "The workspace `{wanted}` is not allowed: `{SETTING}` in `chitin.json5` lists {}.",
        allowed.join(", ")
    )
}
