//! What `chitin serve` is made of: its gateway, the address, the token, spans; with the feature `serve` also what is handed to the HTTP
//! server: its settings, the file of logins, and what the page asks about workspaces.

mod address;
mod gateway;
#[cfg(feature = "serve")]
mod logins;
mod published;
#[cfg(feature = "serve")]
mod settings;
mod telemetry;
mod token;
#[cfg(feature = "serve")]
mod workspace_api;

/// Who is signed in to the page, in Chitin's home.
pub(crate) const LOGINS_FILE: &str = "logins.json";

pub use address::listen_address;
pub(crate) use gateway::JOB_LOG;
pub use gateway::{PreparedGateway, ServeRequest, ServedGateway, TakenJobLog, downgrade_job_log};
#[cfg(feature = "serve")]
pub use logins::LoginFile;
pub(crate) use published::FILE as ADDRESS_FILE;
pub use published::PublishedAddress;
#[cfg(feature = "serve")]
pub use settings::server_settings;
pub use telemetry::Telemetry;
pub use token::{TOKEN_FILE, Token, token};
#[cfg(feature = "serve")]
pub use workspace_api::ServedWorkspaces;
