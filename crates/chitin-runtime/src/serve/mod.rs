//! What `chitin serve` is made of besides the gateway: the token, the file of logins, what the page asks about workspaces, spans.

mod address;
mod logins;
mod telemetry;
mod token;
mod workspace_api;

pub use address::listen_address;
pub use logins::LoginFile;
pub use telemetry::Telemetry;
pub use token::{TOKEN_FILE, Token, token};
pub use workspace_api::{CheckWorkspace, WorkspaceApi};
