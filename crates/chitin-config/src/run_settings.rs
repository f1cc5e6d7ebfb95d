//! What `chitin.json5` may say about running an agent.

use super::shape::{COUNT, COUNT_OR_ZERO, Field, Shape, TEXT_MAP, TEXTS};
use chitin_protocol::config::Price;

const DOLLARS: Shape = Shape::Number(0.0, Price::MOST);
/// A number that fits where settings keep one.
const NUMBER: Shape = Shape::Whole(0, 4_294_967_295);
const SOME: Shape = Shape::Whole(1, 4_294_967_295);

const LIMITS: Shape = Shape::Object(&[&[
    ("calls", SOME),
    ("repeats", SOME),
    ("sessionCost", DOLLARS),
    ("toolCalls", NUMBER),
    ("turnCost", DOLLARS),
    ("turnSeconds", SOME),
]]);

const HISTORY: Shape = Shape::Object(&[&[
    (
        "compaction",
        Shape::Object(&[&[
            ("enabled", Shape::Flag),
            ("instructions", Shape::Text),
            ("keepRecentTokens", NUMBER),
            (
                "memoryFlush",
                Shape::Object(&[&[
                    ("enabled", Shape::Flag),
                    ("forceFlushTranscriptBytes", NUMBER),
                    ("prompt", Shape::Text),
                    ("softThresholdTokens", NUMBER),
                    ("systemPrompt", Shape::Text),
                ]]),
            ),
            ("preservedTurns", NUMBER),
            ("reserveTokens", NUMBER),
        ]]),
    ),
    (
        "pruning",
        Shape::Object(&[&[
            ("mode", Shape::OneOf(&["off", "cache-ttl"])),
            ("ttl", Shape::SomeText),
        ]]),
    ),
    ("toolResultChars", SOME),
    ("turns", SOME),
]]);

const POLICY: &[Field] = &[
    ("allow", TEXTS),
    ("alsoAllow", TEXTS),
    ("deny", TEXTS),
    ("profile", Shape::SomeText),
];

const TOOLS: Shape = Shape::Object(&[
    POLICY,
    &[
        ("byProvider", Shape::Map(&Shape::Object(&[POLICY]))),
        (
            "files",
            Shape::Object(&[&[
                ("maxEditBytes", SOME),
                ("maxImageBytes", SOME),
                ("readLines", SOME),
                ("readRoots", TEXTS),
                ("writeRoots", TEXTS),
            ]]),
        ),
        (
            "output",
            Shape::Object(&[&[("maxBytes", SOME), ("maxLines", SOME)]]),
        ),
        (
            "webFetch",
            Shape::Object(&[&[
                ("allowAddresses", TEXTS),
                ("enabled", Shape::Flag),
                ("maxBytes", SOME),
                ("redirects", NUMBER),
                ("seconds", SOME),
            ]]),
        ),
    ],
]);

const ACCESS: Shape = Shape::Object(&[&[
    (
        "guests",
        Shape::Object(&[&[
            ("files", Shape::OneOf(&["none", "read", "write"])),
            ("memory", Shape::Flag),
            ("tools", TEXTS),
        ]]),
    ),
    (
        "untrusted",
        Shape::Object(&[&[
            ("allow", TEXTS),
            ("deny", TEXTS),
            ("trustedHosts", TEXTS),
            ("trustedMcp", TEXTS),
        ]]),
    ),
]]);

const EXEC: Shape = Shape::Object(&[&[
    ("allow", TEXTS),
    (
        "approvals",
        Shape::OneOf(&["deny", "allow-list", "ask", "always-ask", "full"]),
    ),
    ("deny", TEXTS),
    ("jobs", SOME),
    (
        "limits",
        Shape::Object(&[&[
            ("cpuSeconds", NUMBER),
            ("diskMb", NUMBER),
            ("memoryMb", NUMBER),
            ("openFiles", NUMBER),
            ("outputMb", NUMBER),
            ("processes", NUMBER),
            ("totalMemoryMb", NUMBER),
        ]]),
    ),
    ("network", Shape::Flag),
    ("passEnv", TEXTS),
    ("pathPrepend", TEXTS),
    ("readable", TEXTS),
    (
        "sandbox",
        Shape::OneOf(&["auto", "bwrap", "landlock", "none"]),
    ),
    ("timeoutSeconds", SOME),
    ("unixSockets", Shape::Flag),
    ("writable", TEXTS),
    ("yieldMs", COUNT_OR_ZERO),
]]);

const MCP: Shape = Shape::Object(&[&[
    ("workspace", Shape::Flag),
    (
        "servers",
        Shape::Map(&Shape::Object(&[&[
            ("args", TEXTS),
            ("command", Shape::SomeText),
            ("connectionTimeoutMs", COUNT),
            ("cwd", Shape::SomeText),
            ("enabled", Shape::Flag),
            ("env", TEXT_MAP),
            ("headers", TEXT_MAP),
            ("sandbox", Shape::Flag),
            ("timeoutSeconds", SOME),
            ("url", Shape::SomeText),
        ]])),
    ),
]]);

const SHARE: Shape = Shape::Number(0.0, 1.0);

const MEMORY: Shape = Shape::Object(&[&[
    ("citations", Shape::OneOf(&["auto", "on", "off"])),
    (
        "embeddings",
        Shape::Object(&[&[
            ("file", Shape::SomeText),
            ("model", Shape::SomeText),
            ("provider", Shape::SomeText),
        ]]),
    ),
    ("enabled", Shape::Flag),
    ("extraPaths", TEXTS),
    ("minScore", SHARE),
    (
        "recall",
        Shape::Object(&[&[
            ("enabled", Shape::Flag),
            ("minScore", SHARE),
            ("place", Shape::OneOf(&["system", "message"])),
            ("results", Shape::Whole(1, 50)),
            ("tokens", Shape::Whole(50, 100_000)),
        ]]),
    ),
    ("results", Shape::Whole(1, 200)),
    (
        "sources",
        Shape::List(&Shape::OneOf(&["memory", "sessions"])),
    ),
]]);

const RESET: Shape = Shape::Object(&[&[
    ("atHour", Shape::Whole(0, 23)),
    ("idleMinutes", NUMBER),
    ("mode", Shape::OneOf(&["daily", "idle", "none"])),
]]);

const SESSIONS: Shape = Shape::Object(&[&[
    (
        "prune",
        Shape::Object(&[&[
            ("keepAtMost", NUMBER),
            ("olderThanDays", NUMBER),
            ("totalMegabytes", COUNT_OR_ZERO),
        ]]),
    ),
    ("reset", RESET),
    ("resetByChannel", Shape::Map(&RESET)),
    ("resetByType", Shape::Map(&RESET)),
    ("waitSeconds", NUMBER),
]]);

const SUBAGENTS: Shape = Shape::Object(&[&[
    (
        "announce",
        Shape::Object(&[&[
            ("action", Shape::SomeText),
            ("expectsCompletionMessage", Shape::Flag),
        ]]),
    ),
    ("workspaces", TEXTS),
]]);

const TRACE: Shape = Shape::Object(&[&[
    (
        "cacheTrace",
        Shape::Object(&[&[
            ("enabled", Shape::Flag),
            ("filePath", Shape::SomeText),
            ("includeMessages", Shape::Flag),
            ("includePrompt", Shape::Flag),
            ("includeSystem", Shape::Flag),
        ]]),
    ),
    ("maxAgeDays", SOME),
    ("maxBytes", Shape::Whole(1, i64::MAX)),
    ("minFreeBytes", Shape::Whole(0, i64::MAX)),
    (
        "modelPayload",
        Shape::OneOf(&["summary", "tools", "full-redacted"]),
    ),
    ("payloadLog", Shape::Flag),
    ("payloadLogFile", Shape::SomeText),
    ("rawStream", Shape::Flag),
    ("rawStreamFile", Shape::SomeText),
    ("trajectory", Shape::Flag),
    ("trajectoryDir", Shape::SomeText),
]]);

const UNDO: Shape = Shape::Object(&[&[
    ("enabled", Shape::Flag),
    ("ignore", TEXTS),
    ("maxAgeDays", SOME),
    ("maxBytes", Shape::Whole(1, i64::MAX)),
    ("maxFileBytes", Shape::Whole(1, i64::MAX)),
]]);

/// What may be said for all agents and for single ones.
pub(super) const RUN: &[Field] = &[
    ("access", ACCESS),
    ("contextEngine", Shape::SomeText),
    ("exec", EXEC),
    ("fallbacks", TEXTS),
    ("history", HISTORY),
    ("limits", LIMITS),
    ("mcp", MCP),
    ("memory", MEMORY),
    ("retries", Shape::Whole(0, 20)),
    ("sessions", SESSIONS),
    ("subagents", SUBAGENTS),
    ("thinking", Shape::OneOf(&["off", "low", "medium", "high"])),
    ("tools", TOOLS),
    ("trace", TRACE),
    ("undo", UNDO),
];

/// A program of the user's own.
pub(super) const PLUGIN: &[Field] = &[
    ("command", Shape::Required(&Shape::List(&Shape::SomeText))),
    ("enabled", Shape::Flag),
    ("env", TEXTS),
    ("memoryMb", Shape::Whole(16, 1 << 20)),
    ("priority", Shape::Whole(-2_147_483_648, 2_147_483_646)),
    ("readable", TEXTS),
    ("sandbox", Shape::Flag),
    ("timeoutSeconds", Shape::Whole(1, 600)),
];

/// How a model provider is reached.
pub(super) const PROVIDER: &[Field] = &[
    (
        "api",
        Shape::OneOf(&[
            "anthropic-messages",
            "openai-completions",
            "openai-responses",
            "ollama",
        ]),
    ),
    ("apiKey", Shape::SomeText),
    ("baseUrl", Shape::SomeText),
    ("connectSeconds", SOME),
    ("firstByteSeconds", SOME),
    ("headers", TEXT_MAP),
    ("idleSeconds", SOME),
    ("keyFile", Shape::SomeText),
    ("keyHeader", Shape::OneOf(&["bearer", "native", "none"])),
    ("keyVariable", Shape::SomeText),
    ("proxy", Shape::SomeText),
];
