//! A long conversation in parts, for summaries of their own (C22).

use super::estimate::estimate;
use super::view::{failed, paired_calls, result_id};
use chitin_contract::EstimateRules;
use chitin_protocol::message::Message;
use std::ops::Range;

/// Splits messages into at most `parts` runs of about the same number of tokens. A call and its results stay together.
pub fn split(messages: &[Message], parts: usize, rules: &EstimateRules) -> Vec<Range<usize>> {
    if messages.is_empty() {
        return Vec::new();
    }
    let parts = parts.clamp(1, messages.len());
    let tokens: Vec<u64> = messages.iter().map(|one| estimate(one, rules)).collect();
    let total: u64 = tokens.iter().sum();
    // Compared without division: `so far > total / parts`.
    let too_many = |range: Range<usize>| tokens[range].iter().sum::<u64>() * parts as u64 > total;
    let mut runs: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    let mut waiting = Waiting::default();
    for (at, message) in messages.iter().enumerate() {
        let may_close = runs.len() + 1 < parts && waiting.is_done();
        if may_close && at > start && too_many(start..at + 1) {
            runs.push(start..at);
            start = at;
        }
        let done_now = waiting.see(at, message);
        // The calls are answered, and the run has grown too long: it ends before the answer that made them.
        if done_now && runs.len() + 1 < parts && too_many(start..at + 1) {
            if let Some(call) = waiting.since.filter(|call| *call > start) {
                runs.push(start..call);
                start = call;
            }
            waiting.since = None;
        }
    }
    if let Some(call) = waiting.since.filter(|call| *call > start)
        && !waiting.is_done()
        && runs.len() + 1 < parts
        && too_many(start..messages.len())
    {
        runs.push(start..call);
        start = call;
    }
    runs.push(start..messages.len());
    runs
}

/// Calls that have no result yet.
#[derive(Default)]
struct Waiting {
    calls: Vec<String>,
    since: Option<usize>,
}

impl Waiting {
    fn is_done(&self) -> bool {
        self.calls.is_empty()
    }

    /// Looks at a message; tells whether it answered the last call.
    fn see(&mut self, at: usize, message: &Message) -> bool {
        match message {
            Message::Assistant(answer) => {
                self.calls = if failed(answer) {
                    Vec::new()
                } else {
                    paired_calls(answer)
                        .map(|call| call.id.to_owned())
                        .collect()
                };
                self.since = (!self.calls.is_empty()).then_some(at);
                false
            }
            Message::ToolResult(result) if !self.calls.is_empty() => {
                if let Some(id) = result_id(result) {
                    // Calls may share an id; each of them has a result.
                    if let Some(at) = self.calls.iter().position(|call| call == id) {
                        self.calls.remove(at);
                    }
                } else {
                    self.calls.clear();
                    self.since = None;
                }
                self.calls.is_empty()
            }
            Message::ToolResult(_) | Message::User(_) | Message::Other(_) => false,
        }
    }
}
