//! Session keys: one text, three readings.

use chitin_protocol::agent_id::{AgentId, normalize_account_id};
use chitin_protocol::session_key::KeyGrammar::{Exact, Lenient, Strict};
use chitin_protocol::session_key::{
    ChatType, DmScope, GroupScope, KeyGrammar, KeyShape, PeerKey, SessionKey, ThreadSuffix,
    build_peer_key, chat_type, conversation, history_key, is_acp, is_cron, is_cron_run,
    is_subagent, request_key, shape, split_thread, store_key, subagent_depth, thread_key,
};
use proptest::prelude::*;

const ALL: [KeyGrammar; 3] = [Strict, Lenient, Exact];

fn readings<T>(text: &str, read: impl Fn(&str, KeyGrammar) -> T) -> [T; 3] {
    ALL.map(|grammar| read(text, grammar))
}

#[test]
fn releases_read_odd_spellings_differently() {
    let subagent = |text| readings(text, is_subagent);
    assert_eq!(subagent("agent:main:subagent:1"), [true, true, true]);
    assert_eq!(subagent("SUBAGENT:x"), [true, true, true]);
    assert_eq!(subagent("agent:Main:SubAgent:1"), [true, true, true]);
    assert_eq!(subagent("AGENT:main:subagent:1"), [false, true, true]);
    assert_eq!(subagent("agent:main: subagent:1"), [false, true, true]);
    assert_eq!(subagent("agent::main:subagent:1"), [true, true, false]);
    assert_eq!(subagent("agent:main::subagent:1"), [true, true, false]);
    assert_eq!(subagent("agent:main:discord:subagent:1"), [false; 3]);

    let cron = |text| readings(text, is_cron);
    assert_eq!(cron("agent:main:cron:"), [false, false, true]);
    assert_eq!(cron("cron:x"), [false; 3]);
    let run = |text| readings(text, is_cron_run);
    assert_eq!(run("agent:main:cron:a:run:b"), [true; 3]);
    assert_eq!(run("agent:main:cron:a:run:b:c"), [false, false, true]);
    assert_eq!(run("agent:main:cron:a:run:"), [false; 3]);
    assert_eq!(readings("acp:1", is_acp), [true; 3]);
}

#[test]
fn depth_counts_subagents_in_the_key() {
    let depth = |text| readings(text, subagent_depth);
    assert_eq!(depth("subagent:x"), [0, 0, 1]);
    assert_eq!(depth("agent:a:subagent:x:subagent:y"), [2, 2, 2]);
    assert_eq!(depth("agent:a:subagent"), [0, 0, 0]);
    assert_eq!(depth(""), [0, 0, 0]);
}

#[test]
fn a_shape_says_why_a_text_is_no_agent_key() {
    assert_eq!(shape(" ", Exact), KeyShape::Missing);
    assert_eq!(shape("Agent:a:b", Exact), KeyShape::Agent);
    assert_eq!(shape("agent:a", Exact), KeyShape::MalformedAgent);
    assert_eq!(shape("global", Exact), KeyShape::LegacyOrAlias);
}

#[test]
fn a_store_key_always_names_an_agent() {
    let store = |text| store_key(text, "Ops", "Home", Exact);
    assert_eq!(store(""), "agent:ops:home");
    assert_eq!(store("MAIN"), "agent:ops:home");
    assert_eq!(store("Agent:B:X"), "agent:b:x");
    assert_eq!(store("slack:dm:U1"), "agent:ops:slack:dm:u1");
    assert_eq!(store("signal:group:AbC"), "agent:ops:signal:group:AbC");
    assert_eq!(request_key(" ", Exact), None);
}

#[test]
fn ids_with_letter_case_survive_in_the_newest_reading_only() {
    let rest = |text, grammar| SessionKey::parse(text, grammar).map(|key| key.rest);
    let room = "agent:main:Matrix:Channel:!RoOm:Ex.org:THREAD:$EvT";
    assert_eq!(
        rest(room, Exact).as_deref(),
        Some("matrix:channel:!RoOm:Ex.org:thread:$EvT")
    );
    assert_eq!(
        rest(room, Lenient).as_deref(),
        Some("matrix:channel:!room:ex.org:thread:$evt")
    );
}

#[test]
fn threads_and_conversations_keep_their_spelling() {
    let split = split_thread("agent:A:x:Thread:a:THREAD:B");
    assert_eq!(split.base.as_deref(), Some("agent:A:x:Thread:a"));
    assert_eq!(split.thread_id.as_deref(), Some("B"));
    let place = conversation("agent:A:Discord:CHANNEL:Ab:1").expect("a channel");
    assert_eq!(
        (place.channel.as_str(), place.kind, place.raw_id.as_str()),
        ("discord", ChatType::Channel, "Ab:1")
    );
    assert_eq!(place.prefix, "agent:A:Discord:CHANNEL");
    assert_eq!(conversation("agent:a:slack:direct:1"), None);
}

#[test]
fn the_kind_of_chat_shows_in_the_key() {
    for (key, kind) in [
        ("agent:main:slack:group:G1", Some(ChatType::Group)),
        (
            "agent:main:telegram:default:group:-100",
            Some(ChatType::Group),
        ),
        ("group:5", Some(ChatType::Group)),
        ("channel:5", Some(ChatType::Channel)),
        ("12@g.us", Some(ChatType::Group)),
        ("agent:a:whatsapp:12@g.us", Some(ChatType::Group)),
        ("discord:x:guild-1:channel-2", Some(ChatType::Channel)),
        ("discord:guild-1:channel-2", Some(ChatType::Channel)),
        ("agent:main:telegram:direct:5", Some(ChatType::Direct)),
        ("agent:main:direct:ada", Some(ChatType::Direct)),
        ("agent:main:main", None),
        ("agent:main:slack:group:", None),
        ("", None),
    ] {
        assert_eq!(chat_type(key), kind, "{key}");
    }
}

fn peer(kind: ChatType, links: &[(String, Vec<String>)]) -> PeerKey<'_> {
    PeerKey {
        agent_id: "Ops Team",
        main_key: "",
        channel: "Signal",
        account_id: "",
        kind,
        peer_id: " AbC ",
        dm_scope: DmScope::Main,
        group_scope: GroupScope::PerGroup,
        identity_links: links,
        grammar: Exact,
    }
}

#[test]
fn direct_messages_share_a_session_as_far_as_the_scope_says() {
    let links = [("Ada".to_owned(), vec!["signal:ABC".to_owned()])];
    let key = |dm_scope, links| {
        build_peer_key(&PeerKey {
            dm_scope,
            ..peer(ChatType::Direct, links)
        })
    };
    assert_eq!(key(DmScope::Main, &links), "agent:ops-team:main");
    assert_eq!(key(DmScope::PerPeer, &[]), "agent:ops-team:direct:abc");
    assert_eq!(key(DmScope::PerPeer, &links), "agent:ops-team:direct:ada");
    assert_eq!(
        key(DmScope::PerChannelPeer, &links),
        "agent:ops-team:signal:direct:ada"
    );
    assert_eq!(
        key(DmScope::PerAccountChannelPeer, &[]),
        "agent:ops-team:signal:default:direct:abc"
    );
}

#[test]
fn groups_have_a_session_and_a_history_of_their_own() {
    let group = peer(ChatType::Group, &[]);
    assert_eq!(build_peer_key(&group), "agent:ops-team:signal:group:AbC");
    assert_eq!(
        history_key(&group).as_deref(),
        Some("signal:default:group:AbC")
    );
    let folded = PeerKey {
        group_scope: GroupScope::Main,
        ..group.clone()
    };
    assert_eq!(build_peer_key(&folded), "agent:ops-team:main");
    let older = PeerKey {
        grammar: Lenient,
        ..folded
    };
    assert_eq!(build_peer_key(&older), "agent:ops-team:signal:group:abc");
    assert_eq!(history_key(&peer(ChatType::Direct, &[])), None);
}

#[test]
fn a_thread_has_a_parent_only_when_it_is_one() {
    let key = |id, suffix| thread_key("agent:a:b", id, Some("agent:a:p"), suffix);
    assert_eq!(key(" ", ThreadSuffix::LowerCase).parent_session_key, None);
    let thread = key("T1", ThreadSuffix::LowerCase);
    assert_eq!(thread.session_key, "agent:a:b:thread:t1");
    assert_eq!(thread.parent_session_key.as_deref(), Some("agent:a:p"));
    assert_eq!(
        key("T1", ThreadSuffix::AsSpelled).session_key,
        "agent:a:b:thread:T1"
    );
    assert_eq!(key("T1", ThreadSuffix::Off).session_key, "agent:a:b");
}

#[test]
fn account_names_fall_back_to_the_default_one() {
    assert_eq!(normalize_account_id(" Work Phone "), "work-phone");
    assert_eq!(normalize_account_id("__proto__"), "default");
    assert_eq!(normalize_account_id(""), "default");
}

/// Texts that look enough like keys to reach every branch.
fn key_like() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("agent"),
        Just("AGENT"),
        Just("subagent"),
        Just("cron"),
        Just("run"),
        Just("acp"),
        Just("thread"),
        Just("matrix"),
        Just("signal"),
        Just("group"),
        Just("channel"),
        Just("main"),
        Just(""),
        Just(" "),
        Just("İ"),
        Just("ß😀"),
        Just("12@g.us"),
        Just("guild-1"),
    ];
    prop_oneof![
        prop::collection::vec(word, 0..8).prop_map(|words| words.join(":")),
        any::<String>(),
    ]
}

proptest! {
    #[test]
    fn no_text_makes_a_key_function_panic(text in key_like(), other in key_like()) {
        for grammar in ALL {
            let _ = (shape(&text, grammar), is_acp(&text, grammar), is_cron_run(&text, grammar));
            let _ = (subagent_depth(&text, grammar), request_key(&text, grammar));
            let _ = (split_thread(&text), conversation(&text), chat_type(&text));
            let _ = thread_key(&text, &other, None, ThreadSuffix::LowerCase);
            prop_assert!(!store_key(&text, &other, &other, grammar).is_empty());
            if let Some(parsed) = SessionKey::parse(&text, grammar) {
                prop_assert!(!parsed.agent_id.is_empty() && !parsed.rest.is_empty());
            }
        }
    }

    #[test]
    fn a_stored_key_is_stored_under_itself(text in key_like()) {
        let stored = store_key(&text, "ops", "main", Exact);
        prop_assert_eq!(&store_key(&stored, "other", "main", Exact), &stored);
    }

    #[test]
    fn an_agent_id_is_its_own_normal_form_and_never_long(text in any::<String>()) {
        let id = AgentId::normalize(&text);
        prop_assert!(!id.as_str().is_empty() && id.as_str().len() <= 64);
        prop_assert!(id.as_str().bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'));
    }
}
