//! Forgetting jobs: how they ended, what was said in them, and every byte about them.

use super::aside;
use super::file::LogFile;
use super::{JobChange, JobLog, Submitted, gone};
use crate::disk::Open;
use crate::store::StoreError;
use serde_json::Value;
use std::collections::HashSet;
use std::sync::mpsc;

/// A larger damaged log is not looked into, and goes.
const MOST_BYTES: u64 = 1 << 30;

/// Tells from what a job is, or how it ended, whether it is forgotten; also from the names of the outcomes that are forgotten so far.
type Meant = Box<dyn Fn(&Value, &HashSet<String>) -> bool + Send>;

/// Which jobs are forgotten.
pub struct ForgetJobs {
    /// Tells from what a job is, or how it ended, whether it is one of them; the names are those of the outcomes that were found so far.
    pub is_meant: Meant,
    /// Damaged logs that were set aside go, too, if one of these stands in them.
    pub words: Vec<String>,
    /// What becomes of those that are open.
    pub open: StillOpen,
}

/// What becomes of jobs that are to be forgotten and are open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StillOpen {
    /// They stay open.
    Keep,
    /// They are closed, as if they had never been.
    Close,
}

/// What was forgotten.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ForgottenJobs {
    /// The names of the jobs whose outcomes went.
    pub outcomes: HashSet<String>,
    /// How many open jobs.
    pub open: usize,
    /// How many damaged logs.
    pub damaged_logs: usize,
}

impl std::fmt::Debug for ForgetJobs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ForgetJobs")
            .field("words", &self.words)
            .field("open", &self.open)
            .finish_non_exhaustive()
    }
}

impl JobLog {
    /// Forgets jobs and writes the log anew, so that its file holds nothing of them. Blocks.
    pub fn forget(&self, what: ForgetJobs) -> Result<ForgottenJobs, StoreError> {
        let Some(sender) = &self.sender else {
            return Ok(ForgottenJobs::default());
        };
        let (answer, answered) = mpsc::channel();
        let asked = Submitted::Forget(
            what,
            Box::new(move |forgotten| {
                let _ = answer.send(forgotten);
            }),
        );
        sender.send(asked).map_err(|_| gone())?;
        answered.recv().unwrap_or_else(|_| Err(gone()))
    }
}

impl LogFile {
    /// Forgets jobs. The file is written anew in any case: what is over may still stand in it.
    pub(super) fn forget(&mut self, what: &ForgetJobs) -> Result<ForgottenJobs, StoreError> {
        let mut forgotten = ForgottenJobs::default();
        self.make_usable()?;
        let ends = self.ends();
        loop {
            let before = forgotten.outcomes.len();
            for end in &ends {
                if let JobChange::End { id, outcome, .. } = end
                    && !forgotten.outcomes.contains(id)
                    && (what.is_meant)(outcome, &forgotten.outcomes)
                {
                    forgotten.outcomes.insert(id.clone());
                }
            }
            // One may say that another one did its work.
            if forgotten.outcomes.len() == before {
                break;
            }
        }
        for id in &forgotten.outcomes {
            self.known().lock().outcomes.forget(id);
        }
        if what.open == StillOpen::Close {
            let none = HashSet::new();
            forgotten.open = self.close_where(&|item| (what.is_meant)(&item.body, &none));
        }
        self.write_anew()?;
        forgotten.damaged_logs = self.forget_damaged(&what.words)?;
        Ok(forgotten)
    }

    fn forget_damaged(&self, words: &[String]) -> Result<usize, StoreError> {
        let directory = self.directory();
        let mut removed = 0;
        for copy in aside::list(directory)? {
            let Some(file) = directory.file(&copy.name, Open::Read)? else {
                continue;
            };
            let is_meant = file.len()? > MOST_BYTES || {
                let bytes = file.read_all(MOST_BYTES)?;
                let mut words = words.iter();
                words.any(|word| memchr::memmem::find(&bytes, word.as_bytes()).is_some())
            };
            if is_meant && directory.remove(&copy.name)? {
                removed += 1;
            }
        }
        if removed > 0 {
            directory.sync()?;
        }
        Ok(removed)
    }
}
