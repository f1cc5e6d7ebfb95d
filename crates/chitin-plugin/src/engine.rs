//! A plugin as a context engine.

use crate::fault::PluginFault;
use crate::plugin::Plugin;
use crate::process::Call;
use crate::protocol::{
    self, AssembleParams, BootstrapParams, CompactAnswer, CompactParams, CompactRoom, IngestParams,
    METHOD_NOT_FOUND, PluginOffer, method,
};
use chitin_agent::engine::{
    AssembledContext, Assembly, Bootstrapped, CompactOrder, Compacted, CompactionOutcome,
    ContextEngine, EngineError, EngineInfo, Ingested, SessionRef, Summarizer, compact,
};
use chitin_agent::history::Author;
use chitin_protocol::message::{Extra, Message};
use chitin_protocol::transcript::{Compaction, TranscriptEntry};
use chitin_workspace::adapter::AgentDefinition;
use futures_util::future::BoxFuture;
use serde::Serialize;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;

const BUILT_IN: &str = "The built-in compaction is used.";

/// A plugin as a context engine, for one workspace. Its id is the plugin's name in the configuration.
#[derive(Debug)]
pub(crate) struct PluginEngine {
    pub(crate) plugin: Arc<Plugin>,
    /// The workspace, links resolved; without one the plugin sees only its own data.
    pub(crate) workspace: Option<PathBuf>,
}

impl PluginEngine {
    /// Asks the plugin something. Cancellation-safe: a dropped future leaves the plugin usable.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        method: &'static str,
        params: &(impl Serialize + Sync),
        parse: impl FnOnce(Value) -> Result<T, String> + Send + 'static,
    ) -> Result<T, PluginFault> {
        let call = Call::new(method, PluginOffer::ContextEngine, params)?;
        let process = self.plugin.process(self.workspace.as_deref())?;
        process.call(call, parse).await
    }

    /// Returns the agent's definition if the plugin wants it; for all others nothing is read.
    async fn wanted_definition(
        &self,
        session: SessionRef<'_>,
    ) -> Result<Option<Arc<AgentDefinition>>, PluginFault> {
        let handshake = match self.plugin.handshake() {
            Some(known) => known,
            None => self.plugin.greet_for(self.workspace.as_deref()).await?,
        };
        let wants = handshake
            .context_engine
            .is_some_and(|engine| engine.definition == Some(true));
        if !wants {
            return Ok(None);
        }
        // One that cannot be made is left out; what is wrong with it is said where the context is made.
        Ok(session.definition().await.ok())
    }

    /// Turns a fault into an error of the engine. The agent tells the user, and sends the conversation as it is.
    fn failed(&self, operation: &'static str, fault: &PluginFault) -> EngineError {
        self.plugin.set_engine_failing(true);
        EngineError::Failed {
            id: self.plugin.name().to_owned(),
            operation,
            reason: format!("{fault}. {}", fault.hint(self.plugin.name())),
        }
    }
}

/// Tells whether a fault says that an engine does without a method, which is fine for some.
const fn is_left_out(fault: &PluginFault) -> bool {
    matches!(
        fault,
        PluginFault::Rejected {
            code: METHOD_NOT_FOUND,
            ..
        }
    )
}

/// Tells whether the program is no context engine at all. That is said where it is asked for messages, once.
const fn is_no_engine(fault: &PluginFault) -> bool {
    matches!(fault, PluginFault::NotOffered(_))
}

impl ContextEngine for PluginEngine {
    fn info(&self) -> EngineInfo {
        let handshake = self.plugin.handshake();
        let id = self.plugin.name().to_owned();
        EngineInfo {
            name: handshake
                .as_ref()
                .map_or_else(|| id.clone(), |known| known.name.clone()),
            version: handshake.as_ref().and_then(|known| known.version.clone()),
            owns_compaction: handshake.and_then(|known| known.context_engine?.owns_compaction),
            id,
        }
    }

    fn bootstrap<'a>(
        &'a self,
        session: SessionRef<'a>,
        branch: &'a [TranscriptEntry],
    ) -> BoxFuture<'a, Result<Bootstrapped, EngineError>> {
        Box::pin(async move {
            let answer = async {
                let definition = self.wanted_definition(session).await?;
                let params =
                    BootstrapParams::new(session, branch).with_definition(definition.as_deref());
                self.ask(method::BOOTSTRAP, &params, protocol::bootstrapped)
                    .await
            };
            match answer.await {
                Ok(answer) => Ok(answer),
                Err(fault)
                    if is_left_out(&fault) || fault.is_old_news() || is_no_engine(&fault) =>
                {
                    Ok(Bootstrapped::default())
                }
                Err(fault) => Err(self.failed("bootstrap", &fault)),
            }
        })
    }

    fn ingest<'a>(
        &'a self,
        session: SessionRef<'a>,
        message: &'a Message,
    ) -> BoxFuture<'a, Result<Ingested, EngineError>> {
        Box::pin(async move {
            let params = IngestParams::new(session, message);
            match self.ask(method::INGEST, &params, protocol::ingested).await {
                Ok(answer) => Ok(answer),
                Err(fault)
                    if is_left_out(&fault) || fault.is_old_news() || is_no_engine(&fault) =>
                {
                    Ok(Ingested { ingested: false })
                }
                Err(fault) => Err(self.failed("ingest", &fault)),
            }
        })
    }

    fn assemble<'a>(
        &'a self,
        session: SessionRef<'a>,
        assembly: Assembly,
    ) -> BoxFuture<'a, Result<AssembledContext, EngineError>> {
        Box::pin(async move {
            let assembly = Arc::new(assembly);
            let given = Arc::clone(&assembly);
            let answer = async {
                let definition = self.wanted_definition(session).await?;
                let params =
                    AssembleParams::new(session, &assembly).with_definition(definition.as_deref());
                self.ask(method::ASSEMBLE, &params, move |value| {
                    protocol::assembled(value, &given.messages)
                })
                .await
            };
            match answer.await {
                Ok(context) => {
                    self.plugin.set_engine_failing(false);
                    Ok(context)
                }
                // Until the plugin is back the conversation is sent as it is. That is said once, also where it failed as an
                // adapter first.
                Err(fault)
                    if (fault.is_old_news() || is_no_engine(&fault))
                        && (fault == PluginFault::Removed || self.plugin.is_engine_failing()) =>
                {
                    Ok(AssembledContext {
                        messages: assembly.messages.clone(),
                        estimated_tokens: 0,
                        system_prompt_addition: None,
                    })
                }
                Err(fault) => Err(self.failed("assemble", &fault)),
            }
        })
    }

    fn compact<'a>(
        &'a self,
        session: SessionRef<'a>,
        order: &'a CompactOrder<'a>,
        summarizer: &'a dyn Summarizer,
    ) -> BoxFuture<'a, Result<CompactionOutcome, EngineError>> {
        Box::pin(async move {
            let params = CompactParams::new(session, order);
            let room = Arc::new(CompactRoom::new(order));
            let judged = Arc::clone(&room);
            let answer = self
                .ask(method::COMPACT, &params, move |value| {
                    protocol::compacted(value, &judged)
                })
                .await;
            match answer {
                Ok(CompactAnswer::Nothing) => {
                    return Ok(CompactionOutcome::Nothing {
                        reason: "the context engine sees no need",
                    });
                }
                Ok(CompactAnswer::Summary {
                    summary,
                    first_kept_entry_id,
                }) => {
                    // It was judged when it came in; the number is the same.
                    if let Ok(tokens_after) = room.tokens_after(&summary, &first_kept_entry_id) {
                        return Ok(CompactionOutcome::Compacted(Box::new(Compacted {
                            record: Compaction {
                                summary,
                                first_kept_entry_id,
                                tokens_before: order.tokens,
                                details: None,
                                from_hook: Some(true),
                                extra: Extra::new(),
                            },
                            tokens_after,
                            author: Author::Engine,
                        })));
                    }
                }
                Ok(CompactAnswer::BuiltIn) => {}
                Err(fault) if is_left_out(&fault) => {}
                Err(fault) => self.plugin.report(&fault, BUILT_IN),
            }
            Ok(compact(order, summarizer).await?)
        })
    }
}
