//! The figures of a whole request: system prompt, tool definitions, history and message.

use super::definitions::Definitions;
use super::sent::{History, RequestParts, written};
use super::{ModelFigures, TokenCounting};
use crate::setup::Setup;
use chitin_agent::history::SentContent;
use chitin_agent::turn::SentHistory;
use chitin_context::models::Cost;
use chitin_context::render::MEMORY_RESULTS_KEY;
use chitin_context::view::{Measure, View};
use chitin_context::{FragmentOrigin, FragmentRole};
use chitin_model::wire::Wire;
use chitin_protocol::message::Message;
use chitin_protocol::settings::RecallPlace;
use serde::Serialize;

/// Characters to a token, where a contract states the size of a picture in characters.
const CHARS_PER_TOKEN: usize = 4;

/// The tool definitions of a request in figures.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolFigures {
    /// The wire format in whose shape they are measured.
    pub shape: &'static str,
    /// All of them together: their compact JSON.
    #[serde(flatten)]
    pub size: Measure,
    /// Each of them.
    pub tools: Vec<ToolFigure>,
    /// Tools that are offered and whose definitions are not known here; they are not counted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
    /// How many MCP servers are configured whose tools are not known, and so are not counted.
    #[serde(skip_serializing_if = "is_zero")]
    pub mcp_servers: usize,
    /// How many of the tools are counted as MCP servers last stated them.
    #[serde(skip_serializing_if = "is_zero")]
    pub listed: usize,
}

/// A tool definition in figures.
#[derive(Debug, Clone, Serialize)]
pub struct ToolFigure {
    /// The tool.
    pub name: String,
    /// Its definition.
    #[serde(flatten)]
    pub size: Measure,
}

/// The history of a request in figures.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HistoryFigures {
    /// Whether there is one.
    pub state: HistoryState,
    /// How many messages are sent again.
    pub messages: usize,
    /// How many of them are the user's.
    pub turns: usize,
    /// How many pictures they hold. Their tokens are the contract's estimate.
    pub images: usize,
    /// Their text: what was said, thoughts, the arguments and results of tools. None if it is not known.
    #[serde(flatten)]
    pub size: Option<Measure>,
    /// Whether it is so long that it is compacted before the next turn.
    pub compaction_due: bool,
}

/// Whether there is a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HistoryState {
    /// The session is new.
    New,
    /// The session was last used so long ago that a new one begins.
    Expired,
    /// There is.
    Kept,
    /// It could not be read.
    Unknown,
}

/// The whole request in figures.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct RequestFigures {
    /// All parts that are known.
    #[serde(flatten)]
    pub size: Measure,
    /// Whether that is all: no part is unknown.
    pub complete: bool,
}

/// Recalled memory in figures: what it takes, and what each place for it costs once the results change.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RecallFigures {
    /// Where it goes now.
    pub place: RecallPlace,
    /// How many tokens the results take.
    pub tokens: usize,
    /// In the system prompt, before the history.
    pub system: PlaceFigures,
    /// In the user's message.
    pub message: PlaceFigures,
}

/// What a place for recalled memory costs on a turn that finds other results than the last one.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlaceFigures {
    /// How many tokens the provider reads that its cache would otherwise hold or that are new: the results, and what follows them.
    pub read_again: usize,
    /// What these cost more than if they came from the cache; none if prices are not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

/// A whole request in figures.
#[derive(Debug, Clone)]
pub struct Tally {
    /// The tool definitions.
    pub tools: ToolFigures,
    /// The history.
    pub history: HistoryFigures,
    /// The message or the notices beside it; none if there is neither.
    pub message: Option<Measure>,
    /// The whole.
    pub request: RequestFigures,
    /// How many tokens a provider can keep from turn to turn.
    pub cached: usize,
    /// Recalled memory, if there is any.
    pub recall: Option<RecallFigures>,
    /// What people should know.
    pub notes: Vec<String>,
}

impl Tally {
    /// Counts a request.
    pub fn new(
        parts: &RequestParts,
        view: &View,
        model: &ModelFigures,
        tokens: TokenCounting,
        setup: &Setup,
    ) -> Self {
        let mut counter = model.counter(tokens);
        let count: &mut dyn FnMut(&str) -> usize = &mut counter;
        let tools = ToolFigures::new(&parts.definitions, parts.wire, setup, count);
        let history = HistoryFigures::new(&parts.history, setup, count);
        let message = parts.message.as_deref();
        let message = message.map(|text| Measure::of_text(text, count));
        let kept = history.size.unwrap_or_default();
        let size = [view.total, tools.size, kept, message.unwrap_or_default()];
        let recall = recall_figures(view, kept.tokens, model);
        // What stands before the history and changes makes all of the history be read again.
        let is_moved = recall.as_ref().is_some_and(|recall| match recall.place {
            RecallPlace::System => true,
            RecallPlace::Message => false,
        });
        let kept_tokens = if is_moved { 0 } else { kept.tokens };
        let mut notes: Vec<String> = model.unknown().into_iter().collect();
        notes.extend(unknowns(&tools, &parts.history));
        Self {
            request: RequestFigures {
                size: size.into_iter().sum(),
                complete: history.state != HistoryState::Unknown && tools.is_complete(),
            },
            cached: view.cached.tokens + tools.size.tokens + kept_tokens,
            tools,
            history,
            message,
            recall,
            notes,
        }
    }
}

impl ToolFigures {
    /// Counts tool definitions, written as a wire format has them.
    pub fn new(
        definitions: &Definitions,
        wire: &dyn Wire,
        setup: &Setup,
        count: &mut dyn FnMut(&str) -> usize,
    ) -> Self {
        let written = written(wire, &definitions.known, setup);
        let tools: Vec<ToolFigure> = written
            .iter()
            .map(|tool| {
                let name = tool["name"].as_str().or(tool["function"]["name"].as_str());
                ToolFigure {
                    name: name.unwrap_or_default().to_owned(),
                    size: Measure::of_text(&tool.to_string(), count),
                }
            })
            .collect();
        Self {
            shape: wire.api().name(),
            size: tools.iter().map(|tool| tool.size).sum(),
            tools,
            unknown: definitions.unknown.clone(),
            mcp_servers: definitions.unlisted_servers,
            listed: definitions.listed,
        }
    }

    /// Tells whether tools may be offered that are not counted.
    pub fn is_complete(&self) -> bool {
        self.unknown.is_empty() && self.mcp_servers == 0
    }
}

impl HistoryFigures {
    /// Counts a history.
    pub fn new(history: &History, setup: &Setup, count: &mut dyn FnMut(&str) -> usize) -> Self {
        let empty = |state, size| Self {
            state,
            messages: 0,
            turns: 0,
            images: 0,
            size,
            compaction_due: false,
        };
        match history {
            History::New => empty(HistoryState::New, Some(Measure::default())),
            History::Expired => empty(HistoryState::Expired, Some(Measure::default())),
            History::Unreadable(_) => empty(HistoryState::Unknown, None),
            History::Kept(sent) => Self::of_messages(sent, setup, count),
        }
    }

    fn of_messages(
        sent: &SentHistory,
        setup: &Setup,
        count: &mut dyn FnMut(&str) -> usize,
    ) -> Self {
        let rules = &setup.contract().runtime.history.estimate;
        let picture = rules.image.max(rules.user_image).div_ceil(CHARS_PER_TOKEN);
        let (mut size, mut images, mut turns) = (Measure::default(), 0, 0);
        for message in &sent.messages {
            let content = SentContent::of(message);
            size = size + Measure::of_text(&content.text, count);
            size.tokens += content.images * picture;
            images += content.images;
            turns += usize::from(matches!(message, Message::User(_)));
        }
        Self {
            state: HistoryState::Kept,
            messages: sent.messages.len(),
            turns,
            images,
            size: Some(size),
            compaction_due: sent.compaction_due,
        }
    }
}

fn recall_figures(view: &View, history: usize, model: &ModelFigures) -> Option<RecallFigures> {
    let results = view.fragments.iter().find(|fragment| {
        matches!(&fragment.origin, FragmentOrigin::Section { key } if *key == MEMORY_RESULTS_KEY)
    })?;
    let tokens = results.injected.tokens;
    let of = |read_again| PlaceFigures {
        read_again,
        cost: model.price_of_rewriting(read_again),
    };
    Some(RecallFigures {
        place: match results.role {
            FragmentRole::System => RecallPlace::System,
            FragmentRole::Conversation
            | FragmentRole::BeforeUser
            | FragmentRole::AfterUser
            | FragmentRole::FirstMessage => RecallPlace::Message,
        },
        tokens,
        system: of(tokens + history),
        message: of(tokens),
    })
}

/// Says which parts of a request are not known, or are not what a reader may expect.
fn unknowns(tools: &ToolFigures, history: &History) -> Vec<String> {
    let mut notes = Vec::new();
    if tools.mcp_servers > 0 {
        notes.push(format!(
            "the tools of {} MCP server(s) are not known before a run has listed them, and are not counted",
            tools.mcp_servers
        ));
    }
    if tools.listed > 0 {
        notes.push(format!(
            "{} tool(s) of MCP servers are counted as the servers last stated them",
            tools.listed
        ));
    }
    for name in &tools.unknown {
        let name = crate::display::plain(name, '\u{fffd}');
        notes.push(format!(
            "the definition of the tool `{name}` is unknown here and is not counted"
        ));
    }
    match history {
        History::Expired => notes.push(
            "the session has expired: the next turn starts a new one, without history".to_owned(),
        ),
        History::Kept(sent) if sent.compaction_due => notes.push(
            "the history will be compacted before the next turn; the figures are from before"
                .to_owned(),
        ),
        History::Unreadable(error) => {
            let error = crate::display::plain(error, '\u{fffd}');
            notes.push(format!("the history is unknown: {error}"));
        }
        History::New | History::Kept(_) => {}
    }
    notes
}

const fn is_zero(count: &usize) -> bool {
    *count == 0
}
