#![expect(
    clippy::disallowed_methods,
    reason = "files are looked at and damaged behind the register's back"
)]

use super::*;
use chitin_test::TestEnv;
use proptest::prelude::*;
use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};

const NOW: i64 = 1_800_000_000_000;
const AT: &str = "home/.chitin/logins.json";

/// A register, and what it told people.
struct Kept {
    env: TestEnv,
    file: LoginFile,
    notes: Arc<Mutex<Vec<String>>>,
}

impl Kept {
    fn new() -> Self {
        let env = TestEnv::new();
        let state = env.directory_at("home/.chitin");
        let notes: Arc<Mutex<Vec<String>>> = Arc::default();
        let told = Arc::clone(&notes);
        let notes_to = Notes::to(move |text| told.lock().unwrap().push(text.to_owned()));
        let file = LoginFile::new(&state, &notes_to);
        Self { env, file, notes }
    }

    fn begin(&self, name: u8) -> Option<Vec<KeptLogin>> {
        self.file.change(&LoginChange {
            begun: vec![login(name)],
            now_ms: NOW,
            ..LoginChange::default()
        })
    }

    fn notes(&self) -> Vec<String> {
        let notes = self.notes.lock().unwrap();
        notes.iter().map(|note| self.env.redact(note)).collect()
    }
}

fn login(name: u8) -> KeptLogin {
    KeptLogin {
        id: [name; 32],
        seen_ms: NOW,
    }
}

fn out(name: u8) -> LoginChange {
    LoginChange {
        ended: vec![[name; 32]],
        now_ms: NOW,
        ..LoginChange::default()
    }
}

#[test]
fn who_came_in_is_in_the_file_for_the_owner_alone_and_who_is_out_is_not() {
    let kept = Kept::new();
    assert_eq!(kept.file.read(), []);
    assert_eq!(kept.begin(7), Some(vec![login(7)]));
    kept.begin(9);
    let again = LoginFile::new(&kept.file.state, &Notes::none());
    assert_eq!(again.read(), [login(7), login(9)]);
    let mode = std::fs::metadata(kept.env.path().join(AT)).unwrap();
    assert_eq!(mode.permissions().mode() & 0o777, 0o600);
    assert_eq!(again.change(&out(7)), Some(vec![login(9)]));
    assert!(!kept.env.read(AT).contains(&"07".repeat(32)));
    assert_eq!(kept.notes(), [""; 0]);
}

#[test]
fn what_is_damaged_too_large_or_not_a_plain_file_of_ours_is_as_if_nobody_were_in() {
    type Spoil = fn(&TestEnv);
    let cases: [(&str, Spoil, bool); 7] = [
        ("damaged", |env| drop(env.file(AT, "{\"logins\": {")), true),
        (
            "no digest",
            |env| drop(env.file(AT, "{\"logins\": {\"0x1\": 1}}")),
            true,
        ),
        (
            "too large",
            |env| drop(env.file(AT, vec![b' '; 300_000])),
            false,
        ),
        ("a pipe", |env| drop(env.fifo(AT)), false),
        ("a directory", |env| drop(env.directory_at(AT)), false),
        (
            "a link",
            |env| {
                let text = format!("{{\"logins\": {{\"{}\": {NOW}}}}}", "ab".repeat(32));
                env.file("home/.chitin/elsewhere.json", text);
                env.link(AT, "elsewhere.json");
            },
            false,
        ),
        (
            "written by others",
            |env| {
                let text = format!("{{\"logins\": {{\"{}\": {NOW}}}}}", "ab".repeat(32));
                let path = env.file(AT, text);
                std::fs::set_permissions(path, PermissionsExt::from_mode(0o666)).unwrap();
            },
            false,
        ),
    ];
    for (case, spoil, mends) in cases {
        let kept = Kept::new();
        spoil(&kept.env);
        assert_eq!(kept.file.read(), [], "{case}");
        let notes = kept.notes();
        assert_eq!(notes.len(), 1, "{case}: {notes:?}");
        assert!(notes[0].contains("logins.json"), "{case}: {notes:?}");
        // Who logs in is in either way; it is kept where that harms nothing.
        assert_eq!(kept.begin(1).is_some(), mends, "{case}");
        assert_eq!(kept.begin(2).is_some(), mends, "{case}");
        assert_eq!(
            kept.notes().len(),
            if mends { 1 } else { 2 },
            "{case}: said once"
        );
    }
}

#[test]
fn a_file_that_is_damaged_while_the_server_runs_costs_nobody_the_login() {
    let kept = Kept::new();
    kept.begin(1);
    kept.env.file(AT, "gone");
    let change = LoginChange {
        seen: vec![login(1)],
        now_ms: NOW,
        ..LoginChange::default()
    };
    assert_eq!(kept.file.change(&change), Some(vec![login(1)]));
}

#[test]
fn a_logout_that_cannot_be_written_takes_the_file_away() {
    let kept = Kept::new();
    kept.begin(1);
    kept.begin(2);
    // Whatever stands where the lock should be, nothing can be written now, as on a full disk.
    let lock = kept.env.path().join("home/.chitin").join(LOCK);
    std::fs::remove_file(&lock).unwrap();
    std::fs::create_dir(&lock).unwrap();
    assert_eq!(kept.begin(3), None);
    assert_eq!(kept.file.read().len(), 2, "a login harms nobody's");
    assert_eq!(kept.file.change(&out(1)), None);
    assert_eq!(
        kept.file.read(),
        [],
        "nobody who is out is in after a restart"
    );
    let [note] = &kept.notes()[..] else {
        panic!("{:?}", kept.notes());
    };
    assert!(
        note.starts_with("logins on the web page end with this process"),
        "{note}"
    );
}

#[test]
fn servers_that_write_at_once_lose_none() {
    let kept = Kept::new();
    std::thread::scope(|scope| {
        for first in [0, 8, 16, 24] {
            let server = LoginFile::new(&kept.file.state, &Notes::to(|note| panic!("{note}")));
            scope.spawn(move || {
                for name in first..first + 8 {
                    let change = LoginChange {
                        begun: vec![login(name)],
                        now_ms: NOW,
                        ..LoginChange::default()
                    };
                    server.change(&change).unwrap();
                }
            });
        }
    });
    assert_eq!(kept.file.read().len(), 32);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_the_file_holds_it_is_read_as_a_whole_or_not_at_all(
        bytes in proptest::collection::vec(any::<u8>(), 0..200), keys in proptest::collection::vec("[0-9a-f]{62,66}|é{32}", 0..3)
    ) {
        prop_assert!(parse(&bytes).is_none_or(|kept| kept.is_empty()));
        let all = keys.iter().all(|key| key.len() == 64 && key.is_ascii());
        let logins = keys.into_iter().map(|key| (key, 1)).collect();
        let text = serde_json::to_vec(&Document { logins }).unwrap();
        prop_assert_eq!(parse(&text).is_some(), all);
    }
}
