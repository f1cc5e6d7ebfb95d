//! Our own words around the list, and what limits count for them (S51, S58).

use super::Form;
use chitin_contract::{CatalogueRules, CountedProse, RecordedLines, RecordedProse};
use chitin_protocol::text::utf16_len;
use serde::Serialize;
use std::fmt;

/// Builds the guidance of one form; all forms differ only in what a task is compared with.
macro_rules! guidance {
    ($compared:literal) => {
        concat!(
            "A skill is a file of instructions for one kind of work.\n",
            "When a task fits ",
            $compared,
            " below, read the file at its location before you start.\n",
            "Paths inside that file are relative to the directory it is in; give tools the absolute path."
        )
    };
}

/// Returns the guidance above the list.
pub const fn guidance(form: Form) -> &'static str {
    match form {
        Form::Full => guidance!("a description"),
        Form::Shortened(_) => guidance!("a name or description"),
        Form::Compact => guidance!("a name"),
    }
}

/// What the prompt says when the list is not all that it could be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CatalogueNotice {
    /// How many skills are listed.
    pub included: usize,
    /// How many there are to list.
    pub total: usize,
    /// The form of the list.
    pub form: Form,
}

impl CatalogueNotice {
    /// Returns the notice that a list needs; a whole one needs none.
    pub(super) fn needed(included: usize, total: usize, form: Form) -> Option<Self> {
        (included < total || form != Form::Full).then_some(Self {
            included,
            total,
            form,
        })
    }

    /// Tells whether skills are missing.
    pub const fn is_truncated(&self) -> bool {
        self.included < self.total
    }
}

impl fmt::Display for CatalogueNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_truncated() {
            write!(f, "Skills: {} of {} are listed", self.included, self.total)?;
        } else {
            f.write_str("Skills: all are listed")?;
        }
        f.write_str(match self.form {
            Form::Full => "",
            Form::Shortened(_) => ", with short descriptions",
            Form::Compact => ", without descriptions",
        })?;
        f.write_str(". `chitin skills` shows the rest.")
    }
}

/// Returns what limits count for the guidance, in UTF-16 units.
pub fn counted_guidance(form: Form, rules: &CatalogueRules) -> usize {
    match &rules.prose {
        CountedProse::Printed => utf16_len(guidance(form)),
        CountedProse::Recorded(prose) => lines(form, prose).guidance,
    }
}

/// Returns what limits count for a notice, in UTF-16 units.
pub fn counted_notice(notice: &CatalogueNotice, rules: &CatalogueRules) -> usize {
    match &rules.prose {
        CountedProse::Printed => utf16_len(&notice.to_string()),
        CountedProse::Recorded(prose) => {
            let lines = lines(notice.form, prose);
            if notice.is_truncated() {
                lines.truncated + digits(notice.included) + digits(notice.total)
            } else {
                lines.complete
            }
        }
    }
}

fn lines(form: Form, prose: &RecordedProse) -> &RecordedLines {
    match form {
        Form::Full => &prose.full,
        Form::Shortened(_) => prose.shortened.as_ref().unwrap_or(&prose.compact),
        Form::Compact => &prose.compact,
    }
}

fn digits(number: usize) -> usize {
    number
        .checked_ilog10()
        .map_or(1, |power| power as usize + 1)
}
