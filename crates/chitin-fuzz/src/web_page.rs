//! Pages of the web as text, and bytes of any program as something that a terminal and a model may be shown.

use crate::novelty;
use chitin_tools::output::{Bounded, Cleaner, Controls, OutputLimits, clean};
use chitin_tools::web_fetch::page_text;
use reqwest::Url;

/// What pages are made of.
pub const DICTIONARY: &[&str] = &[
    "<html>",
    "<head>",
    "<title>",
    "</title>",
    "<body ",
    "<p>",
    "<a href=\"",
    "\">",
    "</a>",
    "<pre>",
    "</pre>",
    "<code>",
    "</code>",
    "<li>",
    "<ul>",
    "<td>",
    "<tr>",
    "<h1>",
    "<h6>",
    "<img alt=\"",
    "<script>",
    "</script>",
    "<style>",
    "<svg>",
    "<template>",
    "<!--",
    "-->",
    "<!",
    "<?",
    "]]>",
    "<![CDATA[",
    "hidden",
    "aria-hidden=true",
    "style=\"display:none\"",
    "&amp;",
    "&#",
    "&#x",
    ";",
    "&nbsp;",
    "&lt;",
    "\u{0}",
    "\u{1b}[",
    "\u{1b}]8;;",
    "\u{7}",
    "\u{9b}",
    "\u{202e}",
    "https://",
    "//",
    "'",
    "\"",
    "/>",
    "</",
];

/// No page becomes longer than this, whatever it says.
const LIMIT: usize = 4096;

/// Converts a page, and cleans the bytes.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let base = Url::parse("https://pages.example/a/b?c").ok();
    for base in [base.as_ref(), None] {
        let page = page_text(&text, base, LIMIT);
        // What is written last may go beyond the limit, but it was in the page.
        assert!(
            page.text.len() <= LIMIT + 8 * text.len() + 1024,
            "a page became longer"
        );
        assert_eq!(
            page.text,
            page_text(&text, base, LIMIT).text,
            "the same page, two texts"
        );
        novelty::note((page.title.is_some(), page.text.len().min(64)));
    }
    cleaned(data);
    bounded(&text, data.first().copied().unwrap_or_default());
}

fn cleaned(data: &[u8]) {
    let whole = clean(data, Controls::Strip);
    let is_odd = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    assert!(!whole.contains(is_odd), "a control character is left");
    for at in [
        1,
        data.len() / 3,
        data.len() / 2,
        data.len().saturating_sub(1),
    ] {
        let (first, second) = data.split_at(at.min(data.len()));
        let mut cleaner = Cleaner::new(Controls::Strip);
        let mut text = cleaner.push(first);
        text.push_str(&cleaner.push(second));
        text.push_str(&cleaner.finish());
        assert_eq!(text, whole, "what is shown depends on how the bytes came");
    }
}

fn bounded(text: &str, first: u8) {
    let limits = OutputLimits {
        head_percent: first % 101,
        ..OutputLimits::bytes(200 + usize::from(first)).lines(5 + usize::from(first % 16))
    };
    let mut bounded = Bounded::new(limits);
    let middle = (0..=text.len() / 2)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or_default();
    bounded.push(&text[..middle]);
    bounded.push(&text[middle..]);
    let bounded = bounded.finish();
    assert!(bounded.text.len() <= limits.max_bytes, "too many bytes");
    assert!(
        bounded.text.lines().count() <= limits.max_lines,
        "too many lines"
    );
    assert_eq!(
        bounded.total_bytes,
        text.len() as u64,
        "bytes are miscounted"
    );
    novelty::note(bounded.left_out > 0);
}
