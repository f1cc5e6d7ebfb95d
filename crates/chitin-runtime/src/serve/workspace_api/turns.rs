//! The turns of a session, as they were recorded.

use super::recorded;
use crate::{AgentFactory, Host};
use chitin_agent::journal::{RecordedRun, TraceEvent};
use chitin_protocol::text::utf16_len;
use chitin_server::workspace_api::{TurnList, TurnSummary, WorkspaceApiError};

/// How many turns are listed at most.
const MOST: usize = 500;

/// Lists the turns of a session, the newest first.
pub(super) fn list(
    host: &Host,
    factory: &AgentFactory,
    session: &str,
) -> Result<TurnList, WorkspaceApiError> {
    let Some(turns) = recorded::of(host, factory, session)? else {
        let hint = "This session has no recorded turns. Turns are recorded unless `CHITIN_TRAJECTORY=0` is set.";
        return Ok(TurnList {
            turns: Vec::new(),
            recorded: false,
            hint: Some(hint.to_owned()),
        });
    };
    // One is made at a time: all together are many times what is told of them.
    let newest = turns.from(turns.len().saturating_sub(MOST));
    let mut listed: Vec<TurnSummary> = newest.map(|one| turn(&one.run())).collect();
    listed.reverse();
    Ok(TurnList {
        turns: listed,
        recorded: true,
        hint: None,
    })
}

fn turn(run: &RecordedRun<'_>) -> TurnSummary {
    let data = |kind: &str| run.event(kind).map(TraceEvent::data);
    let word = |kind: &str, name: &str| Some(data(kind)?[name].as_str()?.to_owned());
    let context = data("context.compiled");
    let prompt = context.and_then(|context| context["systemPrompt"].as_str());
    let messages = context.and_then(|context| context["messages"].as_array());
    let usage = data("model.completed").map(|data| &data["usage"]);
    let used = |name: &str| usage?[name].as_u64();
    // As everywhere in the API: all that was sent, whether a cache had it or not.
    let cached = used("cacheRead").unwrap_or(0) + used("cacheWrite").unwrap_or(0);
    TurnSummary {
        id: run.run_id.to_owned(),
        at: run.events.first().map(|event| event.time().to_owned()),
        system_chars: prompt.map_or(0, utf16_len),
        // The user's words come on top of what was said before.
        messages: messages.map_or(0, Vec::len) + usize::from(context.is_some()),
        model: recorded::model(run),
        trigger: word("session.started", "trigger"),
        status: word("session.ended", "status"),
        input_tokens: used("input").map(|input| input + cached),
        output_tokens: used("output"),
        cache_read: used("cacheRead"),
        cost_usd: usage.and_then(|usage| usage["cost"]["total"].as_f64()),
    }
}
