//! Whether an open index is still the one to use.

use super::job::SyncReport;
use super::notes::{IndexNote, Rebuild};
use super::{Index, place};
use std::sync::atomic::Ordering;

impl Index {
    /// Opens the index anew if it was damaged, deleted or replaced meanwhile.
    pub(super) fn make_sure_of_the_place(&mut self, report: &mut SyncReport) {
        let is_damaged = self.damaged.load(Ordering::Relaxed);
        let Some((path, identity)) = self.place.clone() else {
            if is_damaged && let Ok(fresh) = Self::in_memory(&self.shape, &self.limits) {
                *self = fresh;
                report.note(IndexNote::Rebuilt(Rebuild::Damaged));
            }
            return;
        };
        let is_there = place::identity(&path) == Some(identity);
        if is_there && !is_damaged && matches!(place::is_of_shape(&self.db, &self.shape), Ok(true))
        {
            return;
        }
        if is_there && is_damaged {
            report.note(IndexNote::Rebuilt(Rebuild::Damaged));
            if let Err(why) = place::discard(&path, identity) {
                report.note(IndexNote::Unwritable(why));
                return;
            }
        } else if !is_there {
            report.note(IndexNote::Rebuilt(Rebuild::Gone));
        }
        if let Ok(opened) = Self::open_with(&path, &self.shape, &self.limits) {
            *self = opened.index;
            for note in opened.notes {
                report.note(note);
            }
        }
    }
}
