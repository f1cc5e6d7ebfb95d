//! Hearts that beat: one timer for all agents, a turn for each beat that is not left out (R90–R93).

use super::{Beat, Beats, DueBeat, HeartbeatSettings, Skip, Task, Visibility, is_repeat};
use crate::compat::{HEARTBEAT_FILE, heartbeat_session, last};
use crate::gateway::{Gateway, Inner};
use crate::heartbeat;
use crate::jobs::{Job, JobKind, JobOutcome, JobStatus};
use chitin_agent::blocking;
use chitin_guard::{ReadPolicy, Root};
use chitin_protocol::agent_id::AgentId;
use chitin_protocol::session_key;
use chitin_store::SessionEntry;
use chitin_text::compat::HEARTBEAT_OK;
use chitin_text::silent::{HeartbeatMode, strip_heartbeat};
use serde::Serialize;
use serde_json::json;
use std::path::Path;
use std::time::Duration;

/// How soon a beat comes again that found the agent busy.
const SOON_MS: i64 = 5_000;
/// The longest sleep of the timer: a machine that slept, or a clock that was set, is noticed by then.
const LONGEST_SLEEP: Duration = Duration::from_mins(1);
/// The largest HEARTBEAT.md that is looked into.
const MOST_BYTES: u64 = 1 << 20;

/// What became of a beat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BeatReport {
    /// The agent.
    pub agent: String,
    /// What became of it.
    pub outcome: BeatOutcome,
}

/// What became of a beat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum BeatOutcome {
    /// A turn was begun.
    Ran {
        /// The job.
        job_id: String,
    },
    /// It was left out.
    Skipped {
        /// Why.
        reason: Skip,
    },
    /// It could not be begun.
    Failed {
        /// Why.
        reason: String,
    },
}

/// An agent whose heart beats, for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BeatingAgent {
    /// The agent.
    pub agent: String,
    /// How often, in milliseconds.
    pub every_ms: u64,
    /// Where words go: `none`, `last`, or a channel.
    pub target: String,
}

impl Gateway {
    /// Returns the timetable of all hearts, beginning now.
    pub fn heartbeats(&self) -> Beats {
        let parts = &self.0.parts;
        let default = || self.0.routing.default_agent().ok();
        let now_ms = parts.clock.now_ms();
        Beats::read_with_default(&parts.config, parts.contract, default, now_ms)
    }

    /// Lets the hearts beat until the gateway ends, and says which do. To be called once, inside a runtime.
    pub fn start_heartbeats(&self) -> Vec<BeatingAgent> {
        let mut beats = self.heartbeats();
        let agents = beats.agents().map(|(agent, settings)| BeatingAgent {
            agent: agent.to_string(),
            every_ms: settings
                .every
                .and_then(|every| u64::try_from(every.as_millis()).ok())
                .unwrap_or_default(),
            target: settings.target.clone(),
        });
        let agents: Vec<BeatingAgent> = agents.collect();
        if agents.is_empty() {
            return agents;
        }
        let gateway = self.clone();
        self.0.tasks.spawn(async move {
            while let Some(next) = beats.next_ms() {
                let now = gateway.0.parts.clock.now_ms();
                let wait = u64::try_from(next.saturating_sub(now)).unwrap_or_default();
                let wait = Duration::from_millis(wait).min(LONGEST_SLEEP);
                tokio::select! {
                    () = gateway.0.ending.cancelled() => return,
                    () = tokio::time::sleep(wait) => {}
                }
                for report in gateway.beat(&mut beats).await {
                    if let BeatOutcome::Failed { reason } = report.outcome {
                        let agent = report.agent;
                        (gateway.0.parts.note)(&format!(
                            "skipped the heartbeat of `{agent}`: {reason}"
                        ));
                    }
                }
            }
        });
        agents
    }

    /// Does the beats whose time has come, and says what became of each.
    pub async fn beat(&self, beats: &mut Beats) -> Vec<BeatReport> {
        let now = self.0.parts.clock.now_ms();
        let mut reports = Vec::new();
        for due in beats.take_due(now) {
            let outcome = match self.0.beat_job(&due) {
                Err(reason) => {
                    if reason == Skip::RequestsInFlight {
                        beats.sooner(&due.agent, now.saturating_add(SOON_MS));
                    }
                    BeatOutcome::Skipped { reason }
                }
                Ok(job) => match self.begin(job).await {
                    Ok(accepted) => BeatOutcome::Ran {
                        job_id: accepted.job_id,
                    },
                    Err(refusal) => BeatOutcome::Failed {
                        reason: refusal.to_string(),
                    },
                },
            };
            reports.push(BeatReport {
                agent: due.agent.to_string(),
                outcome,
            });
        }
        reports
    }
}

impl Inner {
    /// Makes the job of a beat, or says why it is left out. Nothing of the session is touched.
    fn beat_job(&self, due: &DueBeat) -> Result<Job, Skip> {
        let settings = &*due.settings;
        let agent_id = due.agent.to_string();
        let main = self.beat_base(&due.agent, settings);
        let session_key = if settings.isolated_session {
            heartbeat_session(&main)
        } else {
            main.clone()
        };
        let file = self.heartbeat_file(&agent_id);
        let now_ms = self.parts.clock.now_ms();
        let beat = Beat {
            now: jiff::Timestamp::from_millisecond(now_ms).unwrap_or_default(),
            user_zone: &self.parts.zone,
            local_zone: &self.parts.zone,
            busy: self.is_main_busy(&session_key),
            file: file.as_deref(),
        };
        let rules = &self.parts.contract.runtime.dispatch.heartbeat;
        if let Some(reason) = heartbeat::skip(settings, &beat, rules) {
            return Err(reason);
        }
        let words = match file.as_deref().and_then(heartbeat::tasks) {
            None => settings.prompt.clone(),
            Some((tasks, rest)) => {
                let entry = self.beat_entry(&agent_id, &session_key);
                let due: Vec<&Task> = tasks
                    .iter()
                    .filter(|task| task.is_due(last_done(entry.as_ref(), &task.name), now_ms))
                    .collect();
                if due.is_empty() {
                    return Err(Skip::NoTasksDue);
                }
                heartbeat::task_prompt(&due, &rest)
            }
        };
        let deliver = settings.is_heard().then(|| {
            let (to, account) = (settings.to.as_deref(), settings.account_id.as_deref());
            self.wanted_place((&agent_id, &main), &settings.target, to, account)
        });
        let deliver = deliver.flatten();
        if let Some(place) = &deliver
            && Visibility::read(&self.parts.config, &place.channel).is_nothing()
        {
            return Err(Skip::AlertsDisabled);
        }
        Ok(Job {
            id: format!("beat:{agent_id}:{}", due.due_ms),
            kind: JobKind::Heartbeat,
            words,
            model: settings.model.clone(),
            light: settings.light_context,
            new_session: settings.isolated_session,
            deliver,
            ..Job::new(session_key, agent_id, now_ms)
        })
    }

    /// Returns the conversation that an agent's heartbeats belong to.
    fn beat_base(&self, agent: &AgentId, settings: &HeartbeatSettings) -> String {
        let main = self.main_session(agent);
        match settings.session.as_deref() {
            None | Some("main" | "global") => main,
            Some(key) => {
                let grammar = self.parts.contract.session_keys;
                let key = session_key::store_key(key, agent.as_str(), "", grammar);
                // A session of somebody else is none of this agent's.
                let parsed = session_key::SessionKey::parse(&key, grammar);
                let own = parsed.is_some_and(|parsed| parsed.agent() == *agent);
                if own { key } else { main }
            }
        }
    }

    /// Reads HEARTBEAT.md of an agent's workspace; nothing when it is not there or cannot be read.
    fn heartbeat_file(&self, agent_id: &str) -> Option<String> {
        let agents = self.parts.host.agents();
        let agent = agents.into_iter().find(|agent| agent.id == agent_id)?;
        let root = Root::open(Path::new(&agent.workspace)).ok()?;
        let policy = ReadPolicy::inside(MOST_BYTES);
        let read = root.read(Path::new(HEARTBEAT_FILE), &policy).ok()?;
        Some(String::from_utf8_lossy(&read.bytes).into_owned())
    }

    /// Tells whether a turn runs or waits in a session, or in the lane of ordinary turns.
    fn is_main_busy(&self, session_key: &str) -> bool {
        let busy = self.busy.lock();
        let ordinary = |kind: JobKind| match kind {
            JobKind::Message | JobKind::Announce | JobKind::SessionSend | JobKind::Heartbeat => {
                true
            }
            JobKind::Subagent | JobKind::Cron => false,
        };
        busy.contains_key(session_key)
            || busy.values().any(|session| {
                let active = session.active.as_ref();
                active.is_some_and(|active| ordinary(active.job.kind) && active.job.child.is_none())
            })
    }

    /// Returns what people hear of a heartbeat's answer; nothing when all is well or the same text was sent recently (R72).
    pub(crate) fn beat_words(&self, job: &Job, text: &str) -> Option<String> {
        let agent = AgentId::normalize(&job.agent_id);
        let settings = HeartbeatSettings::read(&self.parts.config, &agent, self.parts.contract);
        let channel = job.deliver.as_ref().map_or("", |to| to.channel.as_str());
        let wanted = Visibility::read(&self.parts.config, channel);
        let mode = HeartbeatMode::Heartbeat {
            ack_max_chars: settings.ack_max_chars,
        };
        let stripped = strip_heartbeat(text, mode);
        if stripped.skip {
            return wanted.ok.then(|| HEARTBEAT_OK.to_owned());
        }
        let words = self.shown(&stripped.text)?;
        let entry = self.beat_entry(&job.agent_id, &job.session_key);
        let said = entry.as_ref().and_then(|(_, entry)| {
            let at = entry.extra.get(last::BEAT_AT)?.as_i64()?;
            let ago = u64::try_from(self.parts.clock.now_ms().saturating_sub(at)).ok()?;
            Some((entry.extra.get(last::BEAT_TEXT)?.as_str()?, ago))
        });
        (wanted.alerts && !is_repeat(&words, said)).then_some(words)
    }

    /// A beat is over. One that said nothing leaves no trace in when the session was last used; one that did is remembered.
    pub(crate) fn beat_done(
        &self,
        job: &Job,
        outcome: &JobOutcome,
        said: Option<&str>,
        used_before: Option<i64>,
    ) {
        let Ok(store) = self.parts.host.store(&job.agent_id) else {
            return;
        };
        if outcome.status == JobStatus::Ok {
            self.note_tasks(job);
        }
        let noted = match (said, used_before) {
            (Some(_), _) if job.deliver.is_none() => Ok(()),
            (Some(words), _) => {
                let now = self.parts.clock.now_ms();
                let entry = self.beat_entry(&job.agent_id, &job.session_key);
                let key = entry.map(|(key, _)| key);
                let key = key.as_deref().unwrap_or(&job.session_key);
                store.annotate(key, &mut |entry| {
                    let extra = &mut entry.extra;
                    extra.insert(last::BEAT_TEXT.to_owned(), words.into());
                    extra.insert(last::BEAT_AT.to_owned(), now.into());
                })
            }
            (None, Some(before)) => store.annotate(&job.session_key, &mut |entry| {
                entry.updated_at = before;
            }),
            (None, None) => Ok(()),
        };
        if let Err(error) = noted {
            (self.parts.note)(&format!("could not record a heartbeat: {error}"));
        }
    }

    /// Returns when the session of a beat was last used.
    pub(crate) fn used_before(&self, job: &Job) -> Option<i64> {
        if job.kind != JobKind::Heartbeat {
            return None;
        }
        let store = self.parts.host.store(&job.agent_id).ok()?;
        Some(blocking(|| store.find(&job.session_key)).ok()??.updated_at)
    }

    /// Returns the conversation that remembers what heartbeats said: one that outlives a session for each beat.
    fn beat_entry(&self, agent_id: &str, session_key: &str) -> Option<(String, SessionEntry)> {
        let store = self.parts.host.store(agent_id).ok()?;
        let base = crate::compat::heartbeat_base(session_key);
        [base, session_key].into_iter().find_map(|key| {
            let entry = blocking(|| store.find(key)).ok()??;
            Some((key.to_owned(), entry))
        })
    }

    /// Notes that the tasks were done which a beat told the model of.
    fn note_tasks(&self, job: &Job) {
        let file = self.heartbeat_file(&job.agent_id);
        let Some((tasks, _)) = file.as_deref().and_then(heartbeat::tasks) else {
            return;
        };
        let done: Vec<&Task> = tasks.iter().filter(|task| task.is_in(&job.words)).collect();
        let entry = self.beat_entry(&job.agent_id, &job.session_key);
        let (Some((key, _)), false) = (entry, done.is_empty()) else {
            return;
        };
        let Ok(store) = self.parts.host.store(&job.agent_id) else {
            return;
        };
        let noted = store.annotate(&key, &mut |entry| {
            let state = entry.extra.entry(last::TASKS).or_insert_with(|| json!({}));
            if !state.is_object() {
                *state = json!({});
            }
            for task in &done {
                state[&task.name] = job.accepted_at.into();
            }
        });
        if let Err(error) = noted {
            (self.parts.note)(&format!(
                "could not record the tasks of a heartbeat: {error}"
            ));
        }
    }
}

/// Returns when a task was last done.
fn last_done(entry: Option<&(String, SessionEntry)>, name: &str) -> Option<i64> {
    let (_, entry) = entry?;
    entry.extra.get(last::TASKS)?.get(name)?.as_i64()
}
