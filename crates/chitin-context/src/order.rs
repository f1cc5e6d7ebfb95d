//! The order of files in the prompt, which is not the order in which they are loaded (W33, CN8).

use crate::budget::ContextFile;
use chitin_workspace::contract::{PromptOrder, Rendering};
use chitin_workspace::skills::Names;
use std::cell::LazyCell;
use std::cmp::Ordering;
use std::ops::Deref;

/// Returns the last component of a path, in lower case. `\` counts as `/`.
pub(crate) fn base_name(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.trim().to_lowercase()
}

/// The place of a name in the prompt; unknown names come last.
fn place(base: &str) -> u8 {
    match base {
        "agents.md" => 10,
        "soul.md" => 20,
        "identity.md" => 30,
        "user.md" => 40,
        "tools.md" => 50,
        "bootstrap.md" => 60,
        "memory.md" => 70,
        _ => u8::MAX,
    }
}

/// Puts files into the order of the prompt.
pub(crate) fn sort<'a>(files: Vec<&'a ContextFile>, rendering: &Rendering) -> Vec<&'a ContextFile> {
    match rendering.order {
        PromptOrder::Loaded => files,
        PromptOrder::ByName => {
            // Names rarely tie, and the dictionary that settles it takes a while to open.
            let names = LazyCell::new(|| Names::new(rendering.ties));
            let mut keyed: Vec<(Key, &ContextFile)> = files
                .into_iter()
                .map(|file| (key(file, rendering), file))
                .collect();
            keyed.sort_by(|(left, _), (right, _)| compare(left, right, rendering, &names));
            keyed.into_iter().map(|(_, file)| file).collect()
        }
    }
}

/// What two files are compared by.
struct Key {
    extra: bool,
    place: u8,
    base: String,
    path: String,
}

fn key(file: &ContextFile, rendering: &Rendering) -> Key {
    let base = base_name(&file.heading);
    let extra = rendering.extras_last && file.extra;
    Key {
        extra,
        // Among files from below the root only names and paths count.
        place: if extra { 0 } else { place(&base) },
        base,
        path: file.heading.replace('\\', "/"),
    }
}

fn compare(
    left: &Key,
    right: &Key,
    rendering: &Rendering,
    names: &impl Deref<Target = Names>,
) -> Ordering {
    let first = left
        .extra
        .cmp(&right.extra)
        .then_with(|| left.place.cmp(&right.place));
    if first != Ordering::Equal {
        return first;
    }
    if rendering.user_files_keep_order && left.base == "user.md" && right.base == "user.md" {
        return Ordering::Equal;
    }
    names
        .compare(&left.base, &right.base)
        .then_with(|| names.compare(&left.path, &right.path))
}
