//! `cron`: an agent's own schedules.

use super::{CronEntry, CronError, CronFile, Delivery, blocking};
use crate::gateway::{Gateway, Inner};
use crate::surface::Address;
use chitin_protocol::agent_id::AgentId;
use chitin_protocol::session_key::SessionKey;
use chitin_protocol::tool::ToolSpec;
use chitin_tools::schema::spec_on_file;
use chitin_tools::{CallContext, GuardedDeed, ToolOutcome, TypedTool};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::{Arc, Weak};

/// What the tool is called.
pub const NAME: &str = "cron";

chitin_tools::schema_on_file!(Ask, "cron.json");

/// What a model asks for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Ask {
    /// What to do.
    action: Action,
    /// The job, for all but `add` and `list`.
    #[serde(default, alias = "id")]
    job_id: Option<String>,
    /// For `add`: `name`, `schedule` (`{"kind":"at","at":ISO}`, `{"kind":"every","everyMs":N}` or
    /// `{"kind":"cron","expr":"0 9 * * 1-5","tz":"Europe/Berlin"}`), `payload` (`{"kind":"agentTurn","message":TEXT}`),
    /// and if need be `sessionTarget` (`isolated` or `main`), `delivery` (`{"mode":"announce","channel":…,"to":…}` or
    /// `{"mode":"none"}`), `enabled`, `deleteAfterRun`.
    #[serde(default)]
    job: Option<Value>,
    /// For `update`: the fields of the job that change.
    #[serde(default)]
    patch: Option<Value>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Action {
    List,
    Add,
    Update,
    Remove,
    Run,
}

/// How much is shown of a change to whoever is asked about it, in characters.
const SHOWN: usize = 500;

impl Ask {
    /// Says what would change, if anything would.
    fn change(&self) -> Option<String> {
        let (does, of) = match self.action {
            Action::List => return None,
            Action::Add => ("add a scheduled job", self.job.as_ref()),
            Action::Update => ("change a scheduled job", self.patch.as_ref()),
            Action::Remove => ("remove a scheduled job", None),
            Action::Run => ("run a scheduled job", None),
        };
        let id = self
            .job_id
            .as_deref()
            .map(|id| format!(" `{}`", id.escape_debug()));
        let of = of.map(|of| format!(": {}", of.to_string().escape_debug()));
        let told = format!("{does}{}{}", id.unwrap_or_default(), of.unwrap_or_default());
        Some(told.chars().take(SHOWN).collect())
    }
}

/// Shows and changes the schedules of the agent that calls it.
pub struct CronTool {
    gateway: Weak<Inner>,
    spec: ToolSpec,
}

/// Who calls.
struct Caller {
    gateway: Gateway,
    file: CronFile,
    agent: AgentId,
    /// Where the session speaks, which is where answers of its schedules go.
    own: Option<Address>,
}

impl CronTool {
    /// Makes the tool; none where the gateway keeps no schedules.
    pub fn new(gateway: &Gateway) -> Option<Self> {
        gateway.0.schedules.get()?;
        Some(Self {
            gateway: Arc::downgrade(&gateway.0),
            spec: Self::definition(),
        })
    }

    /// Returns what a model is told of it.
    pub fn definition() -> ToolSpec {
        let description = "Lists, adds, updates, removes and runs your scheduled jobs. A job tells you something at its \
            time, by itself in a session of its own, and its answer goes to where this session speaks.";
        spec_on_file(NAME, description, PARAMETERS)
    }

    fn caller(&self, session_key: &str) -> Result<Caller, CronError> {
        let gone = || CronError::Bad("The gateway is about to end.".to_owned());
        let inner = self.gateway.upgrade().ok_or_else(gone)?;
        let schedules = inner.schedules.get().ok_or_else(gone)?;
        let grammar = inner.parts.contract.session_keys;
        let parsed = SessionKey::parse(session_key, grammar);
        let job = inner.turn_of(session_key);
        let own = job.and_then(|job| job.from.clone().or_else(|| job.deliver.clone()));
        Ok(Caller {
            file: schedules.file.clone(),
            agent: parsed.map_or_else(|| AgentId::normalize(""), |parsed| parsed.agent()),
            own,
            gateway: Gateway(Arc::clone(&inner)),
        })
    }
}

impl Caller {
    async fn answer(self, ask: Ask) -> Result<Value, CronError> {
        let id = ask.job_id;
        let need = || CronError::Bad("Say which job: `jobId`.".to_owned());
        let answer = match ask.action {
            Action::List => self.list().await?,
            Action::Add => self.add(ask.job).await?,
            Action::Update => self.update(id.ok_or_else(need)?, ask.patch).await?,
            Action::Remove => self.remove(id.ok_or_else(need)?).await?,
            Action::Run => self.run(&id.ok_or_else(need)?).await?,
        };
        if let Some(schedules) = self.gateway.0.schedules.get() {
            schedules.changed.notify_one();
        }
        Ok(answer)
    }

    async fn list(&self) -> Result<Value, CronError> {
        let mine: Vec<Value> = self.entries().await?.iter().map(shown).collect();
        Ok(json!({"jobs": mine}))
    }

    async fn add(&self, job: Option<Value>) -> Result<Value, CronError> {
        let Some(Value::Object(mut job)) = job else {
            return Err(CronError::Bad("`add` needs `job`.".to_owned()));
        };
        let parts = &self.gateway.0.parts;
        let now = parts.clock.now_ms();
        let id = parts
            .clock
            .unique()
            .replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        job.insert("id".to_owned(), json!(id.trim_matches('-')));
        job.insert("agentId".to_owned(), json!(self.agent.as_str()));
        job.insert("createdAtMs".to_owned(), json!(now));
        job.insert("updatedAtMs".to_owned(), json!(now));
        job.remove("state");
        let mut entry = read(Value::Object(job))?;
        if entry.delivery.is_none() {
            entry.delivery = self.own.as_ref().map(delivery_to);
        }
        self.settle(&mut entry, now)?;
        let told = shown(&entry);
        let file = self.file.clone();
        blocking(move || file.change(|document| document.add(entry))).await?;
        Ok(json!({"ok": true, "job": told}))
    }

    async fn update(&self, id: String, patch: Option<Value>) -> Result<Value, CronError> {
        let Some(Value::Object(patch)) = patch else {
            return Err(CronError::Bad("`update` needs `patch`.".to_owned()));
        };
        let now = self.gateway.0.parts.clock.now_ms();
        let old = self.entry(&id).await?;
        let Ok(Value::Object(mut all)) = serde_json::to_value(&old) else {
            return Err(CronError::Unknown { id });
        };
        for (name, value) in patch {
            // Whose it is, and what became of it, is not the model's to say.
            if matches!(name.as_str(), "id" | "agentId" | "state" | "createdAtMs") {
                continue;
            }
            match (all.get_mut(&name), value) {
                (Some(Value::Object(old)), Value::Object(new)) if name != "schedule" => {
                    old.extend(new);
                }
                (_, value) => {
                    all.insert(name, value);
                }
            }
        }
        let mut entry = read(Value::Object(all))?;
        entry.updated_at_ms = now;
        entry.state.consecutive_errors = 0;
        self.settle(&mut entry, now)?;
        let told = shown(&entry);
        let file = self.file.clone();
        blocking(move || {
            file.change(|document| match document.entry_mut(&entry.id) {
                Some(old) => {
                    *old = entry;
                    Ok(())
                }
                None => Err(CronError::Unknown { id }),
            })
        })
        .await?;
        Ok(json!({"ok": true, "job": told}))
    }

    async fn remove(&self, id: String) -> Result<Value, CronError> {
        self.entry(&id).await?;
        let (file, removed) = (self.file.clone(), id.clone());
        blocking(move || file.change(|document| Ok(document.remove(&removed)))).await?;
        Ok(json!({"ok": true, "removed": id}))
    }

    async fn run(&self, id: &str) -> Result<Value, CronError> {
        let entry = self.entry(id).await?;
        let begun = self.gateway.run_now(&entry).await;
        let job_id = begun.map_err(CronError::Bad)?;
        Ok(json!({"ok": true, "runId": job_id}))
    }

    /// Checks an entry and reckons when it is due.
    fn settle(&self, entry: &mut CronEntry, now: i64) -> Result<(), CronError> {
        let zone = &self.gateway.0.parts.zone;
        entry.check(zone).map_err(CronError::Bad)?;
        entry.state.next_run_at_ms = entry.next_ms(now, zone);
        if entry.enabled && entry.state.next_run_at_ms.is_none() {
            return Err(CronError::Bad(
                "That time never comes: it has passed, or no date fits the pattern.".to_owned(),
            ));
        }
        Ok(())
    }

    /// Returns the entries of the agent; those of others are none of its business.
    async fn entries(&self) -> Result<Vec<CronEntry>, CronError> {
        let (file, agent) = (self.file.clone(), self.agent.clone());
        let default = self.gateway.0.routing.default_agent().ok();
        blocking(move || {
            let document = file.read()?;
            let mine = |entry: &&CronEntry| match &entry.agent_id {
                Some(id) => AgentId::normalize(id) == agent,
                None => default.as_ref() == Some(&agent),
            };
            Ok(document.entries().filter(mine).cloned().collect())
        })
        .await
    }

    async fn entry(&self, id: &str) -> Result<CronEntry, CronError> {
        let found = self
            .entries()
            .await?
            .into_iter()
            .find(|entry| entry.id == id);
        found.ok_or_else(|| CronError::Unknown { id: id.to_owned() })
    }
}

fn read(value: Value) -> Result<CronEntry, CronError> {
    serde_json::from_value(value)
        .map_err(|error| CronError::Bad(format!("Could not parse the job: {error}.")))
}

/// Names a place as deliveries do.
fn delivery_to(place: &Address) -> Delivery {
    let thread = place.thread_id.as_ref();
    let thread = thread.map_or(String::new(), |thread| format!(":thread:{thread}"));
    Delivery {
        mode: "announce".to_owned(),
        channel: Some(place.channel.clone()),
        to: Some(format!(
            "{}:{}{thread}",
            place.peer.kind.as_str(),
            place.peer.id
        )),
        account_id: place.account_id.clone(),
        ..Delivery::default()
    }
}

/// Shows an entry to a model.
fn shown(entry: &CronEntry) -> Value {
    let iso = |ms: Option<i64>| {
        let instant = Timestamp::from_millisecond(ms?).ok()?;
        Some(instant.to_string())
    };
    json!({
        "id": entry.id,
        "name": entry.name,
        "enabled": entry.enabled,
        "schedule": entry.schedule,
        "sessionTarget": entry.session_target,
        "payload": entry.payload,
        "delivery": entry.delivery,
        "nextRunAt": iso(entry.state.next_run_at_ms),
        "lastRunAt": iso(entry.state.last_run_at_ms),
        "lastStatus": entry.state.last_status,
        "lastError": entry.state.last_error,
    })
}

impl TypedTool for CronTool {
    type Arguments = Ask;

    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(&self, ask: Ask, context: &CallContext<'_>) -> Result<ToolOutcome, String> {
        if let Some(what) = ask.change() {
            let deed = GuardedDeed {
                tool: NAME,
                entry: NAME,
                what: &what,
            };
            context.may(deed).await?;
        }
        let answer = match self.caller(context.session_key) {
            Ok(caller) => caller.answer(ask).await,
            Err(error) => Err(error),
        };
        answer
            .map(ToolOutcome::json)
            .map_err(|error| match error.hint() {
                Some(hint) => format!("{error} ({hint})"),
                None => error.to_string(),
            })
    }
}

impl std::fmt::Debug for CronTool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CronTool").finish_non_exhaustive()
    }
}
