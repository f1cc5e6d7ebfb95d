//! The layouts: one small file for each runtime that an agent can be laid out for (rule P80).

mod claude_code;
mod codex;
mod cursor;
mod generic;
mod github_copilot;
mod openclaw;
mod opencode;
mod shared;
mod windsurf;

use super::options::{Mode, Options};
use super::plan::Draft;
use super::select::AdapterId;
use super::source::Source;
use crate::error::PackError;

/// A runtime whose layout is known here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    OpenClaw,
    ClaudeCode,
    Codex,
    Cursor,
    GithubCopilot,
    Windsurf,
    OpenCode,
    Generic,
}

impl Target {
    pub(super) const ALL: [Self; 8] = [
        Self::OpenClaw,
        Self::ClaudeCode,
        Self::Codex,
        Self::Cursor,
        Self::GithubCopilot,
        Self::Windsurf,
        Self::OpenCode,
        Self::Generic,
    ];

    /// Returns the adapter's name, which is that of its runtime too.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::OpenClaw => "openclaw",
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
            Self::GithubCopilot => "github-copilot",
            Self::Windsurf => "windsurf",
            Self::OpenCode => "opencode",
            Self::Generic => "generic",
        }
    }

    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|target| target.name() == name)
    }

    pub(super) fn id(self) -> AdapterId {
        AdapterId {
            r#type: self.name().to_owned(),
            runtime: self.name().to_owned(),
            adapter_version: crate::compat::SPEC_VERSION.to_owned(),
        }
    }

    /// Tells whether the layout keeps every byte under a name of its own.
    pub(super) const fn is_exact(self) -> bool {
        matches!(self, Self::OpenClaw)
    }

    pub(super) const fn fidelity(self) -> &'static str {
        if self.is_exact() {
            crate::compat::BYTE_EXACT
        } else {
            crate::compat::BEST_EFFORT
        }
    }

    pub(super) const fn default_mode(self) -> Mode {
        if self.is_exact() {
            Mode::Exact
        } else {
            Mode::Permissive
        }
    }

    pub(super) fn lay_out(
        self,
        source: &Source<'_>,
        options: &Options,
        mode: Mode,
        draft: &mut Draft,
    ) -> Result<(), PackError> {
        match self {
            Self::OpenClaw => openclaw::lay_out(source, options, mode, draft),
            Self::ClaudeCode => claude_code::lay_out(source, options, draft),
            Self::Codex => codex::lay_out(source, options, draft),
            Self::Cursor => cursor::lay_out(source, options, draft),
            Self::GithubCopilot => github_copilot::lay_out(source, options, draft),
            Self::Windsurf => windsurf::lay_out(source, options, draft),
            Self::OpenCode => opencode::lay_out(source, options, draft),
            Self::Generic => {
                generic::lay_out(source, draft);
                Ok(())
            }
        }
    }
}

/// Returns the adapters whose layouts are known here.
pub fn supported() -> Vec<AdapterId> {
    Target::ALL.into_iter().map(Target::id).collect()
}
