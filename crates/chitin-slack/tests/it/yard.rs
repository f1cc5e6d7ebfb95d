//! A gateway, a Slack, and the real client between them.

use crate::stage::{Setting, Stage};
use chitin_gateway::route::Peer;
use chitin_gateway::surface::{Connection, Network};
use chitin_gateway::{Address, Surface};
use chitin_net::TlsRoots;
use chitin_protocol::session_key::ChatType;
use chitin_slack::{Slack, SlackNotes, SlackSettings, SlackTokens};
use chitin_store::SessionStore;
use chitin_test::slack::{APP_TOKEN, BOT_TOKEN, FakeSlack, SIGNING_SECRET};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub(crate) struct Yard {
    pub(crate) slack: FakeSlack,
    pub(crate) surface: Arc<Slack>,
    pub(crate) stage: Stage,
    pub(crate) cancel: CancellationToken,
    notes: Arc<Mutex<Vec<String>>>,
    running: JoinHandle<()>,
}

impl Yard {
    /// Connects, and waits until it is so.
    pub(crate) async fn open(section: &Value, replies: &[Value]) -> Self {
        let yard = Self::begin(FakeSlack::start(), section, replies);
        match yard.surface.webhooks().len() {
            0 => yard.slack.until_connected(1).await,
            _ => {
                yard.until_stands(|connection| *connection == Connection::Connected)
                    .await;
            }
        }
        yard
    }

    /// Begins to connect to a Slack that is there.
    pub(crate) fn begin(slack: FakeSlack, section: &Value, replies: &[Value]) -> Self {
        Self::set(slack, section, Setting::replies(replies))
    }

    /// The same with a setting of one's own.
    pub(crate) fn set(slack: FakeSlack, section: &Value, setting: Setting) -> Self {
        Self::trusting(slack, TlsRoots::default(), section, setting)
    }

    /// The same with somebody to trust.
    pub(crate) fn trusting(
        slack: FakeSlack,
        trust: TlsRoots,
        section: &Value,
        setting: Setting,
    ) -> Self {
        // Everybody is heard: who is let in is not what is looked at here.
        let mut channel = json!({
            "apiUrl": slack.api_url(), "dmPolicy": "open", "allowFrom": ["*"], "groupPolicy": "open",
            "requireMention": false, "channels": {"*": {"requireMention": false}},
        });
        for (key, value) in section.as_object().unwrap() {
            channel[key] = value.clone();
        }
        let settings = SlackSettings::read(&channel).unwrap().trusting(trust);
        let notes: Arc<Mutex<Vec<String>>> = Arc::default();
        let kept = Arc::clone(&notes);
        let note: SlackNotes =
            Arc::new(move |text: &str| kept.lock().unwrap().push(text.to_owned()));
        let tokens = BTreeMap::from([("default".to_owned(), tokens())]);
        let surface = Slack::new(&settings, tokens, &note).unwrap();
        let stage = setting
            .config(json!({"channels": {"slack": channel}}))
            .surface(Arc::clone(&surface) as Arc<dyn Surface>)
            .stage();
        let cancel = CancellationToken::new();
        let network = Arc::clone(&surface) as Arc<dyn Network>;
        let running = tokio::spawn(network.run(stage.gateway.clone(), cancel.clone()));
        Self {
            slack,
            surface,
            stage,
            cancel,
            notes,
            running,
        }
    }

    /// Waits until exactly this was said, as `channel[/thread]: text`.
    pub(crate) async fn until_said(&self, expected: &[String]) {
        let what = format!("said {expected:?}");
        self.slack
            .until(&what, |state| {
                let said: Vec<String> = state.posted().iter().map(ToString::to_string).collect();
                (said == expected).then_some(())
            })
            .await;
        self.stage.rest().await;
        assert_eq!(self.slack.said(), expected, "and nothing after it");
    }

    /// Waits until the account stands so.
    pub(crate) async fn until_stands(&self, so: impl Fn(&Connection) -> bool) -> Connection {
        for _ in 0..3_000 {
            let connection = self.surface.accounts()[0].connection.clone();
            if so(&connection) {
                return connection;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        unreachable!("{:?}", self.surface.accounts());
    }

    /// Waits until the network ends by itself or because it was told to.
    pub(crate) async fn ended(self) -> FakeSlack {
        tokio::time::timeout(Duration::from_secs(30), self.running)
            .await
            .unwrap()
            .unwrap();
        self.slack
    }

    /// Somebody writes where nobody listens: there is no turn. Returns the time of the message.
    pub(crate) fn write(&self, user: &str, text: &str, fields: &Value) -> String {
        let event = self.slack.keep("C1", user, text, fields);
        event["ts"].as_str().unwrap().to_owned()
    }

    /// Returns what people were told.
    pub(crate) fn notes(&self) -> String {
        self.notes.lock().unwrap().join("\n")
    }

    /// Returns the sessions that there are.
    pub(crate) fn has_session(&self, key: &str) -> bool {
        self.stage
            .host
            .file_store("main")
            .find(key)
            .unwrap()
            .is_some()
    }
}

pub(crate) fn tokens() -> SlackTokens {
    SlackTokens {
        bot: BOT_TOKEN.to_owned().into(),
        app: Some(APP_TOKEN.to_owned().into()),
        signing_secret: Some(SIGNING_SECRET.to_owned().into()),
    }
}

/// Returns a channel's place.
pub(crate) fn channel(id: &str) -> Address {
    place(ChatType::Channel, id)
}

pub(crate) fn place(kind: ChatType, id: &str) -> Address {
    Address {
        channel: "slack".to_owned(),
        account_id: None,
        peer: Peer {
            kind,
            id: id.to_owned(),
        },
        thread_id: None,
    }
}
