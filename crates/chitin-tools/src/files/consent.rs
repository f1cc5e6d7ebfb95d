//! Changes of files that limit the agent, or that another program runs by itself: the owner sees and approves them first.

use super::edit::diff;
use super::roots::{Problem, Settled};
use crate::rights::{Rights, needs_owner};
use crate::untrusted::{WRITE, because, how_to_allow};
use chitin_protocol::guarded_paths::{GuardedKind, guarded};
use chitin_protocol::origin::Origin;
use std::path::Path;

/// Why the owner must approve a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Guarding {
    kind: Option<GuardedKind>,
    /// The text in the turn that is not the owner's, where that is what asks for it.
    origins: Vec<Origin>,
    /// What allows it then.
    entry: String,
}

impl Guarding {
    /// Tells what guards a path against a turn's tools.
    pub(super) fn of(path: &Path, is_in_workspace: bool, rights: &Rights) -> Option<Self> {
        let kind = guarded(&path.to_string_lossy()).map(|guarded| guarded.kind);
        let entry = format!("{WRITE}{}", path.display());
        let origins = if is_in_workspace && needs_owner(path) {
            rights.origins_against(&entry)
        } else {
            Vec::new()
        };
        (kind.is_some() || !origins.is_empty()).then_some(Self {
            kind,
            origins,
            entry,
        })
    }
}

/// A change that the owner must approve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GuardedChange {
    /// The path as the model wrote it.
    pub(super) shown: String,
    guarding: Guarding,
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
                    guarding: change.target.guarded.clone()?,
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
    /// The files.
    pub(super) names: String,
    pub(super) what: String,
    pub(super) why: String,
    pub(super) diff: String,
    /// What an answer for good allows: changes of these files, with untrusted text only if it was there when that was answered.
    pub(super) pattern: String,
    /// How the owner allows it for good, where untrusted text asks for it.
    pub(super) hint: Option<String>,
}

impl Petition {
    pub(super) fn of(changes: &[GuardedChange]) -> Self {
        let names: Vec<String> = changes
            .iter()
            .map(|one| format!("`{}`", one.shown))
            .collect();
        let names = names.join(", ");
        let diffs = changes.iter().map(GuardedChange::diff);
        let guardings = || changes.iter().map(|change| &change.guarding);
        let kind = guardings().find_map(|guarding| guarding.kind);
        let untrusted = guardings().find(|guarding| !guarding.origins.is_empty());
        let because = untrusted.map(|guarding| because(&guarding.origins));
        let whys = [kind.map(|kind| meaning(kind).to_owned()), because];
        Self {
            what: format!("change {names}"),
            why: whys.into_iter().flatten().collect::<Vec<_>>().join(" "),
            diff: diffs.collect::<Vec<_>>().join("\n"),
            pattern: match untrusted {
                Some(_) => format!("{names}, with untrusted text"),
                None => names.clone(),
            },
            // What is guarded anyway stays so, whatever is allowed to untrusted text.
            hint: untrusted
                .filter(|_| kind.is_none())
                .map(|guarding| how_to_allow(&guarding.entry)),
            names,
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
