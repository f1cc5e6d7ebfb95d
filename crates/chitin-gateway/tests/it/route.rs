//! Who gets a message, and in which session.

use chitin_contract::{ALL, CANONICAL, OPENCLAW_2026_4, OPENCLAW_2026_9};
use chitin_gateway::route::{BindingVerdict, Inbound, MatchedBy, Peer, RouteError, Routing};
use chitin_protocol::session_key::{self, ChatType, DmScope, GroupScope, IdentityLinks, PeerKey};
use proptest::prelude::*;
use serde_json::{Value, json};

fn at(channel: &str, kind: ChatType, id: &str) -> Inbound {
    Inbound {
        channel: channel.to_owned(),
        peer: Some(Peer {
            kind,
            id: id.to_owned(),
        }),
        ..Inbound::default()
    }
}

fn roster() -> Value {
    json!({"list": [{"id": "main", "default": true}, {"id": "ops"}, {"id": "vip"}]})
}

#[test]
fn a_channel_message_goes_to_the_channels_own_session() {
    let routing = Routing::read(&json!({}), &CANONICAL);
    let route = routing
        .resolve(&at("Discord", ChatType::Channel, "C9"))
        .unwrap();
    assert_eq!(route.key(), "agent:main:discord:channel:c9");
    assert_eq!(route.matched_by, MatchedBy::Default);
    assert_eq!(route.parent_session_key, None);
}

#[test]
fn a_thread_message_goes_to_the_threads_own_session() {
    let routing = Routing::read(&json!({}), &CANONICAL);
    let slack = Inbound {
        thread_id: Some("17.A".to_owned()),
        ..at("slack", ChatType::Channel, "C1")
    };
    let route = routing.resolve(&slack).unwrap();
    assert_eq!(route.key(), "agent:main:slack:channel:c1:thread:17.a");
    assert_eq!(
        route.parent_session_key.as_deref(),
        Some("agent:main:slack:channel:c1")
    );

    let mattermost = Inbound {
        channel: "mattermost".to_owned(),
        ..slack
    };
    let route = routing.resolve(&mattermost).unwrap();
    assert_eq!(route.key(), "agent:main:mattermost:channel:c1:thread:17.A");
}

#[test]
fn a_discord_thread_is_a_channel_below_its_channel_whoever_made_it() {
    let routing = Routing::read(&json!({}), &CANONICAL);
    let parent = Peer {
        kind: ChatType::Channel,
        id: "7".to_owned(),
    };
    let unsaid = Inbound {
        parent_peer: Some(parent),
        ..at("discord", ChatType::Channel, "42")
    };
    let said = Inbound {
        thread_id: Some("42".to_owned()),
        ..unsaid.clone()
    };
    for inbound in [unsaid, said] {
        let route = routing.resolve(&inbound).unwrap();
        assert_eq!(route.key(), "agent:main:discord:channel:42");
        assert_eq!(
            route.parent_session_key.as_deref(),
            Some("agent:main:discord:channel:7")
        );
    }
}

#[test]
fn a_binding_to_nobody_falls_to_the_default_agent_or_is_refused() {
    let config = json!({
        "agents": roster(),
        "bindings": [{"agentId": "ghost", "match": {"channel": "signal"}}],
    });
    let inbound = at("signal", ChatType::Direct, "5");
    let lenient = Routing::read(&config, &OPENCLAW_2026_4);
    let route = lenient.resolve(&inbound).unwrap();
    assert_eq!(route.agent_id.as_str(), "main");
    assert!(lenient.explain(&inbound).choice.stand_in);

    let error = Routing::read(&config, &OPENCLAW_2026_9)
        .resolve(&inbound)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "`bindings[0].agentId` names the agent `ghost`, which is not configured"
    );
    assert!(error.hint().contains("main, ops, vip"));
}

#[test]
fn several_agents_without_a_default_are_a_question_only_where_no_binding_answers() {
    let config = json!({
        "agents": {"list": [{"id": "one"}, {"id": "two"}]},
        "bindings": [{"agentId": "two", "match": {"channel": "slack"}}],
    });
    let routing = Routing::read(&config, &OPENCLAW_2026_9);
    let slack = routing.resolve(&at("slack", ChatType::Direct, "u"));
    assert_eq!(slack.unwrap().agent_id.as_str(), "two");
    let other = routing.resolve(&at("discord", ChatType::Direct, "u"));
    assert!(matches!(other, Err(RouteError::NoDefault(_))));
}

#[test]
fn a_binding_can_say_how_far_its_sessions_are_shared_where_the_contract_knows_that() {
    let config = json!({
        "bindings": [{
            "agentId": "main",
            "match": {"channel": "slack"},
            "session": {"dmScope": "per-channel-peer"},
        }],
    });
    let inbound = at("slack", ChatType::Direct, "U1");
    let key = |contract| {
        let routing = Routing::read(&config, contract);
        routing.resolve(&inbound).unwrap().session_key
    };
    assert_eq!(key(&OPENCLAW_2026_9), "agent:main:slack:direct:u1");
    assert_eq!(key(&OPENCLAW_2026_4), "agent:main:main");
}

#[test]
fn the_first_thing_that_a_message_lacks_is_named_with_its_place() {
    let config = json!({
        "agents": roster(),
        "bindings": [
            {"agentId": "ops", "match": {"channel": "discord", "accountId": "b"}},
            {"agentId": "ops", "match": {"channel": "discord", "peer": {"kind": "direct", "id": 9}}},
            {"agentId": "ops", "match": {"channel": "discord", "peer": {"kind": "group", "id": 8}}},
            {"agentId": "ops", "match": {"channel": "discord", "guildId": "g", "roles": ["r", "s"]}},
            {"agentId": "ops", "match": {"channel": "discord", "teamId": "t"}},
            {"type": "acp", "agentId": "ops", "match": {"channel": "discord"}},
            {"agentId": "ops"},
            {"agentId": "vip", "match": {"channel": "discord", "accountId": "*"}},
        ],
    });
    let inbound = Inbound {
        guild_id: Some("g".to_owned()),
        ..at("discord", ChatType::Channel, "9")
    };
    let told = Routing::read(&config, &CANONICAL).explain(&inbound);
    let reasons: Vec<String> = told
        .bindings
        .iter()
        .map(|binding| match &binding.mismatch {
            None => format!("{} {:?}", binding.path, binding.verdict),
            Some(lacks) => format!("{}: {} not {:?}", lacks.path, lacks.wanted, lacks.found),
        })
        .collect();
    insta::assert_snapshot!(reasons.join("\n"), @r#"
    bindings[0].match.accountId: b not Some("default")
    bindings[1].match.peer.kind: direct not Some("channel")
    bindings[2].match.peer.id: 8 not Some("9")
    bindings[3].match.roles: r or s not None
    bindings[4].match.teamId: t not None
    bindings[5].type: route not Some("acp")
    bindings[6].match.channel: a channel not Some("missing")
    bindings[7] Chosen
    "#);
}

#[test]
fn a_role_that_is_none_lets_nobody_in() {
    let config = json!({
        "agents": roster(),
        "bindings": [
            {"agentId": "ops", "match": {"channel": "discord", "guildId": "g", "roles": [null, {}]}},
            {"agentId": "vip", "match": {"channel": "discord", "guildId": "g", "roles": [77]}},
        ],
    });
    let routing = Routing::read(&config, &CANONICAL);
    let with = |role: &str| Inbound {
        guild_id: Some("g".to_owned()),
        member_role_ids: vec![role.to_owned()],
        ..at("discord", ChatType::Channel, "9")
    };
    let agent = |role: &str| routing.resolve(&with(role)).unwrap().agent_id.to_string();
    assert_eq!(agent(""), "main");
    assert_eq!(agent("77"), "vip", "a number is an id");
}

fn word(words: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    prop::sample::select(words)
}

fn binding() -> impl Strategy<Value = Value> {
    let peer = prop::option::of((
        word(&["direct", "dm", "group", "channel", "odd"]),
        word(&["1", "2", "*", ""]),
    ));
    let asks = (
        word(&["discord", "slack", "Discord", ""]),
        prop::option::of(word(&["", "*", "work", "Work", "default"])),
        peer,
        prop::option::of(word(&["g1", "g2", ""])),
        prop::option::of(word(&["t1", "t2"])),
        prop::option::of(prop::collection::vec(word(&["r1", "r2"]), 0..3)),
    );
    (word(&["main", "ops", "ghost", "Sales Team", ""]), asks).prop_map(
        |(agent, (channel, account, peer, guild, team, roles))| {
            let peer = peer.map(|(kind, id)| json!({"kind": kind, "id": id}));
            json!({"agentId": agent, "match": {
                "channel": channel, "accountId": account, "peer": peer,
                "guildId": guild, "teamId": team, "roles": roles,
            }})
        },
    )
}

fn peer() -> impl Strategy<Value = Option<Peer>> {
    let kind = prop::sample::select(vec![ChatType::Direct, ChatType::Group, ChatType::Channel]);
    prop::option::of(
        (kind, word(&["1", "2", "3", "*", ""])).prop_map(|(kind, id)| Peer {
            kind,
            id: id.to_owned(),
        }),
    )
}

fn inbound() -> impl Strategy<Value = Inbound> {
    let text = |words| prop::option::of(word(words).prop_map(str::to_owned));
    (
        word(&["discord", "slack", "DISCORD", "matrix"]),
        text(&["", "work", "WORK", "other"]),
        peer(),
        peer(),
        text(&["g1", "g3"]),
        text(&["t1", "t3"]),
        prop::collection::vec(word(&["r1", "r3"]).prop_map(str::to_owned), 0..3),
        text(&["", "T1"]),
    )
        .prop_map(
            |(channel, account_id, peer, parent_peer, guild_id, team_id, roles, thread_id)| {
                Inbound {
                    channel: channel.to_owned(),
                    account_id,
                    peer,
                    parent_peer,
                    guild_id,
                    team_id,
                    member_role_ids: roles,
                    thread_id,
                    sender_id: None,
                }
            },
        )
}

fn config() -> impl Strategy<Value = Value> {
    let agents = prop::sample::select(vec![
        json!({}),
        json!({"list": [{"id": "ops"}, {"id": "Sales Team"}]}),
        json!({"list": [{"id": "main", "default": true}, {"id": "ops"}]}),
    ]);
    let scope = word(&["main", "per-peer", "per-channel-peer", "odd"]);
    (agents, scope, prop::collection::vec(binding(), 0..12)).prop_map(
        |(agents, scope, bindings)| {
            json!({
                "agents": agents,
                "session": {"dmScope": scope, "mainKey": "home", "groupScope": "main"},
                "bindings": bindings,
            })
        },
    )
}

proptest! {
    #[test]
    fn an_explanation_never_says_anything_but_what_happens(
        config in config(),
        inbound in inbound(),
    ) {
        for contract in ALL {
            let routing = Routing::read(&config, contract);
            let told = routing.explain(&inbound);
            match routing.resolve(&inbound) {
                Ok(route) => {
                    prop_assert_eq!(told.key.as_deref(), Some(route.key()));
                    prop_assert_eq!(told.choice.matched_by, route.matched_by);
                    prop_assert_eq!(told.route, Some(route));
                }
                Err(error) => {
                    prop_assert_eq!(told.problem, Some(error.to_string()));
                    prop_assert_eq!(told.route, None);
                }
            }
            let chosen: Vec<_> = told
                .bindings
                .iter()
                .filter(|binding| binding.verdict == BindingVerdict::Chosen)
                .collect();
            prop_assert_eq!(chosen.len(), usize::from(told.choice.binding.is_some()));
            // Whatever holds and was not chosen is weaker, or comes later.
            for other in told.bindings.iter().filter(|other| other.mismatch.is_none()) {
                prop_assert!(other.tier >= chosen[0].tier);
            }
        }
    }

    #[test]
    fn a_person_is_found_by_the_index_as_by_a_walk(
        links in prop::collection::vec(
            ("[a-cA-C ]{0,2}", prop::collection::vec("( |slack:|Slack:)?[1-3]{0,1} ?", 0..4)), 0..5),
        channel in word(&["slack", "discord", ""]),
        id in "[1-3 ]{0,2}",
    ) {
        let linked: serde_json::Map<String, Value> = links.iter().map(|(name, ids)| (name.clone(), json!(ids))).collect();
        let walked: IdentityLinks = linked
            .iter()
            .map(|(name, ids)| {
                let ids = ids.as_array().unwrap().iter();
                (name.clone(), ids.map(|id| id.as_str().unwrap().to_owned()).collect())
            })
            .collect();
        let config = json!({"session": {"dmScope": "per-peer", "identityLinks": linked}});
        let route = Routing::read(&config, &CANONICAL).resolve(&at(channel, ChatType::Direct, &id)).unwrap();
        let id = if id.trim().is_empty() { "unknown" } else { &id };
        let expected = session_key::build_peer_key(&PeerKey {
            agent_id: "main",
            main_key: "",
            channel,
            account_id: "",
            kind: ChatType::Direct,
            peer_id: id,
            dm_scope: DmScope::PerPeer,
            group_scope: GroupScope::PerGroup,
            identity_links: &walked,
            grammar: CANONICAL.session_keys,
        });
        prop_assert_eq!(route.session_key, expected);
    }
}
