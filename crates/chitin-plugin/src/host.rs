//! What plugins are started with. Everything comes from outside: this crate asks neither the environment nor the home.

use crate::fault::PluginNote;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// Receives what users should know about plugins.
pub type NoteSink = Arc<dyn Fn(&PluginNote) + Send + Sync>;

/// What plugins are started with.
#[derive(Clone)]
pub struct PluginHost {
    /// The program that becomes the sandbox helper when it is told to: the `chitin` binary.
    pub helper: PathBuf,
    /// Chitin's home: relative paths of commands and the plugins' own data are found beneath it.
    pub home: PathBuf,
    /// The user's home, for `~`.
    pub user_home: Option<PathBuf>,
    /// What stays hidden in the sandbox, besides Chitin's home and the user's.
    pub hidden: Vec<PathBuf>,
    /// Chitin's own environment. A plugin gets what is harmless of it, and what its settings name.
    pub environment: BTreeMap<String, String>,
    /// The version of this program, as plugins are told it.
    pub version: String,
    /// Who is told when a plugin fails.
    pub notes: NoteSink,
}

impl PluginHost {
    /// Makes a host with an empty environment that tells nobody.
    pub fn new(
        helper: impl Into<PathBuf>,
        home: impl Into<PathBuf>,
        version: impl Into<String>,
    ) -> Self {
        Self {
            helper: helper.into(),
            home: home.into(),
            user_home: None,
            hidden: Vec::new(),
            environment: BTreeMap::new(),
            version: version.into(),
            notes: Arc::new(|_| {}),
        }
    }

    /// Sends notes somewhere.
    #[must_use]
    pub fn with_notes(mut self, notes: impl Fn(&PluginNote) + Send + Sync + 'static) -> Self {
        self.notes = Arc::new(notes);
        self
    }
}

impl fmt::Debug for PluginHost {
    /// Leaves the environment out: it has keys in it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PluginHost")
            .field("home", &self.home)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}
