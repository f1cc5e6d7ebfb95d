//! The engine that passes a conversation on as the session layer made it (C2).

use super::{
    AssembledContext, Assembly, CompactOrder, CompactionOutcome, ContextEngine, EngineError,
    EngineInfo, Ingested, SessionRef, Summarizer, TurnEnd, compact,
};
use crate::compat::{LEGACY_ENGINE, LEGACY_ENGINE_NAME, LEGACY_ENGINE_VERSION};
use chitin_protocol::message::Message;
use futures_util::future::BoxFuture;

/// Passes a conversation on as the session layer made it, and leaves records and limits to that layer.
#[derive(Debug, Clone, Copy, Default)]
pub struct Legacy;

impl ContextEngine for Legacy {
    fn passes_through(&self) -> bool {
        true
    }

    fn info(&self) -> EngineInfo {
        EngineInfo {
            id: LEGACY_ENGINE.to_owned(),
            name: LEGACY_ENGINE_NAME.to_owned(),
            version: Some(LEGACY_ENGINE_VERSION.to_owned()),
            owns_compaction: None,
        }
    }

    fn ingest<'a>(
        &'a self,
        _session: SessionRef<'a>,
        _message: &'a Message,
    ) -> BoxFuture<'a, Result<Ingested, EngineError>> {
        Box::pin(async { Ok(Ingested { ingested: false }) })
    }

    fn assemble<'a>(
        &'a self,
        _session: SessionRef<'a>,
        assembly: Assembly,
    ) -> BoxFuture<'a, Result<AssembledContext, EngineError>> {
        Box::pin(async {
            Ok(AssembledContext {
                messages: assembly.messages,
                estimated_tokens: 0,
                system_prompt_addition: None,
            })
        })
    }

    fn compact<'a>(
        &'a self,
        _session: SessionRef<'a>,
        order: &'a CompactOrder<'a>,
        summarizer: &'a dyn Summarizer,
    ) -> BoxFuture<'a, Result<CompactionOutcome, EngineError>> {
        Box::pin(async move { Ok(compact(order, summarizer).await?) })
    }

    fn after_turn<'a>(
        &'a self,
        _session: SessionRef<'a>,
        _turn: TurnEnd<'a>,
    ) -> BoxFuture<'a, Result<(), EngineError>> {
        Box::pin(async { Ok(()) })
    }
}
