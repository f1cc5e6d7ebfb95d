//! Names that OpenClaw gives to things which a revision must have.

/// The file that makes a directory a skill.
pub(super) const SKILL_FILE: &str = "SKILL.md";
/// Where a workspace keeps its skills.
pub(super) const SKILL_DIRECTORIES: [&str; 2] = ["skills", ".agents/skills"];
/// Where a workspace says that its set-up is complete.
pub(super) const STATE_FILE: &str = ".openclaw/workspace-state.json";
