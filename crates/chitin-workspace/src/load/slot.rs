//! One remembered file: what was seen of it, and whether that still holds.

use super::decode::decode;
use crate::snapshot::FileContent;
use chitin_guard::{Fingerprint, KeptFile, NameEnd, ReadError, ReadPolicy, Root};
use chitin_protocol::record::FileRefusal;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

/// One remembered file.
#[derive(Debug)]
pub(crate) struct Slot {
    name: Arc<str>,
    always_read: bool,
    seen: Seen,
    /// The file itself, when it is read on every load.
    kept: Option<KeptFile>,
    pub(crate) observation: Observation,
}

/// How a name is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// When it changed.
    WhenChanged,
    /// When it changed, and it is seldom there: a look that finds nothing costs half of an open that does.
    Rare,
    /// On every load.
    Always,
}

/// What stood at the name.
#[derive(Debug)]
enum Seen {
    Nothing,
    /// Not a link: its own fingerprint decides.
    Entry(Fingerprint),
    /// A link: every hop is walked again, and the end's fingerprint decides.
    Link(Fingerprint, Option<NameEnd>),
    /// Could not be looked at; is looked at again every time.
    Unknown,
}

/// What came of it.
#[derive(Debug)]
pub(crate) enum Observation {
    Absent,
    Read(Arc<FileContent>),
    Refused(FileRefusal),
}

impl Slot {
    /// Reads a name.
    pub(crate) fn observe(
        root: &Root,
        name: &Arc<str>,
        reading: Reading,
        policy: &ReadPolicy,
    ) -> Result<Self, ReadError> {
        let relative = Path::new(&**name);
        let mut slot = Self::unreadable(name, reading == Reading::Always);
        if reading == Reading::Rare && matches!(root.look(name), Ok(None)) {
            slot.seen = Seen::Nothing;
            slot.observation = Observation::Absent;
            return Ok(slot);
        }
        // Most names are plain files or nothing: the descriptor that was read tells all there is to remember.
        let first = if reading == Reading::Always {
            root.read_and_keep(relative, policy)
                .map(|(read, kept)| (read, Some(kept)))
        } else {
            root.read(relative, policy).map(|read| (read, None))
        };
        match first {
            Ok((read, kept)) if read.linked_to.is_none() => {
                slot.seen = Seen::Entry(read.fingerprint);
                slot.observation = Observation::Read(Arc::new(decode(read)));
                slot.kept = kept;
                return Ok(slot);
            }
            Err(ReadError::Missing { .. }) => {
                slot.seen = Seen::Nothing;
                slot.observation = Observation::Absent;
                return Ok(slot);
            }
            Err(error @ ReadError::Io { .. }) => return Err(error),
            Ok(_) | Err(ReadError::Refused { .. }) => {}
        }
        // A link, or something refused: looked at first and read after, so that a change in between makes the next load
        // look again instead of being missed.
        slot.seen = Self::look(root, &slot.name, relative, policy)?;
        slot.observation = match root.read(relative, policy) {
            Ok(read) => Observation::Read(Arc::new(decode(read))),
            Err(ReadError::Missing { .. }) => Observation::Absent,
            Err(ReadError::Refused { reason, .. }) => Observation::Refused(reason),
            Err(error) => return Err(error),
        };
        Ok(slot)
    }

    /// A file that the operating system will not let be read.
    pub(super) fn unreadable(name: &Arc<str>, always_read: bool) -> Self {
        Self {
            name: Arc::clone(name),
            always_read,
            seen: Seen::Unknown,
            kept: None,
            observation: Observation::Refused(FileRefusal::Unreadable),
        }
    }

    fn look(
        root: &Root,
        name: &str,
        relative: &Path,
        policy: &ReadPolicy,
    ) -> Result<Seen, ReadError> {
        match root.look(name) {
            Ok(None) => Ok(Seen::Nothing),
            Ok(Some((fingerprint, false))) => Ok(Seen::Entry(fingerprint)),
            Ok(Some((fingerprint, true))) => Ok(Seen::Link(
                fingerprint,
                root.walk(relative, &policy.links).ok(),
            )),
            Err(source) => Err(ReadError::Io {
                path: root.path().join(relative),
                source,
            }),
        }
    }

    /// Tells whether reading again would give the same. Allocates nothing unless a link must be walked.
    pub(crate) fn is_unchanged(&self, root: &Root, policy: &ReadPolicy) -> bool {
        match (&self.seen, root.look(&self.name)) {
            (Seen::Nothing, Ok(None)) => true,
            (Seen::Entry(before), Ok(Some((now, false)))) => {
                *before == now && (!self.always_read || self.reads_the_same(&now))
            }
            (Seen::Link(before, end), Ok(Some((now, true)))) if *before == now => {
                let again = root.walk(Path::new(&*self.name), &policy.links).ok();
                again == *end && (!self.always_read || again.is_none())
            }
            _ => false,
        }
    }

    /// Tells whether a change after `now`, which was before the look, must show in [`Self::is_unchanged`].
    pub(crate) fn is_settled(&self, now: SystemTime) -> bool {
        match &self.seen {
            Seen::Nothing | Seen::Link(_, None) => true,
            Seen::Entry(fingerprint) => fingerprint.is_settled(now),
            Seen::Link(link, Some(end)) => link.is_settled(now) && end.fingerprint.is_settled(now),
            Seen::Unknown => false,
        }
    }

    /// Reads what is to be read on every load. Nothing of it is known when it was refused or let go.
    fn reads_the_same(&self, now: &Fingerprint) -> bool {
        match (&self.observation, &self.kept) {
            (Observation::Read(content), Some(kept)) => {
                let known = content
                    .invalid
                    .as_deref()
                    .unwrap_or(content.text.as_bytes());
                kept.reads_the_same(now, known, content.oversize.is_some())
            }
            (Observation::Read(_), None) => false,
            (Observation::Absent | Observation::Refused(_), _) => true,
        }
    }

    /// Lets go of an open descriptor.
    pub(super) fn sleep(&mut self) {
        self.kept = None;
    }
}
