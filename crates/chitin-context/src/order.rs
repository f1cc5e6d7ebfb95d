//! The order of files in the prompt, which is not the order in which they are loaded (W33, CN8).

use crate::budget::ContextFile;
use chitin_contract::{PromptOrder, Rendering};
use chitin_workspace::skills::Names;
use std::cell::LazyCell;
use std::cmp::Ordering;
use std::ops::Deref;

/// Returns the last component of a path. `\` counts as `/`.
fn last_component(path: &str) -> &str {
    let start = memchr::memrchr2(b'/', b'\\', path.as_bytes()).map_or(0, |at| at + 1);
    path[start..].trim()
}

/// Tells whether a path ends in a name, whose case does not matter. The name is given in lower case.
pub(crate) fn ends_in(path: &str, name: &str) -> bool {
    last_component(path).eq_ignore_ascii_case(name)
}

/// The name whose files may keep their order among themselves, in lower case.
const USER: &str = "user.md";

/// The names that have a place in the prompt, in their order; others come last.
const PLACES: [&str; 7] = [
    "agents.md",
    "soul.md",
    "identity.md",
    "user.md",
    "tools.md",
    "bootstrap.md",
    "memory.md",
];

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
            keyed.sort_by(|(left, left_file), (right, right_file)| {
                left.cmp(right)
                    .then_with(|| tie(left_file, right_file, rendering, &names))
            });
            keyed.into_iter().map(|(_, file)| file).collect()
        }
    }
}

/// What two files are compared by before their names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    extra: bool,
    place: usize,
}

fn key(file: &ContextFile, rendering: &Rendering) -> Key {
    let extra = rendering.extras_last && file.extra;
    let place = PLACES.iter().position(|name| ends_in(&file.heading, name));
    Key {
        extra,
        // Among files from below the root only names and paths count.
        place: if extra {
            0
        } else {
            place.unwrap_or(PLACES.len())
        },
    }
}

/// Compares two files that have the same place.
fn tie(
    left: &ContextFile,
    right: &ContextFile,
    rendering: &Rendering,
    names: &impl Deref<Target = Names>,
) -> Ordering {
    let [left, right] = [left, right].map(|file| &*file.heading);
    if rendering.user_files_keep_order && ends_in(left, USER) && ends_in(right, USER) {
        return Ordering::Equal;
    }
    let base = |heading| last_component(heading).to_lowercase();
    let path = |heading: &str| heading.replace('\\', "/");
    names
        .compare(&base(left), &base(right))
        .then_with(|| names.compare(&path(left), &path(right)))
}
