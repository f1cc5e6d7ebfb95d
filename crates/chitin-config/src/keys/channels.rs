//! `channels`: what stands beside the channels themselves, and the keys of OpenClaw's Discord and Slack by name.

use crate::shape::{ANY_MAP, COUNT, COUNT_OR_ZERO, Check, Field, Shape, TEXTS, TEXTS_OR_NUMBERS};

/// Which tools may be used in one place.
pub(super) const POLICY: Shape = Shape::Checked(
    &Shape::Object(&[&[("allow", TEXTS), ("alsoAllow", TEXTS), ("deny", TEXTS)]]),
    Check::AllowOrAlsoAllow,
);

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

/// What stands beside the channels.
pub(super) const SHARED: &[Field] = &[
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

/// Every channel is a plugin's own affair.
pub(super) const OPEN: Shape = Shape::Open(&[SHARED]);
