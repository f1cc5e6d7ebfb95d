//! The process's surroundings, read once and handed down as values.

use crate::error::{ErrorKind, RuntimeError};
use chitin_config::env::Env;
use chitin_config::secrets::secrets_of_environment;
use chitin_net::{OWN_AUTHORITIES, TlsRoots};
use chitin_tools::redact::Redactor;
use std::time::{SystemTime, UNIX_EPOCH};

/// What the command was started with.
#[derive(Debug, Clone)]
pub struct Host {
    /// The environment, as it was when the process started.
    pub env: Env,
    /// The program that shuts commands in before they run: this one, if it calls
    /// [`chitin_tools::sandbox::helper`] first, as `chitin` does. Without it nothing is run.
    pub helper: Option<std::path::PathBuf>,
    /// What takes secrets out of everything that leaves the process. It learns them where they are read; clones share them.
    pub secrets: Redactor,
}

impl Host {
    /// Returns the time in milliseconds since 1970.
    #[expect(
        clippy::disallowed_methods,
        reason = "the binary is where the clock is read"
    )]
    pub fn now_ms() -> i64 {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or_default()
    }

    /// Returns the time as an ISO instant in UTC, to the millisecond.
    pub fn now() -> String {
        let instant = jiff::Timestamp::from_millisecond(Self::now_ms()).unwrap_or_default();
        format!("{instant:.3}")
    }

    /// Returns whom TLS trusts: the usual authorities, and those of a file that the environment names. Everything that speaks TLS asks here.
    pub fn trust(&self) -> TlsRoots {
        match self
            .env
            .get(OWN_AUTHORITIES)
            .filter(|file| !file.is_empty())
        {
            Some(file) => TlsRoots::with_file(self.env.resolve(file)),
            None => TlsRoots::default(),
        }
    }

    /// Returns the program of this process.
    pub fn program() -> std::path::PathBuf {
        std::env::current_exe().unwrap_or_else(|_| "chitin".into())
    }

    /// Returns a host for an environment that the caller hands in; nothing of the process is read and no commands are run.
    pub fn embedded(env: Env) -> Self {
        Self {
            secrets: Redactor::new(secrets_of_environment(&env)),
            env,
            helper: None,
        }
    }

    /// Lets the secrets of this host be known to a redactor that the caller has, from now on.
    #[must_use]
    pub fn sharing(mut self, secrets: Redactor) -> Self {
        secrets.learn(secrets_of_environment(&self.env));
        self.secrets = secrets;
        self
    }

    /// Returns the name of the time zone that this machine or the user's environment sets.
    pub fn time_zone(&self) -> Option<String> {
        let named = self.env.get("TZ").map(|zone| zone.trim_start_matches(':'));
        let known = match named {
            Some("" | "UTC") => Some("UTC".to_owned()),
            Some(zone) if zone.contains('/') && !zone.starts_with('/') => Some(zone.to_owned()),
            Some(_) => None,
            None => linked_zone(),
        };
        // Looking a zone up reads the whole list of zones, which costs more than all else that a command does.
        known.or_else(|| {
            let zone = jiff::tz::TimeZone::system();
            zone.iana_name().map(str::to_owned)
        })
    }

    /// Returns the time zone itself. One file is read; looking a zone up by its name reads the whole list of zones.
    #[expect(
        clippy::disallowed_methods,
        reason = "the binary is where the machine's settings are read"
    )]
    pub fn zone(&self) -> jiff::tz::TimeZone {
        use jiff::tz::TimeZone;
        let file = match self.env.get("TZ").map(|zone| zone.trim_start_matches(':')) {
            Some("" | "UTC") => return TimeZone::UTC,
            Some(name) if name.starts_with('/') => name.to_owned(),
            Some(name) if name.contains('/') && !name.contains("..") => {
                format!("/usr/share/zoneinfo/{name}")
            }
            Some(_) => return TimeZone::system(),
            None => "/etc/localtime".to_owned(),
        };
        let read = std::fs::read(file).ok();
        read.and_then(|bytes| TimeZone::tzif("local", &bytes).ok())
            .unwrap_or_else(TimeZone::system)
    }

    /// Returns the minutes since midnight in the user's time zone.
    pub fn minutes_of_day() -> u32 {
        let now = jiff::Zoned::now();
        u32::from(now.hour().unsigned_abs()) * 60 + u32::from(now.minute().unsigned_abs())
    }

    /// Reads the environment of this process.
    #[expect(
        clippy::disallowed_methods,
        reason = "the runtime is where the environment is read, for whoever does not hand in another"
    )]
    pub fn from_process() -> Result<Self, RuntimeError> {
        let directory = std::env::current_dir().map_err(|e| {
            RuntimeError::new(
                ErrorKind::User,
                "Could not determine the current directory.",
            )
            .caused_by(e)
        })?;
        let variables = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        let mut env = Env::new(directory).with_all(variables);
        if let Some(home) = std::env::home_dir() {
            env = env.with_os_home(home);
        }
        Ok(Self {
            helper: Some(Self::program()),
            ..Self::embedded(env)
        })
    }
}

/// Returns the zone that the machine's clock is linked to, where that is how it is set.
#[expect(
    clippy::disallowed_methods,
    reason = "the binary is where the machine's settings are read"
)]
fn linked_zone() -> Option<String> {
    let target = std::fs::read_link("/etc/localtime").ok()?;
    let (_, zone) = target.to_str()?.rsplit_once("zoneinfo/")?;
    (!zone.is_empty()).then(|| zone.to_owned())
}
