//! Asks the context engine what a turn would ask it, so that a look at a context is what the turn would send.

use super::sent::{NextMessages, store};
use super::{TurnContext, TurnRequest};
use crate::host::Host;
use crate::setup::Setup;
use chitin_agent::TurnLimits;
use chitin_agent::engine::{
    Assembly, ContextEngine, EngineChoice, EngineError, SessionRef, choose,
};
use chitin_store::SessionStore;
use chitin_workspace::adapter::{DefinitionError, LazyDefinition};
use std::future::Future;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// A look at the next turn of a session.
pub(crate) struct EngineLook<'a> {
    pub(crate) request: &'a TurnRequest,
    pub(crate) host: &'a Host,
    pub(crate) setup: &'a Setup,
    pub(crate) engine: &'a dyn ContextEngine,
    /// Where the sessions are; none means the agent's usual place.
    pub(crate) store: Option<&'a dyn SessionStore>,
}

impl EngineLook<'_> {
    /// Lets the engine decide about a context. It is asked for nothing but that: it takes no records in and compacts nothing. One
    /// that fails is passed over with a note, as in a turn.
    pub(crate) fn choose(&self, context: &mut TurnContext) {
        if self.engine.passes_through() {
            return;
        }
        let usual = store(self.host, self.setup);
        let usual = usual.as_ref().map(|store| store as &dyn SessionStore);
        let Some(store) = self.store.or(usual) else {
            return;
        };
        let message = self.request.message.as_deref();
        // A session that cannot be read is said where it is counted.
        let Ok(next) = NextMessages::read(store, self.host, self.setup, context, message) else {
            return;
        };
        let choice = self.ask(context, &next, message);
        if let Some(error) = &choice.failure {
            context.notes.push(error.to_string());
        }
        context.chosen = choice
            .messages
            .map(|messages| next.chosen(messages, context));
        context.context = choice.context;
    }

    fn ask(
        &self,
        context: &TurnContext,
        next: &NextMessages,
        message: Option<&str>,
    ) -> EngineChoice {
        let definition = self.definition();
        let session = SessionRef {
            id: &next.session_id,
            key: &context.session,
            agent: &definition,
        };
        let asking = choose(self.engine, session, &context.context, || Assembly {
            messages: next.request.messages.clone(),
            token_budget: next.request.window,
            model: context.model.id().to_owned(),
            prompt: message.map(|words| context.context.user_message(words)),
        });
        let layers = &self.setup.configuration.layers;
        let own = layers.settings(Some(&self.setup.agent));
        let limit = TurnLimits::new(&own.limits).time;
        wait_for(asking, limit).unwrap_or_else(|reason| EngineChoice {
            messages: None,
            context: Arc::clone(&context.context),
            failure: Some(EngineError::Failed {
                id: self.engine.info().id,
                operation: "assemble",
                reason,
            }),
        })
    }

    fn definition(&self) -> LazyDefinition {
        let (host, setup) = (self.host.clone(), self.setup.clone());
        LazyDefinition::new(move || {
            let made = setup.definition(&host);
            made.map_err(|error| DefinitionError(error.with_causes()))
        })
    }
}

/// Waits for an engine, on a thread of its own: the caller may be a worker of a runtime, which must not be blocked on itself.
fn wait_for<T: Send>(asking: impl Future<Output = T> + Send, limit: Duration) -> Result<T, String> {
    let work = move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| format!("no runtime could be started: {error}"))?;
        let late = |_| format!("it did not answer within {} s", limit.as_secs());
        runtime.block_on(async { tokio::time::timeout(limit, asking).await.map_err(late) })
    };
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("context-engine".to_owned());
        match thread.spawn_scoped(scope, work) {
            Ok(thread) => thread
                .join()
                .unwrap_or_else(|_| Err("it panicked".to_owned())),
            Err(error) => Err(format!("no thread could be started: {error}")),
        }
    })
}
