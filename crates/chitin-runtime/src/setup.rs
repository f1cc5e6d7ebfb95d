//! What a command works on: the configuration in its layers, the contract, the agent and its directory.

use crate::contracts;
use crate::error::{ErrorKind, RuntimeError};
use crate::host::Host;
use crate::identity::{self, AgentIdOrigin};
use crate::notes::Notes;
use crate::plugins::{adapter_registry, lasting_plugin_set, plugin_set};
use chitin_config::agents::{self, WorkspaceOrigin};
use chitin_config::home;
use chitin_config::secrets::secrets_in;
use chitin_config::{ChitinSettings, ConfigError, Layers, LoadedChitinConfig, LoadedConfig};
use chitin_contract::{BlockLayout, Contract};
use chitin_guard::{Hardlinks, LinkPolicy, ReadError, Root};
use chitin_plugin::PluginSet;
use chitin_protocol::agent_id::{self, AgentId};
use chitin_protocol::config::{HardlinkSetting, LinkSetting, ModelSettings};
use chitin_protocol::settings::{PluginSettings, ProviderSettings, ServeSettings};
use chitin_workspace::adapter::{AdapterRegistry, AgentDefinition, OpenClawAdapter, compose_agent};
use chitin_workspace::load::LoadOptions;
use chitin_workspace::skills::{Release, ReleaseChoice, SkillPlaces};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Names the directory of the default agent.
const WORKSPACE_VARIABLE: &str = "CHITIN_WORKSPACE";

/// Which agent is meant: by its directory, its id, or the default one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentTarget {
    /// The workspace; left out, that of the agent.
    pub directory: Option<PathBuf>,

    /// The agent whose workspace and settings to use; left out, the default agent.
    pub agent: Option<String>,

    /// Further workspaces that are composed with it, the strongest first.
    pub with: Vec<PathBuf>,

    /// The contract to use for the workspace.
    pub contract: Option<String>,
}

impl AgentTarget {
    /// Means the agent of an id.
    pub fn id(id: impl Into<String>) -> Self {
        Self {
            agent: Some(id.into()),
            ..Self::default()
        }
    }
}

impl From<&Path> for AgentTarget {
    fn from(directory: &Path) -> Self {
        directory.to_path_buf().into()
    }
}

impl From<PathBuf> for AgentTarget {
    fn from(directory: PathBuf) -> Self {
        Self {
            directory: Some(directory),
            ..Self::default()
        }
    }
}

/// The configuration, read once.
#[derive(Debug, Clone)]
pub struct Configuration {
    /// Every value with the layer that says it.
    pub layers: Layers,
    /// `openclaw.json`, if there is one.
    pub openclaw: Option<LoadedConfig>,
    /// The contract that holds.
    pub contract: &'static Contract,
    /// What the user says about models.
    pub models: BTreeMap<String, ModelSettings>,
    /// What the user says about their providers.
    pub providers: BTreeMap<String, ProviderSettings>,
    /// The user's plugins.
    pub plugins: BTreeMap<String, PluginSettings>,
    /// What the user says about `chitin serve`.
    pub server: ServeSettings,
    /// What the user says about chat networks, without what `openclaw.json` says of them.
    pub channels: BTreeMap<String, Map<String, Value>>,
    /// Which directories agents live in by `chitin.json5`.
    pub(crate) workspaces: BTreeMap<AgentId, String>,
    /// The default agent's directory by `chitin.json5`.
    default_workspace: Option<String>,
    /// `openclaw.json` with the user's own channels laid over it, if there are any.
    laid_over: Option<Value>,
}

/// Why a workspace that is to be composed with another one is not.
pub(crate) const NO_DIRECTORY: &str = "There is no such directory.";

/// A workspace, found.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The configuration, shared by all agents of a server.
    pub configuration: Arc<Configuration>,
    /// The agent.
    pub agent: AgentId,
    /// Why the agent has its id.
    pub identity: AgentIdOrigin,
    /// Its workspace.
    pub directory: PathBuf,
    /// Further workspaces that are composed with it, the strongest first.
    pub with: Vec<PathBuf>,
    /// The user's plugins.
    pub plugins: Arc<PluginSet>,
    /// Who makes agents of directories.
    pub adapters: Arc<AdapterRegistry>,
    /// How its files are read.
    pub options: LoadOptions,
}

impl Configuration {
    /// Reads every layer. A file that cannot be used ends the command; what is merely wrong in it is noted.
    pub fn read(host: &Host, contract: Option<&str>, notes: &Notes) -> Result<Self, RuntimeError> {
        let own = own_config(host)?;
        crate::secrets::learn_kept(host);
        if let Some(own) = &own {
            host.secrets.learn(secrets_in(&own.value, &host.env));
        }
        for issue in own.iter().flat_map(|own| &own.issues) {
            let hint = issue.hint.as_deref().map(|hint| format!(" ({hint})"));
            notes.note(&format!("{issue}{}", hint.unwrap_or_default()));
        }
        let flag = contract;
        let contract = chosen_contract(host, flag, own.as_ref())?;
        let mut layers = Layers::built_in(contract).with_environment(&host.env);
        if let Some(own) = &own {
            layers = layers.with_chitin(own);
        }
        let file = config_file(host, contract)?;
        // Keys are judged by `config validate` and `doctor` alone: no start waits for it.
        let openclaw = chitin_config::read(&file, &host.env).map_err(|e| unusable(&e))?;
        if let Some(loaded) = &openclaw {
            host.secrets.learn(secrets_in(&loaded.value, &host.env));
            if !loaded.issues.is_empty() {
                notes.note(&format!(
                    "problems in `{}`: {}; `chitin config validate` shows them",
                    file.display(),
                    loaded.issues.len()
                ));
            }
            layers = layers.with_openclaw(loaded);
        }
        if let Some(flag) = flag {
            layers = layers.with_flag("--contract", "contract", flag.into());
        }
        let own = own.map(|own| own.config).unwrap_or_default();
        let workspaces = own.agents.iter().filter_map(|(id, settings)| {
            Some((AgentId::normalize(id), settings.workspace.clone()?))
        });
        Ok(Self {
            workspaces: workspaces.collect(),
            default_workspace: own.everywhere.workspace.clone(),
            layers,
            openclaw,
            contract,
            models: own.models,
            providers: own.providers,
            plugins: own.plugins,
            server: own.server.unwrap_or_default(),
            laid_over: None,
            channels: own.channels,
        }
        .with_channels())
    }

    /// Lays the user's own channels over those of `openclaw.json`.
    fn with_channels(mut self) -> Self {
        if !self.channels.is_empty() {
            let mut value = match self.value() {
                Value::Object(fields) => fields.clone(),
                _ => Map::new(),
            };
            let channels = value.entry("channels").or_insert_with(|| json!({}));
            lay_over(channels, &json!(self.channels));
            self.laid_over = Some(Value::Object(value));
        }
        self
    }

    /// Returns the agents that `openclaw.json` and `chitin.json5` name, in their order.
    pub fn agents(&self) -> Vec<AgentId> {
        let roster = agents::roster(self.value(), self.contract);
        let mut ids: Vec<AgentId> = roster.into_iter().map(|entry| entry.id).collect();
        for id in self.workspaces.keys() {
            if !ids.contains(id) {
                ids.push(id.clone());
            }
        }
        ids
    }

    /// Returns the directory of an agent, and why it is that one: what the environment says of the default agent, what
    /// `chitin.json5` says, what `openclaw.json` says, by the contract's rules.
    pub fn workspace_of(
        &self,
        agent: &AgentId,
        host: &Host,
    ) -> Result<(PathBuf, WorkspaceOrigin), RuntimeError> {
        let (config, contract) = (self.value(), self.contract);
        let rules = &contract.agents;
        let is_default = agents::default_agent(config, contract).is_ok_and(|id| id == *agent);
        let named = host.env.get(WORKSPACE_VARIABLE).map(str::trim);
        if let Some(named) = named.filter(|named| is_default && !named.is_empty()) {
            let directory = home::user_path(named, &host.env, rules).map_err(no_home)?;
            return Ok((directory, WorkspaceOrigin::Environment));
        }
        let own = self.workspaces.get(agent);
        let own = own.or(self.default_workspace.as_ref().filter(|_| is_default));
        if let Some(own) = own {
            // A path in a file means the same wherever a command is typed.
            let home = chitin_home(host).filter(|_| !own.starts_with(['/', '~']));
            let own = home.map_or_else(|| own.into(), |home| home.join(own));
            let own = own.to_string_lossy();
            let directory = home::user_path(&own, &host.env, rules).map_err(no_home)?;
            return Ok((directory, WorkspaceOrigin::ChitinConfig));
        }
        agents::workspace_directory(config, agent.as_str(), &host.env, contract).map_err(no_home)
    }

    /// Returns what `openclaw.json` says, with the user's own channels laid over it; nothing when there is neither.
    pub fn value(&self) -> &Value {
        let read = self.openclaw.as_ref().map(|loaded| &loaded.value);
        self.laid_over.as_ref().or(read).unwrap_or(&Value::Null)
    }
}

impl Setup {
    /// Finds the workspace that the user means.
    pub fn find(host: &Host, target: &AgentTarget, notes: &Notes) -> Result<Self, RuntimeError> {
        let configuration = Configuration::read(host, target.contract.as_deref(), notes)?;
        Self::find_in(Arc::new(configuration), host, target, notes)
    }

    /// Finds it in a configuration that was read.
    pub(crate) fn find_in(
        mut configuration: Arc<Configuration>,
        host: &Host,
        target: &AgentTarget,
        notes: &Notes,
    ) -> Result<Self, RuntimeError> {
        let agent = target.agent.as_deref().map(AgentId::normalize);
        let (agent, directory, identity) = match (agent, &target.directory) {
            (agent, Some(given)) => {
                let directory = given_directory(given, host, configuration.contract)?;
                let (agent, identity) = agent.map_or_else(
                    || identity::of_directory(&directory, &configuration, host),
                    |agent| (agent, AgentIdOrigin::Named),
                );
                (agent, directory, identity)
            }
            (agent, None) => {
                let (agent, directory) = agent_directory(host, &configuration, agent)?;
                (agent, directory, AgentIdOrigin::Configured)
            }
        };
        // What holds for the agent is known only now, when its directory gave its name.
        let settings = configuration.layers.settings(Some(&agent));
        if let Some(name) = settings
            .contract
            .as_deref()
            .filter(|name| *name != configuration.contract.name)
        {
            let contract = contracts::find_named_by(name, ErrorKind::Config)?;
            Arc::make_mut(&mut configuration).contract = contract;
        }
        let said = settings.with.iter().map(Path::new);
        let with = target.with.iter().map(PathBuf::as_path).chain(said);
        let with = with.map(|other| given_directory(other, host, configuration.contract));
        let with = each_once(
            &directory,
            with.collect::<Result<Vec<_>, _>>()?,
            host,
            notes,
        );
        let options = load_options(&settings, host, configuration.contract)?;
        let plugins = Arc::new(plugin_set(host, &configuration, notes));
        let adapters = Arc::new(adapter_registry(&plugins, configuration.contract));
        let setup = Self {
            configuration,
            agent,
            identity,
            directory,
            with,
            plugins,
            adapters,
            options,
        };
        setup.refuse_state(host)?;
        setup.warn_of_home(host, notes);
        Ok(setup)
    }

    /// Returns the same with plugins that tell what becomes of them, and to which others can be added.
    #[must_use]
    pub(crate) fn with_lasting_plugins(mut self, host: &Host, notes: &Notes) -> Self {
        self.plugins = Arc::new(lasting_plugin_set(host, &self.configuration, notes));
        self.adapters = Arc::new(adapter_registry(&self.plugins, self.configuration.contract));
        self
    }

    /// Fails, with what to do about it, when the directory cannot be used.
    pub fn check_directory(&self, host: &Host) -> Result<(), RuntimeError> {
        let opened = Root::open(&self.directory);
        opened.map(drop).map_err(|error| self.unusable(host, error))
    }

    /// Fails where state is kept: what tools reach beneath a workspace, they must not reach there.
    fn refuse_state(&self, host: &Host) -> Result<(), RuntimeError> {
        let Ok(workspace) = Root::open(&self.directory) else {
            return Ok(());
        };
        let keeps = |state: &PathBuf| {
            Root::open(state).is_ok_and(|state| state.real_path() == workspace.real_path())
        };
        if !state_roots(host, self.contract()).iter().any(keeps) {
            return Ok(());
        }
        let directory = shown(&self.directory, host);
        let message = format!(
            "`{directory}` cannot be a workspace: settings, keys and sessions are kept in it."
        );
        Err(RuntimeError::new(ErrorKind::Refused, message).hint("name a directory of its own"))
    }

    /// Warns when tools would reach the whole home of the user.
    fn warn_of_home(&self, host: &Host, notes: &Notes) {
        let home = home::plain_home(&host.env).and_then(|home| Root::open(&home).ok());
        let workspace = Root::open(&self.directory).ok();
        if let (Some(home), Some(workspace)) = (home, workspace)
            && home.real_path().starts_with(workspace.real_path())
        {
            let directory = shown(&self.directory, host);
            notes.note(&format!(
                "the workspace `{directory}` contains your home directory: tools can read and change what other programs keep there, keys included; \
                 a directory of its own is safer"
            ));
        }
    }

    /// Fails, with what to do about it, when a workspace that is composed with this one cannot be used.
    pub fn check_composed(&self, host: &Host) -> Result<(), RuntimeError> {
        self.with.iter().try_for_each(|other| {
            let opened = Root::open(other).map(drop);
            opened.map_err(|error| {
                if error.is_missing() {
                    self.not_composed(host, other, NO_DIRECTORY)
                } else {
                    self.not_composed(host, other, error)
                }
            })
        })
    }

    /// Says that the directory cannot be used, why, and what to do about it.
    pub(crate) fn unusable(&self, host: &Host, error: ReadError) -> RuntimeError {
        let directory = shown(&self.directory, host);
        let message = format!("Could not use `{directory}` as a workspace.");
        let is_missing = error.is_missing();
        let failed = RuntimeError::new(ErrorKind::User, message).caused_by(error);
        if is_missing {
            failed.hint(format!("`chitin init {directory}` creates a new workspace"))
        } else {
            failed.hint("name a directory that you can read")
        }
    }

    /// Returns what the adapter that claims the directory makes of it, with the workspaces that are composed with it, as its
    /// turns see them.
    pub fn definition(&self, host: &Host) -> Result<AgentDefinition, RuntimeError> {
        self.check_directory(host)?;
        let own = self.adapters.load(&self.directory).map_err(|error| {
            let message = format!("`{}` is not an agent.", shown(&self.directory, host));
            RuntimeError::new(ErrorKind::User, message).caused_by(error)
        })?;
        // Of the others the files count, as in a turn, whoever would claim the directory by itself.
        let reader = match self.contract().rendering.layout {
            BlockLayout::ProjectContext => OpenClawAdapter::for_contract(self.contract()),
            BlockLayout::Composition => OpenClawAdapter::default(),
        };
        self.check_composed(host)?;
        let others = self.with.iter().map(|other| {
            let read = reader.read(other);
            read.map_err(|error| self.not_composed(host, other, error))
        });
        let others = others.collect::<Result<Vec<_>, _>>()?;
        Ok(compose_agent(own, &others))
    }

    /// Says that another workspace cannot be composed with this one.
    pub(crate) fn not_composed(
        &self,
        host: &Host,
        other: &Path,
        cause: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> RuntimeError {
        let message = format!(
            "Could not compose `{}` with `{}`.",
            shown(other, host),
            shown(&self.directory, host)
        );
        RuntimeError::new(ErrorKind::User, message)
            .caused_by(cause)
            .hint("`--with DIR` and `with` in `chitin.json5` name directories that are agents")
    }

    /// Returns where this workspace's skills are looked for.
    pub(crate) fn skill_places(&self, host: &Host) -> SkillPlaces {
        let trusted = match &self.options.links {
            Some(LinkPolicy::TrustedRoots(roots)) => roots.clone(),
            _ => Vec::new(),
        };
        let places = SkillPlaces::from_env(&self.directory, &host.env, self.contract());
        SkillPlaces {
            trusted,
            plugins: self.with.iter().map(|other| other.join("skills")).collect(),
            ..places
        }
    }

    /// Finds the skills that a release of OpenClaw brings, as far as the contract or the user asks for them.
    pub fn release(&self, host: &Host) -> Release {
        let own = self.configuration.layers.settings(Some(&self.agent));
        let choice = match own.release_skills.as_deref() {
            None | Some("auto") => ReleaseChoice::Contract,
            Some("off") => ReleaseChoice::Off,
            Some(text) => home::user_path(text, &host.env, &self.contract().agents)
                .map_or(ReleaseChoice::Contract, ReleaseChoice::At),
        };
        let named = self.skill_places(host).bundled.is_some();
        if named && choice == ReleaseChoice::Contract {
            // The environment names the release's skills.
            return Release::NotAsked;
        }
        Release::find(&choice, &self.directory, &host.env, self.contract())
    }

    /// Returns where all skills are looked for that the catalogue lists, those of a release included.
    pub(crate) fn catalogue_places(&self, host: &Host, release: &Release) -> SkillPlaces {
        let places = self.skill_places(host);
        let (config, contract) = (self.configuration.value(), self.contract());
        match release {
            Release::Used(found) => {
                let owner = agents::default_agent(config, contract);
                let is_owner = owner.is_ok_and(|owner| owner == self.agent);
                found.added_to(places, config, contract, is_owner)
            }
            Release::NotAsked
            | Release::Missing
            | Release::OtherVersion(_)
            | Release::NotAnInstallation(_) => places,
        }
    }

    /// Returns the contract that holds.
    pub fn contract(&self) -> &'static Contract {
        self.configuration.contract
    }
}

/// Lays one value over another: objects key by key, everything else as a whole.
fn lay_over(below: &mut Value, above: &Value) {
    match (below, above) {
        (Value::Object(below), Value::Object(above)) => {
            for (key, value) in above {
                lay_over(below.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (below, above) => above.clone_into(below),
    }
}

fn agent_directory(
    host: &Host,
    configuration: &Configuration,
    agent: Option<AgentId>,
) -> Result<(AgentId, PathBuf), RuntimeError> {
    let (config, contract) = (configuration.value(), configuration.contract);
    let agent = match agent {
        Some(agent) => agent,
        None => agents::default_agent(config, contract).map_err(|error| {
            RuntimeError::new(ErrorKind::Config, "There is no default agent.")
                .caused_by(error)
                .hint("name a directory, or an agent with `--agent ID`")
        })?,
    };
    let (directory, _) = configuration.workspace_of(&agent, host)?;
    Ok((agent, directory))
}

/// Leaves out what is named twice, by whatever spelling: its rules would be in the prompt twice.
fn each_once(own: &Path, with: Vec<PathBuf>, host: &Host, notes: &Notes) -> Vec<PathBuf> {
    if with.is_empty() {
        return with;
    }
    let mut seen = vec![identity::real_path(own)];
    let is_new = |directory: &PathBuf| {
        let real = identity::real_path(directory);
        let is_new = !seen.contains(&real);
        if is_new {
            seen.push(real);
        } else {
            let directory = shown(directory, host);
            notes.note(&format!("`{directory}` is named twice; it is used once"));
        }
        is_new
    };
    with.into_iter().filter(is_new).collect()
}

/// Returns the directory that the caller means, `~` expanded.
fn given_directory(
    given: &Path,
    host: &Host,
    contract: &Contract,
) -> Result<PathBuf, RuntimeError> {
    match given.to_str() {
        Some(text) if text.starts_with('~') => {
            home::user_path(text, &host.env, &contract.agents).map_err(no_home)
        }
        _ => Ok(chitin_guard::normalized(
            &host.env.working_directory().join(given),
        )),
    }
}

/// Tells whether an id is that of a directory, and not one that configuration names.
pub(crate) fn is_derived(agent: &AgentId, setup: &Setup) -> bool {
    let configuration = &setup.configuration;
    let (config, contract) = (configuration.value(), configuration.contract);
    let is_default = agents::default_agent(config, contract).is_ok_and(|id| id == *agent);
    let main = AgentId::normalize(agent_id::MAIN);
    let listed = agents::roster(config, contract);
    !is_default
        && *agent != main
        && !configuration.workspaces.contains_key(agent)
        && !listed.iter().any(|entry| entry.id == *agent)
}

/// Turns settings into what the loader takes. What was not said stays with the contract.
fn load_options(
    settings: &ChitinSettings,
    host: &Host,
    contract: &Contract,
) -> Result<LoadOptions, RuntimeError> {
    let links = match &settings.links {
        None => None,
        Some(LinkSetting::Inside) => Some(LinkPolicy::EveryHopInside),
        Some(LinkSetting::None) => Some(LinkPolicy::Refuse),
        Some(LinkSetting::TrustedRoots(roots)) => {
            let roots = roots
                .iter()
                .map(|root| home::user_path(root, &host.env, &contract.agents));
            Some(LinkPolicy::TrustedRoots(
                roots.collect::<Result<_, _>>().map_err(no_home)?,
            ))
        }
    };
    let hardlinks = settings.hardlinks.map(|setting| match setting {
        HardlinkSetting::Refuse => Hardlinks::Refuse,
        HardlinkSetting::Allow => Hardlinks::Allow,
    });
    Ok(LoadOptions {
        links,
        hardlinks,
        root_files: settings.root_files.clone(),
        ..LoadOptions::default()
    })
}

/// Finds the contract that holds: it decides what is built in and which keys are known.
pub fn chosen_contract(
    host: &Host,
    flag: Option<&str>,
    own: Option<&LoadedChitinConfig>,
) -> Result<&'static Contract, RuntimeError> {
    let mut said = Layers::default().with_environment(&host.env);
    if let Some(own) = own {
        said = said.with_chitin(own);
    }
    match (flag, said.settings(None).contract) {
        (Some(name), _) => contracts::find(name),
        (None, Some(name)) => contracts::find_named_by(&name, ErrorKind::Config),
        (None, None) => Ok(chitin_contract::ALL[0]),
    }
}

/// Reads `chitin.json5`, if there is one.
pub fn own_config(host: &Host) -> Result<Option<LoadedChitinConfig>, RuntimeError> {
    match chitin_config::chitin_home(&host.env) {
        Some(home) => {
            let own = chitin_config::load_chitin_config(&home).map_err(|e| unusable(&e))?;
            own.map_or(Ok(None), |own| guards_are_clear(own).map(Some))
        }
        None => Ok(None),
    }
}

/// A setting that guards the disk and is not understood must not quietly mean its default.
fn guards_are_clear(own: LoadedChitinConfig) -> Result<LoadedChitinConfig, RuntimeError> {
    let mut issues = own.issues.iter();
    if let Some(issue) = issues.find(|issue| guards(&issue.path)) {
        let error = RuntimeError::new(ErrorKind::Config, issue.to_string());
        return Err(match (&issue.hint, issue.path.rsplit('.').next()) {
            (Some(hint), _) => error.hint(hint.clone()),
            (None, Some("links" | "hardlinks")) => error.hint(
                "`links` is `inside`, `none` or `{ trustedRoots: [..] }`; `hardlinks` is `refuse` or `allow`",
            ),
            (None, _) => error.hint("`chitin config validate` shows the place"),
        });
    }
    Ok(own)
}

/// Tells whether a setting says what an agent may reach: links, commands, tools, plugins.
pub fn guards(path: &str) -> bool {
    let mut steps = path.split('.');
    steps
        .clone()
        .any(|step| matches!(step, "exec" | "tools" | "plugins"))
        || matches!(steps.next_back(), Some("links" | "hardlinks"))
}

/// Returns where `openclaw.json` is for this user.
pub fn config_file(host: &Host, contract: &Contract) -> Result<PathBuf, RuntimeError> {
    let state = home::state_directory(&host.env, &contract.agents).map_err(no_home)?;
    Ok(chitin_config::openclaw_config_path(&host.env, &state))
}

/// Returns the directory that holds what Chitin itself remembers.
pub fn chitin_home(host: &Host) -> Option<PathBuf> {
    chitin_config::chitin_home(&host.env)
}

/// Returns where Chitin and OpenClaw keep settings, keys and sessions. File tools and commands do not reach into them, but for a
/// workspace that lies in one, as OpenClaw's default does.
pub(crate) fn state_roots(host: &Host, contract: &Contract) -> Vec<PathBuf> {
    let openclaw = home::state_directory(&host.env, &contract.agents).ok();
    chitin_home(host).into_iter().chain(openclaw).collect()
}

fn no_home(error: home::HomeError) -> RuntimeError {
    RuntimeError::new(ErrorKind::User, "Could not determine the home directory.").caused_by(error)
}

pub(crate) fn unusable(error: &ConfigError) -> RuntimeError {
    let issue = error.issue();
    let failed = RuntimeError::new(ErrorKind::Config, issue.to_string());
    match issue.hint {
        Some(hint) => failed.hint(hint),
        None => failed.hint("`chitin config validate` shows the place"),
    }
}

/// Shortens a path below home for people.
pub fn shown(path: &Path, host: &Host) -> String {
    let home = host
        .env
        .get("HOME")
        .map(Path::new)
        .filter(|home| !home.as_os_str().is_empty());
    match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(below) if below.as_os_str().is_empty() => "~".to_owned(),
        Some(below) => format!("~/{}", below.display()),
        None => path.display().to_string(),
    }
}
