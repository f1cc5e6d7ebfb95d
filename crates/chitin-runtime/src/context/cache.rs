//! What is kept between turns of a workspace: what did not change is not read, cut or joined again.

use super::inputs::WorkspaceInputs;
use chitin_config::settings::{ContextSettings, TruncationWarning};
use chitin_context::refresh::{Frozen, RefreshRule, with_dynamic_files};
use chitin_context::report::Announced;
use chitin_context::{Assembler, Context, FragmentRole, TellCuts, TurnInputs, assemble};
use chitin_workspace::load::Loader;
use std::collections::HashMap;
use std::sync::Arc;

/// How many sessions keep what they began with.
const SESSIONS: usize = 64;

/// What earlier turns of a workspace left to reuse.
#[derive(Debug)]
pub struct ContextCache {
    loader: Option<Loader>,
    kept: Option<Kept>,
}

#[derive(Debug)]
struct Kept {
    assembler: Assembler,
    frozen: Frozen<WorkspaceInputs>,
    announced: HashMap<String, Announced>,
}

impl ContextCache {
    /// A cache that is used once.
    pub const fn fresh() -> Self {
        Self {
            loader: None,
            kept: None,
        }
    }

    /// A cache for many turns of the same workspace.
    pub fn lasting() -> Self {
        Self {
            loader: None,
            kept: Some(Kept {
                assembler: Assembler::default(),
                frozen: Frozen::new(SESSIONS),
                announced: HashMap::new(),
            }),
        }
    }

    /// Looks at the disk; a session that keeps what it began with gets that, with fresh dynamic files.
    pub fn found<E>(
        &mut self,
        session: &str,
        refresh: RefreshRule,
        look: impl FnOnce(&mut Option<Loader>) -> Result<WorkspaceInputs, E>,
    ) -> Result<WorkspaceInputs, E> {
        let now = look(&mut self.loader)?;
        let Some(kept) = &mut self.kept else {
            return Ok(now);
        };
        let began = kept
            .frozen
            .take(Some(session), refresh, || Ok::<_, E>(now.clone()))?;
        if Arc::ptr_eq(&began.workspace, &now.workspace) {
            return Ok(now);
        }
        Ok(WorkspaceInputs {
            workspace: with_dynamic_files(&began.workspace, &now.workspace),
            extras: began.extras,
            ..now
        })
    }

    /// The session was reset or compacted.
    pub fn release(&mut self, session: &str) {
        if let Some(kept) = &mut self.kept {
            kept.frozen.release(session);
            kept.announced.remove(session);
        }
    }

    /// Puts the context together. A session hears of the same cuts once, where the contract says so.
    pub fn assemble(
        &mut self,
        turn: &TurnInputs<'_>,
        session: &str,
        settings: &ContextSettings,
        is_told: Option<&dyn Fn(&str) -> bool>,
    ) -> Arc<Context> {
        let Some(kept) = &mut self.kept else {
            return Arc::new(assemble(turn));
        };
        let context = kept.assembler.assemble(turn);
        match settings.truncation_warning {
            Some(mode @ TruncationWarning::Once) if turn.cuts == TellCuts::Yes => {
                let announced = kept.announced.entry(session.to_owned()).or_default();
                // What an earlier process told the session stands in its transcript.
                let notice = context.beside_user(FragmentRole::AfterUser);
                let is_told = notice
                    .zip(is_told)
                    .is_some_and(|(notice, is_told)| is_told(&notice));
                if announced.is_due(&context.files.report, mode) && !is_told {
                    return context;
                }
                kept.assembler.assemble(&TurnInputs {
                    cuts: TellCuts::No,
                    ..*turn
                })
            }
            Some(_) | None => context,
        }
    }
}
