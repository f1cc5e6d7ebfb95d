//! The bridge's layout: titled sections without paths (B4, B10).

use crate::body::Body;
use crate::budget::ContextFile;
use crate::fragment::{CacheClass, Fragment, Origin, Piece, Role, Size};
use crate::render::Blocks;
use std::sync::Arc;

/// Composes files in the order in which they were loaded: the four of the definition, then what extends it.
pub(crate) fn compose(files: &[ContextFile]) -> Blocks {
    let mut fragments: Vec<Fragment> = Vec::new();
    for file in files {
        let text = file.body.text();
        if text.chars().all(char::is_whitespace) {
            continue;
        }
        // The definition's own texts lose control characters and spaces at their edges, those added to it all white space.
        let (title, is_edge): (_, fn(char) -> bool) = match titled(file) {
            Titled::Own(title) => (title.to_owned(), |c| c <= ' '),
            Titled::Added(title) => (title, char::is_whitespace),
        };
        let start = text.len() - text.trim_start_matches(is_edge).len();
        let end = text.trim_end_matches(is_edge).len();
        let body = file.body.keeping(&[start..end]);
        let fragment = placed(file, title, &body);
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

fn placed(file: &ContextFile, title: String, body: &Body) -> Fragment {
    let title: Arc<str> = title.into();
    let heading = Size::of(&title) + Size { units: 5, bytes: 5 };
    let mut pieces = vec![Piece::ours("## "), Piece::made(title), Piece::ours("\n\n")];
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
