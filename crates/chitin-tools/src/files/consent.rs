//! Changes of files that limit the agent, or that another program runs by itself: the owner sees and approves them first.

use super::edit::diff;
use super::roots::{Problem, Settled};
use chitin_protocol::guarded_paths::{GuardedKind, guarded};
use std::path::Path;

/// A change that the owner must approve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GuardedChange {
    /// The path as the model wrote it.
    pub(super) shown: String,
    kind: GuardedKind,
    before: Option<Vec<u8>>,
    after: Option<Vec<u8>>,
}

/// What the owner has approved of a call: exactly these changes, or none.
#[derive(Debug, Default)]
pub(super) struct Consent(pub(super) Vec<GuardedChange>);

/// A change that a call is about to make.
pub(super) struct Planned<'c, 's> {
    pub(super) target: &'c Settled<'s>,
    pub(super) before: Option<&'c [u8]>,
    pub(super) after: Option<&'c [u8]>,
}

/// Tells what guards a path.
pub(super) fn kind_of(path: &Path) -> Option<GuardedKind> {
    guarded(&path.to_string_lossy()).map(|guarded| guarded.kind)
}

impl Consent {
    /// Fails with what the owner must approve, unless that is exactly what was approved.
    pub(super) fn check<'c, 's: 'c>(
        &self,
        changes: impl IntoIterator<Item = Planned<'c, 's>>,
    ) -> Result<(), Problem> {
        let wanted: Vec<GuardedChange> = changes
            .into_iter()
            .filter(|change| change.before != change.after)
            .filter_map(|change| {
                Some(GuardedChange {
                    kind: change.target.guarded?,
                    shown: change.target.shown.clone(),
                    before: change.before.map(<[u8]>::to_vec),
                    after: change.after.map(<[u8]>::to_vec),
                })
            })
            .collect();
        if wanted.is_empty() || wanted == self.0 {
            Ok(())
        } else {
            Err(Problem::NeedsOwner(wanted))
        }
    }
}

/// What is asked of the owner.
pub(super) struct Petition {
    pub(super) what: String,
    pub(super) why: &'static str,
    pub(super) diff: String,
    /// What an answer for good allows: changes of these files.
    pub(super) pattern: String,
}

impl Petition {
    pub(super) fn of(changes: &[GuardedChange]) -> Self {
        let names: Vec<String> = changes
            .iter()
            .map(|one| format!("`{}`", one.shown))
            .collect();
        let diffs = changes.iter().map(GuardedChange::diff);
        Self {
            what: format!("change {}", names.join(", ")),
            why: changes.first().map_or("", |change| meaning(change.kind)),
            diff: diffs.collect::<Vec<_>>().join("\n"),
            pattern: names.join(", "),
        }
    }
}

impl GuardedChange {
    fn diff(&self) -> String {
        let (before, after) = (
            self.before.as_deref().unwrap_or_default(),
            self.after.as_deref().unwrap_or_default(),
        );
        let head = match (&self.before, &self.after) {
            (None, _) => format!("{} (new)", self.shown),
            (Some(_), None) => format!("{} (deleted)", self.shown),
            (Some(_), Some(_)) => self.shown.clone(),
        };
        let body = diff(before, after)
            .unwrap_or_else(|| format!("{} bytes become {} bytes", before.len(), after.len()));
        format!("{head}\n{body}")
    }
}

/// Says why a change is not the agent's to make.
const fn meaning(kind: GuardedKind) -> &'static str {
    match kind {
        GuardedKind::Guardrail => "This file says what the agent may do.",
        GuardedKind::Settings => "These are settings of Chitin.",
        GuardedKind::Git => "Git runs programs that are named there.",
        GuardedKind::Startup => {
            "Programs that are named there run when the directory is opened in an editor or a shell."
        }
    }
}
