//! What an artifact is called: as it was signed, and as it is used.

use super::policy::host;
use crate::artifact::Artifact;
use crate::compat::{ANNOTATION_TITLE, ANNOTATION_VERSION};
use crate::error::{ErrorClass, PackError};
use crate::reference::{DEFAULT_TAG, Reference, is_host};
use serde::Serialize;
use std::fmt;

/// Longer names and versions are nobody's.
const MAX_TEXT: usize = 512;

/// The name and version that a signature binds. A name is one part or several, between slashes; the first may be a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SignedName {
    name: String,
    version: Option<String>,
}

/// The name under which an artifact of a registry is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedName {
    /// Host and repository, in the one spelling of the host.
    target: String,
    /// The tag; none where a digest alone names the content.
    tag: Option<String>,
    /// Whether a digest names the content, so that no registry can choose it.
    is_exact: bool,
}

impl SignedName {
    /// Checks a name, and a version.
    pub fn new(name: &str, version: Option<&str>) -> Result<Self, PackError> {
        let is_plain = |part: &str| {
            !part.is_empty()
                && part.bytes().all(|b| {
                    b.is_ascii_alphanumeric()
                        || matches!(b, b'.' | b'-' | b'_' | b':' | b'[' | b']')
                })
        };
        let is_version = |text: &str| {
            !text.is_empty()
                && text
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b'+'))
        };
        let holds = name.len() <= MAX_TEXT
            && name.split('/').all(is_plain)
            && version.is_none_or(|version| version.len() <= MAX_TEXT && is_version(version));
        if !holds {
            let message = "a signature cannot bind this name and version";
            return Err(PackError::new(ErrorClass::InvalidName, message)
                .hint("name the artifact as in `registry.example/team/agent:1.0.0`"));
        }
        Ok(Self {
            name: name.to_owned(),
            version: version.map(str::to_owned),
        })
    }

    /// Reads a name as it is typed: `agent:1.0.0`, `team/agent:1.0.0`, `registry.example/team/agent:1.0.0`.
    pub fn parse(text: &str) -> Result<Self, PackError> {
        let reference: Reference = text.parse()?;
        let name = match &reference.registry {
            Some(registry) => format!("{}/{}", host(registry), reference.repository),
            None => reference.repository,
        };
        Self::new(&name, reference.tag.as_deref())
    }

    /// Returns what an artifact calls itself.
    pub fn of(artifact: &Artifact) -> Result<Self, PackError> {
        let name = artifact.said("name", ANNOTATION_TITLE).unwrap_or_default();
        Self::new(name, artifact.said("version", ANNOTATION_VERSION))
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the version.
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// Tells whether what was signed under this name may be used under that one: the last parts of the repository are the
    /// signed name, and the tag does not promise another version.
    pub fn holds_for(&self, used: &UsedName) -> bool {
        // With a host in front it is the whole name, and no path of another host may end with it.
        let is_whole = self
            .name
            .split_once('/')
            .is_some_and(|(first, _)| is_host(first));
        let name_holds = used.target == self.name
            || !is_whole
                && used
                    .target
                    .strip_suffix(&self.name)
                    .is_some_and(|before| before.ends_with('/'));
        name_holds && used.tag.as_ref().is_none_or(|tag| self.version_holds(tag))
    }

    fn version_holds(&self, tag: &str) -> bool {
        let promised = tag.strip_prefix('v').unwrap_or(tag);
        let is_version = promised.starts_with(|first: char| first.is_ascii_digit());
        let Some(version) = &self.version else {
            return !is_version;
        };
        // Tags cannot hold the `+` of a build.
        let version = version.replace('+', "_");
        let narrows = |promised: &str| {
            let rest = version.strip_prefix(promised);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        // `latest` and the like promise no version; what they stood for before is remembered.
        !is_version || version == tag || narrows(promised)
    }
}

impl fmt::Display for SignedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        match &self.version {
            Some(version) => write!(f, ":{version}"),
            None => Ok(()),
        }
    }
}

impl UsedName {
    /// Reads the name of something in a registry; `None` for names without a host, which the user gave to things of this machine.
    pub fn of(reference: &str) -> Option<Self> {
        let reference: Reference = reference.parse().ok()?;
        let registry = host(reference.registry.as_deref()?);
        let is_exact = reference.digest.is_some();
        let usual = (!is_exact).then(|| DEFAULT_TAG.to_owned());
        Some(Self {
            target: format!("{registry}/{}", reference.repository),
            tag: reference.tag.or(usual),
            is_exact,
        })
    }

    /// Returns the name under which the newest signature is remembered: `host/repository:tag`. None where a digest names the
    /// content.
    pub fn pinned_as(&self) -> Option<String> {
        let tag = self.tag.as_ref().filter(|_| !self.is_exact)?;
        Some(format!("{}:{tag}", self.target))
    }
}

impl fmt::Display for UsedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.target)?;
        match &self.tag {
            Some(tag) => write!(f, ":{tag}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(signed: &str, used: &str) -> bool {
        let used = UsedName::of(used).unwrap();
        SignedName::parse(signed).unwrap().holds_for(&used)
    }

    #[test]
    fn a_name_holds_for_the_repositories_that_end_with_it() {
        for used in [
            "reg.example/toy:1.0.0",
            "reg.example/team/toy:1.0.0",
            "reg.example/team/toy:v1.0.0",
            "reg.example/team/toy:1.0",
            "reg.example/team/toy:1",
            "reg.example/team/toy:latest",
            "reg.example/team/toy",
            "reg.example/team/toy@sha256:0000000000000000000000000000000000000000000000000000000000000000",
        ] {
            assert!(holds("toy:1.0.0", used), "{used}");
        }
        for used in [
            "reg.example/team/prod:9.9.9",
            "reg.example/team/prod:1.0.0",
            "reg.example/team/prod",
            "reg.example/team/mytoy:1.0.0",
            "reg.example/toy/prod:1.0.0",
            "reg.example/team/toy:9.9.9",
            "reg.example/team/toy:1.0.01",
            "reg.example/team/toy:1.0.0-rc.1",
            "reg.example/team/toy:10",
            "reg.example/team/toy:v2",
            "reg.example/team/prod@sha256:0000000000000000000000000000000000000000000000000000000000000000",
        ] {
            assert!(!holds("toy:1.0.0", used), "{used}");
        }
    }

    #[test]
    fn a_whole_name_holds_for_itself_alone_in_any_spelling_of_the_host() {
        let signed = "reg.example/team/toy:2026-01-31";
        assert!(holds(signed, "REG.example:443/team/toy:2026-01-31"));
        for used in [
            "other.example/team/toy:2026-01-31",
            "reg.example/toy:2026-01-31",
            "evil.example/reg.example/team/toy:2026-01-31",
            "reg.example/team/toy:2026-02-01",
        ] {
            assert!(!holds(signed, used), "{used}");
        }
    }

    #[test]
    fn without_a_version_no_tag_may_promise_one() {
        assert!(holds("toy", "reg.example/toy:stable"));
        assert!(!holds("toy", "reg.example/toy:1.0.0"));
    }

    #[test]
    fn only_names_of_registries_are_compared_and_pinned() {
        assert_eq!(UsedName::of("toy:1.0.0"), None);
        let pinned = |text: &str| UsedName::of(text).and_then(|used| used.pinned_as());
        assert_eq!(
            pinned("REG.example:443/toy").as_deref(),
            Some("reg.example/toy:latest")
        );
        let digest = "0".repeat(64);
        assert_eq!(pinned(&format!("reg.example/toy:1@sha256:{digest}")), None);
    }
}
