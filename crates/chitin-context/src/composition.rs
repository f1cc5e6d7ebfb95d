//! The bridge's layout: titled sections without paths (B4, B10).

use crate::body::Body;
use crate::budget::ContextFile;
use crate::fragment::{CacheClass, Fragment};
use crate::render::{Blocks, file_fragment};
use chitin_workspace::adapter::{self, is_white_space};

/// Tells whether a file says nothing, as the bridge sees it.
pub(crate) fn is_blank(file: &ContextFile) -> bool {
    file.body
        .pieces
        .iter()
        .all(|piece| piece.text.as_str().chars().all(is_white_space))
}

/// Composes files in the order in which they were loaded: the four of the definition, then what extends it. None of
/// them is blank.
pub(crate) fn compose(files: &[&ContextFile]) -> Blocks {
    let mut fragments: Vec<Fragment> = Vec::new();
    for (at, file) in files.iter().enumerate() {
        let text = file.body.text();
        // The definition's own texts lose control characters and spaces at their edges, those added to it all white space.
        let (title, is_edge): (_, fn(char) -> bool) = match titled(file) {
            Titled::Own(title) => (title.to_owned(), |c| c <= ' '),
            Titled::Added(title) => (title, is_white_space),
        };
        let start = text.len() - text.trim_start_matches(is_edge).len();
        let end = text.trim_end_matches(is_edge).len().max(start);
        let body = file.body.keeping(std::slice::from_ref(&(start..end)));
        let fragment = placed(file, title, &body, at + 1 == files.len());
        fragments.push(if fragments.is_empty() {
            fragment
        } else {
            fragment.led_by("\n\n")
        });
    }
    Blocks {
        stable: fragments,
        dynamic: Vec::new(),
    }
}

enum Titled {
    Own(&'static str),
    Added(String),
}

fn titled(file: &ContextFile) -> Titled {
    if let Some(title) = adapter::title_of(&file.name) {
        return Titled::Own(title);
    }
    match &*file.name {
        "SKILLS.md" => Titled::Added("Skills".to_owned()),
        "SKILL.md" => {
            let folder = file.path.rsplit('/').nth(1).unwrap_or_default();
            Titled::Added(format!("Skill: {folder}"))
        }
        other => Titled::Added(other.to_owned()),
    }
}

fn placed(file: &ContextFile, title: String, body: &Body, is_last: bool) -> Fragment {
    // The composition as a whole is trimmed too, which shows when nothing is left of its last text.
    let nothing_follows = is_last && body.is_empty();
    let between = if nothing_follows { "" } else { "\n\n" };
    file_fragment(file, CacheClass::Stable, title.into(), between, body)
}
