//! Lines of a text, and which parts of it are code.

use std::ops::Range;

/// Where lines begin.
#[derive(Debug)]
pub(crate) struct Lines {
    starts: Vec<usize>,
    length: usize,
}

impl Lines {
    pub(crate) fn new(text: &str) -> Self {
        let mut starts = Vec::with_capacity(text.len() / 32 + 1);
        starts.push(0);
        starts.extend(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1));
        Self {
            starts,
            length: text.len(),
        }
    }

    /// Returns the zero-based line that holds the byte.
    pub(crate) fn of(&self, offset: usize) -> usize {
        self.starts
            .partition_point(|&start| start <= offset)
            .saturating_sub(1)
    }

    /// Returns the bytes of a zero-based line, its line end included.
    pub(crate) fn range(&self, line: usize) -> Range<usize> {
        let start = self.starts.get(line).copied().unwrap_or(self.length);
        let end = self.starts.get(line + 1).copied().unwrap_or(self.length);
        start..end
    }

    pub(crate) fn count(&self) -> usize {
        self.starts.len()
    }
}

/// The parts of a Markdown text that are code: fenced and indented blocks, and spans between backticks.
#[derive(Debug, Default)]
pub(crate) struct Code {
    blocks: Vec<Range<usize>>,
    spans: Vec<Range<usize>>,
}

impl Code {
    pub(crate) fn new(text: &str, lines: &Lines) -> Self {
        let blocks = blocks(text, lines);
        let spans = spans(text, &blocks);
        Self { blocks, spans }
    }

    /// Returns the code span that holds the byte, backticks included.
    pub(crate) fn span_around(&self, offset: usize) -> Option<Range<usize>> {
        let after = self.spans.partition_point(|span| span.start <= offset);
        let span = self.spans.get(after.checked_sub(1)?)?;
        span.contains(&offset).then(|| span.clone())
    }

    /// Returns the code block that holds the byte.
    pub(crate) fn block_around(&self, offset: usize) -> Option<Range<usize>> {
        let after = self.blocks.partition_point(|block| block.start <= offset);
        let block = self.blocks.get(after.checked_sub(1)?)?;
        block.contains(&offset).then(|| block.clone())
    }

    /// Tells whether the byte is in a code block or a code span.
    pub(crate) fn is_code(&self, offset: usize) -> bool {
        contains(&self.blocks, offset) || contains(&self.spans, offset)
    }
}

fn contains(ranges: &[Range<usize>], offset: usize) -> bool {
    let after = ranges.partition_point(|range| range.start <= offset);
    after > 0 && ranges[after - 1].contains(&offset)
}

fn blocks(text: &str, lines: &Lines) -> Vec<Range<usize>> {
    let mut blocks: Vec<Range<usize>> = Vec::new();
    let mut open: Option<(u8, usize, usize)> = None;
    let mut after_blank = true;
    let mut in_list = false;
    for number in 0..lines.count() {
        let range = lines.range(number);
        let line = &text[range.clone()];
        let trimmed = line.trim_start_matches([' ', '\t', '>']);
        let fence = fence_of(trimmed);
        if let Some((mark, length, start)) = open {
            let closes = fence.is_some_and(|(m, l)| m == mark && l >= length)
                && trimmed.trim_end().bytes().all(|b| b == mark);
            if closes {
                blocks.push(start..range.end);
                open = None;
            }
            continue;
        }
        if let Some((mark, length)) = fence {
            open = Some((mark, length, range.start));
            after_blank = false;
            continue;
        }
        let blank = line.trim().is_empty();
        let indented = line.starts_with("    ") || line.starts_with('\t');
        let follows_code = blocks
            .last()
            .is_some_and(|block| block.end == range.start && after_blank);
        if !blank && indented && !in_list && (after_blank || follows_code) {
            blocks.push(range);
            // The next indented line goes on, as if a blank line stood before it.
            after_blank = true;
            continue;
        }
        if !blank && !indented {
            in_list = starts_list_item(trimmed);
        }
        after_blank = blank;
    }
    if let Some((_, _, start)) = open {
        blocks.push(start..text.len());
    }
    blocks
}

fn fence_of(line: &str) -> Option<(u8, usize)> {
    let mark = *line.as_bytes().first()?;
    if mark != b'`' && mark != b'~' {
        return None;
    }
    let length = line.bytes().take_while(|&b| b == mark).count();
    let info_has_tick = mark == b'`' && line[length..].contains('`');
    (length >= 3 && !info_has_tick).then_some((mark, length))
}

fn starts_list_item(line: &str) -> bool {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    line.starts_with(['-', '*', '+']) || (digits > 0 && line[digits..].starts_with(['.', ')']))
}

/// Finds code spans: a run of backticks up to the next run of the same length in the same paragraph.
fn spans(text: &str, blocks: &[Range<usize>]) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut spans = Vec::new();
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'`', &bytes[at..]) {
        let start = at + found;
        if contains(blocks, start) {
            let after = blocks.partition_point(|block| block.start <= start);
            at = blocks[after - 1].end.max(start + 1);
            continue;
        }
        let length = run(bytes, start);
        let end = paragraph_end(text, start + length);
        at = start + length;
        let mut search = start + length;
        while let Some(next) = memchr::memchr(b'`', &bytes[search..end]) {
            let close = search + next;
            let closing = run(bytes, close);
            search = (close + closing).min(end);
            if closing == length {
                spans.push(start..close + closing);
                at = close + closing;
                break;
            }
        }
    }
    spans
}

fn run(bytes: &[u8], start: usize) -> usize {
    bytes[start..].iter().take_while(|&&b| b == b'`').count()
}

/// No code span is looked for further than this; it bounds the work on hostile text.
const MAX_SPAN: usize = 4096;

fn paragraph_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let limit = bytes.len().min(start + MAX_SPAN);
    memchr::memchr_iter(b'\n', &bytes[start..limit])
        .map(|found| start + found)
        .find(|found| bytes.get(found + 1) == Some(&b'\n'))
        .unwrap_or(limit)
}
