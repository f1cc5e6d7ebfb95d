//! Other processes at the same store: this test program again, told by its environment what to do.

use crate::store_kit::{agent, sign, store_at};
use chitin_pack::ErrorClass;
use chitin_pack::signatures::PrivateKey;
use chitin_pack::store::{Store, StoreRepair, Sweep};
use chitin_test::needs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

const ROLE: &str = "CHITIN_PACK_TEST_ROLE";
const DIRECTORY: &str = "CHITIN_PACK_TEST_DIRECTORY";

fn command(role: &str, directory: &Path, before: &[&str]) -> Command {
    let program = std::env::current_exe().unwrap();
    let mut command = match before {
        [] => Command::new(program),
        [first, rest @ ..] => {
            let mut command = Command::new(first);
            command.args(rest).arg(program);
            command
        }
    };
    command
        .args(["--exact", "store_children::act", "--ignored", "--nocapture"])
        .env(ROLE, role)
        .env(DIRECTORY, directory)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

/// Waits until a process says that it begins; tells whether it did.
fn begun(child: &mut Child) -> bool {
    let said = BufReader::new(child.stdout.take().unwrap());
    let mut lines = said.lines().map_while(Result::ok);
    lines.any(|line| line.contains("said:begin"))
}

fn say(word: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(format!("said:{word}\n").as_bytes());
    let _ = out.flush();
}

/// Not a test: what another process does. Does nothing unless it is told to.
#[test]
#[ignore = "run by other tests in a process of its own"]
fn act() {
    let (Ok(role), Ok(directory)) = (std::env::var(ROLE), std::env::var(DIRECTORY)) else {
        return;
    };
    let store = store_at(Path::new(&directory));
    say("begin");
    match role.as_str() {
        "churn" => churn(&store),
        "tag" => tag(&store),
        "fill" => fill(&store),
        other => panic!("{other}"),
    }
}

/// Adds, signs, renames, removes and sweeps until it is killed.
fn churn(store: &Store) {
    let key = PrivateKey::generate().unwrap();
    let start = usize::try_from(std::process::id()).unwrap() * 1000;
    for number in start.. {
        {
            let _adding = store.adding().unwrap();
            let manifest = agent(store, number).unwrap();
            let name = format!("churn:{}", number % 5);
            store.tag(&name, &manifest).unwrap();
            sign(store, &manifest, &key);
        }
        if number % 3 == 0 {
            store.untag(&format!("churn:{}", number % 4)).unwrap();
        }
        if number % 2 == 0 {
            store.sweep(Sweep::Remove).unwrap();
        }
    }
}

fn tag(store: &Store) {
    for number in 0..40 {
        let manifest = agent(store, 1).unwrap();
        let name = format!("{}:{number}", std::process::id());
        store.tag(&name, &manifest).unwrap();
    }
}

/// Adds until there is no room.
fn fill(store: &Store) {
    let mut kept = 0;
    for number in 0_u32.. {
        let blob =
            vec![u8::try_from(number % 251).unwrap(); 100_000 + usize::try_from(number).unwrap()];
        match store.put("application/octet-stream", &blob) {
            Ok(_) => kept += 1,
            Err(error) => {
                assert_eq!(error.class(), ErrorClass::Io);
                break;
            }
        }
    }
    // What was kept is whole, and of what was not kept nothing is there.
    let found = store.check(StoreRepair::Report).unwrap();
    assert_eq!((found.blobs, found.is_clean()), (kept, true));
    let rehearsed = store.sweep(Sweep::Rehearse).unwrap();
    assert_eq!((rehearsed.removed.len(), rehearsed.unfinished), (kept, 0));
    // Without any room a name cannot be given, and the old names stay.
    let before = store.tags().unwrap();
    let refused = agent(store, 7).and_then(|manifest| store.tag("new", &manifest));
    assert_eq!(refused.is_err(), store.tags().unwrap() == before);
    say(&format!("kept {kept}"));
}

/// Tells whether the file system knows files without names.
fn writes_without_names(directory: &Path) -> bool {
    let root = chitin_guard::Root::open(directory).unwrap();
    let names = || std::fs::read_dir(directory).unwrap().count();
    let before = names();
    let _new = root.begin_file(Path::new(""), 0o600).unwrap();
    names() == before
}

#[test]
fn a_process_killed_at_any_moment_leaves_a_store_that_is_whole() {
    let directory = TempDir::new().unwrap();
    let (mut unfinished, mut cut_off) = (0, 0);
    for round in 0_u64..200 {
        let mut child = command("churn", directory.path(), &[]).spawn().unwrap();
        assert!(begun(&mut child));
        std::thread::sleep(Duration::from_micros(round * 7919 % 23_000));
        child.kill().unwrap();
        // Killed, and not ended by an error of its own before.
        assert_eq!(child.wait().unwrap().signal(), Some(9), "round {round}");
        let store = store_at(directory.path());
        let found = store.check(StoreRepair::Report).unwrap();
        assert!(found.is_clean(), "round {round}: {found:?}");
        let rehearsed = store.sweep(Sweep::Rehearse).unwrap();
        unfinished += rehearsed.unfinished;
        cut_off += usize::from(!rehearsed.removed.is_empty());
        if round % 10 == 0 {
            store.sweep(Sweep::Remove).unwrap();
            let again = store.sweep(Sweep::Rehearse).unwrap();
            assert_eq!((again.removed.len(), again.unfinished), (0, 0));
        }
        for tag in store.tags().unwrap() {
            store
                .artifact(&tag.manifest.digest)
                .unwrap()
                .verify()
                .unwrap();
        }
    }
    assert!(cut_off > 0, "nobody was killed in the middle of a pack");
    // What is being written has no name, but for the moment in which it replaces another file.
    if writes_without_names(directory.path()) {
        assert!(unfinished < 20, "{unfinished} unfinished files");
    }
}

#[test]
fn two_processes_that_give_names_at_once_both_do() {
    let directory = TempDir::new().unwrap();
    let children: Vec<_> = (0..2)
        .map(|_| command("tag", directory.path(), &[]).spawn().unwrap())
        .collect();
    for child in children {
        assert!(child.wait_with_output().unwrap().status.success());
    }
    assert_eq!(store_at(directory.path()).tags().unwrap().len(), 80);
}

#[test]
fn a_disk_that_is_full_in_the_middle_of_a_blob_shows_nothing_of_it() {
    let directory = TempDir::new().unwrap();
    let mount = format!(
        "mount -t tmpfs -o size=2m tmpfs '{}' || exit 9; exec \"$@\"",
        directory.path().display()
    );
    let before = [
        "unshare",
        "--mount",
        "--user",
        "--map-root-user",
        "sh",
        "-c",
        &mount,
        "sh",
    ];
    let Ok(child) = command("fill", directory.path(), &before).spawn() else {
        needs::skipped("unshare");
        return;
    };
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    if output.status.code() == Some(9) || !said.contains("said:begin") {
        needs::skipped("the right to mount a file system");
        return;
    }
    assert!(output.status.success(), "{said}");
    assert!(
        said.contains("said:kept 1") || said.contains("said:kept 2"),
        "{said}"
    );
}
