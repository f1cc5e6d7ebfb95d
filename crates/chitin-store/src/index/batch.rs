//! Changes of the index by many threads at once: one of them takes the lock, all of them make their changes, one writes.
//!
//! A thread that wants to change the index and finds nobody at it becomes the leader: it takes the lock that keeps other
//! processes out, looks whether the file is still what it was, and opens the door. Everybody who waits makes a change, each
//! in its own thread and one after the other. Then the leader closes the door, writes the index once, and tells everybody
//! how it went. Who comes meanwhile waits for the next batch. The lock is given back after each batch, so that other
//! processes get their turn.

use super::turn::{Door, Turn};
use super::{IndexFile, IndexLock};
use crate::disk::{Directory, io};
use crate::rebuild;
use crate::store::StoreError;
use rustix::io::Errno;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::Thread;

/// How often a leader looks at most whether others come in, before it closes the door. Who is about to come is worth a look
/// at the others who run, and not worth sleeping.
const MAX_LOOKS: usize = 64;

/// Where the threads of this process meet.
#[derive(Debug, Default)]
pub(crate) struct Batches {
    state: Mutex<State>,
    /// The door opened, or there is nobody at it.
    door: Condvar,
    /// Nobody waits at the open door any more, or nobody is at work behind it.
    gathered: Condvar,
}

#[derive(Debug, Default)]
struct State {
    phase: Phase,
    /// How many threads wait for the door.
    waiting: usize,
}

impl State {
    /// Returns how many threads came through the open door.
    const fn members(&self) -> usize {
        match &self.phase {
            Phase::Open(door) => door.members,
            Phase::Idle | Phase::Opening(_) | Phase::Closed(_) => 0,
        }
    }
}

#[derive(Debug, Default)]
enum Phase {
    /// Nobody changes the index.
    #[default]
    Idle,
    /// A leader waits for the lock.
    Opening(Arc<Batch>),
    /// Changes are made.
    Open(Box<Door>),
    /// The door is closed: the leader waits for those at work, or writes.
    Closed(Option<Box<Door>>),
}

/// What is changed together.
#[derive(Debug, Default)]
pub(super) struct Batch {
    outcome: OnceLock<Result<(), StoreError>>,
    /// Who waits for it.
    sleepers: Mutex<Vec<Thread>>,
}

impl IndexFile {
    /// Changes the index; returns once the change is on the disk, together with those that others made at the same time. When
    /// it fails, it fails for all of them.
    ///
    /// `apply` makes the change, with the lock held and nobody else changing anything; when it fails, there is no change.
    /// `settle` puts onto the disk what the index will name; others go on meanwhile.
    pub(crate) fn change<R>(
        &self,
        apply: impl FnOnce(&mut Turn<'_>) -> Result<R, StoreError>,
        settle: impl FnOnce(&R) -> Result<(), StoreError>,
    ) -> Result<R, StoreError> {
        // In this order: when `apply` panics, the state is let go before the leader tells the others.
        let (leader, mut state) = self.enter()?;
        let Phase::Open(door) = &mut state.phase else {
            return Err(self.interrupted());
        };
        door.members += 1;
        let mut turn = Turn::new(door, self);
        let applied = apply(&mut turn);
        let slots = turn.end();
        let made = match applied {
            Ok(made) => made,
            Err(error) => {
                drop(state);
                if let Some(leader) = leader {
                    leader.finish();
                }
                return Err(error);
            }
        };
        let batch = Arc::clone(&door.batch);
        let is_different = !door.changes.is_empty();
        door.at_work += 1;
        drop(state);
        // Each thread makes the text of its own change; the leader only puts the texts together.
        for slot in slots {
            slot.text();
        }
        let settled = settle(&made);
        let failed = settled.as_ref().err().map(StoreError::again);
        self.batches.leave(&batch, failed);
        if let Some(leader) = leader {
            leader.finish();
        }
        settled?;
        if !is_different {
            return Ok(made);
        }
        batch.wait().map(|()| made)
    }

    /// Waits until changes can be made. The thread that opened the door for all is the leader.
    fn enter(&self) -> Result<(Option<Leader<'_>>, MutexGuard<'_, State>), StoreError> {
        let batches = &self.batches;
        let mut state = batches.state();
        let mut is_waiting = false;
        loop {
            let opening = match &state.phase {
                Phase::Open(_) => {
                    if is_waiting {
                        batches.stop_waiting(&mut state);
                    }
                    return Ok((None, state));
                }
                Phase::Idle => {
                    let batch = Arc::new(Batch::default());
                    state.phase = Phase::Opening(Arc::clone(&batch));
                    if is_waiting {
                        batches.stop_waiting(&mut state);
                    }
                    drop(state);
                    return self.lead(batch);
                }
                Phase::Opening(batch) => Some(Arc::clone(batch)),
                Phase::Closed(_) => None,
            };
            if !is_waiting {
                is_waiting = true;
                state.waiting += 1;
            }
            state = batches
                .door
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            // A door that did not open fails for all who stood before it.
            if let Some(batch) = opening
                && let Some(Err(error)) = batch.outcome.get()
            {
                batches.stop_waiting(&mut state);
                return Err(error.again());
            }
        }
    }

    /// Takes the lock, looks at the file, and opens the door.
    fn lead(
        &self,
        batch: Arc<Batch>,
    ) -> Result<(Option<Leader<'_>>, MutexGuard<'_, State>), StoreError> {
        let leader = Leader {
            ledger: self,
            batch: Arc::clone(&batch),
        };
        match self.door(batch) {
            Ok(door) => {
                let mut state = self.batches.state();
                state.phase = Phase::Open(Box::new(door));
                self.batches.door.notify_all();
                Ok((Some(leader), state))
            }
            Err(error) => {
                leader.end(Err(error.again()));
                Err(error)
            }
        }
    }

    fn door(&self, batch: Arc<Batch>) -> Result<Door, StoreError> {
        let directory =
            Directory::open(self.directory())?.ok_or_else(|| io(self.directory(), Errno::NOENT))?;
        let lock = IndexLock::take(&directory)?;
        let mut notes = Vec::new();
        self.read_or_restore(&directory, &lock, &mut notes)?;
        Ok(Door::new(batch, (directory, lock), notes))
    }

    fn interrupted(&self) -> StoreError {
        io(self.directory(), Errno::INTR)
    }
}

impl Batches {
    fn state(&self) -> MutexGuard<'_, State> {
        // A thread that panics while it makes its change has changed nothing.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stop_waiting(&self, state: &mut State) {
        state.waiting -= 1;
        if state.waiting == 0 {
            self.gathered.notify_one();
        }
    }

    /// Says that a thread has put onto the disk what it had to, or why not.
    fn leave(&self, batch: &Arc<Batch>, failed: Option<StoreError>) {
        let mut state = self.state();
        if let Phase::Open(door) | Phase::Closed(Some(door)) = &mut state.phase
            && Arc::ptr_eq(&door.batch, batch)
        {
            door.at_work -= 1;
            door.failure = door.failure.take().or(failed);
            if door.at_work == 0 {
                self.gathered.notify_one();
            }
        }
    }
}

impl Batch {
    /// Waits until it is on the disk.
    fn wait(&self) -> Result<(), StoreError> {
        self.sleepers().push(std::thread::current());
        loop {
            match self.outcome.get() {
                Some(Ok(())) => return Ok(()),
                Some(Err(error)) => return Err(error.again()),
                None => std::thread::park(),
            }
        }
    }

    /// Tells everybody who waits how it went.
    fn end(&self, outcome: Result<(), StoreError>) {
        let _ = self.outcome.set(outcome);
        // Who comes later sees the outcome.
        for sleeper in std::mem::take(&mut *self.sleepers()) {
            sleeper.unpark();
        }
    }

    fn sleepers(&self) -> MutexGuard<'_, Vec<Thread>> {
        self.sleepers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The thread that writes for all. Whatever becomes of it, nobody waits for it in vain.
struct Leader<'l> {
    ledger: &'l IndexFile,
    batch: Arc<Batch>,
}

impl Leader<'_> {
    /// Lets everybody in who waits, closes the door, and writes.
    fn finish(self) {
        let batches = &self.ledger.batches;
        let mut state = batches.state();
        for _ in 0..MAX_LOOKS {
            while state.waiting > 0 {
                state = batches
                    .gathered
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
            }
            let members = state.members();
            drop(state);
            std::thread::yield_now();
            state = batches.state();
            if state.members() == members {
                break;
            }
        }
        let Phase::Open(door) = std::mem::take(&mut state.phase) else {
            return;
        };
        state.phase = Phase::Closed(Some(door));
        let door = loop {
            let Phase::Closed(door) = &mut state.phase else {
                return;
            };
            match door.take() {
                Some(done) if done.at_work == 0 => break done,
                busy => *door = busy,
            }
            state = batches
                .gathered
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        };
        drop(state);
        let outcome = self.write(*door);
        self.end(outcome);
    }

    /// Puts all changes onto the disk, and gives the lock back.
    fn write(&self, door: Door) -> Result<(), StoreError> {
        if let Some(failure) = door.failure {
            return Err(failure);
        }
        if !door.keys.is_empty() {
            rebuild::note_keys(&door.directory, &door.keys, &door.lock)?;
        }
        if door.changes.is_empty() {
            return Ok(());
        }
        let names_are_new = !door.keys.is_empty();
        self.ledger
            .commit(&door.directory, &door.lock, door.changes, names_are_new)
    }

    /// Lets the next one lead, and tells everybody how it went.
    fn end(&self, outcome: Result<(), StoreError>) {
        let batches = &self.ledger.batches;
        let is_done = outcome.is_ok();
        // A door that did not open is told before anybody else can lead.
        if !is_done {
            self.batch.end(outcome);
            batches.state().phase = Phase::Idle;
            batches.door.notify_all();
            return;
        }
        batches.state().phase = Phase::Idle;
        // One is enough: it leads, and opens the door for the others.
        batches.door.notify_one();
        self.batch.end(outcome);
    }
}

impl Drop for Leader<'_> {
    fn drop(&mut self) {
        if self.batch.outcome.get().is_none() {
            self.end(Err(self.ledger.interrupted()));
        }
    }
}
