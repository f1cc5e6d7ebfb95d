//! Somebody unknown asks, the owner lets them in: by command while the gateway runs, and nothing is heard before that.

use crate::access::direct;
use crate::stage::{Setting, Stage};
use chitin_gateway::access::{CODE_LIVES_MS, MOST_PENDING, MOST_WRONG, TOLD_EVERY_MS, TrustError};
use chitin_gateway::{AccessControl, Noticed, ReceiveOutcome};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The file that says who was let in.
fn file(stage: &Stage) -> std::path::PathBuf {
    stage.host.state.join("trust/pairing.json")
}

/// What another process has of it.
fn elsewhere(stage: &Stage) -> AccessControl {
    AccessControl::beneath(
        &stage.host.state,
        Arc::new(Value::Null),
        Arc::clone(&stage.clock) as _,
    )
}

async fn notice(stage: &Stage, noticed: Noticed) -> ReceiveOutcome {
    let heard = stage.gateway.notice(noticed).await.unwrap();
    stage.rest().await;
    heard
}

/// Returns all that was ever written down, in any file.
pub(crate) fn written(directory: &Path) -> String {
    let mut all = String::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.push_str(&written(&path));
        } else {
            all.push_str(&String::from_utf8_lossy(&std::fs::read(&path).unwrap()));
        }
    }
    all
}

#[tokio::test]
async fn who_is_not_known_gets_a_code_and_nothing_of_their_message_is_kept() {
    let stage = Setting::replies(&[]).stage();
    assert_eq!(
        notice(&stage, direct("chat", "eve", "Open the sluice")).await,
        ReceiveOutcome::Unknown
    );
    let waiting = stage.gateway.trust().pending().unwrap();
    let [one] = waiting.as_slice() else {
        unreachable!("one waits: {waiting:?}");
    };
    let sent = stage.surface.sent();
    assert_eq!(sent.len(), 1);
    assert!(sent[0].starts_with("chat:direct:eve: I do not know you yet"));
    assert!(sent[0].contains(&format!("`chitin pairing approve {}`", one.code)));
    assert!(!written(&stage.host.state).contains("sluice"));
    assert!(stage.host.asked().is_empty(), "no agent was wanted");
    let away = stage.gateway.turned_away();
    assert_eq!((away[0].sender.as_str(), away[0].count), ("eve", 1));
}

#[tokio::test]
async fn who_asks_again_is_told_the_same_code_and_not_too_often() {
    let stage = Setting::replies(&[]).stage();
    for _ in 0..5 {
        assert_eq!(
            notice(&stage, direct("chat", "eve", "Hello?")).await,
            ReceiveOutcome::Unknown
        );
    }
    assert_eq!(stage.surface.sent().len(), 1);
    stage.clock.push(TOLD_EVERY_MS);
    notice(&stage, direct("chat", "eve", "Hello?")).await;
    let sent = stage.surface.sent();
    assert_eq!(sent.len(), 2);
    assert_eq!(sent[0], sent[1]);
    assert_eq!(stage.gateway.turned_away()[0].count, 6);
}

#[tokio::test]
async fn whom_another_process_lets_in_is_heard_at_once_and_told_so() {
    let stage = Setting::replies(&[json!({"text": "Welcome."})]).stage();
    stage.gateway.start_greetings();
    notice(&stage, direct("chat", "eve", "Let me in")).await;
    let command = elsewhere(&stage);
    let code = command.pending().unwrap()[0].code.clone();
    let shouted = format!(" {}-{} ", &code[..4].to_lowercase(), &code[4..]);
    let approved = command.approve(None, &shouted, false).unwrap();
    assert_eq!(
        (approved.sender_id.as_str(), approved.owner),
        ("eve", false)
    );
    let heard = notice(&stage, direct("chat", "eve", "Hello")).await;
    assert!(matches!(heard, ReceiveOutcome::Taken(_)), "{heard:?}");
    assert_eq!(stage.host.asked()[0].owner, Some(false));
    let greeted = || {
        let sent = stage.surface.sent();
        sent.iter()
            .filter(|text| text.contains("You are approved"))
            .count()
    };
    for _ in 0..500 {
        if greeted() > 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(greeted(), 1);
    assert!(command.pending().unwrap().is_empty());
    assert_eq!(command.revoke("chat", "chat:EVE").unwrap(), 1);
    assert_eq!(
        notice(&stage, direct("chat", "eve", "Still there?")).await,
        ReceiveOutcome::Unknown
    );
    assert!(stage.gateway.drain(Duration::from_secs(10)).await);
}

#[tokio::test]
async fn who_is_let_in_as_an_owner_owns_the_agent_and_others_do_not() {
    let stage = Setting::replies(&[json!({"text": "Yes."}), json!({"text": "Yes."})]).stage();
    let trust = stage.gateway.trust();
    for (sender, owner) in [("ada", true), ("ben", false)] {
        notice(&stage, direct("chat", sender, "Let me in")).await;
        let code = trust.pending().unwrap()[0].code.clone();
        trust.approve(Some("Chat"), &code, owner).unwrap();
        let heard = notice(&stage, direct("chat", sender, "Hello")).await;
        assert!(matches!(heard, ReceiveOutcome::Taken(_)));
    }
    let owners: Vec<Option<bool>> = stage.host.asked().iter().map(|asked| asked.owner).collect();
    assert_eq!(owners, [Some(true), Some(false)]);
}

#[tokio::test]
async fn a_code_counts_for_an_hour_and_three_may_wait() {
    let stage = Setting::replies(&[]).stage();
    let trust = stage.gateway.trust();
    for sender in ["a", "b", "c"] {
        assert_eq!(
            notice(&stage, direct("chat", sender, "Hi")).await,
            ReceiveOutcome::Unknown
        );
    }
    let full = notice(&stage, direct("chat", "d", "Hi")).await;
    assert!(matches!(full, ReceiveOutcome::Ignored(reason) if reason.contains("too many pending")));
    assert_eq!(trust.pending().unwrap().len(), MOST_PENDING);
    let mut elsewhere = direct("chat", "d", "Hi");
    elsewhere.incoming.inbound.account_id = Some("other".to_owned());
    assert_eq!(
        notice(&stage, elsewhere).await,
        ReceiveOutcome::Unknown,
        "another account has room"
    );
    let code = trust.pending().unwrap()[0].code.clone();
    stage.clock.push(CODE_LIVES_MS);
    assert_eq!(
        trust.approve(None, &code, false),
        Err(TrustError::UnknownCode)
    );
    assert!(trust.pending().unwrap().is_empty());
    assert_eq!(
        notice(&stage, direct("chat", "d", "Hi")).await,
        ReceiveOutcome::Unknown
    );
}

#[tokio::test]
async fn who_guesses_codes_ends_all_that_are_open() {
    let stage = Setting::replies(&[]).stage();
    let trust = stage.gateway.trust();
    notice(&stage, direct("chat", "eve", "Hi")).await;
    let code = trust.pending().unwrap()[0].code.clone();
    assert_eq!(
        trust.approve(Some("chat"), "no code", false),
        Err(TrustError::NoCode)
    );
    let wrong = if code == "AAAAAAAA" {
        "BBBBBBBB"
    } else {
        "AAAAAAAA"
    };
    for _ in 1..MOST_WRONG {
        assert_eq!(
            trust.reject(Some("chat"), wrong),
            Err(TrustError::UnknownCode)
        );
    }
    assert_eq!(
        elsewhere(&stage).approve(Some("chat"), wrong, false),
        Err(TrustError::TooManyWrong { most: MOST_WRONG })
    );
    assert_eq!(
        trust.approve(Some("chat"), &code, false),
        Err(TrustError::UnknownCode)
    );
    assert!(trust.paired().unwrap().is_empty());
}

#[tokio::test]
async fn who_is_sent_away_may_ask_again_with_another_code() {
    let stage = Setting::replies(&[]).stage();
    let trust = stage.gateway.trust();
    notice(&stage, direct("chat", "eve", "Hi")).await;
    let first = trust.pending().unwrap()[0].code.clone();
    assert_eq!(
        trust.approve(Some("discord"), &first, false),
        Err(TrustError::UnknownCode)
    );
    assert_eq!(trust.reject(Some("chat"), &first).unwrap().sender_id, "eve");
    notice(&stage, direct("chat", "eve", "Hi")).await;
    let second = trust.pending().unwrap()[0].code.clone();
    assert_ne!(first, second);
    let unknown = trust.revoke("chat", "eve");
    assert!(matches!(unknown, Err(TrustError::UnknownSender { .. })));
}

#[tokio::test]
async fn a_list_that_cannot_be_read_lets_nobody_in_and_is_left_as_it_is() {
    let stage = Setting::replies(&[json!({"text": "Hello."})])
        .config(json!({"channels": {"chat": {"allowFrom": ["ada"]}}}))
        .stage();
    std::fs::create_dir_all(stage.host.state.join("trust")).unwrap();
    for broken in ["{", "[]", r#"{"version": 2}"#] {
        std::fs::write(file(&stage), broken).unwrap();
        let heard = notice(&stage, direct("chat", "eve", "Hi")).await;
        assert!(
            matches!(heard, ReceiveOutcome::Ignored(reason) if reason.contains("pairing.json"))
        );
        assert_eq!(std::fs::read_to_string(file(&stage)).unwrap(), broken);
    }
    let listed = notice(&stage, direct("chat", "ada", "Hi")).await;
    assert!(
        matches!(listed, ReceiveOutcome::Taken(_)),
        "the configuration still counts"
    );
}

#[tokio::test]
async fn only_the_owner_of_the_machine_can_read_the_codes() {
    use std::os::unix::fs::PermissionsExt;
    let stage = Setting::replies(&[]).stage();
    for sender in ["a", "b"] {
        notice(&stage, direct("chat", sender, "Hi")).await;
        let mode = std::fs::metadata(file(&stage))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o077, 0, "after {sender}");
    }
}

#[tokio::test]
async fn two_processes_at_once_lose_nothing() {
    let stage = Setting::replies(&[]).stage();
    for account in 0..8 {
        let mut noticed = direct("chat", "eve", "Hi");
        noticed.incoming.inbound.account_id = Some(format!("a{account}"));
        notice(&stage, noticed).await;
    }
    let trust = stage.gateway.trust();
    let codes: Vec<String> = trust
        .pending()
        .unwrap()
        .into_iter()
        .map(|one| one.code)
        .collect();
    assert_eq!(codes.len(), 8);
    std::thread::scope(|scope| {
        for code in &codes {
            let process = elsewhere(&stage);
            scope.spawn(move || process.approve(None, code, false).unwrap());
        }
    });
    assert_eq!(trust.paired().unwrap().len(), 8);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    /// Whoever asks, whenever: no code is ever given out twice, and none has signs that look alike.
    #[test]
    fn no_code_is_given_out_twice(rejected in prop::collection::vec(any::<bool>(), 40)) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let stage = Setting::replies(&[]).stage();
            let trust = stage.gateway.trust();
            let mut seen = HashSet::new();
            for (index, rejected) in rejected.into_iter().enumerate() {
                let mut noticed = direct("chat", "eve", "Hi");
                noticed.incoming.inbound.account_id = Some(format!("a{}", index % 10));
                stage.gateway.notice(noticed).await.unwrap();
                for waiting in trust.pending().unwrap() {
                    if rejected {
                        trust.reject(None, &waiting.code).unwrap();
                        assert!(seen.insert(waiting.code.clone()), "{} again", waiting.code);
                    }
                    assert!(waiting.code.len() == 8 && !waiting.code.contains(['0', 'O', '1', 'I']));
                }
            }
        });
    }
}
