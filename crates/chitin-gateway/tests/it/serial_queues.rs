//! Queues of work, one per key.

use chitin_gateway::queue::SerialQueues;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// What was done, in order.
type Done = Arc<Mutex<Vec<&'static str>>>;

/// A job that takes a while and then says that it is done.
fn job(done: &Done, name: &'static str, seconds: u64) -> BoxFuture<'static, ()> {
    let done = Arc::clone(done);
    async move {
        sleep(Duration::from_secs(seconds)).await;
        done.lock().unwrap().push(name);
    }
    .boxed()
}

#[tokio::test(start_paused = true)]
async fn work_of_one_key_is_done_in_order_and_other_keys_do_not_wait_for_it() {
    let (queues, done) = (SerialQueues::new(10, 10), Done::default());
    let began = Instant::now();
    assert!(queues.try_push("a", job(&done, "a1", 5)));
    assert!(queues.try_push("a", job(&done, "a2", 1)));
    assert!(queues.try_push("b", job(&done, "b1", 2)));
    queues.finish().await;
    assert_eq!(*done.lock().unwrap(), ["b1", "a1", "a2"]);
    assert_eq!(began.elapsed().as_secs(), 6);
    // It goes on after that.
    queues.push("a", job(&done, "a3", 0)).await;
    queues.finish().await;
    assert_eq!(done.lock().unwrap().last(), Some(&"a3"));
}

#[tokio::test(start_paused = true)]
async fn what_has_no_room_is_refused_or_waits_and_no_more_is_done_at_once_than_allowed() {
    let (queues, done) = (SerialQueues::new(3, 1), Done::default());
    let began = Instant::now();
    for name in ["a", "b", "c"] {
        assert!(queues.try_push(name, job(&done, name, 1)));
    }
    assert!(!queues.try_push("d", job(&done, "refused", 1)));
    queues.push("d", job(&done, "d", 1)).await;
    assert_eq!(began.elapsed().as_secs(), 1, "one was done, one had room");
    queues.finish().await;
    assert_eq!(began.elapsed().as_secs(), 4, "one after the other");
    assert_eq!(done.lock().unwrap().len(), 4);
    assert!(!done.lock().unwrap().contains(&"refused"));
}

#[tokio::test(start_paused = true)]
async fn a_job_that_panics_takes_neither_its_queue_nor_its_room_with_it() {
    let (queues, done) = (SerialQueues::new(2, 2), Done::default());
    let mistake = async { unreachable!("a mistake in a job") };
    assert!(queues.try_push("a", mistake.boxed()));
    assert!(queues.try_push("a", job(&done, "after it", 1)));
    queues.finish().await;
    assert_eq!(*done.lock().unwrap(), ["after it"]);
    assert!(queues.try_push("a", job(&done, "one", 0)));
    assert!(queues.try_push("a", job(&done, "two", 0)));
    queues.finish().await;
    assert_eq!(*done.lock().unwrap(), ["after it", "one", "two"]);
}

#[tokio::test(start_paused = true)]
async fn an_end_waits_for_what_is_short_and_drops_what_is_not() {
    let (queues, done) = (SerialQueues::new(10, 10), Done::default());
    let began = Instant::now();
    for (name, seconds) in [("short", 1), ("long", 3_600), ("behind it", 1)] {
        let key = if name == "short" { "a" } else { "b" };
        assert!(queues.try_push(key, job(&done, name, seconds)));
    }
    queues.end(Duration::from_secs(5)).await;
    assert_eq!(*done.lock().unwrap(), ["short"]);
    assert_eq!(began.elapsed().as_secs(), 5);
}
