//! Every call takes one result, in order, up to the next answer that calls; a result further away finds its call if only
//! one can be meant.

use super::{FailedResults, HistoryRepair, Wanted, is_made_up, made_up, named, wanted};
use crate::history::view::result_id;
use chitin_contract::{FailedAnswers, RepairRules};
use chitin_protocol::message::{Message, ToolResultMessage};
use chitin_protocol::text::trim_js;
use std::borrow::Cow;

/// A call and the result that it took.
struct Slot {
    call: Wanted,
    result: Option<ToolResultMessage>,
}

impl Slot {
    fn is_open(&self) -> bool {
        self.result.as_ref().is_none_or(is_made_up)
    }

    fn take(&mut self, result: &ToolResultMessage) {
        self.result = Some(named(result, self.call.name.as_deref()).into_owned());
    }
}

/// An answer that calls, and everything up to the next one.
struct Frame {
    answer: usize,
    slots: Vec<Slot>,
    others: Vec<usize>,
    stray: Vec<ToolResultMessage>,
    failed: bool,
}

pub(super) fn repair(
    messages: &[Message],
    failed: FailedResults,
    rules: &RepairRules,
) -> HistoryRepair {
    let mut duplicates = 0;
    let mut orphans = 0;
    let mut before: Vec<usize> = Vec::new();
    let mut frames: Vec<Frame> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        if let Some((calls, has_failed)) = wanted(message) {
            frames.push(Frame::new(at, calls, has_failed));
            continue;
        }
        match (message, frames.last_mut()) {
            (Message::ToolResult(result), Some(frame)) => duplicates += frame.see(result),
            (Message::ToolResult(_), None) => orphans += 1,
            (_, Some(frame)) => frame.others.push(at),
            (_, None) => before.push(at),
        }
    }
    for at in 0..frames.len() {
        for result in std::mem::take(&mut frames[at].stray) {
            match claim(&mut frames[..=at], &result) {
                Claim::Nobody => orphans += 1,
                Claim::Taken => {}
                Claim::Replaced => duplicates += 1,
            }
        }
    }
    let mut added = 0;
    let mut out: Vec<Message> = before.into_iter().map(|at| messages[at].clone()).collect();
    for frame in frames {
        let drops = frame.failed && failed == FailedResults::Drop;
        if !drops || rules.failed_answers == FailedAnswers::ResultsOnly {
            out.push(messages[frame.answer].clone());
        }
        if !drops {
            for slot in frame.slots {
                match slot.result {
                    Some(result) => out.push(Message::ToolResult(result)),
                    None if frame.failed => {}
                    None => {
                        added += 1;
                        out.push(Message::ToolResult(made_up(&slot.call, rules)));
                    }
                }
            }
        }
        out.extend(frame.others.into_iter().map(|at| messages[at].clone()));
    }
    HistoryRepair {
        changed: out != messages,
        messages: out,
        added,
        dropped_duplicates: duplicates,
        dropped_orphans: orphans,
    }
}

impl Frame {
    fn new(answer: usize, calls: Vec<Wanted>, failed: bool) -> Self {
        let slots = calls.into_iter().map(|call| Slot { call, result: None });
        Self {
            answer,
            slots: slots.collect(),
            others: Vec::new(),
            stray: Vec::new(),
            failed,
        }
    }

    /// Gives a result to its call. Returns how many duplicates that makes.
    fn see(&mut self, result: &ToolResultMessage) -> usize {
        let result = self.with_id(result);
        let Some(id) = result_id(&result).map(str::to_owned) else {
            self.stray.push(result.into_owned());
            return 0;
        };
        let mut of_id = self.slots.iter_mut().filter(|slot| slot.call.id == id);
        if let Some(free) = of_id.find(|slot| slot.result.is_none()) {
            free.take(&result);
            return 0;
        }
        let mut of_id = self
            .slots
            .iter_mut()
            .filter(|slot| slot.call.id == id)
            .peekable();
        if of_id.peek().is_none() {
            self.stray.push(result.into_owned());
            return 0;
        }
        // A result that was made up gives way to a real one.
        if !is_made_up(&result)
            && let Some(slot) = of_id.find(|slot| slot.is_open())
        {
            slot.take(&result);
        }
        1
    }

    /// Gives a result without an id that of the only call, if the tool fits. Old records lack it.
    fn with_id<'a>(&self, result: &'a ToolResultMessage) -> Cow<'a, ToolResultMessage> {
        let ([slot], None) = (self.slots.as_slice(), result_id(result)) else {
            return Cow::Borrowed(result);
        };
        let name = |name: Option<&str>| {
            let name = name.map(trim_js).filter(|name| !name.is_empty());
            name.map(str::to_owned)
        };
        let names = name(result.tool_name.as_deref()).zip(name(slot.call.name.as_deref()));
        if names.is_some_and(|(result, call)| result != call) {
            return Cow::Borrowed(result);
        }
        Cow::Owned(ToolResultMessage {
            tool_call_id: slot.call.id.clone(),
            is_error: true,
            ..result.clone()
        })
    }
}

enum Claim {
    Nobody,
    Taken,
    Replaced,
}

/// Gives a result that strayed to the one call that may still want it.
fn claim(frames: &mut [Frame], result: &ToolResultMessage) -> Claim {
    let id = result_id(result).unwrap_or_default();
    let mut open = frames
        .iter_mut()
        .flat_map(|frame| &mut frame.slots)
        .filter(|slot| slot.call.id == id && slot.is_open())
        .filter(|slot| slot.result.is_none() || !is_made_up(result));
    match (open.next(), open.next()) {
        (Some(slot), None) => {
            let replaced = slot.result.is_some();
            slot.take(result);
            if replaced {
                Claim::Replaced
            } else {
                Claim::Taken
            }
        }
        _ => Claim::Nobody,
    }
}
