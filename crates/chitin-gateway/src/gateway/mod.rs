//! The gateway: messages in, turns of the right session, words out.
//!
//! Everything that is to be run is a [`Job`]. A job is in the ledger before anybody hears that it was taken in, and leaves
//! it when its turn is over and its words are out; what a crash leaves open is run again under the same name, and a turn
//! happens once under one name. Reading order: [`Gateway::accept`] here, `queueing.rs` (what waits, what goes next),
//! `running.rs` (one turn), `delivering.rs` (where its words go), `ending.rs` (what follows from it).

mod accepting;
mod announcing;
mod archiving;
mod beating;
mod beginning;
mod bindings;
mod delivering;
mod drafting;
mod ending;
mod hub;
mod lanes;
mod listening;
mod noticing;
mod panics;
mod places;
mod queueing;
mod recovering;
mod running;
mod scheduling;
mod sending;
mod sessions;
mod spawn_workspaces;
mod spawning;
mod speaking;
mod standing;
mod streaming;
mod threading;
mod tree;
mod turns;
mod wording;

pub use beating::{BeatOutcome, BeatReport, BeatingAgent};
pub use beginning::Spawned;
pub use hub::{Happening, Heard, Hub, Place, Subscription, Topic, What};
pub use scheduling::CronReport;
pub(crate) use scheduling::blocking;
pub use sessions::StopCause;
pub use speaking::{ChildState, Letter, OpenChild};

use crate::host::{AgentHost, HostError};
use crate::incoming::{Incoming, Noticed};
use crate::job::Job;
use crate::queue::QueueSettings;
use crate::queue::lane::Concurrency;
use crate::route::{RouteError, Routing};
use crate::surface::Surfaces;
use crate::trust::Trust;
use accepting::Where;
use bindings::Bindings;
use chitin_agent::clock::Clock;
use chitin_contract::Contract;
use chitin_store::{Change, Ledger, StoreError};
use chitin_tools::Offer;
use lanes::Lanes;
use serde::Serialize;
use serde_json::Value;
use sessions::{Busy, Marks};
use std::collections::{HashSet, VecDeque};
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tree::Tree;

/// How many names of messages are remembered, so that none is taken in twice.
const REMEMBERED: usize = 8192;

/// What a gateway is made of. The parts are handed in; nothing is looked up.
pub struct GatewayParts {
    /// The contract.
    pub contract: &'static Contract,
    /// What `openclaw.json` says.
    pub config: Arc<Value>,
    /// Who makes agents.
    pub host: Arc<dyn AgentHost>,
    /// Where words go.
    pub surfaces: Surfaces,
    /// What is to be done.
    pub ledger: Ledger,
    /// Who is heard on networks.
    pub trust: Arc<Trust>,
    /// Time and names.
    pub clock: Arc<dyn Clock>,
    /// The time zone of the user.
    pub zone: jiff::tz::TimeZone,
    /// How many jobs may be open at once.
    pub most_open: usize,
    /// Tells people what they should know.
    pub note: Arc<dyn Fn(&str) + Send + Sync>,
}

/// Messages in, words out. Clones are the same gateway.
#[derive(Clone)]
pub struct Gateway(pub(crate) Arc<Inner>);

/// A gateway that whoever holds this does not keep.
#[derive(Clone)]
pub struct WeakGateway(Weak<Inner>);

impl WeakGateway {
    /// Returns one without a gateway: for tools that are only described.
    pub(crate) const fn none() -> Self {
        Self(Weak::new())
    }

    /// Returns the gateway, while there is one.
    pub fn get(&self) -> Option<Gateway> {
        self.0.upgrade().map(Gateway)
    }
}

impl std::fmt::Debug for WeakGateway {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WeakGateway").finish_non_exhaustive()
    }
}

/// What all parts of the gateway share.
pub(crate) struct Inner {
    pub(crate) parts: GatewayParts,
    pub(crate) routing: Routing,
    /// The same for those who are not the owner, where that differs.
    guest_routing: Option<Routing>,
    pub(crate) hub: Hub,
    busy: Busy,
    bindings: Bindings,
    tree: Tree,
    lanes: Lanes,
    open: AtomicUsize,
    recent: Mutex<Recent>,
    closing: AtomicBool,
    ending: CancellationToken,
    tasks: TaskTracker,
    activity: tokio::sync::Notify,
    put_away_at: AtomicI64,
    offers: OnceLock<Offering>,
    pub(crate) schedules: OnceLock<scheduling::Schedules>,
}

/// Says which tools of the gateway sessions of a channel have.
type Offering = Arc<dyn Fn(Option<&str>) -> Arc<Vec<Offer>> + Send + Sync>;

/// The names of jobs that were taken in lately.
#[derive(Default)]
struct Recent {
    /// Digests, not names: small things that stay would keep the memory around them from going back.
    names: HashSet<u128>,
    order: VecDeque<u128>,
}

/// A message that was taken in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Accepted {
    /// The job.
    pub job_id: String,
    /// The session.
    pub session_key: String,
    /// The agent.
    pub agent_id: String,
    /// What becomes of it first.
    pub place: Place,
}

/// A session that has something to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BusySession {
    /// The session.
    pub session_key: String,
    /// The job whose turn runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job_id: Option<String>,
    /// Since when, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since_ms: Option<i64>,
    /// How many jobs wait.
    pub waiting: usize,
}

/// Why a message was not taken in.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The gateway is about to end.
    #[error("the gateway is about to end and takes nothing more in")]
    Closing,
    /// There is nothing in it.
    #[error("the message says nothing")]
    Empty,
    /// There is too much in it.
    #[error("the message is too large: {0}")]
    TooLarge(String),
    /// There is no such agent.
    #[error("there is no agent `{id}`")]
    UnknownAgent {
        /// The id.
        id: String,
        /// One that may be meant.
        nearest: Option<String>,
    },
    /// The key names no session.
    #[error("`{key}` cannot be a session: {reason}")]
    BadSession {
        /// The key.
        key: String,
        /// Why.
        reason: String,
    },
    /// The agent's workspace does not take messages from this channel.
    #[error("{reason}")]
    ChannelShut {
        /// The channel.
        channel: String,
        /// Why, as a sentence that names the file.
        reason: String,
    },
    /// Nobody is there for it.
    #[error(transparent)]
    NoRoute(#[from] RouteError),
    /// Too much is to be done already.
    #[error("{open} jobs are open already, and more are not taken in")]
    Full {
        /// How many.
        open: usize,
    },
    /// What is to be done already is too large.
    #[error("the messages that are open already are too large, and more are not taken in")]
    TooMuch,
    /// Too much waits in this session already.
    #[error("{waiting} messages wait in this session already, and more are not taken in")]
    QueueFull {
        /// How many.
        waiting: usize,
    },
    /// It cannot be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The agent's own parts cannot be used.
    #[error(transparent)]
    Host(#[from] HostError),
}

impl Gateway {
    /// Makes a gateway of its parts.
    pub fn new(parts: GatewayParts) -> Self {
        let rules = &parts.contract.runtime.dispatch;
        let mut routing = Routing::read(&parts.config, parts.contract);
        let served = parts.host.agents();
        if let Some(default) = served.iter().find(|agent| agent.is_default) {
            routing =
                routing.with_default(chitin_protocol::agent_id::AgentId::normalize(&default.id));
        }
        Self(Arc::new(Inner {
            guest_routing: routing.for_guests(&parts.config, rules.surfaces),
            routing,
            hub: Hub::default(),
            busy: Busy::default(),
            bindings: Bindings::default(),
            tree: Tree::default(),
            lanes: Lanes::new(Concurrency::read(&parts.config, &rules.lanes)),
            open: AtomicUsize::new(0),
            recent: Mutex::default(),
            closing: AtomicBool::new(false),
            ending: CancellationToken::new(),
            tasks: TaskTracker::new(),
            activity: tokio::sync::Notify::new(),
            put_away_at: AtomicI64::new(0),
            offers: OnceLock::new(),
            schedules: OnceLock::new(),
            parts,
        }))
    }

    /// Takes a message in. When this returns, the message is on the disk.
    pub async fn accept(&self, incoming: Incoming) -> Result<Accepted, Refusal> {
        let noticed = Noticed {
            incoming,
            ..Noticed::default()
        };
        self.0.accept(noticed, Where::Alone, None).await
    }

    /// Takes in a job of the gateway's own making: it goes before what people said and waits. One of a known name is
    /// not taken in again.
    pub async fn begin(&self, job: Job) -> Result<Accepted, Refusal> {
        let inner = &self.0;
        if self.is_closing() {
            return Err(Refusal::Closing);
        }
        if inner.is_known(&job.id) {
            return Ok(Accepted {
                job_id: job.id,
                session_key: job.session_key,
                agent_id: job.agent_id,
                place: Place::Known,
            });
        }
        let job_id = job.id.clone();
        let taken = inner.take_in(job, None).await;
        if taken.is_err() {
            inner.forget(&job_id);
        }
        taken
    }

    /// Tells whether a job waits or runs.
    pub fn is_open(&self, job_id: &str) -> bool {
        let busy = self.0.busy.lock();
        busy.values().any(|session| session.has(job_id))
    }

    /// Returns the same gateway, without keeping it.
    pub fn downgrade(&self) -> WeakGateway {
        WeakGateway(Arc::downgrade(&self.0))
    }

    /// Listens to what happens.
    pub fn subscribe(&self, topic: Topic) -> Subscription {
        self.0.hub.subscribe(topic)
    }

    /// Returns a new name for a job.
    pub fn new_job_id(&self) -> String {
        self.0.parts.clock.unique()
    }

    /// Returns what it is made of.
    pub fn parts(&self) -> &GatewayParts {
        &self.0.parts
    }

    /// Returns who gets which message.
    pub fn routing(&self) -> &Routing {
        &self.0.routing
    }

    /// Waits until the next job is taken in, or one was since the last time.
    pub async fn activity(&self) {
        self.0.activity.notified().await;
    }

    /// Tells whether it is about to end.
    pub fn is_closing(&self) -> bool {
        self.0.closing.load(Ordering::Relaxed)
    }

    /// Sets which tools of the gateway sessions of a channel have. Once, before the first message.
    pub fn offer_tools(
        &self,
        offers: impl Fn(Option<&str>) -> Arc<Vec<Offer>> + Send + Sync + 'static,
    ) {
        let _ = self.0.offers.set(Arc::new(offers));
    }

    /// Stops the turn of a session, lets go what waits there, and stops all runs below it. Returns how many turns and messages that were.
    pub fn stop(&self, session_key: &str) -> usize {
        self.0.stop(session_key, StopCause::Wanted, true)
    }

    /// Returns the sessions that have something to do.
    pub fn busy(&self) -> Vec<BusySession> {
        let busy = self.0.busy.lock();
        let mut found: Vec<BusySession> = busy
            .iter()
            .map(|(key, session)| BusySession {
                session_key: key.clone(),
                job_id: session.active.as_ref().map(|active| active.job.id.clone()),
                since_ms: session.active.as_ref().map(|active| active.since_ms),
                waiting: session.first.len() + session.pending.len(),
            })
            .collect();
        found.sort_by(|one, other| one.session_key.cmp(&other.session_key));
        found
    }

    /// Takes nothing more in and waits until what runs is done, or until the time is over. What is not done then stays in
    /// the ledger. Tells whether all is done.
    pub async fn drain(&self, longest: Duration) -> bool {
        self.0.closing.store(true, Ordering::Relaxed);
        self.0.ending.cancel();
        self.0.tasks.close();
        tokio::time::timeout(longest, self.0.tasks.wait())
            .await
            .is_ok()
    }
}

impl Inner {
    /// Takes a job in. That happens whole even if whoever asks goes away meanwhile.
    pub(crate) async fn take_in_whole(
        self: &Arc<Self>,
        job: Job,
        settings: Option<QueueSettings>,
    ) -> Result<Accepted, Refusal> {
        let inner = Arc::clone(self);
        let taking = async move { inner.take_in(job, settings).await };
        let taken = self.tasks.spawn(taking).await;
        taken.unwrap_or(Err(Refusal::Closing))
    }

    /// Puts a job into the ledger, then into its session's queue.
    pub(crate) async fn take_in(
        self: &Arc<Self>,
        job: Job,
        settings: Option<QueueSettings>,
    ) -> Result<Accepted, Refusal> {
        self.write(vec![opening(&job)]).await?;
        self.open.fetch_add(1, Ordering::Relaxed);
        self.activity.notify_one();
        let accepted = Accepted {
            job_id: job.id.clone(),
            session_key: job.session_key.clone(),
            agent_id: job.agent_id.clone(),
            place: Place::Runs,
        };
        let place = match settings {
            Some(settings) => self.enqueue(job, settings)?,
            None => self.put_first(job, Marks::new()),
        };
        self.tell(&accepted.session_key, &accepted.job_id, || What::Accepted {
            place,
        });
        Ok(Accepted { place, ..accepted })
    }

    /// Writes changes of the ledger, and waits for the disk.
    pub(crate) async fn write(&self, changes: Vec<Change>) -> Result<(), StoreError> {
        self.submit(changes).await
    }

    /// Gives changes to the ledger, at once; what it returns waits for the disk.
    pub(crate) fn submit(
        &self,
        changes: Vec<Change>,
    ) -> impl Future<Output = Result<(), StoreError>> + use<> {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        self.parts.ledger.submit(changes, move |written| {
            let _ = sender.send(written);
        });
        async move {
            receiver.await.unwrap_or_else(|_| {
                Err(StoreError::Damaged {
                    path: "ledger".into(),
                    reason: "its writer has ended".to_owned(),
                })
            })
        }
    }

    pub(crate) fn tell(&self, session_key: &str, job_id: &str, what: impl FnOnce() -> What) {
        let now = self.parts.clock.now_ms();
        self.hub.tell(now, session_key, job_id, what);
    }
}

/// Makes the change that opens a job.
pub(crate) fn opening(job: &Job) -> Change {
    Change::Open {
        id: job.id.clone(),
        body: serde_json::to_value(job).unwrap_or_default(),
    }
}

/// Makes the change that closes a job.
pub(crate) fn closing(job_id: &str) -> Change {
    Change::Close {
        id: job_id.to_owned(),
    }
}
