//! What Chitin makes of `channels`: which keys count here, and which only count in OpenClaw. Those of OpenClaw are in [`super::channels`]; what
//! stands there and not here is known and has no effect.

mod discord;
mod slack;

use super::channels::{
    CHUNK_MODE, DM_POLICY, GROUP_POLICY, HEARTBEAT, POLICY, REPLY_TO, REPLY_TO_BY_TYPE,
};
use crate::shape::{
    ANY_MAP, COUNT, COUNT_OR_ZERO, Field, Fields, NOT_NEGATIVE, Shape, TEXTS_OR_NUMBERS,
};

const ALLOW_BOTS: Shape = Shape::Either(&[Shape::Flag, Shape::OneOf(&["mentions"])]);
const STREAM_MODE: Shape = Shape::OneOf(&["off", "partial", "block", "progress"]);

/// Who may speak in a room, and what they get there.
const ACCESS: &[Field] = &[
    ("allow", Shape::Flag),
    ("allowBots", ALLOW_BOTS),
    ("allowFrom", TEXTS_OR_NUMBERS),
    ("enabled", Shape::Flag),
    ("requireMention", Shape::Flag),
    ("roles", TEXTS_OR_NUMBERS),
    ("systemPrompt", Shape::Text),
    ("tools", POLICY),
    ("toolsBySender", Shape::Map(&POLICY)),
    ("users", TEXTS_OR_NUMBERS),
];

const THREADS: &[Field] = &[
    (
        "autoArchiveDuration",
        Shape::Either(&[Shape::SomeText, COUNT]),
    ),
    ("autoThread", Shape::Flag),
];

/// What OpenClaw's rooms know besides.
const ROOM_ELSEWHERE: Fields = &[&[
    ("autoThreadName", Shape::Any),
    ("botLoopProtection", Shape::Any),
    ("ignoreOtherMentions", Shape::Any),
    ("includeThreadStarter", Shape::Any),
    ("presenceEvents", Shape::Any),
    ("reactionNotifications", Shape::Any),
    ("replyToMode", Shape::Any),
    ("skills", Shape::Any),
    ("slug", Shape::Any),
]];

const ROOMS: Shape = Shape::Map(&Shape::Partly(&[ACCESS, THREADS], ROOM_ELSEWHERE));

const GUILDS: Shape = Shape::Map(&Shape::Partly(
    &[ACCESS, &[("channels", ROOMS)]],
    ROOM_ELSEWHERE,
));

const DIRECT: Shape = Shape::Partly(
    &[&[
        ("allowFrom", TEXTS_OR_NUMBERS),
        ("enabled", Shape::Flag),
        ("groupChannels", TEXTS_OR_NUMBERS),
        ("groupEnabled", Shape::Flag),
        ("policy", DM_POLICY),
    ]],
    &[],
);

/// A word or a flag is how it was said in earlier releases.
const STREAMING: Shape = Shape::Either(&[
    Shape::Flag,
    STREAM_MODE,
    Shape::Partly(
        &[&[
            (
                "block",
                Shape::Partly(&[&[("coalesce", ANY_MAP), ("enabled", Shape::Flag)]], &[]),
            ),
            ("chunkMode", CHUNK_MODE),
            ("mode", STREAM_MODE),
            ("preview", ANY_MAP),
        ]],
        &[&[("nativeTransport", Shape::Any), ("progress", Shape::Any)]],
    ),
]);

/// What counts for a network and for each of its accounts.
const EVERYWHERE: &[Field] = &[
    ("allowBots", ALLOW_BOTS),
    ("allowFrom", TEXTS_OR_NUMBERS),
    ("blockStreaming", Shape::Flag),
    ("blockStreamingCoalesce", ANY_MAP),
    ("channels", ROOMS),
    ("chunkMode", CHUNK_MODE),
    ("dangerouslyAllowNameMatching", Shape::Flag),
    ("dm", DIRECT),
    ("dmPolicy", DM_POLICY),
    ("draftChunk", ANY_MAP),
    ("enabled", Shape::Flag),
    ("groupAllowFrom", TEXTS_OR_NUMBERS),
    ("groupPolicy", GROUP_POLICY),
    ("groups", ROOMS),
    ("historyLimit", COUNT_OR_ZERO),
    ("mediaMaxMb", NOT_NEGATIVE),
    ("replyToMode", REPLY_TO),
    ("replyToModeByChatType", REPLY_TO_BY_TYPE),
    ("requireMention", Shape::Flag),
    ("streamMode", STREAM_MODE),
    ("streaming", STREAMING),
    ("textChunkLimit", COUNT),
];

/// What counts for a network as a whole.
const WHOLE: &[Field] = &[
    ("apiUrl", Shape::SomeText),
    ("autoArchiveDuration", THREADS[0].1),
    ("autoThread", Shape::Flag),
    ("heartbeat", HEARTBEAT),
    (
        "thread",
        Shape::Partly(
            &[&[("initialHistoryLimit", COUNT_OR_ZERO)]],
            &[&[("historyScope", Shape::Any), ("inheritParent", Shape::Any)]],
        ),
    ),
];

/// What both networks know in OpenClaw: of 2026.9, and of a network as a whole.
const BOTH_ELSEWHERE: &[Field] = &[
    ("apiUrl", Shape::Any),
    ("autoThread", Shape::Any),
    ("botLoopProtection", Shape::Any),
    ("defaultAccount", Shape::Any),
    ("heartbeatVisibility", Shape::Any),
    ("joinIntro", Shape::Any),
    ("logLevel", Shape::Any),
    ("mentionPatterns", Shape::Any),
];

/// A secret: a text, or where it is to be found.
const SECRET: Shape = Shape::Either(&[
    Shape::SomeText,
    Shape::Open(&[&[
        ("id", Shape::Required(&Shape::SomeText)),
        ("source", Shape::Required(&Shape::SomeText)),
    ]]),
]);

/// What a surface of ours takes that has nothing else to be said of it.
const SURFACE: Shape = Shape::Open(&[&[("enabled", Shape::Flag)]]);

/// The surfaces that there are here, each judged by name only.
pub(crate) const NAMES: &[Field] = &[
    ("directory", SURFACE),
    ("discord", SURFACE),
    ("slack", SURFACE),
    ("web", SURFACE),
];

/// The same with everything that they take.
const INSIDE: &[Field] = &[
    (
        "defaults",
        Shape::Partly(
            &[&[("groupPolicy", GROUP_POLICY), ("heartbeat", HEARTBEAT)]],
            &[&[("contextVisibility", Shape::Any)]],
        ),
    ),
    ("discord", discord::DISCORD),
    ("slack", slack::SLACK),
];

/// Networks that OpenClaw can have and Chitin cannot.
pub(crate) const OTHERS: &[Field] = &[
    ("a2a", Shape::Any),
    ("bluebubbles", Shape::Any),
    ("buzz", Shape::Any),
    ("clickclack", Shape::Any),
    ("defaults", Shape::Any),
    ("feishu", Shape::Any),
    ("googlechat", Shape::Any),
    ("imessage", Shape::Any),
    ("irc", Shape::Any),
    ("line", Shape::Any),
    ("matrix", Shape::Any),
    ("mattermost", Shape::Any),
    ("modelByChannel", Shape::Any),
    ("msteams", Shape::Any),
    ("nextcloud-talk", Shape::Any),
    ("nostr", Shape::Any),
    ("qa-channel", Shape::Any),
    ("qqbot", Shape::Any),
    ("raft", Shape::Any),
    ("reef", Shape::Any),
    ("signal", Shape::Any),
    ("sms", Shape::Any),
    ("synology-chat", Shape::Any),
    ("telegram", Shape::Any),
    ("tlon", Shape::Any),
    ("twitch", Shape::Any),
    ("whatsapp", Shape::Any),
    ("zalo", Shape::Any),
    ("zalouser", Shape::Any),
];

/// A configuration of which only `channels` is looked at.
pub(crate) const CHANNELS_HERE: Shape =
    Shape::Open(&[&[("channels", Shape::Partly(&[NAMES, INSIDE], &[OTHERS]))]]);
