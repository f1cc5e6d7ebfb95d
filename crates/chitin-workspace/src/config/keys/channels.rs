//! `channels`. The 2026.4 set knows the channels that came with that release; others belong to plugins and are left open.

use super::tools::POLICY;
use crate::config::shape::{
    ANY_MAP, COUNT, COUNT_OR_ZERO, Field, Fields, Shape, TEXTS, TEXTS_OR_NUMBERS,
};

pub(super) const GROUP_POLICY: Shape = Shape::OneOf(&["open", "disabled", "allowlist"]);
pub(super) const DM_POLICY: Shape = Shape::OneOf(&["pairing", "allowlist", "open", "disabled"]);
pub(super) const REPLY_TO: Shape = Shape::OneOf(&["off", "first", "all", "batched"]);
pub(super) const REPLY_TO_BY_TYPE: Shape = Shape::Object(&[&[
    ("channel", REPLY_TO),
    ("direct", REPLY_TO),
    ("group", REPLY_TO),
]]);
const VISIBILITY: Shape = Shape::OneOf(&["all", "allowlist", "allowlist_quote"]);
pub(super) const CHUNK_MODE: Shape = Shape::OneOf(&["length", "newline"]);

pub(super) const HEARTBEAT: Shape = Shape::Object(&[&[
    ("showAlerts", Shape::Flag),
    ("showOk", Shape::Flag),
    ("useIndicator", Shape::Flag),
]]);

const STREAMING: &[Field] = &[
    (
        "block",
        Shape::Object(&[&[("coalesce", Shape::Any), ("enabled", Shape::Flag)]]),
    ),
    ("chunkMode", CHUNK_MODE),
    (
        "mode",
        Shape::OneOf(&["off", "partial", "block", "progress"]),
    ),
    ("preview", Shape::Any),
    ("progress", Shape::Any),
];

const DEFAULTS: Shape = Shape::Open(&[&[
    ("contextVisibility", VISIBILITY),
    ("groupPolicy", GROUP_POLICY),
    ("heartbeat", HEARTBEAT),
]]);

const SHARED: &[Field] = &[
    ("defaults", DEFAULTS),
    ("modelByChannel", Shape::Map(&Shape::Map(&Shape::Text))),
];

/// What every built-in channel holds.
pub(super) const EVERY_CHANNEL: &[Field] = &[
    ("ackReaction", Shape::Text),
    ("actions", Shape::Any),
    ("allowFrom", TEXTS_OR_NUMBERS),
    ("capabilities", Shape::Any),
    ("configWrites", Shape::Flag),
    ("contextVisibility", VISIBILITY),
    ("defaultTo", Shape::Any),
    ("dmHistoryLimit", COUNT_OR_ZERO),
    ("dmPolicy", DM_POLICY),
    ("dms", ANY_MAP),
    ("enabled", Shape::Flag),
    ("execApprovals", Shape::Any),
    ("groupPolicy", GROUP_POLICY),
    ("healthMonitor", Shape::Any),
    ("heartbeat", HEARTBEAT),
    ("historyLimit", COUNT_OR_ZERO),
    ("markdown", Shape::Any),
    ("mediaMaxMb", Shape::Positive),
    ("name", Shape::Text),
    ("reactionLevel", Shape::Any),
    ("reactionNotifications", Shape::Any),
    ("replyToMode", REPLY_TO),
    ("responsePrefix", Shape::Text),
    ("textChunkLimit", COUNT),
];

/// A channel whose accounts hold what the channel itself holds.
macro_rules! channel {
    ($name:ident, $account:ident, $fields:expr) => {
        const $account: Fields = &[EVERY_CHANNEL, $fields];
        const $name: Shape = Shape::Object(&[
            EVERY_CHANNEL,
            $fields,
            &[
                ("accounts", Shape::Map(&Shape::Object($account))),
                ("defaultAccount", Shape::Text),
                ("logLevel", Shape::Any),
            ],
        ]);
    };
}

channel!(TELEGRAM, TELEGRAM_ACCOUNT, TELEGRAM_FIELDS);
channel!(DISCORD, DISCORD_ACCOUNT, DISCORD_FIELDS);
channel!(SLACK, SLACK_ACCOUNT, SLACK_FIELDS);
channel!(SIGNAL, SIGNAL_ACCOUNT, SIGNAL_FIELDS);

const TELEGRAM_FIELDS: &[Field] = &[
    ("apiRoot", Shape::Text),
    ("autoTopicLabel", Shape::Any),
    ("botToken", Shape::Any),
    ("commands", Shape::Any),
    ("customCommands", Shape::Any),
    ("direct", ANY_MAP),
    ("errorCooldownMs", COUNT_OR_ZERO),
    ("errorPolicy", Shape::OneOf(&["always", "once", "silent"])),
    ("groupAllowFrom", TEXTS_OR_NUMBERS),
    ("groups", ANY_MAP),
    ("linkPreview", Shape::Flag),
    ("network", Shape::Any),
    ("pollingStallThresholdMs", COUNT),
    ("proxy", Shape::Text),
    ("retry", Shape::Any),
    ("silentErrorReplies", Shape::Flag),
    ("streaming", Shape::Object(&[STREAMING])),
    ("threadBindings", Shape::Any),
    ("timeoutSeconds", COUNT),
    ("tokenFile", Shape::Text),
    ("trustedLocalFileRoots", TEXTS),
    ("webhookCertPath", Shape::Text),
    ("webhookHost", Shape::Text),
    ("webhookPath", Shape::Text),
    ("webhookPort", COUNT_OR_ZERO),
    ("webhookSecret", Shape::Any),
    ("webhookUrl", Shape::Text),
];

pub(super) const DISCORD_FIELDS: &[Field] = &[
    ("ackReactionScope", Shape::Any),
    ("activity", Shape::Text),
    ("activityType", Shape::Any),
    ("activityUrl", Shape::Text),
    ("agentComponents", Shape::Any),
    ("allowBots", Shape::Any),
    ("applicationId", Shape::Any),
    ("autoPresence", Shape::Any),
    ("commands", Shape::Any),
    ("dangerouslyAllowNameMatching", Shape::Flag),
    ("dm", Shape::Any),
    ("eventQueue", Shape::Any),
    ("gatewayInfoTimeoutMs", Shape::Any),
    ("guilds", ANY_MAP),
    ("inboundWorker", Shape::Any),
    ("intents", Shape::Any),
    ("maxLinesPerMessage", COUNT),
    ("pluralkit", Shape::Any),
    ("proxy", Shape::Text),
    ("retry", Shape::Any),
    ("slashCommand", Shape::Any),
    (
        "status",
        Shape::OneOf(&["online", "dnd", "idle", "invisible"]),
    ),
    ("streaming", Shape::Object(&[STREAMING])),
    ("thread", Shape::Any),
    ("threadBindings", Shape::Any),
    ("token", Shape::Any),
    ("ui", Shape::Any),
    ("voice", Shape::Any),
];

pub(super) const SLACK_FIELDS: &[Field] = &[
    ("allowBots", Shape::Any),
    ("appToken", Shape::Any),
    ("botToken", Shape::Any),
    (
        "channels",
        Shape::Map(&Shape::Open(&[&[("tools", POLICY)]])),
    ),
    ("commands", Shape::Any),
    ("dangerouslyAllowNameMatching", Shape::Flag),
    ("dm", Shape::Any),
    ("mode", Shape::OneOf(&["socket", "http"])),
    ("reactionAllowlist", TEXTS_OR_NUMBERS),
    ("replyToModeByChatType", REPLY_TO_BY_TYPE),
    ("requireMention", Shape::Flag),
    ("signingSecret", Shape::Any),
    ("slashCommand", Shape::Any),
    ("socketMode", Shape::Any),
    (
        "streaming",
        Shape::Object(&[STREAMING, &[("nativeTransport", Shape::Flag)]]),
    ),
    ("thread", Shape::Any),
    ("threadBindings", Shape::Any),
    ("typingReaction", Shape::Text),
    ("userToken", Shape::Any),
    ("userTokenReadOnly", Shape::Flag),
    ("webhookPath", Shape::Text),
];

const SIGNAL_FIELDS: &[Field] = &[
    ("account", Shape::Text),
    ("accountUuid", Shape::Text),
    ("autoStart", Shape::Flag),
    ("blockStreaming", Shape::Flag),
    ("blockStreamingCoalesce", Shape::Any),
    ("chunkMode", CHUNK_MODE),
    ("cliPath", Shape::Text),
    ("configPath", Shape::Text),
    ("groupAllowFrom", TEXTS_OR_NUMBERS),
    ("groups", ANY_MAP),
    ("httpHost", Shape::Text),
    ("httpPort", COUNT),
    ("httpUrl", Shape::Text),
    ("ignoreAttachments", Shape::Flag),
    ("ignoreStories", Shape::Flag),
    ("reactionAllowlist", TEXTS_OR_NUMBERS),
    ("receiveMode", Shape::OneOf(&["on-start", "manual"])),
    ("sendReadReceipts", Shape::Flag),
    ("startupTimeoutMs", Shape::Whole(1000, 120_000)),
];

/// Channels that are known to exist and whose keys are not all known.
const PARTLY_KNOWN: Shape = Shape::Open(&[&[
    ("dmPolicy", DM_POLICY),
    ("enabled", Shape::Flag),
    ("groupPolicy", GROUP_POLICY),
    ("textChunkLimit", COUNT),
]]);

pub(super) const CHANNELS_4: Shape = Shape::Open(&[
    SHARED,
    &[
        ("discord", DISCORD),
        ("imessage", PARTLY_KNOWN),
        ("signal", SIGNAL),
        ("slack", SLACK),
        ("telegram", TELEGRAM),
        ("whatsapp", PARTLY_KNOWN),
    ],
]);

/// Every channel is a plugin's own affair, as in 2026.9.
pub(super) const OPEN: Shape = Shape::Open(&[SHARED]);
