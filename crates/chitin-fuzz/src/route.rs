//! Messages by bindings: a configuration as JSON, or one that is put together from choices, and where a message comes from.

use crate::novelty;
use crate::recipe::Recipe;
use chitin_contract::ALL;
use chitin_gateway::route::{BindingVerdict, Inbound, Peer, Routing};
use chitin_protocol::session_key::ChatType;
use serde_json::{Value, json};

/// What bindings are made of.
pub const DICTIONARY: &[&str] = &[
    "\n",
    "*",
    "{\"bindings\":[{\"agentId\":\"ops\",\"match\":{\"channel\":\"discord\"}}]}",
    "\"peer\":{\"kind\":\"group\",\"id\":\"*\"}",
    "\"accountId\":\"*\"",
    "\"guildId\":\"g\"",
    "\"roles\":[\"r\"]",
    "\"teamId\":7",
    "\"session\":{\"dmScope\":\"per-peer\",\"groupScope\":\"main\"}",
    "\"identityLinks\":{\"alice\":[\"discord:1\",\"1\"]}",
    "\"agents\":{\"list\":[{\"id\":\"ops\",\"default\":true}]}",
    "\"agents\":{\"entries\":{\"ops\":{}}}",
    "\"type\":\"acp\"",
    "discord",
    "mattermost",
    "direct",
    "channel",
    "default",
    "__proto__",
    "\u{130}",
    "\u{feff}",
];

const WORDS: [&str; 12] = [
    "",
    " ",
    "*",
    "main",
    "ops",
    "Sales Team",
    "discord",
    "SLACK",
    "default",
    "1",
    "g",
    "\u{130}",
];
const KINDS: [&str; 5] = ["direct", "dm", "group", "channel", "odd"];
const SCOPES: [&str; 4] = [
    "main",
    "per-peer",
    "per-channel-peer",
    "per-account-channel-peer",
];

/// The most that a configuration may nest: the reader of JSON says so for files.
const MOST_BINDINGS: usize = 24;

/// Takes the first line as a configuration, the rest as choices.
pub fn run(data: &[u8]) {
    let mut recipe = Recipe::new(data);
    let first = recipe.line();
    let config = serde_json::from_slice(first).unwrap_or_else(|_| made(&mut Recipe::new(first)));
    let inbound = inbound(&mut recipe);
    for contract in ALL {
        let routing = Routing::read(&config, contract);
        let told = routing.explain(&inbound);
        let resolved = routing.resolve(&inbound);
        novelty::note((
            told.choice.matched_by,
            told.choice.stand_in,
            resolved.is_ok(),
        ));
        match resolved {
            Ok(route) => {
                // A channel of odd spelling makes an odd key, but never one of another agent.
                let owner = format!("agent:{}:", route.agent_id);
                for key in [route.key(), &route.main_session_key, &route.session_key] {
                    assert!(
                        key.len() > owner.len() && key.starts_with(&owner),
                        "{route:?}"
                    );
                }
                assert_eq!(told.key.as_deref(), Some(route.key()));
                assert_eq!(told.route, Some(route), "two answers to one question");
            }
            Err(error) => {
                assert_eq!(told.problem, Some(error.to_string()));
                assert!(told.route.is_none() && !error.hint().is_empty());
            }
        }
        let chosen = told
            .bindings
            .iter()
            .filter(|binding| binding.verdict == BindingVerdict::Chosen);
        assert_eq!(chosen.count(), usize::from(told.choice.binding.is_some()));
        for binding in &told.bindings {
            assert_eq!(
                binding.verdict == BindingVerdict::No,
                binding.mismatch.is_some()
            );
        }
        serde_json::to_string(&told).expect("an explanation is plain data");
    }
}

fn made(recipe: &mut Recipe<'_>) -> Value {
    let mut bindings = Vec::new();
    while !recipe.is_done() && bindings.len() < MOST_BINDINGS {
        let mut asks = json!({"channel": recipe.pick(&WORDS)});
        let parts = recipe.byte();
        let mut ask = |bit: u8, key: &str, value: Value| {
            if parts & bit != 0 {
                asks[key] = value;
            }
        };
        ask(1, "accountId", json!(recipe.pick(&WORDS)));
        ask(
            2,
            "peer",
            json!({"kind": recipe.pick(&KINDS), "id": recipe.pick(&WORDS)}),
        );
        ask(4, "guildId", json!(recipe.pick(&WORDS)));
        ask(8, "teamId", json!(recipe.byte()));
        ask(16, "roles", json!([recipe.pick(&WORDS)]));
        bindings.push(json!({
            "agentId": recipe.pick(&WORDS),
            "match": asks,
            "session": {"dmScope": recipe.pick(&SCOPES)},
        }));
    }
    let agents = [
        json!({}),
        json!({"list": [{"id": "ops"}, {"id": "1"}]}),
        json!({"list": [{"id": "main", "default": true}, {"id": "Sales Team"}]}),
    ];
    json!({
        "agents": agents[usize::from(recipe.byte()) % agents.len()],
        "session": {
            "dmScope": recipe.pick(&SCOPES),
            "mainKey": recipe.pick(&WORDS),
            "identityLinks": {"alice": [recipe.pick(&WORDS), "discord:1"]},
        },
        "bindings": bindings,
    })
}

fn inbound(recipe: &mut Recipe<'_>) -> Inbound {
    let mut text = || String::from_utf8_lossy(recipe.line()).into_owned();
    let peer = |kind: &str, id: String| {
        let kind = ChatType::parse(kind)?;
        Some(Peer { kind, id })
    };
    Inbound {
        channel: text(),
        account_id: Some(text()),
        peer: peer(&text(), text()),
        parent_peer: peer(&text(), text()),
        guild_id: Some(text()),
        team_id: Some(text()),
        member_role_ids: text().split(',').map(str::to_owned).collect(),
        thread_id: Some(text()),
        sender_id: None,
    }
}
