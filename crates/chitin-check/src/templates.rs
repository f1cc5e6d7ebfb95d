//! Text that nobody has edited yet.

use super::finding::{Draft, Findings};
use super::phrases::Meaning;
use super::rules;
use super::subject::{FileRole, Subject, floor_boundary};
use chitin_protocol::text::trim_js;

/// Nobody leaves a placeholder further into a line.
const MAX_FIELD: usize = 200;

/// Reports a file that is still its template, or placeholders that are left in it.
pub(crate) fn check(subject: &Subject<'_>, templates: &[(&str, &str)], findings: &mut Findings) {
    if subject.role != FileRole::Bootstrap {
        return;
    }
    let text = trim_js(subject.text);
    let unedited = templates
        .iter()
        .any(|(name, template)| *name == subject.path && trim_js(template) == text);
    if unedited && !text.is_empty() {
        let message = format!("`{}` is the template, unedited.", subject.path);
        findings.whole(subject, Draft::new(&rules::UNEDITED_TEMPLATE, message));
        return;
    }
    let mut last_line = None;
    for hit in &subject.hits {
        let found = match hit.meaning {
            Meaning::FillIn => is_placeholder(subject, hit.span.start),
            Meaning::Todo => is_open_task(subject, hit.span.start, hit.span.end),
            Meaning::Override
            | Meaning::Conceal
            | Meaning::Order
            | Meaning::AutoRead
            | Meaning::ProtectionOff
            | Meaning::Fetch
            | Meaning::Decode
            | Meaning::RunText
            | Meaning::Paste
            | Meaning::Password
            | Meaning::Sign(_) => false,
        };
        let number = subject.lines.of(hit.span.start);
        if found && last_line != Some(number) && !subject.code.is_code(hit.span.start) {
            last_line = Some(number);
            let quoted = subject.excerpt(subject.lines.range(number));
            let message = format!("Found a placeholder: `{quoted}`.");
            findings.at(
                subject,
                hit.span.clone(),
                Draft::new(&rules::PLACEHOLDER, message),
            );
        }
    }
}

fn is_placeholder(subject: &Subject<'_>, at: usize) -> bool {
    let rest = &subject.lower[at..];
    // `_(something)_` is how templates mark a blank; it stands at the end of its line.
    if let Some(inner) = rest.strip_prefix("_(") {
        let inner = &inner[..floor_boundary(inner, inner.len().min(200))];
        let line = inner.split('\n').next().unwrap_or(inner).trim_end();
        return line.ends_with(")_");
    }
    // Without a bracket the words may be part of a sentence: they must fill the value of their line.
    if rest.starts_with("pick something") {
        let before = subject.lower[..at].trim_end_matches(['_', '*', '(', ' ']);
        return before.ends_with([':', '\n']) || before.is_empty();
    }
    // Inside `_(…)_` the blank has been reported already.
    !subject.lower[..at].ends_with('_')
}

/// A mark for work left stands alone, before a colon, or at the end of a field; `keep a TODO list` is none.
fn is_open_task(subject: &Subject<'_>, start: usize, end: usize) -> bool {
    if &subject.text[start..end] != "TODO" {
        return false;
    }
    let line = subject.lines.range(subject.lines.of(start));
    if start - line.start > MAX_FIELD {
        return false;
    }
    let before = subject.text[line.start..start].trim_end();
    let after_end = floor_boundary(subject.text, line.end.min(end + MAX_FIELD));
    let after = subject.text[end..after_end].trim();
    let opens_line = before
        .trim_start_matches([' ', '-', '*', '+', '>', '[', ']', '(', '<', '!'])
        .is_empty();
    let ends_field = before
        .trim_end_matches(['*', '_', '[', '<', '('])
        .trim_end()
        .ends_with(':');
    let marked = after.is_empty()
        || after.starts_with(':')
        || after.starts_with(']')
        || after.starts_with('>')
        || after.starts_with(')');
    (opens_line && marked && !before.starts_with('#')) || (ends_field && marked)
}
