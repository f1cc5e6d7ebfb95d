//! What follows from the end of a run that another session began: its parent is told, now, later or not at all (R40–R48).

use super::{ChildEnd, ChildOutcome, CompletionEvent, Fate, Requester, RunStats};
use crate::compat;
use crate::gateway::Inner;
use crate::jobs::log::{closing, opening};
use crate::jobs::{About, ChildMode, ChildRun, Cleanup, Job, JobKind, JobOutcome, JobStatus};
use crate::subagents::announce;
use crate::subagents::tree::{EndedRun, GOES, Leaving, NodeState, Nodes, WAITS};
use chitin_contract::{BoundFirstRun, OutboundRules};
use chitin_protocol::origin::{Origin, add_origins};
use chitin_protocol::session_key;
use chitin_store::JobChange;
use chitin_text::silent::is_silent;
use serde_json::json;
use std::time::Duration;

/// The kind of work that is announced, as [`CompletionEvent`] names it.
const SOURCE: &str = "subagent";
const TYPE: &str = "subagent task";

/// What follows from a turn that is over.
#[derive(Debug, Default)]
pub(crate) struct Aftermath {
    /// Changes of the ledger, besides those of the jobs.
    pub(crate) changes: Vec<JobChange>,
    /// Jobs that begin now.
    pub(crate) jobs: Vec<Job>,
    /// The job itself, to be tried again later.
    pub(crate) again: Option<Job>,
    /// Sessions whose turns are stopped, because that of the session above is over.
    pub(crate) stopped: Vec<String>,
    /// Sessions that are taken away.
    pub(crate) leaving: Vec<Leaving>,
    /// Sessions whose places are free again.
    pub(crate) freed: Vec<String>,
    /// What people should know.
    pub(crate) notes: Vec<String>,
}

impl Inner {
    /// Says what follows from a turn that is over, and keeps the books of runs. What it says is to be written in one step.
    pub(crate) fn aftermath(
        &self,
        nodes: &mut Nodes,
        job: &Job,
        steered: &[Job],
        outcome: &JobOutcome,
    ) -> Aftermath {
        let mut after = Aftermath::default();
        let now = self.parts.clock.now_ms();
        for heard in steered {
            self.told(nodes, heard, &mut after);
        }
        if let Some(again) = self.again(job, outcome, now, &mut after) {
            after.again = Some(again);
            return after;
        }
        self.told(nodes, job, &mut after);
        let key = &job.session_key;
        if let Some(node) = nodes.get_mut(key) {
            match (&mut node.state, job.kind) {
                (NodeState::Runs, JobKind::Subagent) => {
                    let runtime = i64::try_from(outcome.runtime_ms).unwrap_or_default();
                    node.state = NodeState::Waits(Box::new(EndedRun {
                        outcome: outcome.clone(),
                        since: now - runtime,
                        until: now,
                    }));
                }
                // A later turn of a run that waited for others: its words are the newer ones.
                (NodeState::Waits(ended), _) => {
                    ended.go_on(outcome, now, &self.parts.contract.runtime.outbound);
                }
                (NodeState::Runs | NodeState::Told, _) => {}
            }
        }
        if job.kind == JobKind::Subagent
            && matches!(outcome.status, JobStatus::TimedOut | JobStatus::Stopped)
        {
            after.stopped = nodes.below(key);
        }
        self.settle(nodes, key, &mut after);
        after
    }

    /// Tells those above a session, as far as nothing is open below them.
    pub(crate) fn settle(&self, nodes: &mut Nodes, session_key: &str, after: &mut Aftermath) {
        let mut key = session_key.to_owned();
        loop {
            let open = nodes.unsettled(&key);
            let Some(node) = nodes.get(&key) else {
                return;
            };
            let NodeState::Waits(ended) = &node.state else {
                return;
            };
            let id = format!("{WAITS}{key}");
            let run = &node.run;
            let parent_closed = self.is_closed(nodes, &run.parent_key);
            let end = ChildEnd {
                words: &ended.outcome.text,
                is_silent: is_silent(&ended.outcome.text, &self.parts.contract.runtime.outbound),
                expects_message: run.expects_completion,
                open_descendants: open,
                parent_closed,
            };
            let fate = match announce::fate(&end, &self.parts.contract.runtime.subagents.announce) {
                // Whatever else holds, it is not over while something below it is open.
                _ if open > 0 => Fate::Defer,
                Fate::Announce | Fate::Defer if node.quiet || self.speaks_for_itself(node) => {
                    Fate::Skip(announce::SkipAnnounce::NotExpected)
                }
                fate => fate,
            };
            match fate {
                Fate::Defer => {
                    if let Some(waiting) = node.waiting(&key) {
                        let body = serde_json::to_value(waiting).unwrap_or_default();
                        after.changes.push(JobChange::Open { id, body });
                    }
                    return;
                }
                Fate::Announce => {
                    let job = self.announcement(nodes, &key, ended);
                    after.changes.push(JobChange::Close { id });
                    if let Some(node) = nodes.get_mut(&key) {
                        node.state = NodeState::Told;
                    }
                    after.jobs.extend(job);
                    return;
                }
                Fate::Skip(_) => {
                    after.changes.push(JobChange::Close { id });
                    let Some(node) = nodes.remove(&key) else {
                        return;
                    };
                    part(&key, &node.agent_id, &node.run, after);
                    // The one above may have waited for this one only.
                    key.clone_from(&node.run.parent_key);
                }
            }
        }
    }

    /// Tells whether a child's own words went to its thread, so that nobody needs to relay them (R35).
    fn speaks_for_itself(&self, node: &crate::subagents::tree::RunNode) -> bool {
        let rules = &self.parts.contract.runtime.subagents;
        node.run.posts_own_reply(rules)
    }

    /// Tells whether anybody sees the session that began a run. A subagent whose turn spoke in a thread of its own is seen there.
    fn requester(&self, run: &ChildRun) -> Requester {
        let grammar = self.parts.contract.session_keys;
        let first_run = self.parts.contract.runtime.subagents.bound_first_run;
        let spoke = run.origin.is_some() && session_key::is_subagent(&run.parent_key, grammar);
        match first_run {
            BoundFirstRun::Parent if spoke => Requester::Visible,
            BoundFirstRun::Parent | BoundFirstRun::Child => Requester::of(&run.parent_key, grammar),
        }
    }

    /// Tells whether a parent is a run that is over, so that nobody is there to be told.
    fn is_closed(&self, nodes: &Nodes, parent_key: &str) -> bool {
        let grammar = self.parts.contract.session_keys;
        session_key::is_subagent(parent_key, grammar)
            && nodes.get(parent_key).is_none()
            && !self.stays(parent_key)
    }

    /// Makes the job that tells a parent of a run.
    fn announcement(&self, nodes: &Nodes, child_key: &str, ended: &EndedRun) -> Option<Job> {
        let rules = &self.parts.contract.runtime.subagents.announce;
        let node = nodes.get(child_key)?;
        let run = node.run.as_ref();
        let requester = self.requester(run);
        let outcome = child_outcome(&ended.outcome);
        let asked = announce::action(requester, run.expects_completion, run.target, rules);
        let label = run.label.as_deref().unwrap_or(&run.task);
        let stats = RunStats {
            runtime: Some(Duration::from_millis(
                u64::try_from(ended.until - ended.since).unwrap_or_default(),
            )),
            input: ended.outcome.input_tokens,
            output: ended.outcome.output_tokens,
        };
        let event = CompletionEvent {
            source: SOURCE.to_owned(),
            session_key: child_key.to_owned(),
            session_id: self
                .entry(&node.agent_id, child_key)
                .map(|entry| entry.session_id),
            announce_type: TYPE.to_owned(),
            task_label: label.to_owned(),
            status: outcome.status().to_owned(),
            status_label: outcome.label(rules),
            result: outcome.announced(&ended.outcome.text).to_owned(),
            stats_line: Some(stats.line()),
            action: announce::action_text(asked, TYPE, run.action.as_deref()),
        };
        let turn = announce::turn(&[event], rules)?;
        let words = match turn.context {
            Some(context) => format!("{}\n\n{context}", turn.message),
            None => turn.message,
        };
        // A child that spoke in its thread while it worked has said there what it had to say.
        let bound = run.bound.clone().filter(|_| !run.progress);
        let deliver = match asked.class {
            announce::ActionClass::Private => None,
            _ => announce::destination(
                requester,
                run.expects_completion,
                bound,
                None,
                run.origin.clone(),
            ),
        };
        let id = announce::announce_id(child_key, &run.run_id);
        let grammar = self.parts.contract.session_keys;
        let parent = session_key::SessionKey::parse(&run.parent_key, grammar);
        let channel = run.origin.as_ref().map(|origin| origin.channel.as_str());
        Some(Job {
            id: announce::idempotency_key(&id),
            session_key: run.parent_key.clone(),
            agent_id: parent.map_or_else(
                || node.agent_id.clone(),
                |parent| parent.agent().to_string(),
            ),
            kind: JobKind::Announce,
            words,
            written: Vec::new(),
            origins: passed_on(child_key, &ended.outcome.origins),
            is_answerable: false,
            images: Vec::new(),
            from: run.origin.clone(),
            message_id: None,
            sender: run.sender.clone(),
            deliver,
            answer_thread: None,
            provenance: Some(json!({
                "kind": compat::INTER_SESSION_KIND,
                "sourceSessionKey": child_key,
                "sourceChannel": channel.unwrap_or(compat::INTERNAL_CHANNEL),
                "sourceTool": compat::ANNOUNCE_TOOL,
            })),
            model: None,
            timeout_ms: Some(self.announce_timeout_ms(&run.parent_key, &node.agent_id)),
            retry_ms: None,
            light: false,
            new_session: false,
            accepted_at: ended.until,
            child: nodes
                .get(&run.parent_key)
                .map(|node| Box::new(node.run.as_ref().clone())),
            about: Some(Box::new(About {
                child_key: child_key.to_owned(),
                child_agent: node.agent_id.clone(),
                run: crate::jobs::ChildRun {
                    prompt: None,
                    ..run.clone()
                },
                ended_at: ended.until,
                attempt: 1,
                not_before: None,
                timed_out: 0,
            })),
        })
    }

    /// A parent was told of a run: the run is settled.
    fn told(&self, nodes: &mut Nodes, job: &Job, after: &mut Aftermath) {
        let _ = self;
        if let Some(about) = &job.about
            && nodes.remove(&about.child_key).is_some()
        {
            part(&about.child_key, &about.child_agent, &about.run, after);
        }
    }

    /// Returns how long the session that began a run may take to react to an announce (`announceTimeoutMs`).
    fn announce_timeout_ms(&self, parent_key: &str, agent_id: &str) -> u64 {
        let grammar = self.parts.contract.session_keys;
        let parent = session_key::SessionKey::parse(parent_key, grammar);
        let agent = parent.map_or_else(|| agent_id.to_owned(), |key| key.agent().to_string());
        let timeout = self.spawn_limits(&agent).announce_timeout;
        u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX)
    }

    /// Returns a job that brings news, to be tried again, when its turn failed or did not begin to answer in time, and it is not
    /// too late (R46).
    fn again(
        &self,
        job: &Job,
        outcome: &JobOutcome,
        now: i64,
        after: &mut Aftermath,
    ) -> Option<Job> {
        let about = job.about.as_deref()?;
        let timed_out = match outcome.status {
            JobStatus::Failed => 0,
            JobStatus::TimedOut => 1,
            JobStatus::Ok | JobStatus::Stopped | JobStatus::Dropped => return None,
        };
        let rules = &self.parts.contract.runtime.subagents.announce.retry;
        let since = Duration::from_millis(u64::try_from(now - about.ended_at).unwrap_or_default());
        // A rule refuses the same news again.
        let wait = match outcome.refused {
            Some(_) => None,
            None => announce::wait(about.attempt, since, about.run.expects_completion, rules),
        };
        let Some(wait) = wait else {
            let reason = match (&outcome.error, outcome.status) {
                (_, JobStatus::TimedOut) => "it did not react within `announceTimeoutMs`",
                (Some(error), _) => error,
                (None, _) => "its turn failed",
            };
            after.notes.push(format!(
                "could not announce to `{}` that `{}` has finished: {reason}",
                job.session_key, about.child_key
            ));
            return None;
        };
        let wait = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
        Some(Job {
            about: Some(Box::new(About {
                attempt: about.attempt + 1,
                not_before: Some(now.saturating_add(wait)),
                timed_out: about.timed_out + timed_out,
                ..about.clone()
            })),
            ..job.clone()
        })
    }
}

/// A run is settled: what was there for it alone goes.
fn part(child_key: &str, agent_id: &str, run: &crate::jobs::ChildRun, after: &mut Aftermath) {
    if run.mode == ChildMode::Session {
        return;
    }
    if run.bound.is_some() {
        after.freed.push(child_key.to_owned());
    }
    if run.cleanup == Cleanup::Delete {
        let leaving = Leaving {
            session_key: child_key.to_owned(),
            agent_id: agent_id.to_owned(),
        };
        after.changes.push(JobChange::Open {
            id: format!("{GOES}{child_key}"),
            body: serde_json::to_value(&leaving).unwrap_or_default(),
        });
        after.leaving.push(leaving);
    }
}

impl EndedRun {
    /// A later turn of the same session ended.
    fn go_on(&mut self, outcome: &JobOutcome, now: i64, rules: &OutboundRules) {
        if outcome.status == JobStatus::Ok
            && !outcome.text.trim().is_empty()
            && !is_silent(&outcome.text, rules)
        {
            self.outcome.text.clone_from(&outcome.text);
        }
        add_origins(&mut self.outcome.origins, &outcome.origins);
        self.outcome.input_tokens += outcome.input_tokens;
        self.outcome.output_tokens += outcome.output_tokens;
        self.until = now;
    }
}

/// Returns the origins of what a child says: those of all texts that it had.
fn passed_on(child_key: &str, theirs: &[Origin]) -> Vec<Origin> {
    let mut origins = Vec::new();
    if !theirs.is_empty() {
        add_origins(&mut origins, [&Origin::session(child_key)]);
        add_origins(&mut origins, theirs);
    }
    origins
}

/// Says how a run ended, as its parent hears it.
fn child_outcome(outcome: &JobOutcome) -> ChildOutcome {
    match outcome.status {
        JobStatus::Ok => ChildOutcome::Ok,
        JobStatus::TimedOut => ChildOutcome::Timeout,
        JobStatus::Stopped => ChildOutcome::Error {
            error: "it was stopped".to_owned(),
        },
        JobStatus::Failed | JobStatus::Dropped => ChildOutcome::Error {
            error: outcome.error.clone().unwrap_or_default(),
        },
    }
}

/// Makes the changes that open a job anew, with what of it is out already.
pub(crate) fn reopening(job: &Job, marks: impl IntoIterator<Item = String>) -> Vec<JobChange> {
    let mut changes = vec![opening(job)];
    changes.extend(marks.into_iter().map(|mark| JobChange::Mark {
        id: job.id.clone(),
        mark,
    }));
    changes
}

/// Makes the change that says that a session is gone.
pub(crate) fn left(leaving: &Leaving) -> JobChange {
    closing(&format!("{GOES}{}", leaving.session_key))
}
