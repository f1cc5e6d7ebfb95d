//! Which adapter lays an artifact out (rule P17).

use crate::error::{ErrorClass, PackError};
use serde::{Deserialize, Serialize};

/// An adapter by its name, its runtime and its version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AdapterId {
    /// The adapter's name.
    pub r#type: String,
    /// The runtime it is for.
    pub runtime: String,
    /// Its version, of which only the major number counts.
    pub adapter_version: String,
}

impl AdapterId {
    /// Tells whether a reader that knows `supported` can serve this one.
    pub fn fits(&self, supported: &Self) -> bool {
        self.r#type == supported.r#type
            && self.runtime == supported.runtime
            && self.major().is_some()
            && self.major() == supported.major()
    }

    fn major(&self) -> Option<u64> {
        let major = self.adapter_version.split('.').next()?;
        let is_number = major.bytes().all(|byte| byte.is_ascii_digit());
        major.parse().ok().filter(|_| is_number)
    }

    fn attempt(&self) -> String {
        format!("{}@{}", self.r#type, self.adapter_version)
    }
}

/// Returns the first of the artifact's adapters that somebody here knows: the primary one, then the others in order.
pub fn select<'a>(
    primary: &'a AdapterId,
    fallback: &'a [AdapterId],
    supported: &[AdapterId],
) -> Result<&'a AdapterId, PackError> {
    let wanted = || std::iter::once(primary).chain(fallback);
    wanted()
        .find(|id| supported.iter().any(|known| id.fits(known)))
        .ok_or_else(|| {
            let known: Vec<_> = supported.iter().map(|id| id.r#type.as_str()).collect();
            PackError::new(
                ErrorClass::NoCompatibleAdapter,
                "no adapter of the artifact is known here",
            )
            .about(wanted().map(AdapterId::attempt))
            .hint(format!("choose one of {}", known.join(", ")))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(name: &str, version: &str) -> AdapterId {
        AdapterId {
            r#type: name.to_owned(),
            runtime: name.to_owned(),
            adapter_version: version.to_owned(),
        }
    }

    #[test]
    fn the_first_that_fits_is_taken_and_all_attempts_are_named() {
        let known = [id("openclaw", "1.4.0"), id("codex", "1.0.0")];
        let (primary, other) = (id("openclaw", "1.0.0"), [id("codex", "1.9.9")]);
        assert_eq!(select(&primary, &other, &known).unwrap(), &primary);
        let newer = id("openclaw", "2.0.0");
        assert_eq!(select(&newer, &other, &known).unwrap(), &other[0]);
        let error = select(&newer, &[id("cursor", "x")], &known).unwrap_err();
        assert_eq!(error.class(), ErrorClass::NoCompatibleAdapter);
        assert_eq!(error.items(), ["openclaw@2.0.0", "cursor@x"]);
        let odd = AdapterId {
            runtime: "other".into(),
            ..primary
        };
        assert!(select(&odd, &[], &known).is_err());
    }
}
