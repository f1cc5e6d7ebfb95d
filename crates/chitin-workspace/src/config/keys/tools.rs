//! `tools`, at the top and of one agent.

use super::agents::MODEL;
use crate::config::shape::{
    ANY_NUMBER, COUNT, COUNT_OR_ZERO, Check, Field, Shape, TEXTS, TEXTS_OR_NUMBERS,
};

const PROFILE: Shape = Shape::OneOf(&["minimal", "coding", "messaging", "full"]);

const POLICY_FIELDS: &[Field] = &[("allow", TEXTS), ("alsoAllow", TEXTS), ("deny", TEXTS)];

/// Which tools may be used in one place.
pub(super) const POLICY: Shape =
    Shape::Checked(&Shape::Object(&[POLICY_FIELDS]), Check::AllowOrAlsoAllow);

const POLICY_WITH_PROFILE: Shape = Shape::Checked(
    &Shape::Object(&[POLICY_FIELDS, &[("profile", PROFILE)]]),
    Check::AllowOrAlsoAllow,
);

const POLICY_IN_TOOLS: Shape = Shape::Object(&[&[("tools", POLICY)]]);

const ELEVATED: Shape = Shape::Object(&[&[
    ("allowFrom", Shape::Map(&TEXTS_OR_NUMBERS)),
    ("enabled", Shape::Flag),
]]);

const FILES: Shape = Shape::Object(&[&[("workspaceOnly", Shape::Flag)]]);

const EXEC_FIELDS: &[Field] = &[
    (
        "applyPatch",
        Shape::Object(&[&[
            ("allowModels", TEXTS),
            ("enabled", Shape::Flag),
            ("workspaceOnly", Shape::Flag),
        ]]),
    ),
    ("approvalRunningNoticeMs", COUNT_OR_ZERO),
    ("ask", Shape::OneOf(&["off", "on-miss", "always"])),
    ("backgroundMs", COUNT),
    ("cleanupMs", COUNT),
    (
        "host",
        Shape::OneOf(&["auto", "sandbox", "gateway", "node"]),
    ),
    ("node", Shape::Text),
    ("notifyOnExit", Shape::Flag),
    ("notifyOnExitEmptySuccess", Shape::Flag),
    ("pathPrepend", TEXTS),
    ("safeBinProfiles", Shape::Any),
    ("safeBinTrustedDirs", TEXTS),
    ("safeBins", TEXTS),
    ("security", Shape::OneOf(&["deny", "allowlist", "full"])),
    ("strictInlineEval", Shape::Flag),
    ("timeoutSec", COUNT),
];

const EXEC_4: Shape = Shape::Object(&[EXEC_FIELDS]);
const EXEC_9: Shape = Shape::Checked(
    &Shape::Open(&[
        EXEC_FIELDS,
        &[
            ("commandHighlighting", Shape::Flag),
            (
                "mode",
                Shape::OneOf(&["deny", "allowlist", "ask", "auto", "full"]),
            ),
            ("reviewer", Shape::Open(&[&[("model", MODEL)]])),
            ("timeoutSeconds", COUNT),
        ],
    ]),
    Check::ExecModeAlone,
);

/// What `tools` holds wherever it stands.
const COMMON: &[Field] = &[
    ("allow", TEXTS),
    ("alsoAllow", TEXTS),
    ("byProvider", Shape::Map(&POLICY_WITH_PROFILE)),
    ("codeMode", Shape::Any),
    ("deny", TEXTS),
    ("elevated", ELEVATED),
    ("fs", FILES),
    ("loopDetection", Shape::Any),
    ("message", Shape::Any),
    ("profile", PROFILE),
    ("sandbox", POLICY_IN_TOOLS),
    ("toolsBySender", Shape::Map(&POLICY)),
];

const TOP: &[Field] = &[
    (
        "agentToAgent",
        Shape::Object(&[&[("allow", TEXTS), ("enabled", Shape::Flag)]]),
    ),
    ("experimental", Shape::Any),
    ("links", Shape::Any),
    ("media", Shape::Any),
    (
        "sessions",
        Shape::Object(&[&[(
            "visibility",
            Shape::OneOf(&["self", "tree", "agent", "all"]),
        )]]),
    ),
    (
        "sessions_spawn",
        Shape::Object(&[&[(
            "attachments",
            Shape::Object(&[&[
                ("enabled", Shape::Flag),
                ("maxFileBytes", ANY_NUMBER),
                ("maxFiles", ANY_NUMBER),
                ("maxTotalBytes", ANY_NUMBER),
                ("retainOnSessionKeep", Shape::Flag),
            ]]),
        )]]),
    ),
    ("subagents", POLICY_IN_TOOLS),
    ("toolSearch", Shape::Any),
    (
        "web",
        Shape::Object(&[&[
            ("fetch", Shape::Any),
            ("search", Shape::Any),
            ("x_search", Shape::Any),
        ]]),
    ),
];

const LATER: &[Field] = &[("profiles", Shape::Any), ("swarm", Shape::Any)];

pub(super) const TOOLS_4: Shape = Shape::Checked(
    &Shape::Object(&[COMMON, TOP, &[("exec", EXEC_4)]]),
    Check::AllowOrAlsoAllow,
);
pub(super) const TOOLS_9: Shape = Shape::Checked(
    &Shape::Object(&[COMMON, TOP, LATER, &[("exec", EXEC_9)]]),
    Check::AllowOrAlsoAllow,
);
pub(super) const AGENT_TOOLS_4: Shape = Shape::Checked(
    &Shape::Object(&[COMMON, &[("exec", EXEC_4)]]),
    Check::AllowOrAlsoAllow,
);
pub(super) const AGENT_TOOLS_9: Shape = Shape::Checked(
    &Shape::Object(&[COMMON, LATER, &[("exec", EXEC_9)]]),
    Check::AllowOrAlsoAllow,
);
