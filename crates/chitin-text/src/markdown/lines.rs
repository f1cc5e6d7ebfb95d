//! Lines of Markdown, with what containers leave of them.

/// The lines of a source. A quotation or a list changes where its lines begin and how far they are indented, and puts that
/// back when it ends. Positions are bytes.
pub(super) struct Lines<'a> {
    pub source: &'a str,
    pub lines: Vec<Line>,
}

/// One line.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Line {
    /// Where it begins, behind the markers of containers.
    pub start: usize,
    /// Where it ends, before its line end.
    pub end: usize,
    /// How many bytes stand before its first word.
    pub shift: usize,
    /// At which column its first word stands; a line that only goes on with a paragraph of a quotation has -1.
    pub indent: isize,
    /// Columns that the markers of containers took, for tabs.
    pub taken: usize,
}

impl Line {
    /// Returns where the first word begins.
    pub(super) fn text(&self) -> usize {
        self.start + self.shift
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text() >= self.end
    }
}

/// Returns the columns up to the next tab stop.
pub(super) const fn tab_width(column: usize) -> usize {
    4 - column % 4
}

impl<'a> Lines<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        let mut lines = Vec::new();
        let mut start = 0;
        for line in source.split('\n') {
            let blanks = line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t'));
            let (mut shift, mut column) = (0, 0);
            for blank in blanks {
                column += if blank == b'\t' { tab_width(column) } else { 1 };
                shift += 1;
            }
            lines.push(Line {
                start,
                end: start + line.len(),
                shift,
                indent: column.cast_signed(),
                taken: 0,
            });
            start += line.len() + 1;
        }
        Self { source, lines }
    }

    pub(super) fn is_empty(&self, line: usize) -> bool {
        self.lines.get(line).is_none_or(Line::is_empty)
    }

    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        self.source.as_bytes().get(at).copied()
    }

    /// Returns the text of a line from its first word on.
    pub(super) fn words(&self, line: usize) -> &'a str {
        let line = &self.lines[line];
        self.source.get(line.text()..line.end).unwrap_or_default()
    }

    /// Returns lines as one text, without so many columns of indentation.
    pub(super) fn get(&self, from: usize, to: usize, indent: usize) -> String {
        let mut text = String::new();
        for (number, line) in self.lines[from..to].iter().enumerate() {
            if number > 0 {
                text.push('\n');
            }
            let (mut at, mut column) = (line.start, 0);
            while at < line.end && column < indent {
                match self.byte(at) {
                    Some(b'\t') => column += tab_width(column + line.taken),
                    Some(b' ') => column += 1,
                    // Markers of containers count as blanks.
                    _ if at - line.start < line.shift => column += 1,
                    _ => break,
                }
                at += 1;
            }
            let spare = column.saturating_sub(indent);
            text.extend(std::iter::repeat_n(' ', spare));
            text.push_str(self.source.get(at..line.end).unwrap_or_default());
        }
        text
    }
}
