//! Which message an answer points at.

use chitin_contract::OutboundRules;
use chitin_gateway::delivery::reply_to::{
    Reply, ReplyFilter, ReplyMode, SlackMessage, SlackThread, discord_thread_name, reply_mode,
};
use proptest::prelude::*;
use serde_json::json;

const REPLY: Reply<'static> = Reply {
    to: Some("7"),
    explicit: false,
    notice: false,
};

#[test]
fn the_first_answer_points_at_the_message_and_a_notice_does_not_use_it_up() {
    let mut filter = ReplyFilter::new(ReplyMode::First, "discord");
    let notice = Reply {
        notice: true,
        ..REPLY
    };
    assert_eq!(filter.apply(notice), Some("7"));
    assert_eq!(filter.apply(REPLY), Some("7"));
    assert_eq!(filter.apply(REPLY), None);
}

#[test]
fn when_off_only_the_model_itself_points_at_a_message() {
    let mut filter = ReplyFilter::new(ReplyMode::Off, "slack");
    let explicit = Reply {
        explicit: true,
        ..REPLY
    };
    assert_eq!(filter.apply(REPLY), None);
    assert_eq!(filter.apply(explicit), Some("7"));
    assert_eq!(ReplyFilter::new(ReplyMode::Off, "").apply(explicit), None);
}

#[test]
fn the_mode_of_a_kind_of_chat_comes_first() {
    let config = json!({"channels": {"slack": {
        "replyToMode": "off",
        "replyToModeByChatType": {"direct": "first"},
        "accounts": {"work": {"replyToMode": "all"}},
    }}});
    let rules = &OutboundRules::CANONICAL;
    assert_eq!(
        reply_mode(&config, "Slack", "", "direct", rules),
        ReplyMode::First
    );
    assert_eq!(
        reply_mode(&config, "slack", "", "channel", rules),
        ReplyMode::Off
    );
    assert_eq!(
        reply_mode(&config, "irc", "", "channel", rules),
        ReplyMode::All
    );
    let rules = &OutboundRules::OPENCLAW_2026_9;
    assert_eq!(
        reply_mode(&config, "slack", "work", "direct", rules),
        ReplyMode::All
    );
}

#[test]
fn a_thread_on_discord_is_named_after_the_message() {
    assert_eq!(
        discord_thread_name("  <@!12>  Lantern \n plan <#3>", "9"),
        "Lantern plan"
    );
    assert_eq!(discord_thread_name("<@&5>", "9"), "Thread 9");
}

#[test]
fn a_reply_on_slack_stays_in_its_thread() {
    let reply = SlackMessage {
        ts: Some("2"),
        thread_ts: Some("1"),
        ..SlackMessage::default()
    };
    assert_eq!(SlackThread::of(&reply, ReplyMode::Off).answer, Some("1"));
    let top = SlackMessage {
        thread_ts: None,
        ..reply
    };
    assert_eq!(SlackThread::of(&top, ReplyMode::First).answer, None);
    assert_eq!(SlackThread::of(&top, ReplyMode::All).answer, Some("2"));
}

proptest! {
    #[test]
    fn a_name_of_a_thread_is_short_and_never_blank(text in any::<String>()) {
        let name = discord_thread_name(&text, "42");
        prop_assert!(!name.trim().is_empty());
        prop_assert!(name.encode_utf16().count() <= 80);
    }
}
