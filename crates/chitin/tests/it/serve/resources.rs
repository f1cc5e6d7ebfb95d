//! A machine that runs out of something under load: what was acknowledged is answered once there is enough again, and nothing twice.

use super::Serving;
use crate::process::command;
use crate::run::Talk;
use chitin_test::model_server::Format;
use chitin_test::needs;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A file system that is unmounted when it is dropped.
struct Mounted(PathBuf);

impl Mounted {
    fn new(arguments: &[&str], at: &Path) -> Option<Self> {
        std::fs::create_dir_all(at).unwrap();
        let mut mount = Command::new("mount");
        mount.args(arguments).arg(at).stderr(Stdio::null());
        let done = mount.status().is_ok_and(|status| status.success());
        done.then(|| Self(at.to_path_buf()))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

fn talk() -> Talk {
    Talk::new(Format::Anthropic, &[json!({"text": "Heard.", "times": 0})])
}

fn send(serving: &Serving, number: usize, text: &str) -> Option<(u16, Value)> {
    let head = [
        ("authorization", format!("Bearer {}", serving.token)),
        ("idempotency-key", format!("key-{number}")),
    ];
    let body = json!({"text": text, "session": format!("agent:main:load-{number}")});
    serving.try_exchange("POST", "/api/messages", &head, &body.to_string())
}

/// What became of messages.
#[derive(Default)]
struct Load {
    /// They were acknowledged.
    taken: Vec<usize>,
    /// They were refused.
    refused: Vec<usize>,
    /// Nobody said: the connection ended.
    unknown: usize,
}

impl Load {
    fn extend(&mut self, other: Self) {
        self.taken.extend(other.taken);
        self.refused.extend(other.refused);
        self.unknown += other.unknown;
    }
}

/// Sends a message for each number from several threads.
fn load(serving: &Serving, numbers: std::ops::Range<usize>, text: &str) -> Load {
    let next = AtomicUsize::new(numbers.start);
    let load = Mutex::new(Load::default());
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= numbers.end {
                        return;
                    }
                    let said = send(serving, number, text);
                    let mut load = load.lock().unwrap();
                    match said {
                        Some((200 | 202, _)) => load.taken.push(number),
                        Some((503 | 500 | 429, _)) => load.refused.push(number),
                        Some((status, answer)) => unreachable!("{status}: {answer}"),
                        None => load.unknown += 1,
                    }
                }
            });
        }
    });
    load.into_inner().unwrap()
}

/// Waits until all that was acknowledged is answered, and checks that it is there once.
fn all_done(talk: &Talk, serving: &Serving, load: &Load, text: &str) {
    for number in &load.taken {
        serving.wait_until("it is answered", |serving| {
            let Some((status, answer)) = send(serving, *number, text) else {
                return false;
            };
            assert!(
                matches!(status, 200 | 202 | 500 | 503),
                "{status}: {answer}"
            );
            assert!(status != 200 || answer["status"] == "ok", "{answer}");
            status == 200
        });
    }
    serving.rest();
    let sessions = talk.env.home().join(".chitin/agents/main/sessions");
    let mut users = 0;
    for entry in std::fs::read_dir(sessions).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|kind| kind == "jsonl") {
            let transcript = std::fs::read_to_string(path).unwrap();
            let count = transcript.matches(r#""role":"user""#).count();
            assert!(count <= 1, "{count}: {transcript}");
            users += count;
        }
    }
    let (least, most) = (load.taken.len(), load.taken.len() + load.unknown);
    assert!(
        (least..=most).contains(&users),
        "{users}, not {least} to {most}"
    );
    for number in &load.refused {
        let session = format!("/api/sessions/agent:main:load-{number}");
        let (status, _) = serving.ask("GET", &session, None);
        assert_eq!(status, 404, "nothing happened to what was refused");
    }
}

fn failures(serving: &Serving) -> u64 {
    let head = [("authorization", format!("Bearer {}", serving.token))];
    let page = serving.read_text("/metrics", &head);
    let line = page
        .lines()
        .find(|line| line.contains(r#"fault="machine""#))
        .unwrap();
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

#[test]
fn a_disk_that_is_full_for_a_while_loses_and_doubles_nothing() {
    let talk = talk();
    let home = talk.env.home().join(".chitin");
    let Some(_disk) = Mounted::new(&["-t", "tmpfs", "-o", "size=6m", "tmpfs"], &home) else {
        needs::skipped("the right to mount a file system");
        return;
    };
    talk.configure(json!({}));
    let serving = Serving::start(&talk, &[]);
    let text = "x".repeat(4_000);
    let mut load = load(&serving, 0..5, &text);
    serving.rest();
    // All that is left but a little.
    let ballast = home.join("ballast");
    let free = rustix::fs::statvfs(&home).unwrap();
    let room = usize::try_from(free.f_bavail * free.f_frsize).unwrap();
    std::fs::write(&ballast, vec![0; room.saturating_sub(400_000)]).unwrap();
    load.extend(self::load(&serving, 5..85, &text));
    assert!(
        failures(&serving) > 0 || load.taken.len() < 85,
        "the disk was never full"
    );
    std::fs::remove_file(&ballast).unwrap();
    all_done(&talk, &serving, &load, &text);
}

/// Leaves so many bytes free on a file system, more or less.
fn leave(home: &Path, bytes: usize) {
    let ballast = home.join("ballast");
    let _ = std::fs::remove_file(&ballast);
    let free = rustix::fs::statvfs(home).unwrap();
    let room = usize::try_from(free.f_bavail * free.f_frsize).unwrap();
    std::fs::write(&ballast, vec![0; room.saturating_sub(bytes)]).unwrap();
}

#[test]
fn little_room_stops_recordings_first_then_messages_and_what_was_accepted_goes_on() {
    let talk = Talk::new(
        Format::Anthropic,
        &[
            json!({"when": "slow", "text": "At last.", "delayMs": 4_000, "times": 0}),
            json!({"text": "Heard.", "times": 0}),
        ],
    );
    let home = talk.env.home().join(".chitin");
    let Some(_disk) = Mounted::new(&["-t", "tmpfs", "-o", "size=32m", "tmpfs"], &home) else {
        needs::skipped("the right to mount a file system");
        return;
    };
    talk.configure(json!({
        "trace": {"minFreeBytes": 8 << 20},
        "server": {"minFreeBytes": 2 << 20},
    }));
    let serving = Serving::start(&talk, &[]);
    let ready = |serving: &Serving| serving.ask("GET", "/ready", None).1;
    let disk = |serving: &Serving| serving.ask("GET", "/api/status", None).1["disk"].clone();
    let recorded = || {
        let files = std::fs::read_dir(home.join("logs/trajectory"));
        let names = files
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().path());
        names.filter(|path| path.extension().is_some()).count()
    };
    let say = |number: usize, text: &str| {
        let done = send(&serving, number, text).unwrap();
        if done.0 != 503 {
            serving.rest();
        }
        done
    };
    assert_eq!(say(0, "Hi.").0, 202);
    assert_eq!(
        (ready(&serving)["status"].as_str(), recorded()),
        (Some("ready"), 1)
    );
    assert_eq!(disk(&serving)["records"], true);

    leave(&home, 6 << 20);
    serving.wait_until("little room is noticed", |serving| {
        ready(serving)["reasons"][0]["reason"] == "disk_low"
    });
    assert_eq!(ready(&serving)["status"], "degraded");
    assert_eq!(
        (say(1, "Hi.").0, recorded()),
        (202, 1),
        "nothing is recorded"
    );
    assert_eq!(disk(&serving)["records"], false);
    assert_eq!(disk(&serving)["accepts"], true);

    assert_eq!(send(&serving, 2, "slow").unwrap().0, 202);
    leave(&home, 1 << 20);
    serving.wait_until("the reserve is noticed", |serving| {
        ready(serving)["reasons"][0]["reason"] == "disk_full"
    });
    let (status, refusal) = say(3, "Hi.");
    assert_eq!(
        (status, refusal["error"]["code"].as_str()),
        (503, Some("disk_full")),
        "{refusal}"
    );
    let head = [("authorization", format!("Bearer {}", serving.token))];
    let metrics = serving.read_text("/metrics", &head);
    assert!(metrics.contains("chitin_disk_accepts 0"), "{metrics}");
    assert!(metrics.contains("chitin_disk_records 0"), "{metrics}");
    let doctor = crate::process::chitin(&talk.env, &["doctor", "--offline"]);
    let doctor = crate::run::text(&doctor.stdout).clone();
    assert!(doctor.contains("accepts no messages"), "{doctor}");
    serving.rest();
    let (_, slow) = serving.ask("GET", "/api/sessions/agent:main:load-2", None);
    assert!(slow["history"].to_string().contains("At last."), "{slow}");
    let (refused, _) = serving.ask("GET", "/api/sessions/agent:main:load-3", None);
    assert_eq!(refused, 404, "a refusal means that nothing happened");

    std::fs::remove_file(home.join("ballast")).unwrap();
    serving.wait_until("room is noticed", |serving| {
        ready(serving)["status"] == "ready"
    });
    assert_eq!(
        (say(3, "Hi.").0, recorded()),
        (202, 2),
        "recorded again by itself"
    );
    let log = Serving::log(&talk);
    for (said, times) in [
        ("turns are not recorded until there is more", 1),
        ("no new messages are accepted until there is more", 1),
        ("has room again", 1),
    ] {
        assert_eq!(log.matches(said).count(), times, "{said}: {log}");
    }
}

#[test]
fn a_reserve_that_no_disk_has_refuses_every_message_and_says_so() {
    let talk = talk();
    let most = 1_i64 << 50;
    talk.configure(json!({"server": {"minFreeBytes": most}}));
    let serving = Serving::start(&talk, &[]);
    let (status, ready) = serving.ask("GET", "/ready", None);
    assert_eq!(
        (status, ready["reasons"][0]["reason"].as_str()),
        (503, Some("disk_full"))
    );
    let body = json!({"text": "Hi.", "session": "agent:main:a"});
    let (status, refusal) = serving.ask("POST", "/api/messages", Some(&body));
    assert_eq!(
        (status, refusal["error"]["code"].as_str()),
        (503, Some("disk_full"))
    );
    let (_, status) = serving.ask("GET", "/api/status", None);
    assert_eq!(status["disk"]["acceptsAbove"], most);
    assert_eq!(
        (&status["disk"]["accepts"], &status["disk"]["records"]),
        (&json!(false), &json!(false))
    );
    // Its own sender is at the terminal, and has what the disk still gives.
    let talk = self::talk();
    talk.configure(json!({"trace": {"minFreeBytes": most}}));
    let output = talk.say("Hi.");
    assert!(output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(said.matches("turns are not recorded").count(), 1, "{said}");
    assert!(!talk.env.home().join(".chitin/logs/trajectory").exists());
}

#[test]
fn sessions_that_cannot_be_reached_for_a_while_lose_and_double_nothing() {
    let talk = talk();
    let serving = Serving::start(&talk, &[]);
    let mut load = load(&serving, 0..3, "Hi.");
    serving.rest();
    let agent = talk.env.home().join(".chitin/agents/main");
    let (sessions, away) = (agent.join("sessions"), agent.join("away"));
    std::fs::rename(&sessions, &away).unwrap();
    std::fs::write(&sessions, "a file in the way").unwrap();
    load.extend(self::load(&serving, 3..23, "Hi."));
    serving.wait_until("turns fail", |serving| failures(serving) >= 10);
    let (_, status) = serving.ask("GET", "/api/status", None);
    assert!(status["queue"]["delayed"].as_u64().unwrap() > 0, "{status}");
    let delayed = status["busy"][0]["delayed"]["reason"]
        .as_str()
        .unwrap_or_default();
    assert!(delayed.contains("sessions"), "{status}");
    std::fs::remove_file(&sessions).unwrap();
    std::fs::rename(&away, &sessions).unwrap();
    assert_eq!(load.taken.len(), 23);
    all_done(&talk, &serving, &load, "Hi.");
    let log = Serving::log(&talk);
    assert_eq!(log.matches("is tried again").count(), 1, "{log}");
    assert!(log.contains("No turn is delayed any more."), "{log}");
}

#[test]
fn a_process_with_few_descriptors_loses_and_doubles_nothing() {
    let talk = talk();
    let plain = command(&talk.env, &["serve", "--json", "--listen", "127.0.0.1:0"]);
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -n 64; exec \"$@\"", "sh"]);
    limited.arg(plain.get_program()).args(plain.get_args());
    limited.env_clear().current_dir(talk.env.path());
    limited.envs(
        plain
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    let serving = Serving::begin(&talk, limited, &talk.env.workspace(), &[]);
    let load = load(&serving, 0..200, "Hi.");
    assert!(load.taken.len() > 20, "{}", load.taken.len());
    all_done(&talk, &serving, &load, "Hi.");
}

#[test]
fn the_limit_of_open_files_is_raised() {
    let talk = talk();
    let plain = command(&talk.env, &["serve", "--json", "--listen", "127.0.0.1:0"]);
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -S -n 256; exec \"$@\"", "sh"]);
    limited.arg(plain.get_program()).args(plain.get_args());
    limited.env_clear().current_dir(talk.env.path());
    limited.envs(
        plain
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    let serving = Serving::begin(&talk, limited, &talk.env.workspace(), &[]);
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", serving.id())).unwrap();
    let line = limits
        .lines()
        .find(|line| line.starts_with("Max open files"))
        .unwrap();
    let soft: u64 = line.split_whitespace().nth(3).unwrap().parse().unwrap();
    assert!(soft > 256, "{line}");
}
