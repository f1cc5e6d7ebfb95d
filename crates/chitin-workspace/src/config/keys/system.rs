//! The sections around the agents: gateway, schedules, hooks, skills, plugins, logs.

use crate::config::shape::{
    COUNT, COUNT_OR_ZERO, Check, Field, SHARE, Shape, TEXT_MAP, TEXT_OR_NUMBER, TEXTS,
};

pub(super) const AUTH: Shape = Shape::Open(&[&[
    ("order", Shape::Map(&TEXTS)),
    (
        "profiles",
        Shape::Map(&Shape::Object(&[&[
            ("displayName", Shape::Text),
            ("email", Shape::Text),
            (
                "mode",
                Shape::Required(&Shape::OneOf(&["api_key", "aws-sdk", "oauth", "token"])),
            ),
            ("provider", Shape::Required(&Shape::Text)),
        ]])),
    ),
]]);

pub(super) const ENV: Shape = Shape::OpenWith(
    &[&[
        (
            "shellEnv",
            Shape::Object(&[&[("enabled", Shape::Flag), ("timeoutMs", COUNT_OR_ZERO)]]),
        ),
        ("vars", TEXT_MAP),
    ]],
    &Shape::Text,
);

pub(super) const UI: Shape = Shape::Open(&[&[
    ("assistant", Shape::Any),
    ("seamColor", Shape::Checked(&Shape::Text, Check::HexColour)),
]]);

pub(super) const HOOKS: Shape = Shape::Object(&[&[
    ("allowRequestSessionKey", Shape::Flag),
    ("allowedAgentIds", TEXTS),
    ("allowedSessionKeyPrefixes", TEXTS),
    ("defaultSessionKey", Shape::Text),
    ("enabled", Shape::Flag),
    ("gmail", Shape::Any),
    (
        "internal",
        Shape::Object(&[&[
            ("enabled", Shape::Flag),
            (
                "entries",
                Shape::Map(&Shape::Open(&[&[
                    ("enabled", Shape::Flag),
                    ("env", TEXT_MAP),
                ]])),
            ),
            ("events", TEXTS),
            ("handlers", Shape::Any),
            ("installs", Shape::Any),
            ("load", Shape::Object(&[&[("extraDirs", TEXTS)]])),
        ]]),
    ),
    ("mappings", Shape::Any),
    ("maxBodyBytes", COUNT),
    ("path", Shape::Text),
    ("presets", TEXTS),
    ("token", Shape::Any),
    ("transformsDir", Shape::Text),
]]);

pub(super) const BROWSER_4: Shape = Shape::Open(&[&[
    ("attachOnly", Shape::Flag),
    ("cdpPortRangeStart", Shape::Whole(1, 65_535)),
    ("cdpUrl", Shape::Text),
    ("color", Shape::Text),
    ("defaultProfile", Shape::Text),
    ("enabled", Shape::Flag),
    ("evaluateEnabled", Shape::Flag),
    ("executablePath", Shape::Text),
    ("extraArgs", TEXTS),
    ("headless", Shape::Flag),
    ("noSandbox", Shape::Flag),
]]);

const RETENTION: Shape = Shape::Either(&[
    Shape::Checked(&Shape::Text, Check::Duration),
    Shape::Only(false),
]);
const CRON_FIELDS: &[Field] = &[
    ("enabled", Shape::Flag),
    ("failureAlert", Shape::Any),
    ("failureDestination", Shape::Any),
    ("maxConcurrentRuns", COUNT),
    ("retry", Shape::Any),
    (
        "runLog",
        Shape::Object(&[&[
            ("keepLines", COUNT),
            ("maxBytes", Shape::Checked(&TEXT_OR_NUMBER, Check::ByteSize)),
        ]]),
    ),
    ("sessionRetention", RETENTION),
    ("store", Shape::Text),
    ("webhook", Shape::Text),
    ("webhookToken", Shape::Any),
];
pub(super) const CRON_4: Shape = Shape::Object(&[CRON_FIELDS]);
pub(super) const CRON_9: Shape = Shape::Open(&[CRON_FIELDS]);

const DIAGNOSTICS: &[Field] = &[
    ("enabled", Shape::Flag),
    ("flags", TEXTS),
    ("otel", Shape::Open(&[&[("sampleRate", SHARE)]])),
];
pub(super) const DIAGNOSTICS_4: Shape = Shape::Open(&[
    DIAGNOSTICS,
    &[
        (
            "cacheTrace",
            Shape::Object(&[&[
                ("enabled", Shape::Flag),
                ("filePath", Shape::Text),
                ("includeMessages", Shape::Flag),
                ("includePrompt", Shape::Flag),
                ("includeSystem", Shape::Flag),
            ]]),
        ),
        ("stuckSessionWarnMs", COUNT),
    ],
]);
pub(super) const DIAGNOSTICS_9: Shape = Shape::Open(&[
    DIAGNOSTICS,
    &[("cacheTrace", Shape::Object(&[&[("enabled", Shape::Flag)]]))],
]);

const LEVEL: Shape = Shape::OneOf(&["silent", "fatal", "error", "warn", "info", "debug", "trace"]);
const LOGGING: &[Field] = &[
    ("consoleLevel", LEVEL),
    ("consoleStyle", Shape::OneOf(&["pretty", "compact", "json"])),
    ("file", Shape::Text),
    ("level", LEVEL),
    ("maxFileBytes", COUNT),
    ("redactPatterns", TEXTS),
    ("redactSensitive", Shape::OneOf(&["off", "tools"])),
];
pub(super) const LOGGING_4: Shape = Shape::Object(&[LOGGING]);
pub(super) const LOGGING_9: Shape = Shape::Open(&[LOGGING]);

const GATEWAY: &[Field] = &[
    (
        "auth",
        Shape::Open(&[&[
            ("allowTailscale", Shape::Flag),
            (
                "mode",
                Shape::OneOf(&["none", "token", "password", "trusted-proxy"]),
            ),
        ]]),
    ),
    (
        "bind",
        Shape::OneOf(&["auto", "lan", "loopback", "custom", "tailnet"]),
    ),
    ("customBindHost", Shape::Text),
    ("mode", Shape::OneOf(&["local", "remote"])),
    ("port", COUNT),
    ("trustedProxies", TEXTS),
];
const GATEWAY_ONLY_4: &[Field] = &[
    ("allowRealIpFallback", Shape::Flag),
    ("channelHealthCheckMinutes", COUNT_OR_ZERO),
    ("channelMaxRestartsPerHour", COUNT),
    ("channelStaleEventThresholdMinutes", COUNT),
    ("controlUi", Shape::Any),
    ("handshakeTimeoutMs", Shape::Any),
    ("http", Shape::Any),
    ("nodes", Shape::Any),
    ("push", Shape::Any),
    ("reload", Shape::Any),
    ("remote", Shape::Any),
    ("tailscale", Shape::Any),
    ("tls", Shape::Any),
    ("token", Shape::Any),
    ("tools", Shape::Any),
    ("webchat", Shape::Any),
];
pub(super) const GATEWAY_4: Shape = Shape::Object(&[GATEWAY, GATEWAY_ONLY_4]);
pub(super) const GATEWAY_9: Shape = Shape::Open(&[GATEWAY]);

const KEPT_HOURS: Shape = Shape::Whole(1, 168);
pub(super) const MEDIA: Shape =
    Shape::Object(&[&[("preserveFilenames", Shape::Flag), ("ttlHours", KEPT_HOURS)]]);
pub(super) const ATTACHMENTS: Shape = Shape::Open(&[&[("ttlHours", KEPT_HOURS)]]);

pub(super) const MEMORY_4: Shape = Shape::Object(&[&[
    ("backend", Shape::OneOf(&["builtin", "qmd"])),
    ("citations", Shape::OneOf(&["auto", "on", "off"])),
    ("qmd", Shape::Any),
]]);

const PLUGINS: &[Field] = &[
    ("allow", TEXTS),
    ("deny", TEXTS),
    ("enabled", Shape::Flag),
    (
        "entries",
        Shape::Map(&Shape::Open(&[&[
            ("config", Shape::Map(&Shape::Any)),
            ("enabled", Shape::Flag),
        ]])),
    ),
    ("load", Shape::Open(&[&[("paths", TEXTS)]])),
    ("slots", Shape::Any),
];
pub(super) const PLUGINS_4: Shape = Shape::Object(&[
    PLUGINS,
    &[("bundledDiscovery", Shape::Any), ("installs", Shape::Any)],
]);
pub(super) const PLUGINS_9: Shape = Shape::Open(&[PLUGINS]);

const SKILLS: &[Field] = &[
    ("allowBundled", TEXTS),
    (
        "entries",
        Shape::Map(&Shape::Open(&[&[
            ("config", Shape::Map(&Shape::Any)),
            ("enabled", Shape::Flag),
            ("env", TEXT_MAP),
        ]])),
    ),
    (
        "install",
        Shape::Open(&[&[
            ("nodeManager", Shape::OneOf(&["npm", "pnpm", "yarn", "bun"])),
            ("preferBrew", Shape::Flag),
        ]]),
    ),
    (
        "limits",
        Shape::Object(&[&[
            ("maxCandidatesPerRoot", COUNT),
            ("maxSkillFileBytes", COUNT_OR_ZERO),
            ("maxSkillsInPrompt", COUNT_OR_ZERO),
            ("maxSkillsLoadedPerSource", COUNT),
            ("maxSkillsPromptChars", COUNT_OR_ZERO),
        ]]),
    ),
    (
        "load",
        Shape::Open(&[&[
            ("extraDirs", TEXTS),
            ("watch", Shape::Flag),
            ("watchDebounceMs", COUNT_OR_ZERO),
        ]]),
    ),
];
pub(super) const SKILLS_4: Shape = Shape::Object(&[SKILLS]);
pub(super) const SKILLS_9: Shape = Shape::Open(&[SKILLS]);

pub(super) const UPDATE_4: Shape = Shape::Open(&[&[
    ("channel", Shape::OneOf(&["stable", "beta", "dev"])),
    ("checkOnStart", Shape::Flag),
]]);
pub(super) const UPDATE_9: Shape = Shape::Open(&[&[
    (
        "channel",
        Shape::OneOf(&["stable", "extended-stable", "beta", "dev"]),
    ),
    ("checkOnStart", Shape::Flag),
]]);

pub(super) const WEB: Shape = Shape::Open(&[&[
    ("enabled", Shape::Flag),
    ("heartbeatSeconds", COUNT),
    (
        "reconnect",
        Shape::Open(&[&[("factor", Shape::Positive), ("jitter", SHARE)]]),
    ),
]]);
