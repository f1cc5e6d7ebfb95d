//! An agent's directory as an artifact: who it is, which file holds its rules, and what goes in.

use crate::context::DirectoryClaim;
use crate::display::plain;
use crate::error::{ErrorKind, RuntimeError};
use crate::host::Host;
use crate::identity::name_of_directory;
use crate::setup::{Setup, shown, state_roots};
use chitin_guard::Root;
use chitin_pack::PackError;
use chitin_pack::build::{
    BuildOptions, Built, MemoryFileMode, OwnLayers, RulesFile, WorkspaceOptions, build_profile,
    build_source, pack_workspace,
};
use chitin_pack::definition::{PackIdentity, is_name, portable};
use chitin_pack::store::Store;
use chitin_workspace::adapter::NATIVE_NAME;
use serde_json::json;
use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};

/// The name of a profile, when nobody says.
const PROFILE: &str = "openclaw-profile";

/// What a caller wants packed.
#[derive(Debug)]
pub struct PackRequest {
    /// The name; left out, that of the directory.
    pub name: Option<String>,
    /// The version.
    pub version: String,
    /// What the agent is; left out, its name in a sentence.
    pub description: Option<String>,
    /// The author.
    pub author: Option<String>,
    /// The licence.
    pub license: Option<String>,
    /// Whether `MEMORY.md` goes along.
    pub memory_file: MemoryFileMode,
    /// Whether layers of Chitin's own are written. Without them no adapter is asked: the format of others is a map of names.
    pub own_layers: OwnLayers,
    /// How it is built.
    pub build: BuildOptions,
}

/// Why nothing was packed.
#[derive(Debug)]
pub enum PackFailure {
    /// The directory or the configuration cannot be used.
    Setup(RuntimeError),
    /// The artifact cannot be built.
    Build(PackError),
}

impl From<RuntimeError> for PackFailure {
    fn from(error: RuntimeError) -> Self {
        Self::Setup(error)
    }
}

impl From<PackError> for PackFailure {
    fn from(error: PackError) -> Self {
        Self::Build(error)
    }
}

impl fmt::Display for PackFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setup(error) => error.fmt(f),
            Self::Build(error) => error.fmt(f),
        }
    }
}

impl Error for PackFailure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Setup(error) => error.source(),
            Self::Build(error) => error.source(),
        }
    }
}

impl Setup {
    /// Packs the agent's workspace.
    pub fn pack(
        &self,
        host: &Host,
        request: &PackRequest,
        store: &Store,
    ) -> Result<Built, PackFailure> {
        let identity = request.identity(&self.directory)?;
        let rules_file = match request.own_layers {
            OwnLayers::Pack => self.rules_file(host)?,
            OwnLayers::Leave => {
                self.check_directory(host)?;
                RulesFile::Agents
            }
        };
        let options = WorkspaceOptions {
            rules_file,
            build: self.build_options(host, request),
            memory_file: request.memory_file,
            own_layers: request.own_layers,
        };
        Ok(pack_workspace(&self.directory, &identity, &options, store)?)
    }

    /// Packs all of the directory as it is, without version control and without what Chitin and OpenClaw keep for the user.
    pub fn pack_source(
        &self,
        host: &Host,
        request: &PackRequest,
        store: &Store,
    ) -> Result<Built, PackFailure> {
        let identity = request.identity(&self.directory)?;
        let source = json!({
            "name": identity.name, "version": identity.version, "description": identity.description,
        });
        Ok(build_source(
            &self.directory,
            &source,
            &self.build_options(host, request),
            store,
        )?)
    }

    /// Closes the directories of settings, keys and sessions, which may lie beneath a workspace.
    fn build_options(&self, host: &Host, request: &PackRequest) -> BuildOptions {
        let real = |path: &Path| {
            Root::open(path)
                .ok()
                .map(|root| root.real_path().to_owned())
        };
        let workspace = real(&self.directory);
        let is_beneath = |path: &PathBuf| {
            let workspace = workspace.as_ref();
            workspace.is_some_and(|workspace| path.starts_with(workspace))
        };
        let roots = state_roots(host, self.contract()).into_iter();
        let closed = roots.filter_map(|root| real(&root)).filter(is_beneath);
        BuildOptions {
            closed: closed.collect(),
            ..request.build.clone()
        }
    }

    /// Packs the portable part of `openclaw.json`, without secrets.
    pub fn pack_profile(&self, request: &PackRequest, store: &Store) -> Result<Built, PackFailure> {
        let Some(loaded) = &self.configuration.openclaw else {
            let message = "There is no `openclaw.json` to take a profile from.";
            return Err(RuntimeError::new(ErrorKind::User, message)
                .hint("`chitin config` shows where it is expected")
                .into());
        };
        let profile = json!({
            "name": request.name.as_deref().unwrap_or(PROFILE),
            "version": request.version,
            "profileType": "openclaw",
            "openclaw": portable(&loaded.value),
        });
        Ok(build_profile(&profile, &request.build, store)?)
    }

    /// Asks the adapters which file holds the agent's operating rules. What a plugin makes of a directory is text of its own,
    /// and would not come back as the files that it was made of.
    pub fn rules_file(&self, host: &Host) -> Result<RulesFile, RuntimeError> {
        match self.claim(host)? {
            DirectoryClaim::Workspace => Ok(RulesFile::Agents),
            DirectoryClaim::Adapter(definition) if definition.adapter_name == NATIVE_NAME => {
                Ok(RulesFile::Readme)
            }
            DirectoryClaim::Adapter(definition) => {
                let message = format!(
                    "`{}` cannot be packed: the plugin adapter `{}` reads it, and its result is not a file in the directory.",
                    shown(&self.directory, host),
                    plain(&definition.adapter_name, '\u{fffd}')
                );
                Err(RuntimeError::new(ErrorKind::User, message)
                    .hint("`--source` packs the whole directory unchanged")
                    .hint("an `AGENTS.md` and `--stax` pack it as an OpenClaw workspace"))
            }
        }
    }
}

impl PackRequest {
    fn identity(&self, directory: &Path) -> Result<PackIdentity, RuntimeError> {
        let name = match &self.name {
            Some(name) => name.clone(),
            None => named_after(directory)?,
        };
        let description = self.description.clone();
        Ok(PackIdentity {
            description: description
                .unwrap_or_else(|| format!("The agent {}.", name_of_directory(directory))),
            name,
            version: self.version.clone(),
            author: self.author.clone(),
            license: self.license.clone(),
            ..PackIdentity::default()
        })
    }
}

/// Makes a name of a directory's: lower case, dashes for what a name cannot hold.
fn named_after(directory: &Path) -> Result<String, RuntimeError> {
    let given = directory.file_name().unwrap_or_default().to_string_lossy();
    let mut name = String::new();
    for character in given.chars().flat_map(char::to_lowercase) {
        match character {
            'a'..='z' | '0'..='9' => name.push(character),
            _ if !name.is_empty() && !name.ends_with('-') => name.push('-'),
            _ => {}
        }
    }
    let name: String = name.chars().take(63).collect();
    let name = name.trim_end_matches('-');
    if is_name(name) {
        return Ok(name.to_owned());
    }
    let given = plain(&given, '\u{fffd}');
    let message = format!("Could not derive a name from the directory's name `{given}`.");
    Err(RuntimeError::new(ErrorKind::Usage, message).hint("use `--name my-agent`"))
}
