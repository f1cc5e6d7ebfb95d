//! From an event's bytes to what is noticed, without a network.

use chitin_discord::Ears;
use chitin_gateway::Addressed;
use proptest::prelude::*;
use serde_json::{Value, json};

fn event(name: &str, data: &Value) -> String {
    json!({"op": 0, "s": 1, "t": name, "d": data}).to_string()
}

/// Ears that know who they are, a server, a channel and a thread that they began.
fn ears() -> Ears {
    let ears = Ears::default();
    let ready = json!({"user": {"id": "9", "username": "chitin"}});
    let yard = json!({
        "id": "2", "name": "Shipyard",
        "channels": [{"id": "3", "type": 0, "name": "berths"}],
        "threads": [{"id": "4", "type": 11, "name": "larch", "parent_id": "3", "owner_id": "9"}],
    });
    assert!(ears.hear(&event("READY", &ready)).is_none());
    assert!(ears.hear(&event("GUILD_CREATE", &yard)).is_none());
    ears
}

fn message(author: &str, id: &str) -> String {
    let message = json!({
        "id": id, "channel_id": "4", "guild_id": "2", "author": {"id": author, "username": "ada"}, "content": "How is <#3>, <@9>?",
    });
    event("MESSAGE_CREATE", &message)
}

#[test]
fn a_message_is_placed_by_what_earlier_events_told_and_heard_once() {
    let ears = ears();
    let noticed = ears.hear(&message("5", "77")).unwrap();
    let inbound = &noticed.incoming.inbound;
    assert_eq!(noticed.incoming.text, "How is #berths, ?");
    assert_eq!(inbound.thread_id.as_deref(), Some("4"));
    assert_eq!(inbound.parent_peer.as_ref().unwrap().id, "3");
    assert_eq!(noticed.room_name.as_deref(), Some("#berths › larch"));
    assert_eq!(noticed.guild_names, ["Shipyard"]);
    assert_eq!(noticed.addressed, Addressed::Replied, "the thread is ours");
    assert!(ears.hear(&message("5", "77")).is_none(), "it was heard");
    assert!(ears.hear(&message("9", "78")).is_none(), "it is our own");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Pieces of events in any order, cut anywhere: nothing panics, and no id is anything but a number.
    #[test]
    fn no_event_breaks_the_ears(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "\"op\":0", "\"t\":\"MESSAGE_CREATE\"", "\"d\"", "\"id\":\"5\"", "\"id\":-1",
            "\"channel_id\":\"4\"", "\"author\":{\"id\":\"5\",\"username\":\"\\u0000\"}", "\"content\":\"<@<#<@&\"",
        ]), 0..24),
        cut in 0_usize..200,
    ) {
        let ears = ears();
        for text in [pieces.concat(), message("5", "77").chars().take(cut).collect()] {
            if let Some(noticed) = ears.hear(&text) {
                let id = noticed.incoming.message_id.unwrap_or_default();
                prop_assert!(id.parse::<u64>().is_ok(), "{}", id);
            }
        }
    }
}
