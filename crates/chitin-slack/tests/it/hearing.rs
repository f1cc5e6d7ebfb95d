//! What is heard of a message: readable text, names, files, and whose it is.

use crate::yard::Yard;
use chitin_store::SessionStore;
use serde_json::{Value, json};

const PICTURE: &[u8] = b"\x89PNG\r\n\x1a\n-a-picture-";

fn off() -> Value {
    json!({"replyToMode": "off"})
}

fn transcript(yard: &Yard) -> String {
    let store = yard.stage.host.file_store("main");
    let read = store.read("agent:main:slack:channel:c1").unwrap();
    format!("{:?}", read.entries)
}

#[tokio::test]
async fn text_is_read_as_people_read_it() {
    let replies = [json!({"text": "Yes.", "expect": {"contains": [
        "what do @Ben and #berths say of the plan (https://x.example/a?b=1&c=2) & of <b>?"]}})];
    let yard = Yard::open(&off(), &replies).await;
    yard.slack.say(
        "C1",
        "U1",
        "<@UBOT> what do <@U2> and <#C1|berths> say of <https://x.example/a?b=1&amp;c=2|the plan> &amp; of &lt;b&gt;?",
    );
    yard.until_said(&["C1: Yes.".to_owned()]).await;
}

/// Text and scripts from people are words, nothing else.
#[tokio::test]
async fn markup_in_a_message_stays_text() {
    let script = "<script>alert(1)</script>";
    let replies = [
        json!({"text": format!("You wrote {script} & <!everyone> <!channel|all>."), "expect": {"contains": [script]}}),
    ];
    let yard = Yard::open(&off(), &replies).await;
    yard.slack
        .say("C1", "U1", "&lt;script&gt;alert(1)&lt;/script&gt;");
    yard.until_said(&[
        "C1: You wrote &lt;script&gt;alert(1)&lt;/script&gt; &amp; &lt;!everyone> &lt;!channel|all>.".to_owned(),
    ])
    .await;
}

#[tokio::test]
async fn pictures_are_looked_at_and_short_texts_read() {
    let replies = [json!({"text": "Seen."})];
    let yard = Yard::open(&off(), &replies).await;
    let picture = yard.slack.file("board.png", "image/png", PICTURE);
    let text = yard.slack.file("list.txt", "text/plain", b"Five larch.");
    let fields = json!({"files": [picture, text], "subtype": "file_share"});
    yard.slack.write("C1", "U1", "Look:", &fields);
    yard.until_said(&["C1: Seen.".to_owned()]).await;
    let told = transcript(&yard);
    let data = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, PICTURE);
    assert!(
        told.contains(&data) && told.contains("Five larch."),
        "{told}"
    );
    assert!(yard.notes().is_empty(), "{}", yard.notes());
}

/// The token stays with Slack: not to another host, not by a redirect, and a page to log in is no picture.
#[tokio::test]
async fn files_that_lie_elsewhere_or_are_too_large_are_not_fetched() {
    let elsewhere = FakeElsewhere::start();
    let yard = Yard::open(
        &json!({"replyToMode": "off", "mediaMaxMb": 1}),
        &[json!({"text": "So it is."})],
    )
    .await;
    let mut foreign = yard.slack.file("foreign.png", "image/png", PICTURE);
    foreign["url_private_download"] = json!(elsewhere.url());
    let sent_on = yard.slack.file("sent-on.png", "image/png", PICTURE);
    yard.slack
        .redirect_file(sent_on["id"].as_str().unwrap(), &elsewhere.url());
    let large = yard
        .slack
        .file("large.png", "image/png", &vec![0; (1 << 20) + 1]);
    let mut lying = yard
        .slack
        .file("lying.png", "image/png", &vec![0; (1 << 20) + 1]);
    lying["size"] = json!(10);
    let page = yard
        .slack
        .file("page.png", "image/png", b"<html>log in</html>");
    let files = json!({"files": [foreign, sent_on, large, lying, page]});
    yard.slack.write("C1", "U1", "Look:", &files);
    yard.until_said(&["C1: So it is.".to_owned()]).await;
    assert_eq!(elsewhere.calls(), 0, "nobody else was asked");
    let told = transcript(&yard);
    assert!(told.contains("foreign.png"), "it is told of by name");
    let data = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, PICTURE);
    assert!(!told.contains(&data), "nobody looked at it");
    let notes = yard.notes();
    for said in [
        "`foreign.png`",
        "`sent-on.png`",
        "which is not Slack's",
        "mediaMaxMb",
        "`lying.png`",
        "no picture",
    ] {
        assert!(notes.contains(said), "{said}: {notes}");
    }
}

/// Our own words come back to us from Slack, and so do changes and the words of programs: none of them is a turn.
#[tokio::test]
async fn nobody_answers_themselves_a_program_or_a_change() {
    let replies = [json!({"text": "One."}), json!({"text": "Two."})];
    let yard = Yard::open(&off(), &replies).await;
    yard.slack.say("C1", "U1", "First");
    yard.until_said(&["C1: One.".to_owned()]).await;
    for fields in [
        json!({"bot_id": "BOTHER"}),
        json!({"subtype": "bot_message", "bot_id": "BOTHER"}),
        json!({"subtype": "message_changed"}),
        json!({"subtype": "message_deleted"}),
        json!({"subtype": "channel_join"}),
    ] {
        yard.slack.write("C1", "U2", "Not for you", &fields);
    }
    yard.slack.until_acknowledged().await;
    yard.slack.say("C1", "U1", "Second");
    yard.until_said(&["C1: One.".to_owned(), "C1: Two.".to_owned()])
        .await;
}

#[tokio::test]
async fn private_channels_and_groups_have_sessions_of_their_kind() {
    let section = json!({"replyToMode": "off", "dm": {"groupEnabled": true}});
    let replies = [json!({"text": "Private."}), json!({"text": "Together."})];
    let yard = Yard::open(&section, &replies).await;
    yard.slack.add_room("C7", "boards", "group");
    yard.slack.add_room("G8", "mpdm", "mpim");
    yard.slack.say("C7", "U1", "Hi");
    yard.until_said(&["C7: Private.".to_owned()]).await;
    yard.slack.say("G8", "U1", "Hi");
    yard.until_said(&["C7: Private.".to_owned(), "G8: Together.".to_owned()])
        .await;
    assert!(yard.has_session("agent:main:slack:channel:c7"));
    assert!(yard.has_session("agent:main:slack:group:g8"));
}

/// Somebody else's server on loopback, that counts who comes.
struct FakeElsewhere {
    listener: std::net::TcpListener,
}

impl FakeElsewhere {
    fn start() -> Self {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        Self { listener }
    }

    fn url(&self) -> String {
        format!("http://{}/file.png", self.listener.local_addr().unwrap())
    }

    fn calls(&self) -> usize {
        std::iter::from_fn(|| self.listener.accept().ok()).count()
    }
}
