//! A line or two about every request, for stderr (R114).

use super::moment::RequestSent;
use super::payload::body_text;
use super::run::{JournalEnvironment, Run};
use super::switches::SummarySwitch;
use chitin_contract::SummaryApis;
use chitin_model::Api;
use chitin_protocol::settings::PayloadDetail;
use std::collections::BTreeMap;

/// How much of a body is shown, in characters.
const BODY_LIMIT: usize = 16_000;

/// Says what a request is made of.
pub(super) fn say(
    switch: SummarySwitch,
    sent: &RequestSent<'_>,
    run: &Run,
    around: &JournalEnvironment,
) {
    let is_openai = matches!(run.api, Api::OpenaiCompletions | Api::OpenaiResponses);
    match switch.apis {
        SummaryApis::Every => {}
        SummaryApis::Openai if is_openai => {}
        SummaryApis::Openai | SummaryApis::None => return,
    }
    let mut roles: BTreeMap<&str, usize> = BTreeMap::new();
    for message in sent.messages {
        *roles.entry(message.role()).or_default() += 1;
    }
    let roles: Vec<String> = roles
        .into_iter()
        .map(|(role, count)| format!("{role}:{count}"))
        .collect();
    (around.summary)(&format!(
        "[model-payload] call={} model={}/{} api={} bytes={} digest={} system={} messages={} ({}) tools={}",
        sent.call,
        run.provider,
        run.model,
        run.api,
        sent.prepared.body.len(),
        sent.prepared.digest.get(..12).unwrap_or_default(),
        sent.system.len(),
        sent.messages.len(),
        roles.join(" "),
        sent.tools.len(),
    ));
    match switch.detail {
        PayloadDetail::Summary => {}
        PayloadDetail::Tools => tools(sent, around),
        PayloadDetail::FullRedacted => {
            tools(sent, around);
            let body = body_text(&sent.prepared.body, around);
            let shown: String = body.chars().take(BODY_LIMIT).collect();
            let rest = body.len() - shown.len();
            let cut = if rest > 0 {
                format!(" … {rest} more bytes")
            } else {
                String::new()
            };
            (around.summary)(&format!(
                "[model-payload] call={} body={shown}{cut}",
                sent.call
            ));
        }
    }
}

fn tools(sent: &RequestSent<'_>, around: &JournalEnvironment) {
    let names: Vec<&str> = sent.tools.iter().map(|tool| tool.name.as_str()).collect();
    (around.summary)(&format!(
        "[model-payload] call={} tools count={} names={}",
        sent.call,
        names.len(),
        names.join(",")
    ));
}
