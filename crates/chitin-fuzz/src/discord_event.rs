//! What Discord's gateway sends, or somebody in its name: events of guilds, channels, threads and messages, one a line.

use crate::novelty;
use chitin_discord::Ears;
use chitin_gateway::Noticed;

/// What events are made of.
pub const DICTIONARY: &[&str] = &[
    "{\"op\":0,\"s\":3,\"t\":\"MESSAGE_CREATE\",\"d\":",
    "{\"op\":0,\"s\":1,\"t\":\"READY\",\"d\":{\"user\":{\"id\":\"9\",\"username\":\"chitin\"}}}",
    "\"t\":\"GUILD_CREATE\"",
    "\"t\":\"THREAD_CREATE\"",
    "\"t\":\"CHANNEL_DELETE\"",
    "\"t\":\"THREAD_LIST_SYNC\",\"d\":{\"guild_id\":\"1\",\"threads\":[",
    "{\"id\":\"77\",\"channel_id\":\"3\",\"author\":{\"id\":\"5\",\"username\":\"ada\"},\"content\":\"",
    "\"guild_id\":\"2\"",
    "\"channels\":[{\"id\":\"3\",\"type\":0,\"name\":\"berths\"}]",
    "\"threads\":[{\"id\":\"4\",\"type\":11,\"name\":\"larch\",\"parent_id\":\"3\",\"owner_id\":\"9\"}]",
    "\"roles\":[{\"id\":\"6\",\"name\":\"chitin\",\"tags\":{\"bot_id\":\"9\"}}]",
    "\"mentions\":[{\"id\":\"9\",\"username\":\"chitin\"}]",
    "\"mention_roles\":[\"6\"]",
    "\"attachments\":[{\"filename\":\"../a\",\"content_type\":\"image/png\",\"size\":3,\"url\":\"https://cdn.discordapp.com/x\"}]",
    "\"message_snapshots\":[{\"message\":{\"content\":\"passed\"}}]",
    "\"referenced_message\":{\"id\":\"70\",\"channel_id\":\"3\",\"author\":{\"id\":\"9\",\"username\":\"chitin\"}}",
    "\"sticker_items\":[{\"name\":\"wave\"}]",
    "\"embeds\":[{\"title\":\"t\",\"description\":\"d\",\"url\":\"u\"}]",
    "\"member\":{\"nick\":\"Ada\",\"roles\":[\"6\"]}",
    "\"webhook_id\":\"8\"",
    "\"type\":19",
    "<@9>",
    "<@!9>",
    "<@&6>",
    "<#3>",
    "18446744073709551615",
    "null",
    "\n",
    "}}}",
];

/// We are number nine.
const READY: &str = r#"{"op":0,"s":1,"t":"READY","d":{"user":{"id":"9","username":"chitin"}}}"#;

/// Takes each line as an event, one after the other, as they come over one connection.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (ears, again) = (Ears::default(), Ears::default());
    // Who we are is known, unless the input says it.
    let known = !text.contains("READY");
    if known {
        let unheard = [&ears, &again].map(|ears| ears.hear(READY).is_none());
        assert_eq!(unheard, [true, true]);
    }
    for event in text.lines() {
        let noticed = ears.hear(event);
        let same = again.hear(event);
        assert_eq!(
            format!("{noticed:?}"),
            format!("{same:?}"),
            "the same events mean the same"
        );
        if let Some(noticed) = noticed {
            check(&noticed);
            let sender = noticed.incoming.inbound.sender_id.as_deref();
            assert!(!known || sender != Some("9"), "we do not hear ourselves");
            assert!(ears.hear(event).is_none(), "nothing is heard twice");
            again.hear(event);
        }
    }
}

/// Whatever came, ids can stand anywhere: in a key, in an address, in a line of a log.
fn check(noticed: &Noticed) {
    let is_number = |id: &str| id.parse::<u64>().is_ok_and(|id| id > 0);
    let incoming = &noticed.incoming;
    let inbound = &incoming.inbound;
    assert_eq!(inbound.channel, "discord");
    assert!(
        inbound
            .peer
            .as_ref()
            .is_some_and(|peer| is_number(&peer.id))
    );
    assert!(inbound.sender_id.as_deref().is_some_and(is_number));
    assert!(incoming.message_id.as_deref().is_some_and(is_number));
    let parent = inbound.parent_peer.as_ref().map(|parent| &parent.id);
    let others = [
        parent,
        inbound.thread_id.as_ref(),
        inbound.guild_id.as_ref(),
    ];
    let others = others.into_iter().flatten().chain(&inbound.member_role_ids);
    for id in others {
        assert!(is_number(id), "{id}");
    }
    assert!(
        !incoming.text.is_empty() || !noticed.files.is_empty(),
        "somebody said something"
    );
    assert!(incoming.images.is_empty(), "nothing is fetched");
    assert!(noticed.files.len() <= 20);
    for file in &noticed.files {
        assert!(file.name.chars().count() <= 200 && file.text.is_none());
    }
    // What it says of who owns the agent is nobody's business.
    assert!(!incoming.is_owner);
    if inbound.guild_id.is_none() {
        assert!(inbound.thread_id.is_none() && inbound.parent_peer.is_none());
    }
    novelty::note((
        noticed.addressed as u8,
        noticed.from_program,
        inbound.thread_id.is_some(),
        inbound.guild_id.is_some(),
        noticed.files.len().min(3),
        incoming.text.len().min(8),
    ));
}
