//! Connections that have shown no token yet. They have seats of their own, and give way to newcomers, so that no number of them keeps
//! the owner out.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// The seats of strangers.
#[derive(Debug)]
pub(crate) struct Strangers {
    most: usize,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    next: u64,
    /// In the order in which they came.
    seated: BTreeMap<u64, Seated>,
    of_peer: HashMap<IpAddr, usize>,
}

#[derive(Debug)]
struct Seated {
    peer: IpAddr,
    cut: CancellationToken,
    /// Whether a request of it is being answered.
    busy: bool,
}

/// The seat of a stranger, until it is given up.
#[derive(Debug)]
pub(crate) struct StrangerSeat {
    strangers: Arc<Strangers>,
    id: u64,
    /// Ends the connection when its seat is taken away.
    pub(crate) cut: CancellationToken,
}

impl Strangers {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most: most.max(1),
            table: Mutex::default(),
        }
    }

    /// Gives a newcomer a seat. Where all are taken, somebody loses one: of the address that has most of them the one that has been
    /// silent longest.
    pub(crate) fn seat(self: &Arc<Self>, peer: IpAddr) -> StrangerSeat {
        let mut table = self.lock();
        while table.seated.len() >= self.most && table.evict() {}
        let id = table.next;
        table.next += 1;
        let cut = CancellationToken::new();
        let seated = Seated {
            peer,
            cut: cut.clone(),
            busy: false,
        };
        table.seated.insert(id, seated);
        *table.of_peer.entry(peer).or_default() += 1;
        StrangerSeat {
            strangers: Arc::clone(self),
            id,
            cut,
        }
    }

    /// Takes a seat away to make room; tells whether there was one.
    pub(crate) fn make_room(&self) -> bool {
        self.lock().evict()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn evict(&mut self) -> bool {
        let Some(crowd) = self.of_peer.values().copied().max() else {
            return false;
        };
        let candidates = || {
            self.seated
                .iter()
                .filter(|(_, seated)| self.of_peer.get(&seated.peer) == Some(&crowd))
        };
        let silent = candidates().find(|(_, seated)| !seated.busy);
        let Some((id, _)) = silent.or_else(|| candidates().next()) else {
            return false;
        };
        let id = *id;
        if let Some(seated) = self.remove(id) {
            seated.cut.cancel();
        }
        true
    }

    fn remove(&mut self, id: u64) -> Option<Seated> {
        let seated = self.seated.remove(&id)?;
        if let Some(count) = self.of_peer.get_mut(&seated.peer) {
            *count -= 1;
            if *count == 0 {
                self.of_peer.remove(&seated.peer);
            }
        }
        Some(seated)
    }
}

impl StrangerSeat {
    /// Notes whether a request is being answered.
    pub(crate) fn set_busy(&self, busy: bool) {
        if let Some(seated) = self.strangers.lock().seated.get_mut(&self.id) {
            seated.busy = busy;
        }
    }

    /// Gives the seat up: the connection is no stranger's any more, or it is over.
    pub(crate) fn leave(&self) {
        self.strangers.lock().remove(self.id);
    }
}

impl Drop for StrangerSeat {
    fn drop(&mut self) {
        self.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::Strangers;
    use std::net::IpAddr;
    use std::sync::Arc;

    #[test]
    fn the_oldest_silent_one_of_the_largest_crowd_gives_way() {
        let strangers = Arc::new(Strangers::new(4));
        let crowd: IpAddr = [10, 0, 0, 1].into();
        let alone: IpAddr = [10, 0, 0, 2].into();
        let single = strangers.seat(alone);
        let seats: Vec<_> = (0..3).map(|_| strangers.seat(crowd)).collect();
        seats[0].set_busy(true);
        let newcomer = strangers.seat(crowd);
        assert!(seats[1].cut.is_cancelled());
        assert!(!single.cut.is_cancelled() && !seats[0].cut.is_cancelled());
        // Who showed a token has no stranger's seat to lose.
        newcomer.leave();
        seats[2].leave();
        let more: Vec<_> = (0..10).map(|_| strangers.seat(crowd)).collect();
        assert!(!newcomer.cut.is_cancelled() && !seats[2].cut.is_cancelled());
        assert!(!single.cut.is_cancelled());
        assert!(!more[9].cut.is_cancelled());
        drop((single, seats, newcomer, more));
        assert!(!strangers.make_room());
    }
}
