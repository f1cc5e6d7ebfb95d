//! References to artifacts in registries: `[host/]repository[:tag][@digest]` (rule P60).

use crate::digest::Digest;
use crate::error::{ErrorClass, PackError};
use std::fmt;
use std::str::FromStr;

/// The tag that is meant when neither tag nor digest is given.
pub const DEFAULT_TAG: &str = "latest";

/// Longer references are nobody's.
const MAX_LENGTH: usize = 1024;

/// A reference, taken apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Reference {
    /// The host, with its port. The format has a default one; we contact no host that nobody named.
    pub registry: Option<String>,
    /// The repository.
    pub repository: String,
    /// The tag.
    pub tag: Option<String>,
    /// The digest, which wins over the tag.
    pub digest: Option<Digest>,
}

impl Reference {
    /// Returns the host, or says that one is needed.
    pub fn host(&self) -> Result<&str, PackError> {
        self.registry.as_deref().ok_or_else(|| {
            PackError::new(
                ErrorClass::MissingHost,
                format!("`{self}` names no registry"),
            )
            .hint("write the host first, as in `registry.example/team/agent:1.0.0`")
        })
    }

    /// Returns what to ask a registry for: the digest, else the tag, else the default tag.
    pub fn identifier(&self) -> String {
        match (&self.digest, &self.tag) {
            (Some(digest), _) => digest.to_string(),
            (None, Some(tag)) => tag.clone(),
            (None, None) => DEFAULT_TAG.to_owned(),
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(registry) = &self.registry {
            write!(f, "{registry}/")?;
        }
        f.write_str(&self.repository)?;
        if let Some(tag) = &self.tag {
            write!(f, ":{tag}")?;
        }
        if let Some(digest) = &self.digest {
            write!(f, "@{digest}")?;
        }
        Ok(())
    }
}

impl FromStr for Reference {
    type Err = PackError;

    fn from_str(text: &str) -> Result<Self, PackError> {
        let wrong = |what: &str| {
            let shown: String = text.chars().take(80).collect();
            PackError::new(
                ErrorClass::InvalidReference,
                format!("`{}` is not a reference: {what}", shown.escape_debug()),
            )
            .hint("a reference looks like `registry.example/team/agent:1.0.0`")
        };
        if text.is_empty() {
            return Err(PackError::new(
                ErrorClass::EmptyReference,
                "the reference is empty",
            ));
        }
        if text.len() > MAX_LENGTH {
            return Err(wrong("it is too long"));
        }
        if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(wrong("it holds white space"));
        }
        let (name, digest) = match text.split_once('@') {
            Some((name, digest)) => {
                let digest = digest.parse().map_err(|_| wrong("the digest is not one"))?;
                (name, Some(digest))
            }
            None => (text, None),
        };
        let (registry, rest) = match name.split_once('/') {
            Some((first, rest)) if is_host(first) => (Some(first.to_owned()), rest),
            _ => (None, name),
        };
        let (repository, tag) = match rest.rsplit_once(':') {
            Some((repository, tag)) if !tag.contains('/') => (repository, Some(tag)),
            _ => (rest, None),
        };
        if registry.as_deref().is_some_and(|host| !is_plain_host(host)) {
            return Err(wrong("the host is not one"));
        }
        if !is_repository(repository) {
            return Err(wrong("the repository is not one"));
        }
        if tag.is_some_and(|tag| !is_tag(tag)) {
            return Err(wrong("the tag is not one"));
        }
        Ok(Self {
            registry,
            repository: repository.to_owned(),
            tag: tag.map(str::to_owned),
            digest,
        })
    }
}

/// Tells whether the first part of a name is a host.
pub(crate) fn is_host(part: &str) -> bool {
    part == "localhost" || part.contains(['.', ':'])
}

/// A host must not smuggle a path, a user or a query into an address.
fn is_plain_host(host: &str) -> bool {
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !name.ends_with(':') && !port.contains(']') => (name, Some(port)),
        _ => (host, None),
    };
    let plain = match name.strip_prefix('[').and_then(|v6| v6.strip_suffix(']')) {
        Some(v6) => v6.parse::<std::net::Ipv6Addr>().is_ok(),
        None => {
            !name.is_empty()
                && name
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_'))
        }
    };
    plain && port.is_none_or(|port| port.parse::<u16>().is_ok())
}

fn is_repository(repository: &str) -> bool {
    !repository.is_empty()
        && repository.split('/').all(|part| {
            let edge = |b: Option<u8>| b.is_some_and(|b| b.is_ascii_alphanumeric());
            edge(part.bytes().next())
                && edge(part.bytes().last())
                && part
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
                && !part.contains("..")
        })
}

fn is_tag(tag: &str) -> bool {
    (1..=128).contains(&tag.len())
        && !tag.starts_with(['.', '-'])
        && tag
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parts_are_found() {
        let reference: Reference = "localhost:5000/acme/pilot:2.0.0".parse().unwrap();
        assert_eq!(reference.registry.as_deref(), Some("localhost:5000"));
        assert_eq!(reference.repository, "acme/pilot");
        assert_eq!(reference.identifier(), "2.0.0");
        let bare: Reference = "acme/pilot".parse().unwrap();
        assert_eq!(bare.identifier(), DEFAULT_TAG);
        assert_eq!(bare.host().unwrap_err().class(), ErrorClass::MissingHost);
    }

    #[test]
    fn what_could_steer_a_request_elsewhere_is_refused() {
        for hostile in [
            "user@reg.example/a",
            "reg.example:99999/a",
            "reg.example/../a",
            "reg.example/a?b",
            "reg.example#x/a",
            "reg.example/a:t/../..",
            "reg.example//a",
            "http://reg.example/a",
            "reg.example/a:",
            "reg.example/",
            "a b",
            "reg.example/a@sha256:00",
            "[::g]:1/a",
        ] {
            assert!(hostile.parse::<Reference>().is_err(), "{hostile}");
        }
    }

    proptest! {
        #[test]
        fn a_reference_reads_back_as_it_was_written(text in "[a-z0-9.:/@_ -]{0,60}") {
            if let Ok(reference) = text.parse::<Reference>() {
                prop_assert_eq!(reference.to_string(), text);
            }
        }
    }
}
