//! Which files are memory.

use chitin_contract::MemoryFileRules;
use chitin_guard::{ReadPolicy, Root};
use chitin_memory::files::{ExtraPath, Omission, list};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use tempfile::TempDir;

fn workspace(files: &[&str]) -> (TempDir, Root) {
    let directory = TempDir::new().unwrap();
    for file in files {
        let path = directory.path().join("ws").join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, file).unwrap();
    }
    let root = Root::open(&directory.path().join("ws")).unwrap();
    (directory, root)
}

fn paths(root: &Root, extra: &[&str], rules: &MemoryFileRules) -> Vec<String> {
    let extra = ExtraPath::find(root, extra);
    list(root, &extra, rules)
        .files
        .into_iter()
        .map(|file| file.path)
        .collect()
}

#[test]
fn each_release_has_its_own_files_in_the_workspace() {
    let (_directory, root) = workspace(&[
        "MEMORY.md",
        "memory.md",
        "USER.md",
        "AGENTS.md",
        "memory/a.md",
    ]);
    assert_eq!(
        paths(&root, &["memory.md"], &MemoryFileRules::OPENCLAW_2026_4),
        ["MEMORY.md", "memory/a.md"]
    );
    assert_eq!(
        paths(&root, &[], &MemoryFileRules::OPENCLAW_2026_9),
        ["MEMORY.md", "USER.md", "memory/a.md"]
    );
    assert_eq!(
        paths(&root, &[], &MemoryFileRules::CANONICAL),
        ["MEMORY.md", "memory.md", "memory/a.md"]
    );
}

#[test]
fn two_names_of_one_file_are_one_memory() {
    let (directory, root) = workspace(&["MEMORY.md"]);
    let at = |name: &str| directory.path().join("ws").join(name);
    fs::hard_link(at("MEMORY.md"), at("memory.md")).unwrap();
    assert_eq!(
        paths(&root, &[], &MemoryFileRules::CANONICAL),
        ["MEMORY.md"]
    );
}

#[test]
fn all_markdown_below_the_directory_is_memory_but_not_what_is_under_repair() {
    let (_directory, root) = workspace(&[
        "memory/b.md",
        "memory/.hidden/deep/a.md",
        "memory/UP.MD",
        "memory/t.txt",
        "memory/.openclaw-repair/x.md",
    ]);
    assert_eq!(
        paths(&root, &[], &MemoryFileRules::OPENCLAW_2026_4),
        ["memory/b.md", "memory/.hidden/deep/a.md"]
    );
}

#[test]
fn links_are_left_out_and_that_is_told() {
    let (directory, root) = workspace(&["memory/a.md", "other/b.md"]);
    symlink("a.md", directory.path().join("ws/memory/link.md")).unwrap();
    symlink("../other", directory.path().join("ws/memory/way")).unwrap();
    let listing = list(&root, &[], &MemoryFileRules::CANONICAL);
    assert_eq!(listing.files.len(), 1);
    let left: Vec<_> = listing
        .left_out
        .iter()
        .map(|left| (left.path.as_str(), left.why))
        .collect();
    assert_eq!(
        left,
        [
            ("memory/link.md", Omission::Link),
            ("memory/way", Omission::Link)
        ]
    );
}

#[test]
fn what_is_too_deep_is_left_out_and_that_is_told() {
    let deep = format!("memory/{}x.md", "d/".repeat(40));
    let (_directory, root) = workspace(&[&deep]);
    let listing = list(&root, &[], &MemoryFileRules::CANONICAL);
    assert!(listing.files.is_empty());
    assert_eq!(
        (listing.left_out_count, listing.left_out[0].why),
        (1, Omission::TooDeep)
    );
}

#[test]
fn extra_paths_add_files_and_directories_each_once() {
    let (directory, root) = workspace(&[
        "docs/a.md",
        "docs/sub/b.md",
        "docs/p.png",
        "notes/c.md",
        "memory/m.md",
    ]);
    fs::create_dir(directory.path().join("out")).unwrap();
    fs::write(directory.path().join("out/o.md"), "outside").unwrap();
    let outside = directory.path().join("out");
    let extra = [
        "docs",
        " docs/sub ",
        "notes/c.md",
        "docs/p.png",
        "memory",
        "nowhere",
        outside.to_str().unwrap(),
    ];
    assert_eq!(
        paths(&root, &extra, &MemoryFileRules::OPENCLAW_2026_4),
        [
            "memory/m.md",
            "docs/a.md",
            "docs/sub/b.md",
            "notes/c.md",
            "../out/o.md"
        ]
    );
}

#[test]
fn every_file_that_is_listed_can_be_read() {
    let (directory, root) = workspace(&["MEMORY.md", "memory/a.md", "docs/b.md"]);
    fs::write(directory.path().join("o.md"), "outside").unwrap();
    let extra = ExtraPath::find(&root, &["docs/b.md", "../o.md"]);
    let texts: Vec<_> = list(&root, &extra, &MemoryFileRules::CANONICAL)
        .files
        .iter()
        .map(|file| {
            let read = file.read(&root, &ReadPolicy::inside(1_000)).unwrap();
            assert_eq!(file.size, read.bytes.len() as u64);
            String::from_utf8(read.bytes).unwrap()
        })
        .collect();
    assert_eq!(texts, ["MEMORY.md", "memory/a.md", "docs/b.md", "outside"]);
}

#[test]
fn a_workspace_without_memory_has_none() {
    let (_directory, root) = workspace(&["AGENTS.md"]);
    let listing = list(&root, &[], &MemoryFileRules::CANONICAL);
    assert!(listing.files.is_empty() && listing.left_out.is_empty());
    assert!(
        ExtraPath::find(
            &root,
            &[
                "",
                "  ",
                Path::new("/").join("no such place").to_str().unwrap()
            ]
        )
        .is_empty()
    );
}
