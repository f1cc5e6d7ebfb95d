//! The sentences that a turn is told in.

use crate::printer::{Paint, grouped, plain};
use chitin_protocol::message::{StopReason, Usage};
use chitin_tools::redact::mask_assignments;
use serde_json::Value;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Arguments that say best what a call is about, the best first.
const TELLING: [&str; 14] = [
    "command",
    "cmd",
    "path",
    "file_path",
    "file",
    "pattern",
    "query",
    "url",
    "uri",
    "name",
    "action",
    "input",
    "sessionKey",
    "text",
];

/// A call of a tool, as one line is told of it.
pub(super) struct Call<'a> {
    pub(super) headline: &'a str,
    pub(super) summary: &'a str,
    pub(super) is_error: bool,
    pub(super) runtime_ms: u64,
}

/// Names a call: the tool, and what it is about, without what looks like a secret in a command.
pub(crate) fn headline(name: &str, arguments: &Value) -> String {
    let about = TELLING
        .iter()
        .find_map(|key| arguments.get(key).filter(|value| is_telling(value)))
        .or_else(|| {
            arguments
                .as_object()?
                .values()
                .find(|value| is_telling(value))
        });
    let about = match about {
        Some(Value::String(text)) => one_line(&mask_assignments(text).0),
        Some(other) => one_line(&other.to_string()),
        None => String::new(),
    };
    format!("{} {about}", one_line(name)).trim_end().to_owned()
}

fn is_telling(value: &Value) -> bool {
    match value {
        Value::String(text) => !text.trim().is_empty(),
        Value::Number(_) => true,
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

/// Tells of a call that is done.
pub(super) fn call_line(call: &Call<'_>, width: usize, paint: Paint) -> String {
    let Call {
        headline,
        summary,
        is_error,
        runtime_ms,
    } = call;
    let time = duration(*runtime_ms);
    let mut lines = summary
        .lines()
        .map(one_line)
        .filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let further = lines.count();
    let said = match (further, *is_error) {
        (0, _) | (_, true) => first,
        (further, false) => format!("{} lines", grouped(further + 1)),
    };
    let room = width.saturating_sub(time.width() + 8).max(24);
    let headline = fit(headline, if said.is_empty() { room } else { room / 2 });
    let said = fit(&said, room.saturating_sub(headline.width()));
    let said = if said.is_empty() {
        String::new()
    } else {
        format!("{said}, ")
    };
    if *is_error {
        let said = paint.bad(&format!("{said}{time}"));
        format!("{} {headline} — {said}\n", paint.bad("●"))
    } else {
        let said = paint.dim(&format!("— {said}{time}"));
        format!("{} {headline} {said}\n", paint.good("●"))
    }
}

/// Tells of a call that never came to its end.
pub(super) fn unfinished_line(headline: &str, width: usize, paint: Paint) -> String {
    let headline = fit(headline, width.saturating_sub(14).max(24));
    format!(
        "{} {headline} {}\n",
        paint.warn("○"),
        paint.dim("— stopped")
    )
}

/// Tells that the provider is asked again.
pub(super) fn retry_line(
    attempt: u32,
    wait_ms: u64,
    reason: &str,
    model: &str,
    paint: Paint,
) -> String {
    let when = match wait_ms {
        0 => "now".to_owned(),
        wait => format!("in {}", duration(wait)),
    };
    let reason = one_line(reason);
    let reason = reason.trim_end_matches('.');
    let text = format!(
        "{reason}; trying `{}` {when} (attempt {attempt})",
        one_line(model)
    );
    format!("{} {text}\n", paint.warn("↻"))
}

/// Tells that the conversation was put into a summary.
pub(super) fn compaction_line(before: u64, after: u64, reason: &str, paint: Paint) -> String {
    let text = format!(
        "compacted the conversation: {} → {} tokens ({})",
        tokens(before),
        tokens(after),
        one_line(reason)
    );
    format!("{} {}\n", paint.warn("⇊"), paint.dim(&text))
}

/// Tells something that is neither good nor bad.
pub(super) fn note_line(text: &str, paint: Paint) -> String {
    format!("{}\n", paint.dim(&crate::printer::tame(text)))
}

/// Tells why a turn ended, when it did not end as it should. A turn that failed is told of by whoever ran it: only they
/// know what to do about it.
pub(super) fn ending_line(
    reason: &StopReason,
    error: Option<&str>,
    paint: Paint,
) -> Option<String> {
    let said = error.map(crate::printer::tame);
    match (reason, said) {
        (StopReason::Error, _) | (StopReason::Stop | StopReason::ToolUse, None) => None,
        (StopReason::Aborted, _) => Some(format!("{}\n", paint.warn("stopped"))),
        (_, Some(error)) => Some(format!("{} {error}\n", paint.warn("note:"))),
        (StopReason::Length, None) => Some(format!(
            "{} The model reached its output limit; the reply is incomplete.\n",
            paint.warn("cut:")
        )),
        (StopReason::Other(word), None) => Some(format!(
            "{} The model stopped with `{}`.\n",
            paint.warn("note:"),
            one_line(word)
        )),
    }
}

/// How full the model's window is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ContextShare {
    /// Tokens in it.
    pub(crate) used: u64,
    /// Tokens that fit.
    pub(crate) window: u64,
}

/// What is said of a figure that nobody knows.
pub(crate) const UNKNOWN: &str = "unknown";

/// What a turn took.
#[derive(Debug, Clone, Copy)]
pub(super) struct Took<'a> {
    pub(super) usage: &'a Usage,
    /// Whether the provider did not say how many tokens some answer took.
    pub(super) tokens_unknown: bool,
    /// Whether the cost of some answer is unknown.
    pub(super) cost_unknown: bool,
    /// How many times the model was asked.
    pub(super) calls: u32,
}

/// Sums a turn up.
pub(super) fn footer(took: &Took<'_>, share: Option<ContextShare>, paint: Paint) -> String {
    let Took { usage, calls, .. } = *took;
    let mut parts = Vec::new();
    if usage.total_tokens > 0 || !took.tokens_unknown {
        parts.push(format!("{} in", tokens(usage.input)));
        parts.push(format!("{} out", tokens(usage.output)));
    }
    if usage.cache_read > 0 {
        parts.push(format!("{} from the cache", tokens(usage.cache_read)));
    }
    if usage.cache_write > 0 {
        parts.push(format!("{} to the cache", tokens(usage.cache_write)));
    }
    let which = if usage.total_tokens > 0 {
        "some tokens"
    } else {
        "tokens"
    };
    match (took.tokens_unknown, took.cost_unknown) {
        (true, true) => parts.push(format!("{which} and cost unknown")),
        (true, false) => parts.push(format!("{which} unknown")),
        (false, true) => parts.push("cost unknown".to_owned()),
        (false, false) => {}
    }
    if usage.cost.total > 0.0 && !took.cost_unknown {
        parts.push(dollars(usage.cost.total));
    }
    parts.push(format!(
        "{calls} {}",
        if calls == 1 { "call" } else { "calls" }
    ));
    if let Some(ContextShare { used, window }) = share.filter(|share| share.window > 0) {
        let percent = (u128::from(used) * 100).div_ceil(u128::from(window));
        parts.push(format!("{percent} % of the context"));
    }
    format!("{}\n", paint.dim(&parts.join(" · ")))
}

/// Writes a sum of money, small ones exactly enough to tell them apart.
pub(crate) fn dollars(sum: f64) -> String {
    if sum == 0.0 || sum >= 1.0 {
        format!("${sum:.2}")
    } else if sum >= 0.0001 {
        format!("${sum:.4}")
    } else {
        "<$0.0001".to_owned()
    }
}

/// Writes a sum of money that may be unknown.
pub(crate) fn cost(sum: Option<f64>) -> String {
    sum.map_or_else(|| UNKNOWN.to_owned(), dollars)
}

/// Writes a number of tokens of which some may not have been counted.
pub(crate) fn counted(number: u64, some_unknown: bool) -> String {
    match (number, some_unknown) {
        (0, true) => UNKNOWN.to_owned(),
        (number, true) => format!("≥{}", tokens(number)),
        (number, false) => tokens(number),
    }
}

/// Writes a number of tokens.
pub(crate) fn tokens(number: u64) -> String {
    grouped(usize::try_from(number).unwrap_or(usize::MAX))
}

/// Writes how long something took.
pub(super) fn duration(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        60_000.. => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1_000),
    }
}

/// Makes a stranger's text fit for one line.
pub(crate) fn one_line(text: &str) -> String {
    let spaced = plain(text, ' ');
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Cuts text to a number of columns, with an ellipsis where something is missing.
pub(crate) fn fit(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut cut = String::new();
    let mut columns = 1;
    for c in text.chars() {
        columns += c.width().unwrap_or(0);
        if columns > width {
            break;
        }
        cut.push(c);
    }
    cut.truncate(cut.trim_end().len());
    cut.push('…');
    cut
}
