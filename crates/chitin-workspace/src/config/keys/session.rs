//! `session`, `messages` and `commands`.

use crate::config::shape::{
    COUNT, COUNT_OR_ZERO, Check, Field, NOT_NEGATIVE, Shape, TEXT_OR_NUMBER, TEXTS,
    TEXTS_OR_NUMBERS,
};

const DM_SCOPE: Shape = Shape::OneOf(&[
    "main",
    "per-peer",
    "per-channel-peer",
    "per-account-channel-peer",
]);
pub(super) const TYPING_MODE: Shape = Shape::OneOf(&["never", "instant", "thinking", "message"]);

const RESET_4: Shape =
    Shape::Object(&[&[("mode", Shape::OneOf(&["daily", "idle"]))], RESET_FIELDS]);
const RESET_9: Shape = Shape::Object(&[
    &[("mode", Shape::OneOf(&["none", "daily", "idle"]))],
    RESET_FIELDS,
]);
const RESET_FIELDS: &[Field] = &[("atHour", Shape::Whole(0, 23)), ("idleMinutes", COUNT)];

const SEND_POLICY: Shape = Shape::Object(&[&[
    ("default", Shape::OneOf(&["allow", "deny"])),
    ("rules", Shape::Any),
]]);

const DURATION: Shape = Shape::Checked(&TEXT_OR_NUMBER, Check::Duration);
const DURATION_OR_OFF: Shape = Shape::Either(&[DURATION, Shape::Only(false)]);
const BYTES: Shape = Shape::Checked(&TEXT_OR_NUMBER, Check::ByteSize);

const SHARED: &[Field] = &[
    ("dmScope", DM_SCOPE),
    ("identityLinks", Shape::Map(&TEXTS)),
    ("mainKey", Shape::Text),
    ("resetTriggers", TEXTS),
    ("scope", Shape::OneOf(&["per-sender", "global"])),
    ("sendPolicy", SEND_POLICY),
    ("store", Shape::Text),
];

pub(super) const SESSION_4: Shape = Shape::Object(&[
    SHARED,
    &[
        (
            "agentToAgent",
            Shape::Object(&[&[("maxPingPongTurns", Shape::Whole(0, 5))]]),
        ),
        ("idleMinutes", COUNT),
        (
            "maintenance",
            Shape::Object(&[&[
                ("highWaterBytes", BYTES),
                ("maxDiskBytes", BYTES),
                ("maxEntries", COUNT),
                ("mode", Shape::OneOf(&["enforce", "warn"])),
                ("pruneAfter", DURATION),
                ("pruneDays", COUNT),
                ("resetArchiveRetention", DURATION_OR_OFF),
                ("rotateBytes", BYTES),
            ]]),
        ),
        ("parentForkMaxTokens", COUNT_OR_ZERO),
        ("reset", RESET_4),
        ("resetByChannel", Shape::Map(&RESET_4)),
        (
            "resetByType",
            Shape::Object(&[&[
                ("direct", RESET_4),
                ("dm", RESET_4),
                ("group", RESET_4),
                ("thread", RESET_4),
            ]]),
        ),
        (
            "threadBindings",
            Shape::Object(&[&[
                ("enabled", Shape::Flag),
                ("idleHours", NOT_NEGATIVE),
                ("maxAgeHours", NOT_NEGATIVE),
            ]]),
        ),
        ("typingIntervalSeconds", COUNT),
        ("typingMode", TYPING_MODE),
        ("writeLock", Shape::Any),
    ],
]);

pub(super) const SESSION_9: Shape = Shape::Object(&[
    SHARED,
    &[
        ("agentToAgent", Shape::Any),
        ("groupScope", Shape::OneOf(&["main", "per-group"])),
        ("maintenance", Shape::Any),
        ("reset", RESET_9),
        ("resetByChannel", Shape::Map(&RESET_9)),
        (
            "resetByType",
            Shape::Object(&[&[("direct", RESET_9), ("group", RESET_9), ("thread", RESET_9)]]),
        ),
        ("sharing", Shape::Any),
        (
            "threadBindings",
            Shape::Open(&[&[
                ("enabled", Shape::Flag),
                ("idleHours", NOT_NEGATIVE),
                ("maxAgeHours", NOT_NEGATIVE),
            ]]),
        ),
        ("typingIntervalSeconds", COUNT),
        ("typingMode", TYPING_MODE),
        ("writeLock", Shape::Any),
    ],
]);

const QUEUE_MODE_4: Shape = Shape::OneOf(&[
    "steer",
    "followup",
    "collect",
    "steer-backlog",
    "steer+backlog",
    "queue",
    "interrupt",
]);
const QUEUE_MODE_9: Shape = Shape::OneOf(&["steer", "followup", "collect", "interrupt"]);
const DEBOUNCE_BY_CHANNEL: Shape = Shape::Map(&COUNT_OR_ZERO);

const QUEUE_FIELDS: &[Field] = &[
    ("cap", COUNT),
    ("debounceMsByChannel", DEBOUNCE_BY_CHANNEL),
    ("drop", Shape::OneOf(&["old", "new", "summarize"])),
];

const QUEUE_4: Shape = Shape::Object(&[
    QUEUE_FIELDS,
    &[
        ("byChannel", Shape::Map(&QUEUE_MODE_4)),
        ("debounceMs", COUNT_OR_ZERO),
        ("mode", QUEUE_MODE_4),
    ],
]);
const QUEUE_9: Shape = Shape::Object(&[
    QUEUE_FIELDS,
    &[
        ("byChannel", Shape::Map(&QUEUE_MODE_9)),
        ("mode", QUEUE_MODE_9),
    ],
]);

pub(super) const GROUP_CHAT: Shape =
    Shape::Open(&[&[("historyLimit", COUNT_OR_ZERO), ("mentionPatterns", TEXTS)]]);

const MESSAGES: &[Field] = &[
    ("ackReaction", Shape::Text),
    (
        "ackReactionScope",
        Shape::OneOf(&[
            "group-mentions",
            "group-all",
            "direct",
            "all",
            "off",
            "none",
        ]),
    ),
    ("groupChat", GROUP_CHAT),
    (
        "inbound",
        Shape::Object(&[&[
            ("byChannel", DEBOUNCE_BY_CHANNEL),
            ("debounceMs", COUNT_OR_ZERO),
        ]]),
    ),
    ("messagePrefix", Shape::Text),
    ("removeAckAfterReply", Shape::Flag),
    ("responsePrefix", Shape::Text),
    ("statusReactions", Shape::Any),
    ("suppressToolErrors", Shape::Flag),
    ("tts", Shape::Any),
];

pub(super) const MESSAGES_4: Shape = Shape::Object(&[
    MESSAGES,
    &[
        ("queue", QUEUE_4),
        ("responseUsage", Shape::Any),
        ("usageTemplate", Shape::Any),
        ("visibleReplies", Shape::Any),
    ],
]);
pub(super) const MESSAGES_9: Shape = Shape::Open(&[MESSAGES, &[("queue", QUEUE_9)]]);

const AUTO_OR_FLAG: Shape = Shape::Either(&[Shape::Flag, Shape::OneOf(&["auto"])]);

const COMMANDS: &[Field] = &[
    ("allowFrom", Shape::Map(&TEXTS_OR_NUMBERS)),
    ("bash", Shape::Flag),
    ("bashForegroundMs", Shape::Whole(0, 30_000)),
    ("config", Shape::Flag),
    ("debug", Shape::Flag),
    ("mcp", Shape::Flag),
    ("native", AUTO_OR_FLAG),
    ("nativeSkills", AUTO_OR_FLAG),
    ("ownerAllowFrom", TEXTS_OR_NUMBERS),
    ("ownerDisplay", Shape::OneOf(&["raw", "hash"])),
    ("ownerDisplaySecret", Shape::Any),
    ("plugins", Shape::Flag),
    ("restart", Shape::Flag),
    ("text", Shape::Flag),
    ("useAccessGroups", Shape::Flag),
];

pub(super) const COMMANDS_4: Shape = Shape::Object(&[COMMANDS]);
pub(super) const COMMANDS_9: Shape = Shape::Open(&[COMMANDS]);
