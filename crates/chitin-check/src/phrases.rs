//! Phrases that several rules look for, found in one pass over the words of a text.

use std::ops::Range;

/// What a phrase is a sign of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// Sets other instructions aside.
    Override,
    /// Hides something from the user.
    Conceal,
    /// Gives an order; worth a word only where it cannot be seen.
    Order,
    /// Makes a further file be read and obeyed.
    AutoRead,
    /// Switches a protection of the system off.
    ProtectionOff,
    /// A command that fetches something.
    Fetch,
    /// A command or module that decodes.
    Decode,
    /// PowerShell's way to run text.
    RunText,
    /// Somebody is to paste something.
    Paste,
    /// A password is spoken of.
    Password,
    /// Somebody is to fill something in.
    FillIn,
    /// A mark for work that is left.
    Todo,
}

/// A phrase where it was found.
#[derive(Debug, Clone)]
pub(crate) struct Hit {
    pub(crate) meaning: Meaning,
    pub(crate) span: Range<usize>,
}

use Meaning::{
    AutoRead, Conceal, Decode, Fetch, FillIn, Order, Override, Password, Paste, ProtectionOff,
    RunText, Todo,
};

/// The phrases, in small letters, ordered by their first letter. A blank stands for any white space or emphasis.
const PHRASES: &[(&str, Meaning)] = &[
    ("(fill in", FillIn),
    ("(fill this in", FillIn),
    ("(pick something", FillIn),
    ("[your name", FillIn),
    ("<your name", FillIn),
    ("_(", FillIn),
    ("add-mppreference -exclusion", ProtectionOff),
    ("base64", Decode),
    ("copy-paste", Paste),
    ("csrutil disable", ProtectionOff),
    ("curl", Fetch),
    ("disregard all prior", Override),
    ("disregard all previous", Override),
    ("disregard any previous", Override),
    ("disregard previous instructions", Override),
    ("disregard prior instructions", Override),
    ("disregard the above", Override),
    ("disregard the previous", Override),
    ("disregard your instructions", Override),
    ("disregard your previous", Override),
    ("do not alert the user", Conceal),
    ("do not inform the user", Conceal),
    ("do not let the user know", Conceal),
    ("do not mention this to the user", Conceal),
    ("do not reveal this to the user", Conceal),
    ("do not show this to the user", Conceal),
    ("do not tell the user", Conceal),
    ("do not tell your human", Conceal),
    ("don't inform the user", Conceal),
    ("don't let the user know", Conceal),
    ("don't mention this to the user", Conceal),
    ("don't tell the user", Conceal),
    ("don't tell your human", Conceal),
    ("downloadstring", Fetch),
    ("encodedcommand", Decode),
    ("enter developer mode", Override),
    ("execute the following", Order),
    ("execute this", Order),
    ("executionpolicy bypass", ProtectionOff),
    ("forget all previous", Override),
    ("forget all prior", Override),
    ("forget everything above", Override),
    ("forget previous instructions", Override),
    ("forget your instructions", Override),
    ("forget your previous", Override),
    ("fill this in", FillIn),
    ("hide this from the user", Conceal),
    ("iex", RunText),
    ("ignore all instructions", Override),
    ("ignore all previous", Override),
    ("ignore all prior", Override),
    ("ignore any previous", Override),
    ("ignore any prior", Override),
    ("ignore everything above", Override),
    ("ignore my previous", Override),
    ("ignore previous instructions", Override),
    ("ignore prior instructions", Override),
    ("ignore the above instructions", Override),
    ("ignore the previous instructions", Override),
    ("ignore the system prompt", Override),
    ("ignore your instructions", Override),
    ("ignore your previous", Override),
    ("ignore your system prompt", Override),
    ("invoke-expression", RunText),
    ("invoke-restmethod", Fetch),
    ("invoke-webrequest", Fetch),
    ("irm", Fetch),
    ("iwr", Fetch),
    ("lorem ipsum", FillIn),
    ("never tell the user", Conceal),
    ("override all previous", Override),
    ("override previous instructions", Override),
    ("override your instructions", Override),
    ("override your system prompt", Override),
    ("password", Password),
    ("paste", Paste),
    ("pick something", FillIn),
    ("post-compaction audit", AutoRead),
    ("print your system prompt", Override),
    ("required startup files", AutoRead),
    ("reveal the system prompt", Override),
    ("reveal your system prompt", Override),
    ("run the command", Order),
    ("run the following", Order),
    ("run this", Order),
    ("secretly", Conceal),
    ("set-mppreference -disable", ProtectionOff),
    ("setenforce 0", ProtectionOff),
    ("silently execute", Conceal),
    ("silently run", Conceal),
    ("silently send", Conceal),
    ("silently upload", Conceal),
    ("spctl --global-disable", ProtectionOff),
    ("spctl --master-disable", ProtectionOff),
    ("todo", Todo),
    ("wget", Fetch),
    ("without informing the user", Conceal),
    ("without telling the user", Conceal),
    ("without the user knowing", Conceal),
    ("without the user's knowledge", Conceal),
    ("workflow_auto.md", AutoRead),
    ("xattr -c ", ProtectionOff),
    ("xattr -cr ", ProtectionOff),
    ("xattr -d com.apple.quarantine", ProtectionOff),
    ("xattr -dr com.apple.quarantine", ProtectionOff),
    ("xattr -r -d com.apple.quarantine", ProtectionOff),
    ("xattr -rd com.apple.quarantine", ProtectionOff),
    ("you are now dan", Override),
    ("you are now in developer mode", Override),
    ("you must run", Order),
    ("you must send", Order),
    ("your name here", FillIn),
];

/// More hits than this in one text are not looked for.
const MAX_HITS: usize = 20_000;

/// Finds the phrases in a text of small letters, in order.
pub(crate) fn scan(lower: &str) -> Vec<Hit> {
    let bytes = lower.as_bytes();
    let mut hits = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let beginning = &FIRST[usize::from(byte)];
        // Most words differ from every phrase in their second letter already.
        let second = bytes.get(at + 1).copied().unwrap_or(0);
        if beginning.first < beginning.end && beginning.seconds & second_bit(second) != 0 {
            let phrases = &PHRASES[usize::from(beginning.first)..usize::from(beginning.end)];
            let found = phrases
                .iter()
                .filter(|(phrase, _)| phrase.as_bytes()[1] == second)
                .find_map(|(phrase, meaning)| Some((match_at(bytes, at, phrase)?, *meaning)));
            if let Some((end, meaning)) = found {
                hits.push(Hit {
                    meaning,
                    span: at..end,
                });
                if hits.len() >= MAX_HITS {
                    break;
                }
            }
        }
        at += 1;
        if IS_WORD[usize::from(byte)] {
            // Nothing begins within a word, nor right behind it.
            let rest = &bytes[at..];
            let end = rest.iter().position(|&b| !IS_WORD[usize::from(b)]);
            at += end.map_or(rest.len(), |end| end + 1);
        }
    }
    hits
}

/// What a byte may begin.
#[derive(Clone, Copy)]
struct Beginning {
    /// The phrases that begin with it.
    first: u16,
    end: u16,
    /// The second letters of those phrases, as bits.
    seconds: u32,
}

static FIRST: [Beginning; 256] = beginnings();

/// Whether a byte is part of a word. A table of its own, because every byte of every text is looked up.
static IS_WORD: [bool; 256] = word_bytes();

/// Folds a byte to one of 32 bits; letters of one case do not collide.
const fn second_bit(byte: u8) -> u32 {
    1 << (byte & 31)
}

const fn word_bytes() -> [bool; 256] {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    loop {
        table[byte as usize] = byte.is_ascii_alphanumeric() || byte >= 0x80;
        if byte == u8::MAX {
            return table;
        }
        byte += 1;
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "there are a few hundred phrases"
)]
const fn beginnings() -> [Beginning; 256] {
    let none = Beginning {
        first: 0,
        end: 0,
        seconds: 0,
    };
    let mut table = [none; 256];
    let mut index = 0;
    while index < PHRASES.len() {
        let phrase = PHRASES[index].0.as_bytes();
        let entry = &mut table[phrase[0] as usize];
        if entry.end == 0 {
            entry.first = index as u16;
        }
        entry.end = index as u16 + 1;
        entry.seconds |= second_bit(phrase[1]);
        index += 1;
    }
    table
}

/// Returns where a phrase ends that begins at `at`. It must end with a word.
fn match_at(bytes: &[u8], at: usize, phrase: &str) -> Option<usize> {
    let mut position = at;
    for expected in phrase.bytes() {
        let found = *bytes.get(position)?;
        if expected == b' ' {
            let gap = bytes[position..]
                .iter()
                .take(32)
                .take_while(|b| b.is_ascii_whitespace() || matches!(b, b'*' | b'_' | b'>'))
                .count();
            if gap == 0 {
                return None;
            }
            position += gap;
        } else if found == expected {
            position += 1;
        } else {
            return None;
        }
    }
    let ends_in_word = phrase
        .bytes()
        .next_back()
        .is_some_and(|b| b.is_ascii_alphanumeric());
    let goes_on = bytes.get(position).is_some_and(u8::is_ascii_alphanumeric);
    // These are beginnings of longer words.
    let may_go_on = ["exclusion", "disable", "base64"]
        .iter()
        .any(|beginning| phrase.ends_with(beginning));
    (!ends_in_word || !goes_on || may_go_on).then_some(position)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_of_one_letter_stand_together() {
        let mut seen = Vec::new();
        for (phrase, _) in PHRASES {
            let first = phrase.as_bytes()[0];
            if seen.last() != Some(&first) {
                assert!(!seen.contains(&first), "{phrase} stands apart");
                seen.push(first);
            }
            assert_eq!(*phrase, phrase.to_ascii_lowercase());
        }
    }

    #[test]
    fn a_phrase_may_be_broken_over_lines_but_not_be_part_of_a_word() {
        let found = scan("please ignore *all*\n  previous rules; curled; wget x");
        let meanings: Vec<_> = found.iter().map(|hit| hit.meaning).collect();
        assert_eq!(meanings, [Meaning::Override, Meaning::Fetch]);
    }
}
