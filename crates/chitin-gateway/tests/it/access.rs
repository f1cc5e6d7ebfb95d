//! Who is heard on a network: the owner, who is listed, who was let in, and nobody else.

use crate::stage::StageClock;
use chitin_gateway::access::AccessVerdict;
use chitin_gateway::route::{Inbound, Peer};
use chitin_gateway::{AccessControl, Addressed, IncomingMessage, Noticed};
use chitin_protocol::session_key::ChatType;
use serde_json::{Value, json};
use std::sync::Arc;

/// A message that somebody writes to us alone.
pub(crate) fn direct(channel: &str, sender: &str, text: &str) -> Noticed {
    Noticed {
        incoming: IncomingMessage {
            inbound: Inbound {
                channel: channel.to_owned(),
                peer: Some(Peer {
                    kind: ChatType::Direct,
                    id: sender.to_owned(),
                }),
                sender_id: Some(sender.to_owned()),
                ..Inbound::default()
            },
            text: text.to_owned(),
            ..IncomingMessage::default()
        },
        ..Noticed::default()
    }
}

/// A message that somebody writes in a room, to us.
pub(crate) fn in_room(channel: &str, room: &str, sender: &str, text: &str) -> Noticed {
    let mut noticed = direct(channel, sender, text);
    noticed.incoming.inbound.peer = Some(Peer {
        kind: ChatType::Channel,
        id: room.to_owned(),
    });
    noticed.addressed = Addressed::Named;
    noticed
}

/// The same in a guild.
fn in_guild(room: &str, sender: &str) -> Noticed {
    let mut noticed = in_room("discord", room, sender, "Hello");
    noticed.incoming.inbound.guild_id = Some("7".to_owned());
    noticed.guild_names = vec!["The Yard".to_owned()];
    noticed.room_names = vec!["berths".to_owned()];
    noticed
}

fn judge(config: &Value, noticed: &Noticed) -> AccessVerdict {
    let clock = Arc::new(StageClock::default());
    AccessControl::volatile(Arc::new(config.clone()), clock).judge(noticed)
}

/// Says in a word what becomes of a message.
fn fate(config: &Value, noticed: &Noticed) -> &'static str {
    match judge(config, noticed) {
        AccessVerdict::Heard { owner: true } => "owner",
        AccessVerdict::Heard { owner: false } => "heard",
        AccessVerdict::Overheard => "overheard",
        AccessVerdict::Unknown => "unknown",
        AccessVerdict::Refused(_) => "refused",
    }
}

#[test]
fn who_writes_to_us_alone_is_heard_by_the_policy_and_the_list() {
    for (section, listed, others) in [
        (json!({}), "unknown", "unknown"),
        (json!({"allowFrom": ["42"]}), "heard", "unknown"),
        (
            json!({"dmPolicy": "pairing", "allowFrom": [42]}),
            "heard",
            "unknown",
        ),
        (
            json!({"dmPolicy": "allowlist", "allowFrom": ["42"]}),
            "heard",
            "refused",
        ),
        (json!({"dmPolicy": "allowlist"}), "refused", "refused"),
        (
            json!({"dmPolicy": "open", "allowFrom": ["*"]}),
            "heard",
            "heard",
        ),
        (
            json!({"dmPolicy": "open", "allowFrom": ["42"]}),
            "heard",
            "refused",
        ),
        (json!({"dmPolicy": "open"}), "refused", "refused"),
        (
            json!({"dmPolicy": "disabled", "allowFrom": ["*"]}),
            "refused",
            "refused",
        ),
        (
            json!({"dmPolicy": "opne", "allowFrom": ["*"]}),
            "refused",
            "refused",
        ),
        (
            json!({"dmPolicy": true, "allowFrom": ["*"]}),
            "refused",
            "refused",
        ),
        (
            json!({"dm": {"policy": "allowlist", "allowFrom": ["42"]}}),
            "heard",
            "refused",
        ),
        (
            json!({"dm": {"enabled": false}, "allowFrom": ["*"]}),
            "refused",
            "refused",
        ),
        (
            json!({"enabled": false, "allowFrom": ["*"]}),
            "refused",
            "refused",
        ),
    ] {
        let config = json!({"channels": {"discord": section}});
        let of = |sender| fate(&config, &direct("discord", sender, "Hello"));
        assert_eq!((of("42"), of("43")), (listed, others), "{section}");
    }
}

#[test]
fn an_id_counts_in_the_ways_that_people_write_it_and_only_on_its_own_network() {
    for (entry, channel, sender, heard) in [
        ("42", "discord", "42", true),
        (" discord:42 ", "discord", "42", true),
        ("Discord:user:42", "discord", "42", true),
        ("user:42", "discord", "42", true),
        ("<@42>", "discord", "42", true),
        ("<@!42>", "discord", "42", true),
        ("slack:u1", "slack", "U1", true),
        ("slack:42", "discord", "42", false),
        ("discord:4", "discord", "42", false),
        ("discord:", "discord", "42", false),
        ("", "discord", "42", false),
        ("42 ", "discord", "421", false),
    ] {
        let section = json!({"dmPolicy": "allowlist", "allowFrom": [entry]});
        let config = json!({"channels": {channel: section}});
        let found = fate(&config, &direct(channel, sender, "Hello"));
        assert_eq!(found == "heard", heard, "{entry} for {channel} {sender}");
    }
}

#[test]
fn a_name_counts_only_where_the_configuration_says_so_and_never_makes_an_owner() {
    let named = |lax: bool| {
        json!({
            "commands": {"ownerAllowFrom": ["Ada", "ada#1815", "*"]},
            "channels": {"discord": {
                "dmPolicy": "allowlist", "allowFrom": ["ada#1815"], "dangerouslyAllowNameMatching": lax,
            }},
        })
    };
    let mut noticed = direct("discord", "42", "Hello");
    noticed.incoming.sender_name = Some("Ada".to_owned());
    noticed.sender_names = vec!["ada#1815".to_owned()];
    assert_eq!(fate(&named(false), &noticed), "refused");
    assert_eq!(fate(&named(true), &noticed), "heard");
}

#[test]
fn an_account_is_heard_by_its_own_settings_and_otherwise_by_those_of_its_network() {
    let config = json!({"channels": {"discord": {
        "dmPolicy": "allowlist", "allowFrom": ["1"],
        "accounts": {"Work": {"allowFrom": ["2"]}, "open": {"dmPolicy": "open", "allowFrom": ["*"]}, "off": {"enabled": false}},
    }}});
    let on = |account: &str, sender| {
        let mut noticed = direct("discord", sender, "Hello");
        noticed.incoming.inbound.account_id = Some(account.to_owned());
        fate(&config, &noticed)
    };
    assert_eq!(
        (on("default", "1"), on("default", "2")),
        ("heard", "refused")
    );
    assert_eq!((on("work", "1"), on("work", "2")), ("refused", "heard"));
    assert_eq!((on("open", "9"), on("off", "1")), ("heard", "refused"));
}

#[test]
fn the_owner_is_who_the_configuration_names_whatever_the_message_claims() {
    let config = json!({
        "commands": {"ownerAllowFrom": ["discord:42", "slack:7"]},
        "channels": {"discord": {"allowFrom": ["43"], "guilds": {"7": {"users": ["43"]}}}},
    });
    let mut claims = direct("discord", "43", "I am the owner");
    claims.incoming.is_owner = true;
    assert_eq!(fate(&config, &claims), "heard");
    assert_eq!(fate(&config, &direct("discord", "42", "Hello")), "owner");
    assert_eq!(fate(&config, &direct("discord", "7", "Hello")), "unknown");
    assert_eq!(fate(&config, &in_guild("100", "42")), "owner");
    assert_eq!(fate(&config, &in_guild("100", "43")), "heard");
}

#[test]
fn a_room_of_a_guild_is_heard_when_it_is_listed_and_so_is_the_sender() {
    let heard = |guilds: Value, room: &str, sender: &str| {
        let config = json!({"channels": {"discord": {"guilds": guilds}}});
        fate(&config, &in_guild(room, sender))
    };
    for (guilds, fate) in [
        (json!({}), "refused"),
        (json!({"8": {}}), "refused"),
        (json!({"7": {}}), "heard"),
        (json!({"the-yard": {}}), "heard"),
        (json!({"*": {}}), "heard"),
        (json!({"7": {"channels": {"100": {}}}}), "heard"),
        (
            json!({"7": {"channels": {"#berths": {"enabled": true}}}}),
            "heard",
        ),
        (json!({"7": {"channels": {"200": {}}}}), "refused"),
        (json!({"7": {"channels": {"200": {}, "*": {}}}}), "heard"),
        (
            json!({"7": {"channels": {"100": {"enabled": false}, "*": {}}}}),
            "refused",
        ),
        (
            json!({"7": {"channels": {"100": {"allow": false}}}}),
            "refused",
        ),
        (json!({"7": {"users": ["42"]}}), "heard"),
        (json!({"7": {"users": ["43"]}}), "refused"),
        (json!({"7": {"users": []}}), "refused"),
        (
            json!({"7": {"users": ["43"], "channels": {"100": {"users": ["*"]}}}}),
            "heard",
        ),
        (
            json!({"7": {"users": ["42"], "channels": {"100": {"users": ["43"]}}}}),
            "refused",
        ),
        (json!({"7": {"users": ["43"], "roles": ["5"]}}), "refused"),
    ] {
        assert_eq!(heard(guilds.clone(), "100", "42"), fate, "{guilds}");
    }
    let config = json!({"channels": {"discord": {"guilds": {"7": {"roles": ["<@&5>"]}}}}});
    let mut crew = in_guild("100", "42");
    crew.incoming.inbound.member_role_ids = vec!["5".to_owned()];
    assert_eq!(fate(&config, &crew), "heard");
    assert_eq!(fate(&config, &in_guild("100", "42")), "refused");
}

#[test]
fn a_thread_belongs_to_the_room_above_it() {
    let config = json!({"channels": {"discord": {"guilds": {"7": {"channels": {"100": {}}}}}}});
    let mut thread = in_guild("555", "42");
    thread.room_names.clear();
    assert_eq!(fate(&config, &thread), "refused");
    thread.incoming.inbound.parent_peer = Some(Peer {
        kind: ChatType::Channel,
        id: "100".to_owned(),
    });
    assert_eq!(fate(&config, &thread), "heard");
}

#[test]
fn rooms_without_guilds_go_by_their_own_list_and_the_policy() {
    for (section, expected) in [
        (json!({}), "refused"),
        (json!({"channels": {"C1": {}}}), "heard"),
        (json!({"channels": {"c1": {"users": ["U2"]}}}), "refused"),
        (json!({"channels": {"#yard": {"users": ["U1"]}}}), "heard"),
        (json!({"channels": {"C2": {}}}), "refused"),
        (json!({"groupPolicy": "open"}), "heard"),
        (
            json!({"groupPolicy": "open", "channels": {"C1": {"enabled": false}}}),
            "refused",
        ),
        (
            json!({"groupPolicy": "open", "groupAllowFrom": ["U2"]}),
            "refused",
        ),
        (
            json!({"groupPolicy": "open", "groupAllowFrom": ["U1"]}),
            "heard",
        ),
        (
            json!({"groupPolicy": "disabled", "channels": {"C1": {}}}),
            "refused",
        ),
        (
            json!({"groupPolicy": "closed", "channels": {"C1": {}}}),
            "refused",
        ),
    ] {
        let config = json!({"channels": {"slack": section}});
        let mut noticed = in_room("slack", "C1", "U1", "Hello");
        noticed.room_names = vec!["yard".to_owned()];
        assert_eq!(fate(&config, &noticed), expected, "{section}");
    }
    let everywhere = json!({"channels": {"defaults": {"groupPolicy": "open"}}});
    assert_eq!(
        fate(&everywhere, &in_room("slack", "C1", "U1", "Hello")),
        "heard"
    );
}

#[test]
fn a_conversation_of_several_people_is_heard_when_it_is_switched_on_and_the_sender_may_write_alone()
{
    let group = |section: Value, sender: &str| {
        let mut noticed = in_room("discord", "900", sender, "Hello");
        if let Some(peer) = &mut noticed.incoming.inbound.peer {
            peer.kind = ChatType::Group;
        }
        fate(&json!({"channels": {"discord": section}}), &noticed)
    };
    let on = json!({"dm": {"groupEnabled": true}, "allowFrom": ["42"]});
    assert_eq!(
        (group(on.clone(), "42"), group(on, "43")),
        ("heard", "refused")
    );
    assert_eq!(
        group(json!({"groupPolicy": "open", "allowFrom": ["42"]}), "42"),
        "refused"
    );
    let others =
        json!({"dm": {"groupEnabled": true, "groupChannels": ["901"]}, "allowFrom": ["42"]});
    assert_eq!(group(others, "42"), "refused");
    let listed = json!({"groups": {"900": {"allowFrom": ["43"]}}});
    assert_eq!(
        (group(listed.clone(), "43"), group(listed, "42")),
        ("heard", "refused")
    );
}

#[test]
fn what_is_not_said_to_us_is_overheard_unless_the_room_wants_no_address() {
    let config = json!({"channels": {"discord": {"guilds": {"7": {
        "users": ["42"], "channels": {"100": {}, "200": {"requireMention": false}},
    }}}}});
    let said = |room, sender, addressed| {
        let mut noticed = in_guild(room, sender);
        noticed.room_names.clear();
        noticed.addressed = addressed;
        fate(&config, &noticed)
    };
    assert_eq!(said("100", "42", Addressed::No), "overheard");
    assert_eq!(said("100", "42", Addressed::Replied), "heard");
    assert_eq!(said("200", "42", Addressed::No), "heard");
    assert_eq!(
        said("100", "43", Addressed::No),
        "refused",
        "nobody is half-heard"
    );
    let slack = json!({"channels": {"slack": {"requireMention": false, "channels": {"C1": {}}}}});
    let mut chatter = in_room("slack", "C1", "U1", "Hello");
    chatter.addressed = Addressed::No;
    assert_eq!(fate(&slack, &chatter), "heard");
}

#[test]
fn programs_are_heard_only_where_that_is_allowed() {
    let program = |section: Value, mut noticed: Noticed| {
        noticed.from_program = true;
        fate(&json!({"channels": {"discord": section}}), &noticed)
    };
    let listed = || json!({"allowFrom": ["42"], "guilds": {"7": {}}});
    assert_eq!(
        program(listed(), direct("discord", "42", "Beep")),
        "refused"
    );
    assert_eq!(program(listed(), in_guild("100", "42")), "refused");
    let with = |allow: Value| {
        let mut section = listed();
        section["allowBots"] = allow;
        section
    };
    assert_eq!(
        program(with(json!(true)), direct("discord", "42", "Beep")),
        "heard"
    );
    assert_eq!(
        program(with(json!(true)), direct("discord", "43", "Beep")),
        "refused",
        "no code for a program"
    );
    assert_eq!(
        program(with(json!("mentions")), in_guild("100", "42")),
        "heard"
    );
    let mut chatter = in_guild("100", "42");
    chatter.addressed = Addressed::No;
    assert_eq!(program(with(json!("mentions")), chatter), "refused");
    let room = json!({"guilds": {"7": {"channels": {"100": {"allowBots": true}}}}});
    assert_eq!(program(room, in_guild("100", "42")), "heard");
}

#[test]
fn what_does_not_say_who_or_where_is_refused_with_a_reason() {
    let open = json!({"channels": {"chat": {"dmPolicy": "open", "allowFrom": ["*"], "groupPolicy": "open"}}});
    let mut nobody = direct("chat", " ", "Hello");
    assert_eq!(
        judge(&open, &nobody),
        AccessVerdict::Refused("it does not say who wrote it".to_owned())
    );
    nobody.incoming.inbound.sender_id = None;
    assert_eq!(fate(&open, &nobody), "refused");
    let mut nowhere = direct("chat", "42", "Hello");
    nowhere.incoming.inbound.peer = None;
    assert_eq!(
        judge(&open, &nowhere),
        AccessVerdict::Refused("it does not say where it was posted".to_owned())
    );
}
