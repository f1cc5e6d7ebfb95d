//! The registry: which adapters there are, in which order they are asked, and who takes a directory.

use super::compat::{NATIVE_NAME, OPENCLAW_NAME};
use super::definition::AgentDefinition;
use super::native::NativeAdapter;
use super::openclaw::OpenClawAdapter;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use thiserror::Error;

/// The place in the order of an adapter that does not care.
pub const DEFAULT_PRIORITY: i32 = 100;

/// Makes an agent definition of a directory.
///
/// Anyone may implement it. An implementor promises that [`supports`](Self::supports) is cheap and has no effect, that
/// [`load`](Self::load) of a path it does not claim is [`AdapterError::InvalidArgument`], that neither reads outside the
/// path it was given, and that both may be called from several threads at once.
pub trait WorkspaceAdapter: Send + Sync {
    /// Tells whether this adapter claims a directory.
    fn supports(&self, root: &Path) -> bool;

    /// Makes the definition.
    fn load(&self, root: &Path) -> Result<AgentDefinition, AdapterError>;

    /// Returns the name that shows in definitions.
    fn name(&self) -> &str;

    /// Returns the place in the order: lower is asked first.
    fn priority(&self) -> i32 {
        DEFAULT_PRIORITY
    }

    /// Returns the place in the order for one directory. An adapter that learns its priority from a program that runs
    /// beside the directory says it here; for all others it is [`priority`](Self::priority).
    fn priority_for(&self, _root: &Path) -> i32 {
        self.priority()
    }
}

/// Why there is no definition.
#[derive(Debug, Error)]
pub enum AdapterError {
    /// Nobody claims the path.
    #[error("no adapter claims `{}` ({asked} were asked)", path.display())]
    NoAdapter {
        /// The path.
        path: PathBuf,
        /// How many adapters there are.
        asked: usize,
    },
    /// The path is not one for this adapter.
    #[error("`{}` is not a workspace for the adapter `{adapter}`: {reason}", path.display())]
    InvalidArgument {
        /// The path.
        path: PathBuf,
        /// The adapter that was called.
        adapter: String,
        /// What is wrong, in words.
        reason: String,
    },
    /// The adapter could not answer. The next one that claims the path is asked.
    #[error("the adapter `{adapter}` could not load `{}`: {reason}", path.display())]
    Unavailable {
        /// The path.
        path: PathBuf,
        /// The adapter that was called.
        adapter: String,
        /// What went wrong, in words.
        reason: String,
    },
}

type Adapters = Arc<[Arc<dyn WorkspaceAdapter>]>;

/// The adapters in the order in which they are asked: by priority, then by registration.
///
/// Adapters are added and removed while others load: each call works on the list as it was when the call began, and no
/// lock is held while an adapter runs.
pub struct AdapterRegistry {
    adapters: RwLock<Adapters>,
}

impl AdapterRegistry {
    /// Starts with no adapter at all.
    pub fn new() -> Self {
        Self {
            adapters: RwLock::new(Arc::from([])),
        }
    }

    /// Starts with the built-in adapters.
    pub fn with_built_ins() -> Self {
        Self::with_adapters([])
    }

    /// Starts with the given adapters, and the built-in ones that are not among them by name.
    pub fn with_adapters(given: impl IntoIterator<Item = Arc<dyn WorkspaceAdapter>>) -> Self {
        let registry = Self::new();
        for adapter in given {
            registry.register(adapter);
        }
        if !registry.has(OPENCLAW_NAME) {
            registry.register(Arc::new(OpenClawAdapter::default()));
        }
        if !registry.has(NATIVE_NAME) {
            registry.register(Arc::new(NativeAdapter));
        }
        registry
    }

    /// Adds an adapter behind those of the same priority. Loads that are under way do not see it.
    pub fn register(&self, adapter: Arc<dyn WorkspaceAdapter>) {
        let mut adapters = self
            .adapters
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let at = adapters.partition_point(|other| other.priority() <= adapter.priority());
        let mut changed = adapters.to_vec();
        changed.insert(at, adapter);
        *adapters = changed.into();
    }

    /// Removes every adapter of that name and returns how many there were. Loads that are under way still finish.
    pub fn remove(&self, name: &str) -> usize {
        let mut adapters = self
            .adapters
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let kept: Adapters = adapters
            .iter()
            .filter(|adapter| adapter.name() != name)
            .cloned()
            .collect();
        let removed = adapters.len() - kept.len();
        *adapters = kept;
        removed
    }

    /// Returns the adapters as they are now, in the order in which they are asked.
    pub fn adapters(&self) -> Arc<[Arc<dyn WorkspaceAdapter>]> {
        Arc::clone(&self.adapters.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the first adapter that claims a path.
    pub fn find(&self, path: &Path) -> Option<Arc<dyn WorkspaceAdapter>> {
        self.claimants(path).next()
    }

    /// Returns the adapters that claim a path, in order. Each is asked only when the iterator gets to it.
    pub fn claimants(&self, path: &Path) -> impl Iterator<Item = Arc<dyn WorkspaceAdapter>> {
        let claims = move |adapter: &Arc<dyn WorkspaceAdapter>| adapter.supports(path);
        self.in_order(path).into_iter().filter(claims)
    }

    /// Loads a directory with the first adapter that claims it. Where that one is unavailable, the next that claims it
    /// loads it; an adapter's definition is never used in part.
    pub fn load(&self, path: &Path) -> Result<AgentDefinition, AdapterError> {
        let adapters = self.in_order(path);
        let asked = adapters.len();
        let mut unavailable = None;
        for adapter in adapters {
            if !adapter.supports(path) {
                continue;
            }
            match adapter.load(path) {
                Err(error @ AdapterError::Unavailable { .. }) => {
                    unavailable.get_or_insert(error);
                }
                loaded => return loaded,
            }
        }
        Err(unavailable.unwrap_or_else(|| AdapterError::NoAdapter {
            path: path.into(),
            asked,
        }))
    }

    /// Returns the adapters in the order in which they are asked about a path.
    fn in_order(&self, path: &Path) -> Vec<Arc<dyn WorkspaceAdapter>> {
        let adapters = self.adapters();
        let mut ordered: Vec<_> = adapters
            .iter()
            .map(|adapter| (adapter.priority_for(path), adapter))
            .collect();
        ordered.sort_by_key(|(priority, _)| *priority);
        ordered
            .into_iter()
            .map(|(_, adapter)| Arc::clone(adapter))
            .collect()
    }

    fn has(&self, name: &str) -> bool {
        self.adapters().iter().any(|adapter| adapter.name() == name)
    }
}

impl Default for AdapterRegistry {
    fn default() -> Self {
        Self::with_built_ins()
    }
}

impl fmt::Debug for AdapterRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(
                self.adapters()
                    .iter()
                    .map(|adapter| (adapter.name().to_owned(), adapter.priority())),
            )
            .finish()
    }
}
