//! Extension files as the rest of the program uses them: positions, live edits, suggestions, channels.
#![expect(
    clippy::disallowed_methods,
    reason = "files are changed behind the library's back"
)]

use chitin_guard::ReadPolicy;
use chitin_test::TestEnv;
use chitin_workspace::extensions::channels::ChannelFilter;
use chitin_workspace::extensions::permissions::{
    self, CallerUsage, MessageDecision, PermissionRequest,
};
use chitin_workspace::extensions::suggestion::{Suggestion, suggest};
use chitin_workspace::extensions::{LiveFile, LiveText, Position};
use jiff::Timestamp;
use std::cell::Cell;

fn policy() -> ReadPolicy {
    ReadPolicy::inside(1 << 20)
}

fn decide(text: &str, message: &str) -> (&'static str, Option<usize>) {
    let request = PermissionRequest {
        message,
        roles: &["owner"],
        now: Timestamp::UNIX_EPOCH,
    };
    match permissions::parse(text, "main")
        .unwrap()
        .decide(request, &CallerUsage::default())
    {
        MessageDecision::Admit => ("", None),
        MessageDecision::Refuse { rule, line, .. } => (rule, line),
    }
}

#[test]
fn a_refusal_names_the_line_whatever_the_order_and_the_line_ends() {
    let text = "# Rules\r\n- deny-regex: b+\r\n\r\n- deny: aa\r* allow: x\n+ allow-regex: y$\nrequire-role: guest\n";
    assert_eq!(decide(text, "x aa"), ("deny", Some(4)));
    assert_eq!(decide(text, "x b"), ("deny-regex", Some(2)));
    assert_eq!(decide(text, "z"), ("allow", Some(5)));
    assert_eq!(decide(text, "y"), ("require-role", Some(7)));
    let error = permissions::parse("deny: a\n  - rate-limit:  many\n", "main").unwrap_err();
    assert_eq!(
        error.position,
        Position {
            line: 2,
            column: 18
        }
    );
    assert!(
        error
            .to_string()
            .starts_with("line 2, column 18: `rate-limit: many`")
    );
}

#[test]
fn what_is_denied_and_allowed_is_denied() {
    assert_eq!(
        decide("allow: fish\ndeny: fish\n", "a fish"),
        ("deny", Some(2))
    );
}

#[test]
fn a_live_file_is_made_again_only_when_its_text_is_another() {
    let env = TestEnv::new();
    let file = LiveFile::new(&env.workspace(), "PERMISSIONS.md", policy());
    let made = Cell::new(0);
    let get = || {
        file.get(|text| {
            made.set(made.get() + 1);
            text.clone()
        })
    };
    assert_eq!(*get(), LiveText::Absent);
    env.files([("PERMISSIONS.md", "deny: a\n")]);
    assert_eq!(*get(), LiveText::Text("deny: a\n".into()));
    get();
    assert_eq!(made.get(), 2);
    // Same length, same second: the text decides.
    env.files([("PERMISSIONS.md", "deny: b\n")]);
    assert_eq!(*get(), LiveText::Text("deny: b\n".into()));
    std::fs::rename(env.workspace(), env.path().join("away")).unwrap();
    assert_eq!(
        *get(),
        LiveText::Text("deny: b\n".into()),
        "rules do not vanish with their directory"
    );
    std::fs::rename(env.path().join("away"), env.workspace()).unwrap();
    env.file("workspace/PERMISSIONS.md", vec![b'x'; (1 << 20) + 1]);
    assert!(
        matches!(*get(), LiveText::Unreadable(_)),
        "half a list is no list"
    );
}

/// Counts how often a file is opened, from now on.
struct Opened(rustix::fd::OwnedFd);

impl Opened {
    fn of(file: &std::path::Path) -> Self {
        use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};
        let watch = init(CreateFlags::NONBLOCK).unwrap();
        add_watch(&watch, file, WatchFlags::OPEN).unwrap();
        Self(watch)
    }

    fn since_last(&self) -> usize {
        let mut room = [std::mem::MaybeUninit::uninit(); 4096];
        let mut events = rustix::fs::inotify::Reader::new(&self.0, &mut room);
        std::iter::from_fn(|| events.next().ok().map(drop)).count()
    }
}

#[test]
fn a_live_file_that_did_not_change_is_not_opened_again() {
    let env = TestEnv::new();
    let path = env.file("workspace/PERMISSIONS.md", "deny: a\n");
    let opened = Opened::of(&path);
    let file = LiveFile::new(&env.workspace(), "PERMISSIONS.md", policy());
    let get = || file.get(LiveText::clone);
    assert_eq!(*get(), LiveText::Text("deny: a\n".into()));
    assert_eq!(opened.since_last(), 1, "what is asked for is read");
    // Soon after a change the file's stamps prove nothing yet.
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    loop {
        get();
        if opened.since_last() == 0 {
            break;
        }
        assert!(std::time::Instant::now() < deadline, "it is read each time");
    }
    for _ in 0..100 {
        get();
    }
    assert_eq!(opened.since_last(), 0);
    env.file("workspace/PERMISSIONS.md", "deny: b\n");
    assert_eq!(
        *get(),
        LiveText::Text("deny: b\n".into()),
        "an edit holds at once"
    );
    std::fs::remove_file(path).unwrap();
    assert_eq!(*get(), LiveText::Absent);
}

#[test]
fn channels_are_only_taken_away() {
    let env = TestEnv::new();
    let filter = ChannelFilter::new(&env.workspace(), policy());
    assert_eq!(filter.refusal("discord"), None);
    env.files([("CHANNELS.md", "# Where\n\n- WebChat: the page\n")]);
    assert!(filter.refusal("discord").unwrap().contains("`CHANNELS.md`"));
    for open in ["web", "webchat", "terminal", "internal", ""] {
        assert_eq!(filter.refusal(open), None, "{open}");
    }
    env.files([("CHANNELS.md", "# No names here\n")]);
    assert_eq!(
        filter.refusal("discord"),
        None,
        "no name means every channel"
    );
    env.file("workspace/CHANNELS.md", b"web \xff\n");
    assert!(filter.refusal("web").unwrap().contains("cannot be read"));
    assert_eq!(filter.refusal("terminal"), None);
}

fn suggested(text: &str) -> Suggestion {
    suggest(&LiveText::Text(text.into()))
}

#[test]
fn a_suggestion_has_a_model_and_a_limit_and_never_an_address_or_a_key() {
    let found = suggested(
        "model: gpt-5\nmodel: other/x\nmaxTokens: 100\napiKey: k-123\nbase-url: http://x\ntop-p: 1\n",
    );
    assert_eq!(found.model, Some(("gpt-5".to_owned(), 1)));
    assert_eq!(found.max_tokens, Some(100));
    assert_eq!(found.full_name(), Some(Ok("openai/gpt-5".to_owned())));
    assert_eq!(found.notes.len(), 3);
    assert!(
        found.notes.iter().all(|note| !note.contains("k-123")),
        "{:?}",
        found.notes
    );
    let full = |text: &str| suggested(text).full_name();
    assert_eq!(
        full("mode: fake\nmodel: x\n"),
        Some(Ok("offline".to_owned()))
    );
    assert_eq!(
        full("mode: local\nmodel: llama\n"),
        Some(Ok("ollama/llama".to_owned()))
    );
    assert_eq!(full("max-tokens: 0\n"), None);
    assert!(
        full("model: mystery\n")
            .unwrap()
            .unwrap_err()
            .contains("line 1")
    );
}
