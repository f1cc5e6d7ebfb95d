//! What an engine makes of one request: the same for a turn and for a look at one.

use super::{Assembly, ContextEngine, EngineError, SessionRef};
use chitin_context::Context;
use chitin_protocol::message::Message;
use std::sync::Arc;

/// What an engine makes of a request.
#[derive(Debug)]
pub struct EngineChoice {
    /// What the model sees of the conversation; none means all of it.
    pub messages: Option<Vec<Message>>,
    /// The context, with what the engine adds to the system prompt.
    pub context: Arc<Context>,
    /// Why the engine did not decide. The conversation and the context are then as they were, whole.
    pub failure: Option<EngineError>,
}

impl EngineChoice {
    /// Leaves everything as it is.
    fn unchanged(context: &Arc<Context>) -> Self {
        Self {
            messages: None,
            context: Arc::clone(context),
            failure: None,
        }
    }
}

/// Asks an engine what the model sees. Nothing else is asked of it: it takes nothing in and writes no summary. `assembly` is
/// made only for an engine that wants it.
pub async fn choose(
    engine: &dyn ContextEngine,
    session: SessionRef<'_>,
    context: &Arc<Context>,
    assembly: impl FnOnce() -> Assembly + Send,
) -> EngineChoice {
    let unchanged = EngineChoice::unchanged(context);
    if engine.passes_through() {
        return unchanged;
    }
    match engine.assemble(session, assembly()).await {
        Ok(assembled) => EngineChoice {
            messages: Some(assembled.messages),
            context: match assembled.system_prompt_addition {
                Some(text) => Arc::new(context.with_engine_text(&text)),
                None => unchanged.context,
            },
            failure: None,
        },
        Err(error) => EngineChoice {
            failure: Some(error),
            ..unchanged
        },
    }
}
