//! One remembered file: what was seen of it, and whether that still holds.

use super::decode::decode;
use crate::guard::{End, Fingerprint, ReadError, ReadPolicy, Root};
use crate::snapshot::Content;
use chitin_protocol::record::Refusal;
use std::ffi::CString;
use std::path::Path;
use std::sync::Arc;

/// One remembered file.
#[derive(Debug)]
pub(super) struct Slot {
    /// The name for system calls, made once.
    name: CString,
    text_name: Arc<str>,
    always_read: bool,
    seen: Seen,
    pub(super) observation: Observation,
}

/// What stood at the name.
#[derive(Debug)]
enum Seen {
    Nothing,
    /// Not a link: its own fingerprint decides.
    Entry(Fingerprint),
    /// A link: every hop is walked again, and the end's fingerprint decides.
    Link(Fingerprint, Option<End>),
    /// Could not be looked at; is looked at again every time.
    Unknown,
}

/// What came of it.
#[derive(Debug)]
pub(super) enum Observation {
    Absent,
    Read(Arc<Content>),
    Refused(Refusal),
}

impl Slot {
    /// Looks at a name and reads it unless what is known of it still holds.
    pub(super) fn observe(
        root: &Root,
        name: &Arc<str>,
        always_read: bool,
        policy: &ReadPolicy,
        known: Option<&Self>,
    ) -> Result<Self, ReadError> {
        let relative = Path::new(&**name);
        let mut slot = Self::unreadable(name, always_read);
        // Looked at before it is read: a change in between makes the next load look again, never miss it.
        slot.seen = Self::look(root, &slot.name, relative, policy)?;
        if let Some(known) = known
            && known.is_unchanged(root, policy)
            && known.seen.same(&slot.seen)
        {
            slot.observation = match &known.observation {
                Observation::Absent => Observation::Absent,
                Observation::Read(content) => Observation::Read(Arc::clone(content)),
                Observation::Refused(reason) => Observation::Refused(*reason),
            };
            return Ok(slot);
        }
        slot.observation = match &slot.seen {
            Seen::Nothing => Observation::Absent,
            Seen::Entry(_) | Seen::Link(..) | Seen::Unknown => match root.read(relative, policy) {
                Ok(read) => Observation::Read(Arc::new(decode(read))),
                Err(ReadError::Missing { .. }) => Observation::Absent,
                Err(ReadError::Refused { reason, .. }) => Observation::Refused(reason),
                Err(error) => return Err(error),
            },
        };
        Ok(slot)
    }

    /// A file that the operating system will not let be read.
    pub(super) fn unreadable(name: &Arc<str>, always_read: bool) -> Self {
        Self {
            name: CString::new(name.as_bytes()).unwrap_or_default(),
            text_name: Arc::clone(name),
            always_read,
            seen: Seen::Unknown,
            observation: Observation::Refused(Refusal::Unreadable),
        }
    }

    fn look(
        root: &Root,
        name: &CString,
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
    pub(super) fn is_unchanged(&self, root: &Root, policy: &ReadPolicy) -> bool {
        let now = root.look(&self.name);
        match (&self.seen, now) {
            (Seen::Nothing, Ok(None)) => true,
            (Seen::Entry(before), Ok(Some((now, false)))) if *before == now => {
                !self.always_read || self.reads_the_same(root)
            }
            (Seen::Link(before, end), Ok(Some((now, true)))) if *before == now => {
                let again = root.walk(Path::new(&*self.text_name), &policy.links).ok();
                again == *end && (!self.always_read || again.is_none())
            }
            _ => false,
        }
    }

    fn reads_the_same(&self, root: &Root) -> bool {
        match &self.observation {
            Observation::Absent | Observation::Refused(_) => true,
            Observation::Read(content) => {
                let known = content
                    .invalid
                    .as_deref()
                    .unwrap_or(content.text.as_bytes());
                root.reads_as(&self.name, known, content.oversize.is_some())
            }
        }
    }
}

impl Seen {
    fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Nothing, Self::Nothing) => true,
            (Self::Entry(a), Self::Entry(b)) => a == b,
            (Self::Link(a, end_a), Self::Link(b, end_b)) => a == b && end_a == end_b,
            (Self::Nothing | Self::Entry(_) | Self::Link(..) | Self::Unknown, _) => false,
        }
    }
}
