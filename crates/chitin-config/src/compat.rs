//! Names that belong to OpenClaw's configuration and not to us. The key tables in [`super::keys`] hold the rest.

/// The key that brings in other files.
pub(super) const INCLUDE: &str = "$include";

/// Keys that are never merged: in the runtime that shares these files they are not plain names.
pub(super) const NEVER_MERGED: [&str; 3] = ["__proto__", "prototype", "constructor"];

/// The file in the state directory.
pub(super) const FILE_NAME: &str = "openclaw.json";

/// The variables that name another file; ours is the first, and the first that is set wins.
pub(super) const PATH_VARIABLES: [&str; 2] = ["CHITIN_CONFIG_PATH", "OPENCLAW_CONFIG_PATH"];
