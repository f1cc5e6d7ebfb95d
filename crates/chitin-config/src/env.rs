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

    /// Returns where a path leads that a user typed: `~` alone or before a slash is the home directory, as in a shell, and
    /// what is relative starts at the working directory.
    pub fn resolve(&self, typed: impl AsRef<Path>) -> PathBuf {
        let typed = typed.as_ref();
        let set = self.get("HOME").filter(|home| !home.is_empty());
        let home = set.map(Path::new).or(self.os_home.as_deref());
        match (typed.strip_prefix("~"), home) {
            (Ok(below), Some(home)) if below.as_os_str().is_empty() => {
                self.working_directory.join(home)
            }
            (Ok(below), Some(home)) => self.working_directory.join(home).join(below),
            (Ok(_), None) | (Err(_), _) => self.working_directory.join(typed),
        }
    }

    /// Returns the operating system's idea of home.
    pub fn os_home(&self) -> Option<&Path> {
        self.os_home.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typed_tilde_is_home_and_only_at_the_start() {
        let env = Env::new("/yard").with("HOME", "/home/kim");
        let led = |typed: &str| env.resolve(typed).display().to_string();
        assert_eq!(led("~"), "/home/kim");
        assert_eq!(led("~/agents/a"), "/home/kim/agents/a");
        assert_eq!(led("agents"), "/yard/agents");
        assert_eq!(led("/agents"), "/agents");
        assert_eq!(led("~kim/a"), "/yard/~kim/a");
        assert_eq!(led("a/~"), "/yard/a/~");
        let homeless = Env::new("/yard").with("HOME", "");
        assert_eq!(homeless.resolve("~/a"), Path::new("/yard/~/a"));
        let other = homeless.with_os_home("/home/os");
        assert_eq!(other.resolve("~/a"), Path::new("/home/os/a"));
    }
}
