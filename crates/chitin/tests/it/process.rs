//! The binary, run in an environment of its own.

use chitin_agent::journal;
use chitin_test::TestEnv;
use std::process::{Command, Output};

/// Prepares a run: nothing of the outer environment but the home of the test, whose default agent lives in its workspace.
pub(crate) fn command(env: &TestEnv, arguments: &[&str]) -> Command {
    let mut command = plain_command(env, arguments);
    command.env("CHITIN_WORKSPACE", env.workspace());
    command
}

/// Prepares a run on a machine where no agent has a directory.
pub(crate) fn plain_command(env: &TestEnv, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chitin"));
    command
        .args(arguments)
        .current_dir(env.path())
        .env_clear()
        .env("HOME", env.home())
        .env("TZ", "Europe/Oslo");
    command
}

/// Runs it to its end.
pub(crate) fn chitin(env: &TestEnv, arguments: &[&str]) -> Output {
    command(env, arguments).output().unwrap()
}

/// Exit code, stdout and stderr as one document.
pub(crate) fn transcript(env: &TestEnv, arguments: &[&str]) -> String {
    document(env, arguments, &chitin(env, arguments))
}

/// The same on a machine where no agent has a directory.
pub(crate) fn plain_transcript(env: &TestEnv, arguments: &[&str]) -> String {
    let output = plain_command(env, arguments).output().unwrap();
    document(env, arguments, &output)
}

fn document(env: &TestEnv, arguments: &[&str], output: &Output) -> String {
    let text = |bytes: &[u8]| env.redact(&String::from_utf8_lossy(bytes));
    format!(
        "$ chitin {}\n{}{}[exit {}]\n",
        arguments.join(" "),
        text(&output.stdout),
        text(&output.stderr),
        output.status.code().unwrap_or(-1)
    )
}

/// Returns what is in a file; of a recording of turns, what it stands for.
#[expect(
    clippy::disallowed_methods,
    reason = "a test looks at what was written"
)]
pub(crate) fn readable(path: &std::path::Path) -> String {
    let bytes = std::fs::read(path).unwrap();
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if journal::is_recording(&bytes) {
        let file = journal::read(path).unwrap();
        let events = file.events().map(|event| event.value.to_string());
        let bodies = file.requests().filter_map(|request| request.body);
        text.extend(events.chain(bodies));
    }
    text
}
