//! Names that other programs chose: adapter names, file names, section titles. Recorded from the Atmosphere bridge of
//! August 2026.

/// The file whose presence makes a directory an OpenClaw workspace (B1).
pub(crate) const MARKER_FILE: &str = "AGENTS.md";
/// The text behind `identity`.
pub(crate) const IDENTITY_FILE: &str = "IDENTITY.md";
/// The text behind `persona`.
pub(crate) const PERSONA_FILE: &str = "SOUL.md";
/// The text behind `user_profile`.
pub(crate) const USER_FILE: &str = "USER.md";
/// The text behind `operating_rules`.
pub(crate) const RULES_FILE: &str = "AGENTS.md";
/// What the native fallback reads as operating rules (B8).
pub const NATIVE_RULES_FILE: &str = "README.md";

/// The wire name of the OpenClaw adapter.
pub const OPENCLAW_NAME: &str = "openclaw";
/// The wire name of the native fallback.
pub const NATIVE_NAME: &str = "atmosphere-native";
/// The place of the OpenClaw adapter in the order.
pub(crate) const OPENCLAW_PRIORITY: i32 = 10;

/// The extension files, in the order in which they are read (B5).
pub const EXTENSION_FILES: [&str; 5] = [
    "CHANNELS.md",
    "MCP.md",
    "RUNTIME.md",
    "PERMISSIONS.md",
    "SKILLS.md",
];

/// Where skills live, in order of precedence (B6).
pub(crate) const SKILL_ROOTS: [&str; 2] = ["skills", ".agents/skills"];
/// The file that makes a directory a skill.
pub(crate) const SKILL_FILE: &str = "SKILL.md";

/// The marker of an explicit name in the identity file, in any letter case (B7).
pub(crate) const NAME_MARKER: &str = "name:";
/// The name of an agent whose directory has none.
pub(crate) const NAMELESS: &str = "agent";

/// Section titles of the composed prompt, in order (B4).
pub(crate) const TITLES: [&str; 4] = ["Identity", "Persona", "User", "Operating rules"];

/// Returns the title that a file of the definition stands under in the composed prompt (B4).
pub fn title_of(name: &str) -> Option<&'static str> {
    let files = [IDENTITY_FILE, PERSONA_FILE, USER_FILE, RULES_FILE];
    let at = files.iter().position(|file| *file == name)?;
    TITLES.get(at).copied()
}

/// The variable that names the workspace (B15).
pub(crate) const WORKSPACE_VARIABLE: &str = "ATMOSPHERE_WORKSPACE";
/// The variable that names the base of kept state (B15).
pub(crate) const STATE_VARIABLE: &str = "ATMOSPHERE_WORKSPACE_ROOT";
/// The base of kept state beneath the user's home when nothing names one.
pub(crate) const STATE_HOME: &str = ".atmosphere/workspace";
/// A location that starts so is looked for on a Java class path, which Chitin does not have.
pub(crate) const CLASS_PATH_PREFIX: &str = "classpath:";
