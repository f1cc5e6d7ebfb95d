//! The files of the page, as `scripts/web-build` makes them. One line each; a test says when a line is missing.

/// A file of the page.
#[derive(Debug)]
pub(crate) struct File {
    /// Its path below the server.
    pub(crate) path: &'static str,
    /// What is in it.
    pub(crate) bytes: &'static [u8],
}

macro_rules! files {
    ($($path:literal => $file:literal,)*) => {
        &[$(File { path: $path, bytes: include_bytes!(concat!("../../page/dist/", $file)) },)*]
    };
}

/// All of them.
pub(crate) const FILES: &[File] = files! {
    "/" => "index.html",
    "/assets/agents.js" => "assets/agents.js",
    "/assets/app.css" => "assets/app.css",
    "/assets/app.js" => "assets/app.js",
    "/assets/changes.js" => "assets/changes.js",
    "/assets/files.js" => "assets/files.js",
    "/assets/lens.js" => "assets/lens.js",
    "/assets/memory.js" => "assets/memory.js",
    "/assets/sessions.js" => "assets/sessions.js",
    "/assets/skills.js" => "assets/skills.js",
    "/assets/traces.js" => "assets/traces.js",
};
