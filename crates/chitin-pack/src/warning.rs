//! Warnings: what was done is right, and not all that somebody may have wanted.

use serde::Serialize;

/// One warning. Programs compare the code; people read the message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PackWarning {
    /// A stable code, such as `SURFACE_MISSING`.
    pub code: &'static str,
    /// What it means here.
    pub message: String,
    /// The layer it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layer: Option<&'static str>,
    /// The file it is about, as it is called in the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

impl PackWarning {
    /// Builds a warning about the whole.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            layer: None,
            target: None,
        }
    }

    /// Says which layer it is about.
    #[must_use]
    pub const fn layer(mut self, layer: &'static str) -> Self {
        self.layer = Some(layer);
        self
    }

    /// Says which file it is about.
    #[must_use]
    pub fn target(mut self, target: impl Into<String>) -> Self {
        self.target = Some(target.into());
        self
    }
}
