//! Watching: every way in which a workspace is edited gives a hint, soon, and not too many of them.
#![expect(
    clippy::disallowed_methods,
    reason = "files and directories are edited while they are watched"
)]

use chitin_contract::CANONICAL;
use chitin_guard::Root;
use chitin_test::TestEnv;
use chitin_workspace::load::{LoadOptions, Loader};
use chitin_workspace::watch::{
    Hint, WatchCoverage, WatchError, WatchOptions, Watcher, WorkspaceChange,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Long enough for a busy machine; nothing waits this long unless it fails.
const PATIENCE: Duration = Duration::from_secs(15);

struct Watched {
    changes: Receiver<WorkspaceChange>,
    watcher: Watcher,
}

impl Watched {
    fn new(path: &Path) -> Self {
        Self::with(path, &quick())
    }

    fn with(path: &Path, options: &WatchOptions) -> Self {
        let (sender, changes) = channel();
        let watcher = Watcher::new(path, options, move |change| {
            let _ = sender.send(change);
        })
        .unwrap();
        Self { changes, watcher }
    }

    /// Waits for a change that is what the test is about; others may come before it.
    fn until(&self, is_it: impl Fn(&WorkspaceChange) -> bool) -> WorkspaceChange {
        let end = Instant::now() + PATIENCE;
        let mut seen = Vec::new();
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let change = self.changes.recv_timeout(left).ok();
            let change = change.unwrap_or_else(|| unreachable!("other changes came: {seen:?}"));
            if is_it(&change) {
                return change;
            }
            seen.push(change);
        }
    }

    fn until_named(&self, path: &str) {
        self.until(|change| change.paths.contains_key(Path::new(path)));
    }

    fn until_hint(&self, path: &str, hint: Hint) {
        self.until(|change| change.paths.get(Path::new(path)) == Some(&hint));
    }

    /// Takes what is still on its way, until it is quiet for a few times the debounce.
    fn drain(&self) -> Vec<WorkspaceChange> {
        let mut drained = Vec::new();
        while let Ok(change) = self.changes.recv_timeout(Duration::from_millis(300)) {
            drained.push(change);
        }
        drained
    }
}

fn quick() -> WatchOptions {
    WatchOptions {
        debounce: Duration::from_millis(30),
        max_delay: Duration::from_millis(300),
        check_interval: Duration::from_millis(250),
        ..WatchOptions::default()
    }
}

/// The same, but without a single watch of the operating system.
fn polling() -> WatchOptions {
    WatchOptions {
        max_watches: 0,
        check_interval: Duration::from_millis(50),
        ..quick()
    }
}

/// Both ways of noticing must notice the same things.
fn both(test: impl Fn(&WatchOptions)) {
    test(&quick());
    test(&polling());
}

#[test]
fn each_way_of_saving_a_file_is_noticed_and_the_next_load_shows_it() {
    both(|options| {
        let env = TestEnv::new();
        env.files([("SOUL.md", "first")]);
        let at = |name: &str| env.workspace().join(name);
        let watched = Watched::with(&env.workspace(), options);
        let loader = Loader::new(env.workspace(), &CANONICAL, &LoadOptions::default());
        let shows = |text: Option<&str>| {
            let workspace = loader.load().unwrap();
            let record = workspace.record("SOUL.md").unwrap();
            assert_eq!(record.content().map(|content| &*content.text), text);
        };
        shows(Some("first"));

        fs::write(at("SOUL.md"), "in place").unwrap();
        watched.until_named("SOUL.md");
        shows(Some("in place"));

        fs::write(at("SOUL.md.new"), "renamed over").unwrap();
        fs::rename(at("SOUL.md.new"), at("SOUL.md")).unwrap();
        watched.until_named("SOUL.md");
        shows(Some("renamed over"));

        fs::rename(at("SOUL.md"), at("SOUL.md~")).unwrap();
        fs::write(at("SOUL.md"), "moved aside, then written").unwrap();
        watched.until_named("SOUL.md");
        shows(Some("moved aside, then written"));

        fs::remove_file(at("SOUL.md")).unwrap();
        watched.until_hint("SOUL.md", Hint::Gone);
        shows(None);

        fs::write(at("SOUL.md"), "again").unwrap();
        watched.until_hint("SOUL.md", Hint::Appeared);
        shows(Some("again"));

        let root = Root::open(&env.workspace()).unwrap();
        root.replace(Path::new("SOUL.md"), b"by our own hand")
            .unwrap();
        watched.until_named("SOUL.md");
        shows(Some("by our own hand"));
    });
}

#[test]
fn a_new_skill_is_noticed_with_what_was_in_it_before_anybody_could_look() {
    both(|options| {
        let env = TestEnv::new();
        let watched = Watched::with(&env.workspace(), options);
        env.file("workspace/skills/tides/SKILL.md", "one");
        watched.until_named("skills/tides/SKILL.md");
        env.file("workspace/.agents/skills/deep/er/SKILL.md", "one");
        watched.until_named(".agents/skills/deep/er/SKILL.md");

        // And it is followed from then on.
        watched.drain();
        env.file("workspace/skills/tides/SKILL.md", "other");
        watched.until_named("skills/tides/SKILL.md");
        env.file("workspace/.agents/skills/deep/er/notes.md", "new");
        watched.until_named(".agents/skills/deep/er/notes.md");
    });
}

#[test]
fn a_directory_that_is_exchanged_is_followed_under_its_name() {
    both(|options| {
        let env = TestEnv::new();
        env.file("workspace/skills/a/SKILL.md", "old");
        env.file("workspace/next/a/SKILL.md", "new");
        let at = |name: &str| env.workspace().join(name);
        let watched = Watched::with(&env.workspace(), options);

        fs::rename(at("skills"), at("skills-old")).unwrap();
        fs::rename(at("next"), at("skills")).unwrap();
        watched.until_named("skills");
        watched.drain();

        fs::write(at("skills/a/SKILL.md"), "newer").unwrap();
        watched.until_named("skills/a/SKILL.md");
        watched.drain();

        // Whoever edits the old one under its other name is not heard as if it were the new one.
        fs::write(at("skills-old/a/SKILL.md"), "older").unwrap();
        assert_eq!(watched.drain(), []);

        fs::remove_dir_all(at("skills")).unwrap();
        watched.until_hint("skills", Hint::Gone);
        fs::create_dir_all(at("skills/b")).unwrap();
        watched.until_named("skills/b");
        watched.drain();
        fs::write(at("skills/b/SKILL.md"), "there again").unwrap();
        watched.until_named("skills/b/SKILL.md");
    });
}

#[test]
fn a_workspace_that_is_exchanged_as_a_whole_is_followed() {
    both(|options| {
        let env = TestEnv::new();
        env.files([("SOUL.md", "old")]);
        env.file("next/SOUL.md", "new");
        let watched = Watched::with(&env.workspace(), options);

        fs::rename(env.workspace(), env.path().join("before")).unwrap();
        fs::rename(env.path().join("next"), env.workspace()).unwrap();
        watched.until(|change| change.rescan);
        watched.drain();
        env.files([("SOUL.md", "newer")]);
        watched.until_named("SOUL.md");

        watched.drain();
        fs::remove_dir_all(env.workspace()).unwrap();
        watched.until(|change| change.rescan);
        watched.drain();
        env.files([("USER.md", "made again")]);
        watched.until(|change| change.rescan);
        watched.drain();
        env.files([("USER.md", "and edited")]);
        watched.until_named("USER.md");
    });
}

#[test]
fn a_workspace_that_does_not_exist_yet_is_waited_for() {
    both(|options| {
        let env = TestEnv::new();
        let watched = Watched::with(&env.path().join("far/off/agent"), options);
        env.directory_at("far");
        env.directory_at("far/off");
        env.directory_at("far/off/agent/skills");
        watched.until(|change| change.rescan);
        watched.drain();
        env.file("far/off/agent/SOUL.md", "hello");
        watched.until_named("SOUL.md");
        env.file("far/off/agent/skills/a/SKILL.md", "hello");
        watched.until_named("skills/a/SKILL.md");
    });
}

#[test]
fn a_root_that_is_a_link_is_followed_to_its_new_end() {
    let env = TestEnv::new();
    env.file("one/ws/SOUL.md", "one");
    env.file("two/ws/SOUL.md", "two");
    let current = env.link("current", "one");
    // The link stands above the root, where no watch sees it; only the regular check does.
    let watched = Watched::new(&current.join("ws"));
    env.link("current.new", "two");
    fs::rename(env.path().join("current.new"), &current).unwrap();
    watched.until(|change| change.rescan);
    watched.drain();
    env.file("two/ws/SOUL.md", "edited");
    watched.until_named("SOUL.md");
}

#[test]
fn what_is_not_the_agents_business_wakes_nobody() {
    let env = TestEnv::new();
    env.files([
        ("SOUL.md", "x"),
        ("skills/a/SKILL.md", "x"),
        ("projects/p/x", "x"),
    ]);
    fs::create_dir_all(env.workspace().join(".git")).unwrap();
    fs::create_dir_all(env.workspace().join("skills/a/node_modules/b")).unwrap();
    let watched = Watched::new(&env.workspace());
    env.files([
        (".git/index", "x"),
        ("skills/a/node_modules/b/index.js", "x"),
        ("projects/p/x", "y"),
        (".SOUL.md.swp", "x"),
        ("4913", "x"),
        ("skills/a/SKILL.md~", "x"),
        (".SOUL.md.4242-7.chitin.tmp", "x"),
    ]);
    env.file("neighbour/SOUL.md", "x");
    // Reading is no change either.
    let loader = Loader::new(env.workspace(), &CANONICAL, &LoadOptions::default());
    loader.load().unwrap();
    // A machine that is short of watches says so; that names no path.
    let woken = watched.drain();
    assert!(
        woken.iter().all(|change| change.paths.is_empty()),
        "{woken:?}"
    );
}

#[test]
fn a_burst_of_writes_is_few_changes_and_constant_writing_delays_none_for_ever() {
    let env = TestEnv::new();
    let watched = Watched::with(&env.workspace(), &WatchOptions::default());
    let start = Instant::now();
    for round in 0..1000 {
        env.file(
            &format!("workspace/memory/{}.md", round % 10),
            format!("{round}"),
        );
    }
    watched.until(|_| true);
    let changes = 1 + watched.drain().len();
    // A change needs a quiet tenth of a second before it.
    let most = 2 + start.elapsed().as_millis() / 100;
    assert!(
        changes as u128 <= most,
        "{changes} changes, expected at most {most}"
    );

    let start = Instant::now();
    let mut first = None;
    while first.is_none() && start.elapsed() < PATIENCE {
        env.file("workspace/SOUL.md", format!("{:?}", start.elapsed()));
        std::thread::sleep(Duration::from_millis(5));
        first = watched.changes.try_recv().ok();
    }
    assert!(first.is_some(), "constant writing kept the change back");
}

#[test]
fn more_paths_than_one_change_names_ask_for_a_rescan() {
    let env = TestEnv::new();
    let options = WatchOptions {
        max_paths: 10,
        ..quick()
    };
    let watched = Watched::with(&env.workspace(), &options);
    for number in 0..50 {
        env.file(&format!("workspace/{number}.md"), "x");
    }
    let change = watched.until(|change| change.rescan);
    assert!(change.paths.len() <= 10);
}

#[test]
fn without_enough_watches_the_rest_is_compared_and_the_caller_is_told() {
    let env = TestEnv::new();
    env.files([("skills/a/SKILL.md", "x"), ("skills/b/SKILL.md", "x")]);
    let options = WatchOptions {
        max_watches: 3,
        ..polling()
    };
    let watched = Watched::with(&env.workspace(), &options);
    let told = watched.until(|_| true);
    assert!(told.rescan);
    assert_eq!(told.coverage, watched.watcher.coverage());
    assert!(
        matches!(told.coverage, WatchCoverage::Polling { directories: 2.., interval } if interval == options.check_interval)
    );
    for path in ["SOUL.md", "skills/a/SKILL.md", "skills/b/SKILL.md"] {
        env.files([(path, "edited")]);
        watched.until_named(path);
    }

    // Once the tree is small enough again, everything is watched.
    fs::remove_dir_all(env.workspace().join("skills/a")).unwrap();
    fs::remove_dir_all(env.workspace().join("skills/b")).unwrap();
    watched.until(|change| change.coverage == WatchCoverage::Events);
}

#[test]
fn dropping_the_watcher_ends_it_at_once_even_from_within_a_delivery() {
    let env = TestEnv::new();
    let Watched { changes, watcher } = Watched::new(&env.workspace());
    env.files([("SOUL.md", "x")]);
    let start = Instant::now();
    drop(watcher);
    assert!(start.elapsed() < Duration::from_secs(1));
    // The thread is gone, and its end of the channel with it.
    assert!(changes.into_iter().count() <= 1);

    let (hand_over, handed) = channel::<Watcher>();
    let (done, is_done) = channel();
    let watcher = Watcher::new(&env.workspace(), &quick(), move |_| {
        drop(handed.recv());
        let _ = done.send(());
    })
    .unwrap();
    hand_over.send(watcher).unwrap();
    env.files([("SOUL.md", "y")]);
    is_done.recv_timeout(PATIENCE).unwrap();
}

#[test]
fn only_plain_paths_are_taken() {
    let fails = |path: &str, directory: &str| {
        let options = WatchOptions {
            directories: vec![PathBuf::from(directory)],
            ..quick()
        };
        Watcher::new(Path::new(path), &options, |_| {}).err()
    };
    assert!(matches!(
        fails("relative", "skills"),
        Some(WatchError::NotAbsolute { .. })
    ));
    assert!(matches!(
        fails("/a/../b", "skills"),
        Some(WatchError::NotAbsolute { .. })
    ));
    assert!(matches!(
        fails("/a", "../skills"),
        Some(WatchError::NotBeneath { .. })
    ));
}

/// Something that a user, an editor or a version control tool does to a tree.
#[derive(Debug, Clone)]
enum Upheaval {
    Write(&'static str),
    Rename(&'static str, &'static str),
    Remove(&'static str),
}

fn upheaval() -> impl Strategy<Value = Upheaval> {
    let place = || {
        select(vec![
            "workspace",
            "workspace/skills",
            "workspace/skills/a",
            "workspace/skills/b",
            "workspace/.agents",
            "elsewhere",
        ])
    };
    prop_oneof![
        place().prop_map(Upheaval::Write),
        (place(), place()).prop_map(|(from, to)| Upheaval::Rename(from, to)),
        place().prop_map(Upheaval::Remove),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 6,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn whatever_was_moved_made_and_removed_the_next_edit_is_never_missed(
        steps in vec(upheaval(), 1..12),
        is_polling in any::<bool>(),
    ) {
        let env = TestEnv::new();
        let options = if is_polling { polling() } else { quick() };
        let watched = Watched::with(&env.workspace(), &options);
        for step in &steps {
            // Many of these fail, as they do in life; the tree is what comes out of it.
            let at = |relative: &str| env.path().join(relative);
            let _ = match step {
                Upheaval::Write(place) => fs::create_dir_all(at(place))
                    .and_then(|()| fs::write(at(place).join("x.md"), "x")),
                Upheaval::Rename(from, to) => fs::rename(at(from), at(to)),
                Upheaval::Remove(place) => fs::remove_dir_all(at(place)),
            };
        }
        watched.drain();
        // The first edit may make the workspace itself again.
        env.file("workspace/first.md", "x");
        watched.drain();
        for path in ["2.md", "skills/3.md", "skills/a/4.md", ".agents/skills/c/5.md", "skills/a/6.md"] {
            env.files([(path, "edited")]);
            watched.until_named(path);
        }
    }
}
