//! The layouts: one small file for each runtime that an agent can be laid out for (rule P80).

mod claude_code;
mod codex;
mod compose;
mod cursor;
mod generic;
mod github_copilot;
mod openclaw;
mod opencode;
mod own;
mod shared;
mod skill_layout;
mod windsurf;

use super::options::{LayoutFidelity, LayoutMode, LayoutOptions};
use super::plan::Draft;
use super::select::AdapterId;
use super::source::AgentContent;
use crate::adapters::{self, ADAPTER_VERSION, Adapter, Support};
use crate::error::PackError;
use crate::layer::LayerKind;

/// Layers that are reported where an adapter has no place for them. Secrets are the reader's business.
const REPORTED: [LayerKind; 7] = [
    LayerKind::Rules,
    LayerKind::Skills,
    LayerKind::Mcp,
    LayerKind::InstructionTree,
    LayerKind::Persona,
    LayerKind::Subagents,
    LayerKind::Memory,
];

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
            adapter_version: ADAPTER_VERSION.to_owned(),
        }
    }

    /// Tells whether the layout keeps every byte under a name of its own.
    pub(super) fn is_exact(self) -> bool {
        self.adapter().is_some_and(|adapter| adapter.exact)
    }

    pub(super) fn fidelity(self) -> &'static str {
        self.adapter().map_or("", Adapter::fidelity)
    }

    /// Tells whether the adapter says that it has no place for a layer.
    pub(super) fn lacks(self, layer: LayerKind, layout: LayoutFidelity) -> bool {
        match layer {
            LayerKind::Rules | LayerKind::Skills | LayerKind::Persona
                if self == Self::Generic && layout == LayoutFidelity::Whole =>
            {
                false
            }
            // The only part that no adapter speaks of.
            LayerKind::Memory => self != Self::OpenClaw,
            _ => self
                .adapter()
                .is_some_and(|adapter| adapter.support(layer.name()) == Support::Unsupported),
        }
    }

    fn adapter(self) -> Option<&'static Adapter> {
        adapters::adapter(self.name())
    }

    pub(super) fn default_mode(self) -> LayoutMode {
        if self.is_exact() {
            LayoutMode::Exact
        } else {
            LayoutMode::Permissive
        }
    }

    pub(super) fn lay_out(
        self,
        source: &AgentContent<'_>,
        options: &LayoutOptions,
        mode: LayoutMode,
        draft: &mut Draft,
    ) -> Result<(), PackError> {
        match self {
            Self::OpenClaw => openclaw::lay_out(source, options, mode, draft)?,
            Self::ClaudeCode => claude_code::lay_out(source, options, draft)?,
            Self::Codex => codex::lay_out(source, options, draft)?,
            Self::Cursor => cursor::lay_out(source, options, draft)?,
            Self::GithubCopilot => github_copilot::lay_out(source, options, draft)?,
            Self::Windsurf => windsurf::lay_out(source, options, draft)?,
            Self::OpenCode => opencode::lay_out(source, options, draft)?,
            Self::Generic => generic::lay_out(source, options, draft)?,
        }
        for layer in LayerKind::ALL {
            if REPORTED.contains(&layer) && self.lacks(layer, options.layout) {
                shared::unsupported(source, layer, draft);
            }
        }
        if self == Self::OpenClaw && mode == LayoutMode::Permissive && source.has(LayerKind::Mcp) {
            let message = "OpenClaw keeps MCP servers in its own settings, which are never written";
            shared::remark(LayerKind::Mcp, message, draft);
        }
        if options.layout == LayoutFidelity::Whole {
            own::lay_out(self, source, options, draft);
            shared::model_params_not_written(options, draft);
        }
        shared::left_behind(source, draft)
    }
}

/// Returns the adapters whose layouts are known here.
pub fn supported() -> Vec<AdapterId> {
    Target::ALL.into_iter().map(Target::id).collect()
}
