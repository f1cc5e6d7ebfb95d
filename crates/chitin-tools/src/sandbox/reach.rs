//! Which level works here, found out by trying.

use super::config::SandboxConfig;
use super::level::{Guard, SandboxLevel, SandboxReport};
use super::policy::{Policy, PolicyError};
use super::running::{Request, Running};
use super::wire::{Cause, ErrorOutput, Facts, Launch};
use super::{bwrap, door, environment};
use chitin_protocol::settings::SandboxSetting;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tempfile::TempDir;
use thiserror::Error;

/// How long a trial may take.
const TRIAL: Duration = Duration::from_secs(10);
/// From this version on Landlock keeps signals inside.
const SIGNALS_SINCE: u8 = 6;

/// A place to run commands in: made once for a workspace, and shared. Its private directory goes away with it.
#[derive(Debug)]
pub struct Sandbox {
    choice: SandboxSetting,
    policy: Policy,
    helper: PathBuf,
    bwrap: Option<PathBuf>,
    environment: BTreeMap<String, String>,
    inner_path: String,
    outer_path: String,
    reached: OnceLock<Result<SandboxReport, Refusal>>,
    _private: TempDir,
}

/// Why there is no sandbox.
#[derive(Debug, Error)]
pub enum SandboxError {
    /// The roots are wrong.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// There is no private directory.
    #[error("no private directory in `{path}`: {source}")]
    Scratch {
        /// Where it should be.
        path: PathBuf,
        /// Why there is none.
        source: io::Error,
    },
}

/// Why commands don't run here: no level that was asked for works.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("no sandbox works here: {}", .tried.iter().map(|(level, reason)| format!("`{}`: {reason}", level.name())).collect::<Vec<_>>().join("; "))]
pub struct Refusal {
    /// What was tried, and why it does not work.
    pub tried: Vec<(SandboxLevel, String)>,
}

impl Refusal {
    /// Says what to do about it.
    pub const HINT: &'static str = "Install `bwrap`, use a kernel with Landlock, or set `exec.sandbox` to \"none\" to run commands without any protection.";
}

impl Sandbox {
    /// Makes a sandbox. Nothing is started yet.
    pub fn new(config: &SandboxConfig) -> Result<Self, SandboxError> {
        let private = tempfile::Builder::new()
            .prefix("chitin-exec-")
            .tempdir_in(&config.scratch)
            .map_err(|source| SandboxError::Scratch {
                path: config.scratch.clone(),
                source,
            })?;
        let policy = Policy::new(config, private.path())?;
        let search = config.environment.get("PATH").map_or("", String::as_str);
        Ok(Self {
            choice: config.choice,
            helper: config.helper.clone(),
            bwrap: bwrap::find(search),
            environment: environment::base(config),
            inner_path: environment::path(config, &policy, SandboxLevel::Bwrap),
            outer_path: environment::path(config, &policy, SandboxLevel::None),
            policy,
            reached: OnceLock::new(),
            _private: private,
        })
    }

    /// Returns the level that commands run at, with what it holds. The first call tries it out and takes a moment; call it
    /// where blocking is fine.
    pub fn reach(&self) -> Result<&SandboxReport, &Refusal> {
        self.reached.get_or_init(|| self.try_levels()).as_ref()
    }

    /// Returns the workspace, links resolved.
    pub fn workspace(&self) -> &Path {
        &self.policy.workspace
    }

    /// Returns the directory that a call names, when commands may work there.
    pub fn workdir(&self, asked: Option<&str>) -> Result<PathBuf, String> {
        let Some(asked) = asked.filter(|asked| !asked.is_empty()) else {
            return Ok(self.policy.workspace.clone());
        };
        let path = self.policy.workspace.join(asked);
        let found = door::resolved(&path)
            .map_err(|error| format!("The directory `{asked}` can't be used: {error}."))?;
        if door::kind(&found) != Some(door::Kind::Directory) {
            return Err(format!("`{asked}` is not a directory."));
        }
        let open = self.choice == SandboxSetting::None || self.policy.reads(&found);
        if !open || found.to_str().is_none() {
            return Err(format!(
                "The directory `{asked}` lies outside of what commands may use."
            ));
        }
        Ok(found)
    }

    /// Starts a command at the level that was reached. It may block for the moment that a start takes.
    pub fn start(&self, request: &Request) -> Result<Running, StartError> {
        let level = self.reach().map_err(Clone::clone)?.level;
        Ok(Running::start(&self.launch(level, request), &request.sink)?)
    }

    /// Returns what the helper is told, at a level or at that of commands.
    pub(crate) fn launch(&self, level: SandboxLevel, request: &Request) -> Launch {
        let path = match level {
            SandboxLevel::Bwrap | SandboxLevel::Landlock => &self.inner_path,
            SandboxLevel::None => &self.outer_path,
        };
        Launch {
            level,
            bwrap: self.bwrap.clone(),
            helper: self.helper.clone(),
            policy: self.policy.clone(),
            program: request.program.clone(),
            environment: environment::complete(
                self.environment.clone(),
                &self.policy,
                level,
                path,
                &request.environment,
            ),
            workdir: request
                .workdir
                .clone()
                .unwrap_or_else(|| self.policy.workspace.clone()),
            timeout_ms: request
                .timeout
                .map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX)),
            errors: request.errors,
        }
    }

    fn try_levels(&self) -> Result<SandboxReport, Refusal> {
        let levels: &[SandboxLevel] = match self.choice {
            SandboxSetting::Auto => &[SandboxLevel::Bwrap, SandboxLevel::Landlock],
            SandboxSetting::Bwrap => &[SandboxLevel::Bwrap],
            SandboxSetting::Landlock => &[SandboxLevel::Landlock],
            SandboxSetting::None => return Ok(SandboxReport::none()),
        };
        let mut tried = Vec::new();
        for level in levels {
            match self.trial(*level) {
                Ok(facts) => return Ok(self.report(*level, facts)),
                Err(reason) => tried.push((*level, reason)),
            }
        }
        Err(Refusal { tried })
    }

    /// Runs a command that does nothing, the way that every command runs.
    fn trial(&self, level: SandboxLevel) -> Result<Facts, String> {
        if level == SandboxLevel::Bwrap && self.bwrap.is_none() {
            return Err("it is not installed".to_owned());
        }
        let request = Request {
            timeout: Some(TRIAL),
            ..Request::shell(":", Arc::new(|_| {}))
        };
        let running = Running::start(&self.launch(level, &request), &request.sink)
            .map_err(|error| error.to_string())?;
        let ending = running.wait_blocking();
        match (ending.cause, ending.code, ending.facts) {
            (Cause::Exited, Some(0), Some(facts)) => Ok(facts),
            (cause, code, _) => Err(match ending.message.trim() {
                "" => format!("the trial ended with {cause:?} {code:?}"),
                message => message.to_owned(),
            }),
        }
    }

    fn report(&self, level: SandboxLevel, facts: Facts) -> SandboxReport {
        let network = match (self.policy.network, facts.filter) {
            (true, _) => Guard::Opened,
            (false, true) => Guard::Enforced,
            (false, false) => Guard::Missing,
        };
        let mut gaps = Vec::new();
        let mut note = |gap: &str| gaps.push(gap.to_owned());
        let processes = match (level, facts.landlock) {
            (SandboxLevel::Bwrap, _) => Guard::Enforced,
            (SandboxLevel::Landlock, Some(version)) => {
                note(
                    "Names, sizes, modes and times of files outside can be seen, and modes and times be changed.",
                );
                note("Names of processes can be seen, and shared memory of the same user be used.");
                if version >= SIGNALS_SINCE {
                    Guard::Enforced
                } else {
                    note(
                        "Processes of the same user can be sent signals; the kernel is too old to prevent it.",
                    );
                    Guard::Missing
                }
            }
            (SandboxLevel::Landlock | SandboxLevel::None, _) => Guard::Missing,
        };
        if self.policy.unix_sockets {
            note(
                "Sockets of the local machine are open by the settings; a service behind one may lead outside.",
            );
        }
        if level == SandboxLevel::Bwrap && self.policy.network && self.policy.unix_sockets {
            note("Sockets with abstract names can be reached, because the network is open.");
        }
        SandboxReport {
            level,
            files: Guard::Enforced,
            network,
            processes,
            gaps,
        }
    }
}

/// Why a command did not start.
#[derive(Debug, Error)]
pub enum StartError {
    /// No level works.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The helper did not start.
    #[error("the sandbox helper can't be started: {0}")]
    Helper(#[from] io::Error),
}

/// Makes a request for a shell command.
impl Request {
    /// Makes a request that runs a command in a shell, in the workspace.
    pub fn shell(command: &str, sink: super::Sink) -> Self {
        Self {
            program: ["/bin/sh", "-c", command].map(str::to_owned).to_vec(),
            environment: BTreeMap::new(),
            workdir: None,
            timeout: None,
            errors: ErrorOutput::Output,
            sink,
        }
    }
}
