//! What `chitin serve` is made of besides the gateway: the address, the token, spans; with the feature `serve` also what is handed to the
//! HTTP server: the file of logins, and what the page asks about workspaces.

mod address;
#[cfg(feature = "serve")]
mod logins;
mod telemetry;
mod token;
#[cfg(feature = "serve")]
mod workspace_api;

pub use address::listen_address;
#[cfg(feature = "serve")]
pub use logins::LoginFile;
pub use telemetry::Telemetry;
pub use token::{TOKEN_FILE, Token, token};
#[cfg(feature = "serve")]
pub use workspace_api::{CheckWorkspace, WorkspaceApi};
