//! Names and codes that OpenClaw gives to things about skills (2026.4.23 and 2026.9.6).

/// The file that makes a directory a skill.
pub(super) const SKILL_FILE: &str = "SKILL.md";

/// The directory of a workspace or home that other agents share.
pub(super) const AGENTS_DIRECTORY: &str = ".agents";

/// The directory that holds skills, in a workspace, in `.agents` and in the state directory.
pub(super) const SKILLS_DIRECTORY: &str = "skills";

/// The state directory below home.
pub(super) const STATE_DIRECTORY: &str = ".openclaw";

/// Config paths that count as true when nothing is said of them.
pub(super) const TRUE_BY_DEFAULT: [&str; 2] = ["browser.enabled", "browser.evaluateEnabled"];

/// Codes for front matter that is not well formed: ours first, then those of the YAML library that 2026.9 uses.
pub(super) mod code {
    pub(crate) const UNTERMINATED: &str = "UNTERMINATED_FRONTMATTER";
    pub(crate) const INVALID_ROOT: &str = "INVALID_ROOT";
    pub(crate) const EXCEPTION: &str = "YAML_EXCEPTION";
    pub(crate) const DUPLICATE_KEY: &str = "DUPLICATE_KEY";
    pub(crate) const TAB_AS_INDENT: &str = "TAB_AS_INDENT";
    pub(crate) const MULTILINE_IMPLICIT_KEY: &str = "MULTILINE_IMPLICIT_KEY";
    pub(crate) const BLOCK_AS_IMPLICIT_KEY: &str = "BLOCK_AS_IMPLICIT_KEY";
    pub(crate) const BLOCK_IN_FLOW: &str = "BLOCK_IN_FLOW";
    pub(crate) const BAD_INDENT: &str = "BAD_INDENT";
    pub(crate) const BAD_SCALAR_START: &str = "BAD_SCALAR_START";
    pub(crate) const BAD_ESCAPE: &str = "BAD_DQ_ESCAPE";
    pub(crate) const BAD_DIRECTIVE: &str = "BAD_DIRECTIVE";
    pub(crate) const MISSING_CHAR: &str = "MISSING_CHAR";
    pub(crate) const MULTIPLE_DOCUMENTS: &str = "MULTIPLE_DOCS";
    pub(crate) const TAG_RESOLVE_FAILED: &str = "TAG_RESOLVE_FAILED";
    pub(crate) const UNEXPECTED_TOKEN: &str = "UNEXPECTED_TOKEN";
}
