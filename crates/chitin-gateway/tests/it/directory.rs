//! A directory as a surface: files in, files out, each once.

use crate::stage::{Setting, Stage};
use chitin_gateway::surface::directory::{DirectoryScan, DirectorySurface, MessageFile};
use chitin_gateway::surface::{SurfaceAction, SurfaceOutcome};
use chitin_gateway::{Address, OutgoingMessage, Surface};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// A stage with a directory beside its chat.
struct Post {
    stage: Stage,
    surface: DirectorySurface,
    path: PathBuf,
}

fn post(setting: Setting) -> Post {
    let path = setting.env.home().join("post");
    let surface = DirectorySurface::open(&path).unwrap();
    let stage = setting.surface(Arc::new(surface.clone())).stage();
    Post {
        stage,
        surface,
        path,
    }
}

impl Post {
    fn put(&self, name: &str, content: &Value) {
        let bytes = serde_json::to_vec(content).unwrap();
        std::fs::write(self.path.join("in").join(name), bytes).unwrap();
    }

    async fn look(&self) -> DirectoryScan {
        let looked = self.surface.look(&self.stage.gateway).await.unwrap();
        self.stage.rest().await;
        looked
    }

    fn names(&self, directory: &str) -> Vec<String> {
        let listed = std::fs::read_dir(self.path.join(directory)).unwrap();
        let mut names: Vec<String> = listed
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Returns what went out, as `number kind place: text`. What is still being written has a hidden name.
    fn out(&self) -> Vec<String> {
        let read = |name: &String| {
            let bytes = std::fs::read(self.path.join("out").join(name)).unwrap();
            let record: Value = serde_json::from_slice(&bytes).unwrap();
            let to: Address = serde_json::from_value(record["to"].clone()).unwrap();
            let number: u32 = name.split('-').next().unwrap().parse().unwrap();
            let kind = record["kind"].as_str().unwrap();
            format!(
                "{number} {kind} {to}: {}",
                record["text"].as_str().unwrap_or("-")
            )
        };
        let names = self.names("out");
        let whole = names.iter().filter(|name| !name.starts_with('.'));
        whole.map(read).collect()
    }
}

fn said(text: &str) -> Value {
    json!({"text": text, "peer": {"kind": "channel", "id": "yard"}, "sender": "ada", "owner": true})
}

fn yard(thread: Option<&str>) -> Address {
    serde_json::from_value(json!({
        "channel": "directory", "peer": {"kind": "channel", "id": "yard"}, "threadId": thread,
    }))
    .unwrap()
}

#[tokio::test]
async fn files_are_taken_in_the_order_of_their_names_and_answered() {
    let config = json!({"messages": {"queue": {"mode": "followup", "debounceMs": 0}}});
    let replies = [json!({"text": "One."}), json!({"text": "Two."})];
    let post = post(Setting::replies(&replies).config(config));
    post.put("b.json", &said("second"));
    post.put("a.json", &said("first"));
    post.put("c.json.part", &said("still being written"));
    post.put(".d.json", &said("hidden"));
    let looked = post.look().await;
    assert_eq!((looked.taken, looked.refused, looked.left), (2, 0, 0));
    assert_eq!(post.names("taken"), ["00000001-a.json", "00000002-b.json"]);
    assert_eq!(post.names("in"), [".d.json", "c.json.part"]);
    let texts: Vec<String> = post.out().iter().map(|line| line[2..].to_owned()).collect();
    assert_eq!(
        texts,
        [
            "message directory:channel:yard: One.",
            "message directory:channel:yard: Two."
        ]
    );
}

#[tokio::test]
async fn what_is_no_message_is_put_aside_with_its_reason() {
    let post = post(Setting::default());
    let bad = [
        ("a.json", json!({"text": "Hi", "peeer": 1})),
        ("b.json", json!({"text": "  "})),
        ("c.json", json!({"text": "Hi", "id": "one\ntwo"})),
        ("d.json", json!({"text": "Hi", "agent": "nobody"})),
        ("e.json", json!(["Hi"])),
    ];
    for (name, content) in bad {
        post.put(name, &content);
    }
    std::os::unix::fs::symlink("/etc/passwd", post.path.join("in/f.json")).unwrap();
    let looked = post.look().await;
    assert_eq!((looked.taken, looked.refused), (0, 6));
    let reasons: Vec<String> = post
        .names("refused")
        .into_iter()
        .filter(|name| name.ends_with(".reason.txt"))
        .map(|name| {
            let reason = std::fs::read_to_string(post.path.join("refused").join(&name)).unwrap();
            let reason = reason.replace(&post.path.display().to_string(), "$POST");
            format!("{}: {}", &name[..1], reason.trim())
        })
        .collect();
    insta::assert_snapshot!(reasons.join("\n"));
    assert!(post.names("in").is_empty());
}

#[tokio::test]
async fn the_same_words_never_go_out_twice_even_after_a_restart() {
    let post = post(Setting::default());
    let place = yard(None);
    let message = |key: &str| OutgoingMessage {
        key: key.to_owned(),
        text: "Five larch.".to_owned(),
        ..OutgoingMessage::default()
    };
    let first = post
        .surface
        .send(&place, &message("job:0:0"))
        .await
        .unwrap();
    let again = post
        .surface
        .send(&place, &message("job:0:0"))
        .await
        .unwrap();
    assert_eq!(first, again);
    let later = DirectorySurface::open(&post.path).unwrap();
    assert_eq!(
        later.send(&place, &message("job:0:0")).await.unwrap(),
        first
    );
    later.send(&place, &message("job:0:1")).await.unwrap();
    assert_eq!(
        post.out(),
        [
            "1 message directory:channel:yard: Five larch.",
            "2 message directory:channel:yard: Five larch."
        ]
    );
}

#[tokio::test]
async fn a_message_that_was_taken_in_before_a_crash_is_one_message() {
    let post = post(Setting::replies(&[
        json!({"text": "One."}),
        json!({"text": "Two."}),
    ]));
    post.put("a.json", &said("Hello"));
    post.look().await;
    // The crash came before the file was put away.
    post.put("a.json", &said("Hello"));
    assert_eq!(post.look().await.taken, 1);
    assert_eq!(post.out().len(), 1);
}

#[tokio::test]
async fn the_past_is_what_came_in_and_what_went_out_with_its_edits() {
    let replies = [
        json!({"text": "Fyve larch."}),
        json!({"text": "In the thread."}),
    ];
    let post = post(Setting::replies(&replies));
    post.put("a.json", &said("Board?"));
    post.look().await;
    let thread = post
        .surface
        .act(
            &yard(None),
            &SurfaceAction::ThreadCreate {
                name: "Board".to_owned(),
                message_id: Some("a".to_owned()),
                auto_archive_min: None,
            },
        )
        .await
        .unwrap();
    let SurfaceOutcome::Thread { address: thread } = thread else {
        unreachable!("a thread is wanted");
    };
    let mut inside = said("And here?");
    inside["thread"] = json!(thread.thread_id);
    post.put("b.json", &inside);
    post.look().await;
    let read = |place: Address, limit| {
        let surface = post.surface.clone();
        async move {
            let done = surface
                .act(
                    &place,
                    &SurfaceAction::Read {
                        limit,
                        before: None,
                    },
                )
                .await;
            let Ok(SurfaceOutcome::Said { messages }) = done else {
                unreachable!("the past is wanted");
            };
            messages
        }
    };
    let answer = read(yard(None), 10).await.pop().unwrap();
    let edit = SurfaceAction::Edit {
        message_id: answer.message_id,
        text: "Five larch.".to_owned(),
    };
    post.surface.act(&yard(None), &edit).await.unwrap();
    let lines = |past: Vec<chitin_gateway::surface::PastMessage>| -> Vec<String> {
        past.into_iter()
            .map(|past| format!("{}: {}", past.sender.as_deref().unwrap_or("us"), past.text))
            .collect()
    };
    assert_eq!(
        lines(read(yard(None), 10).await),
        ["ada: Board?", "us: Five larch."]
    );
    assert_eq!(
        lines(read(thread, 10).await),
        ["ada: And here?", "us: In the thread."]
    );
    assert_eq!(lines(read(yard(None), 1).await), ["us: Five larch."]);
}

#[tokio::test]
async fn the_watch_takes_what_comes_until_it_is_told_to_end() {
    let post = post(Setting::replies(&[json!({"text": "Here."})]));
    let cancel = tokio_util::sync::CancellationToken::new();
    let watch = {
        let (surface, gateway) = (post.surface.clone(), post.stage.gateway.clone());
        let cancel = cancel.clone();
        tokio::spawn(async move { surface.watch(&gateway, &cancel).await })
    };
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    // Written beside, then renamed: it is never seen half.
    let (draft, whole) = (post.path.join("draft"), post.path.join("in/a.json"));
    std::fs::write(&draft, said("Anybody?").to_string()).unwrap();
    std::fs::rename(draft, whole).unwrap();
    for _ in 0..200 {
        if !post.out().is_empty() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(25)).await;
    }
    assert_eq!(post.out(), ["2 message directory:channel:yard: Here."]);
    cancel.cancel();
    watch.await.unwrap();
}

proptest! {
    /// Whatever stands in a file, it is a message that can be taken in, or a sentence says why not.
    #[test]
    fn any_file_is_a_message_or_has_a_reason(bytes in prop::collection::vec(any::<u8>(), 0..200), text in ".{0,40}", id in ".{0,20}") {
        let made = json!({"text": text, "id": id, "peer": {"kind": "group", "id": id}}).to_string();
        for bytes in [bytes.as_slice(), made.as_bytes()] {
            match MessageFile::read(bytes, "name") {
                Ok(note) => {
                    let incoming = note.incoming("directory");
                    prop_assert!(incoming.message_id.is_some_and(|id| !id.trim().is_empty()));
                    prop_assert!(!incoming.text.trim().is_empty());
                }
                Err(reason) => prop_assert!(reason.ends_with('.')),
            }
        }
    }
}
