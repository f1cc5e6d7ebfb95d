//! Taking front matter off before text is embedded (CN5). Reading it as data is the skills' business.

/// Returns the text without its front matter block, or the text as it is when there is no closed block at its start.
pub fn strip(text: &str) -> &str {
    let Some(body) = body(text) else { return text };
    // Blank lines directly below the block belong to it.
    let mut rest = body;
    loop {
        let (line, after) = next_line(rest);
        if !line.bytes().all(|b| matches!(b, b' ' | b'\t' | b'\r')) {
            return rest;
        }
        match after {
            Some(after) => rest = after,
            None => return "",
        }
    }
}

/// Tells whether a block is opened at the start of the text and never closed.
pub fn is_unclosed(text: &str) -> bool {
    matches!(next_line(text.strip_prefix('\u{feff}').unwrap_or(text)), (line, Some(_)) if is_fence(line))
        && body(text).is_none()
}

/// Returns what follows the closing line.
fn body(text: &str) -> Option<&str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (first, mut rest) = next_line(text);
    if !is_fence(first) {
        return None;
    }
    while let Some(here) = rest {
        let (line, after) = next_line(here);
        if is_fence(line) {
            return Some(after.unwrap_or(""));
        }
        rest = after;
    }
    None
}

/// Splits at the first LF, the only character that ends a line here. No LF: no further line.
fn next_line(text: &str) -> (&str, Option<&str>) {
    match text.split_once('\n') {
        Some((line, rest)) => (line, Some(rest)),
        None => (text, None),
    }
}

/// Three dashes, then spaces and tabs, then perhaps a CR.
fn is_fence(line: &str) -> bool {
    let line = line.strip_suffix('\r').unwrap_or(line);
    line.strip_prefix("---")
        .is_some_and(|rest| rest.bytes().all(|b| matches!(b, b' ' | b'\t')))
}
