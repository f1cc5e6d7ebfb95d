//! `agents`, `bindings` and `broadcast`.

use super::session::{GROUP_CHAT, TYPING_MODE};
use super::tools::{AGENT_TOOLS_4, AGENT_TOOLS_9};
use crate::config::shape::{ANY_MAP, COUNT, COUNT_OR_ZERO, Check, Field, Shape, TEXTS};

/// A model by name, or with others to fall back to.
pub(super) const MODEL: Shape = Shape::Either(&[
    Shape::Text,
    Shape::Object(&[&[
        ("fallbacks", TEXTS),
        ("primary", Shape::Text),
        ("timeoutMs", COUNT),
    ]]),
]);

const THINKING_4: Shape = Shape::OneOf(&[
    "off", "minimal", "low", "medium", "high", "xhigh", "adaptive", "max",
]);
const THINKING_9: Shape = Shape::OneOf(&[
    "off", "minimal", "low", "medium", "high", "xhigh", "adaptive", "max", "ultra",
]);

const HUMAN_DELAY: Shape = Shape::Object(&[&[
    ("maxMs", COUNT_OR_ZERO),
    ("minMs", COUNT_OR_ZERO),
    ("mode", Shape::OneOf(&["off", "natural", "custom"])),
]]);

const HEARTBEAT_FIELDS: &[Field] = &[
    ("accountId", Shape::Text),
    ("ackMaxChars", COUNT_OR_ZERO),
    (
        "activeHours",
        Shape::Object(&[&[
            ("end", Shape::Text),
            ("start", Shape::Text),
            ("timezone", Shape::Text),
        ]]),
    ),
    ("directPolicy", Shape::OneOf(&["allow", "block"])),
    ("every", Shape::Text),
    ("includeReasoning", Shape::Flag),
    ("includeSystemPromptSection", Shape::Flag),
    ("isolatedSession", Shape::Flag),
    ("lightContext", Shape::Flag),
    ("model", Shape::Text),
    ("prompt", Shape::Text),
    ("session", Shape::Text),
    ("suppressToolErrorWarnings", Shape::Flag),
    ("target", Shape::Text),
    ("timeoutSeconds", COUNT),
    ("to", Shape::Text),
];
const HEARTBEAT_4: Shape = Shape::Checked(&Shape::Object(&[HEARTBEAT_FIELDS]), Check::Heartbeat);
const HEARTBEAT_9: Shape = Shape::Checked(
    &Shape::Object(&[
        HEARTBEAT_FIELDS,
        &[("agentId", Shape::SomeText), ("skipWhenBusy", Shape::Flag)],
    ]),
    Check::Heartbeat,
);

const SUBAGENT_DEFAULTS: &[Field] = &[
    ("allowAgents", TEXTS),
    ("announceTimeoutMs", COUNT),
    ("archiveAfterMinutes", COUNT_OR_ZERO),
    ("maxChildrenPerAgent", Shape::Whole(1, 20)),
    ("maxConcurrent", COUNT),
    ("maxSpawnDepth", Shape::Whole(1, 5)),
    ("model", MODEL),
    ("requireAgentId", Shape::Flag),
    ("runTimeoutSeconds", COUNT_OR_ZERO),
    ("thinking", Shape::Text),
];
const AGENT_SUBAGENTS: &[Field] = &[
    ("allowAgents", TEXTS),
    ("model", MODEL),
    ("requireAgentId", Shape::Flag),
    ("thinking", Shape::Text),
];
const DELEGATION: &[Field] = &[("delegationMode", Shape::OneOf(&["suggest", "prefer"]))];

const SANDBOX: Shape = Shape::Object(&[&[
    ("backend", Shape::SomeText),
    ("browser", Shape::Any),
    ("docker", Shape::Any),
    ("mode", Shape::OneOf(&["off", "non-main", "all"])),
    ("perSession", Shape::Flag),
    ("prune", Shape::Any),
    ("scope", Shape::OneOf(&["session", "agent", "shared"])),
    ("sessionToolsVisibility", Shape::OneOf(&["spawned", "all"])),
    ("ssh", Shape::Any),
    ("workspaceAccess", Shape::OneOf(&["none", "ro", "rw"])),
    ("workspaceRoot", Shape::Text),
]]);

const FAST_MODE: Shape = Shape::Either(&[Shape::Flag, Shape::OneOf(&["auto"])]);

/// What the defaults of both releases hold.
const DEFAULTS: &[Field] = &[
    ("agentRuntime", Shape::Any),
    (
        "blockStreamingBreak",
        Shape::OneOf(&["text_end", "message_end"]),
    ),
    (
        "blockStreamingChunk",
        Shape::Object(&[&[
            (
                "breakPreference",
                Shape::OneOf(&["paragraph", "newline", "sentence"]),
            ),
            ("maxChars", COUNT),
            ("minChars", COUNT),
        ]]),
    ),
    (
        "blockStreamingCoalesce",
        Shape::Object(&[&[
            ("idleMs", COUNT_OR_ZERO),
            ("maxChars", COUNT),
            ("minChars", COUNT),
        ]]),
    ),
    ("blockStreamingDefault", Shape::OneOf(&["off", "on"])),
    ("bootstrapMaxChars", COUNT),
    ("bootstrapTotalMaxChars", COUNT),
    ("cliBackends", ANY_MAP),
    ("compaction", Shape::Any),
    ("contextLimits", Shape::Any),
    ("contextPruning", Shape::Any),
    ("contextTokens", COUNT),
    (
        "elevatedDefault",
        Shape::OneOf(&["off", "on", "ask", "full"]),
    ),
    ("embeddedAgent", Shape::Any),
    ("embeddedHarness", Shape::Any),
    ("embeddedPi", Shape::Any),
    ("envelopeElapsed", Shape::OneOf(&["on", "off"])),
    ("envelopeTimestamp", Shape::OneOf(&["on", "off"])),
    ("envelopeTimezone", Shape::Text),
    ("experimental", Shape::Any),
    ("fastModeDefault", FAST_MODE),
    ("humanDelay", HUMAN_DELAY),
    ("imageGenerationModel", MODEL),
    ("imageMaxDimensionPx", COUNT),
    ("imageModel", MODEL),
    ("llm", Shape::Any),
    ("maxConcurrent", COUNT),
    ("mediaGenerationAutoProviderFallback", Shape::Flag),
    ("mediaMaxMb", Shape::Positive),
    ("memorySearch", Shape::Any),
    ("model", MODEL),
    (
        "models",
        Shape::Map(&Shape::Open(&[&[
            ("alias", Shape::Text),
            ("params", ANY_MAP),
            ("streaming", Shape::Flag),
        ]])),
    ),
    ("musicGenerationModel", MODEL),
    ("params", ANY_MAP),
    ("pdfMaxBytesMb", Shape::Positive),
    ("pdfMaxPages", COUNT),
    ("pdfModel", MODEL),
    ("promptOverlays", Shape::Any),
    ("reasoningDefault", Shape::OneOf(&["on", "off", "stream"])),
    ("repoRoot", Shape::Text),
    ("sandbox", SANDBOX),
    ("silentReply", Shape::Any),
    ("silentReplyRewrite", Shape::Any),
    ("skills", TEXTS),
    ("skipBootstrap", Shape::Flag),
    ("startupContext", Shape::Any),
    ("systemPromptOverride", Shape::Text),
    ("timeFormat", Shape::OneOf(&["auto", "12", "24"])),
    ("typingIntervalSeconds", COUNT),
    ("typingMode", TYPING_MODE),
    ("userTimezone", Shape::Text),
    ("verboseDefault", Shape::OneOf(&["off", "on", "full"])),
    ("videoGenerationModel", MODEL),
    ("workspace", Shape::Text),
    (
        "bootstrapPromptTruncationWarning",
        Shape::OneOf(&["off", "once", "always"]),
    ),
];

const DEFAULTS_4: Shape = Shape::Object(&[
    DEFAULTS,
    &[
        (
            "contextInjection",
            Shape::OneOf(&["always", "continuation-skip"]),
        ),
        ("heartbeat", HEARTBEAT_4),
        ("subagents", Shape::Object(&[SUBAGENT_DEFAULTS])),
        ("thinkingDefault", THINKING_4),
        ("timeoutSeconds", COUNT),
    ],
]);

const DEFAULTS_9: Shape = Shape::Object(&[
    DEFAULTS,
    &[
        ("contextInjection", INJECTION_9),
        ("heartbeat", HEARTBEAT_9),
        ("imageQuality", Shape::Any),
        ("mediaModels", Shape::Any),
        ("modelPolicy", Shape::Any),
        ("pdfMaxMb", Shape::Positive),
        ("skipOptionalBootstrapFiles", TEXTS),
        ("subagents", Shape::Object(&[SUBAGENT_DEFAULTS, DELEGATION])),
        ("systemAgent", Shape::Any),
        ("thinkingDefault", THINKING_9),
        ("timeoutSeconds", COUNT_OR_ZERO),
        ("toolProgressDetail", Shape::OneOf(&["explain", "raw"])),
        ("utilityModel", Shape::Text),
        ("voiceModel", MODEL),
    ],
]);

const INJECTION_9: Shape = Shape::OneOf(&["always", "continuation-skip", "never"]);

/// What one agent of both releases holds.
const ENTRY: &[Field] = &[
    ("agentDir", Shape::Text),
    ("agentRuntime", Shape::Any),
    ("contextLimits", Shape::Any),
    ("contextTokens", COUNT),
    ("default", Shape::Flag),
    ("embeddedAgent", Shape::Any),
    ("embeddedHarness", Shape::Any),
    ("embeddedPi", Shape::Any),
    ("experimental", Shape::Any),
    ("fastModeDefault", FAST_MODE),
    ("groupChat", GROUP_CHAT),
    ("humanDelay", HUMAN_DELAY),
    (
        "identity",
        Shape::Object(&[&[
            ("avatar", Shape::Text),
            ("emoji", Shape::Text),
            ("name", Shape::Text),
            ("theme", Shape::Text),
        ]]),
    ),
    ("memorySearch", Shape::Any),
    ("model", MODEL),
    ("name", Shape::Text),
    ("params", ANY_MAP),
    ("reasoningDefault", Shape::OneOf(&["on", "off", "stream"])),
    ("runtime", Shape::Any),
    ("sandbox", SANDBOX),
    ("skills", TEXTS),
    ("skillsLimits", Shape::Any),
    ("systemPromptOverride", Shape::Text),
    ("tts", Shape::Any),
    ("verboseDefault", Shape::OneOf(&["off", "on", "full"])),
    ("workspace", Shape::Text),
];

const ID: &[Field] = &[("id", Shape::Required(&Shape::Text))];

const ENTRY_4: &[Field] = &[
    ("heartbeat", HEARTBEAT_4),
    ("subagents", Shape::Object(&[AGENT_SUBAGENTS])),
    ("thinkingDefault", THINKING_4),
    ("tools", AGENT_TOOLS_4),
];

const ENTRY_9: &[Field] = &[
    ("bootstrapMaxChars", COUNT),
    ("bootstrapTotalMaxChars", COUNT),
    ("contextInjection", INJECTION_9),
    ("description", Shape::Text),
    ("heartbeat", HEARTBEAT_9),
    ("memory", Shape::Any),
    ("modelPolicy", Shape::Any),
    ("models", ANY_MAP),
    ("plugins", Shape::Any),
    ("subagents", Shape::Object(&[AGENT_SUBAGENTS, DELEGATION])),
    ("thinkingDefault", THINKING_9),
    ("toolProgressDetail", Shape::OneOf(&["explain", "raw"])),
    ("tools", AGENT_TOOLS_9),
    ("typingIntervalSeconds", COUNT),
    ("typingMode", TYPING_MODE),
    ("utilityModel", Shape::Text),
];

pub(super) const AGENTS_4: Shape = Shape::Object(&[&[
    ("defaults", DEFAULTS_4),
    ("list", Shape::List(&Shape::Object(&[ID, ENTRY, ENTRY_4]))),
]]);

pub(super) const AGENTS_9: Shape = Shape::Object(&[&[
    ("defaults", DEFAULTS_9),
    ("entries", Shape::Map(&Shape::Object(&[ENTRY, ENTRY_9]))),
    ("ownership", Shape::OneOf(&["explicit"])),
]]);

const MATCH: Shape = Shape::Object(&[&[
    ("accountId", Shape::Text),
    ("channel", Shape::Required(&Shape::Text)),
    ("guildId", Shape::Text),
    (
        "peer",
        Shape::Object(&[&[
            ("id", Shape::Required(&Shape::Text)),
            (
                "kind",
                Shape::Required(&Shape::OneOf(&["direct", "group", "channel", "dm"])),
            ),
        ]]),
    ),
    ("roles", TEXTS),
    ("teamId", Shape::Text),
]]);

const BINDING: &[Field] = &[
    ("agentId", Shape::Required(&Shape::Text)),
    ("comment", Shape::Text),
    ("match", Shape::Required(&MATCH)),
];

const ACP_BINDING: Shape = Shape::Checked(
    &Shape::Object(&[
        BINDING,
        &[
            (
                "acp",
                Shape::Object(&[&[
                    ("backend", Shape::Text),
                    ("cwd", Shape::Text),
                    ("label", Shape::Text),
                    ("mode", Shape::OneOf(&["persistent", "oneshot"])),
                ]]),
            ),
            ("type", Shape::Required(&Shape::OneOf(&["acp"]))),
        ],
    ]),
    Check::BindingPeer,
);

const ROUTE_TYPE: &[Field] = &[("type", Shape::OneOf(&["route"]))];

pub(super) const BINDINGS_4: Shape = Shape::List(&Shape::Either(&[
    Shape::Object(&[BINDING, ROUTE_TYPE]),
    ACP_BINDING,
]));

pub(super) const BINDINGS_9: Shape = Shape::List(&Shape::Either(&[
    Shape::Object(&[
        BINDING,
        ROUTE_TYPE,
        &[(
            "session",
            Shape::Object(&[&[
                (
                    "dmScope",
                    Shape::OneOf(&[
                        "main",
                        "per-peer",
                        "per-channel-peer",
                        "per-account-channel-peer",
                    ]),
                ),
                ("groupScope", Shape::OneOf(&["main", "per-group"])),
            ]]),
        )],
    ]),
    ACP_BINDING,
]));

pub(super) const BROADCAST: Shape = Shape::OpenWith(
    &[&[("strategy", Shape::OneOf(&["parallel", "sequential"]))]],
    &Shape::Either(&[TEXTS, Shape::Open(&[])]),
);
