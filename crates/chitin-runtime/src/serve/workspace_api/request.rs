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
use serde_json::{Value, json};

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

    /// Adds the figures to what the page is shown: each part, and the totals of all.
    pub(super) fn put(&self, shown: &mut Value, system: (usize, usize), model: &ModelFigures) {
        let (mut chars, mut tokens) = system;
        let parts = [Some(self.tools.size), self.history.size, self.message];
        for part in parts.into_iter().flatten() {
            chars += part.units;
            tokens += part.tokens;
        }
        let complete = self.tools.is_complete() && self.history.state != HistoryState::Unknown;
        shown["totals"] = json!({
            "chars": chars, "tokens": tokens, "complete": complete,
            "system": {"chars": system.0, "tokens": system.1},
        });
        if let Some(cost) = model.price(tokens) {
            shown["totals"]["costUsd"] = json!(dollars(cost));
        }
        let tools = self.tools.tools.iter().map(
            |tool| json!({"name": tool.name, "chars": tool.size.units, "tokens": tool.size.tokens}),
        );
        shown["toolDefinitions"] = json!({
            "shape": self.tools.shape, "count": self.tools.tools.len(),
            "chars": self.tools.size.units, "tokens": self.tools.size.tokens,
            "tools": tools.collect::<Vec<_>>(),
            "unknown": self.tools.unknown, "mcpServers": self.tools.mcp_servers,
        });
        let history = &self.history;
        shown["history"] = json!({
            "state": history.state, "messages": history.messages, "turns": history.turns,
            "images": history.images, "compactionDue": history.compaction_due,
            "chars": history.size.map(|size| size.units), "tokens": history.size.map(|size| size.tokens),
        });
        if let Some(message) = self.message {
            shown["message"] = json!({"chars": message.units, "tokens": message.tokens});
        }
    }
}
