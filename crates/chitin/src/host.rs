//! The process's surroundings, read once and handed down as values.

use crate::error::{CliError, Kind};
use chitin_workspace::env::Env;

/// What the command was started with.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) env: Env,
}

impl Host {
    /// Reads the environment of this process.
    #[expect(
        clippy::disallowed_methods,
        reason = "the binary is where the environment is read"
    )]
    pub(crate) fn from_process() -> Result<Self, CliError> {
        let directory = std::env::current_dir().map_err(|e| {
            CliError::new(Kind::User, "The current directory cannot be used.").caused_by(e)
        })?;
        let variables = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        let mut env = Env::new(directory).with_all(variables);
        if let Some(home) = std::env::home_dir() {
            env = env.with_os_home(home);
        }
        Ok(Self { env })
    }
}
