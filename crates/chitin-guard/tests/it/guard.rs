//! The door to the disk: nothing from outside comes through it, whatever the tree looks like.
#![expect(clippy::disallowed_methods, reason = "hostile trees are built by hand")]

use chitin_guard::{
    Backend, DirectoryEntryKind, Hardlinks, LinkPolicy, Oversized, ReadError, ReadPolicy, Root,
    WriteError, WriteOutcome,
};
use chitin_protocol::record::FileRefusal;
use chitin_test::TestEnv;
use proptest::prelude::*;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const SECRET: &str = "SECRET from outside";
const BACKENDS: [Backend; 2] = [Backend::Kernel, Backend::Portable];

fn read(root: &Root, name: &str, links: LinkPolicy) -> Result<String, String> {
    let policy = ReadPolicy {
        links,
        ..ReadPolicy::inside(1024)
    };
    match root.read(Path::new(name), &policy) {
        Ok(read) => Ok(String::from_utf8_lossy(&read.bytes).into_owned()),
        Err(ReadError::Refused { reason, .. }) => Err(reason.to_string()),
        Err(ReadError::Missing { .. }) => Err("missing".into()),
        Err(ReadError::Io { source, .. }) => Err(source.kind().to_string()),
    }
}

#[test]
fn every_trick_has_its_own_refusal() {
    let env = TestEnv::new();
    env.file("secret.md", SECRET);
    env.files([
        ("plain.md", "plain"),
        ("real/deep.md", "deep"),
        ("twin.md", "twin"),
    ]);
    env.link("workspace/inside.md", "plain.md");
    env.link("workspace/outside.md", "../secret.md");
    env.link("workspace/absolute.md", env.path().join("secret.md"));
    env.link("workspace/there-and-back.md", "../workspace/plain.md");
    env.link("workspace/dangling.md", "nothing.md");
    env.link("workspace/loop.md", "loop.md");
    env.link("workspace/dir", "real");
    env.link("workspace/up", "..");
    env.fifo("workspace/fifo.md");
    fs::hard_link(
        env.workspace().join("twin.md"),
        env.workspace().join("twin2.md"),
    )
    .unwrap();
    for backend in BACKENDS {
        let root = Root::open_with(&env.workspace(), backend).unwrap();
        let inside = |name: &str| read(&root, name, LinkPolicy::EveryHopInside);
        assert_eq!(inside("plain.md").as_deref(), Ok("plain"));
        assert_eq!(inside("inside.md").as_deref(), Ok("plain"));
        assert_eq!(inside("there-and-back.md").as_deref(), Ok("plain"));
        assert_eq!(inside("dir/deep.md").as_deref(), Ok("deep"));
        assert_eq!(inside("outside.md"), Err("outside-root".into()));
        assert_eq!(inside("absolute.md"), Err("outside-root".into()));
        assert_eq!(inside("up/secret.md"), Err("outside-root".into()));
        assert_eq!(inside("../secret.md"), Err("outside-root".into()));
        assert_eq!(inside("dangling.md"), Err("dangling".into()));
        assert_eq!(inside("loop.md"), Err("loop".into()));
        assert_eq!(inside("real"), Err("not-a-file".into()));
        assert_eq!(inside("fifo.md"), Err("not-a-file".into()));
        assert_eq!(inside("twin.md"), Err("hardlinked".into()));
        assert_eq!(inside("nothing.md"), Err("missing".into()));
        assert_eq!(
            read(&root, "inside.md", LinkPolicy::Refuse),
            Err("link-not-allowed".into())
        );
        assert_eq!(
            read(&root, "inside.md", LinkPolicy::NotTheFile),
            Err("link-not-allowed".into())
        );
        assert_eq!(
            read(&root, "dir/deep.md", LinkPolicy::NotTheFile).as_deref(),
            Ok("deep")
        );
    }
}

#[test]
fn a_shared_file_comes_through_a_trusted_root_and_nothing_else_does() {
    let env = TestEnv::new();
    env.file("shared/SOUL.md", "one soul for all");
    env.file("secret.md", SECRET);
    env.link("shared/escape.md", "../secret.md");
    env.link("workspace/SOUL.md", "../shared/SOUL.md");
    env.link("workspace/USER.md", "../shared/escape.md");
    env.link("workspace/TOOLS.md", "../secret.md");
    let trusted = || LinkPolicy::TrustedRoots(vec![env.path().join("shared")]);
    for backend in BACKENDS {
        let root = Root::open_with(&env.workspace(), backend).unwrap();
        assert_eq!(
            read(&root, "SOUL.md", trusted()).as_deref(),
            Ok("one soul for all")
        );
        assert_eq!(
            read(&root, "USER.md", trusted()),
            Err("outside-root".into())
        );
        assert_eq!(
            read(&root, "TOOLS.md", trusted()),
            Err("outside-root".into())
        );
        assert_eq!(
            read(&root, "SOUL.md", LinkPolicy::EveryHopInside),
            Err("outside-root".into())
        );
    }
}

#[test]
fn both_backends_list_directories_and_links_that_stay_inside() {
    let env = TestEnv::new();
    env.file("outside/secret.md", SECRET);
    env.files([("pkg/one.md", "1"), ("pkg/two.md", "2")]);
    env.link("workspace/inside", "pkg");
    env.link("workspace/escape", "../outside");
    for backend in BACKENDS {
        let root = Root::open_with(&env.workspace(), backend).unwrap();
        let list = |name: &str, links: &LinkPolicy| match root.list(Path::new(name), links, 10) {
            Ok(entries) => Ok(entries.len()),
            Err(ReadError::Refused { reason, .. }) => Err(reason.to_string()),
            Err(error) => Err(error.is_missing().to_string()),
        };
        let inside = &LinkPolicy::EveryHopInside;
        assert_eq!(list("", inside), Ok(3), "{backend:?}");
        assert_eq!(list("pkg", inside), Ok(2), "{backend:?}");
        assert_eq!(list("inside", inside), Ok(2), "{backend:?}");
        assert_eq!(
            list("inside", &LinkPolicy::Refuse),
            Err("link-not-allowed".into())
        );
        assert_eq!(list("escape", inside), Err("outside-root".into()));
        assert_eq!(list("pkg/one.md", inside), Err("true".into()));
        assert_eq!(list("nothing", inside), Err("true".into()));
    }
}

#[test]
fn a_file_listed_as_a_trusted_root_opens_nothing_and_the_reason_stays_true() {
    let env = TestEnv::new();
    let shared = env.file("shared/USER.md", "shared");
    env.link("workspace/USER.md", &shared);
    for backend in BACKENDS {
        let root = Root::open_with(&env.workspace(), backend).unwrap();
        let trusted = |path: PathBuf| read(&root, "USER.md", LinkPolicy::TrustedRoots(vec![path]));
        assert_eq!(trusted(shared.clone()), Err("outside-root".to_owned()));
        assert_eq!(
            trusted(env.path().join("none")),
            Err("outside-root".to_owned())
        );
        assert_eq!(trusted(PathBuf::from("/")).as_deref(), Ok("shared"));
    }
}

#[test]
fn a_large_file_is_refused_or_cut_at_a_character() {
    let env = TestEnv::new();
    env.files([("big.md", "aaaa😀")]);
    let root = Root::open(&env.workspace()).unwrap();
    assert_eq!(
        read(&root, "big.md", LinkPolicy::Refuse).as_deref(),
        Ok("aaaa😀")
    );
    let mut policy = ReadPolicy {
        oversized: Oversized::Keep,
        ..ReadPolicy::inside(6)
    };
    let kept = root.read(Path::new("big.md"), &policy).unwrap();
    assert_eq!(
        (
            kept.bytes.as_slice(),
            kept.oversize.map(|o| (o.size, o.kept))
        ),
        (&b"aaaa"[..], Some((8, 4)))
    );
    policy.oversized = Oversized::Refuse;
    let refused = root.read(Path::new("big.md"), &policy);
    assert!(matches!(
        refused,
        Err(ReadError::Refused {
            reason: FileRefusal::TooLarge,
            ..
        })
    ));
}

#[test]
fn a_linked_directory_is_never_taken_for_a_missing_one() {
    let env = TestEnv::new();
    env.files([("real/deep.md", "deep"), ("plain.md", "plain")]);
    env.link("workspace/inside", "real");
    env.link("workspace/outside", "../home");
    for backend in BACKENDS {
        let root = Root::open_with(&env.workspace(), backend).unwrap();
        let list = |name: &str, links| root.list(Path::new(name), &links, 10);
        assert_eq!(list("inside", LinkPolicy::EveryHopInside).unwrap().len(), 1);
        for (name, links, reason) in [
            ("inside", LinkPolicy::Refuse, FileRefusal::LinkNotAllowed),
            (
                "outside",
                LinkPolicy::EveryHopInside,
                FileRefusal::OutsideRoot,
            ),
        ] {
            let error = list(name, links).unwrap_err();
            assert!(
                matches!(&error, ReadError::Refused { reason: found, .. } if *found == reason),
                "{backend:?} {name}: {error:?}"
            );
        }
        for name in ["inside/new.md", "outside/new.md"] {
            let error = root.write_new(Path::new(name), b"x").unwrap_err();
            assert!(
                matches!(error, WriteError::NotBeneath { .. }),
                "{backend:?} {name}: {error:?}"
            );
        }
        let error = root.write_new(Path::new("plain.md/new.md"), b"x");
        let WriteError::Io { source, .. } = error.unwrap_err() else {
            panic!("a file in place of a directory is no trick")
        };
        assert_eq!(source.kind(), std::io::ErrorKind::NotADirectory);
    }
}

#[test]
fn writes_are_whole_and_stay_beneath_the_root() {
    let env = TestEnv::new();
    env.file("secret.md", SECRET);
    env.link("workspace/link.md", "../secret.md");
    env.link("workspace/up", "..");
    let root = Root::open(&env.workspace()).unwrap();
    assert_eq!(
        root.write_new(Path::new("new.md"), b"one").unwrap(),
        WriteOutcome::Created
    );
    assert_eq!(
        root.write_new(Path::new("new.md"), b"two").unwrap(),
        WriteOutcome::AlreadyThere
    );
    root.replace(Path::new("new.md"), b"three").unwrap();
    root.append(Path::new("log/none.md"), b"x").unwrap_err();
    root.make_directories(Path::new("log")).unwrap();
    root.append(Path::new("log/day.md"), b"line\n").unwrap();
    assert_eq!(
        root.write_new(Path::new("link.md"), b"x").unwrap(),
        WriteOutcome::AlreadyThere
    );
    for hostile in ["../out.md", "/tmp/out.md", "up/out.md", "link.md"] {
        root.replace(Path::new(hostile), b"x").unwrap_err();
        root.append(Path::new(hostile), b"x").unwrap_err();
    }
    assert_eq!(
        (env.read("workspace/new.md"), env.read("secret.md")),
        ("three".into(), SECRET.into())
    );
    let names: Vec<_> = fs::read_dir(env.path())
        .unwrap()
        .flatten()
        .map(|e| e.file_name())
        .collect();
    assert_eq!(
        names.len(),
        3,
        "home, secret.md, workspace and nothing else: {names:?}"
    );
}

/// One entry of a random tree.
#[derive(Debug, Clone)]
enum Planted {
    File(u8),
    Directory(u8),
    Link(u8, String),
    Hardlink(u8),
    Fifo(u8),
}

fn planted() -> impl Strategy<Value = Planted> {
    let target = prop_oneof![
        Just("../secret.md".to_owned()),
        Just("..".to_owned()),
        Just("../../".to_owned()),
        "[abc](/[abcd]|/\\.\\.){0,3}".prop_map(|text| text),
        Just("../outside/a".to_owned()),
        Just("{OUTSIDE}".to_owned()),
    ];
    prop_oneof![
        (0..4_u8).prop_map(Planted::File),
        (0..4_u8).prop_map(Planted::Directory),
        ((0..4_u8), target).prop_map(|(at, target)| Planted::Link(at, target)),
        (0..4_u8).prop_map(Planted::Hardlink),
        (0..4_u8).prop_map(Planted::Fifo),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    /// Whatever a tree looks like, no policy but the one that says "anywhere" lets a byte from outside through, nothing
    /// blocks, and both backends say the same.
    #[test]
    fn no_tree_leads_outside(entries in prop::collection::vec(planted(), 1..12)) {
        let env = TestEnv::new();
        env.file("secret.md", SECRET);
        env.file("outside/a", SECRET);
        let mut directories = vec![env.workspace()];
        for (at, entry) in entries.iter().enumerate() {
            let parent = directories[at % directories.len()].clone();
            let path = |n: &u8| parent.join(char::from(b'a' + n).to_string());
            let _ = match entry {
                // Never opens what an earlier entry left there: it may be a FIFO.
                Planted::File(n) => fs::File::create_new(path(n)).and_then(|mut file| file.write_all(b"inside")),
                Planted::Directory(n) => fs::create_dir(path(n)).map(|()| directories.push(path(n))),
                Planted::Link(n, target) => {
                    let outside = env.path().join("outside");
                    std::os::unix::fs::symlink(target.replace("{OUTSIDE}", &outside.to_string_lossy()), path(n))
                }
                Planted::Hardlink(n) => fs::hard_link(env.path().join("secret.md"), path(n)),
                Planted::Fifo(n) => {
                    let mode = rustix::fs::Mode::from_raw_mode(0o600);
                    rustix::fs::mknodat(rustix::fs::CWD, path(n), rustix::fs::FileType::Fifo, mode, 0).map_err(Into::into)
                }
            };
        }
        let roots = BACKENDS.map(|backend| Root::open_with(&env.workspace(), backend).unwrap());
        let names = ["a", "b", "c", "d", "a/a", "a/b", "b/c", "a/../secret.md", "../secret.md", "c/b/a", "d/secret.md"];
        for name in names {
            for links in [LinkPolicy::EveryHopInside, LinkPolicy::EndInside, LinkPolicy::NotTheFile, LinkPolicy::Refuse] {
                let [kernel, portable] = roots.each_ref().map(|root| read(root, name, links.clone()));
                prop_assert!(kernel.as_deref().map_or(true, |text| !text.contains(SECRET)), "{name} {links:?}");
                prop_assert_eq!(kernel, portable, "{} {:?}", name, links);
            }
        }
    }
}

/// Swaps names while the loader reads them: an inside file and a link to the secret, an inside directory and a link to the
/// directory that holds one.
#[test]
fn no_race_leads_outside() {
    for backend in BACKENDS {
        for links in [LinkPolicy::EveryHopInside, LinkPolicy::EndInside] {
            race(backend, &links);
        }
    }
}

fn race(backend: Backend, links: &LinkPolicy) {
    let env = TestEnv::new();
    env.file("secret.md", SECRET);
    env.file("outside/AGENTS.md", SECRET);
    env.files([
        ("AGENTS.md", "inside"),
        ("pkg/AGENTS.md", "inside"),
        ("chain/AGENTS.md", "inside"),
    ]);
    env.link("workspace/evil.md", "../secret.md");
    env.link("workspace/evil-dir", "../outside");
    env.link("workspace/hop", "chain");
    let stop = AtomicBool::new(false);
    let workspace = env.workspace();
    let swap = |a: PathBuf, b: PathBuf| {
        let flags = rustix::fs::RenameFlags::EXCHANGE;
        rustix::fs::renameat_with(rustix::fs::CWD, a, rustix::fs::CWD, b, flags).unwrap();
    };
    thread::scope(|scope| {
        for (good, evil) in [
            ("AGENTS.md", "evil.md"),
            ("pkg", "evil-dir"),
            ("chain", "evil-dir2"),
        ] {
            if evil == "evil-dir2" {
                env.link("workspace/evil-dir2", "../outside");
            }
            let (stop, workspace) = (&stop, &workspace);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    swap(workspace.join(good), workspace.join(evil));
                }
            });
        }
        let root = Root::open_with(&workspace, backend).unwrap();
        let policy = ReadPolicy {
            links: links.clone(),
            hardlinks: Hardlinks::Refuse,
            ..ReadPolicy::inside(1024)
        };
        let until = Instant::now() + Duration::from_millis(400);
        let mut seen = 0;
        while Instant::now() < until {
            for name in ["AGENTS.md", "pkg/AGENTS.md", "hop/AGENTS.md"] {
                if let Ok(read) = root.read(Path::new(name), &policy) {
                    assert_eq!(
                        read.bytes, b"inside",
                        "{name} with {backend:?} and {links:?}"
                    );
                    seen += 1;
                }
            }
        }
        stop.store(true, Ordering::Relaxed);
        assert!(seen > 0, "the race must be won by honest reads too");
    });
}

#[test]
fn a_survey_describes_every_name_and_follows_none() {
    let env = TestEnv::new();
    env.file("secret.md", SECRET);
    env.files([
        ("d/one.md", "one"),
        ("d/twin.md", "twin"),
        ("d/below/x", "x"),
    ]);
    env.link("workspace/d/link", "../../secret.md");
    env.link("workspace/elsewhere", "d");
    env.fifo("workspace/d/pipe");
    let twin = env.workspace().join("d/twin.md");
    fs::hard_link(&twin, env.workspace().join("second.md")).unwrap();
    for backend in BACKENDS {
        let root = Root::open_with(&env.workspace(), backend).unwrap();
        let mut found: Vec<_> = root
            .survey(Path::new("d"), 10)
            .unwrap()
            .into_iter()
            .map(|looked| {
                (
                    looked.name.into_string().unwrap(),
                    looked.kind,
                    looked.names,
                )
            })
            .collect();
        found.sort();
        // How many names a directory has is the file system's own affair.
        found.retain(|(_, kind, _)| *kind != DirectoryEntryKind::Directory);
        let expected = [
            ("link", DirectoryEntryKind::Link, 1),
            ("one.md", DirectoryEntryKind::File, 1),
            ("pipe", DirectoryEntryKind::Other, 1),
            ("twin.md", DirectoryEntryKind::File, 2),
        ];
        assert_eq!(
            found,
            expected.map(|(name, kind, names)| (name.to_owned(), kind, names))
        );
        let refused = |place: &str, limit| root.survey(Path::new(place), limit).is_err();
        assert!(refused("d", 3) && refused("elsewhere", 10) && refused("no", 10));
        assert!(refused("d/one.md", 10) && refused("..", 10));
    }
}

#[test]
fn a_link_is_read_made_and_removed_as_a_text_and_never_followed() {
    let env = TestEnv::new();
    env.file("secret.md", SECRET);
    env.link("workspace/up", "..");
    let root = Root::open(&env.workspace()).unwrap();
    let (name, text) = (Path::new("link"), Path::new("../secret.md"));
    assert_eq!(root.make_link(name, text).unwrap(), WriteOutcome::Created);
    assert_eq!(
        root.make_link(name, text).unwrap(),
        WriteOutcome::AlreadyThere
    );
    assert_eq!(root.link_text(name).unwrap(), text);
    assert!(root.make_link(Path::new("up/link"), text).is_err());
    assert!(root.link_text(Path::new("up/secret.md")).is_err());
    assert!(!root.remove_link(name, Path::new("other")).unwrap());
    assert!(root.remove_link(name, text).unwrap());
    assert!(root.link_text(name).is_err());
    assert_eq!(env.read("secret.md"), SECRET);
}

#[test]
fn permissions_are_set_on_what_is_closed_and_not_through_a_link() {
    use std::os::unix::fs::PermissionsExt;
    let env = TestEnv::new();
    let secret = env.file("secret.md", SECRET);
    let file = env.file("workspace/file", "text");
    env.link("workspace/link", "../secret.md");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    let before = mode(&secret);
    let root = Root::open(&env.workspace()).unwrap();
    for bits in [0, 0o640, 0o4711] {
        root.set_permissions(Path::new("file"), bits).unwrap();
        assert_eq!(mode(&file), bits);
        assert_eq!(root.mode(Path::new("file")), Some(bits));
    }
    assert!(root.set_permissions(Path::new("link"), 0o777).is_err());
    assert!(
        root.set_permissions(Path::new("../secret.md"), 0o777)
            .is_err()
    );
    assert_eq!(mode(&secret), before);
}
