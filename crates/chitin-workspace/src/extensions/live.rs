//! An extension file as it is now: looked at whenever it is asked for, so that an edit holds from the next message on.

use crate::load::{Observation, Reading, Slot};
use crate::snapshot::FileContent;
use chitin_guard::{Oversized, ReadError, ReadPolicy, Root, stamp_now};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// An extension file of one workspace, and what was made of its text. A file whose fingerprint is the one of last time is
/// not read again.
pub struct LiveFile<T> {
    directory: PathBuf,
    name: Arc<str>,
    policy: ReadPolicy,
    last: Mutex<Option<Last<T>>>,
}

struct Last<T> {
    /// What was seen of the file, if an equal look proves that nothing changed.
    slot: Option<Slot>,
    text: LiveText,
    made: Arc<T>,
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

impl LiveText {
    /// Reads a file at the root of a workspace as a turn does.
    pub fn read(root: &Root, name: &str, policy: &ReadPolicy) -> Self {
        observe(root, &name.into(), &whole(policy.clone())).1
    }
}

impl<T> LiveFile<T> {
    /// Names a file of a workspace. Nothing is read yet.
    pub fn new(directory: &Path, name: &str, policy: ReadPolicy) -> Self {
        Self {
            directory: directory.to_owned(),
            name: name.into(),
            policy: whole(policy),
            last: Mutex::new(None),
        }
    }

    /// Returns the file's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Looks at the file, and makes of its text what is wanted unless that text is the one of last time. While the
    /// workspace itself cannot be opened, what it said last holds on: rules do not vanish with their directory.
    pub fn get(&self, make: impl FnOnce(&LiveText) -> T) -> Arc<T> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(root) = Root::open(&self.directory) else {
            return match &*last {
                Some(last) => Arc::clone(&last.made),
                None => Arc::new(make(&LiveText::Absent)),
            };
        };
        let known = last
            .as_ref()
            .and_then(|last| Some((last.slot.as_ref()?, &last.made)));
        if let Some((slot, before)) = known
            && slot.is_unchanged(&root, &self.policy)
        {
            return Arc::clone(before);
        }
        let (slot, text) = observe(&root, &self.name, &self.policy);
        let value = match &*last {
            Some(last) if last.text == text => Arc::clone(&last.made),
            Some(_) | None => Arc::new(make(&text)),
        };
        *last = Some(Last {
            slot,
            text,
            made: Arc::clone(&value),
        });
        value
    }
}

/// Half of a list of rules is not what its author wrote.
fn whole(policy: ReadPolicy) -> ReadPolicy {
    ReadPolicy {
        oversized: Oversized::Refuse,
        ..policy
    }
}

/// Reads a file. What was seen comes along only if a change from now on must show in it.
fn observe(root: &Root, name: &Arc<str>, policy: &ReadPolicy) -> (Option<Slot>, LiveText) {
    let now = stamp_now();
    let slot = match Slot::observe(root, name, Reading::WhenChanged, policy) {
        Ok(slot) => slot,
        Err(error) => return (None, LiveText::Unreadable(error.to_string().into())),
    };
    let text = match &slot.observation {
        Observation::Absent => LiveText::Absent,
        Observation::Read(content) => text_of(content),
        Observation::Refused(reason) => {
            let error = ReadError::Refused {
                path: root.path().join(&**name),
                reason: *reason,
            };
            LiveText::Unreadable(error.to_string().into())
        }
    };
    (slot.is_settled(now).then_some(slot), text)
}

fn text_of(content: &FileContent) -> LiveText {
    let invalid = content.invalid.as_deref().map(std::str::from_utf8);
    match invalid {
        Some(Err(error)) => {
            LiveText::Unreadable(format!("byte {} is not UTF-8", error.valid_up_to()).into())
        }
        // A mark that some editors put first must not hide the first rule.
        Some(Ok(_)) | None => LiveText::Text(content.text.trim_start_matches('\u{feff}').into()),
    }
}
