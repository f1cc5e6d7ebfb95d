//! From an artifact to a directory: first a whole [`UnpackPlan`], then all of it or nothing (rules P32–P43, P80).
//!
//! A plan holds no large file: what stands in an archive is named by its layer and path, and streamed when it is applied.

mod apply;
mod compare;
mod contents;
mod forbidden;
mod in_place;
mod options;
mod plan;
mod rules;
mod select;
mod servers;
mod source;
mod targets;
mod write;

pub use apply::{ApplyOptions, How, Overwrite, UnpackOutcome, apply, clear_leftovers};
pub use contents::Contents;
pub(crate) use forbidden::is_forbidden;
pub use options::{LayoutFidelity, LayoutMode, LayoutOptions, MissingSurfaces, WriteLayer};
pub use plan::{ActionKind, PlannedContent, PlannedFile, PlannedStep, UnpackPlan};
pub use select::{AdapterId, select};
pub use targets::supported;
pub(crate) use write::{copy, each_file};

use crate::artifact::Artifact;
use crate::compat::AGENT;
use crate::error::{ErrorClass, PackError};
use plan::Draft;
use serde_json::Value;
use source::AgentContent;
use targets::Target;

/// Works out what laying an artifact out would write, alone or with its packages. Every blob is checked and every archive
/// read to its end first; nothing is changed.
pub fn plan<'a>(
    contents: impl Into<Contents<'a>>,
    options: &LayoutOptions,
) -> Result<UnpackPlan, PackError> {
    let contents = contents.into();
    let agent = contents.agent;
    if agent.manifest.artifact_type != AGENT {
        let message = format!(
            "the artifact is a `{}`, and only agents are laid out",
            agent.manifest.artifact_type.escape_debug()
        );
        return Err(PackError::new(ErrorClass::NoCompatibleAdapter, message));
    }
    let target = choose(agent, options)?;
    let mode = options.mode.unwrap_or(target.default_mode());
    if mode == LayoutMode::Exact {
        check_exact(target, agent)?;
    }
    for artifact in contents.sources {
        artifact.verify()?;
    }
    let source = AgentContent::read(contents)?;
    let mut draft = Draft::default();
    for warning in contents.merged.iter().flat_map(|merged| &merged.warnings) {
        draft.warn(warning.clone());
    }
    target.lay_out(&source, options, mode, &mut draft)?;
    draft.finish(target)
}

/// Finds the layout that was asked for, else the artifact's own.
fn choose(artifact: &Artifact, options: &LayoutOptions) -> Result<Target, PackError> {
    if let Some(name) = &options.adapter {
        return Target::from_name(name).ok_or_else(|| {
            let known: Vec<_> = Target::ALL.iter().map(|target| target.name()).collect();
            let message = format!("there is no adapter `{}`", name.escape_debug());
            PackError::new(ErrorClass::UnsupportedAdapter, message)
                .hint(format!("choose one of {}", known.join(", ")))
        });
    }
    let (primary, fallback) = built_for(artifact)?;
    let supported = supported();
    let selected = select(&primary, &fallback, &supported)?;
    Target::from_name(&selected.r#type).ok_or_else(|| invalid("the adapter has no layout"))
}

fn adapter_id(value: &Value) -> Result<AdapterId, PackError> {
    serde_json::from_value(value.clone()).map_err(|error| {
        invalid("the artifact does not say for which adapter it is").caused_by(error)
    })
}

fn invalid(message: &str) -> PackError {
    PackError::new(ErrorClass::InvalidManifest, message)
}

/// Returns the adapters that the artifact names: the primary one, and those to try after it.
fn built_for(artifact: &Artifact) -> Result<(AdapterId, Vec<AdapterId>), PackError> {
    let fallback = match &artifact.config["adapterFallback"] {
        Value::Array(entries) => entries.iter().map(adapter_id).collect::<Result<_, _>>()?,
        Value::Null => Vec::new(),
        _ => return Err(invalid("the list of fallback adapters is not one")),
    };
    Ok((adapter_id(&artifact.config["adapter"])?, fallback))
}

/// Exact layout is a promise of one adapter about its own artifacts (rule P38).
fn check_exact(target: Target, artifact: &Artifact) -> Result<(), PackError> {
    let (primary, fallback) = built_for(artifact)?;
    let is_named = primary.fits(&target.id()) || fallback.iter().any(|id| id.fits(&target.id()));
    if target.is_exact() && is_named {
        return Ok(());
    }
    let message = format!(
        "`{}` cannot lay out exactly what was built for `{}`",
        target.name(),
        primary.r#type.escape_debug()
    );
    Err(PackError::new(ErrorClass::ExactIncompatible, message)
        .hint("do not ask for exactness, or choose the adapter it was built for"))
}
