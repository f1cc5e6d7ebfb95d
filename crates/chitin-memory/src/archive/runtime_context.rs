//! Takes out context that the program itself put into a message: between two markers, each alone on its line.

use super::compat::{RUNTIME_CLOSE, RUNTIME_OPEN};
use std::borrow::Cow;

/// Returns a text without such context. One that is not closed goes on to the end; a close without a beginning goes alone.
pub(super) fn without(text: Cow<'_, str>) -> Cow<'_, str> {
    if !text.contains(RUNTIME_OPEN) && !text.contains(RUNTIME_CLOSE) {
        return text;
    }
    let (mut kept, mut depth) = (String::with_capacity(text.len()), 0_usize);
    for line in text.split('\n') {
        match line.trim_matches([' ', '\t', '\r']) {
            RUNTIME_OPEN => depth += 1,
            RUNTIME_CLOSE => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            _ => {
                kept.push_str(line);
                kept.push('\n');
            }
        }
    }
    Cow::Owned(kept)
}
