//! Names of users, agents and sessions: one component of a path and nothing else.

use crate::adapter::text::is_blank;
use thiserror::Error;

/// Longer names do not fit into a file name on most systems once a suffix is added.
const MAX_LENGTH: usize = 200;

/// A name that is safe to use as one component of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name<'a>(&'a str);

/// Why a name is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NameError {
    /// There is nothing in it.
    #[error("the name of the {whose} is blank")]
    Blank {
        /// Whose name it is.
        whose: &'static str,
    },
    /// It could lead elsewhere, or to no file at all.
    #[error("`{name}` cannot be the name of a {whose}: it could lead to another directory")]
    Unsafe {
        /// Whose name it is.
        whose: &'static str,
        /// The name.
        name: String,
    },
}

impl<'a> Name<'a> {
    /// Takes the name of a user.
    pub fn user(name: &'a str) -> Result<Self, NameError> {
        Self::new("user", name)
    }

    /// Takes the name of an agent.
    pub fn agent(name: &'a str) -> Result<Self, NameError> {
        Self::new("agent", name)
    }

    /// Takes the name of a session.
    pub fn session(name: &'a str) -> Result<Self, NameError> {
        Self::new("session", name)
    }

    fn new(whose: &'static str, name: &'a str) -> Result<Self, NameError> {
        if is_blank(name) {
            return Err(NameError::Blank { whose });
        }
        let is_safe = name != "."
            && name.len() <= MAX_LENGTH
            && !name.contains(['/', '\\', '\0'])
            && !name.contains("..");
        if is_safe {
            Ok(Self(name))
        } else {
            Err(NameError::Unsafe {
                whose,
                name: name.to_owned(),
            })
        }
    }

    /// Returns the name.
    pub const fn as_str(self) -> &'a str {
        self.0
    }
}
