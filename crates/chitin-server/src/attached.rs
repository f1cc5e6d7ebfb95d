//! What a server has besides its gateway.

use crate::login::Register;
use crate::workspace_api::WorkspaceApi;
use bytes::Bytes;
use chitin_gateway::surface::{Network, Webhook};
use serde::Serialize;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// Takes secrets out of a document.
pub type RedactValue = dyn Fn(&mut Value) + Send + Sync;

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
    /// Takes secrets out of what is sent.
    pub redact: Option<Arc<RedactValue>>,
    /// Says how much memory the process has, in bytes.
    pub memory: Option<fn() -> Option<u64>>,
}

impl Attached {
    /// Writes a document as JSON, without the secrets in it.
    pub(crate) fn json(&self, document: &impl Serialize) -> String {
        let Some(redact) = &self.redact else {
            return serde_json::to_string(document).unwrap_or_default();
        };
        let mut value = serde_json::to_value(document).unwrap_or_default();
        redact(&mut value);
        value.to_string()
    }

    /// Takes the secrets out of JSON that is written already.
    pub(crate) fn redact_json(&self, bytes: &mut Bytes) {
        if let Some(redact) = &self.redact
            && let Ok(mut value) = serde_json::from_slice::<Value>(bytes)
        {
            redact(&mut value);
            *bytes = value.to_string().into();
        }
    }
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
