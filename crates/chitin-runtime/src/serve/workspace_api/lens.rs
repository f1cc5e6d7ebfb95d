//! What the model gets in the next turn of a session, or got in an earlier one: part by part, kept and cut, and what changed since the
//! turn before.

use super::parts::{budget, files, fragments};
use super::prompt::{Prompt, counter};
use super::request::Beside;
use super::{diff, recorded};
use crate::context::TokenCounting as Tokens;
use crate::context::{
    Caller, ContextCache, FileSource, ModelFigures, RunningTurn, TurnRequest, WhichTurn,
};
use crate::{AgentFactory, Host};
use chitin_agent::journal::{RecordedTurn, RecordedTurns};
use chitin_context::view::view;
use chitin_protocol::text::utf16_len;
use chitin_server::{DeskError, Trouble};
use chitin_store::SessionStore;
use serde_json::{Value, json};

/// Looks at a turn: the next one, or the one with that name.
pub(super) fn look(
    host: &Host,
    factory: &AgentFactory,
    session: &str,
    turn: Option<&str>,
    model_named: bool,
) -> Result<Value, DeskError> {
    let turns = recorded::of(host, factory, session)?;
    let turns = turns.as_ref();
    let last = || turns.and_then(|turns| turns.turn(turns.len().checked_sub(1)?));
    let Some(turn) = turn else {
        return next(host, factory, session, last().as_ref(), model_named);
    };
    let found = turns.and_then(|turns| Some((turns, turns.position(turn)?)));
    let Some((turns, at)) = found else {
        return Err(
            DeskError::new(Trouble::Missing, "No such turn was recorded.")
                .hint("`GET /api/sessions/{key}/turns` lists them."),
        );
    };
    let mut shown = past(host, factory, turns, at)?;
    if shown["fragments"]
        .as_array()
        .is_some_and(|all| all.iter().any(is_cut))
    {
        let now = next(host, factory, session, last().as_ref(), model_named)?;
        show_cuts(&mut shown, &now);
    }
    Ok(shown)
}

fn is_cut(fragment: &Value) -> bool {
    fragment["decision"] == "cut"
}

/// A recording holds what was sent and not what was left out. Where a part is the same today, so is what is left out of it.
fn show_cuts(past: &mut Value, now: &Value) {
    const LOST: &str = "The file has changed since, so the omitted text is unknown.";
    let text = |fragment: &Value| -> String {
        let pieces = fragment["pieces"].as_array().into_iter().flatten();
        pieces.filter_map(|piece| piece["text"].as_str()).collect()
    };
    let fragments = past["fragments"].as_array_mut().into_iter().flatten();
    for fragment in fragments.filter(|fragment| is_cut(fragment)) {
        let mut today = now["fragments"].as_array().into_iter().flatten();
        let same = today
            .find(|today| today["origin"] == fragment["origin"] && text(today) == text(fragment));
        if let Some(same) = same {
            fragment["pieces"] = same["pieces"].clone();
            fragment["cutText"] = same["cutText"].clone();
        } else {
            let cause = fragment["cause"].as_str().unwrap_or_default();
            fragment["cause"] = json!(format!("{cause} {LOST}").trim());
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
) -> Result<Value, DeskError> {
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
    let mut shown = json!({
        "turn": {"id": "next", "recorded": false, "model": seen.model.id()},
        "fragments": fragments(&seen, &view, directory),
        "files": files(&seen, &view, directory),
        "budget": budget(&view),
    });
    if !seen.notes.is_empty() {
        shown["notes"] = json!(seen.notes);
    }
    let beside = Beside::next(host, factory, &seen, last.as_ref());
    beside.put(
        &mut shown,
        (view.total.units, view.total.tokens),
        &seen.model,
    );
    if let Some(window) = seen.model.window() {
        shown["window"] = json!(window);
    }
    let after = Prompt::next(&seen, &view, directory);
    mark_boundary(&mut shown, &after);
    if let Some(before) = before {
        shown["before"] = diff::compare(&before, &after, &seen.model);
    }
    Ok(shown)
}

/// A turn of the past, as it was recorded.
fn past(
    host: &Host,
    factory: &AgentFactory,
    turns: &RecordedTurns,
    at: usize,
) -> Result<Value, DeskError> {
    let directory = &factory.setup.directory;
    let turn = turns.turn(at);
    let run = turn.as_ref().map(RecordedTurn::run);
    let prompt = run
        .as_ref()
        .and_then(|run| Prompt::recorded(run, directory));
    let (Some(run), Some(prompt)) = (run, prompt) else {
        let message = "The prompt of this turn was too long to be recorded, or the turn ended before it was sent.";
        return Err(DeskError::new(Trouble::Missing, message));
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
        let kind = if part.path.is_some() { "file" } else { "ours" };
        let mut shown = json!({
            "name": part.name, "role": "system", "cache": part.cache, "rawChars": part.raw.unwrap_or(chars),
            "chars": chars, "tokens": tokens, "decision": part.decision,
            "pieces": [{"text": text, "kind": kind}],
        });
        if let Some(cause) = &part.cause {
            shown["cause"] = json!(cause);
        }
        if let Some(path) = &part.path {
            shown["origin"] = json!(path);
            used += chars;
            files.push(json!({
                "path": path, "rawChars": part.raw.unwrap_or(chars), "chars": chars, "tokens": tokens,
                "state": part.decision, "cause": part.cause,
            }));
        }
        fragments.push(shown);
    }
    let at_time = run.events.first().map(|event| event.time());
    let mut shown = json!({
        "turn": {"id": prompt.id, "at": at_time, "model": name, "recorded": true},
        "fragments": fragments,
        "files": files,
        "budget": {"perFile": null, "total": null, "used": used},
    });
    let system = (utf16_len(&prompt.text), count(&prompt.text));
    Beside::past(host, factory, &model, &run).put(&mut shown, system, &model);
    if let Some(window) = model.window() {
        shown["window"] = json!(window);
    }
    mark_boundary(&mut shown, &prompt);
    let mut before = (0..at).rev().filter_map(|at| turns.turn(at));
    let before = before.find_map(|turn| Prompt::recorded(&turn.run(), directory));
    if let Some(before) = before {
        shown["before"] = diff::compare(&before, &prompt, &model);
    }
    Ok(shown)
}

/// Says after which part nothing is cached.
fn mark_boundary(shown: &mut Value, prompt: &Prompt) {
    let at = prompt.parts.iter().position(|part| part.boundary);
    if let Some(at) = at.and_then(|at| at.checked_sub(1)) {
        shown["boundary"] = json!({"afterFragment": at});
    }
}
