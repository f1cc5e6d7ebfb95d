//! The door to the disk: a random tree, every policy, both backends.

use crate::recipe::Recipe;
use crate::tree::{Words, plant, write_in};
use crate::{novelty, scratch};
use chitin_guard::{Backend, Hardlinks, LinkPolicy, Oversized, ReadError, ReadPolicy, Root};
use std::path::{Path, PathBuf};

/// Recipes are bytes, so there are no words.
pub const DICTIONARY: &[&str] = &["\x07\0\0\x01", "\x08\0\0\x02", "\x0a", "\x0b", "\x04\0"];

const SECRET: &[u8] = b"SECRET";
const INSIDE: &[u8] = b"inside \xf0\x9f\xa6\x80";
const NAMES: &[&str] = &["a", "b", "c", "d", "AGENTS.md"];
const TARGETS: &[&str] = &[
    "..",
    ".",
    "/",
    "../..",
    "../outside",
    "../outside/secret.md",
    "../trusted",
    "../trusted/a",
    "../workspace",
    "../workspace/a",
    "{BASE}/outside",
    "{BASE}/outside/secret.md",
    "{BASE}/workspace",
    "{BASE}/workspace/b",
    "{BASE}/trusted",
    "{BASE}/./outside/../workspace",
    "/proc/self/root",
    "/proc/self/cwd",
    "/dev/null",
    "a/",
    "b/.",
    "",
    "nothing",
];
const PARTS: &[&str] = &[
    "a",
    "b",
    "c",
    "d",
    "AGENTS.md",
    "..",
    ".",
    "",
    "outside",
    "secret.md",
    "nothing",
];

/// Plants a tree and reads names in it.
pub fn run(data: &[u8]) {
    let base = scratch::fresh("path_guard");
    let secret = write_in(&base, "outside/secret.md", SECRET);
    let twin = write_in(&base, "outside/a", SECRET);
    write_in(&base, "trusted/a", b"trusted");
    write_in(&base, "trusted/b", b"trusted");
    let workspace = base.join("workspace");
    let inner = write_in(&workspace, "inner.md", INSIDE);
    let trusted = base.join("trusted");

    let mut recipe = Recipe::new(data);
    let asked: Vec<PathBuf> = names(&mut recipe, &base);
    let bound = if recipe.byte().is_multiple_of(2) {
        1024
    } else {
        8
    };
    let words = Words {
        names: NAMES,
        targets: TARGETS,
        contents: &[INSIDE, b"", b"inside"],
        twins: &[&secret, &inner, &twin],
    };
    let second_names = plant(&mut recipe, &base, &workspace, &words);

    let roots = [Backend::Kernel, Backend::Portable]
        .map(|backend| Root::open_with(&workspace, backend).expect("the root is there"));
    let policies = [
        LinkPolicy::EveryHopInside,
        LinkPolicy::EndInside,
        LinkPolicy::NotTheFile,
        LinkPolicy::Refuse,
        LinkPolicy::TrustedRoots(vec![trusted.clone()]),
        LinkPolicy::Anywhere,
    ];
    for name in &asked {
        for links in &policies {
            check_reads(&roots, name, links, bound, second_names > 0);
            check_looks(&roots, name, links, &workspace, &trusted);
        }
        let [kernel, portable] = roots.each_ref().map(|root| {
            let tail = root.read_tail(name, 4).map_err(|error| kind_of(&error));
            (root.kind(name), root.permissions(name), tail)
        });
        assert_eq!(kernel, portable, "{}", name.display());
    }
}

/// Some names that are always asked for, and some of the recipe's.
fn names(recipe: &mut Recipe<'_>, base: &Path) -> Vec<PathBuf> {
    let mut names: Vec<PathBuf> = ["a", "b", "AGENTS.md", "a/b", "../outside/secret.md"]
        .iter()
        .map(PathBuf::from)
        .collect();
    for _ in 0..4 {
        let name = recipe.path(PARTS);
        names.push(match recipe.byte() % 16 {
            15 => base.join(name),
            14 => PathBuf::from(name.repeat(80)),
            13 => PathBuf::from("a\0b"),
            _ => PathBuf::from(name),
        });
    }
    names
}

fn check_reads(roots: &[Root; 2], name: &Path, links: &LinkPolicy, bound: u64, second_names: bool) {
    for hardlinks in [Hardlinks::Refuse, Hardlinks::Allow] {
        for oversized in [Oversized::Refuse, Oversized::Keep] {
            let policy = ReadPolicy {
                links: links.clone(),
                hardlinks,
                max_bytes: bound,
                oversized,
            };
            let [kernel, portable] = roots.each_ref().map(|root| {
                root.read(name, &policy)
                    .map(|read| (read.bytes, read.fingerprint, read.linked_to))
                    .map_err(|error| kind_of(&error))
            });
            assert_eq!(kernel, portable, "{} by {policy:?}", name.display());
            match &kernel {
                Ok((bytes, _, linked_to)) => {
                    novelty::note((bytes.len(), linked_to.is_some()));
                    let may_leak = *links == LinkPolicy::Anywhere
                        || (hardlinks == Hardlinks::Allow && second_names);
                    assert!(
                        may_leak || !bytes.windows(SECRET.len()).any(|part| part == SECRET),
                        "{} by {policy:?} reads a file outside",
                        name.display()
                    );
                    assert!(bytes.len() as u64 <= bound, "more than was asked for");
                }
                Err(kind) => novelty::note(kind),
            }
        }
    }
}

fn check_looks(
    roots: &[Root; 2],
    name: &Path,
    links: &LinkPolicy,
    workspace: &Path,
    trusted: &Path,
) {
    let [kernel, portable] = roots.each_ref().map(|root| {
        let mut listed: Result<Vec<_>, _> = root
            .list(name, links, 100)
            .map(|entries| entries.into_iter().map(|e| (e.name, e.kind)).collect())
            .map_err(|error| kind_of(&error));
        if let Ok(entries) = &mut listed {
            entries.sort();
        }
        let end = root.walk(name, links).map_err(|error| kind_of(&error));
        (listed, end)
    });
    assert_eq!(kernel, portable, "{} by {links:?}", name.display());
    let (listed, end) = kernel;
    if let Ok(end) = end {
        let inside = end.path.starts_with(workspace)
            || matches!(links, LinkPolicy::TrustedRoots(_)) && end.path.starts_with(trusted);
        assert!(
            inside || *links == LinkPolicy::Anywhere,
            "{} by {links:?} ends at {}",
            name.display(),
            end.path.display()
        );
    }
    if let Ok(entries) = listed {
        assert!(
            !entries.iter().any(|(name, _)| name == "secret.md"),
            "{} by {links:?} lists a directory outside",
            name.display()
        );
    }
}

/// Returns what kind of failure it is, without the words.
fn kind_of(error: &ReadError) -> String {
    match error {
        ReadError::Missing { .. } => "missing".to_owned(),
        ReadError::Refused { reason, .. } => reason.to_string(),
        ReadError::Io { source, .. } => format!("{source}"),
    }
}
