//! How a command ended, in words and as data.

use crate::sandbox::{Cause, Ending, SandboxReport};
use serde_json::{Value, json};
use std::time::Duration;

/// Returns what the model is told below the output; nothing when all went well.
pub(crate) fn describe(ending: &Ending, age: Duration) -> Option<String> {
    let seconds = age.as_secs_f64();
    match ending.cause {
        Cause::Exited => match (ending.code, ending.signal) {
            (Some(0), _) => None,
            (Some(code), _) => Some(match code.checked_sub(128).and_then(signal_name) {
                Some(name) => format!("[exit code {code}, usually {name}]"),
                None => format!("[exit code {code}]"),
            }),
            (None, Some(signal)) => Some(match signal_name(signal) {
                Some(name) => format!("[killed by {name}]"),
                None => format!("[killed by signal {signal}]"),
            }),
            (None, None) => Some("[ended; the reason is unknown]".to_owned()),
        },
        Cause::TimedOut => Some(format!(
            "[timed out after {seconds:.1} s; the command and all its child processes were killed]"
        )),
        Cause::Stopped => Some(format!(
            "[stopped after {seconds:.1} s; the command and all its child processes were killed]"
        )),
        Cause::Limited => Some(format!(
            "[ended after {seconds:.1} s: {}; the command and all its child processes were killed]",
            ending.message.trim()
        )),
        Cause::NotStarted => Some(format!("[not started: {}]", ending.message.trim())),
        Cause::Lost => Some(format!("[lost: {}]", ending.message.trim())),
    }
}

/// Returns what people and programs see of a command that ended.
pub(crate) fn details(ending: &Ending, age: Duration, report: &SandboxReport) -> Value {
    json!({
        "status": if ending.cause == Cause::Exited { "completed" } else { "failed" },
        "cause": ending.cause,
        "exitCode": ending.code,
        "signal": ending.signal.map(|signal| signal_name(signal).map_or_else(|| signal.to_string(), str::to_owned)),
        "timedOut": ending.cause == Cause::TimedOut,
        "durationMs": u64::try_from(age.as_millis()).unwrap_or(u64::MAX),
        "sandbox": report,
    })
}

/// The signals that end processes, by the numbers that they have everywhere.
fn signal_name(signal: i32) -> Option<&'static str> {
    Some(match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        _ => return None,
    })
}
