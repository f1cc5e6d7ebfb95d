//! Files that go with messages, out of the workspace and into it.

use crate::message_tool::{YARD, call, results, with_tool};
use crate::stage::{Chat, Setting, Stage};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chitin_gateway::surface::directory::DirectorySurface;
use chitin_gateway::surface::{FileLimits, OutgoingFile, SurfaceAction, SurfaceOutcome};
use chitin_gateway::{Address, OutgoingMessage, Surface};
use chitin_tools::files::{media_type, safe_name};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;

/// A stage whose chat takes two files of a thousand bytes each.
fn stage(calls: &[Value]) -> Stage {
    let chat = Chat::new("chat").able(|can| {
        can.actions.push("download-file".to_owned());
        can.files = Some(FileLimits {
            count: 2,
            bytes: 1_000,
        });
    });
    let mut replies: Vec<Value> = calls.iter().map(call).collect();
    replies.push(json!({"text": "NO_REPLY"}));
    with_tool(
        Setting {
            surface: Some(Arc::new(chat)),
            ..Setting::replies(&replies)
        }
        .stage(),
    )
}

fn file(name: &str, bytes: &[u8]) -> OutgoingFile {
    OutgoingFile {
        name: name.to_owned(),
        mime: media_type(name, bytes).to_owned(),
        bytes: Arc::from(bytes),
    }
}

#[tokio::test]
async fn files_of_the_workspace_go_with_a_message() {
    let png = b"\x89PNG\r\n\x1a\n\0\0";
    let stage = stage(&[
        json!({"action": "send", "message": "The plan.", "media": "plans/keel.csv"}),
        json!({"action": "upload-file", "attachments": [{"media": "plans/keel.csv"}, {"path": "./plans/note"}]}),
        json!({"action": "upload-file", "buffer": STANDARD.encode(png), "filename": "../a/keel.png", "caption": "Look"}),
    ]);
    stage.env.file("workspace/plans/keel.csv", "1,2\n");
    stage.env.file("workspace/plans/note", "Oak.\n");
    stage.say_and_wait("yard", "Send it").await;
    let sent = stage.surface.outgoing();
    let shown: Vec<(&str, Vec<OutgoingFile>)> = sent
        .iter()
        .map(|message| (message.text.as_str(), message.files.clone()))
        .collect();
    let keel = file("keel.csv", b"1,2\n");
    assert_eq!(keel.mime, "text/csv");
    assert_eq!(
        shown,
        [
            ("The plan.", vec![keel.clone()]),
            ("", vec![keel, file("note", b"Oak.\n")]),
            ("Look", vec![file("keel.png", png)]),
        ]
    );
    let results = results(&stage, YARD);
    assert!(
        results[1].contains(r#""files":["keel.csv","note"]"#),
        "{}",
        results[1]
    );
}

#[tokio::test]
async fn nothing_else_leaves_the_workspace() {
    let send = |media: &str| json!({"action": "send", "message": "Here.", "media": media});
    let calls = [
        send("../outside.txt"),
        send("/etc/hostname"),
        send("link.txt"),
        send(".env"),
        send("notes/secret"),
        send("large.bin"),
        send("https://yard.example/a.png"),
        send("missing.txt"),
        json!({"action": "upload-file", "buffer": "%%%"}),
        json!({"action": "upload-file", "buffer": "A".repeat(4_000)}),
        json!({"action": "upload-file", "attachments": [{"media": "a"}, {"media": "b"}, {"media": "c"}]}),
        json!({"action": "upload-file", "message": "Nothing"}),
    ];
    let stage = stage(&calls);
    stage.env.file("outside.txt", "x");
    stage.env.file("workspace/.env", "KEY=1");
    stage.env.file("workspace/notes/a.md", "x");
    stage.env.file("workspace/large.bin", "x".repeat(1_001));
    let workspace = stage.env.workspace();
    std::os::unix::fs::symlink("../outside.txt", workspace.join("link.txt")).unwrap();
    std::os::unix::fs::symlink("../.env", workspace.join("notes/secret")).unwrap();
    stage.say_and_wait("yard", "Send it").await;
    assert!(stage.surface.sent().is_empty());
    let said = results(&stage, YARD).join("\n");
    let said = said.replace(&workspace.display().to_string(), "$WORKSPACE");
    insta::assert_snapshot!(said);
}

#[tokio::test]
async fn a_file_that_came_is_put_into_the_inbox_and_replaces_nothing_by_itself() {
    let fetch = |more: Value| {
        let mut fetch = json!({"action": "download-file", "messageId": "7"});
        fetch
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        fetch
    };
    let calls = [
        fetch(json!({})),
        fetch(json!({})),
        fetch(json!({"path": "plans/keel.txt"})),
        fetch(json!({"path": "plans/keel.txt", "overwrite": true})),
        fetch(json!({"path": "AGENTS.md", "overwrite": true})),
        fetch(json!({"path": "link/evil/SKILL.md"})),
        fetch(json!({"path": "../out.txt"})),
        fetch(json!({"path": ".git/config"})),
    ];
    let stage = stage(&calls);
    stage.env.file("workspace/plans/keel.txt", "old");
    stage.env.file("workspace/skills/own/SKILL.md", "own");
    let workspace = stage.env.workspace();
    std::os::unix::fs::symlink("skills", workspace.join("link")).unwrap();
    stage.surface.hang(file("../../ke:el.txt", b"new"));
    stage.say_and_wait("yard", "Fetch it").await;
    let read = |path: &str| std::fs::read_to_string(workspace.join(path)).ok();
    assert_eq!(read("inbox/keel.txt").as_deref(), Some("new"));
    assert_eq!(read("inbox/keel-2.txt").as_deref(), Some("new"));
    assert_eq!(read("plans/keel.txt").as_deref(), Some("new"));
    assert!(read("AGENTS.md").unwrap().contains("Keep the yard tidy"));
    assert_eq!(read("skills/evil/SKILL.md"), None);
    let said = results(&stage, YARD).join("\n");
    let said = said.replace(&workspace.display().to_string(), "$WORKSPACE");
    insta::assert_snapshot!(said);
}

#[tokio::test]
async fn a_directory_has_files_beside_its_messages() {
    let home = chitin_test::TestEnv::new();
    let path = home.home().join("post");
    let surface = DirectorySurface::open(&path).unwrap();
    let yard: Address = serde_json::from_value(
        json!({"channel": "directory", "peer": {"kind": "channel", "id": "yard"}}),
    )
    .unwrap();
    let message = OutgoingMessage {
        key: "one".to_owned(),
        text: "Two files.".to_owned(),
        files: vec![file("keel.txt", b"oak"), file("../keel.txt", b"larch")],
        ..OutgoingMessage::default()
    };
    let sent = surface.send(&yard, &message).await.unwrap();
    assert_eq!(surface.send(&yard, &message).await.unwrap(), sent);
    let names = std::fs::read_dir(path.join("out")).unwrap();
    let names: Vec<String> = names
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names.len(), 3, "{names:?}");
    // What was there before a restart can be fetched after it.
    let surface = DirectorySurface::open(&path).unwrap();
    let fetch = |file: Option<&str>| {
        let action = SurfaceAction::Download {
            message_id: sent.message_id.clone(),
            file: file.map(str::to_owned),
        };
        let (surface, yard) = (surface.clone(), yard.clone());
        async move { surface.act(&yard, &action).await }
    };
    let Ok(SurfaceOutcome::File { file }) = fetch(Some("2")).await else {
        panic!("no file");
    };
    assert_eq!(&*file.bytes, b"larch");
    let error = fetch(None).await.unwrap_err();
    assert_eq!(error.message, "Say which `file`: keel.txt, ../keel.txt.");
}

proptest! {
    /// Whatever a file is called by whoever sent it, its name is one that can be put anywhere and stays there.
    #[test]
    fn a_name_that_came_is_made_harmless(name in prop_oneof![".{0,300}", "[./\\\\a-c:\u{0}-\u{1f}]{0,40}"]) {
        let safe = safe_name(&name);
        prop_assert!(!safe.is_empty() && safe.len() <= 140, "{safe}");
        prop_assert!(!safe.starts_with('.') && !safe.contains(['/', '\\', ':']));
        prop_assert!(!safe.chars().any(char::is_control));
        prop_assert_eq!(safe_name(&safe), safe.clone(), "nothing is left to be done");
    }
}
