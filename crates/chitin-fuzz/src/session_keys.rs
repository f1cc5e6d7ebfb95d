//! Session keys by every grammar: read, classified, built.

use crate::novelty;
use crate::recipe::Recipe;
use chitin_protocol::agent_id::{self, AgentId};
use chitin_protocol::session_key::{
    ChatType, DmScope, GroupScope, KeyGrammar, KeyShape, PeerKey, SessionKey, ThreadSuffix,
    build_peer_key, chat_type, conversation, history_key, is_acp, is_cron, is_cron_run,
    is_subagent, main_key, request_key, shape, split_thread, store_key, subagent_depth, thread_key,
};
use chitin_protocol::text::{trim_end_js, trim_js, utf16_len};

/// What keys are made of.
pub const DICTIONARY: &[&str] = &[
    ":",
    "::",
    "\n",
    "agent:",
    "AGENT:",
    "agent:main:",
    "agent:main:main",
    "subagent:",
    ":subagent:",
    "acp:",
    "cron:",
    ":run:",
    ":thread:",
    ":Thread:",
    ":topic:",
    "signal:group:",
    "matrix:channel:!Room:example.org",
    "discord:guild-1:channel-2",
    "whatsapp:1@g.us",
    "direct:",
    "dm:",
    "group:",
    "channel:",
    "global",
    "unknown",
    " ",
    "\u{feff}",
    "\u{a0}",
    "\u{130}",
    "\u{3a3}",
    "\u{212a}",
    "\u{1f600}",
    "__proto__",
];

const GRAMMARS: [KeyGrammar; 3] = [KeyGrammar::Strict, KeyGrammar::Lenient, KeyGrammar::Exact];
const KINDS: [ChatType; 3] = [ChatType::Direct, ChatType::Group, ChatType::Channel];
const DM_SCOPES: [DmScope; 4] = [
    DmScope::Main,
    DmScope::PerPeer,
    DmScope::PerChannelPeer,
    DmScope::PerAccountChannelPeer,
];
const GROUP_SCOPES: [GroupScope; 2] = [GroupScope::PerGroup, GroupScope::Main];
const SUFFIXES: [ThreadSuffix; 3] = [
    ThreadSuffix::LowerCase,
    ThreadSuffix::AsSpelled,
    ThreadSuffix::Off,
];

/// Takes one line as a key and the following ones as what a message says of its place.
pub fn run(data: &[u8]) {
    let mut lines = Recipe::new(data);
    let [text, agent, channel, account, peer, thread, linked] =
        std::array::from_fn(|_| String::from_utf8_lossy(lines.line()).into_owned());
    for grammar in GRAMMARS {
        check_reading(&text, grammar);
        check_storing(&text, &agent, &thread, grammar);
    }
    check_parts(&text);
    check_threads(&text, &thread);
    check_ids(&text);
    let same_person = [
        (linked.clone(), vec![peer.clone(), text.clone()]),
        (agent.clone(), vec![format!("{channel}:{peer}")]),
    ];
    check_building(&PeerKey {
        agent_id: &agent,
        main_key: &thread,
        channel: &channel,
        account_id: &account,
        kind: ChatType::Direct,
        peer_id: &peer,
        dm_scope: DmScope::Main,
        group_scope: GroupScope::PerGroup,
        identity_links: &same_person,
        grammar: KeyGrammar::Strict,
    });
}

fn check_reading(text: &str, grammar: KeyGrammar) {
    let parsed = SessionKey::parse(text, grammar);
    let found = shape(text, grammar);
    let flags = (
        is_subagent(text, grammar),
        is_acp(text, grammar),
        is_cron(text, grammar),
        is_cron_run(text, grammar),
        subagent_depth(text, grammar).min(4),
    );
    novelty::note((found as u8, flags, parsed.is_some()));
    assert_eq!(parsed.is_some(), found == KeyShape::Agent, "{text:?}");
    assert_eq!(
        trim_js(text).is_empty(),
        found == KeyShape::Missing,
        "{text:?}"
    );
    assert!(
        !flags.3 || flags.2,
        "a run that is no scheduled job: {text:?} {grammar:?}"
    );
    assert_eq!(
        request_key(text, grammar).is_none(),
        found == KeyShape::Missing,
        "{text:?}"
    );
    let Some(parsed) = parsed else { return };
    assert!(!parsed.agent_id.is_empty() && !parsed.rest.is_empty());
    assert!(!parsed.agent_id.contains(':'), "{parsed:?}");
    // A rest that ends in blanks is read without them the next time; the recorded programs do the same.
    if trim_end_js(&parsed.rest) == parsed.rest {
        let rebuilt = format!("agent:{}:{}", parsed.agent_id, parsed.rest);
        let again = SessionKey::parse(&rebuilt, grammar);
        assert_eq!(again.as_ref(), Some(&parsed), "{text:?} {grammar:?}");
    }
}

fn check_storing(text: &str, agent: &str, name: &str, grammar: KeyGrammar) {
    let stored = store_key(text, agent, name, grammar);
    assert!(
        stored.starts_with("agent:"),
        "{text:?} is stored as {stored:?}"
    );
    let settles = match grammar {
        // These readings drop empty segments, and blanks that then stand at an end.
        KeyGrammar::Strict | KeyGrammar::Lenient => {
            !stored.contains("::") && !stored.ends_with(':') && trim_end_js(&stored) == stored
        }
        KeyGrammar::Exact => true,
    };
    if settles {
        let again = store_key(&stored, "other", "elsewhere", grammar);
        assert_eq!(again, stored, "{text:?} {grammar:?}");
    }
    let _ = main_key(agent, name);
}

fn check_parts(text: &str) {
    let spoken = conversation(text);
    novelty::note((spoken.is_some(), chat_type(text).map(|kind| kind as u8)));
    if let Some(spoken) = spoken {
        assert!(!spoken.channel.is_empty() && !spoken.raw_id.is_empty());
        assert!(matches!(spoken.kind, ChatType::Group | ChatType::Channel));
    }
}

fn check_threads(base: &str, thread: &str) {
    let split = split_thread(base);
    assert_eq!(split.base.is_none(), trim_js(base).is_empty());
    for suffix in SUFFIXES {
        let key = thread_key(base, thread, Some(base), suffix);
        assert!(key.session_key.starts_with(base));
        let plain = !thread.contains(':') && !trim_js(thread).is_empty();
        if suffix == ThreadSuffix::AsSpelled && plain && trim_js(base) == base && !base.is_empty() {
            let again = split_thread(&key.session_key);
            assert_eq!(again.base.as_deref(), Some(base));
            assert_eq!(again.thread_id.as_deref(), Some(trim_js(thread)));
        }
    }
}

fn check_ids(text: &str) {
    let id = AgentId::normalize(text);
    let length = utf16_len(id.as_str());
    assert!((1..=64).contains(&length), "{id}");
    // An id that had to be cut may end in a dash, which the next reading takes off.
    if length < 64 {
        assert_eq!(AgentId::normalize(id.as_str()), id);
    }
    assert!(!agent_id::is_valid(text) || id.as_str() == text.to_ascii_lowercase());
    assert!(!agent_id::normalize_account_id(text).is_empty());
}

fn check_building(peer: &PeerKey<'_>) {
    for grammar in GRAMMARS {
        for kind in KINDS {
            for dm_scope in DM_SCOPES {
                for group_scope in GROUP_SCOPES {
                    let peer = PeerKey {
                        kind,
                        dm_scope,
                        group_scope,
                        grammar,
                        ..peer.clone()
                    };
                    let key = build_peer_key(&peer);
                    assert!(key.starts_with("agent:"), "{key:?}");
                    let agent = AgentId::normalize(peer.agent_id);
                    if let Some(parsed) = SessionKey::parse(&key, grammar) {
                        assert_eq!(parsed.agent_id, agent.as_str(), "{key:?}");
                    }
                    assert_eq!(history_key(&peer).is_none(), kind == ChatType::Direct);
                }
            }
        }
    }
}
