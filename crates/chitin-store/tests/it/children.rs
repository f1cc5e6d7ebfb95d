//! Other processes: this test program again, told by its environment what to do.

use crate::kit::{KEY, NOW, begin, say, store_at};
use chitin_contract::TranscriptRules;
use chitin_store::{LockMode, OpenSession, SessionStore, StoreError};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const ROLE: &str = "CHITIN_STORE_TEST_ROLE";
const DIRECTORY: &str = "CHITIN_STORE_TEST_DIRECTORY";

/// What another process does.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Role {
    /// Opens the session, says so, and holds it until it is killed.
    Hold,
    /// Waits for the session, appends one batch at a time and says the ids of each, until it is killed.
    Append,
    /// Waits for the session, appends ten batches of ten, and ends; again and again, ten times.
    Share,
    /// Adds one to a number of each of 200 sessions, and ends.
    Count,
    /// Adds one to a number of each of eight sessions, each in a thread of its own, again and again, and says which session
    /// has which number, until it is killed.
    CountOn,
    /// Appends until the disk is full, then shorter records, and says what was acknowledged.
    Fill,
}

impl Role {
    const ALL: [(&'static str, Self); 6] = [
        ("hold", Self::Hold),
        ("append", Self::Append),
        ("share", Self::Share),
        ("count", Self::Count),
        ("count-on", Self::CountOn),
        ("fill", Self::Fill),
    ];

    fn word(self) -> &'static str {
        match self {
            Self::Hold => "hold",
            Self::Append => "append",
            Self::Share => "share",
            Self::Count => "count",
            Self::CountOn => "count-on",
            Self::Fill => "fill",
        }
    }
}

/// Returns the command that starts another process with a role; `before` comes before this program, as in `env`.
pub(crate) fn command(role: Role, directory: &Path, before: &[&str]) -> Command {
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
        .args([
            "--exact",
            "children::act",
            "--ignored",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(ROLE, role.word())
        .env(DIRECTORY, directory)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

/// Starts another process.
pub(crate) fn start(role: Role, directory: &Path) -> Child {
    command(role, directory, &[]).spawn().unwrap()
}

/// Returns what a process says, line by line, without what the test runner says around it.
pub(crate) fn words(child: &mut Child) -> impl Iterator<Item = String> + use<> {
    let said = BufReader::new(child.stdout.take().unwrap());
    // A line that the process did not finish before it was killed is no word.
    said.split(b'\n')
        .map_while(Result::ok)
        .filter_map(|line| String::from_utf8(line).ok())
        .filter_map(|line| {
            let word = line.split_once("said:")?.1;
            word.strip_suffix('.').map(str::to_owned)
        })
}

fn word(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(format!("said:{text}.\n").as_bytes());
    let _ = out.flush();
}

/// Not a test: what another process does. Does nothing unless it is told to.
#[test]
#[ignore = "run by other tests in a process of its own"]
fn act() {
    let (Ok(role), Ok(directory)) = (std::env::var(ROLE), std::env::var(DIRECTORY)) else {
        return;
    };
    let store = store_at(Path::new(&directory), &TranscriptRules::CANONICAL);
    let open = || store.open(KEY, &begin(), LockMode::Wait(20_000));
    let (_, role) = Role::ALL
        .into_iter()
        .find(|(word, _)| *word == role)
        .unwrap();
    match role {
        Role::Hold => {
            let _session = open().unwrap();
            word("open");
            std::thread::sleep(std::time::Duration::from_mins(1));
        }
        Role::Append => append_until_killed(&mut *open().unwrap()),
        Role::Share => share(open),
        Role::Count => {
            for number in 0..200 {
                add_one(&store, &numbered(number));
            }
        }
        Role::CountOn => std::thread::scope(|scope| {
            for number in 0..8 {
                let store = &store;
                scope.spawn(move || {
                    loop {
                        let count = add_one(store, &numbered(number));
                        word(&format!("{number},{count}"));
                    }
                });
            }
        }),
        Role::Fill => fill(&store, &mut *open().unwrap()),
    }
}

/// Returns the key of one of many sessions.
pub(crate) fn numbered(number: usize) -> String {
    format!("agent:main:explicit:{number}")
}

/// Adds one to what the index says of a session, and returns it.
pub(crate) fn add_one(store: &dyn SessionStore, key: &str) -> u64 {
    let mut count = 0;
    store
        .annotate(key, &mut |entry| {
            count = entry.compaction_count.unwrap_or_default() + 1;
            entry.compaction_count = Some(count);
        })
        .unwrap();
    count
}

fn append_until_killed(session: &mut dyn OpenSession) {
    for number in 0.. {
        let mut batch = say(&"x".repeat(number * 37 % 20_000));
        batch.extend(say("second"));
        let ids: Vec<String> = if number % 3 == 0 {
            let pending = session.append_pending(batch, NOW).unwrap();
            pending.wait().unwrap()
        } else {
            session.append(batch, NOW).unwrap()
        }
        .into_iter()
        .map(|entry| entry.id)
        .collect();
        word(&ids.join(","));
    }
}

fn share(open: impl Fn() -> Result<Box<dyn OpenSession>, StoreError>) {
    let me = std::process::id();
    for _ in 0..10 {
        let mut session = open().unwrap();
        for _ in 0..10 {
            let batch = (0..10).flat_map(|_| say(&me.to_string())).collect();
            session.append(batch, NOW).unwrap();
        }
    }
}

fn fill(store: &dyn SessionStore, session: &mut dyn OpenSession) {
    let mut acknowledged = 0;
    let mut refused = 0;
    for size in [40_000, 4_000, 100] {
        loop {
            match session.append(say(&"x".repeat(size)), NOW) {
                Ok(entries) => acknowledged += entries.len(),
                Err(error) => {
                    assert!(matches!(error, StoreError::NoRoom { .. }), "{error}");
                    break;
                }
            }
        }
        refused += 1;
        // The session can still be read as it was.
        assert_eq!(session.branch().entries.len(), acknowledged);
    }
    // The index is replaced as a whole: there is the old one or the new one, never half of one.
    let updated = session.update(&mut |entry| entry.input_tokens = Some(7));
    assert!(matches!(updated, Ok(()) | Err(StoreError::NoRoom { .. })));
    let stored = store.find(KEY).unwrap().unwrap().input_tokens;
    assert_eq!(stored, updated.is_ok().then_some(7));
    word(&format!("{acknowledged},{refused}"));
}
