//! The contract of 2026.8.2: what it does otherwise than 2026.9.6, which came next.

use super::{
    Budgets, CatalogueRules, Contract, CountedProse, DigestLines, FiguresBy, OPENCLAW_2026_9,
    PromptRules, RecordedLines, RecordedProse, Rendering, SkillRules, SkillSource,
};

/// What 2026.8.2 does.
pub const OPENCLAW_2026_8: Contract = Contract {
    name: "openclaw-2026.8",
    summary: "what OpenClaw 2026.8.2 does, as recorded; like 2026.9 but for the digest, the sections and the list of skills",
    budgets: Budgets {
        digest_lines: DigestLines::EnglishAlone,
        figures: FiguresBy::PathThenName,
        ..OPENCLAW_2026_9.budgets
    },
    rendering: Rendering {
        user_files_keep_order: false,
        ..OPENCLAW_2026_9.rendering
    },
    skills: SkillRules {
        sources: &[
            SkillSource::Extra,
            SkillSource::Bundled,
            SkillSource::Custodian,
            SkillSource::Managed,
            SkillSource::Personal,
            SkillSource::Project,
            SkillSource::Workspace,
        ],
        catalogue: CatalogueRules {
            window_share: None,
            prose: CountedProse::Recorded(RecordedProse {
                full: RecordedLines {
                    guidance: 326,
                    truncated: 73,
                    complete: 0,
                },
                shortened: Some(RecordedLines {
                    guidance: 334,
                    truncated: 114,
                    complete: 102,
                }),
                compact: RecordedLines {
                    guidance: 319,
                    truncated: 112,
                    complete: 100,
                },
            }),
            ..CatalogueRules::B
        },
        ..SkillRules::B
    },
    prompt: PromptRules::OPENCLAW_2026_8,
    ..OPENCLAW_2026_9
};
