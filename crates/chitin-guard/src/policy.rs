//! What a read may do: which links it follows, whether second names are fine, how much it takes.

use std::path::PathBuf;

/// What a symbolic link may lead to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkPolicy {
    /// Every hop must name an entry inside the root.
    EveryHopInside,
    /// The end must lie inside the root; hops may leave and come back.
    EndInside,
    /// The last component may not be a link; directories on the way may be links that stay inside.
    NotTheFile,
    /// No link at all.
    Refuse,
    /// Like [`LinkPolicy::EveryHopInside`], but the listed directories count as inside too.
    TrustedRoots(Vec<PathBuf>),
    /// Anywhere at all: what the oldest recorded release does. No other contract and no default uses it.
    Anywhere,
}

/// What becomes of a regular file that has a second name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hardlinks {
    /// Refused: the other name may lie outside the root.
    Refuse,
    /// Read like any other file.
    Allow,
}

/// What becomes of a file above the size bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Oversized {
    /// Refused unread.
    Refuse,
    /// The first bytes up to the bound are kept, less a torn UTF-8 sequence at the end.
    Keep,
}

/// Everything a guarded read asks before it hands out bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadPolicy {
    /// What links may do.
    pub links: LinkPolicy,
    /// What hard links may do.
    pub hardlinks: Hardlinks,
    /// The size bound in bytes, inclusive.
    pub max_bytes: u64,
    /// What becomes of larger files.
    pub oversized: Oversized,
}

impl ReadPolicy {
    /// The strictest useful policy: links stay inside, no second names, refused above `max_bytes`.
    pub const fn inside(max_bytes: u64) -> Self {
        Self {
            links: LinkPolicy::EveryHopInside,
            hardlinks: Hardlinks::Refuse,
            max_bytes,
            oversized: Oversized::Refuse,
        }
    }
}
