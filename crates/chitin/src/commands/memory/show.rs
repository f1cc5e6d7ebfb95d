//! `chitin memory show`.

use super::Found;
use crate::args::TargetArgs;
use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
use crate::printer::{Paint, Printer, Render, tame};
use chitin_memory::read::{MemoryReadError, ReadWindow, Window};
use chitin_runtime::Host;
use serde::Serialize;
use std::fmt;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  chitin memory show MEMORY.md
  chitin memory show memory/2026-03-02.md:12-20
  chitin memory show memory/vendors.md:3 ./my-agent --json")]
pub(super) struct ShowArgs {
    /// A memory file, and lines of it: `memory/2026-03-02.md:12-20`.
    #[arg(value_name = "FILE[:LINES]")]
    place: String,

    #[command(flatten)]
    target: TargetArgs,
}

/// What the file says: exactly what the agent's tool `memory_get` gives.
#[derive(Debug, Serialize)]
struct Shown {
    #[serde(flatten)]
    window: ReadWindow,
}

pub(super) fn run(args: &ShowArgs, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
    let found = Found::new(host, &args.target.target(), printer)?;
    let (path, window) = place(&args.place);
    let window = found
        .with(|memory| memory.read(path, window))
        .map_err(|error| refused(path, &error))?;
    if window.from.is_none() {
        return Err(
            CliError::new(FailureKind::User, format!("There is no `{path}`."))
                .hint("`chitin memory search` finds files"),
        );
    }
    printer.result(&Shown { window })
}

/// Takes the lines off a path: `file:12`, `file:12-20`.
fn place(text: &str) -> (&str, Window) {
    let lines = text.rsplit_once(':').and_then(|(path, lines)| {
        let (from, to) = lines.split_once('-').unwrap_or((lines, lines));
        let from: usize = from.parse().ok()?;
        let to: usize = to.parse().ok()?;
        (from > 0 && to >= from).then_some((path, from, to))
    });
    match lines {
        None => (text, Window::default()),
        Some((path, from, to)) => (
            path,
            Window {
                from: Some(from),
                lines: Some(to - from + 1),
                max_chars: None,
            },
        ),
    }
}

fn refused(path: &str, error: &MemoryReadError) -> CliError {
    let kind = match error {
        MemoryReadError::NoPath => FailureKind::Usage,
        MemoryReadError::NotMemory(_) | MemoryReadError::NotAFile(_) => FailureKind::Refused,
        MemoryReadError::Unreadable(_) | MemoryReadError::TooLarge(_) => FailureKind::User,
    };
    let hint = if path.starts_with("sessions/") {
        "`chitin sessions show` shows a conversation"
    } else {
        "memory is `MEMORY.md`, `memory/**.md`, and what `memory.extraPaths` adds"
    };
    CliError::new(kind, format!("Could not show `{path}`: {error}")).hint(hint)
}

impl Render for Shown {
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result {
        let shown = self.window.lines.unwrap_or_default();
        let first = self.window.from.unwrap_or(1);
        // What stands after the lines is a notice.
        for (at, line) in self.window.text.split('\n').enumerate() {
            if at < shown {
                writeln!(
                    out,
                    "{} {}",
                    paint.dim(&format!("{:>5}", first + at)),
                    tame(line)
                )?;
            } else {
                writeln!(out, "{}", paint.dim(&tame(line)))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_taken_off_a_path_and_other_colons_are_not() {
        let lines = |text| {
            let (path, window) = place(text);
            (path.to_owned(), window.from, window.lines)
        };
        assert_eq!(lines("a.md"), ("a.md".to_owned(), None, None));
        assert_eq!(lines("a.md:3"), ("a.md".to_owned(), Some(3), Some(1)));
        assert_eq!(lines("a.md:3-9"), ("a.md".to_owned(), Some(3), Some(7)));
        assert_eq!(lines("a:b.md"), ("a:b.md".to_owned(), None, None));
        assert_eq!(lines("a.md:9-3"), ("a.md:9-3".to_owned(), None, None));
        assert_eq!(lines("a.md:0"), ("a.md:0".to_owned(), None, None));
    }
}
