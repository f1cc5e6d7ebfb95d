//! Makes the agents of a gateway from this machine's configuration. Everything that costs something is made when a message
//! first needs it, kept as long as it is used, and let go when it rests.

mod resting;

use crate::approvals::{AgentApproval, approvals, revoke_approval};
use crate::context::Caller;
use crate::context::report::ContextReport;
use crate::contracts;
use crate::error::{ErrorKind, RuntimeError};
use crate::factory::{AgentFactory, AgentTemplate, ModelSelection};
use crate::host::Host;
use crate::identity::name_of_directory;
use crate::notes::Notes;
use crate::plugins::FollowedConfig;
use crate::recordings::RecordingKeeper;
use crate::setup::{AgentTarget, Configuration, Setup, chitin_home};
use crate::tools::User;
use chitin_agent::blocking;
use chitin_agent::turn::{Agent, NoApprover};
use chitin_config::{Layers, agents, home};
use chitin_gateway::access::ToolLimits;
use chitin_gateway::approvals::KeptApproval;
use chitin_gateway::forget::{ForgetError, ForgetReport, ForgetRequest};
use chitin_gateway::{AgentAsk, AgentHost, AgentSummary, HostError};
use chitin_protocol::agent_id::AgentId;
use chitin_protocol::session_key;
use chitin_protocol::settings::SubagentSettings;
use chitin_store::{FileStore, JobLog, RandomIds, SessionStore};
use chitin_tools::Approver;
use chitin_tools::policy::SenderKind;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use resting::{Kept, RestingLimits, Use};
use serde_json::Value;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// How many variants of agents are kept. When there are more, all are made anew.
const MOST_KINDS: usize = 256;

/// The command that runs a server.
const SERVE: &str = "serve";

/// Makes the agents of a gateway.
pub struct ServeHost {
    host: Arc<Host>,
    target: AgentTarget,
    model: Option<String>,
    approver: Arc<dyn Approver>,
    verb: &'static str,
    notes: Notes,
    agents: Vec<AgentSummary>,
    default: Option<AgentId>,
    /// The workspaces that some agent's sessions may begin others in.
    spawn_workspaces: Vec<String>,
    /// What becomes of recordings, for all agents.
    recordings: Option<Arc<RecordingKeeper>>,
    limits: RestingLimits,
    shared: Mutex<SharedConfiguration>,
    kept: Mutex<Kept>,
    /// The stores of agents that nobody else keeps, as long as somebody uses them.
    stores: Mutex<HashMap<String, Weak<FileStore>>>,
    /// Where plugins are named. Held while a change is taken over, so that no turn begins with half of it.
    followed: tokio::sync::Mutex<FollowedConfig>,
}

/// An agent, and the workspace where that is not its own.
type CacheKey = (String, Option<PathBuf>);

/// What all agents are made of: the configuration as it was at the start, with the plugins of now.
struct SharedConfiguration {
    configuration: Arc<Configuration>,
    /// What says by now which context engine an agent has, once that was written anew.
    engines: Option<Layers>,
}

/// What the turns of one agent share.
pub struct AgentCache {
    /// Makes its agents.
    pub factory: AgentFactory,
    /// By the model. Held while one is made, so that tool servers are started once.
    templates: Arc<tokio::sync::Mutex<HashMap<Option<String>, Arc<AgentTemplate>>>>,
    variants: Mutex<HashMap<AgentVariant, Arc<Agent>>>,
}

/// What makes one agent different from another of the same cache.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct AgentVariant {
    /// Subagents have fewer tools, by depth.
    subagent: bool,
    depth: Option<u32>,
    owner: bool,
    /// What is said of tools, for the place and for whoever speaks there.
    limits: Option<ToolLimits>,
    channel: Option<String>,
    model: Option<String>,
    thinking: Option<String>,
    working_directory: Option<PathBuf>,
}

impl AgentCache {
    /// Forgets what is in memory alone of a session, which is deleted: what was allowed for it, and what its commands said in the background.
    fn forget_session(&self, session_key: &str) {
        self.factory.forget_session(session_key);
        // While one is made, none has run a command for a session that rests.
        let templates = self.templates.try_lock();
        for template in templates.iter().flat_map(|templates| templates.values()) {
            template.tools.forget_session(session_key);
        }
    }
}

impl ServeHost {
    /// Shares what becomes of recordings with somebody else.
    pub(crate) fn with_recordings(mut self, recordings: &Arc<RecordingKeeper>) -> Self {
        self.recordings = Some(Arc::clone(recordings));
        self
    }

    /// Lists the agents of a configuration; none is made yet.
    pub fn new(
        host: &Arc<Host>,
        target: &AgentTarget,
        model: Option<&str>,
        configuration: &Configuration,
        notes: &Notes,
    ) -> Result<Self, RuntimeError> {
        let (config, contract) = (configuration.value(), configuration.contract);
        let given = match &target.directory {
            Some(_) => {
                let setup = Setup::find(host, target, &Notes::none())?;
                Some((setup.agent, setup.directory))
            }
            None => None,
        };
        let default = match (&given, &target.agent) {
            (Some((id, _)), _) => Some(id.clone()),
            (None, Some(id)) => Some(AgentId::normalize(id)),
            (None, None) => agents::default_agent(config, contract).ok(),
        };
        let mut ids = configuration.agents();
        ids.extend(default.clone());
        let mut found: Vec<AgentSummary> = Vec::new();
        for id in ids {
            if found.iter().any(|known| known.id == id.as_str()) {
                continue;
            }
            let workspace = match &given {
                Some((given, directory)) if *given == id => directory.clone(),
                Some(_) | None => configuration
                    .workspace_of(&id, host)
                    .map(|(directory, _)| directory)
                    .unwrap_or_default(),
            };
            found.push(AgentSummary {
                name: name_of_directory(&workspace),
                workspace: workspace.display().to_string(),
                is_default: default.as_ref() == Some(&id),
                id: id.to_string(),
            });
        }
        Ok(Self {
            host: Arc::clone(host),
            target: target.clone(),
            model: model.map(str::to_owned),
            approver: Arc::new(NoApprover),
            verb: SERVE,
            notes: notes.clone(),
            agents: found,
            default,
            spawn_workspaces: spawn_workspaces(host, configuration),
            recordings: None,
            limits: RestingLimits::of(&configuration.server),
            shared: Mutex::new(SharedConfiguration {
                configuration: Arc::new(configuration.clone()),
                engines: None,
            }),
            kept: Mutex::default(),
            stores: Mutex::default(),
            followed: tokio::sync::Mutex::default(),
        })
    }

    /// Makes agents for a conversation, whose owner is asked for permission.
    #[must_use]
    pub(crate) fn in_conversation(
        mut self,
        approver: Arc<dyn Approver>,
        verb: &'static str,
    ) -> Self {
        self.approver = approver;
        self.verb = verb;
        self
    }

    /// Gives the agents the names that plugins know them by (A8): only these know more than the directory says, and to ask one it
    /// must be started. One start of each plugin is enough for all agents.
    pub(crate) fn with_names_of_plugins(mut self, configuration: &Configuration) -> Self {
        if configuration.plugins.is_empty() {
            return self;
        }
        // What is wrong with a plugin is told when an agent is made.
        let Ok(setup) = Setup::find(&self.host, &self.target, &Notes::none()) else {
            return self;
        };
        for agent in &mut self.agents {
            agent.name = setup.name_of(&self.host, Path::new(&agent.workspace));
        }
        self
    }

    /// Tells whether the model of all agents was named.
    pub(crate) const fn names_model(&self) -> bool {
        self.model.is_some()
    }

    /// Returns what the turns of an agent share.
    pub fn cache(&self, agent_id: &str) -> Result<Arc<AgentCache>, HostError> {
        self.cache_in(agent_id, None, Use::Look)
    }

    /// Returns what the turns of an agent share in a workspace that need not be its own. Its sessions are the agent's either way.
    fn cache_in(
        &self,
        agent_id: &str,
        workspace: Option<&Path>,
        how: Use,
    ) -> Result<Arc<AgentCache>, HostError> {
        let usual = match workspace {
            Some(_) => Some(self.cache_in(agent_id, None, how)?),
            None => None,
        };
        let mut kept = self.locked();
        let key = (agent_id.to_owned(), workspace.map(Path::to_path_buf));
        if let Some(cache) = kept.get(&key, how) {
            return Ok(cache);
        }
        let is_default = self
            .default
            .as_ref()
            .is_some_and(|default| default.as_str() == agent_id);
        let target = AgentTarget {
            directory: match workspace {
                Some(workspace) => Some(workspace.to_path_buf()),
                None => self.target.directory.clone().filter(|_| is_default),
            },
            agent: Some(agent_id.to_owned()),
            with: if is_default {
                self.target.with.clone()
            } else {
                Vec::new()
            },
            contract: self.target.contract.clone(),
        };

        let (configuration, engines) = {
            let shared = lock(&self.shared);
            (Arc::clone(&shared.configuration), shared.engines.clone())
        };
        let setup = Setup::find_in(configuration, &self.host, &target, &Notes::none());
        let setup = setup.map(|setup| {
            // What the configuration says was told at the start; what becomes of plugins is told when it happens.
            setup.with_lasting_plugins(&self.host, &self.notes)
        });
        let setup = setup.map_err(|error| said(&error))?;
        let factory = AgentFactory::new(&self.host, Arc::new(setup), &self.notes);
        let mut factory = factory.map_err(|error| said(&error))?;
        if let Some(recordings) = &self.recordings {
            factory.recordings = Arc::clone(recordings);
        }
        if let Some(usual) = usual {
            factory.for_agent_of(&usual.factory);
        } else if let Some(store) = self.used_store(agent_id) {
            factory.store = store;
        }
        if let Some(remains) = kept.remains(&key) {
            factory.take_up(remains);
        }
        if let Some(engines) = engines {
            let settings = engines.settings(Some(&factory.setup.agent));
            factory.context_engine = settings.context_engine;
        }
        lock(&self.stores).insert(agent_id.to_owned(), Arc::downgrade(&factory.store));
        let cache = Arc::new(AgentCache {
            factory,
            templates: Arc::default(),
            variants: Mutex::default(),
        });
        kept.put(key, Arc::clone(&cache), how);
        let gone = kept.let_go(&self.limits);
        drop(kept);
        // What ends with it, such as processes, nobody waits for with the lock.
        drop(gone);
        Ok(cache)
    }

    fn used_store(&self, agent_id: &str) -> Option<Arc<FileStore>> {
        lock(&self.stores).get(agent_id)?.upgrade()
    }

    /// Lets go of agents that rest: their models, tools, memory, MCP servers and open files. A message brings them back. Session
    /// indexes that rest say everything afterwards.
    pub fn let_go(&self) {
        let gone = self.locked().let_go(&self.limits);
        drop(gone);
        lock(&self.stores).retain(|_, store| store.strong_count() > 0);
        for store in self.used_stores() {
            // It is tried again next time; nothing waits for it.
            let _ = store.fold_index_at_rest();
        }
    }

    /// Lets the session indexes say everything, because the process is about to end.
    pub fn close(&self) {
        for store in self.used_stores() {
            // The changes are on the disk in any case.
            let _ = store.settle_index();
        }
    }

    fn used_stores(&self) -> Vec<Arc<FileStore>> {
        let stores = lock(&self.stores);
        stores.values().filter_map(Weak::upgrade).collect()
    }

    /// Lets go of agents that rest, again and again, as long as the host is there. A runtime must be running.
    pub(crate) fn let_go_in_time(self: &Arc<Self>) {
        let host = Arc::downgrade(self);
        let every = self.limits.look_every();
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(every).await;
                let Some(host) = host.upgrade() else { return };
                // Processes end with some of them.
                let _ = tokio::task::spawn_blocking(move || host.let_go()).await;
            }
        });
    }

    /// Takes over what `chitin.json5` says by now of plugins and of the context engine. Plugins that did not change keep their
    /// processes; a turn that is using one that was removed goes on with the built-in behaviour. A file that cannot be used
    /// changes nothing.
    async fn follow_plugins(&self) {
        let mut followed = self.followed.lock().await;
        let own = match blocking(|| followed.changed(&self.host)) {
            None => return,
            Some(Ok(own)) => own,
            Some(Err(error)) => {
                let error = error.with_causes();
                self.notes
                    .note(&format!("{error} The plugins are unchanged."));
                return;
            }
        };
        let mut layers = Layers::default().with_environment(&self.host.env);
        if let Some(own) = &own {
            layers = layers.with_chitin(own);
        }
        let plugins = Arc::new(own.map(|own| own.config.plugins).unwrap_or_default());
        {
            let mut shared = lock(&self.shared);
            let mut configuration = (*shared.configuration).clone();
            configuration.plugins = (*plugins).clone();
            shared.configuration = Arc::new(configuration);
            shared.engines = Some(layers.clone());
        }
        let known = self.locked().known();
        for (key, cache) in known {
            let factory = &cache.factory;
            let (set, plugins) = (Arc::clone(&factory.plugins), Arc::clone(&plugins));
            // It waits for processes to end.
            let reloaded = tokio::task::spawn_blocking(move || set.reload(&plugins)).await;
            let context_engine = layers.settings(Some(&factory.setup.agent)).context_engine;
            let reloaded = reloaded.unwrap_or_default();
            if reloaded.is_empty() && context_engine == factory.context_engine {
                continue;
            }
            factory.plugins.update_adapters(&factory.setup.adapters);
            for (names, what) in [
                (&reloaded.added, "was added"),
                (&reloaded.changed, "has other settings"),
                (&reloaded.removed, "was removed"),
            ] {
                for name in names {
                    let agent = &factory.setup.agent;
                    let note = format!("Plugin `{name}` {what}, for the agent `{agent}`.");
                    self.notes.note(&note);
                }
            }
            let mut factory = factory.clone();
            factory.context_engine = context_engine;
            let renewed = AgentCache {
                factory,
                templates: Arc::clone(&cache.templates),
                variants: Mutex::default(),
            };
            self.locked().put(key, Arc::new(renewed), Use::Look);
        }
    }

    fn locked(&self) -> MutexGuard<'_, Kept> {
        lock(&self.kept)
    }

    async fn make(&self, ask: &AgentAsk<'_>) -> Result<Arc<Agent>, HostError> {
        self.follow_plugins().await;
        let workspace = ask.workspace.as_deref();
        let cache = blocking(|| self.cache_in(ask.agent_id, workspace, Use::Turn))?;
        let contract = cache.factory.setup.contract();
        let model = ask.model.map(str::to_owned).or_else(|| self.model.clone());
        let variant = AgentVariant {
            subagent: session_key::is_subagent(ask.session_key, contract.session_keys),
            depth: ask.depth,
            owner: ask.sender.is_none_or(|sender| sender.is_owner),
            limits: ask
                .sender
                .and_then(|sender| sender.tools.as_deref().cloned()),
            channel: ask.channel.map(str::to_owned),
            model: model.clone(),
            thinking: ask.thinking.map(str::to_owned),
            working_directory: ask.working_directory.clone(),
        };
        cache.refresh(model.as_ref(), &self.notes).await;
        if let Some(agent) = cache.kept(&variant) {
            return Ok(agent);
        }
        let template = cache.template(model).await.map_err(|error| said(&error))?;
        let user = User {
            depth: ask.depth,
            sender: if variant.owner {
                SenderKind::Owner
            } else {
                SenderKind::Other
            },
            limits: variant.limits.as_ref(),
            thinking: ask.thinking,
            ..User::owner(ask.session_key, &template, &ask.offers)
        };
        let made = blocking(|| {
            cache.factory.agent(
                &template,
                &user,
                Arc::clone(&self.approver),
                ask.working_directory.as_deref(),
                self.verb,
            )
        });
        let agent = Arc::new(made.map_err(|error| said(&error))?);
        Ok(cache.keep(variant, agent))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl AgentCache {
    /// Tells whether a turn holds one of its agents, or a command of one runs in the background. Whoever holds the cache itself is not
    /// seen here.
    fn is_used(&self) -> bool {
        let Ok(templates) = self.templates.try_lock() else {
            return true;
        };
        let variants = lock(&self.variants);
        variants.values().any(|agent| Arc::strong_count(agent) > 1)
            || templates
                .values()
                .any(|template| Arc::strong_count(template) > 1 || template.tools.has_jobs())
    }

    /// Forgets agents that lack the tools of an MCP server which can be reached by now.
    async fn refresh(&self, model: Option<&String>, notes: &Notes) {
        let Some(template) = self
            .templates
            .try_lock()
            .ok()
            .and_then(|templates| templates.get(&model.cloned()).map(Arc::clone))
        else {
            return;
        };
        if template.tools.refresh(notes).await {
            let mut variants = self.variants.lock().unwrap_or_else(PoisonError::into_inner);
            variants.retain(|variant, _| variant.model.as_ref() != model);
        }
    }

    fn kept(&self, variant: &AgentVariant) -> Option<Arc<Agent>> {
        let variants = self.variants.lock().unwrap_or_else(PoisonError::into_inner);
        variants.get(variant).map(Arc::clone)
    }

    /// Keeps an agent, unless one of its variant was made meanwhile: turns of a session must share one.
    fn keep(&self, variant: AgentVariant, agent: Arc<Agent>) -> Arc<Agent> {
        let mut variants = self.variants.lock().unwrap_or_else(PoisonError::into_inner);
        if variants.len() >= MOST_KINDS {
            variants.clear();
        }
        Arc::clone(variants.entry(variant).or_insert(agent))
    }

    async fn template(&self, model: Option<String>) -> Result<Arc<AgentTemplate>, RuntimeError> {
        let mut templates = self.templates.lock().await;
        if let Some(template) = templates.get(&model) {
            return Ok(Arc::clone(template));
        }
        let selection = ModelSelection {
            model: model.as_deref(),
            ..ModelSelection::default()
        };
        let template = Arc::new(self.factory.template(&selection).await?);
        if templates.len() >= MOST_KINDS {
            templates.clear();
        }
        templates.insert(model, Arc::clone(&template));
        Ok(template)
    }
}

impl AgentHost for ServeHost {
    fn agents(&self) -> Vec<AgentSummary> {
        self.agents.clone()
    }

    fn store(&self, agent_id: &str) -> Result<Arc<dyn SessionStore>, HostError> {
        // Lists ask for the stores of all agents: none is made for that.
        let known = self.locked().look(&(agent_id.to_owned(), None));
        if let Some(cache) = known {
            return Ok(Arc::clone(&cache.factory.store) as _);
        }
        let state = chitin_home(&self.host).ok_or_else(|| HostError::new("There is no home."))?;
        let id = AgentId::normalize(agent_id);
        let configuration = Arc::clone(&lock(&self.shared).configuration);
        let contract = match configuration.layers.settings(Some(&id)).contract {
            Some(name) => contracts::find_named_by(&name, ErrorKind::Config),
            None => Ok(configuration.contract),
        };
        let rules = &contract.map_err(|error| said(&error))?.runtime.transcript;
        let mut stores = lock(&self.stores);
        if let Some(store) = stores.get(agent_id).and_then(Weak::upgrade) {
            return Ok(store);
        }
        let directory = FileStore::directory_of(&state, agent_id);
        let store = Arc::new(FileStore::new(directory, rules, RandomIds));
        stores.insert(agent_id.to_owned(), Arc::downgrade(&store));
        Ok(store)
    }

    fn agent<'a>(&'a self, ask: AgentAsk<'a>) -> BoxFuture<'a, Result<Arc<Agent>, HostError>> {
        async move { self.make(&ask).await }.boxed()
    }

    fn subagents(&self, agent_id: &str) -> SubagentSettings {
        let configuration = Arc::clone(&lock(&self.shared).configuration);
        let id = AgentId::normalize(agent_id);
        let mut settings = configuration.layers.settings(Some(&id)).subagents;
        settings.workspaces = absolute(&self.host, settings.workspaces);
        settings
    }

    fn spawn_workspaces(&self) -> Vec<String> {
        self.spawn_workspaces.clone()
    }

    fn channel_refusal(&self, agent_id: &str, channel: &str) -> Option<String> {
        let cache = self.cache(agent_id).ok()?;
        let mut filters = cache.factory.channels.iter();
        filters.find_map(|filter| filter.refusal(channel))
    }

    fn kept_approvals(&self) -> Vec<KeptApproval> {
        let Some(state) = chitin_home(&self.host) else {
            return Vec::new();
        };
        let kept = approvals(&state).into_iter().map(|kept| {
            let AgentApproval { agent, approval } = kept;
            let exact = approval.pattern.strip_prefix('=').map(str::to_owned);
            KeptApproval {
                id: approval.id,
                agent_id: agent,
                tool: approval.tool,
                exact: exact.is_some(),
                pattern: exact.unwrap_or(approval.pattern),
                allowed_at: approval.allowed_at,
            }
        });
        kept.collect()
    }

    fn revoke_approval(&self, id: &str) -> Result<bool, HostError> {
        let Some(state) = chitin_home(&self.host) else {
            return Ok(false);
        };
        let revoked = revoke_approval(&state, id).map_err(|error| said(&error))?;
        Ok(revoked.is_some())
    }

    fn forget(&self, request: &ForgetRequest, log: &JobLog) -> Result<ForgetReport, ForgetError> {
        let state = chitin_home(&self.host)
            .ok_or_else(|| HostError::new("Could not determine Chitin's home."))?;
        let agent = request
            .keys
            .first()
            .and_then(|key| crate::forget::agent_of(key));
        let agent = agent.or_else(|| self.default.as_ref().map(ToString::to_string));
        let cache = self.cache(&agent.unwrap_or_default())?;
        let setup = &cache.factory.setup;
        let report = crate::forget::forget_served(&self.host, setup, &state, request, log)?;
        for session in report.sessions.iter().filter(|_| !request.dry_run) {
            let agent = crate::forget::agent_of(&session.key);
            // An agent that is not served has nothing in memory.
            if let Some(Ok(cache)) = agent.map(|agent| self.cache(&agent)) {
                cache.forget_session(&session.key);
            }
        }
        Ok(report)
    }

    fn admit(&self, agent_id: &str, session_key: &str) -> Result<(), HostError> {
        let cache = self.cache(agent_id)?;
        let setup = &cache.factory.setup;
        crate::context::session_key(session_key, setup).map_err(|error| said(&error))?;
        setup
            .check_directory(&self.host)
            .map_err(|error| said(&error))
    }

    fn context_report(&self, agent_id: &str, session_key: &str) -> Result<Value, HostError> {
        let cache = self.cache(agent_id)?;
        let caller = if self.verb == SERVE {
            Caller::Server
        } else {
            Caller::Terminal
        };
        let report = ContextReport::of_session(&cache.factory, session_key, None, caller)
            .map_err(|error| said(&error))?;
        serde_json::to_value(&report)
            .map_err(|error| HostError::new(format!("The context cannot be shown: {error}.")))
    }
}

/// Collects the workspaces that some agent's sessions may begin others in.
pub(crate) fn spawn_workspaces(host: &Host, configuration: &Configuration) -> Vec<String> {
    let layers = &configuration.layers;
    let agents = layers.agents_that_set("subagents");
    let agents = std::iter::once(None).chain(agents.iter().map(Some));
    let mut found = Vec::new();
    for agent in agents {
        for workspace in absolute(host, layers.settings(agent).subagents.workspaces) {
            if !found.contains(&workspace) {
                found.push(workspace);
            }
        }
    }
    found
}

/// Expands `~` in paths and makes them absolute.
fn absolute(host: &Host, paths: Vec<String>) -> Vec<String> {
    let home = home::plain_home(&host.env);
    let base = host.env.working_directory();
    let path = |text: String| home::path_from(&text, home.as_deref(), base);
    let paths = paths.into_iter().map(path);
    paths
        .map(|path| path.to_string_lossy().into_owned())
        .collect()
}

/// Says an error of the command line to whoever sent the message.
fn said(error: &RuntimeError) -> HostError {
    HostError {
        message: error.with_causes(),
        hint: error.hints().first().cloned(),
        bad_request: error.kind() == ErrorKind::Usage,
    }
}
