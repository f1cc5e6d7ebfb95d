//! The bridge's layout: titled sections without paths (B4, B10).

use crate::body::Body;
use crate::budget::ContextFile;
use crate::fragment::{CacheClass, Fragment, Origin, Piece, Role, Size};
use crate::render::Blocks;
use chitin_workspace::adapter::is_white_space;
use std::sync::Arc;

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
    match &*file.name {
        "IDENTITY.md" => Titled::Own("Identity"),
        "SOUL.md" => Titled::Own("Persona"),
        "USER.md" => Titled::Own("User"),
        "AGENTS.md" => Titled::Own("Operating rules"),
        "SKILLS.md" => Titled::Added("Skills".to_owned()),
        "SKILL.md" => {
            let folder = file.path.rsplit('/').nth(1).unwrap_or_default();
            Titled::Added(format!("Skill: {folder}"))
        }
        other => Titled::Added(other.to_owned()),
    }
}

fn placed(file: &ContextFile, title: String, body: &Body, is_last: bool) -> Fragment {
    let title: Arc<str> = title.into();
    let mut heading = Size::of("## ") + Size::of(&title);
    let mut pieces = vec![Piece::ours("## "), Piece::made(title)];
    // The composition as a whole is trimmed too, which shows when nothing is left of its last text.
    if !(is_last && body.is_empty()) {
        heading = heading + Size::of("\n\n");
        pieces.push(Piece::ours("\n\n"));
    }
    pieces.extend(body.pieces.iter().cloned());
    Fragment {
        origin: Origin::File {
            name: file.name.clone(),
            path: file.path.clone(),
            extra: file.extra,
        },
        role: Role::System,
        cache: CacheClass::Stable,
        lead: "",
        pieces: pieces.into(),
        raw: file.raw,
        injected: heading + body.size(),
        decision: file.decision.clone(),
    }
}
