//! What somebody may do with an agent: the owner's tools are the owner's, and places and people may have fewer.

use crate::access::{direct, in_room};
use crate::spawn_runs::{child, spawns};
use crate::stage::{Setting, Stage};
use chitin_contract::OPENCLAW_2026_4;
use chitin_gateway::access::{ToolLimits, tool_limits};
use chitin_gateway::{JobPlacement, Noticed, ReceiveOutcome};
use chitin_protocol::session_key::ChatType;
use chitin_tools::policy::ToolPolicy;
use serde_json::{Value, json};

fn config() -> Value {
    json!({
        "commands": {"ownerAllowFrom": ["ada"]},
        "messages": {"queue": {"mode": "steer"}},
        "channels": {"chat": {"channels": {
            "yard": {},
            "gate": {"tools": {"deny": ["sessions_spawn"]}, "toolsBySender": {"id:ben": {"deny": ["sessions_list"]}}},
        }}},
    })
}

async fn notice(stage: &Stage, noticed: Noticed) -> ReceiveOutcome {
    let heard = stage.gateway.notice(noticed).await.unwrap();
    stage.rest().await;
    heard
}

/// Returns what is denied to the sender of a message: in the room, and everywhere.
fn denied(config: &Value, noticed: &Noticed) -> (Option<String>, Option<String>) {
    let limits = tool_limits(config, noticed, "main").unwrap_or_default();
    let first = |policy: Option<ToolPolicy>| policy?.deny?.into_iter().next();
    (first(limits.room), first(limits.sender))
}

#[test]
fn the_narrowest_place_that_says_something_of_tools_decides_and_there_the_sender_first() {
    let says = |tool: &str| json!({"tools": {"deny": [tool]}});
    let config = json!({"channels": {"discord": {
        "guilds": {
            "7": {
                "tools": {"deny": ["guild"]},
                "channels": {
                    "100": {"tools": {"deny": ["room"]}, "toolsBySender": {"id:42": {"deny": ["sender"]}, "43": {}}},
                    "200": {},
                    "*": says("any-room"),
                },
            },
            "8": {"toolsBySender": {"*": {"deny": ["anybody"]}}},
            "*": says("any-guild"),
        },
        "channels": {"300": says("channel")},
        "groups": {"900": says("group"), "*": says("any-group")},
    }}});
    let room = |guild: Option<&str>, room: &str, sender: &str, kind: ChatType| {
        let mut noticed = in_room("discord", room, sender, "Hi");
        noticed.incoming.inbound.guild_id = guild.map(str::to_owned);
        if let Some(peer) = &mut noticed.incoming.inbound.peer {
            peer.kind = kind;
        }
        denied(&config, &noticed).0
    };
    let channel = ChatType::Channel;
    assert_eq!(
        room(Some("7"), "100", "42", channel).as_deref(),
        Some("sender")
    );
    assert_eq!(
        room(Some("7"), "100", "44", channel).as_deref(),
        Some("room")
    );
    assert_eq!(
        room(Some("7"), "100", "43", channel),
        None,
        "an empty entry lifts what the room says"
    );
    assert_eq!(
        room(Some("7"), "200", "42", channel).as_deref(),
        Some("any-room")
    );
    assert_eq!(
        room(Some("8"), "100", "42", channel).as_deref(),
        Some("anybody")
    );
    assert_eq!(
        room(Some("9"), "100", "42", channel).as_deref(),
        Some("any-guild")
    );
    assert_eq!(room(None, "300", "42", channel).as_deref(), Some("channel"));
    assert_eq!(
        room(None, "900", "42", ChatType::Group).as_deref(),
        Some("group")
    );
    assert_eq!(
        room(None, "901", "42", ChatType::Group).as_deref(),
        Some("any-group")
    );
    assert_eq!(room(None, "42", "42", ChatType::Direct), None);
}

#[test]
fn somebody_may_have_other_tools_everywhere_by_id_number_or_name() {
    let config = json!({
        "tools": {"toolsBySender": {
            "channel:discord:42": {"deny": ["scoped"]}, "id:42": {"deny": ["id"]}, "43": {"deny": ["bare"]},
            "e164:+1 555 0100": {"deny": ["number"]}, "username:@ada": {"deny": ["username"]}, "name:Ada": {"deny": ["name"]},
            "*": {"deny": ["anybody"]},
        }},
        "agents": {"list": [{"id": "main", "tools": {"toolsBySender": {"id:44": {"deny": ["agent"]}}}}]},
    });
    let of = |channel: &str, id: &str, username: &str, name: &str| {
        let mut noticed = direct(channel, id, "Hi");
        noticed.sender_names = vec![username.to_owned()];
        noticed.incoming.sender_name = Some(name.to_owned());
        denied(&config, &noticed).1.unwrap_or_default()
    };
    assert_eq!(of("discord", "42", "", ""), "scoped");
    assert_eq!(of("slack", "42", "", ""), "id");
    assert_eq!(of("slack", "43", "", ""), "bare");
    assert_eq!(of("slack", "44", "", ""), "agent");
    assert_eq!(of("signal", "+15550100", "", ""), "number");
    assert_eq!(of("slack", "9", "Ada", "Ada"), "username");
    assert_eq!(of("slack", "9", "eve", "ada"), "name");
    assert_eq!(of("slack", "9", "eve", "Eve"), "anybody");
    assert_eq!(
        tool_limits(&json!({}), &direct("slack", "9", "Hi"), "main"),
        None
    );
}

#[tokio::test]
async fn an_agent_has_the_tools_that_the_place_and_the_speaker_leave() {
    let replies: Vec<Value> = (0..4).map(|_| json!({"text": "Yes."})).collect();
    let stage = Setting {
        contract: &OPENCLAW_2026_4,
        ..Setting::replies(&replies).config(config())
    }
    .stage();
    let schedules = chitin_gateway::cron::CronFile::new(&stage.host.state);
    stage.gateway.keep_schedules(schedules);
    for (room, sender) in [
        ("yard", "ada"),
        ("yard", "ben"),
        ("gate", "ada"),
        ("gate", "ben"),
    ] {
        notice(&stage, in_room("chat", room, sender, "Hi")).await;
    }
    let asked = stage.host.asked();
    let has = |index: usize, tool: &str| asked[index].tools.iter().any(|name| name == tool);
    assert!(
        has(0, "cron") && !has(1, "cron"),
        "schedules are the owner's"
    );
    assert!(has(0, "sessions_spawn") && has(0, "sessions_list"));
    assert!(has(1, "sessions_spawn") && has(1, "sessions_list"));
    assert!(!has(2, "sessions_spawn") && has(2, "sessions_list"));
    assert!(has(3, "sessions_spawn") && !has(3, "sessions_list"));
    assert_eq!(
        asked.iter().map(|asked| asked.owner).collect::<Vec<_>>(),
        [Some(true), Some(false), Some(true), Some(false)]
    );
}

#[tokio::test]
async fn what_a_guest_begins_has_the_guests_rights() {
    let stage = Setting::replies(&[
        child("Count", "Seven."),
        spawns(json!({"task": "Count"})),
        json!({"text": "Asked."}),
        json!({"text": "Seven."}),
    ])
    .config(config())
    .stage();
    notice(&stage, in_room("chat", "gate", "ben", "How many?")).await;
    let asked = stage.host.asked();
    let below = asked
        .iter()
        .find(|asked| asked.session_key.contains(":subagent:"));
    let below = below.unwrap();
    assert_eq!(below.owner, Some(false));
    assert!(!below.tools.iter().any(|tool| tool == "sessions_list"));
    assert!(
        asked.iter().all(|asked| asked.owner == Some(false)),
        "the announce, too"
    );
}

#[tokio::test]
async fn a_guests_words_do_not_slip_into_the_owners_turn() {
    let stage = Setting::replies(&[
        json!({"text": "Owner first.", "delayMs": 400}),
        json!({"text": "Guest after."}),
    ])
    .config(config())
    .stage();
    stage
        .gateway
        .notice(in_room("chat", "yard", "ada", "Go"))
        .await
        .unwrap();
    while stage.host.asked().is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let guest = stage
        .gateway
        .notice(in_room("chat", "yard", "ben", "Delete it"))
        .await;
    assert!(
        matches!(guest, Ok(ReceiveOutcome::Taken(accepted)) if accepted.place == JobPlacement::Waits)
    );
    stage.rest().await;
    let owners: Vec<Option<bool>> = stage.host.asked().iter().map(|asked| asked.owner).collect();
    assert_eq!(owners, [Some(true), Some(false)]);
}

#[tokio::test]
async fn a_guest_does_not_stop_what_the_owner_asked_for_and_the_owner_stops_a_guests() {
    let mut config = config();
    config["messages"]["queue"]["mode"] = json!("interrupt");
    let stage = Setting::replies(&[
        json!({"text": "Owner first.", "delayMs": 300}),
        json!({"text": "Never heard.", "delayMs": 20_000}),
        json!({"text": "Owner again."}),
    ])
    .config(config)
    .stage();
    let say = |sender: &'static str| stage.gateway.notice(in_room("chat", "yard", sender, "Go"));
    let asked = |count: usize| {
        let stage = &stage;
        async move {
            while stage.host.asked().len() < count {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        }
    };
    say("ada").await.unwrap();
    asked(1).await;
    say("ben").await.unwrap();
    // The second time is to find out whether the rules would refuse the message; the third is its turn.
    asked(3).await;
    say("ada").await.unwrap();
    stage.rest().await;
    assert_eq!(
        stage.surface.sent(),
        [
            "chat:channel:yard: Owner first.",
            "chat:channel:yard: Owner again."
        ]
    );
}

#[test]
fn limits_survive_a_restart_with_the_job_that_has_them() {
    let limits = ToolLimits {
        room: Some(ToolPolicy {
            allow: None,
            deny: Some(vec!["exec".to_owned()]),
        }),
        sender: None,
    };
    let text = serde_json::to_string(&limits).unwrap();
    assert_eq!(text, r#"{"room":{"deny":["exec"]}}"#);
    assert_eq!(serde_json::from_str::<ToolLimits>(&text).unwrap(), limits);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_has_a_conversation_of_their_own_and_an_owner_the_main_one() {
    let config = json!({
        "channels": {"chat": {"dmPolicy": "open", "allowFrom": ["*"]}},
        "commands": {"ownerAllowFrom": ["chat:1"]},
    });
    let stage = Setting::replies(&[json!({"text": "Hello."}), json!({"text": "Hello."})])
        .config(config)
        .stage();
    let session = async |sender: &str| {
        let heard = stage
            .gateway
            .notice(direct("chat", sender, "Hello?"))
            .await
            .unwrap();
        match heard {
            ReceiveOutcome::Taken(accepted) => accepted.session_key,
            other => unreachable!("{other:?}"),
        }
    };
    assert_eq!(session("1").await, "agent:main:main");
    assert_eq!(session("2").await, "agent:main:chat:direct:2");
    stage.rest().await;
}
