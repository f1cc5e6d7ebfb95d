//! Which level works here, found out by trying.

use super::config::SandboxConfig;
use super::level::{Guard, SandboxLevel, SandboxReport};
use super::limits::CommandLimits;
use super::policy::{PolicyError, Roots};
use super::prepared::Prepared;
use super::running::{CommandRequest, Running};
use super::wire::{Cause, ErrorOutput, Facts, Launch};
use super::{environment, fs, helper};
use chitin_guard::{FoundProgram, RefusedProgram};
use chitin_protocol::settings::SandboxSetting;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use thiserror::Error;

/// How long a trial may take.
const TRIAL: Duration = Duration::from_secs(10);
/// From this version on Landlock keeps signals inside.
const SIGNALS_SINCE: u8 = 6;

/// A place to run commands in: made once for a workspace, and shared. Its private directory comes with the first command
/// and goes away with this value.
#[derive(Debug)]
pub struct Sandbox {
    /// Its environment is what commands get of Chitin's, and the path that programs are looked for in.
    config: SandboxConfig,
    roots: Roots,
    prepared: OnceLock<Prepared>,
    reached: OnceLock<Result<SandboxReport, SandboxRefusal>>,
}

/// Why commands don't run here.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SandboxRefusal {
    /// No level that was asked for works.
    #[error("no sandbox works on this machine: {}", .tried.iter().map(|(level, reason)| format!("`{}`: {reason}", level.name())).collect::<Vec<_>>().join("; "))]
    NoLevel {
        /// What was tried, and why it does not work.
        tried: Vec<(SandboxLevel, String)>,
    },
    /// The program is not there, or nothing of its name is trusted.
    #[error("the program `{name}` was not found{}", .refused.first().map_or_else(String::new, |refused| format!("; {refused}")))]
    NoProgram {
        /// Its name.
        name: String,
        /// What has its name and is not run.
        refused: Vec<RefusedProgram>,
    },
    /// There is no private directory.
    #[error("could not create a private directory for commands in `{path}`: {reason}")]
    NoScratch {
        /// Where it should be.
        path: PathBuf,
        /// Why there is none.
        reason: String,
    },
}

impl SandboxRefusal {
    /// Says what to do about it.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::NoLevel { .. } => {
                "Install `bwrap`, use a kernel with Landlock, or set `exec.sandbox` to \"none\" to run commands without any protection."
            }
            Self::NoProgram { .. } => "Install it, or name it by its path.",
            Self::NoScratch { .. } => {
                "Check that Chitin can write there and that the disk is not full."
            }
        }
    }
}

impl Sandbox {
    /// Makes a sandbox. Nothing is started or written yet.
    pub fn new(mut config: SandboxConfig) -> Result<Self, PolicyError> {
        let roots = Roots::new(&config)?;
        let search = config.environment.remove_entry("PATH");
        config.environment = environment::base(&config);
        config.environment.extend(search);
        Ok(Self {
            config,
            roots,
            prepared: OnceLock::new(),
            reached: OnceLock::new(),
        })
    }

    /// Returns the level that commands run at, with what it holds. The first call tries it out and takes a moment; call it
    /// where blocking is fine.
    pub fn reach(&self) -> Result<&SandboxReport, SandboxRefusal> {
        // A full disk may have room the next time; a kernel stays what it is.
        let prepared = self.prepared()?;
        let reached = self.reached.get_or_init(|| self.try_levels(prepared));
        reached.as_ref().map_err(Clone::clone)
    }

    /// Tells whether commands can send something elsewhere: over the network, or to a service of this machine that may.
    pub fn reaches_out(&self, report: &SandboxReport) -> bool {
        report.network != Guard::Enforced || self.config.unix_sockets
    }

    /// Tells whether the files that the agent is made of can be kept from commands at the level that was reached.
    pub fn can_keep_own(&self, report: &SandboxReport) -> bool {
        let prepared = self.prepared();
        prepared.is_ok_and(|prepared| prepared.policy.can_keep_own(report.level))
    }

    fn prepared(&self) -> Result<&Prepared, SandboxRefusal> {
        if let Some(prepared) = self.prepared.get() {
            return Ok(prepared);
        }
        let prepared = Prepared::new(&self.config, &self.roots);
        let prepared = prepared.map_err(|reason| SandboxRefusal::NoScratch {
            path: self.config.scratch.clone(),
            reason,
        })?;
        // Where two came at once, one is used and the other goes away.
        Ok(self.prepared.get_or_init(|| prepared))
    }

    /// Returns the workspace, links resolved.
    pub fn workspace(&self) -> &Path {
        &self.roots.workspace
    }

    /// Returns the directory that a call names, when commands may work there.
    pub fn workdir(&self, asked: Option<&str>) -> Result<PathBuf, String> {
        let Some(asked) = asked.filter(|asked| !asked.is_empty()) else {
            return Ok(self.roots.workspace.clone());
        };
        let path = self.roots.workspace.join(asked);
        let found = fs::resolved(&path)
            .map_err(|error| format!("Could not use the directory `{asked}`: {error}."))?;
        if fs::kind(&found) != Some(fs::FsEntryKind::Directory) {
            return Err(format!("`{asked}` is not a directory."));
        }
        let open = self.config.choice == SandboxSetting::None
            || self
                .prepared()
                .map_err(|refusal| refusal.to_string())?
                .policy
                .reads(&found);
        if !open || found.to_str().is_none() {
            return Err(format!(
                "The directory `{asked}` is outside the directories that commands may use."
            ));
        }
        Ok(found)
    }

    /// Returns where the file at a path really lies; nothing if there is none, or a directory.
    pub(crate) fn file_at(path: &Path) -> Option<PathBuf> {
        let found = fs::resolved(path).ok()?;
        match fs::kind(&found)? {
            fs::FsEntryKind::Directory => None,
            fs::FsEntryKind::Other => Some(found),
        }
    }

    /// Finds a program that runs outside of the sandbox: nothing that commands can write to stands in for it. A path is the user's own
    /// choice and stays as it is.
    fn outside_program(&self, prepared: &Prepared, name: &str) -> Result<String, SandboxRefusal> {
        if name.contains('/') {
            return Ok(name.to_owned());
        }
        let found = prepared.outside(&self.config).find(name);
        if let Some(program) = found.path.as_ref().and_then(|path| path.to_str()) {
            return Ok(program.to_owned());
        }
        Err(SandboxRefusal::NoProgram {
            name: name.to_owned(),
            refused: found.refused,
        })
    }

    /// Starts a command at the level that was reached. It may block for the moment that a start takes.
    pub fn start(&self, request: &CommandRequest) -> Result<Running, StartError> {
        let level = self.reach()?.level;
        self.start_at(level, request)
    }

    fn start_at(
        &self,
        level: SandboxLevel,
        request: &CommandRequest,
    ) -> Result<Running, StartError> {
        let launch = self.launch(level, request)?;
        Ok(Running::start(&launch, &request.sink)?)
    }

    /// Returns what the helper is told, at a level or at that of commands.
    pub(crate) fn launch(
        &self,
        level: SandboxLevel,
        request: &CommandRequest,
    ) -> Result<Launch, SandboxRefusal> {
        let prepared = self.prepared()?;
        let mut program = request.program.clone();
        // What the user set up runs outside; what a model runs there has been allowed word by word.
        let trusted = level == SandboxLevel::None && !request.limited;
        if let Some(name) = program.first_mut().filter(|_| trusted) {
            *name = self.outside_program(prepared, name)?;
        }
        let path = match level {
            SandboxLevel::Bwrap | SandboxLevel::Landlock => prepared.inner_path.clone(),
            SandboxLevel::None if trusted => prepared.outside(&self.config).trusted_path(),
            SandboxLevel::None => prepared.outer_path.clone(),
        };
        let policy = prepared.policy.clone().with_readable(
            &request.readable,
            &self.roots,
            self.config.user_home.as_deref(),
        );
        let policy = if request.is_untrusted {
            policy.with_untrusted_private()
        } else {
            policy
        };
        let environment = environment::complete(
            self.config.environment.clone(),
            &policy,
            level,
            &path,
            &request.environment,
        );
        Ok(Launch {
            level,
            bwrap: prepared.bwrap.path.clone(),
            helper: self.config.helper.clone(),
            policy: if request.keeps_own {
                policy.keeping_own(level)
            } else {
                policy
            },
            program,
            environment,
            workdir: request
                .workdir
                .clone()
                .unwrap_or_else(|| self.roots.workspace.clone()),
            timeout_ms: request
                .timeout
                .map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX)),
            limits: if request.limited {
                self.config.limits
            } else {
                CommandLimits::default()
            },
            errors: request.errors,
        })
    }

    fn try_levels(&self, prepared: &Prepared) -> Result<SandboxReport, SandboxRefusal> {
        let levels: &[SandboxLevel] = match self.config.choice {
            SandboxSetting::Auto => &[SandboxLevel::Bwrap, SandboxLevel::Landlock],
            SandboxSetting::Bwrap => &[SandboxLevel::Bwrap],
            SandboxSetting::Landlock => &[SandboxLevel::Landlock],
            SandboxSetting::None => return Ok(SandboxReport::none(self.config.limits)),
        };
        let mut tried = Vec::new();
        for level in levels {
            if *level == SandboxLevel::Bwrap && prepared.bwrap.path.is_none() {
                tried.push((*level, not_found(&prepared.bwrap)));
                continue;
            }
            match self.trial(*level) {
                Ok(facts) => return Ok(self.report(*level, facts, &tried)),
                Err(reason) => tried.push((*level, reason)),
            }
        }
        Err(SandboxRefusal::NoLevel { tried })
    }

    /// Runs a command that does nothing, the way that every command runs.
    fn trial(&self, level: SandboxLevel) -> Result<Facts, String> {
        let request = CommandRequest {
            timeout: Some(TRIAL),
            ..CommandRequest::shell(":", Arc::new(|_| {}))
        };
        let running = self.start_at(level, &request);
        let running = running.map_err(|error| error.to_string())?;
        let ending = running.wait_blocking();
        match (ending.cause, ending.code, ending.facts) {
            (Cause::Exited, Some(0), Some(facts)) => Ok(facts),
            (cause, code, _) => Err(match ending.message.trim() {
                "" => format!("the test ended with {cause:?} {code:?}"),
                message => message.to_owned(),
            }),
        }
    }

    fn report(
        &self,
        level: SandboxLevel,
        facts: Facts,
        tried: &[(SandboxLevel, String)],
    ) -> SandboxReport {
        let network = match (self.config.network, facts.filter) {
            (true, _) => Guard::Opened,
            (false, true) => Guard::Enforced,
            (false, false) => Guard::Missing,
        };
        let (links, has_guarded) = match self.prepared.get() {
            Some(prepared) => (
                helper::links(&prepared.policy),
                !prepared.policy.guarded.is_empty(),
            ),
            None => (Vec::new(), false),
        };
        let mut gaps = Vec::new();
        let mut note = |gap: &str| gaps.push(gap.to_owned());
        // A weaker level is never taken without a word.
        for (stronger, reason) in tried {
            note(&format!("`{}` is not used: {reason}.", stronger.name()));
        }
        let processes = match (level, facts.landlock) {
            (SandboxLevel::Bwrap, _) => Guard::Enforced,
            (SandboxLevel::Landlock, Some(version)) => {
                note(
                    "Commands can see the names, sizes, modes and times of files outside the sandbox, and change modes and times.",
                );
                note("Commands can see the names of processes and use the user's shared memory.");
                if version >= SIGNALS_SINCE {
                    Guard::Enforced
                } else {
                    note(
                        "Commands can send signals to the user's processes; the kernel is too old to prevent it.",
                    );
                    Guard::Missing
                }
            }
            (SandboxLevel::Landlock | SandboxLevel::None, _) => Guard::Missing,
        };
        if level == SandboxLevel::Landlock && has_guarded {
            note(
                "Commands can change what git, editors and shells run in the workspace (`.git/config`, `.git/hooks`, `.envrc`, `.vscode`) and files such as `PERMISSIONS.md`; only `bwrap` prevents it.",
            );
        }
        for link in &links {
            note(&format!(
                "`{}` is a link, which commands can replace.",
                link.display()
            ));
        }
        if self.config.unix_sockets {
            note("The settings allow local sockets; a service behind one may have network access.");
        }
        // Landlock keeps them apart from the same version on as signals.
        let abstract_sockets = match level {
            SandboxLevel::Bwrap => self.config.network,
            SandboxLevel::Landlock => facts.landlock.is_none_or(|version| version < SIGNALS_SINCE),
            SandboxLevel::None => true,
        };
        if abstract_sockets && self.config.unix_sockets {
            note(match level {
                SandboxLevel::Bwrap => {
                    "Abstract sockets are accessible, because network access is allowed."
                }
                SandboxLevel::Landlock | SandboxLevel::None => {
                    "Abstract sockets are accessible; the kernel is too old to prevent it."
                }
            });
        }
        SandboxReport {
            level,
            files: Guard::Enforced,
            network,
            processes,
            limits: facts.limits,
            gaps,
        }
    }
}

/// Says why there is no `bwrap`, with what had its name.
fn not_found(bwrap: &FoundProgram) -> String {
    if bwrap.refused.is_empty() {
        return "it is not installed".to_owned();
    }
    let refused: Vec<_> = bwrap.refused.iter().map(ToString::to_string).collect();
    refused.join(", ")
}

/// Why a command did not start.
#[derive(Debug, Error)]
pub enum StartError {
    /// Commands don't run here.
    #[error(transparent)]
    Refused(#[from] SandboxRefusal),
    /// The helper did not start.
    #[error("could not start the sandbox helper: {0}")]
    Helper(#[from] io::Error),
}

/// Makes a request for a shell command.
impl CommandRequest {
    /// Makes a request that runs a command in a shell, in the workspace.
    pub fn shell(command: &str, sink: super::OutputSink) -> Self {
        Self {
            program: ["/bin/sh", "-c", command].map(str::to_owned).to_vec(),
            environment: BTreeMap::new(),
            workdir: None,
            readable: Vec::new(),
            keeps_own: false,
            is_untrusted: false,
            timeout: None,
            errors: ErrorOutput::Output,
            limited: true,
            sink,
        }
    }
}
