//! Cuts a long text into lines.

/// Returns the pieces of a text, each of so many UTF-16 units at most, cut at spaces where there are any.
pub(super) fn pieces(text: &str, most: usize) -> Vec<&str> {
    let (most, mut pieces, mut rest) = (most.max(2), Vec::new(), text);
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(cut(rest, most));
        pieces.push(piece.trim_end_matches(' '));
        rest = after.trim_start_matches(' ');
    }
    pieces
}

/// Returns where the first piece ends.
fn cut(text: &str, most: usize) -> usize {
    let (mut units, mut space) = (0, None);
    for (at, c) in text.char_indices() {
        if c == ' ' && at > 0 {
            space = Some(at);
        }
        units += c.len_utf16();
        if units > most {
            return space.unwrap_or(at);
        }
    }
    text.len()
}
