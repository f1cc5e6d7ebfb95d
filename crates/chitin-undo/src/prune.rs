//! The oldest turns go when there are too many bytes, or when they are too old. The newest turn stays whatever it takes.

use crate::entry::Entry;
use crate::error::UndoError;
use crate::history::Open;
use crate::log::{self, Record};
use crate::objects;
use std::collections::{HashMap, HashSet};

/// When there are too many bytes, this part of the limit is what remains, so that not every turn has to look for room.
const KEPT_TENTHS: u64 = 8;
/// A log that is longer than this is shortened to the same part.
const MAX_LOG_BYTES: u64 = 64 << 20;

/// Drops old turns if a limit is passed.
pub(crate) fn when_due(open: &mut Open<'_>, now_ms: i64) -> Result<(), UndoError> {
    let limits = open.history.options.limits;
    let is_full = open.index.stored_bytes > limits.max_bytes / 10 * 9;
    let is_old =
        open.index.oldest_ms > 0 && now_ms.saturating_sub(open.index.oldest_ms) > limits.max_age_ms;
    let is_long = open.index.log_bytes > MAX_LOG_BYTES;
    if !is_full && !is_old && !is_long {
        return Ok(());
    }
    let mut records = log::read(&open.store)?.records;
    let sizes = objects::sizes(&open.store)?;
    let mut bytes: u64 = sizes.values().sum();
    let mut uses = uses(open, &records);
    let mut log_bytes = open.index.log_bytes;
    let mut cut = 0;
    for at in cuts(&records) {
        let first = &records[cut];
        let is_too_old = now_ms.saturating_sub(first.at_ms) > limits.max_age_ms;
        let is_too_much = is_full && bytes > limits.max_bytes / 10 * KEPT_TENTHS;
        let is_too_long = is_long && log_bytes > MAX_LOG_BYTES / 10 * KEPT_TENTHS;
        if !is_too_old && !is_too_much && !is_too_long {
            break;
        }
        for record in &records[cut..at] {
            log_bytes = log_bytes
                .saturating_sub(serde_json::to_vec(record).map_or(0, |line| line.len() as u64 + 1));
            for content in contents(record) {
                let left = uses.entry(content).or_default();
                *left = left.saturating_sub(1);
                if *left == 0 {
                    bytes -= sizes.get(&content).copied().unwrap_or_default().min(bytes);
                }
            }
        }
        cut = at;
    }
    if cut == 0 && !is_full {
        return Ok(());
    }
    if cut > 0 {
        records.drain(..cut);
        log::replace(&open.store, &records)?;
    }
    open.index.log_bytes = log::size(&open.store);
    open.index.oldest_ms = records.first().map_or(0, |record| record.at_ms);
    open.index.stored_bytes = objects::sweep(&open.store, &open.needed(&records))?;
    open.write_index()
}

fn contents(record: &Record) -> impl Iterator<Item = crate::ContentId> + '_ {
    let entries = record.changes.iter();
    let entries = entries.flat_map(|change| [&change.before, &change.after]);
    entries.flatten().filter_map(Entry::content)
}

fn uses(open: &Open<'_>, records: &[Record]) -> HashMap<crate::ContentId, usize> {
    let mut uses = HashMap::new();
    let known = open.index.entries.values();
    let known = known.filter_map(|known| known.entry.content());
    for content in known.chain(records.iter().flat_map(contents)) {
        *uses.entry(content).or_default() += 1;
    }
    uses
}

/// Where the log can be cut: no turn has records on both sides, and the newest turn has all of its own behind the cut.
fn cuts(records: &[Record]) -> Vec<usize> {
    let newest = records.iter().flat_map(|record| &record.turns);
    let Some(newest) = newest.map(|turn| turn.number).max() else {
        return (1..=records.len()).collect();
    };
    let end = records
        .iter()
        .position(|record| record.is_of(newest))
        .unwrap_or(records.len());
    let numbers = |part: &[Record]| -> HashSet<u64> {
        let turns = part.iter().flat_map(|record| &record.turns);
        turns.map(|turn| turn.number).collect()
    };
    let mut last_seen = HashMap::new();
    for (at, record) in records.iter().enumerate() {
        for number in numbers(std::slice::from_ref(record)) {
            last_seen.insert(number, at);
        }
    }
    let mut open_until = 0;
    let mut cuts = Vec::new();
    for (at, record) in records.iter().enumerate().take(end) {
        for turn in &record.turns {
            open_until = open_until.max(last_seen.get(&turn.number).copied().unwrap_or(at));
        }
        if open_until <= at {
            cuts.push(at + 1);
        }
    }
    cuts
}
