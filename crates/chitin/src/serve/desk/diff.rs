//! Two prompts, one after the other: what changed, where the cache broke, and what that costs.

use super::prompt::{Prompt, counter, dollars};
use crate::turn::ModelFigures;
use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};
use std::time::Duration;

/// How many lines that are the same stand around a change.
const AROUND: usize = 3;
/// How many lines of changes are shown.
const MOST_LINES: usize = 4_000;
/// How many bytes of them.
const MOST_BYTES: usize = 512 << 10;
/// How long the search for the shortest difference may take; after that, any will do.
const PATIENCE: Duration = Duration::from_millis(300);

/// Compares a prompt with the one of the turn before.
pub(super) fn compare(before: &Prompt, after: &Prompt, model: &ModelFigures) -> Value {
    let same_bytes = common_prefix(&before.text, &after.text);
    let same = same_bytes == before.text.len() && same_bytes == after.text.len();
    let mut compared = json!({"turnId": before.id, "same": same, "lostTokens": 0, "diff": []});
    if same {
        return compared;
    }
    let mut count = counter(model);
    let cacheable = after.cacheable();
    let kept = same_bytes.min(cacheable);
    let lost = count(&after.text[kept..cacheable]);
    compared["lostTokens"] = json!(lost);
    if let Some(cost) = model.price_of_rewriting(lost) {
        compared["lostCostUsd"] = json!(dollars(cost));
    }
    if let Some(part) = after.part_at(same_bytes) {
        let line = 1 + memchr::memchr_iter(b'\n', &after.text.as_bytes()[..same_bytes]).count();
        compared["firstDifference"] =
            json!({"fragment": part.name, "line": line, "offset": same_bytes});
        compared["cause"] = json!(cause(before, after, same_bytes));
    }
    let (lines, shortened) = lines(&before.text, &after.text);
    compared["diff"] = Value::Array(lines);
    if shortened {
        compared["shortened"] = json!(true);
    }
    compared
}

/// Says in a sentence what broke the prefix.
fn cause(before: &Prompt, after: &Prompt, offset: usize) -> String {
    let name = |prompt: &Prompt| prompt.part_at(offset).map(|part| part.name.clone());
    let place = if offset < after.cacheable() {
        "above the cache boundary"
    } else {
        "below the cache boundary, where nothing is cached"
    };
    match (name(before), name(after)) {
        (Some(old), Some(new)) if old == new => format!("`{new}` changed, {place}."),
        (Some(old), Some(new)) => format!("`{new}` stands in place of `{old}`, {place}."),
        (None, Some(new)) => format!("`{new}` is new, {place}."),
        (_, None) => "The prompt is empty.".to_owned(),
    }
}

fn common_prefix(left: &str, right: &str) -> usize {
    let same = left.bytes().zip(right.bytes());
    let bytes = same.take_while(|(left, right)| left == right).count();
    left.floor_char_boundary(bytes)
}

/// The difference line by line; long stretches of the same are only counted.
fn lines(before: &str, after: &str) -> (Vec<Value>, bool) {
    let mut config = TextDiff::configure();
    let diff = config.timeout(PATIENCE).diff_lines(before, after);
    let changes: Vec<(ChangeTag, &str)> = diff
        .iter_all_changes()
        .map(|change| (change.tag(), change.value()))
        .collect();
    let is_change = |at: usize| changes[at].0 != ChangeTag::Equal;
    // A line is shown if a change stands near it.
    let mut near = vec![false; changes.len()];
    for at in (0..changes.len()).filter(|at| is_change(*at)) {
        let end = (at + AROUND + 1).min(changes.len());
        near[at.saturating_sub(AROUND)..end].fill(true);
    }
    let (mut out, mut skipped, mut bytes) = (Vec::new(), 0_usize, 0);
    for ((tag, text), near) in changes.iter().zip(near) {
        if !near {
            skipped += 1;
            continue;
        }
        bytes += text.len();
        if out.len() >= MOST_LINES || bytes > MOST_BYTES {
            return (out, true);
        }
        if skipped > 0 {
            out.push(json!({"op": "skip", "lines": skipped}));
            skipped = 0;
        }
        let op = match tag {
            ChangeTag::Equal => "same",
            ChangeTag::Insert => "add",
            ChangeTag::Delete => "remove",
        };
        out.push(json!({"op": op, "text": text.strip_suffix('\n').unwrap_or(text)}));
    }
    if skipped > 0 {
        out.push(json!({"op": "skip", "lines": skipped}));
    }
    (out, false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Puts a side together again from what is shown; lines that are only counted are taken from the text itself.
    fn side(lines: &[Value], own: &str, text: &str) -> String {
        let mut rest = text.split('\n');
        let mut out: Vec<&str> = Vec::new();
        for line in lines {
            let op = line["op"].as_str().unwrap();
            if op == "skip" {
                let count = usize::try_from(line["lines"].as_u64().unwrap()).unwrap();
                out.extend(rest.by_ref().take(count));
            } else if op == "same" || op == own {
                out.push(line["text"].as_str().unwrap());
                rest.next();
            }
        }
        out.join("\n")
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn both_sides_can_be_put_together_again(left in "([abc]{0,2}\n){0,12}", right in "([abc]{0,2}\n){0,12}") {
            prop_assume!(left != right);
            let (lines, shortened) = lines(&left, &right);
            prop_assert!(!shortened);
            let whole = |text: &str| text.strip_suffix('\n').unwrap_or(text).to_owned();
            prop_assert_eq!(side(&lines, "remove", &left), whole(&left));
            prop_assert_eq!(side(&lines, "add", &right), whole(&right));
        }

        #[test]
        fn the_common_prefix_never_ends_inside_a_character(left in "[aä船]{0,8}", right in "[aä船]{0,8}") {
            let bytes = common_prefix(&left, &right);
            prop_assert_eq!(&left[..bytes], &right[..bytes]);
        }
    }
}
