//! Two prompts, one after the other: what changed, where the cache broke, and what that costs.

use super::prompt::{Prompt, counter, dollars};
use crate::context::ModelFigures;
use chitin_server::workspace_api::{DiffLine, FirstDifference, LensDiff};
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
pub(super) fn compare(before: &Prompt, after: &Prompt, model: &ModelFigures) -> LensDiff {
    let same_bytes = common_prefix(&before.text, &after.text);
    let same = same_bytes == before.text.len() && same_bytes == after.text.len();
    let mut compared = LensDiff {
        turn_id: before.id.clone(),
        same,
        lost_tokens: 0,
        diff: Vec::new(),
        lost_cost_usd: None,
        first_difference: None,
        cause: None,
        shortened: false,
    };
    if same {
        return compared;
    }
    let mut count = counter(model);
    let cacheable = after.cacheable();
    let kept = same_bytes.min(cacheable);
    let lost = count(&after.text[kept..cacheable]);
    compared.lost_tokens = lost;
    compared.lost_cost_usd = model.price_of_rewriting(lost).map(dollars);
    if let Some((name, what)) = culprit(before, after, same_bytes) {
        let line = 1 + memchr::memchr_iter(b'\n', &after.text.as_bytes()[..same_bytes]).count();
        let place = if same_bytes < cacheable {
            "above the cache boundary"
        } else {
            "below the cache boundary, where nothing is cached"
        };
        compared.first_difference = Some(FirstDifference {
            fragment: name.to_owned(),
            line,
            offset: same_bytes,
        });
        compared.cause = Some(format!("`{name}` {what}, {place}."));
    }
    (compared.diff, compared.shortened) = lines(&before.text, &after.text);
    compared
}

/// Finds the part that broke the prefix, and what became of it. Text that is added at the end of a part stands where the next one began, and text
/// that goes from there lets the next one begin earlier: so it is the part that is not as it was.
fn culprit<'a>(
    before: &'a Prompt,
    after: &'a Prompt,
    offset: usize,
) -> Option<(&'a str, &'static str)> {
    let new = after.part_at(offset)?;
    let Some(was) = before.text_of(&new.name) else {
        return Some((&new.name, "is new"));
    };
    if was != &after.text[new.range.clone()] {
        return Some((&new.name, "changed"));
    }
    let old = before.part_at(offset)?;
    match after.text_of(&old.name) {
        None => Some((&old.name, "is gone")),
        Some(is) if is != &before.text[old.range.clone()] => Some((&old.name, "changed")),
        Some(_) => Some((&new.name, "has moved")),
    }
}

fn common_prefix(left: &str, right: &str) -> usize {
    let same = left.bytes().zip(right.bytes());
    let bytes = same.take_while(|(left, right)| left == right).count();
    left.floor_char_boundary(bytes)
}

/// The difference line by line; long stretches of the same are only counted.
fn lines(before: &str, after: &str) -> (Vec<DiffLine>, bool) {
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
            out.push(DiffLine::Skip { lines: skipped });
            skipped = 0;
        }
        let text = text.strip_suffix('\n').unwrap_or(text).to_owned();
        out.push(match tag {
            ChangeTag::Equal => DiffLine::Same { text },
            ChangeTag::Insert => DiffLine::Add { text },
            ChangeTag::Delete => DiffLine::Remove { text },
        });
    }
    if skipped > 0 {
        out.push(DiffLine::Skip { lines: skipped });
    }
    (out, false)
}

#[cfg(test)]
mod tests {
    use super::super::prompt::Part;
    use super::*;
    use proptest::prelude::*;

    fn prompt(parts: &[(&str, &str)]) -> Prompt {
        let mut text = String::new();
        let parts = parts.iter().map(|(name, words)| {
            let begin = text.len();
            text.push_str(words);
            Part {
                name: (*name).to_owned(),
                path: None,
                cache: "stable".to_owned(),
                range: begin..text.len(),
                raw: None,
                decision: "kept".to_owned(),
                cause: None,
                boundary: false,
            }
        });
        let parts = parts.collect();
        Prompt {
            id: String::new(),
            parts,
            text,
        }
    }

    #[test]
    fn the_part_that_broke_the_prefix_is_named_wherever_in_it_the_change_is() {
        let before = prompt(&[("A", "one\n"), ("B", "two\n"), ("C", "three\n")]);
        let told = |parts: &[(&str, &str)]| {
            let after = prompt(parts);
            let offset = common_prefix(&before.text, &after.text);
            let (name, what) = culprit(&before, &after, offset).unwrap();
            format!("{name} {what}")
        };
        let appended = [("A", "one\n"), ("B", "two\nmore\n"), ("C", "three\n")];
        assert_eq!(told(&appended), "B changed");
        let cut = [("A", "one\n"), ("B", "tw"), ("C", "three\n")];
        assert_eq!(told(&cut), "B changed");
        assert_eq!(told(&[("A", "one\n"), ("C", "three\n")]), "B is gone");
        let put_in = [
            ("A", "one\n"),
            ("N", "new\n"),
            ("B", "two\n"),
            ("C", "three\n"),
        ];
        assert_eq!(told(&put_in), "N is new");
        let moved = [("A", "one\n"), ("C", "three\n"), ("B", "two\n")];
        assert_eq!(told(&moved), "C has moved");
    }

    /// Puts a side together again from what is shown; lines that are only counted are taken from the text itself.
    fn side<'a>(
        lines: &'a [DiffLine],
        own: impl Fn(&'a DiffLine) -> Option<&'a str>,
        text: &'a str,
    ) -> String {
        let mut rest = text.split('\n');
        let mut out: Vec<&str> = Vec::new();
        for line in lines {
            if let DiffLine::Skip { lines } = line {
                out.extend(rest.by_ref().take(*lines));
            } else if let Some(text) = own(line) {
                out.push(text);
                rest.next();
            }
        }
        out.join("\n")
    }

    fn old(line: &DiffLine) -> Option<&str> {
        match line {
            DiffLine::Same { text } | DiffLine::Remove { text } => Some(text),
            DiffLine::Add { .. } | DiffLine::Skip { .. } => None,
        }
    }

    fn new(line: &DiffLine) -> Option<&str> {
        match line {
            DiffLine::Same { text } | DiffLine::Add { text } => Some(text),
            DiffLine::Remove { .. } | DiffLine::Skip { .. } => None,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn both_sides_can_be_put_together_again(left in "([abc]{0,2}\n){0,12}", right in "([abc]{0,2}\n){0,12}") {
            prop_assume!(left != right);
            let (lines, shortened) = lines(&left, &right);
            prop_assert!(!shortened);
            let whole = |text: &str| text.strip_suffix('\n').unwrap_or(text).to_owned();
            prop_assert_eq!(side(&lines, old, &left), whole(&left));
            prop_assert_eq!(side(&lines, new, &right), whole(&right));
        }

        #[test]
        fn the_common_prefix_never_ends_inside_a_character(left in "[aä船]{0,8}", right in "[aä船]{0,8}") {
            let bytes = common_prefix(&left, &right);
            prop_assert_eq!(&left[..bytes], &right[..bytes]);
        }
    }
}
