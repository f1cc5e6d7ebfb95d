//! What the first command needs. Most turns run none, so nothing of it is made before.

use super::config::SandboxConfig;
use super::environment;
use super::level::SandboxLevel;
use super::policy::{HOME, Policy, Roots, TMP, UNTRUSTED_HOME, UNTRUSTED_TMP};
use chitin_guard::{FoundProgram, ProgramOrder, ProgramSearch, Root, Scratch, WriteError};
use std::path::{Path, PathBuf};

const PREFIX: &str = "exec-";
/// How many sandboxes one process may have at once: one for an agent.
const MOST: u32 = 10_000;

/// Everything that is found out or made once for all commands.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) policy: Policy,
    pub(super) bwrap: FoundProgram,
    pub(super) inner_path: String,
    pub(super) outer_path: String,
    /// What commands can write to, wherever it lies.
    written: Vec<PathBuf>,
    _private: Scratch,
}

impl Prepared {
    /// Looks at the machine and makes the private directory, which goes away with this value. What killed processes left is
    /// cleared away first.
    pub(super) fn new(config: &SandboxConfig, roots: &Roots) -> Result<Self, String> {
        let private = private(&config.scratch)?;
        let policy = Policy::new(config, roots, private.root().real_path());
        let written = roots.written();
        Ok(Self {
            bwrap: search(config, &written, ProgramOrder::System).find("bwrap"),
            inner_path: environment::path(config, &policy, SandboxLevel::Bwrap),
            outer_path: environment::path(config, &policy, SandboxLevel::None),
            policy,
            written,
            _private: private,
        })
    }
}

impl Prepared {
    /// Says where programs are looked for that run outside of the sandbox, in the user's own order.
    pub(super) fn outside<'a>(&'a self, config: &'a SandboxConfig) -> ProgramSearch<'a> {
        search(config, &self.written, ProgramOrder::Path)
    }
}

fn search<'a>(
    config: &'a SandboxConfig,
    written: &'a [PathBuf],
    order: ProgramOrder,
) -> ProgramSearch<'a> {
    ProgramSearch {
        path: config
            .environment
            .get("PATH")
            .map_or(environment::USUAL_PATH, String::as_str),
        order,
        never_in: written,
    }
}

fn private(scratch: &Path) -> Result<Scratch, String> {
    let said = |error: WriteError| error.to_string();
    let root = Root::create_private(scratch).map_err(said)?;
    let private = root.scratch_of_process(PREFIX, MOST).map_err(said)?;
    let private = private.ok_or_else(|| format!("this process has {MOST} of them"))?;
    for name in [TMP, HOME, UNTRUSTED_TMP, UNTRUSTED_HOME] {
        private.directory(Path::new(name)).map_err(said)?;
    }
    if private.root().real_path().to_str().is_none() {
        return Err("its name is not UTF-8".to_owned());
    }
    Ok(private)
}
