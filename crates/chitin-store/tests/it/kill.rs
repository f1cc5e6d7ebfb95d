//! `kill -9` at random instants: every record that was acknowledged is there, and the session goes on.

use crate::children::{Role, numbered, start, words};
use crate::kit::{KEY, Kit, NOW, begin, say};
use chitin_store::{BranchReach, LockMode, SessionStore};
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// How many processes are killed, in two sessions side by side.
const KILLS: usize = 504;
/// How many are killed before what is there is looked through.
const ROUND: usize = 12;

#[test]
fn nothing_acknowledged_is_lost_when_the_process_is_killed() {
    let sessions: Vec<_> = (0..2)
        .map(|_| std::thread::spawn(|| kill_again_and_again(KILLS / 2)))
        .collect();
    let counted: Vec<Counted> = sessions
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .collect();
    let kills: usize = counted.iter().map(|counted| counted.kills).sum();
    let acknowledged: usize = counted.iter().map(|counted| counted.acknowledged).sum();
    assert!(kills >= 500);
    // Most of them had got something done, or the test would show nothing.
    assert!(acknowledged > kills, "{acknowledged}");
}

struct Counted {
    kills: usize,
    acknowledged: usize,
}

fn kill_again_and_again(kills: usize) -> Counted {
    let random = RandomState::new();
    let mut acknowledged = 0;
    for round in 0..kills / ROUND {
        let kit = Kit::new();
        drop(kit.open());
        let mut promised: Vec<String> = Vec::new();
        for number in 0..ROUND {
            let mut child = start(Role::Append, kit.store.directory());
            let micros = random.hash_one((round, number)) % 24_000;
            std::thread::sleep(Duration::from_micros(micros));
            child.kill().unwrap();
            let said: Vec<String> = words(&mut child).collect();
            child.wait().unwrap();
            promised.extend(
                said.iter()
                    .flat_map(|ids| ids.split(','))
                    .map(str::to_owned),
            );
        }
        acknowledged += promised.len();
        // The lock went with the processes.
        let mut session = kit.store.open(KEY, &begin(), LockMode::Refuse).unwrap();
        session.append(say("still here"), NOW).unwrap();
        drop(session);
        let inspection = kit.store.inspect(KEY, BranchReach::Whole).unwrap();
        assert_eq!(inspection.notes, []);
        let there: HashSet<&str> = inspection
            .branch
            .entries
            .iter()
            .map(|entry| &*entry.id)
            .collect();
        for id in &promised {
            assert!(
                there.contains(id.as_str()),
                "{id} was acknowledged and is gone"
            );
        }
    }
    Counted {
        kills: kills / ROUND * ROUND,
        acknowledged,
    }
}

#[test]
fn a_change_of_the_index_that_was_acknowledged_is_there_when_the_process_is_killed() {
    let random = RandomState::new();
    let kit = Kit::new();
    for number in 0..8 {
        let key = numbered(number);
        drop(kit.store.open(&key, &begin(), LockMode::Refuse).unwrap());
    }
    let mut acknowledged = 0;
    for round in 0..40 {
        let mut child = start(Role::CountOn, kit.store.directory());
        std::thread::sleep(Duration::from_micros(random.hash_one(round) % 40_000));
        child.kill().unwrap();
        let said: Vec<String> = words(&mut child).collect();
        child.wait().unwrap();
        acknowledged += said.len();
        for word in said {
            let (number, count) = word.split_once(',').unwrap();
            let entry = kit.store.find(&numbered(number.parse().unwrap()));
            let found = entry.unwrap().unwrap().compaction_count.unwrap();
            assert!(found >= count.parse().unwrap(), "{found} < {count}");
        }
        assert_eq!(kit.index().as_object().unwrap().len(), 8);
    }
    assert!(acknowledged > 40, "{acknowledged}");
    assert!(!kit.names().iter().any(|name| name.contains("damaged")));
}
