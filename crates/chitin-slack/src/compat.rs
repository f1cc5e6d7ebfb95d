//! Words that Slack and OpenClaw know: configuration keys, defaults, limits, methods, scopes.

/// The name that configuration and session keys know the surface by.
pub const ID: &str = "slack";
/// Where the Web API is.
pub(crate) const API: &str = "https://slack.com/api/";
/// The hosts that a token, a file or a socket may belong to.
pub(crate) const HOST: &str = "slack.com";
/// Where events come in over HTTP, unless configuration says otherwise.
pub(crate) const WEBHOOK_PATH: &str = "/slack/events";
/// The largest file that is fetched or sent, in MB, unless configuration says otherwise.
pub(crate) const MEDIA_MAX_MB: f64 = 20.0;
/// The longest message.
pub(crate) const MAX_CHARS: usize = 4_000;
/// `chat.update` may be called about once a second for a channel.
pub(crate) const EDIT_EVERY_MS: u64 = 1_000;
/// How many files go with a message.
pub(crate) const MAX_FILES: usize = 10;

/// Groups of actions that `actions` switches off, and what belongs to them.
pub(crate) const ACTIONS: [(&str, &[&str]); 5] = [
    (
        "messages",
        &[
            "send",
            "broadcast",
            "reply",
            "edit",
            "delete",
            "read",
            "thread-create",
            "thread-reply",
            "thread-list",
            "download-file",
        ],
    ),
    ("reactions", &["react", "reactions"]),
    ("pins", &["pin", "unpin", "list-pins"]),
    ("memberInfo", &["member-info"]),
    ("emojiList", &["emoji-list"]),
];

/// What a bot token must allow, and what for.
pub(crate) const SCOPES: [(&str, &str); 17] = [
    ("chat:write", "to speak"),
    ("app_mentions:read", "to hear that it is called"),
    ("channels:history", "to hear public channels"),
    ("groups:history", "to hear private channels"),
    ("im:history", "to hear direct messages"),
    ("mpim:history", "to hear group messages"),
    ("channels:read", "to know what public channels are called"),
    ("groups:read", "to know what private channels are called"),
    ("im:read", "to know direct messages"),
    ("mpim:read", "to know group messages"),
    ("im:write", "to begin a direct message"),
    ("users:read", "to know what people are called"),
    ("reactions:write", "to react"),
    ("files:read", "to see files"),
    ("files:write", "to send files"),
    ("pins:read", "to list pins"),
    ("pins:write", "to pin"),
];
