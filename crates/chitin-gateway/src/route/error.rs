//! Why a message goes to nobody.

use chitin_config::agents::SelectionRequired;
use thiserror::Error;

/// Why a message goes to nobody (R13).
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RouteError {
    /// The binding that holds names an agent that is not configured.
    #[error("`{path}` names the agent `{agent}`, which is not configured")]
    UnknownAgent {
        /// The place in the configuration.
        path: String,
        /// The agent.
        agent: String,
        /// Who is configured.
        known: Vec<String>,
    },
    /// No binding holds, and nobody is the default agent.
    #[error("no binding matches and there is no default agent")]
    NoDefault(#[from] SelectionRequired),
}

impl RouteError {
    /// Says what can be done.
    pub fn hint(&self) -> String {
        match self {
            Self::UnknownAgent { known, .. } => format!(
                "Add the agent to `agents.list`, or name an existing one: {}.",
                known.join(", ")
            ),
            Self::NoDefault(_) => {
                "Mark one agent with `default: true`, or add a binding for the channel.".to_owned()
            }
        }
    }
}
