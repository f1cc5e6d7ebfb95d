//! How a piece of text looks.

use std::fmt::Write as _;

/// The looks that can be laid over each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Style {
    pub(crate) bold: bool,
    pub(crate) italic: bool,
    pub(crate) underlined: bool,
    pub(crate) struck: bool,
    pub(crate) dim: bool,
    pub(crate) code: bool,
}

impl Style {
    /// Text as it is.
    pub(crate) const PLAIN: Self = Self {
        bold: false,
        italic: false,
        underlined: false,
        struck: false,
        dim: false,
        code: false,
    };
    /// Text that leads the eye.
    pub(crate) const BOLD: Self = Self {
        bold: true,
        ..Self::PLAIN
    };
    /// Text that is stressed.
    pub(crate) const ITALIC: Self = Self {
        italic: true,
        ..Self::PLAIN
    };
    /// A title, or the words of a link.
    pub(crate) const UNDERLINED: Self = Self {
        underlined: true,
        ..Self::PLAIN
    };
    /// Text that no longer holds.
    pub(crate) const STRUCK: Self = Self {
        struck: true,
        ..Self::PLAIN
    };
    /// Text that may be passed over.
    pub(crate) const DIM: Self = Self {
        dim: true,
        ..Self::PLAIN
    };
    /// Code.
    pub(crate) const CODE: Self = Self {
        code: true,
        ..Self::PLAIN
    };

    /// Lays another style over this one.
    pub(crate) const fn over(self, other: Self) -> Self {
        Self {
            bold: self.bold || other.bold,
            italic: self.italic || other.italic,
            underlined: self.underlined || other.underlined,
            struck: self.struck || other.struck,
            dim: self.dim || other.dim,
            code: self.code || other.code,
        }
    }

    /// Writes what makes a terminal go from one style to this one.
    pub(super) fn switch(self, from: Self, out: &mut String) {
        if self == from {
            return;
        }
        if from != Self::PLAIN {
            out.push_str("\u{1b}[0m");
        }
        for (on, code) in [
            (self.bold, 1),
            (self.dim, 2),
            (self.italic, 3),
            (self.underlined, 4),
            (self.struck, 9),
            (self.code, 36),
        ] {
            if on {
                let _ = write!(out, "\u{1b}[{code}m");
            }
        }
    }
}
