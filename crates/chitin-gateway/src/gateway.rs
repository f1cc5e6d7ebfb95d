//! The gateway itself: its parts, its shared state, and its end. What it does is in the feature folders beside this file.
//!
//! Everything that is to be run is a [`crate::Job`]. A job is in the job log before its sender hears that it was accepted, and
//! leaves it when its turn is over and its reply is delivered. What a crash leaves open is run again under the same id, and a
//! turn happens once under one id. Reading order: `intake/accept.rs`, `queue/enqueue.rs`, `turns/run.rs`,
//! `delivery/deliver.rs`, `turns/finish.rs`.

use crate::access::AccessControl;
use crate::approvals::Broker;
use crate::cron::Schedules;
use crate::events::EventBus;
use crate::handover::{Elsewhere, Left, Turnstile};
use crate::host::AgentHost;
use crate::intake::recent::Recent;
use crate::queue::busy::Busy;
use crate::queue::lane::TurnConcurrency;
use crate::queue::turn_slots::TurnSlots;
use crate::route::Routing;
use crate::route::bindings::Bindings;
use crate::subagents::tree::Tree;
use crate::surface::Surfaces;
use crate::turns::OutagePolicy;
use crate::turns::notes::Noted;
use crate::turns::outage::OutageFigures;
use chitin_agent::clock::Clock;
use chitin_contract::Contract;
use chitin_guard::{SpaceFound, SpaceWatch};
use chitin_store::JobLog;
use chitin_tools::ToolOffer;
use serde_json::Value;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

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
    pub ledger: JobLog,
    /// Who is heard on networks.
    pub trust: Arc<AccessControl>,
    /// Time and names.
    pub clock: Arc<dyn Clock>,
    /// The time zone of the user.
    pub zone: jiff::tz::TimeZone,
    /// How many jobs may be open at once.
    pub most_open: usize,
    /// How much room is left for what is accepted.
    pub space: Arc<SpaceWatch>,
    /// What holds in outages of the machine or of models.
    pub outage: OutagePolicy,
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
    pub(crate) guest_routing: Option<Routing>,
    pub(crate) hub: EventBus,
    pub(crate) busy: Busy,
    pub(crate) bindings: Bindings,
    pub(crate) tree: Tree,
    pub(crate) turn_slots: TurnSlots,
    pub(crate) open: AtomicUsize,
    pub(crate) recent: Mutex<Recent>,
    pub(crate) closing: AtomicBool,
    pub(crate) ending: CancellationToken,
    pub(crate) tasks: TaskTracker,
    pub(crate) activity: tokio::sync::Notify,
    pub(crate) put_away_at: AtomicI64,
    pub(crate) offers: OnceLock<Offering>,
    pub(crate) schedules: OnceLock<Schedules>,
    pub(crate) noted: Mutex<Noted>,
    pub(crate) approvals: OnceLock<Broker>,
    pub(crate) outages: OutageFigures,
    /// Passed by whoever changes the books.
    pub(crate) turnstile: Turnstile,
    /// What is told to the process that keeps the books by now.
    pub(crate) left: OnceLock<Left>,
    /// Sessions in which turns of the process before this one run.
    pub(crate) elsewhere: Elsewhere,
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inner").finish_non_exhaustive()
    }
}

/// Says which tools of the gateway sessions of a channel have.
type Offering = Arc<dyn Fn(Option<&str>) -> Arc<Vec<ToolOffer>> + Send + Sync>;

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
        let note = Arc::clone(&parts.note);
        parts.ledger.watch(move |event| note(&event.to_string()));
        if let Some(damage) = parts.ledger.health().damage {
            let found = damage.to_string();
            (parts.note)(&format!(
                "Found on start: {found}. Jobs that can still be read are resumed; messages in the lost part must be sent again."
            ));
        }
        Self(Arc::new(Inner {
            guest_routing: routing.for_guests(&parts.config),
            routing,
            noted: Mutex::default(),
            outages: OutageFigures::default(),
            hub: EventBus::default(),
            busy: Busy::default(),
            bindings: Bindings::default(),
            tree: Tree::default(),
            turn_slots: TurnSlots::new(TurnConcurrency::read(&parts.config, &rules.lanes)),
            open: AtomicUsize::new(0),
            recent: Mutex::default(),
            closing: AtomicBool::new(false),
            ending: CancellationToken::new(),
            tasks: TaskTracker::new(),
            activity: tokio::sync::Notify::new(),
            put_away_at: AtomicI64::new(0),
            offers: OnceLock::new(),
            schedules: OnceLock::new(),
            approvals: OnceLock::new(),
            turnstile: Turnstile::default(),
            left: OnceLock::new(),
            elsewhere: Elsewhere::default(),
            parts,
        }))
    }

    /// Returns the same gateway, without keeping it.
    pub fn downgrade(&self) -> WeakGateway {
        WeakGateway(Arc::downgrade(&self.0))
    }

    /// Returns a new name for a job.
    pub fn new_job_id(&self) -> String {
        self.0.parts.clock.unique()
    }

    /// Returns what it is made of.
    pub fn parts(&self) -> &GatewayParts {
        &self.0.parts
    }

    /// Returns how much room is left for what is accepted.
    pub fn space(&self) -> SpaceFound {
        let parts = &self.0.parts;
        parts.space.look(parts.clock.now_ms())
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
        offers: impl Fn(Option<&str>) -> Arc<Vec<ToolOffer>> + Send + Sync + 'static,
    ) {
        let _ = self.0.offers.set(Arc::new(offers));
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
