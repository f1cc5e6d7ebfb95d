//! Opening a home and reading all of it.

use crate::compat;
use crate::configuration::{self, HomeAgent};
use crate::contents::{HomeContents, HomeContract, HomeVersion};
use crate::database::{Database, DatabasePlace, SchemaRole};
use crate::paths::HomePaths;
use crate::problem::Problems;
use crate::sessions::{self, SessionPlace};
use crate::{
    approvals, channels, credentials, environment, gateway, heartbeats, migration, pairing,
    schedules, workspaces,
};
use chitin_config::env::Env;
use chitin_guard::{ReadError, Root};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why there is no home to read.
#[derive(Debug, Error)]
pub enum HomeError {
    /// Neither a variable nor the operating system names a home directory.
    #[error("no home directory is known: set `HOME`")]
    NoHome,
    /// The profile cannot be part of a directory name.
    #[error("the profile `{profile}` is not a valid name: use letters, digits, `_` and `-`")]
    BadProfile {
        /// What was given.
        profile: String,
    },
    /// There is no such directory.
    #[error("there is no OpenClaw home at `{}`", path.display())]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The directory is there, and holds nothing of OpenClaw's.
    #[error("`{}` holds nothing of OpenClaw's", path.display())]
    NotAHome {
        /// The directory.
        path: PathBuf,
    },
    /// The directory cannot be read.
    #[error("the OpenClaw home cannot be read")]
    Unreadable(#[source] ReadError),
}

/// What is not in the home.
#[derive(Debug, Clone)]
pub struct HomeOptions {
    /// A directory for private copies of databases that cannot be read in place.
    pub scratch: PathBuf,
    /// The environment of the process, which wins over what the home sets.
    pub env: Env,
    /// Whether summaries of transcripts keep the first and the last text of the user; a home of many sessions needs less memory without.
    pub texts: bool,
}

impl HomeOptions {
    /// Names a directory for private copies, such as `/tmp`.
    pub fn new(scratch: impl Into<PathBuf>) -> Self {
        let scratch = scratch.into();
        Self {
            env: Env::new(&scratch),
            scratch,
            texts: true,
        }
    }

    /// Leaves out what users wrote.
    #[must_use]
    pub fn without_texts(mut self) -> Self {
        self.texts = false;
        self
    }

    /// Adds the environment of the process.
    #[must_use]
    pub fn with_env(mut self, env: Env) -> Self {
        self.env = env;
        self
    }
}

/// A home, open for reading.
#[derive(Debug)]
pub struct Home {
    paths: HomePaths,
    options: HomeOptions,
    state: Root,
}

impl Home {
    /// Opens a home.
    pub fn open(paths: &HomePaths, options: HomeOptions) -> Result<Self, HomeError> {
        let state = Root::open(&paths.state).map_err(|error| match error {
            ReadError::Missing { path } => HomeError::Missing { path },
            error @ (ReadError::Refused { .. } | ReadError::Io { .. }) => {
                HomeError::Unreadable(error)
            }
        })?;
        if let Err(source) = state.check_listable() {
            let path = paths.state.clone();
            return Err(HomeError::Unreadable(ReadError::Io { path, source }));
        }
        let is_home = chitin_guard::exists(&paths.config)
            || ["agents", "state", "credentials", "cron", compat::DOTENV]
                .iter()
                .any(|name| state.kind(Path::new(name)).is_some());
        if !is_home {
            let path = paths.state.clone();
            return Err(HomeError::NotAHome { path });
        }
        Ok(Self {
            paths: paths.clone(),
            options,
            state,
        })
    }

    /// Returns where it is.
    pub const fn paths(&self) -> &HomePaths {
        &self.paths
    }

    /// Reads all of it. What cannot be read is among the problems, and the rest is there.
    pub fn read(&self) -> HomeContents {
        let mut problems = Problems::default();
        let config = configuration::read(&self.paths, &mut problems);
        let agents = configuration::agents(&config, &self.paths, &self.state);
        let mut version = HomeVersion {
            last_touched_version: crate::json::text(&config["meta"], "lastTouchedVersion"),
            ..HomeVersion::default()
        };
        let shared = self.shared(&mut version, &mut problems);
        let mut databases = Vec::new();
        for agent in &agents {
            let database = self.of_agent(agent, &mut version, &mut problems);
            databases.push((agent.id.as_str(), database));
        }
        let shared = shared.as_ref();
        let mut sessions = Vec::new();
        let mut other_transcripts = Vec::new();
        for (agent, database) in &databases {
            let place = SessionPlace {
                state: &self.state,
                agent,
                texts: self.options.texts,
            };
            let found = sessions::read(&place, database.as_ref(), &mut problems);
            sessions.extend(found.sessions);
            other_transcripts.extend(found.others);
        }
        let stores: Vec<_> = databases
            .iter()
            .map(|(agent, database)| (*agent, database.as_ref()))
            .collect();
        let auth_profiles = credentials::profiles(&self.state, shared, &stores, &mut problems);
        let channels = channels::channels(&config);
        let (allowlists, pending_pairings) =
            pairing::read(&self.state, shared, &channels, &mut problems);
        let opened: Vec<(&HomeAgent, Option<Root>)> = agents
            .iter()
            .map(|agent| {
                let root = configuration::present(&agent.workspace, &self.paths.state);
                (agent, root)
            })
            .collect();
        let directories: Vec<PathBuf> = opened
            .iter()
            .filter_map(|(_, root)| Some(root.as_ref()?.real_path().to_path_buf()))
            .collect();
        let ids: Vec<&str> = agents.iter().map(|agent| agent.id.as_str()).collect();
        let live_legacy_files = migration::live_files(&self.state, &ids);
        let has_database = version.state_schema.is_some() || !version.agent_schemas.is_empty();
        let contract = match (has_database, live_legacy_files.is_empty()) {
            (false, _) => HomeContract::Files,
            (true, true) => HomeContract::Sqlite,
            (true, false) => HomeContract::Mixed,
        };
        let gateway_lease = shared.map(|database| gateway::leases(database, &mut problems));
        let heartbeat_scratch = shared.map(|database| heartbeats::scratch(database, &mut problems));
        let migration_runs = shared.map(|database| migration::runs(database, &mut problems));
        let mut contents = HomeContents {
            sessions,
            other_transcripts,
            cron: schedules::jobs(&self.state, shared, &mut problems),
            heartbeat_scratch: heartbeat_scratch.unwrap_or_default(),
            auth_profiles,
            auth_profiles_declared_in_config: configuration::declared_profiles(&config),
            channel_offsets: channels::offsets(&self.state, shared, &mut problems),
            channels,
            bindings: configuration::bindings(&config),
            allowlists,
            pending_pairings,
            owners: configuration::owners(&config),
            env: environment::keys(&self.state, &config, &self.options.env, &mut problems),
            secret_refs: configuration::references(&config),
            secret_providers: configuration::providers(&config),
            config_secrets: configuration::secrets(&config),
            heartbeat: heartbeats::default(&config),
            agent_heartbeats: heartbeats::of_agents(&config),
            hooks: configuration::hooks(&config),
            exec_approvals: approvals::approvals(&self.state, shared, &mut problems),
            skills: workspaces::skills(&self.state, &opened),
            workspace_markdown: workspaces::markdown(&opened, &mut problems),
            migration_runs: migration_runs.unwrap_or_default(),
            gateway_locks: gateway::locks(&self.state),
            gateway_lease: gateway_lease.unwrap_or_default(),
            version,
            contract,
            live_legacy_files,
            left_behind: migration::left_behind(&self.state, &directories, &mut problems),
            problems: Vec::new(),
            agents: Vec::new(),
        };
        let open = databases
            .iter()
            .filter_map(|(_, database)| database.as_ref());
        for changed in open.chain(shared).filter_map(Database::changed) {
            problems.add(changed);
        }
        drop(opened);
        drop(databases);
        contents.agents = agents;
        contents.problems = problems.finish();
        contents
    }

    fn shared(&self, version: &mut HomeVersion, problems: &mut Problems) -> Option<Database> {
        let place = DatabasePlace {
            root: &self.state,
            file: Path::new(compat::STATE_DATABASE),
            name: compat::STATE_DATABASE.to_owned(),
        };
        let database = self.open_database(&place, problems)?;
        let (marks, usable) = database.marks(SchemaRole::State);
        version.state_schema = Some(marks.version);
        version.state_app_version = marks.app_version;
        usable.map_err(|problem| problems.add(problem)).ok()?;
        Some(database)
    }

    fn of_agent(
        &self,
        agent: &HomeAgent,
        version: &mut HomeVersion,
        problems: &mut Problems,
    ) -> Option<Database> {
        // The configured directory, and the usual one in case that the home was copied.
        let usual = self
            .paths
            .state
            .join(compat::AGENTS)
            .join(&agent.id)
            .join("agent");
        let root = configuration::present(&agent.agent_dir, &self.paths.state)
            .filter(|root| root.kind(Path::new(compat::AGENT_DATABASE)).is_some())
            .or_else(|| Root::open(&usual).ok())?;
        let name = match root.path().strip_prefix(&self.paths.state) {
            Ok(below) => below.join(compat::AGENT_DATABASE),
            Err(_) => root.path().join(compat::AGENT_DATABASE),
        };
        let place = DatabasePlace {
            root: &root,
            file: Path::new(compat::AGENT_DATABASE),
            name: name.display().to_string(),
        };
        let database = self.open_database(&place, problems)?;
        let (marks, usable) = database.marks(SchemaRole::Agent);
        version
            .agent_schemas
            .push((agent.id.clone(), marks.version));
        usable.map_err(|problem| problems.add(problem)).ok()?;
        Some(database)
    }

    fn open_database(
        &self,
        place: &DatabasePlace<'_>,
        problems: &mut Problems,
    ) -> Option<Database> {
        match Database::open(place, &self.options.scratch) {
            Ok(database) => database,
            Err(problem) => {
                problems.add(problem);
                None
            }
        }
    }
}
