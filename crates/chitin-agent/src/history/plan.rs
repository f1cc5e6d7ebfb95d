//! Compaction: a plan, the requests for its summary, and the record that comes of it (C31–C39).

use super::audit::{Audit, Findings, IdentifierPolicy, audit, identifiers};
use super::estimate::{CHARS_PER_TOKEN, estimate};
use super::prepare::{Preparation, prepare};
use super::prompt;
use super::serialize::{conversation_text, without_middle};
use super::split::split;
use super::suffix::{
    critical_rules, failures_section, plain_text, preserve_turns, preserved_section, tool_failures,
};
use super::summary_text::{cap_summary, cap_with_suffix};
use super::tool_results::{cap_result, tool_result_limit};
use super::trigger::Compacting;
use super::view::message_of;
use crate::compat::{SPLIT_TURN_HEADING, SUMMARY_SECTIONS};
use chitin_contract::{CompactionRules, HistoryRules, SummaryRules};
use chitin_protocol::message::{Extra, Message};
use chitin_protocol::transcript::{Compaction, TranscriptEntry};
use serde_json::{Value, json};

/// How a conversation is put into a summary.
#[derive(Debug, Clone)]
pub struct PlanOptions<'a> {
    /// How much stays, and how much is kept free.
    pub compacting: Compacting,
    /// How many tokens the model that writes the summary takes.
    pub window: u64,
    /// How many of the newest turns that go are kept word by word.
    pub preserved_turns: usize,
    /// What the summary is to look after besides.
    pub instructions: Option<&'a str>,
    /// The text of the workspace's `AGENTS.md`: its critical rules are repeated.
    pub agents_file: Option<&'a str>,
}

impl PlanOptions<'_> {
    /// Returns what holds if nothing is configured.
    pub fn new(window: u64) -> Self {
        Self {
            compacting: Compacting::default(),
            window,
            preserved_turns: SummaryRules::PRESERVED_TURNS,
            instructions: None,
            agents_file: None,
        }
    }
}

/// What a model is asked in order to get a summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummaryRequest {
    /// The system prompt.
    pub system: String,
    /// The one message.
    pub user: String,
}

/// A part of the work of a summary. Each part of the history brings the summary so far up to date.
#[derive(Debug, Clone, PartialEq)]
pub enum SummaryStep {
    /// Some of what goes.
    History(Vec<Message>),
    /// The beginning of the turn that is cut in two (C31).
    TurnPrefix(Vec<Message>),
}

/// Who wrote a summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Author {
    /// The model.
    Model,
    /// A context engine, by its own means.
    Engine,
    /// Nobody: the model could not, and this is what the records themselves say.
    Records {
        /// Why the model could not.
        reason: String,
    },
}

/// What was written for a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenSummary {
    /// The summary of what goes; none if there is nothing but the turn that is cut in two.
    pub history: Option<String>,
    /// The summary of the turn that is cut in two.
    pub turn_prefix: Option<String>,
    /// The sender.
    pub author: Author,
}

/// What a compaction will do.
#[derive(Debug, Clone, PartialEq)]
pub struct CompactionPlan {
    /// What goes and what stays.
    pub preparation: Preparation,
    /// What the model is asked, in this order.
    pub steps: Vec<SummaryStep>,
    preserved: Vec<Message>,
    suffix: String,
    identifiers: Vec<String>,
    latest_ask: Option<String>,
    instructions: Option<String>,
    text_limit: usize,
}

/// A summary is written in at most so many steps; a longer conversation is shown without its middles.
const MOST_STEPS: usize = 8;

/// Plans a compaction. Nothing, if there is nothing to summarise.
pub fn plan_compaction(
    branch: &[TranscriptEntry],
    options: &PlanOptions<'_>,
    rules: &HistoryRules,
) -> Option<CompactionPlan> {
    let preparation = prepare(branch, &options.compacting, rules)?;
    if preparation.to_summarize.is_empty() && preparation.turn_prefix.is_empty() {
        return None;
    }
    let messages = |indices: &[usize]| -> Vec<Message> {
        let records = indices.iter().filter_map(|at| message_of(&branch[*at]));
        records.map(std::borrow::Cow::into_owned).collect()
    };
    let going = messages(&preparation.to_summarize);
    let prefix = messages(&preparation.turn_prefix);
    let parted = preserve_turns(&going, options.preserved_turns);
    let of = |indices: &[usize]| {
        indices
            .iter()
            .map(|at| going[*at].clone())
            .collect::<Vec<_>>()
    };
    let preserved = of(&parted.preserved);
    // Turns that are kept word by word are kept shortened: if there is nothing else, they are summarised as well.
    let summarizable = match parted.summarizable.as_slice() {
        [] => going.clone(),
        some => of(some),
    };
    let text_limit = text_limit(options);
    let mut steps = history_steps(&summarizable, text_limit, rules);
    if !prefix.is_empty() {
        steps.push(SummaryStep::TurnPrefix(prefix.clone()));
    }
    let all: Vec<&Message> = going.iter().chain(&prefix).collect();
    let failures = tool_failures(all.iter().copied());
    let suffix = [
        failures_section(&failures),
        preparation.files.section(&rules.summary),
        options.agents_file.map(critical_rules).unwrap_or_default(),
    ];
    let newest = conversation_text(all.iter().rev().take(12).copied(), usize::MAX);
    Some(CompactionPlan {
        steps,
        preserved,
        suffix: suffix.concat(),
        identifiers: identifiers(&newest),
        latest_ask: latest_ask(&all),
        instructions: options.instructions.map(str::to_owned),
        text_limit,
        preparation,
    })
}

/// Returns how long the text of one request may be: half of what the model takes besides its answer.
fn text_limit(options: &PlanOptions<'_>) -> usize {
    let window = options.window.max(1);
    let room = window
        .saturating_sub(options.compacting.reserve_tokens)
        .max(window / 2);
    let chars = room.saturating_mul(CHARS_PER_TOKEN as u64) / 2;
    usize::try_from(chars).unwrap_or(usize::MAX).max(1000)
}

/// Splits what goes into as few steps as the model's window asks for.
fn history_steps(messages: &[Message], limit: usize, rules: &HistoryRules) -> Vec<SummaryStep> {
    let length = conversation_text(messages, usize::MAX).len();
    let parts = match length.div_ceil(limit.max(1)) {
        0 | 1 => 1,
        more => more.clamp(CompactionRules::PARTS, MOST_STEPS),
    };
    split(messages, parts, &rules.estimate)
        .into_iter()
        .map(|range| SummaryStep::History(messages[range].to_vec()))
        .collect()
}

fn latest_ask(messages: &[&Message]) -> Option<String> {
    messages.iter().rev().find_map(|message| match message {
        Message::User(user) => plain_text(&user.content),
        Message::Assistant(_) | Message::ToolResult(_) | Message::Other(_) => None,
    })
}

impl CompactionPlan {
    /// Returns what the model is asked at a step. `so_far`: what the last step of the history came to; before the first
    /// one it is the earlier compaction's summary, which the plan knows.
    pub fn request(&self, step: &SummaryStep, so_far: Option<&str>) -> SummaryRequest {
        let earlier = so_far.or(self.preparation.previous_summary.as_deref());
        match step {
            SummaryStep::History(messages) => SummaryRequest {
                system: prompt::SYSTEM.to_owned(),
                user: prompt::history(
                    &conversation_text(messages, self.text_limit),
                    earlier
                        .map(|text| without_middle(text, self.text_limit))
                        .as_deref(),
                    &self.identifiers,
                    self.instructions.as_deref(),
                ),
            },
            SummaryStep::TurnPrefix(messages) => SummaryRequest {
                system: prompt::SYSTEM.to_owned(),
                user: prompt::turn_prefix(&conversation_text(messages, self.text_limit)),
            },
        }
    }

    /// Makes the record of a summary: the text, what is kept word by word, failures, files and critical rules, all within
    /// the limit (C35, C38, C39).
    pub fn finish(&self, written: &WrittenSummary) -> Compaction {
        let limit = SummaryRules::MAX_CHARS;
        let body = match (&written.history, &self.preparation.previous_summary) {
            (Some(text), _) => text.trim().to_owned(),
            (None, Some(earlier)) => earlier.clone(),
            (None, None) => prompt::NOTHING_BEFORE.to_owned(),
        };
        // What follows may take half: a long unfinished turn must not push the summary out.
        let prefix = written
            .turn_prefix
            .as_deref()
            .map(str::trim)
            .unwrap_or_default();
        let prefix = if prefix.is_empty() {
            String::new()
        } else {
            format!(
                "\n\n{SPLIT_TURN_HEADING}\n\n{}",
                cap_summary(prefix, limit / 4)
            )
        };
        let preserved = preserved_section(&self.preserved);
        let room = (limit / 2)
            .saturating_sub(prefix.encode_utf16().count() + self.suffix.encode_utf16().count());
        let preserved = if room == 0 {
            String::new()
        } else {
            cap_summary(&preserved, room)
        };
        let suffix = format!("{prefix}{preserved}{}", self.suffix);
        let summary = cap_with_suffix(&body, &suffix, limit);
        let findings = self.check(&summary);
        Compaction {
            details: Some(self.details(&written.author, &findings)),
            summary,
            first_kept_entry_id: self.preparation.first_kept_id.clone(),
            tokens_before: self.preparation.tokens_before,
            from_hook: None,
            extra: Extra::new(),
        }
    }

    /// Checks a summary against what it must say (C37).
    pub fn check(&self, summary: &str) -> Findings {
        audit(
            summary,
            Audit {
                identifiers: &self.identifiers,
                latest_ask: self.latest_ask.as_deref(),
                policy: IdentifierPolicy::Strict,
            },
        )
    }

    fn details(&self, author: &Author, findings: &Findings) -> Value {
        let mut details = json!({
            "readFiles": self.preparation.files.read_only(),
            "modifiedFiles": self.preparation.files.modified(),
        });
        match author {
            Author::Model => details["summaryBy"] = json!("model"),
            Author::Engine => details["summaryBy"] = json!("engine"),
            Author::Records { reason } => {
                details["summaryBy"] = json!("records");
                details["summaryFailure"] = json!(reason);
            }
        }
        if !findings.ok {
            details["summaryLacks"] = json!(findings.reasons);
        }
        details
    }

    /// Writes what the records themselves say, for when no model can: the earlier summary if it has its sections, the
    /// last ask, identifiers. Lists of files and failures follow with [`CompactionPlan::finish`].
    pub fn from_records(&self, reason: &str) -> WrittenSummary {
        let earlier = self
            .preparation
            .previous_summary
            .as_deref()
            .unwrap_or_default();
        let [decisions, todos, rules, asks, exact] = SUMMARY_SECTIONS;
        let has_all = SUMMARY_SECTIONS
            .iter()
            .all(|section| earlier.contains(section));
        let ask = self.latest_ask.as_deref().unwrap_or(prompt::NOT_KNOWN);
        let ask = without_middle(ask, 2000);
        let names = match self.identifiers.as_slice() {
            [] => prompt::NOT_KNOWN.to_owned(),
            some => some.join("\n"),
        };
        let history = if has_all {
            format!(
                "{earlier}\n\n{}\n\n{asks}\n{ask}\n\n{exact}\n{names}",
                prompt::NO_MODEL
            )
        } else {
            let earlier = if earlier.is_empty() {
                prompt::NOT_KNOWN
            } else {
                earlier
            };
            format!(
                "{}\n\n{decisions}\n{earlier}\n\n{todos}\n{}\n\n{rules}\n{}\n\n{asks}\n{ask}\n\n{exact}\n{names}",
                prompt::NO_MODEL,
                prompt::NOT_KNOWN,
                prompt::NOT_KNOWN,
            )
        };
        let turn_prefix = self.steps.iter().find_map(|step| match step {
            SummaryStep::TurnPrefix(messages) => Some(conversation_text(messages, 2000)),
            SummaryStep::History(_) => None,
        });
        WrittenSummary {
            history: Some(history),
            turn_prefix,
            author: Author::Records {
                reason: reason.to_owned(),
            },
        }
    }

    /// Estimates what stays of a conversation besides the summary, in tokens, as a model of this window is sent it.
    pub fn kept_tokens(
        &self,
        branch: &[TranscriptEntry],
        window: u64,
        rules: &HistoryRules,
    ) -> u64 {
        let limit = tool_result_limit(window, &rules.tool_results);
        branch[self.preparation.first_kept.min(branch.len())..]
            .iter()
            .filter_map(message_of)
            .map(|message| match message.as_ref() {
                Message::ToolResult(result) => cap_result(result, limit, &rules.tool_results)
                    .map_or_else(
                        || estimate(&message, &rules.estimate),
                        |capped| estimate(&Message::ToolResult(capped), &rules.estimate),
                    ),
                Message::User(_) | Message::Assistant(_) | Message::Other(_) => {
                    estimate(&message, &rules.estimate)
                }
            })
            .sum()
    }
}
