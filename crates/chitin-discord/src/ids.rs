//! Ids of Discord: numbers that stand in texts.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// An id. It is digits and nothing else, so that it can stand in a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Id(u64);

impl Id {
    /// Reads an id.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = digits.then(|| text.parse().ok()).flatten()?;
        (number > 0).then_some(Self(number))
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Spelled {
            Text(String),
            Number(u64),
        }
        let id = match Spelled::deserialize(deserializer)? {
            Spelled::Text(text) => Self::parse(&text),
            Spelled::Number(number) => (number > 0).then_some(Self(number)),
        };
        id.ok_or_else(|| serde::de::Error::custom("an id is a number that is not zero"))
    }
}

/// Writes the first bytes of a digest.
pub(crate) fn hex(digest: &[u8], count: usize) -> String {
    hex::encode(&digest[..count.min(digest.len())])
}
