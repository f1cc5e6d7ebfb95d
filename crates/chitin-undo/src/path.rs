//! Paths of files in a workspace: relative, plain, and not necessarily UTF-8.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The longest path that is kept.
const MAX_BYTES: usize = 4096;
/// What a path that is not UTF-8 begins with in JSON; no name can begin with it.
const HEX: &str = "\0hex:";

/// The path of an entry beneath the workspace. It neither starts at `/` nor climbs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FilePath(Box<[u8]>);

impl FilePath {
    /// Takes a path if it names something beneath the workspace.
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let is_plain = |name: &[u8]| !matches!(name, b"" | b"." | b"..");
        let is_path = bytes.len() <= MAX_BYTES
            && !bytes.contains(&0)
            && bytes.split(|byte| *byte == b'/').all(is_plain);
        is_path.then(|| Self(bytes.into()))
    }

    /// Takes a relative path as a user spells it: `./` and a slash at the end are left out.
    pub fn of(path: &Path) -> Option<Self> {
        let names: Option<Vec<&[u8]>> = path
            .components()
            .filter(|part| *part != std::path::Component::CurDir)
            .map(|part| match part {
                std::path::Component::Normal(name) => Some(name.as_bytes()),
                _ => None,
            })
            .collect();
        Self::new(&names?.join(&b'/'))
    }

    /// Returns the bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns it as a path.
    pub fn as_path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.0))
    }

    /// Returns the directory that it is in; nothing for an entry of the workspace itself.
    pub fn parent(&self) -> Option<Self> {
        let at = self.0.iter().rposition(|byte| *byte == b'/')?;
        Some(Self(self.0[..at].into()))
    }

    /// Tells whether it is `above`, or lies in it.
    pub fn is_in(&self, above: &Self) -> bool {
        self.0
            .strip_prefix(&*above.0)
            .is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
    }
}

/// With U+FFFD for what is not UTF-8.
impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.0))
    }
}

impl Serialize for FilePath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(&self.0) {
            Ok(text) => serializer.serialize_str(text),
            Err(_) => serializer.serialize_str(&format!("{HEX}{}", hex::encode(&self.0))),
        }
    }
}

impl<'de> Deserialize<'de> for FilePath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = match text.strip_prefix(HEX) {
            Some(digits) => hex::decode(digits).ok(),
            None => Some(text.into_bytes()),
        };
        bytes
            .and_then(|bytes| Self::new(&bytes))
            .ok_or_else(|| serde::de::Error::custom("not a path beneath a workspace"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_beneath_the_workspace_are_taken() {
        for bad in [
            "",
            "/etc/passwd",
            "../up",
            "a/../b",
            "a//b",
            "a/",
            "./a",
            "a\0b",
        ] {
            assert!(FilePath::new(bad.as_bytes()).is_none(), "{bad:?}");
        }
        assert!(FilePath::new(b"a/b c/.d").is_some());
        let spelled = FilePath::of(Path::new("./a/b/")).unwrap();
        assert_eq!(spelled.bytes(), b"a/b");
        assert!(FilePath::of(Path::new("a/../b")).is_none());
    }

    #[test]
    fn a_path_that_is_not_utf_8_survives_json() {
        for bytes in [b"plain".as_slice(), b"a\xff/b", "ø".as_bytes()] {
            let path = FilePath::new(bytes).unwrap();
            let json = serde_json::to_string(&path).unwrap();
            assert_eq!(serde_json::from_str::<FilePath>(&json).unwrap(), path);
        }
        let climbs = format!("\"\\u0000hex:{}\"", hex::encode("../a"));
        assert!(serde_json::from_str::<FilePath>(&climbs).is_err());
    }

    #[test]
    fn a_path_lies_in_a_directory_and_not_in_one_that_its_name_begins_with() {
        let path = |text: &str| FilePath::new(text.as_bytes()).unwrap();
        assert!(path("a/b").is_in(&path("a")));
        assert!(path("a").is_in(&path("a")));
        assert!(!path("ab").is_in(&path("a")));
    }
}
