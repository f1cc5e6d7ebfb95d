//! One session begins another: whether it may, and what that comes to (R30–R33).

use super::announce::{AnnounceWish, Announcing};
use super::child::{Draft, Spawned};
use super::request::SpawnContext;
use super::tree::{NodeState, RunNode};
use super::{
    AttachmentLimits, SessionCapabilities, SpawnLimits, SpawnRefusal, SpawnRequest, attachments,
};
use crate::gateway::{Gateway, Inner};
use crate::jobs::{ChildRun, Job};
use chitin_guard::Root;
use chitin_protocol::agent_id::AgentId;
use chitin_protocol::session_key::SessionKey;
use chitin_store::SessionEntry;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What is said where the next process of the server has to begin the run.
const RESTARTS: &str = "The server restarts and did not begin it. Call the tool again.";
/// How large a parent's conversation may be to be copied, when nothing is configured (R33).
const FORK_TOKENS: u64 = 100_000;

/// Who begins a child.
pub(crate) struct Parent {
    pub(crate) key: String,
    pub(crate) agent: AgentId,
    depth: u32,
    pub(crate) entry: Option<SessionEntry>,
    /// The job whose turn calls.
    pub(crate) job: Option<Arc<Job>>,
    pub(crate) limits: SpawnLimits,
}

impl Gateway {
    /// Begins a child of a session. When this returns, the child's job is on the disk.
    pub async fn spawn(
        &self,
        parent_key: &str,
        request: SpawnRequest,
    ) -> Result<Spawned, SpawnRefusal> {
        self.0.spawn(parent_key, request).await
    }
}

impl Inner {
    async fn spawn(
        self: &Arc<Self>,
        parent_key: &str,
        request: SpawnRequest,
    ) -> Result<Spawned, SpawnRefusal> {
        let plan = request.plan()?;
        let parent = self.parent(parent_key)?;
        let target = target(&parent, &request)?;
        let files = attachments::check(
            &request.attachments,
            &AttachmentLimits::read(&self.parts.config),
        )?;
        let workspace = self.child_workspace(&parent, &target, request.workspace.as_deref())?;
        let home = match &workspace {
            Some(workspace) => workspace.clone(),
            None => self.workspace_of(target.as_str())?,
        };
        let directory = directory(&home, request.cwd.as_deref())?;
        if plan.context == SpawnContext::Fork {
            self.may_fork(&parent, &target)?;
        }
        let child_key = format!("agent:{target}:subagent:{}", self.parts.clock.unique());
        let wish = AnnounceWish {
            expects_completion_message: request.expects_completion_message,
            action: request.action.clone(),
        };
        let settings = self.parts.host.subagents(parent.agent.as_str());
        let announcing = Announcing::resolve(&wish, &settings);
        let origin = parent.job.as_ref().and_then(|job| job.deliver.clone());
        let run = ChildRun {
            run_id: self.parts.clock.unique(),
            parent_key: parent_key.to_owned(),
            depth: parent.depth + 1,
            label: plan.label.clone(),
            task: plan.task.clone(),
            mode: plan.mode,
            cleanup: plan.cleanup,
            expects_completion: announcing.expects_completion_message,
            action: announcing.action,
            bound: None,
            origin,
            progress: request.progress.unwrap_or(false),
            workspace: directory,
            workspace_root: workspace,
            prompt: None,
            thinking: request.thinking.clone(),
            forked: plan.context == SpawnContext::Fork,
            target: plan.target,
            sender: parent.job.as_ref().and_then(|job| job.sender.clone()),
        };
        let draft = Draft {
            inner: Arc::clone(self),
            parent,
            target,
            child_key,
            request,
            plan,
            home,
            run,
        };
        self.reserve(&draft)?;
        // A task of its own: whoever asked may be stopped meanwhile, and nothing is left half done.
        let inner = Arc::clone(self);
        let here = self.turnstile.pass().await;
        let here = here.ok_or_else(|| SpawnRefusal::error(RESTARTS))?;
        let begun = self.tasks.spawn(async move {
            let child_key = draft.child_key.clone();
            let begun = draft.begin(files).await;
            drop(here);
            if begun.is_err() {
                inner.tree.lock().remove(&child_key);
            }
            begun
        });
        begun.await.map_err(|error| broken(&error))?
    }

    /// Finds out who asks, and whether it may begin anything.
    fn parent(&self, key: &str) -> Result<Parent, SpawnRefusal> {
        let grammar = self.parts.contract.session_keys;
        let parsed = SessionKey::parse(key, grammar);
        let agent = match parsed {
            Some(parsed) => parsed.agent(),
            None => self
                .routing
                .default_agent()
                .map_err(|error| SpawnRefusal::error(error.to_string()))?,
        };
        let entry = self.entry(agent.as_str(), key);
        let depth = self.depth_of(entry.as_ref(), key);
        let limits = self.spawn_limits(agent.as_str());
        if self.turnstile.has_left() {
            return Err(SpawnRefusal::error(RESTARTS));
        }
        if self.closing.load(Ordering::Relaxed) {
            return Err(SpawnRefusal::error(
                "The gateway is about to end and begins nothing more.",
            ));
        }
        if !SessionCapabilities::at(depth, limits.max_depth).can_spawn {
            return Err(SpawnRefusal::forbidden(format!(
                "This session is {depth} deep, and children go no deeper than {} (`maxSpawnDepth`). Do the task here.",
                limits.max_depth
            )));
        }
        let job = self.busy.lock().get(key).and_then(|session| {
            let active = session.active.as_ref()?;
            Some(Arc::clone(&active.job))
        });
        Ok(Parent {
            key: key.to_owned(),
            agent,
            depth,
            entry,
            job,
            limits,
        })
    }

    /// Takes one of the places that a session has for children.
    fn reserve(&self, draft: &Draft) -> Result<(), SpawnRefusal> {
        let (parent, run) = (&draft.parent, &draft.run);
        let open = self.open.load(Ordering::Relaxed);
        if open >= self.parts.most_open {
            return Err(SpawnRefusal::error(format!(
                "{open} jobs are already open, the maximum. Try again later."
            )));
        }
        let mut nodes = self.tree.lock();
        let (at_work, most) = (nodes.at_work(&parent.key), parent.limits.max_children);
        if at_work >= most as usize {
            return Err(SpawnRefusal::forbidden(format!(
                "This session has {at_work} children at work, and {most} are allowed (`maxChildrenPerAgent`). Wait until one is done."
            )));
        }
        nodes.put(
            &draft.child_key,
            RunNode {
                agent_id: draft.target.to_string(),
                job_id: run.run_id.clone(),
                run: Arc::new(run.clone()),
                state: NodeState::Runs,
                quiet: false,
                since_ms: self.parts.clock.now_ms(),
            },
        );
        Ok(())
    }

    fn workspace_of(&self, agent_id: &str) -> Result<String, SpawnRefusal> {
        let agents = self.parts.host.agents();
        let found = agents.into_iter().find(|agent| agent.id == agent_id);
        let found = found.map(|agent| agent.workspace);
        found.ok_or_else(|| SpawnRefusal::error(format!("There is no agent `{agent_id}`.")))
    }

    /// Says why a parent's conversation cannot be copied, if it cannot (R33).
    fn may_fork(&self, parent: &Parent, target: &AgentId) -> Result<(), SpawnRefusal> {
        if *target != parent.agent {
            return Err(SpawnRefusal::error(format!(
                "`context: \"fork\"` copies a conversation within one agent, and `{target}` is another."
            )));
        }
        let Some(entry) = &parent.entry else {
            return Err(SpawnRefusal::error(
                "There is no conversation yet that a child could begin with.",
            ));
        };
        let said = &self.parts.config["session"]["parentForkMaxTokens"];
        let most = said.as_u64().unwrap_or(FORK_TOKENS);
        let tokens = entry.total_tokens.unwrap_or_default();
        if most > 0 && tokens > most {
            return Err(SpawnRefusal::error(format!(
                "This conversation has {tokens} tokens, and one of more than {most} is not copied (`session.parentForkMaxTokens`). Use `context: \"isolated\"` and say in the task what the child has to know."
            )));
        }
        Ok(())
    }
}

/// Finds the agent that the child is of.
fn target(parent: &Parent, request: &SpawnRequest) -> Result<AgentId, SpawnRefusal> {
    let named = request.agent_id.as_deref().map(str::trim);
    let target = match named.filter(|name| !name.is_empty()) {
        Some(name) => AgentId::normalize(name),
        None if parent.limits.require_agent_id => {
            return Err(SpawnRefusal::forbidden(
                "Say of which agent the child is, in `agentId` (`requireAgentId` is set). `agents_list` lists them.",
            ));
        }
        None => parent.agent.clone(),
    };
    if !parent.limits.allow_agents.allow(&target, &parent.agent) {
        return Err(SpawnRefusal::forbidden(format!(
            "`{}` may not begin children of `{target}` (`allowAgents`).",
            parent.agent
        )));
    }
    Ok(target)
}

/// Returns the directory that a child works in, when that is not its agent's workspace. It is inside of that, and no link
/// leads out of it.
fn directory(home: &str, wanted: Option<&str>) -> Result<Option<String>, SpawnRefusal> {
    let wanted = wanted.map(str::trim).filter(|wanted| !wanted.is_empty());
    let Some(wanted) = wanted else {
        return Ok(None);
    };
    let outside = || {
        SpawnRefusal::forbidden(format!(
            "`{wanted}` is not a directory inside of the workspace that the child works in."
        ))
    };
    let path = Path::new(wanted);
    let relative = path.strip_prefix(home).unwrap_or(path);
    if relative.as_os_str().is_empty() {
        return Ok(None);
    }
    let relative = relative.to_str().and_then(attachments::inside);
    let relative = relative.ok_or_else(outside)?;
    let root = Root::open(Path::new(home)).map_err(|error| broken(&error))?;
    let entered = root.enter(&relative).map_err(|_| outside())?;
    Ok(Some(entered.path().to_string_lossy().into_owned()))
}

pub(crate) fn broken(error: &dyn std::fmt::Display) -> SpawnRefusal {
    SpawnRefusal::error(format!("The child could not be begun: {error}."))
}
