//! Schedules: one timer for all of them, and what becomes of their runs.

use super::{CronEntry, CronError, CronFile};
use crate::compat::last;
use crate::cron;
use crate::gateway::{Gateway, Inner};
use crate::jobs::{Job, JobKind, JobOutcome, JobStatus};
use chitin_protocol::agent_id::AgentId;
use chitin_protocol::session_key;
use chitin_store::TranscriptRemoval;
use serde::Serialize;
use std::time::Duration;
use tokio::sync::Notify;

/// The longest sleep of the timer: what others wrote into the file is noticed by then.
const LONGEST_SLEEP: Duration = Duration::from_secs(30);
/// How long the session of a run is kept once it is over, in milliseconds.
const KEPT_MS: i64 = 24 * 60 * 60 * 1_000;
/// How many failures to read the file lie between two that are told.
const TOLD_EVERY: u32 = 120;

/// The schedules of a gateway.
#[derive(Debug)]
pub(crate) struct Schedules {
    pub(crate) file: CronFile,
    pub(crate) changed: Notify,
}

/// A run that was begun, or why it was not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CronReport {
    /// The entry.
    pub id: String,
    /// The job of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job_id: Option<String>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Gateway {
    /// Hands in the schedules. Once, before the first turn.
    pub fn keep_schedules(&self, file: CronFile) {
        let changed = Notify::new();
        let _ = self.0.schedules.set(Schedules { file, changed });
    }

    /// Carries the schedules out until the gateway ends. To be called once, inside a runtime.
    pub fn start_schedules(&self) {
        let gateway = self.clone();
        self.0.tasks.spawn(async move {
            let Some(schedules) = gateway.0.schedules.get() else {
                return;
            };
            gateway.0.tell_odd(&schedules.file).await;
            let mut failures = 0;
            loop {
                let wait = match gateway.run_due().await {
                    Ok(_) => {
                        failures = 0;
                        gateway.0.until_next().await
                    }
                    Err(error) => {
                        if failures % TOLD_EVERY == 0 {
                            (gateway.0.parts.note)(&format!("cron jobs do not run: {error}"));
                        }
                        failures += 1;
                        LONGEST_SLEEP
                    }
                };
                tokio::select! {
                    () = gateway.0.ending.cancelled() => return,
                    () = schedules.changed.notified() => {}
                    () = tokio::time::sleep(wait) => {}
                }
            }
        });
    }

    /// Begins the runs whose time has come. One that was missed several times happens once.
    ///
    /// # Errors
    ///
    /// When the file of schedules cannot be used.
    pub async fn run_due(&self) -> Result<Vec<CronReport>, CronError> {
        let inner = &self.0;
        let Some(file) = inner.schedules.get().map(|it| it.file.clone()) else {
            return Ok(Vec::new());
        };
        let (now, zone) = (inner.parts.clock.now_ms(), inner.parts.zone.clone());
        let document = blocking({
            let file = file.clone();
            move || file.read()
        })
        .await?;
        let mut reports = Vec::new();
        for entry in document.entries() {
            let Some(due) = entry.due_ms(now, &zone) else {
                continue;
            };
            if due > now {
                if entry.state.next_run_at_ms.is_none() {
                    // Reckoned once, so that a restart does not put it off.
                    inner
                        .after_run(&file, entry.id.clone(), Some(due), None)
                        .await?;
                }
                continue;
            }
            if inner.is_running(&entry.id) {
                continue;
            }
            let job = entry.check(&zone).and_then(|()| inner.run_job(entry, due));
            let begun = match job {
                Ok(job) => match self.begin_run(job, &entry.id).await {
                    Ok(job_id) => Ok(job_id),
                    // Nothing was taken in, so it is still due.
                    Err(reason) => {
                        reports.push(CronReport {
                            id: entry.id.clone(),
                            job_id: None,
                            reason: Some(reason),
                        });
                        continue;
                    }
                },
                Err(reason) => Err(reason),
            };
            // The run is in the ledger; from here on it happens once, whatever the file says.
            let next = entry.next_ms(now, &zone);
            inner
                .after_run(&file, entry.id.clone(), next, Some(now))
                .await?;
            if let Err(reason) = &begun {
                (inner.parts.note)(&format!("`{}` could not be run: {reason}", entry.id));
            }
            reports.push(CronReport {
                id: entry.id.clone(),
                job_id: begun.as_ref().ok().cloned(),
                reason: begun.err(),
            });
        }
        Ok(reports)
    }

    /// Begins a run now, whenever it is due. Returns its name.
    pub(crate) async fn run_now(&self, entry: &CronEntry) -> Result<String, String> {
        let job = self.0.run_job(entry, self.0.parts.clock.now_ms())?;
        self.begin_run(job, &entry.id).await
    }

    async fn begin_run(&self, job: Job, entry_id: &str) -> Result<String, String> {
        self.0.forget_old_runs(&job, entry_id);
        let accepted = self.begin(job).await;
        let accepted = accepted.map_err(|refusal| refusal.to_string())?;
        Ok(accepted.job_id)
    }
}

impl Inner {
    /// Makes the job of a run.
    fn run_job(&self, entry: &CronEntry, due_ms: i64) -> Result<Job, String> {
        let agent = match &entry.agent_id {
            Some(id) => AgentId::normalize(id),
            None => self
                .routing
                .default_agent()
                .map_err(|error| error.to_string())?,
        };
        let agent_id = agent.to_string();
        if !self
            .parts
            .host
            .agents()
            .iter()
            .any(|known| known.id == agent_id)
        {
            return Err(format!("there is no agent `{agent_id}`"));
        }
        let main = self.main_session(&agent);
        let grammar = self.parts.contract.session_keys;
        let session_key = match entry.session_target.as_str() {
            "main" => main.clone(),
            "isolated" => {
                let id = entry.id.to_lowercase();
                format!("agent:{agent_id}:cron:{id}:run:{due_ms}")
            }
            other => {
                let key = other.strip_prefix("session:").unwrap_or(other);
                let key = session_key::store_key(key, &agent_id, "", grammar);
                let parsed = session_key::SessionKey::parse(&key, grammar);
                if parsed.is_none_or(|parsed| parsed.agent() != agent) {
                    return Err(format!("`{key}` is not a session of `{agent_id}`"));
                }
                key
            }
        };
        let quiet = entry.delivery.as_ref().is_some_and(|it| it.mode == "none");
        let deliver = (!quiet).then(|| {
            let delivery = entry.delivery.clone().unwrap_or_default();
            let channel = delivery.channel.as_deref().unwrap_or(last::WORD);
            let (to, account) = (delivery.to.as_deref(), delivery.account_id.as_deref());
            self.wanted_place((&agent_id, &main), channel, to, account)
        });
        let isolated = entry.session_target == "isolated";
        let words = if isolated {
            let name = entry.name.trim();
            let name = if name.is_empty() { &entry.id } else { name };
            format!("[cron:{} {name}] {}", entry.id, entry.words())
        } else {
            entry.words().to_owned()
        };
        let seconds = entry.payload.timeout_seconds;
        Ok(Job {
            id: cron::run_id(&entry.id, due_ms),
            kind: JobKind::Cron,
            words,
            deliver: deliver.flatten(),
            model: entry.payload.model.clone(),
            timeout_ms: seconds.map(|seconds| seconds.saturating_mul(1_000)),
            light: entry.payload.light_context.unwrap_or(false),
            ..Job::new(session_key, agent_id, self.parts.clock.now_ms())
        })
    }

    /// Tells people of entries that will never run.
    async fn tell_odd(&self, file: &CronFile) {
        let (file, zone) = (file.clone(), self.parts.zone.clone());
        let odd = blocking(move || {
            let document = file.read()?;
            let bad = document.entries().filter_map(|entry| {
                let reason = entry.check(&zone).err()?;
                Some(format!(
                    "the scheduled job `{}` never runs: {reason}",
                    entry.id
                ))
            });
            let odd = document
                .odd()
                .map(|reason| format!("could not parse a scheduled job: {reason}"));
            Ok(bad.chain(odd).collect::<Vec<String>>())
        });
        for said in odd.await.unwrap_or_default() {
            (self.parts.note)(&said);
        }
    }

    /// Tells whether a run of an entry waits or runs.
    fn is_running(&self, id: &str) -> bool {
        let prefix = format!("cron:{id}:");
        let busy = self.busy.lock();
        busy.values().any(|session| {
            let active = session.active.as_ref().map(|active| &*active.job);
            let mut jobs = session.first.iter().map(|(job, _)| job).chain(active);
            jobs.any(|job| job.id.starts_with(&prefix))
        })
    }

    /// Writes down when an entry is due next, and that it was begun. One that happens only once goes when it has happened.
    async fn after_run(
        &self,
        file: &CronFile,
        id: String,
        next: Option<i64>,
        begun: Option<i64>,
    ) -> Result<(), CronError> {
        let file = file.clone();
        blocking(move || {
            file.change(|document| {
                if let Some(entry) = document.entry_mut(&id) {
                    entry.state.next_run_at_ms = next;
                    entry.state.last_run_at_ms = begun.or(entry.state.last_run_at_ms);
                    if next.is_none() && begun.is_some() {
                        entry.enabled = false;
                    }
                }
                Ok(())
            })
        })
        .await
    }

    /// A run is over: what became of it is written down, and an entry that is done goes.
    pub(crate) async fn run_done(&self, job: &Job, outcome: &JobOutcome) {
        let (Some(schedules), Some(id)) = (self.schedules.get(), cron::entry_of(&job.id)) else {
            return;
        };
        let (file, id, outcome) = (schedules.file.clone(), id.to_owned(), outcome.clone());
        let now = self.parts.clock.now_ms();
        let noted = blocking(move || {
            file.change(|document| {
                let Some(entry) = document.entry_mut(&id) else {
                    return Ok(());
                };
                let ok = outcome.status == JobStatus::Ok;
                let goes = ok && !entry.enabled && entry.goes_after_run();
                let state = &mut entry.state;
                state.last_status = Some(if ok { "ok" } else { "error" }.to_owned());
                state.last_error = outcome.error.filter(|_| !ok);
                state.last_duration_ms = Some(outcome.runtime_ms);
                if ok {
                    state.consecutive_errors = 0;
                } else {
                    state.consecutive_errors = state.consecutive_errors.saturating_add(1);
                    let earliest = cron::not_before(state.consecutive_errors, now);
                    state.next_run_at_ms = state.next_run_at_ms.map(|next| next.max(earliest));
                }
                if goes {
                    document.remove(&id);
                }
                Ok(())
            })
        });
        if let Err(error) = noted.await {
            (self.parts.note)(&format!("could not record a scheduled run: {error}"));
        }
        schedules.changed.notify_one();
    }

    /// Returns how long the timer may sleep.
    async fn until_next(&self) -> Duration {
        let Some(file) = self.schedules.get().map(|it| it.file.clone()) else {
            return LONGEST_SLEEP;
        };
        let (now, zone) = (self.parts.clock.now_ms(), self.parts.zone.clone());
        let next = blocking(move || {
            let document = file.read()?;
            let due = document.entries().filter_map(|it| it.due_ms(now, &zone));
            Ok(due.min())
        });
        let next = next.await.ok().flatten();
        let wait = next.map(|next| u64::try_from(next.saturating_sub(now)).unwrap_or_default());
        // What is due and runs still is looked at again after a while.
        wait.map_or(LONGEST_SLEEP, |wait| {
            Duration::from_millis(wait.max(1_000)).min(LONGEST_SLEEP)
        })
    }

    /// Puts sessions of earlier runs away, a day after they ended.
    fn forget_old_runs(&self, job: &Job, id: &str) {
        let Ok(store) = self.parts.host.store(&job.agent_id) else {
            return;
        };
        let prefix = format!("agent:{}:cron:{}:run:", job.agent_id, id.to_lowercase());
        let before = self.parts.clock.now_ms().saturating_sub(KEPT_MS);
        let now = self.parts.clock.now();
        self.tasks.spawn_blocking(move || {
            // What cannot be read now is looked at after the next run.
            let _ = store.each(&mut |key, entry| {
                if key.starts_with(&prefix) && entry.updated_at < before {
                    let _ = store.remove(&key, TranscriptRemoval::Archive { now: &now });
                }
            });
        });
    }
}

/// Does something with files where nobody waits for a disk.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, CronError> + Send + 'static,
) -> Result<T, CronError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(_) => Err(CronError::Bad("The gateway is about to end.".to_owned())),
    }
}
