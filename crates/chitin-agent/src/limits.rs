//! What a turn may take at most.

use chitin_protocol::message::{ToolCallBlock, Usage};
use chitin_protocol::settings::LimitSettings;
use std::time::Duration;

/// What a turn may take at most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TurnLimits {
    /// How many times the model is asked.
    pub calls: u32,
    /// How many tools are run.
    pub tool_calls: u32,
    /// How often the very same call of a tool may follow itself.
    pub repeats: u32,
    /// What the turn may cost, in US dollars.
    pub turn_cost: Option<f64>,
    /// What the session may cost, in US dollars.
    pub session_cost: Option<f64>,
    /// How long the turn may take.
    pub time: Duration,
}

impl TurnLimits {
    /// Lays what the user says over what is built in.
    pub fn new(settings: &LimitSettings) -> Self {
        #[expect(
            clippy::cast_precision_loss,
            reason = "no price is near fifty-two bits"
        )]
        let dollars = |price: chitin_protocol::config::Price| price.micros() as f64 / 1e6;
        Self {
            calls: settings.calls.unwrap_or(50).max(1),
            tool_calls: settings.tool_calls.unwrap_or(200),
            repeats: settings.repeats.unwrap_or(5).max(1),
            turn_cost: settings.turn_cost.map(dollars),
            session_cost: settings.session_cost.map(dollars),
            time: Duration::from_secs(u64::from(settings.turn_seconds.unwrap_or(172_800))),
        }
    }
}

/// Tells whether the provider said how many tokens an answer took.
pub(crate) const fn is_counted(usage: &Usage) -> bool {
    usage.input > 0 || usage.output > 0 || usage.cache_read > 0 || usage.cache_write > 0
}

/// What a turn took, and whether all of it is known.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spending {
    /// Tokens and cost of all answers, as far as they are known.
    pub usage: Usage,
    /// Whether the provider did not say how many tokens some answer took; mostly one that was stopped.
    pub tokens_unknown: bool,
    /// Whether the cost of some answer is unknown.
    pub cost_unknown: bool,
}

/// Counts what a turn has taken.
#[derive(Debug, Default)]
pub(crate) struct Spent {
    pub(crate) calls: u32,
    pub(crate) tool_calls: u32,
    pub(crate) spending: Spending,
    last_call: Option<(String, String)>,
    repeats: u32,
}

/// Adds tokens and cost. A provider may say any number: none makes the sum begin anew.
pub(crate) fn add_usage(sum: &mut Usage, usage: &Usage) {
    for (sum, tokens) in [
        (&mut sum.input, usage.input),
        (&mut sum.output, usage.output),
        (&mut sum.cache_read, usage.cache_read),
        (&mut sum.cache_write, usage.cache_write),
        (&mut sum.total_tokens, usage.total_tokens),
    ] {
        *sum = sum.saturating_add(tokens);
    }
    sum.cost.input += usage.cost.input;
    sum.cost.output += usage.cost.output;
    sum.cost.cache_read += usage.cost.cache_read;
    sum.cost.cache_write += usage.cost.cache_write;
    sum.cost.total += usage.cost.total;
}

impl Spent {
    /// Adds what an answer took; what it cost is in it, unless that is unknown.
    pub(crate) fn add(&mut self, usage: &Usage, cost_known: bool) {
        self.spending.tokens_unknown |= !is_counted(usage);
        self.spending.cost_unknown |= !cost_known;
        add_usage(&mut self.spending.usage, usage);
    }

    /// Counts a call of a tool; says why it may not be run, if so.
    pub(crate) fn count(&mut self, call: &ToolCallBlock, limits: &TurnLimits) -> Option<String> {
        self.tool_calls += 1;
        if self.tool_calls > limits.tool_calls {
            return Some(format!("the turn may run {} tools", limits.tool_calls));
        }
        let arguments = call.arguments.as_ref().map(ToString::to_string);
        let this = (call.name.clone(), arguments.unwrap_or_default());
        if self.last_call.as_ref() == Some(&this) {
            self.repeats += 1;
        } else {
            self.repeats = 1;
            self.last_call = Some(this);
        }
        (self.repeats > limits.repeats)
            .then(|| format!("the same call was made {} times in a row", limits.repeats))
    }

    /// Says why the model may not be asked again, if so.
    pub(crate) fn over(&self, limits: &TurnLimits, session_before: f64) -> Option<String> {
        if self.calls >= limits.calls {
            return Some(format!("the turn may ask the model {} times", limits.calls));
        }
        let cost = self.spending.usage.cost.total;
        match (limits.turn_cost, limits.session_cost) {
            (Some(most), _) if cost >= most => Some(format!("the turn may cost ${most}")),
            (_, Some(most)) if session_before + cost >= most => {
                Some(format!("the session may cost ${most}"))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_of_a_provider_makes_a_sum_begin_anew() {
        let mut sum = Usage::default();
        let most = Usage {
            input: u64::MAX,
            total_tokens: u64::MAX,
            ..Usage::default()
        };
        add_usage(&mut sum, &most);
        add_usage(&mut sum, &most);
        assert_eq!((sum.input, sum.total_tokens), (u64::MAX, u64::MAX));
    }
}
