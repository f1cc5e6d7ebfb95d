//! What the next turn would hold if a file said something else. Nothing is written.

use super::files::checked;
use super::parts::{cut, state};
use super::prompt::{below, counter};
use crate::context::TokenCounting as Tokens;
use crate::context::{Caller, Edit, FileSource, TurnContext, TurnRequest};
use crate::{AgentFactory, Host};
use chitin_context::view::{FileState, View, view};
use chitin_protocol::text::utf16_len;
use chitin_server::workspace_api::{
    FileEffect, FilePreview, PreviewFile, PreviewRequest, PreviewTotals, PromptSize, PromptState,
    WorkspaceApiError,
};
use std::path::Path;

/// Looks at the next turn as if a file said something else.
pub(super) fn look(
    host: &Host,
    factory: &AgentFactory,
    request: &PreviewRequest,
) -> Result<FilePreview, WorkspaceApiError> {
    let text = request.text.as_str();
    let relative = checked(&request.path)?;
    super::files::check_text(text)?;
    let (setup, directory) = (&factory.setup, &factory.setup.directory);
    let turn = TurnRequest {
        session: request.session.clone(),
        caller: Caller::Server,
        ..TurnRequest::default()
    };
    let full = directory.join(&relative);
    let look = |files: FileSource<'_>| {
        let seen = turn.workspace_context(host, setup, files)?;
        let view = view(&seen.context, &mut seen.model.counter(Tokens::Estimate));
        Ok::<_, WorkspaceApiError>((seen, view))
    };
    let (_, before) = look(FileSource::Disk)?;
    let (seen, after) = look(FileSource::Edited(Edit { path: &full, text }))?;
    let total = PreviewTotals {
        chars: used(&after),
        limit: after.limits.total,
        tokens: after.total.tokens,
        system_chars: after.total.units,
        before: PromptSize {
            chars: used(&before),
            tokens: before.total.tokens,
            system_chars: before.total.units,
        },
    };
    Ok(FilePreview {
        file: file(&seen, &after, &full, text),
        total,
        effects: effects(&before, &after, &full, directory),
    })
}

fn used(view: &View) -> usize {
    view.files.iter().map(|file| file.injected.units).sum()
}

/// What becomes of the file itself.
fn file(seen: &TurnContext, view: &View, path: &Path, text: &str) -> PreviewFile {
    let spelled = path.to_string_lossy();
    let Some(at) = view.files.iter().position(|file| file.path == spelled) else {
        return PreviewFile {
            raw_chars: utf16_len(text),
            chars: 0,
            tokens: 0,
            raw_tokens: counter(&seen.model)(text),
            limit: None,
            state: PromptState::NotInPrompt,
            cut: Vec::new(),
            cause: Some("This file is not part of the prompt.".to_owned()),
        };
    };
    let file = &view.files[at];
    let record = &seen.context.files.records[at];
    let content = record.content().map_or("", |content| &*content.text);
    let mut cuts = cut(file, content);
    for cut in &mut cuts {
        // Its author has the text already.
        cut.text = None;
    }
    PreviewFile {
        raw_chars: file.raw.units,
        chars: file.injected.units,
        tokens: file.injected.tokens,
        raw_tokens: file.raw.tokens,
        limit: Some(view.limits.of_record(record)).filter(|limit| *limit != usize::MAX),
        state: state(file.state),
        cut: cuts,
        cause: (file.state != FileState::Whole).then(|| file.reason.clone()),
    }
}

/// Other files of which the model would get more or less.
fn effects(before: &View, after: &View, path: &Path, directory: &Path) -> Vec<FileEffect> {
    let spelled = path.to_string_lossy();
    let pairs = before.files.iter().zip(&after.files);
    pairs
        .filter(|(old, new)| old.path == new.path && old.path != spelled)
        .filter(|(old, new)| old.injected.units != new.injected.units || old.state != new.state)
        .map(|(old, new)| FileEffect {
            path: below(&new.path, directory),
            before: old.injected.units,
            after: new.injected.units,
            state: state(new.state),
        })
        .collect()
}
