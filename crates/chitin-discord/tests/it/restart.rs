//! A restart: what is said in between is heard afterwards, once.

use crate::stage::Setting;
use crate::yard::Yard;
use chitin_discord::PositionStore;
use chitin_gateway::Surface;
use chitin_test::discord::FakeDiscord;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

impl Yard {
    /// Makes the surface anew, with a memory in a directory and other replies, as after a restart.
    async fn restarted(self, memory: &Path, replies: &[Value]) -> Self {
        let memory = PositionStore::in_directory(memory);
        let config = self.stage.host.config.clone();
        let section = &config["channels"]["discord"];
        let (surface, notes) = crate::yard::remembering(&self.discord, section, memory);
        let stage = Setting::replies(replies)
            .config(config)
            .surface(Arc::clone(&surface) as Arc<dyn Surface>)
            .stage();
        self.replaced(surface, stage, notes).connect().await
    }
}

#[tokio::test]
async fn what_is_said_during_a_restart_is_heard_after_it() {
    let directory = tempfile::tempdir().unwrap();
    let memory = directory.path().join("state");
    let yard = Yard::closed(&[], &json!({}));
    let mut yard = yard.restarted(&memory, &[json!({"text": "One."})]).await;
    yard.say_and_wait("First", 1).await;
    yard.end().await;
    yard.discord.say(&yard.channel, &yard.ada, "Second");
    let mut yard = yard
        .restarted(
            &memory,
            &[json!({"text": "Two.", "expect": {"contains": ["Second"], "lacks": ["First"]}})],
        )
        .await;
    let texts = yard.discord.until_posted(2).await;
    assert_eq!(texts, [yard.here("One."), yard.here("Two.")]);
    let (identified, resumed, _) = yard.discord.greetings();
    assert_eq!((identified, resumed), (1, 1), "the session went on");
    yard.end().await;
}

/// The gateway takes nothing more in: the message is not lost, it waits on Discord's side.
#[tokio::test]
async fn what_could_not_be_handed_in_before_the_end_is_heard_after_it() {
    let directory = tempfile::tempdir().unwrap();
    let yard = Yard::closed(&[], &json!({}));
    let mut yard = yard.restarted(directory.path(), &[]).await;
    yard.stage.gateway.drain(Duration::ZERO).await;
    let saying = yard.discord.saying(&yard.channel, &yard.ada, "Too late?");
    saying.file("list.txt", "text/plain", b"larch").say();
    let heard = |discord: &FakeDiscord| discord.asked_for("/attachments/").pop();
    yard.discord.until("that it is heard", heard).await;
    yard.end().await;
    assert!(yard.notes().contains("before the end"), "{}", yard.notes());
    assert!(yard.discord.texts().is_empty());
    let yard = yard
        .restarted(directory.path(), &[json!({"text": "Not at all."})])
        .await;
    assert_eq!(
        yard.discord.until_posted(1).await,
        [yard.here("Not at all.")]
    );
}

/// A memory of something that Discord has forgotten, or that is no memory at all, is no harm.
#[tokio::test]
async fn a_memory_that_is_worth_nothing_is_let_go() {
    let remembered = |session: &str, url: &str, via: &str| {
        json!({"sessionId": session, "sequence": 5, "resumeUrl": url, "via": via}).to_string()
    };
    for case in 0..4 {
        let yard = Yard::closed(&[], &json!({}));
        let own = yard.discord.gateway_url();
        let text = match case {
            0 => remembered("gone", &own, &own),
            1 => remembered("gone", "ws://elsewhere.example", &own),
            2 => remembered("gone", "ws://127.0.0.1:1", "wss://another.example"),
            _ => "{".to_owned(),
        };
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("discord-default.json"), text).unwrap();
        let yard = yard
            .restarted(directory.path(), &[json!({"text": "Here."})])
            .await;
        yard.say_and_wait("Hi", 1).await;
        assert_eq!(yard.discord.greetings(), (1, 0, 0), "{case}");
    }
}
