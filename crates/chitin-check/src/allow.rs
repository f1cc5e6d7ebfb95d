//! Comments that let a finding pass: `<!-- chitin: allow CH601 reason -->`.

use super::finding::{Draft, Findings};
use super::lines::Lines;
use super::rules;
use super::subject::Subject;
use std::ops::Range;

const MARK: &[u8] = b"chitin: allow ";

/// A comment that lets codes pass on its own line and the next.
#[derive(Debug)]
pub(crate) struct Allow {
    /// The one-based line of the comment.
    pub(crate) line: usize,
    pub(crate) codes: Vec<String>,
    pub(crate) reason: String,
    /// The bytes of the codes.
    span: Range<usize>,
}

/// Finds the comments of a text. Markdown comments count, and `#` or `//` in other files.
pub(crate) fn find(text: &str, lines: &Lines) -> Vec<Allow> {
    memchr::memmem::find_iter(text.as_bytes(), MARK)
        .filter_map(|at| {
            let number = lines.of(at);
            let range = lines.range(number);
            let before = &text[range.start..at];
            let opens = ["<!--", "#", "//"]
                .iter()
                .any(|opening| before.trim_end().ends_with(opening));
            if !opens {
                return None;
            }
            let start = at + MARK.len();
            let rest = text[start..range.end].trim_end();
            let rest = rest.split("-->").next().unwrap_or(rest);
            let start = start + (rest.len() - rest.trim_start().len());
            let mut words = rest.split_whitespace();
            let list = words.next()?;
            let codes: Vec<String> = list
                .split(',')
                .filter(|code| !code.is_empty())
                .map(str::to_owned)
                .collect();
            Some(Allow {
                line: number + 1,
                span: start..start + list.len(),
                codes,
                reason: words.collect::<Vec<_>>().join(" "),
            })
        })
        .collect()
}

/// Reports comments that name codes which do not exist.
pub(crate) fn check(subject: &Subject<'_>, findings: &mut Findings) {
    for allow in &subject.allows {
        if allow.codes.iter().any(|code| rules::rule(code).is_none()) {
            let quoted = subject.excerpt(allow.span.clone());
            let message = format!("There is no rule `{quoted}`.");
            findings.at(
                subject,
                allow.span.clone(),
                Draft::new(&rules::UNKNOWN_ALLOW, message),
            );
        }
    }
}
