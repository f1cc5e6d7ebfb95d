//! What `RUNTIME.md` suggests, and what becomes of it: the user's flags and configuration decide first.

use crate::setup::Setup;
use chitin_model::providers::{Keys, Sources, find, resolve};
use chitin_workspace::extensions::LiveFile;
use chitin_workspace::extensions::runtime::FILE;
use chitin_workspace::extensions::suggestion::{Suggestion, suggest};
use chitin_workspace::load::read_policy;

/// Providers whose models are files of this machine, which no workspace names.
const FILES: [&str; 2] = ["scripted", "replay"];

/// Reads what the workspace suggests.
pub(super) fn read(setup: &Setup) -> Suggestion {
    let policy = read_policy(setup.contract(), &setup.options);
    let file = LiveFile::new(&setup.directory, FILE, policy);
    Suggestion::clone(&file.get(suggest))
}

/// Returns the suggested model, where it can be used, and what people should know of it. Only a provider that the user has
/// set up is used.
pub(super) fn model(
    suggestion: &Suggestion,
    sources: &Sources<'_>,
) -> Result<Option<String>, String> {
    let name = match suggestion.full_name() {
        None => return Ok(None),
        Some(name) => name?,
    };
    let place = match &suggestion.model {
        Some((_, line)) => format!("`{FILE}`, line {line},"),
        None => format!("`{FILE}`"),
    };
    let provider = name.split('/').next().unwrap_or_default();
    if FILES.contains(&provider) {
        return Err(format!(
            "{place} names a file of this machine as the model, which has no effect"
        ));
    }
    let resolved = resolve(&name, sources)
        .map_err(|error| format!("{place} suggests `{name}`, which cannot be used: {error}"))?;
    let is_named = sources.settings.contains_key(provider)
        || sources
            .openclaw
            .and_then(|models| models.pointer(&format!("/providers/{provider}")))
            .is_some();
    let is_local = find(provider).is_some_and(|known| known.keys == Keys::Optional);
    if is_local && !is_named && resolved.key_source.is_none() {
        return Err(format!(
            "{place} suggests `{name}`, which has no effect: `{provider}` is not configured; name it under `providers` in `chitin.json5`"
        ));
    }
    Ok(Some(name))
}
