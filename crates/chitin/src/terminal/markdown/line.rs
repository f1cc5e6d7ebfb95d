//! What kind of line it is, told from how it begins.

/// No line needs more than this many bytes to be told apart.
const LONGEST_HEAD: usize = 240;

/// A line, and how much of its beginning says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) kind: LineKind,
    /// How many bytes of white space come first.
    pub(super) indent: usize,
    /// How many bytes are not text: the white space and the mark.
    pub(super) taken: usize,
}

/// The kinds of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    /// Text, or nothing.
    Text,
    /// A title of that level.
    Heading(usize),
    /// A quotation of that depth.
    Quote(usize),
    /// A point of a list.
    Bullet,
    /// A numbered point of a list.
    Number,
    /// The beginning of a block of code: its mark, so many times.
    Fence(char, usize),
    /// A row of a table.
    Table,
    /// A line across.
    Rule,
}

/// Tells the kind of a line from its beginning; `None` means that more of it is needed. `whole` says that no more comes.
pub(super) fn classify(head: &str, whole: Whole) -> Option<Head> {
    let rest = head.trim_start_matches([' ', '\t']);
    let indent = head.len() - rest.len();
    let found = |kind, mark| {
        Some(Head {
            kind,
            indent,
            taken: indent + mark,
        })
    };
    let text = || found(LineKind::Text, 0);
    if head.len() > LONGEST_HEAD {
        return text();
    }
    let waiting = || match whole {
        Whole::Yes => text(),
        Whole::NotYet => None,
    };
    let Some(first) = rest.chars().next() else {
        return waiting();
    };
    let run = rest.chars().take_while(|c| *c == first).count();
    let after = rest.get(run..).unwrap_or_default();
    match first {
        '#' => match after.chars().next() {
            _ if run > 6 => text(),
            None => waiting(),
            Some(' ') => found(LineKind::Heading(run), run + 1),
            Some(_) => text(),
        },
        '>' => match quotation(rest) {
            (_, length) if length == rest.len() && whole == Whole::NotYet => None,
            (depth, length) => found(LineKind::Quote(depth), length),
        },
        '`' | '~' => match (run >= 3, after.is_empty(), whole) {
            (false, false, _) => text(),
            (false, true, _) => waiting(),
            (true, _, _) if first == '`' && after.contains('`') => text(),
            (true, _, Whole::NotYet) => None,
            (true, _, Whole::Yes) => found(LineKind::Fence(first, run), run),
        },
        '|' => found(LineKind::Table, 0),
        '-' | '*' | '_' | '+' => {
            let marks = rest.chars().filter(|c| *c == first).count();
            let only_marks = rest.chars().all(|c| c == first || c == ' ');
            let point = first != '_' && rest[1..].starts_with(' ');
            match whole {
                Whole::NotYet if only_marks => None,
                Whole::Yes if only_marks && first != '+' && marks >= 3 => found(LineKind::Rule, 0),
                Whole::Yes | Whole::NotYet if point => found(LineKind::Bullet, 2),
                Whole::Yes | Whole::NotYet => text(),
            }
        }
        '0'..='9' => {
            let digits = rest.chars().take_while(char::is_ascii_digit).count();
            let after = &rest[digits..];
            match after.as_bytes() {
                _ if digits > 9 => text(),
                [] | [b'.' | b')'] => waiting(),
                [b'.' | b')', b' ', ..] => found(LineKind::Number, digits + 2),
                [_, ..] => text(),
            }
        }
        _ => text(),
    }
}

/// Whether all of a line is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whole {
    Yes,
    NotYet,
}

/// Says whether a line ends a block of code; `None` means that more of it is needed.
pub(super) fn closes(head: &str, mark: char, length: usize, whole: Whole) -> Option<bool> {
    let rest = head.trim_start_matches([' ', '\t']);
    let run = rest.chars().take_while(|c| *c == mark).count();
    let after = rest.get(run..).unwrap_or_default();
    if !after.trim_matches([' ', '\t']).is_empty()
        || (run < length && !after.is_empty())
        || head.len() > LONGEST_HEAD
    {
        return Some(false);
    }
    match whole {
        Whole::Yes => Some(run >= length),
        Whole::NotYet => None,
    }
}

/// Returns how deep a quotation is and how long its marks are.
fn quotation(rest: &str) -> (usize, usize) {
    let (mut depth, mut at) = (0, 0);
    let bytes = rest.as_bytes();
    while bytes.get(at) == Some(&b'>') {
        depth += 1;
        at += 1;
        if bytes.get(at) == Some(&b' ') {
            at += 1;
        }
    }
    (depth, at)
}
