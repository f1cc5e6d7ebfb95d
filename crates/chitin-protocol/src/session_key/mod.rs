//! Session keys: parse, classify, build, thread, depth (rules W12, W13, W16 and R1–R10).
//!
//! A key names one conversation of one agent: `agent:<id>:<rest>`. Releases read odd spellings differently; the
//! [`KeyGrammar`] of a contract says which reading holds. Nothing here fails: text that is not a key is classified as such.
//!
//! ```
//! use chitin_protocol::session_key::{KeyGrammar, SessionKey, is_subagent};
//!
//! let key = SessionKey::parse("agent:Ops:subagent:7", KeyGrammar::Lenient);
//! assert_eq!(key.map(|key| key.agent_id), Some("ops".to_owned()));
//! assert!(is_subagent("agent:Ops:subagent:7", KeyGrammar::Lenient));
//! ```

mod build;
mod classify;
mod letter_case;
mod parse;
mod parts;

pub use build::{
    DmScope, GroupScope, IdentityLinks, PeerKey, ThreadKey, ThreadSuffix, build_peer_key,
    history_key, main_key, thread_key,
};
pub use classify::{
    KeyShape, is_acp, is_cron, is_cron_run, is_subagent, shape, subagent_depth, without_cron_run,
};
pub use parse::{KeyGrammar, ParsedKey, SessionKey, request_key, store_key};
pub use parts::{ChatType, KeyConversation, ThreadSplit, chat_type, conversation, split_thread};

/// The rest of the key under which an agent's main conversation is kept.
pub const MAIN: &str = "main";

/// Tells whether `text` begins with `prefix`, letters compared without case.
fn starts_with_ignoring_case(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}
