//! Folding letter case, except in ids that their channel reads with case.

use std::ops::Range;

/// Folds a key to lower case; `signal` group ids and `matrix` room and event ids keep their letters (R1, 2026.9).
pub(super) fn fold(text: &str) -> String {
    let mut kept = kept_spans(text);
    kept.sort_by_key(|span| span.start);
    let mut folded = String::with_capacity(text.len());
    let mut at = 0;
    for span in kept {
        if span.start < at {
            continue;
        }
        folded.push_str(&text[at..span.start].to_lowercase());
        folded.push_str(&text[span.clone()]);
        at = span.end;
    }
    folded.push_str(&text[at..].to_lowercase());
    folded
}

/// Tells whether the peer ids of a channel and kind are read with letter case.
pub(super) fn is_kept(channel: &str, kind: &str) -> bool {
    match channel {
        "signal" => kind == "group",
        "matrix" => matches!(kind, "group" | "channel"),
        _ => false,
    }
}

fn kept_spans(text: &str) -> Vec<Range<usize>> {
    let segments = segments(text);
    let named = |at: usize, names: &[&str]| {
        segments.get(at).is_some_and(|span: &Range<usize>| {
            names
                .iter()
                .any(|name| text[span.clone()].eq_ignore_ascii_case(name))
        })
    };
    let mut kept: Vec<Range<usize>> = (0..segments.len())
        .filter(|&at| named(at, &["signal"]) && named(at + 1, &["group"]))
        .filter_map(|at| segments.get(at + 2).cloned())
        .collect();
    let scoped = named(0, &["agent"]) && segments.get(1).is_some_and(|span| !span.is_empty());
    let head = if scoped { 2 } else { 0 };
    if named(head, &["matrix"])
        && named(head + 1, &["group", "channel"])
        && let Some(id) = segments.get(head + 2)
    {
        kept.extend(around_thread_marker(text, id.start));
    }
    kept.retain(|span| !span.is_empty());
    kept
}

/// Keeps everything from `start` on but the marker before the thread id, which is ours and not the channel's.
fn around_thread_marker(text: &str, start: usize) -> [Range<usize>; 2] {
    let end = text.len();
    match super::parts::find_thread_marker(&text[start..]) {
        None => [start..end, end..end],
        Some(marker) => [start..start + marker.start, start + marker.end..end],
    }
}

fn segments(text: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    text.split(':')
        .map(|segment| {
            let span = start..start + segment.len();
            start = span.end + 1;
            span
        })
        .collect()
}
