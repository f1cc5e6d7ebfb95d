//! What the model gets in the next turn of a session, or got in an earlier one: part by part, kept and cut, and what changed since the
//! turn before.

use super::parts::{budget, files, fragments};
use super::prompt::{Prompt, counter};
use super::request::Beside;
use super::{diff, recorded};
use crate::context::TokenCounting as Tokens;
use crate::context::origins;
use crate::context::sent::RequestParts;
use crate::context::{
    Caller, ContextCache, FileSource, ModelFigures, RunningTurn, TurnRequest, WhichTurn,
};
use crate::{AgentFactory, Host};
use chitin_agent::journal::{RecordedTurn, RecordedTurns};
use chitin_context::view::view;
use chitin_protocol::text::utf16_len;
use chitin_server::workspace_api::{
    Lens, LensBoundary, LensFile, LensFragment, LensPiece, LensRequest, LensSize, LensTurn,
    PieceKind, PromptBudget, PromptState, WorkspaceApiError, WorkspaceApiErrorKind,
};
use chitin_store::SessionStore;

/// Looks at a turn: the next one, or the one with that name.
pub(super) fn look(
    host: &Host,
    factory: &AgentFactory,
    request: &LensRequest,
    model_named: bool,
) -> Result<Lens, WorkspaceApiError> {
    let session = request.session.as_str();
    let turns = recorded::of(host, factory, session)?;
    let turns = turns.as_ref();
    let last = || turns.and_then(|turns| turns.turn(turns.len().checked_sub(1)?));
    let Some(turn) = &request.turn else {
        return next(host, factory, session, last().as_ref(), model_named);
    };
    let found = turns.and_then(|turns| Some((turns, turns.position(turn)?)));
    let Some((turns, at)) = found else {
        return Err(WorkspaceApiError::new(
            WorkspaceApiErrorKind::Missing,
            "No such turn was recorded.",
        )
        .hint("`GET /api/sessions/{key}/turns` lists them."));
    };
    let mut shown = past(host, factory, turns, at)?;
    if shown.fragments.iter().any(is_cut) {
        let now = next(host, factory, session, last().as_ref(), model_named)?;
        show_cuts(&mut shown, &now);
    }
    Ok(shown)
}

fn is_cut(fragment: &LensFragment) -> bool {
    fragment.decision == PromptState::Cut
}

/// A recording holds what was sent and not what was left out. Where a part is the same today, so is what is left out of it.
fn show_cuts(past: &mut Lens, now: &Lens) {
    const LOST: &str = "The file has changed since, so the omitted text is unknown.";
    let text = |fragment: &LensFragment| -> String {
        let pieces = fragment.pieces.iter();
        pieces.map(|piece| piece.text.as_str()).collect()
    };
    for fragment in past.fragments.iter_mut().filter(|one| is_cut(one)) {
        let mut today = now.fragments.iter();
        let same =
            today.find(|today| today.origin == fragment.origin && text(today) == text(fragment));
        if let Some(same) = same {
            fragment.pieces.clone_from(&same.pieces);
            fragment.cut_text.clone_from(&same.cut_text);
        } else {
            let cause = fragment.cause.as_deref().unwrap_or_default();
            fragment.cause = Some(format!("{cause} {LOST}").trim().to_owned());
        }
    }
}

/// The next turn, as if somebody wrote now. What only a turn knows is taken from the last one.
fn next(
    host: &Host,
    factory: &AgentFactory,
    session: &str,
    last: Option<&RecordedTurn>,
    model_named: bool,
) -> Result<Lens, WorkspaceApiError> {
    let last = last.map(RecordedTurn::run);
    let setup = &factory.setup;
    let own = setup.configuration.layers.settings(Some(&setup.agent));
    let entry = factory.store.find(session).ok().flatten();
    let turn = TurnRequest {
        session: Some(session.to_owned()),
        caller: Caller::Server,
        turn: if last.is_some() {
            WhichTurn::Next
        } else {
            WhichTurn::First
        },
        ..TurnRequest::default()
    };
    let before = last
        .as_ref()
        .and_then(|run| Prompt::recorded(run, &setup.directory));
    let session_id = entry.as_ref().map(|entry| entry.session_id.clone());
    let running = last.as_ref().and_then(|run| {
        Some(RunningTurn {
            model: recorded::model(run)?,
            named: model_named || own.model.is_some(),
            tools: recorded::tools(run)?,
            session_id: session_id.as_deref().unwrap_or_default(),
            channel: entry.and_then(|entry| entry.last_channel).map(Into::into),
            extra: before.as_ref().and_then(recorded::extra),
            memory: &[],
            is_told: &|_| false,
        })
    });
    let mut seen = turn.build(
        &mut ContextCache::fresh(),
        host,
        setup,
        FileSource::Disk,
        running,
    )?;
    factory.ask_engine(&turn, &mut seen)?;
    let view = view(&seen.context, &mut seen.model.counter(Tokens::Estimate));
    let directory = &setup.directory;
    let beside = Beside::next(host, factory, &seen, last.as_ref());
    let history = RequestParts::find(&turn, host, setup, &seen).history;
    let origins = origins::find(&turn, host, setup, &seen, &history);
    let system = LensSize {
        chars: view.total.units,
        tokens: view.total.tokens,
    };
    let after = Prompt::next(&seen, &view, directory);
    Ok(Lens {
        turn: LensTurn {
            id: "next".to_owned(),
            at: None,
            model: seen.model.id().to_owned(),
            recorded: false,
        },
        fragments: fragments(&seen, &view, directory),
        files: files(&seen, &view, directory),
        budget: budget(&view),
        totals: beside.totals(system, &seen.model),
        tool_definitions: beside.tools(),
        history: beside.history(),
        message: beside.message(),
        window: seen.model.window(),
        boundary: boundary(&after),
        before: before.map(|before| diff::compare(&before, &after, &seen.model)),
        origins: Some(origins),
        notes: seen.notes,
    })
}

/// A turn of the past, as it was recorded.
fn past(
    host: &Host,
    factory: &AgentFactory,
    turns: &RecordedTurns,
    at: usize,
) -> Result<Lens, WorkspaceApiError> {
    let directory = &factory.setup.directory;
    let turn = turns.turn(at);
    let run = turn.as_ref().map(RecordedTurn::run);
    let prompt = run
        .as_ref()
        .and_then(|run| Prompt::recorded(run, directory));
    let (Some(run), Some(prompt)) = (run, prompt) else {
        let message = "The prompt of this turn was too long to be recorded, or the turn ended before it was sent.";
        return Err(WorkspaceApiError::new(
            WorkspaceApiErrorKind::Missing,
            message,
        ));
    };
    let name = recorded::model(&run).unwrap_or_default();
    let model = ModelFigures::running(&name, true, &factory.setup);
    let mut count = counter(&model);
    let mut fragments = Vec::new();
    let mut files = Vec::new();
    let mut used = 0;
    for part in &prompt.parts {
        let text = &prompt.text[part.range.clone()];
        let (chars, tokens) = (utf16_len(text), count(text));
        let kind = match part.path {
            Some(_) => PieceKind::File,
            None => PieceKind::Ours,
        };
        let decision = decision(&part.decision);
        if let Some(path) = &part.path {
            used += chars;
            files.push(LensFile {
                path: path.clone(),
                raw_chars: part.raw.unwrap_or(chars),
                chars,
                tokens,
                state: decision,
                limit: None,
                cause: part.cause.clone(),
            });
        }
        fragments.push(LensFragment {
            name: part.name.clone(),
            role: "system".to_owned(),
            cache: part.cache.clone(),
            raw_chars: part.raw.unwrap_or(chars),
            chars,
            tokens,
            decision,
            pieces: vec![LensPiece {
                text: text.to_owned(),
                kind,
                line: None,
            }],
            origin: part.path.clone(),
            cause: part.cause.clone(),
            cut_text: None,
        });
    }
    let system = LensSize {
        chars: utf16_len(&prompt.text),
        tokens: count(&prompt.text),
    };
    let beside = Beside::past(host, factory, &model, &run);
    let mut before = (0..at).rev().filter_map(|at| turns.turn(at));
    let before = before.find_map(|turn| Prompt::recorded(&turn.run(), directory));
    Ok(Lens {
        turn: LensTurn {
            id: prompt.id.clone(),
            at: run.events.first().map(|event| event.time().to_owned()),
            model: name,
            recorded: true,
        },
        fragments,
        files,
        budget: PromptBudget {
            per_file: None,
            total: None,
            used,
            unit: None,
            system_chars: None,
            system_tokens: None,
        },
        origins: None,
        notes: Vec::new(),
        totals: beside.totals(system, &model),
        tool_definitions: beside.tools(),
        history: beside.history(),
        message: beside.message(),
        window: model.window(),
        boundary: boundary(&prompt),
        before: before.map(|before| diff::compare(&before, &prompt, &model)),
    })
}

/// Returns what was made of a recorded fragment. Words that we do not know are of no known change.
fn decision(word: &str) -> PromptState {
    match word {
        "cut" => PromptState::Cut,
        "missing" => PromptState::Missing,
        "refused" => PromptState::Refused,
        _ => PromptState::Kept,
    }
}

/// Says after which part nothing is cached.
fn boundary(prompt: &Prompt) -> Option<LensBoundary> {
    let at = prompt.parts.iter().position(|part| part.boundary)?;
    Some(LensBoundary {
        after_fragment: at.checked_sub(1)?,
    })
}
