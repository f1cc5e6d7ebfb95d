//! The one boundary between async code and the disk, for short work that borrows. Longer work, such as waiting until records
//! are on the disk, goes to a thread of its own (`spawn_blocking`), because something else happens meanwhile.

use tokio::runtime::{Handle, RuntimeFlavor};

/// Runs short work that reads or writes files.
///
/// On a runtime with several workers, the other tasks of this worker move to another one first, so that a slow disk delays one
/// turn and not those beside it. A runtime with a single worker, such as that of `chitin run`, has nothing to move.
pub fn blocking<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|handle| handle.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        Ok(_) | Err(_) => work(),
    }
}

#[cfg(test)]
mod tests {
    use super::blocking;
    use std::sync::mpsc;
    use std::time::Duration;

    /// Two tasks on one worker: the first waits, in blocking work, for what only the second can send.
    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn other_tasks_of_the_worker_go_on() {
        let (sender, receiver) = mpsc::channel();
        let waiting = tokio::spawn(async move {
            tokio::spawn(async move { sender.send(()) });
            blocking(|| receiver.recv_timeout(Duration::from_secs(20)))
        });
        assert_eq!(waiting.await.unwrap(), Ok(()));
    }

    #[tokio::test]
    async fn a_single_worker_just_works() {
        assert_eq!(blocking(|| 7), 7);
    }

    #[test]
    fn no_runtime_is_needed() {
        assert_eq!(blocking(|| 7), 7);
    }
}
