//! Two processes on one session: one waits or is refused, and their records never interleave.

use crate::children::{Role, start, words};
use crate::kit::{KEY, Kit, NOW, begin, say, texts};
use chitin_store::{LockMode, SessionStore, StoreError, TranscriptRemoval};
use std::time::{Duration, Instant};

#[test]
fn a_session_that_another_process_has_open_is_refused_and_free_when_it_dies() {
    let kit = Kit::new();
    let mut child = start(Role::Hold, kit.store.directory());
    let mut said = words(&mut child);
    assert_eq!(said.next().as_deref(), Some("open"));
    let error = kit.try_open().err().unwrap();
    assert!(
        matches!(&error, StoreError::Busy { key } if key == KEY),
        "{error}"
    );

    let began = Instant::now();
    let waited = kit.store.open(KEY, &begin(), LockMode::Wait(150));
    assert!(matches!(waited.err().unwrap(), StoreError::Busy { .. }));
    assert!((150..5_000).contains(&began.elapsed().as_millis()));

    child.kill().unwrap();
    child.wait().unwrap();
    kit.open();
}

#[test]
fn who_waits_gets_the_session_when_it_is_closed() {
    let kit = Kit::new();
    let session = kit.open();
    let store = kit.store.clone();
    let waiting = std::thread::spawn(move || {
        let mut session = store.open(KEY, &begin(), LockMode::Wait(20_000)).unwrap();
        session.append(say("second"), NOW).unwrap();
    });
    std::thread::sleep(Duration::from_millis(50));
    let mut session = session;
    session.append(say("first"), NOW).unwrap();
    drop(session);
    waiting.join().unwrap();
    assert_eq!(texts(&kit.open().branch().entries), ["first", "second"]);
}

#[test]
fn who_waited_for_a_session_that_was_reset_gets_the_new_one() {
    let kit = Kit::new();
    let mut session = kit.open();
    session.append(say("old"), NOW).unwrap();
    let store = kit.store.clone();
    let waiting = std::thread::spawn(move || {
        let session = store.open(KEY, &begin(), LockMode::Wait(20_000)).unwrap();
        session.header().id.clone()
    });
    std::thread::sleep(Duration::from_millis(50));
    // The holder cannot reset it while it has it open, so the new one is put in place by hand.
    drop(session);
    let fresh = kit
        .store
        .open(KEY, &crate::kit::new_session(), LockMode::Wait(20_000))
        .unwrap();
    let id = fresh.header().id.clone();
    drop(fresh);
    let got = waiting.join().unwrap();
    let now = kit.open().header().id.clone();
    assert_eq!(now, id);
    // Whoever came first: the other got a session that was whole.
    assert!(
        got == id
            || kit
                .names()
                .iter()
                .any(|name| name.contains(&got) && name.contains(".reset."))
    );
}

#[test]
fn processes_that_share_a_session_never_interleave() {
    let kit = Kit::new();
    let mut children: Vec<_> = (0..4)
        .map(|_| start(Role::Share, kit.store.directory()))
        .collect();
    for child in &mut children {
        words(child).for_each(drop);
        assert!(child.wait().unwrap().success());
    }
    let session = kit.open();
    assert_eq!(session.notes(), []);
    let said = texts(&session.branch().entries);
    assert_eq!(said.len(), 4 * 1000);
    // Each process had the session for ten batches of ten at a time.
    for held in said.chunks(100) {
        assert!(held.iter().all(|text| *text == held[0]));
    }
}

#[test]
fn sessions_that_begin_at_the_same_time_all_reach_the_index() {
    let kit = Kit::new();
    let threads: Vec<_> = (0..8)
        .map(|number| {
            let store = kit.store.clone();
            std::thread::spawn(move || {
                for again in 0..4 {
                    let key = format!("agent:main:explicit:{number}-{again}");
                    let mut session = store.open(&key, &begin(), LockMode::Refuse).unwrap();
                    session
                        .update(&mut |entry| entry.input_tokens = Some(number))
                        .unwrap();
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let list = kit.store.list().unwrap();
    assert_eq!(list.len(), 32);
    assert!(list.iter().all(|(_, entry)| entry.input_tokens.is_some()));
}

#[test]
fn a_session_that_is_closed_is_free_at_once_even_while_programs_are_started() {
    let kit = Kit::new();
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // Between its start and its first instruction, a program has all files of this process.
            while !done.load(std::sync::atomic::Ordering::Acquire) {
                let status = std::process::Command::new("true").status().unwrap();
                assert!(status.success());
            }
        });
        for _ in 0..300 {
            let opened = kit.try_open().map(drop);
            let removed = kit.store.remove(KEY, TranscriptRemoval::Delete);
            if opened.is_err() || removed.is_err() {
                done.store(true, std::sync::atomic::Ordering::Release);
            }
            opened.unwrap();
            removed.unwrap();
        }
        done.store(true, std::sync::atomic::Ordering::Release);
    });
}
