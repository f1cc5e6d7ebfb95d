//! What stands under a name, and what became of it.

use crate::path::FilePath;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// The BLAKE3 digest of a content.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentId(pub(crate) [u8; 32]);

impl ContentId {
    /// Returns the digest of bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// Reads a digest in hexadecimal.
    pub fn parse(text: &str) -> Option<Self> {
        let mut digest = [0; 32];
        hex::decode_to_slice(text, &mut digest).ok()?;
        Some(Self(digest))
    }

    /// Returns its bytes.
    pub const fn bytes(&self) -> [u8; 32] {
        self.0
    }
}

impl fmt::Display for ContentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for ContentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContentId({self})")
    }
}

impl Serialize for ContentId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ContentId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let mut digest = [0; 32];
        hex::decode_to_slice(&text, &mut digest)
            .map_err(|_| serde::de::Error::custom("not a digest"))?;
        Ok(Self(digest))
    }
}

/// Why the content of a file is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NotCovered {
    /// It is larger than one file may be.
    TooLarge,
    /// It cannot be read.
    Unreadable,
    /// What is kept may not take more room.
    NoRoom,
}

impl NotCovered {
    /// Returns what it means, as the end of a sentence about a file.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::TooLarge => "is too large",
            Self::Unreadable => "cannot be read",
            Self::NoRoom => "does not fit into the room for undo",
        }
    }
}

/// What stands under a name. Owners, further names (hard links) and extended attributes are not part of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Entry {
    /// A file whose content is kept.
    File {
        /// Its content.
        content: ContentId,
        /// Its size in bytes.
        size: u64,
        /// Its permission bits.
        mode: u32,
    },
    /// A directory.
    Directory {
        /// Its permission bits.
        mode: u32,
    },
    /// A symbolic link.
    Link {
        /// Its text, which need not be a path.
        #[serde(with = "crate::entry::text")]
        text: Vec<u8>,
    },
    /// A file of which no more is kept than that it was there.
    Uncovered {
        /// Why.
        reason: NotCovered,
        /// Its size in bytes.
        size: u64,
        /// Its permission bits.
        mode: u32,
        /// When it was modified, by which another content is noticed.
        modified: (i64, i64),
    },
}

impl Entry {
    /// Returns the digest of the content that is kept.
    pub const fn content(&self) -> Option<ContentId> {
        match self {
            Self::File { content, .. } => Some(*content),
            Self::Directory { .. } | Self::Link { .. } | Self::Uncovered { .. } => None,
        }
    }

    /// Tells whether it is a directory.
    pub const fn is_directory(&self) -> bool {
        matches!(self, Self::Directory { .. })
    }

    /// Returns the permission bits, if it has any of its own.
    pub const fn mode(&self) -> Option<u32> {
        match self {
            Self::File { mode, .. } | Self::Directory { mode } | Self::Uncovered { mode, .. } => {
                Some(*mode)
            }
            Self::Link { .. } => None,
        }
    }
}

/// What became of one name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The name.
    pub path: FilePath,
    /// What stood there before; nothing if it is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Entry>,
    /// What stands there now; nothing if it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Entry>,
}

/// The text of a link in JSON: as it is, or in hexadecimal digits if it is not UTF-8.
mod text {
    use serde::{Deserialize, Deserializer, Serializer};

    const HEX: &str = "\0hex:";

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(bytes) {
            Ok(text) => to.serialize_str(text),
            Err(_) => to.serialize_str(&format!("{HEX}{}", hex::encode(bytes))),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(from)?;
        match text.strip_prefix(HEX) {
            Some(digits) => hex::decode(digits).map_err(serde::de::Error::custom),
            None => Ok(text.into_bytes()),
        }
    }
}
