//! Results are looked for up to the next answer; an id that was seen before is a duplicate.

use super::{FailedResults, HistoryRepair, Wanted, made_up, named, wanted};
use crate::history::view::result_id;
use chitin_contract::{FailedAnswers, RepairRules};
use chitin_protocol::message::{Message, ToolResultMessage};
use std::borrow::Cow;
use std::collections::HashSet;

pub(super) fn repair(
    messages: &[Message],
    failed: FailedResults,
    rules: &RepairRules,
) -> HistoryRepair {
    let mut work = Work {
        rules,
        seen: HashSet::new(),
        report: HistoryRepair {
            messages: Vec::with_capacity(messages.len()),
            added: 0,
            dropped_duplicates: 0,
            dropped_orphans: 0,
            changed: false,
        },
    };
    let mut at = 0;
    while at < messages.len() {
        let message = &messages[at];
        at += 1;
        match (message, wanted(message)) {
            (Message::ToolResult(_), _) => {
                work.report.dropped_orphans += 1;
                work.report.changed = true;
            }
            (_, None) => work.report.messages.push(message.clone()),
            (_, Some((calls, has_failed))) => {
                let rest = &messages[at..];
                let length = rest
                    .iter()
                    .position(|next| next.role() == "assistant")
                    .unwrap_or(rest.len());
                work.answer(message, &calls, &rest[..length], has_failed, failed);
                at += length;
            }
        }
    }
    if !work.report.changed {
        work.report.messages = messages.to_vec();
    }
    work.report
}

struct Work<'r> {
    rules: &'r RepairRules,
    seen: HashSet<String>,
    report: HistoryRepair,
}

impl Work<'_> {
    /// Writes an answer with its results, then what else came before the next answer.
    fn answer(
        &mut self,
        message: &Message,
        calls: &[Wanted],
        span: &[Message],
        has_failed: bool,
        failed: FailedResults,
    ) {
        let mut results: Vec<Option<Cow<'_, ToolResultMessage>>> = vec![None; calls.len()];
        let mut others: Vec<&Message> = Vec::new();
        for next in span {
            let Message::ToolResult(result) = next else {
                others.push(next);
                continue;
            };
            let id = result_id(result);
            match calls.iter().position(|call| Some(call.id.as_str()) == id) {
                None => {
                    self.report.dropped_orphans += 1;
                    self.report.changed = true;
                }
                Some(call) if self.seen.contains(&calls[call].id) => {
                    self.report.dropped_duplicates += 1;
                    self.report.changed = true;
                }
                // A second one for the same call is left out, but that alone is no change (C52).
                Some(call) if results[call].is_some() => {}
                Some(call) => {
                    let result = named(result, calls[call].name.as_deref());
                    self.report.changed |= matches!(result, Cow::Owned(_));
                    results[call] = Some(result);
                }
            }
        }
        let drops = has_failed && failed == FailedResults::Drop;
        if drops && (results.iter().any(Option::is_some) || self.drops_answers()) {
            self.report.changed = true;
        }
        if !drops || !self.drops_answers() {
            self.report.messages.push(message.clone());
        }
        if !drops {
            let any = results.iter().any(Option::is_some);
            self.report.changed |= !has_failed && any && !others.is_empty();
            for call in calls {
                // Calls that share an id share the result, too; the second time it is a duplicate.
                let first = calls.iter().position(|other| other.id == call.id);
                match first.and_then(|first| results[first].clone()) {
                    Some(result) => self.push(result.into_owned()),
                    None if has_failed => {}
                    None => {
                        self.report.added += 1;
                        self.report.changed = true;
                        self.push(made_up(call, self.rules));
                    }
                }
            }
        }
        self.report.messages.extend(others.into_iter().cloned());
    }

    fn drops_answers(&self) -> bool {
        self.rules.failed_answers == FailedAnswers::WholeAnswer
    }

    /// Adds a result, unless one for its id was added before.
    fn push(&mut self, result: ToolResultMessage) {
        if let Some(id) = result_id(&result)
            && !self.seen.insert(id.to_owned())
        {
            self.report.dropped_duplicates += 1;
            self.report.changed = true;
            return;
        }
        self.report.messages.push(Message::ToolResult(result));
    }
}
