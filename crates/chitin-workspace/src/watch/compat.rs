//! Names that OpenClaw gave to the parts of a workspace.

/// The directories whose content decides what an agent is and can do: skills in both places, notes, and kept state.
pub(super) const FOLLOWED_DIRECTORIES: [&str; 4] =
    ["skills", ".agents/skills", "memory", ".openclaw"];
