//! Text with marks on it, and how it is written in another markup.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

/// How a part of a text looks. In the order of their names, as spans are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Style {
    Quote,
    Bold,
    Code,
    CodeBlock,
    Italic,
    Spoiler,
    Strikethrough,
}

impl Style {
    /// Returns which of several styles of the same part is written outside.
    const fn rank(self) -> u8 {
        match self {
            Self::Quote => 2,
            Self::CodeBlock => 3,
            Self::Code => 4,
            Self::Bold => 5,
            Self::Italic => 6,
            Self::Strikethrough => 7,
            Self::Spoiler => 8,
        }
    }
}

/// What is written outside of everything that shares its end.
const OUTERMOST: u8 = 0;

/// Where links stand among styles.
const LINK_RANK: u8 = 1;

/// A part of a text that looks in some way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    pub start: usize,
    pub end: usize,
    pub style: Style,
    pub language: Option<Rc<str>>,
}

/// A part of a text that leads somewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Link {
    pub start: usize,
    pub end: usize,
    pub href: Rc<str>,
    /// Whether it was found in words, without markup.
    pub found: bool,
}

/// A text in UTF-16 units, with marks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Marked {
    pub text: Vec<u16>,
    pub spans: Vec<Span>,
    pub links: Vec<Link>,
}

/// A markup to write text in.
pub(crate) trait Markup {
    /// Returns what opens and closes a part, if it is marked at all.
    fn style(&self, span: &Span) -> Option<(String, &'static str)>;
    /// Returns what opens and closes a link with its label, if it is kept.
    fn link(&self, link: &Link, label: &[u16]) -> Option<(String, &'static str)>;
    /// Tells whether a quotation is written outside of a link that it shares its end with.
    fn quotes_outside(&self) -> bool {
        false
    }
    /// Writes text so that nothing of it is taken for markup.
    fn escape(&self, text: &[u16], written: &mut String);
}

impl Marked {
    /// Cuts off what lies behind a place, and puts the marks in order.
    pub(crate) fn truncate(&mut self, end: usize) {
        self.text.truncate(end);
        for span in &mut self.spans {
            span.end = span.end.min(end);
        }
        self.spans.retain(|span| span.start < span.end);
        for link in &mut self.links {
            link.end = link.end.min(end);
        }
        self.links.retain(|link| link.start < link.end);
        self.merge();
    }

    /// Puts spans in order and joins those of a style that touch.
    fn merge(&mut self) {
        self.spans
            .sort_by_key(|span| (span.start, span.end, span.style));
        let mut merged: Vec<Span> = Vec::with_capacity(self.spans.len());
        for span in self.spans.drain(..) {
            match merged.last_mut() {
                Some(last)
                    if last.style == span.style
                        && last.language == span.language
                        && (span.start < last.end
                            || span.start == last.end && span.style != Style::Quote) =>
                {
                    last.end = last.end.max(span.end);
                }
                _ => merged.push(span),
            }
        }
        self.spans = merged;
    }

    /// Writes the text in a markup. Parts that cross are closed and opened again, so that what is written is well-formed.
    pub(crate) fn write(&self, markup: &impl Markup) -> String {
        let openings = self.openings(markup);
        let mut points: Vec<usize> = openings
            .iter()
            .flat_map(|(&start, parts)| {
                std::iter::once(start).chain(parts.iter().map(|part| part.end))
            })
            .chain([0, self.text.len()])
            .collect();
        points.sort_unstable();
        points.dedup();
        let mut written = String::with_capacity(self.text.len() + self.text.len() / 8);
        let mut open: Vec<&Part> = Vec::new();
        for (at, &point) in points.iter().enumerate() {
            close(&mut open, point, &mut written);
            for part in openings.get(&point).map_or(&[][..], Vec::as_slice) {
                written.push_str(&part.opening);
                open.push(part);
            }
            if let Some(&next) = points.get(at + 1) {
                markup.escape(&self.text[point..next], &mut written);
            }
        }
        written
    }

    fn openings(&self, markup: &impl Markup) -> BTreeMap<usize, Vec<Part>> {
        let mut openings: BTreeMap<usize, Vec<Part>> = BTreeMap::new();
        for link in &self.links {
            if let Some((opening, closing)) = markup.link(link, &self.text[link.start..link.end]) {
                openings.entry(link.start).or_default().push(Part {
                    end: link.end,
                    rank: LINK_RANK,
                    opening,
                    closing,
                });
            }
        }
        for span in &self.spans {
            if let Some((opening, closing)) = markup.style(span) {
                openings.entry(span.start).or_default().push(Part {
                    end: span.end,
                    rank: match span.style {
                        Style::Quote if markup.quotes_outside() => OUTERMOST,
                        style => style.rank(),
                    },
                    opening,
                    closing,
                });
            }
        }
        for parts in openings.values_mut() {
            // The longest outside; of equal ones links, then by rank.
            parts.sort_by_key(|part| (std::cmp::Reverse(part.end), part.rank));
        }
        openings
    }
}

/// A part as it is written.
struct Part {
    end: usize,
    rank: u8,
    opening: String,
    closing: &'static str,
}

/// Closes the parts that end at a place.
fn close(open: &mut Vec<&Part>, point: usize, written: &mut String) {
    let Some(outermost) = open.iter().position(|part| part.end <= point) else {
        return;
    };
    for part in open[outermost..].iter().rev() {
        written.push_str(part.closing);
    }
    let crossing: Vec<&Part> = open
        .drain(outermost..)
        .filter(|part| part.end > point)
        .collect();
    for part in crossing {
        written.push_str(&part.opening);
        open.push(part);
    }
}

/// Marks that are longer are few, and looked at one by one.
const LONG: usize = 4096;

/// A marked text, prepared to be taken apart.
pub(crate) struct Parts<'a> {
    marked: &'a Marked,
    short_spans: Vec<&'a Span>,
    long_spans: Vec<&'a Span>,
    short_links: Vec<&'a Link>,
    long_links: Vec<&'a Link>,
}

impl<'a> Parts<'a> {
    pub(crate) fn new(marked: &'a Marked) -> Self {
        let (short_spans, long_spans) = marked
            .spans
            .iter()
            .partition(|span| span.end - span.start <= LONG);
        let mut links: Vec<&Link> = marked.links.iter().collect();
        links.sort_by_key(|link| link.start);
        let (short_links, long_links) = links
            .into_iter()
            .partition(|link| link.end - link.start <= LONG);
        Self {
            marked,
            short_spans,
            long_spans,
            short_links,
            long_links,
        }
    }

    /// Returns some ranges of the text, put together.
    pub(crate) fn take(&self, ranges: &[Range<usize>]) -> Marked {
        let mut taken = Marked::default();
        for range in ranges {
            let offset = taken.text.len();
            taken
                .text
                .extend_from_slice(&self.marked.text[range.clone()]);
            let spans = near(&self.short_spans, range, |span| span.start);
            for span in self.long_spans.iter().chain(spans) {
                if let Some((start, end)) = within(span.start, span.end, range, offset) {
                    taken.spans.push(Span {
                        start,
                        end,
                        style: span.style,
                        language: span.language.clone(),
                    });
                }
            }
            let links = near(&self.short_links, range, |link| link.start);
            for link in self.long_links.iter().chain(links) {
                if let Some((start, end)) = within(link.start, link.end, range, offset) {
                    taken.links.push(Link {
                        start,
                        end,
                        href: Rc::clone(&link.href),
                        found: link.found,
                    });
                }
            }
        }
        taken.merge();
        taken
    }
}

/// Returns the short marks that may lie in a range.
fn near<'b, T>(
    marks: &'b [&'b T],
    range: &Range<usize>,
    start: impl Fn(&T) -> usize,
) -> &'b [&'b T] {
    let from = marks.partition_point(|mark| start(mark) + LONG < range.start);
    let to = marks.partition_point(|mark| start(mark) < range.end);
    marks.get(from..to).unwrap_or_default()
}

fn within(start: usize, end: usize, range: &Range<usize>, offset: usize) -> Option<(usize, usize)> {
    let (start, end) = (start.max(range.start), end.min(range.end));
    (start < end).then(|| (start - range.start + offset, end - range.start + offset))
}
