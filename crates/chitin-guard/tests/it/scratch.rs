//! Scratch directories: private, never a way out, gone when dropped, and taken over only when nobody uses them.
#![expect(clippy::disallowed_methods, reason = "trees are looked at by hand")]

use chitin_guard::{Root, WriteError, WriteOutcome};
use chitin_test::TestEnv;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn cache(env: &TestEnv) -> Root {
    Root::open(&env.directory_at("home/cache")).unwrap()
}

#[test]
fn a_scratch_directory_is_private_and_leaves_nothing() {
    let env = TestEnv::new();
    env.file("home/keep/me.md", "still here");
    let cache = cache(&env);
    let scratch = cache.make_scratch(Path::new("one")).unwrap().unwrap();
    let path = scratch.root().path().to_path_buf();
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o700
    );
    assert!(cache.make_scratch(Path::new("one")).unwrap().is_none());

    let file = Path::new("a/b/c.md");
    scratch.directory(Path::new("a/b")).unwrap();
    assert_eq!(scratch.file(file, b"text").unwrap(), WriteOutcome::Created);
    assert_eq!(
        scratch.file(file, b"other").unwrap(),
        WriteOutcome::AlreadyThere
    );
    let out = env.home().join("keep");
    let link = Path::new("a/out");
    assert_eq!(scratch.link(link, &out).unwrap(), WriteOutcome::Created);
    assert_eq!(
        scratch.link(link, file).unwrap(),
        WriteOutcome::AlreadyThere
    );
    assert_eq!(fs::read_to_string(path.join(file)).unwrap(), "text");
    assert_eq!(fs::read_link(path.join(link)).unwrap(), out);

    drop(scratch);
    assert!(!path.exists());
    assert_eq!(env.read("home/keep/me.md"), "still here");
}

#[test]
fn nothing_is_written_through_a_link_or_out_of_a_scratch_directory() {
    let env = TestEnv::new();
    let cache = cache(&env);
    let scratch = cache.make_scratch(Path::new("one")).unwrap().unwrap();
    scratch.link(Path::new("out"), &env.workspace()).unwrap();
    for path in ["out/x.md", "../x.md", "/x.md", "a/../../x.md"] {
        let path = Path::new(path);
        let results = [
            scratch.file(path, b"x").map(drop),
            scratch.link(path, path).map(drop),
        ];
        for result in results {
            assert!(
                matches!(result, Err(WriteError::NotBeneath { .. })),
                "{path:?}: {result:?}"
            );
        }
    }
    assert_eq!(fs::read_dir(env.workspace()).unwrap().count(), 0);
}

#[test]
fn only_an_abandoned_private_directory_of_ours_is_taken_over() {
    let env = TestEnv::new();
    let cache = cache(&env);
    let used = cache.make_scratch(Path::new("used")).unwrap().unwrap();
    env.file("home/cache/open/x.md", "x");
    env.file("home/cache/left/deep/x.md", "x");
    env.file("home/cache/file", "x");
    env.link("home/cache/link", env.home().join("cache/left"));
    let mode = |name: &str, mode| {
        let path = env.home().join("cache").join(name);
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    mode("open", 0o755);
    mode("left", 0o700);

    for name in [
        "used",
        "open",
        "file",
        "link",
        "gone",
        "..",
        "../cache/left",
    ] {
        let taken = cache.take_abandoned_scratch(Path::new(name));
        assert!(taken.is_none(), "{name}");
    }
    assert!(env.home().join("cache/left/deep/x.md").exists());
    drop(cache.take_abandoned_scratch(Path::new("left")).unwrap());
    assert!(!env.home().join("cache/left").exists());
    assert!(env.home().join("cache/open/x.md").exists());
    assert!(used.root().path().exists());
}
