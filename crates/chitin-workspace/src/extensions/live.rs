//! An extension file as it is now: looked at whenever it is asked for, so that an edit holds from the next message on.

use crate::guard::{Oversized, ReadError, ReadPolicy, Root};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// An extension file of one workspace, and what was made of its text.
pub struct LiveFile<T> {
    directory: PathBuf,
    name: &'static str,
    policy: ReadPolicy,
    last: Mutex<Option<(LiveText, Arc<T>)>>,
}

/// What an extension file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LiveText {
    /// There is no such file.
    Absent,
    /// Its text.
    Text(Arc<str>),
    /// It is there and cannot be used; why, as the rest of a sentence.
    Unreadable(Arc<str>),
}

impl<T> LiveFile<T> {
    /// Names a file of a workspace. Nothing is read yet.
    pub fn new(directory: &Path, name: &'static str, policy: ReadPolicy) -> Self {
        Self {
            directory: directory.to_owned(),
            name,
            // Half of a list of rules is not what its author wrote.
            policy: ReadPolicy {
                oversized: Oversized::Refuse,
                ..policy
            },
            last: Mutex::new(None),
        }
    }

    /// Returns the file's name.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Reads the file, and makes of its text what is wanted unless that text is the one of last time. While the workspace
    /// itself cannot be opened, what it said last holds on: rules do not vanish with their directory.
    pub fn get(&self, make: impl FnOnce(&LiveText) -> T) -> Arc<T> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let now = match Root::open(&self.directory) {
            Ok(root) => read(&root, self.name, &self.policy),
            Err(_) => match &*last {
                Some((_, kept)) => return Arc::clone(kept),
                None => return Arc::new(make(&LiveText::Absent)),
            },
        };
        match &*last {
            Some((before, kept)) if *before == now => Arc::clone(kept),
            Some(_) | None => {
                let new = Arc::new(make(&now));
                *last = Some((now, Arc::clone(&new)));
                new
            }
        }
    }
}

fn read(root: &Root, name: &str, policy: &ReadPolicy) -> LiveText {
    match root.read(Path::new(name), policy) {
        Ok(read) => match String::from_utf8(read.bytes) {
            // A mark that some editors put first must not hide the first rule.
            Ok(text) => LiveText::Text(text.trim_start_matches('\u{feff}').into()),
            Err(error) => LiveText::Unreadable(
                format!("byte {} is not UTF-8", error.utf8_error().valid_up_to()).into(),
            ),
        },
        Err(ReadError::Missing { .. }) => LiveText::Absent,
        Err(error) => LiveText::Unreadable(error.to_string().into()),
    }
}
