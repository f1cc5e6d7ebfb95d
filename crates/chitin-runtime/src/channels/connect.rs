//! The channels of a server: opened before it serves, connected while it does, told to end before its turns are over.

use super::open::{OpenedChannel, open};
use super::plan::{Activation, ChannelPlan, plans};
use crate::error::RuntimeError;
use crate::notes::Notes;
use crate::{Configuration, Host};
use chitin_gateway::surface::{Network, Webhook};
use chitin_gateway::{Gateway, Surface, Surfaces};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// How long networks may take to say goodbye.
const FAREWELL: Duration = Duration::from_secs(5);

/// Where networks remember how far they were, in Chitin's home.
const REMEMBERED: &str = "channels";

/// The networks that are to be connected.
#[derive(Default)]
pub struct ChannelSet {
    opened: Vec<OpenedChannel>,
}

/// Channels that are connected.
pub struct ConnectedChannels {
    running: JoinSet<()>,
    end: CancellationToken,
}

impl ChannelSet {
    /// Opens what is to be connected. What cannot be is said, and the others go on.
    pub fn open(
        host: &Host,
        configuration: &Configuration,
        state: &Path,
        notes: &Notes,
    ) -> Result<Self, RuntimeError> {
        let mut networks = Self::default();
        for plan in plans(host, configuration, state)? {
            networks.add(&plan, state, notes);
        }
        Ok(networks)
    }

    fn add(&mut self, plan: &ChannelPlan, state: &Path, notes: &Notes) {
        let id = plan.kind.id();
        match plan.activation {
            Activation::Off | Activation::Absent => {}
            Activation::Elsewhere => notes.note(&format!(
                "{id} is configured and not connected; `chitin channels login {id} --as-configured` connects it"
            )),
            Activation::On => {
                let memory = state.join(REMEMBERED);
                match open(plan, Some(&memory), notes) {
                    Ok(opened) => self.opened.push(opened),
                    Err(problems) => {
                        for problem in problems {
                            let hint = problem.hint.map(|hint| format!(" ({hint})"));
                            let hint = hint.unwrap_or_default();
                            notes.note(&format!("{id} is not connected: {}{hint}", problem.message));
                        }
                    }
                }
            }
        }
    }

    /// Adds them to the surfaces of a gateway.
    pub fn add_to(&self, surfaces: Surfaces) -> Surfaces {
        let networks = self.opened.iter();
        networks.fold(surfaces, |surfaces, opened| {
            surfaces.with(Arc::clone(&opened.network) as Arc<dyn Surface>)
        })
    }

    /// Returns all of them, for whoever wants to know how they stand.
    pub fn all(&self) -> Vec<Arc<dyn Network>> {
        let networks = self.opened.iter();
        networks.map(|opened| Arc::clone(&opened.network)).collect()
    }

    /// Returns what they are called at over HTTP.
    pub fn webhooks(&self) -> Vec<Arc<dyn Webhook>> {
        let webhooks = self.opened.iter().flat_map(|opened| &opened.webhooks);
        webhooks.map(Arc::clone).collect()
    }

    /// Returns their names.
    pub fn names(&self) -> Vec<String> {
        let networks = self.opened.iter();
        networks
            .map(|opened| opened.network.id().to_owned())
            .collect()
    }

    /// Connects them.
    pub fn connect(&self, gateway: &Gateway) -> ConnectedChannels {
        let end = CancellationToken::new();
        let mut running = JoinSet::new();
        for opened in &self.opened {
            let network = Arc::clone(&opened.network);
            running.spawn(network.run(gateway.clone(), end.clone()));
        }
        ConnectedChannels { running, end }
    }
}

impl ConnectedChannels {
    /// Returns what tells them to take nothing more in. They can still send.
    pub fn end(&self) -> CancellationToken {
        self.end.clone()
    }

    /// Waits until all of them are gone, but not for ever.
    pub async fn ended(mut self) {
        self.end.cancel();
        let all = async { while self.running.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(FAREWELL, all).await;
    }
}
