//! Text that people do not see or that speaks past them to the model.

mod comments;
mod encoded;
mod invisible;
mod orders;
mod phrases;
mod terminal;
mod wording;

use super::finding::Findings;
use super::subject::Subject;
pub(crate) use invisible::is_invisible;

/// Reports hidden and injected instructions.
pub(crate) fn check(subject: &Subject<'_>, findings: &mut Findings) {
    invisible::check(subject, findings);
    comments::check(subject, findings);
    phrases::check(subject, findings);
    encoded::check(subject, findings);
    terminal::check(subject, findings);
}
