//! What a server has besides its gateway.

use crate::login::Register;
use crate::workspace_api::WorkspaceApi;
use chitin_gateway::surface::{Network, Webhook};
use std::fmt;
use std::sync::Arc;

/// What a server has besides its gateway. All of it may be left out.
#[derive(Clone, Default)]
pub struct Attached {
    /// Answers questions about workspaces.
    pub workspaces: Option<Arc<dyn WorkspaceApi>>,
    /// The networks, for how they stand.
    pub networks: Vec<Arc<dyn Network>>,
    /// What networks call.
    pub webhooks: Vec<Arc<dyn Webhook>>,
    /// Keeps who is in on the page; without it a restart shows everybody out.
    pub logins: Option<Arc<dyn Register>>,
    /// Says how much memory the process has, in bytes.
    pub memory: Option<fn() -> Option<u64>>,
}

impl fmt::Debug for Attached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let networks: Vec<&str> = self.networks.iter().map(|network| network.id()).collect();
        let webhooks: Vec<&str> = self.webhooks.iter().map(|webhook| webhook.path()).collect();
        f.debug_struct("Attached")
            .field("workspaces", &self.workspaces.is_some())
            .field("logins", &self.logins.is_some())
            .field("networks", &networks)
            .field("webhooks", &webhooks)
            .finish_non_exhaustive()
    }
}
