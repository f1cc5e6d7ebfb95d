//! Interface strings of OpenClaw that policies, tools and their arguments go by. From 2026.4 unless said otherwise.

/// Stands in a policy for every tool of an MCP server.
pub const BUNDLED_MCP: &str = "bundle-mcp";

/// Stands in a policy for the runtime's own tools.
pub const OWN_GROUP: &str = "group:openclaw";

/// Opens a patch, and the lines that follow it. The format is that of the models that were trained on it.
pub mod patch {
    /// The first line.
    pub const BEGIN: &str = "*** Begin Patch";
    /// The last line.
    pub const END: &str = "*** End Patch";
    /// A new file follows.
    pub const ADD: &str = "*** Add File: ";
    /// A file goes.
    pub const DELETE: &str = "*** Delete File: ";
    /// Changes of a file follow.
    pub const UPDATE: &str = "*** Update File: ";
    /// The file that is changed gets another name.
    pub const MOVE: &str = "*** Move to: ";
    /// The change stands at the end of the file.
    pub const END_OF_FILE: &str = "*** End of File";
}
