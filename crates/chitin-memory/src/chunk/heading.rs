//! Which headings stand above a line.

use std::rc::Rc;

/// No title counts for more than this many characters.
const LONGEST_TITLE: usize = 120;

/// The headings above the current line.
#[derive(Debug, Default)]
pub(super) struct Headings {
    /// Level and title, outermost first.
    open: Vec<(usize, String)>,
    /// The titles as one text.
    path: Option<Rc<str>>,
    /// What closes the block of code that the line is in.
    fence: Option<&'static str>,
}

impl Headings {
    /// Takes in a line and returns the headings that it stands under, itself included.
    pub(super) fn above(&mut self, line: &str) -> Option<Rc<str>> {
        match self.fence {
            Some(fence) if line.trim_start().starts_with(fence) => self.fence = None,
            Some(_) => {}
            None => {
                let trimmed = line.trim_start();
                self.fence = ["```", "~~~"]
                    .into_iter()
                    .find(|fence| trimmed.starts_with(fence));
                if let Some((level, title)) = heading(line) {
                    self.enter(level, title);
                }
            }
        }
        self.path.clone()
    }

    fn enter(&mut self, level: usize, title: &str) {
        self.open.retain(|&(open, _)| open < level);
        let title: String = title.chars().take(LONGEST_TITLE).collect();
        if !title.is_empty() {
            self.open.push((level, title));
        }
        let titles: Vec<&str> = self.open.iter().map(|(_, title)| title.as_str()).collect();
        self.path = (!titles.is_empty()).then(|| titles.join(" > ").into());
    }
}

/// Returns the level and the title of a heading: one to six `#`, then white space or nothing.
pub(super) fn heading(line: &str) -> Option<(usize, &str)> {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    let is_heading = (1..=6).contains(&level)
        && rest
            .chars()
            .next()
            .is_none_or(chitin_protocol::text::is_js_whitespace);
    is_heading.then(|| (level, rest.trim().trim_end_matches('#').trim_end()))
}
