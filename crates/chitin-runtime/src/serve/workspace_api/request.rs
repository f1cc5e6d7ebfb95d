//! What a turn sends besides its system prompt: tool definitions, history, the message.

use super::prompt::{counter, dollars};
use super::recorded;
use crate::context::{
    Definitions, History, HistoryFigures, HistoryState, ModelFigures, ToolFigures, TurnContext,
    wire_of,
};
use crate::{AgentFactory, Host};
use chitin_agent::journal::RecordedRun;
use chitin_agent::turn::SentHistory;
use chitin_context::view::Measure;
use chitin_protocol::message::Message;
use chitin_server::workspace_api::{
    HistoryState as LensHistoryState, LensHistory, LensSize, LensTool, LensTools, LensTotals,
};
use serde_json::Value;

/// What a turn sends besides its system prompt, in figures.
pub(super) struct Beside {
    tools: ToolFigures,
    history: HistoryFigures,
    message: Option<Measure>,
}

impl Beside {
    /// Counts what the next turn sends. The tools are those of the last turn, where one was recorded.
    pub(super) fn next(
        host: &Host,
        factory: &AgentFactory,
        seen: &TurnContext,
        last: Option<&RecordedRun<'_>>,
    ) -> Self {
        let setup = &factory.setup;
        let recorded = last.and_then(recorded::definitions);
        let definitions = match recorded {
            Some(known) => Definitions {
                known,
                ..Definitions::default()
            },
            None => Definitions::find(host, setup, seen),
        };
        let mut count = counter(&seen.model);
        let wire = wire_of(&seen.model, host, setup);
        let history = History::read(&*factory.store, host, setup, seen, None);
        Self {
            tools: ToolFigures::new(&definitions, wire, setup, &mut count),
            history: HistoryFigures::new(&history, setup, &mut count),
            message: None,
        }
    }

    /// Counts what a recorded turn sent with its first request.
    pub(super) fn past(
        host: &Host,
        factory: &AgentFactory,
        model: &ModelFigures,
        run: &RecordedRun<'_>,
    ) -> Self {
        let setup = &factory.setup;
        let definitions = match recorded::definitions(run) {
            Some(known) => Definitions {
                known,
                ..Definitions::default()
            },
            None => Definitions {
                unknown: vec!["the recorded tools".to_owned()],
                ..Definitions::default()
            },
        };
        let sent = run.contexts().next();
        let data = sent.map_or(&Value::Null, |event| event.data());
        let messages: Option<Vec<Message>> = serde_json::from_value(data["messages"].clone()).ok();
        let history = match messages {
            Some(messages) if messages.is_empty() => History::New,
            Some(messages) => History::Kept(SentHistory {
                messages,
                compaction_due: false,
            }),
            None => History::Unreadable(
                "The conversation of this turn was too long to be recorded.".to_owned(),
            ),
        };
        let mut count = counter(model);
        let wire = wire_of(model, host, setup);
        let message = data["prompt"].as_str();
        Self {
            tools: ToolFigures::new(&definitions, wire, setup, &mut count),
            history: HistoryFigures::new(&history, setup, &mut count),
            message: message.map(|text| Measure::of_text(text, &mut count)),
        }
    }

    /// Returns the size of the whole request, with that of its system prompt.
    pub(super) fn totals(&self, system: LensSize, model: &ModelFigures) -> LensTotals {
        let LensSize {
            mut chars,
            mut tokens,
        } = system;
        let parts = [Some(self.tools.size), self.history.size, self.message];
        for part in parts.into_iter().flatten() {
            chars += part.units;
            tokens += part.tokens;
        }
        LensTotals {
            chars,
            tokens,
            complete: self.tools.is_complete() && self.history.state != HistoryState::Unknown,
            system,
            cost_usd: model.price(tokens).map(dollars),
        }
    }

    /// Returns the tool definitions in figures.
    pub(super) fn tools(&self) -> LensTools {
        let tools = self.tools.tools.iter().map(|tool| LensTool {
            name: tool.name.clone(),
            chars: tool.size.units,
            tokens: tool.size.tokens,
        });
        LensTools {
            shape: self.tools.shape.to_owned(),
            count: self.tools.tools.len(),
            chars: self.tools.size.units,
            tokens: self.tools.size.tokens,
            tools: tools.collect(),
            unknown: self.tools.unknown.clone(),
            mcp_servers: self.tools.mcp_servers,
        }
    }

    /// Returns the history in figures.
    pub(super) fn history(&self) -> LensHistory {
        let history = &self.history;
        LensHistory {
            state: match history.state {
                HistoryState::New => LensHistoryState::New,
                HistoryState::Expired => LensHistoryState::Expired,
                HistoryState::Kept => LensHistoryState::Kept,
                HistoryState::Unknown => LensHistoryState::Unknown,
            },
            messages: history.messages,
            turns: history.turns,
            images: history.images,
            compaction_due: history.compaction_due,
            chars: history.size.map(|size| size.units),
            tokens: history.size.map(|size| size.tokens),
        }
    }

    /// Returns the size of the message, if it is known.
    pub(super) fn message(&self) -> Option<LensSize> {
        self.message.map(|message| LensSize {
            chars: message.units,
            tokens: message.tokens,
        })
    }
}
