//! Answers that are seen while they are written.

use crate::stage::{Pace, Setting};
use crate::yard::Yard;
use chitin_test::slack::FakeSlack;
use serde_json::json;
use std::sync::Arc;
use tokio::sync::Semaphore;

const LONG: &str = "The yard has five larch boards, two of them long enough for the keel, and an oak that nobody has \
    looked at since the spring; the rest is firewood.";

/// One message grows until it is whole, though the connection breaks and Slack limits the changes.
#[tokio::test]
async fn an_answer_grows_in_one_message_whatever_the_connection_does() {
    let words = Arc::new(Semaphore::new(0));
    let setting = Setting::replies(&[json!({"text": LONG}), json!({"text": "Oak."})]);
    let setting = setting.pace(Pace::Permits(Arc::clone(&words)));
    let section = json!({"replyToMode": "off", "streaming": "partial"});
    let yard = Yard::set(FakeSlack::start(), &section, setting);
    yard.slack.until_connected(1).await;
    yard.slack.say("C1", "U1", "Board?");
    words.add_permits(4);
    let begun = yard.slack.until_posted(1).await.remove(0);
    assert!(
        begun.text.len() < LONG.len() && LONG.starts_with(&begun.text),
        "{begun}"
    );
    yard.slack.limit("chat.update", 1);
    yard.slack.break_connections();
    words.add_permits(10_000);
    yard.until_said(&[format!("C1: {LONG}")]).await;
    assert_eq!(
        yard.slack.calls("chat.postMessage").len(),
        1,
        "one message, changed"
    );
    assert!(
        yard.slack.calls("chat.update").len() >= 2,
        "limited once, and then whole"
    );
    yard.slack.say("C1", "U1", "And the mast?");
    yard.until_said(&[format!("C1: {LONG}"), "C1: Oak.".to_owned()])
        .await;
    assert_eq!(yard.slack.calls("apps.connections.open").len(), 2);
}
