//! Compaction from start to end: when, how much, by whom, and what if it does not work.

use crate::history::{
    Author, CompactionPlan, PlanOptions, SummaryRequest, SummaryStep, WrittenSummary,
    estimate_text, plan_compaction, should_compact,
};
use chitin_contract::{HistoryRules, NoCutAfter, SummaryRules};
use chitin_protocol::transcript::{Compaction, TranscriptEntry};
use futures_util::future::BoxFuture;

/// Why a model wrote no summary.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
pub enum SummaryError {
    /// Somebody stopped it.
    #[error("The summary was stopped.")]
    Cancelled,
    /// The model could not be asked, or its answer is of no use.
    #[error("{0}")]
    Failed(String),
}

/// Writes summaries. The agent implements it with the session's model; it must not use tools or store anything.
pub trait Summarizer: Send + Sync {
    /// Answers one request with the summary's text. The future may be dropped.
    fn summarize(&self, request: SummaryRequest) -> BoxFuture<'_, Result<String, SummaryError>>;
}

/// What is to be put into a summary.
#[derive(Debug, Clone)]
pub struct CompactOrder<'a> {
    /// The branch, oldest record first.
    pub branch: &'a [TranscriptEntry],
    /// How: how much stays, and what the summary is to look after.
    pub options: PlanOptions<'a>,
    /// What the conversation takes now, in tokens.
    pub tokens: u64,
    /// What the system prompt, the tools and the next message take, in tokens: it must fit besides.
    pub overhead_tokens: u64,
    /// When to do it.
    pub when: When,
    /// The rules.
    pub rules: &'a HistoryRules,
}

/// When to compact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// If there is too much (C20).
    IfNeeded,
    /// Now: somebody asked for it, or the provider refused the request for its length.
    Now,
}

/// A compaction that is to be stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Compacted {
    /// The record's body.
    pub record: Compaction,
    /// What the conversation takes then, in tokens, estimated.
    pub tokens_after: u64,
    /// Who wrote the summary.
    pub author: Author,
}

/// What a compaction came to.
#[derive(Debug, Clone, PartialEq)]
pub enum CompactionOutcome {
    /// A record to store.
    Compacted(Box<Compacted>),
    /// There was no need, or nothing to summarise.
    Nothing {
        /// Why.
        reason: &'static str,
    },
}

/// Why a conversation could not be put into a summary.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
pub enum CompactError {
    /// Somebody stopped it.
    #[error("The compaction was stopped.")]
    Cancelled,
    /// The newest message alone is too long.
    #[error(
        "The conversation takes at least {needed} tokens even in summary, and the model takes {budget}. \
         Start a new session, or pick a model with a larger window."
    )]
    TooLong {
        /// What it takes at least.
        needed: u64,
        /// What the model takes.
        budget: u64,
    },
}

/// How often the kept part is made smaller before that is given up.
const MOST_ROUNDS: u32 = 10;

/// Puts a conversation into a summary if it is due. If the model fails, the summary is made of what the records say, and
/// the record's details tell so. If it would still not fit, less is kept; that ends after a few rounds, each of which
/// costs nothing, because the model is asked only once it is known to fit. Dropping the future leaves nothing behind.
pub async fn compact(
    order: &CompactOrder<'_>,
    summarizer: &dyn Summarizer,
) -> Result<CompactionOutcome, CompactError> {
    let due = should_compact(
        order.tokens,
        order.options.window,
        &order.options.compacting,
    );
    if order.when == When::IfNeeded && !due {
        return Ok(CompactionOutcome::Nothing {
            reason: "there is room",
        });
    }
    let Some(plan) = fitting_plan(order)? else {
        return Ok(CompactionOutcome::Nothing {
            reason: "there is nothing to summarise",
        });
    };
    let written = match write(&plan, summarizer).await {
        Ok(written) => written,
        Err(SummaryError::Cancelled) => return Err(CompactError::Cancelled),
        Err(SummaryError::Failed(reason)) => plan.from_records(&reason),
    };
    let record = plan.finish(&written);
    let tokens_after = estimate_text(&record.summary, &order.rules.estimate)
        + plan.kept_tokens(order.branch, order.options.window, order.rules);
    Ok(CompactionOutcome::Compacted(Box::new(Compacted {
        record,
        tokens_after,
        author: written.author,
    })))
}

/// Returns a plan whose kept part fits besides a summary of full length; the kept part is halved until it does.
fn fitting_plan(order: &CompactOrder<'_>) -> Result<Option<CompactionPlan>, CompactError> {
    let window = order.options.window;
    let compacting = order.options.compacting;
    let budget = window
        .saturating_sub(compacting.reserve_tokens.min(window / 2))
        .saturating_sub(order.overhead_tokens);
    let summary = u64::try_from(SummaryRules::MAX_CHARS / 4).unwrap_or(u64::MAX);
    // In a small window the summary is given less of it, too.
    let room = budget.saturating_sub(summary.min(budget / 3));
    let mut options = order.options.clone();
    let mut rules = *order.rules;
    let mut needed = 0;
    let mut planned = false;
    for round in 0..MOST_ROUNDS {
        if let Some(plan) = plan_compaction(order.branch, &options, &rules) {
            planned = true;
            needed = plan.kept_tokens(order.branch, window, &rules);
            if needed <= room {
                return Ok(Some(plan));
            }
        }
        // Where a rule would rather keep everything, a place to cut before the point is better than none.
        rules.compaction.no_cut_after = NoCutAfter::LastBefore;
        options.compacting.keep_recent_tokens = match round {
            _ if round + 2 >= MOST_ROUNDS => 0,
            _ => options.compacting.keep_recent_tokens / 2,
        };
    }
    if !planned {
        return Ok(None);
    }
    Err(CompactError::TooLong {
        needed: needed + order.overhead_tokens,
        budget: window.saturating_sub(compacting.reserve_tokens.min(window / 2)),
    })
}

/// Asks the model, step by step.
async fn write(
    plan: &CompactionPlan,
    summarizer: &dyn Summarizer,
) -> Result<WrittenSummary, SummaryError> {
    let mut history: Option<String> = None;
    let mut turn_prefix = None;
    for step in &plan.steps {
        let text = summarizer
            .summarize(plan.request(step, history.as_deref()))
            .await?;
        if text.trim().is_empty() {
            return Err(SummaryError::Failed("the model wrote nothing".to_owned()));
        }
        match step {
            SummaryStep::History(_) => history = Some(text),
            SummaryStep::TurnPrefix(_) => turn_prefix = Some(text),
        }
    }
    Ok(WrittenSummary {
        history,
        turn_prefix,
        author: Author::Model,
    })
}
