//! What the library may know of the user's environment: values handed in by the binary, never looked up here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A snapshot of environment variables, the working directory and the operating system's idea of home.
#[derive(Debug, Clone, Default)]
pub struct Env {
    variables: BTreeMap<String, String>,
    working_directory: PathBuf,
    os_home: Option<PathBuf>,
}

impl Env {
    /// Starts from nothing but a working directory.
    pub fn new(working_directory: impl Into<PathBuf>) -> Self {
        Self {
            working_directory: working_directory.into(),
            ..Self::default()
        }
    }

    /// Adds a variable.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    /// Adds many variables.
    #[must_use]
    pub fn with_all(mut self, variables: impl IntoIterator<Item = (String, String)>) -> Self {
        self.variables.extend(variables);
        self
    }

    /// Sets the home directory that the operating system reports for the user.
    #[must_use]
    pub fn with_os_home(mut self, home: impl Into<PathBuf>) -> Self {
        self.os_home = Some(home.into());
        self
    }

    /// Returns a variable exactly as it is set, empty values included.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// Returns every variable, by name.
    pub fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        let variables = self.variables.iter();
        variables.map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns the directory that relative paths start from.
    pub fn working_directory(&self) -> &Path {
        &self.working_directory
    }

    /// Returns the operating system's idea of home.
    pub fn os_home(&self) -> Option<&Path> {
        self.os_home.as_deref()
    }
}
