//! Cuts long texts into parts at places that depend on their content alone, so that an edit changes the parts around it only.

/// No part ends before this length, unless the text does.
const SHORTEST: usize = 96;
/// No part is longer.
const LONGEST: usize = 2048;
/// A line ends a part if its hash has this bit clear: one in two.
const MASK: u32 = 1;
/// A line of this length ends a part.
const LONG_LINE: usize = 512;

/// Returns the parts of a text, in order: together they are the text.
pub(super) fn of(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (part, after) = rest.split_at(end(rest));
        rest = after;
        Some(part)
    })
}

/// Returns where the first part of a text ends.
fn end(text: &str) -> usize {
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        if end + line.len() > LONGEST {
            // A line that fits into no part is cut where the length says so.
            return match end {
                0 => text.floor_char_boundary(LONGEST),
                end => end,
            };
        }
        end += line.len();
        let is_end = line.len() >= LONG_LINE || hash(line.as_bytes()) & MASK == 0;
        if end >= SHORTEST && is_end {
            return end;
        }
    }
    end
}

/// FNV-1a. It decides only where to cut: two lines of one hash do no harm.
fn hash(bytes: &[u8]) -> u32 {
    let step = |hash: u32, byte: &u8| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
    let hash = bytes.iter().fold(0x811c_9dc5, step);
    hash ^ (hash >> 15)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_edit_changes_only_the_parts_around_it() {
        let line = |number: usize| format!("line {number} of a text that somebody wrote\n");
        let before: String = (0..500).map(line).collect();
        let after = before.replacen("line 250 ", "a line that was edited ", 1);
        let known: std::collections::HashSet<&str> = of(&before).collect();
        let fresh: usize = of(&after)
            .filter(|part| !known.contains(part))
            .map(str::len)
            .sum();
        assert!(fresh < 2 * LONGEST, "{fresh} of {}", after.len());
    }

    proptest! {
        #[test]
        fn the_parts_are_the_text(text in "(\\PC{0,300}\n?){0,40}") {
            prop_assert_eq!(of(&text).collect::<String>(), text.clone());
            prop_assert!(of(&text).all(|part| !part.is_empty() && part.len() <= LONGEST));
        }
    }
}
