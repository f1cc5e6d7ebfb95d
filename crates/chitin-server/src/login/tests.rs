use super::*;
use chitin_agent::clock::Clock;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);
const TOKEN: &str = "a-token-for-tests-0123456789";

/// A register that forgets with the test, and can be full.
#[derive(Default)]
struct Notebook {
    kept: Mutex<Vec<KeptLogin>>,
    is_full: Mutex<bool>,
    changes: Mutex<Vec<LoginChange>>,
}

impl Register for Notebook {
    fn read(&self) -> Vec<KeptLogin> {
        self.kept.lock().unwrap().clone()
    }

    fn change(&self, change: &LoginChange) -> Option<Vec<KeptLogin>> {
        if *self.is_full.lock().unwrap() {
            return None;
        }
        self.changes.lock().unwrap().push(change.clone());
        let mut kept = self.kept.lock().unwrap();
        *kept = change.apply(&kept);
        Some(kept.clone())
    }
}

impl Notebook {
    fn full(&self, is_full: bool) {
        *self.is_full.lock().unwrap() = is_full;
    }
}

fn now() -> Moment {
    Moment {
        at: Instant::now(),
        ms: 1_800_000_000_000,
    }
}

/// So much later, by both clocks.
fn after(now: Moment, time: Duration) -> Moment {
    Moment {
        at: now.at + time,
        ms: now.ms + i64::try_from(time.as_millis()).unwrap(),
    }
}

fn forgetful() -> Logins {
    Logins::new(TOKEN, None)
}

/// A server that begins with what a notebook says.
fn served(notebook: &Arc<Notebook>, token: &str, now: Moment) -> Logins {
    let logins = Logins::new(token, Some(Arc::clone(notebook) as _));
    logins.read(now);
    logins
}

#[test]
fn who_does_nothing_for_half_a_day_is_out_and_who_does_something_stays() {
    let (logins, mut now) = (forgetful(), now());
    let fresh = logins.begin(now).unwrap();
    for _ in 0..3 {
        now = after(now, STAYS.checked_sub(SECOND).unwrap());
        assert_eq!(logins.csrf(&fresh.name, now), Some(fresh.csrf.clone()));
    }
    assert_eq!(logins.csrf(&fresh.name, after(now, STAYS)), None);
}

#[test]
fn half_a_day_is_over_when_either_clock_says_so() {
    let begun = now();
    let slept = Moment {
        at: begun.at + SECOND,
        ..after(begun, STAYS)
    };
    let put_back = Moment {
        ms: begun.ms - 1_000_000,
        ..after(begun, STAYS)
    };
    for later in [slept, put_back] {
        let logins = forgetful();
        let fresh = logins.begin(begun).unwrap();
        assert_eq!(logins.csrf(&fresh.name, later), None, "{later:?}");
        assert_eq!(logins.csrf(&fresh.name, begun), None, "out is out");
    }
}

#[test]
fn the_one_that_did_nothing_for_longest_makes_room() {
    let (logins, mut now) = (forgetful(), now());
    let (first, second) = (logins.begin(now).unwrap(), logins.begin(now).unwrap());
    now = after(now, SECOND);
    assert!(logins.csrf(&first.name, now).is_some());
    for _ in 0..MOST - 1 {
        now = after(now, SECOND);
        logins.begin(now).unwrap();
    }
    assert_eq!(logins.csrf(&second.name, now), None);
    assert!(logins.csrf(&first.name, now).is_some());
}

#[test]
fn names_are_long_and_never_the_same_and_end_when_they_are_told_to() {
    let (logins, now) = (forgetful(), now());
    let (one, other) = (logins.begin(now).unwrap(), logins.begin(now).unwrap());
    assert_eq!((one.name.len(), one.csrf.len()), (64, 64));
    assert_ne!(one.name, other.name);
    assert_ne!(one.name, one.csrf);
    assert_ne!(one.csrf, other.csrf);
    logins.end(&one.name);
    assert_eq!(logins.csrf(&one.name, now), None);
    assert!(logins.csrf(&other.name, now).is_some());
}

#[test]
fn a_restart_shows_nobody_out_and_another_token_everybody() {
    let (notebook, begun) = (Arc::new(Notebook::default()), now());
    let before = served(&notebook, TOKEN, begun);
    let fresh = before.begin(begun).unwrap();
    before.keep(begun.ms);
    let later = after(begun, STAYS / 2);
    let again = served(&notebook, TOKEN, later);
    assert_eq!(again.csrf(&fresh.name, later), Some(fresh.csrf));
    let other = served(&notebook, "another-token-0123456789", later);
    assert_eq!(other.csrf(&fresh.name, later), None);
    let late = after(begun, STAYS);
    assert_eq!(
        served(&notebook, TOKEN, late).csrf(&fresh.name, late),
        None,
        "nobody wrote down that they were seen"
    );
}

#[test]
fn who_was_out_before_a_restart_is_out_after_it() {
    let (notebook, now) = (Arc::new(Notebook::default()), now());
    let before = served(&notebook, TOKEN, now);
    let (one, other) = (before.begin(now).unwrap(), before.begin(now).unwrap());
    before.keep(now.ms);
    before.end(&one.name);
    before.keep(now.ms);
    let again = served(&notebook, TOKEN, now);
    assert_eq!(again.csrf(&one.name, now), None);
    assert!(again.csrf(&other.name, now).is_some());
}

#[test]
fn neither_a_name_nor_a_proof_nor_the_token_is_kept() {
    let (notebook, now) = (Arc::new(Notebook::default()), now());
    let logins = served(&notebook, TOKEN, now);
    let fresh = logins.begin(now).unwrap();
    logins.keep(now.ms);
    let kept = notebook.read();
    assert_eq!(kept.len(), 1);
    let digests = [fresh.name.as_str(), &fresh.csrf, TOKEN].map(Sha256::digest);
    let kept = hex::encode(kept[0].id);
    assert!(kept != fresh.name && kept != fresh.csrf);
    for digest in digests {
        assert_ne!(
            hex::encode(digest),
            kept,
            "what is kept cannot be tried out"
        );
    }
}

#[test]
fn nothing_is_written_while_nothing_happens() {
    let (notebook, now) = (Arc::new(Notebook::default()), now());
    let logins = served(&notebook, TOKEN, now);
    let fresh = logins.begin(now).unwrap();
    for _ in 0..3 {
        logins.keep(now.ms);
    }
    assert_eq!(notebook.changes.lock().unwrap().len(), 1);
    logins.csrf(&fresh.name, now);
    logins.keep(now.ms);
    assert_eq!(notebook.changes.lock().unwrap().len(), 2);
}

#[test]
fn a_full_disk_keeps_nobody_out_and_nobody_in() {
    let (notebook, now) = (Arc::new(Notebook::default()), now());
    let logins = served(&notebook, TOKEN, now);
    let (early, gone) = (logins.begin(now).unwrap(), logins.begin(now).unwrap());
    logins.keep(now.ms);
    notebook.full(true);
    let fresh = logins.begin(now).unwrap();
    logins.end(&gone.name);
    logins.keep(now.ms);
    assert!(
        logins.csrf(&fresh.name, now).is_some(),
        "it works meanwhile"
    );
    assert_eq!(logins.csrf(&gone.name, now), None);
    // Then there is room again.
    notebook.full(false);
    logins.keep(now.ms);
    let again = served(&notebook, TOKEN, now);
    assert!(again.csrf(&fresh.name, now).is_some());
    assert!(again.csrf(&early.name, now).is_some());
    assert_eq!(again.csrf(&gone.name, now), None);
}

#[test]
fn two_servers_share_a_register() {
    let (notebook, now) = (Arc::new(Notebook::default()), now());
    let one = served(&notebook, TOKEN, now);
    let shared = one.begin(now).unwrap();
    one.keep(now.ms);
    let other = served(&notebook, TOKEN, now);
    let (of_one, of_other) = (one.begin(now).unwrap(), other.begin(now).unwrap());
    other.keep(now.ms);
    one.keep(now.ms);
    // Who logs out at one of them is out at both, once the other writes something down.
    other.end(&shared.name);
    other.keep(now.ms);
    assert!(one.csrf(&shared.name, now).is_some());
    one.keep(now.ms);
    assert_eq!(one.csrf(&shared.name, now), None);
    let third = served(&notebook, TOKEN, now);
    assert!(third.csrf(&of_one.name, now).is_some());
    assert!(third.csrf(&of_other.name, now).is_some());
    assert_eq!(third.csrf(&shared.name, now), None);
}

#[test]
fn a_register_that_holds_too_many_gives_the_latest() {
    let (notebook, now) = (Arc::new(Notebook::default()), now());
    for name in 0..=u8::MAX {
        notebook.kept.lock().unwrap().push(KeptLogin {
            id: [name; 32],
            seen_ms: now.ms - i64::from(name),
        });
    }
    let logins = served(&notebook, TOKEN, now);
    assert_eq!(logins.state().logins.len(), MOST);
    assert!(logins.state().logins.contains_key(&[0; 32]));
}

/// The clock on the wall, as tests see it.
struct Wall;

impl Clock for Wall {
    fn now_ms(&self) -> i64 {
        now().ms
    }

    fn unique(&self) -> String {
        String::new()
    }
}

#[tokio::test(start_paused = true)]
async fn who_did_something_is_written_down_every_few_minutes_and_not_with_each_request() {
    let (notebook, now) = (Arc::new(Notebook::default()), now());
    let logins = Arc::new(served(&notebook, TOKEN, now));
    let fresh = logins.begin(now).unwrap();
    keep(&logins, &Wall).await;
    let keeping = tokio::spawn(keep_for_ever(Arc::clone(&logins), Arc::new(Wall)));
    let written = || notebook.changes.lock().unwrap().len();
    for _ in 0..100 {
        logins.csrf(&fresh.name, now).unwrap();
        tokio::time::sleep(SECOND).await;
    }
    assert_eq!(written(), 1);
    tokio::time::sleep(SECOND * 600).await;
    assert_eq!(written(), 2, "once, and not again while nothing happens");
    keeping.abort();
}
