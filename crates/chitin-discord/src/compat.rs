//! What Discord and OpenClaw call things, and the numbers that they go by.

/// What configuration and session keys call this surface.
pub const ID: &str = "discord";

/// The version of the interface that is spoken.
pub(crate) const API_PATH: &str = "/api/v10";
/// Where requests go.
pub(crate) const API_URL: &str = "https://discord.com";
/// Where events come from when Discord does not say where.
pub(crate) const GATEWAY_URL: &str = "wss://gateway.discord.gg";
/// Where pictures and files lie.
pub(crate) const FILE_HOSTS: [&str; 2] = ["cdn.discordapp.com", "media.discordapp.net"];
/// How a program has to call itself.
pub(crate) const USER_AGENT: &str = concat!(
    "DiscordBot (https://example.invalid/chitin, ",
    env!("CARGO_PKG_VERSION"),
    ")"
);

/// The longest message, in UTF-16 units.
pub(crate) const MOST_CHARS: usize = 2_000;
/// The most lines of a message that look well.
pub(crate) const USUAL_LINES: usize = 17;
/// The largest file, in MiB, when nothing is said.
pub(crate) const USUAL_MEDIA_MB: u64 = 8;
/// The most files of a message.
pub(crate) const MOST_FILES: usize = 10;
/// The most bytes of all files of a message.
pub(crate) const MOST_FILE_BYTES: usize = 25 * 1024 * 1024;
/// The most messages of one page.
pub(crate) const PAGE: u32 = 100;
/// The longest name of a thread.
pub(crate) const MOST_THREAD_NAME: usize = 100;
/// After how many minutes of silence a thread may be put away.
pub(crate) const ARCHIVE_MINUTES: [u32; 4] = [60, 1_440, 4_320, 10_080];

/// Kinds of channels.
pub(crate) mod channel {
    pub(crate) const GROUP: u16 = 3;
    pub(crate) const NEWS: u16 = 5;
    pub(crate) const NEWS_THREAD: u16 = 10;
    pub(crate) const PUBLIC_THREAD: u16 = 11;
    pub(crate) const PRIVATE_THREAD: u16 = 12;
    pub(crate) const FORUM: u16 = 15;
    pub(crate) const MEDIA: u16 = 16;
}

/// Kinds of messages.
pub(crate) mod message {
    pub(crate) const USUAL: u16 = 0;
    pub(crate) const REPLY: u16 = 19;
    pub(crate) const THREAD_STARTER: u16 = 21;
    /// Nobody is woken by it.
    pub(crate) const SILENT: u32 = 1 << 12;
}

/// What the application may see.
pub(crate) mod application {
    pub(crate) const PRESENCE: u64 = (1 << 12) | (1 << 13);
    pub(crate) const MEMBERS: u64 = (1 << 14) | (1 << 15);
    pub(crate) const MESSAGE_CONTENT: u64 = (1 << 18) | (1 << 19);
}

/// Errors by Discord's own numbers.
pub(crate) mod code {
    pub(crate) const UNKNOWN_CHANNEL: u64 = 10_003;
    pub(crate) const UNKNOWN_MESSAGE: u64 = 10_008;
    pub(crate) const UNKNOWN_EMOJI: u64 = 10_014;
    pub(crate) const NO_ACCESS: u64 = 50_001;
    pub(crate) const NOT_TO_THIS_USER: u64 = 50_007;
    pub(crate) const NO_PERMISSION: u64 = 50_013;
    pub(crate) const TOO_LARGE: u64 = 40_005;
    pub(crate) const NOT_INDEXED_YET: u64 = 110_000;
    pub(crate) const THREAD_EXISTS: u64 = 160_004;
    pub(crate) const THREAD_ARCHIVED: u64 = 50_083;
}

/// Why the gateway closes a connection for good.
pub(crate) mod close {
    pub(crate) const TOKEN: u16 = 4_004;
    pub(crate) const SHARDING: u16 = 4_011;
    pub(crate) const INTENTS_INVALID: u16 = 4_013;
    pub(crate) const INTENTS_NOT_ALLOWED: u16 = 4_014;
}

/// What the bot needs where it is invited: see and read channels, send, embed, attach, react, threads, pins.
pub(crate) const PERMISSIONS: u64 = (1 << 6)
    | (1 << 10)
    | (1 << 11)
    | (1 << 51)
    | (1 << 14)
    | (1 << 15)
    | (1 << 16)
    | (1 << 35)
    | (1 << 38);

/// The groups of actions that `actions.<group>: false` switches off, and what is in them.
pub(crate) const ACTIONS: [(&str, &[&str]); 7] = [
    (
        "messages",
        &[
            "send",
            "reply",
            "broadcast",
            "edit",
            "read",
            "delete",
            "download-file",
        ],
    ),
    ("reactions", &["react", "reactions"]),
    ("threads", &["thread-create", "thread-reply", "thread-list"]),
    ("pins", &["pin", "unpin", "list-pins"]),
    ("search", &["search"]),
    ("memberInfo", &["member-info"]),
    ("channelInfo", &["channel-info"]),
];
