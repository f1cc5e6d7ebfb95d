//! One side of a comparison.

use crate::commands::context::Comparison;
use crate::error::{CliError, FailureKind};
use crate::ship::{Finder, with_packages};
use chitin_guard::{DirectoryEntryKind, Root};
use chitin_pack::artifact::Artifact;
use chitin_pack::build::{MemoryFileMode, RulesFile, WorkspaceOptions, pack_workspace};
use chitin_pack::compat::{AGENT, MEMORY_SURFACE};
use chitin_pack::definition::PackIdentity;
use chitin_pack::locate::{OnDisk, PathKind, PathProbe};
use chitin_pack::materialize::LayoutOptions;
use chitin_pack::open::{OpenedWorkspace, open_workspace};
use chitin_runtime::WorkspaceCopy;
use chitin_runtime::context::{
    FileSource, TokenCounting as Tokens, TurnContext, TurnRequest, WhichTurn,
};
use chitin_runtime::{AgentTarget, Setup, chitin_home};
use chitin_runtime::{Host, Notes};
use chitin_workspace::adapter::NATIVE_RULES_FILE;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// An artifact, or a directory that is compared as the artifact it would become.
pub(super) struct Side {
    pub(super) name: String,
    pub(super) artifact: Artifact,
    directory: Option<Directory>,
}

/// A directory that is an agent.
#[derive(Debug, Clone)]
struct Directory {
    path: PathBuf,
    rules_file: RulesFile,
}

/// The file that makes a directory an OpenClaw workspace.
const WORKSPACE: &str = "AGENTS.md";

impl Side {
    /// Takes a word for a workspace directory, else for an artifact.
    pub(super) fn find(word: &str, finder: &Finder<'_>, host: &Host) -> Result<Self, CliError> {
        match workspace_at(word, host)? {
            Some(directory) => {
                Self::packed(word, directory, &nameless(), MemoryFileMode::Leave, finder)
            }
            None => Self::artifact(word, finder),
        }
    }

    /// The same, where a directory is packed under the name of the other side: names are not what is compared.
    pub(super) fn find_like(
        word: &str,
        other: &Self,
        finder: &Finder<'_>,
        host: &Host,
    ) -> Result<Self, CliError> {
        match workspace_at(word, host)? {
            Some(directory) if other.directory.is_none() => Self::packed(
                word,
                directory,
                &other.identity(),
                other.memory_file(),
                finder,
            ),
            _ => Self::find(word, finder, host),
        }
    }

    /// Packs a directory again under the name of the other side.
    pub(super) fn like(self, other: &Self, finder: &Finder<'_>) -> Result<Self, CliError> {
        match (&self.directory, &other.directory) {
            (Some(directory), None) => {
                let directory = directory.clone();
                Self::packed(
                    &self.name,
                    directory,
                    &other.identity(),
                    other.memory_file(),
                    finder,
                )
            }
            _ => Ok(self),
        }
    }

    fn artifact(word: &str, finder: &Finder<'_>) -> Result<Self, CliError> {
        let found = finder.find(word)?;
        Ok(Self {
            name: found.name,
            artifact: found.artifact,
            directory: None,
        })
    }

    fn packed(
        word: &str,
        directory: Directory,
        identity: &PackIdentity,
        memory_file: MemoryFileMode,
        finder: &Finder<'_>,
    ) -> Result<Self, CliError> {
        let options = WorkspaceOptions {
            memory_file,
            rules_file: directory.rules_file,
            ..WorkspaceOptions::default()
        };
        let built = pack_workspace(&directory.path, identity, &options, &finder.store)?;
        Ok(Self {
            name: word.to_owned(),
            artifact: finder.store.artifact(&built.manifest.digest)?,
            directory: Some(directory),
        })
    }

    fn identity(&self) -> PackIdentity {
        let text = |member: &str| self.artifact.config[member].as_str().map(str::to_owned);
        PackIdentity {
            name: text("name").unwrap_or_default(),
            version: text("version").unwrap_or_default(),
            description: text("description").unwrap_or_default(),
            author: text("author"),
            license: text("license"),
            url: text("url"),
            model: self
                .artifact
                .config
                .pointer("/adapter/model")
                .and_then(Value::as_str)
                .map(str::to_owned),
            ..PackIdentity::default()
        }
    }

    fn memory_file(&self) -> MemoryFileMode {
        let named = self
            .artifact
            .config
            .pointer("/adapter/config/memoryFile")
            .and_then(Value::as_str);
        match named {
            Some(named) if named.ends_with(MEMORY_SURFACE) => MemoryFileMode::Pack,
            _ => MemoryFileMode::Leave,
        }
    }
}

/// The name under which two directories are compared: the same for both.
fn nameless() -> PackIdentity {
    PackIdentity {
        name: "agent".to_owned(),
        version: "0.0.0".to_owned(),
        description: "A workspace.".to_owned(),
        ..PackIdentity::default()
    }
}

/// Finds the agent that a word may mean as a directory. One that holds an artifact, or no rules for an agent, is none.
fn workspace_at(word: &str, host: &Host) -> Result<Option<Directory>, CliError> {
    let path = host.env.resolve(word);
    let Ok(root) = Root::open(&path) else {
        return Ok(None);
    };
    let is_file = |name: &str| root.kind(Path::new(name)) == Some(DirectoryEntryKind::File);
    let disk = OnDisk { base: path.clone() };
    if disk.look(Path::new("")) == Some(PathKind::Artifact) && !is_file(WORKSPACE) {
        return Ok(None);
    }
    let setup = Setup::find(host, &path.as_path().into(), &Notes::none())?;
    let rules_file = setup.rules_file(host)?;
    let rules = match rules_file {
        RulesFile::Agents => WORKSPACE,
        RulesFile::Readme => NATIVE_RULES_FILE,
    };
    Ok(is_file(rules).then_some(Directory { path, rules_file }))
}

/// Compares what the model gets of both sides; `None` where one of them is no agent.
pub(super) fn compare(
    left: &Side,
    right: &Side,
    finder: &Finder<'_>,
    contract: Option<&str>,
    host: &Host,
) -> Result<Option<Comparison>, CliError> {
    let is_agent = |side: &Side| side.artifact.manifest.artifact_type == AGENT;
    if !is_agent(left) || !is_agent(right) {
        return Ok(None);
    }
    // Both are looked at as if they lay in one place: the prompt names it.
    let place = right
        .directory
        .as_ref()
        .or(left.directory.as_ref())
        .map(|directory| directory.path.clone());
    let place = place.unwrap_or_else(|| host.env.working_directory().join("agent"));
    let target = AgentTarget {
        directory: Some(place),
        agent: None,
        contract: contract.map(str::to_owned),
        ..AgentTarget::default()
    };
    // What a session was told before is not what is compared.
    let turn = TurnRequest {
        turn: WhichTurn::First,
        ..TurnRequest::default()
    };
    let setup = turn.find(host, &target, &Notes::none())?;
    let (left_seen, _left) = look(left, &turn, &setup, finder, host)?;
    let (right_seen, _right) = look(right, &turn, &setup, finder, host)?;
    Ok(Some(Comparison::between(
        (&left.name, &left_seen),
        (&right.name, &right_seen),
        Tokens::Estimate,
    )))
}

fn look(
    side: &Side,
    turn: &TurnRequest,
    setup: &Setup,
    finder: &Finder<'_>,
    host: &Host,
) -> Result<(TurnContext, Option<OpenedWorkspace>), CliError> {
    let directory = side.directory.as_ref().map(|directory| &directory.path);
    if directory == Some(&setup.directory) {
        return Ok((turn.context(host, setup, FileSource::Disk)?, None));
    }
    let opened = unfold(side, setup, finder, host)?;
    let root = Root::open(opened.path()).map_err(|error| {
        CliError::new(FailureKind::Internal, "Could not open an artifact.").caused_by(error)
    })?;
    let copy = WorkspaceCopy {
        root: opened.path().to_path_buf(),
        real: root.real_path().to_path_buf(),
        notes: Vec::new(),
    };
    Ok((
        turn.context(host, setup, FileSource::Copy(&copy))?,
        Some(opened),
    ))
}

fn unfold(
    side: &Side,
    setup: &Setup,
    finder: &Finder<'_>,
    host: &Host,
) -> Result<OpenedWorkspace, CliError> {
    let whole = with_packages(finder, side.artifact.clone(), None)?;
    let home = chitin_home(host).ok_or_else(|| {
        CliError::new(
            FailureKind::User,
            "Could not determine a directory for unpacking the artifact.",
        )
        .hint("set `CHITIN_HOME` or `HOME`")
    })?;
    let unusable = |error: chitin_guard::WriteError| {
        CliError::new(FailureKind::User, "Could not open an artifact.").caused_by(error)
    };
    let (home, _) = Root::create(&home).map_err(unusable)?;
    home.make_directories(Path::new("cache"))
        .map_err(unusable)?;
    let cache = home.enter(Path::new("cache")).map_err(unusable)?;
    let config = side
        .artifact
        .config
        .pointer("/adapter/config")
        .and_then(Value::as_object);
    let options = LayoutOptions {
        adapter: Some("openclaw".to_owned()),
        config: config.cloned().unwrap_or_default(),
        ..LayoutOptions::default()
    };
    Ok(open_workspace(
        whole.contents(),
        &options,
        &cache,
        setup.contract(),
        &setup.options,
    )?)
}
