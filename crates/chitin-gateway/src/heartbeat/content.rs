//! Whether HEARTBEAT.md asks for anything (R91).

use chitin_contract::HeartbeatComments;
use chitin_protocol::text::trim_js;
use std::borrow::Cow;

/// Tells whether HEARTBEAT.md contains no tasks: only blanks, headings, empty list items and fence lines are in it.
///
/// A file that is not there is another matter: then the model is asked.
pub fn is_empty(content: &str, comments: HeartbeatComments) -> bool {
    let content = match comments {
        HeartbeatComments::Content => Cow::Borrowed(content),
        HeartbeatComments::Nothing => without_comments(content),
    };
    content.split('\n').all(|line| says_nothing(trim_js(line)))
}

fn says_nothing(line: &str) -> bool {
    line.is_empty() || is_heading(line) || is_list_stub(line) || is_fence(line)
}

/// `#`, or `#` and a blank; `#word` is a word.
fn is_heading(line: &str) -> bool {
    let text = line.trim_start_matches('#');
    text.len() < line.len() && (text.is_empty() || trim_js(text).len() < text.len())
}

/// A bullet with nothing behind it, or with an empty or ticked box.
fn is_list_stub(line: &str) -> bool {
    let Some(rest) = line.strip_prefix(['-', '*', '+']) else {
        return false;
    };
    let rest = trim_js(rest);
    let Some(inside) = rest
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
    else {
        return rest.is_empty();
    };
    let mut letters = inside.chars();
    match (letters.next(), letters.next()) {
        (None, _) => true,
        (Some(c), None) => matches!(c, 'x' | 'X') || trim_js(inside).is_empty(),
        (Some(_), Some(_)) => false,
    }
}

/// Three backticks, with or without the name of a language.
fn is_fence(line: &str) -> bool {
    line.strip_prefix("```").is_some_and(|name| {
        name.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    })
}

/// Takes comments out. One that is never closed is left: something is there that its author should look at.
fn without_comments(text: &str) -> Cow<'_, str> {
    const OPEN: &str = "<!--";
    const CLOSE: &str = "-->";
    let mut kept = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(OPEN) {
        let after = &rest[start + OPEN.len()..];
        let Some(end) = after.find(CLOSE) else { break };
        kept.push_str(&rest[..start]);
        rest = &after[end + CLOSE.len()..];
    }
    if kept.is_empty() && rest.len() == text.len() {
        return Cow::Borrowed(text);
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}
