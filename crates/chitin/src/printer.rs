//! The one place that writes to the terminal: results to stdout, notes and errors to stderr.

mod escapes;

use crate::error::{CliError, FailureKind};
use crate::exit_code::Exit;
pub(crate) use chitin_runtime::display::{grouped, plain, plain_char};

use chitin_runtime::{Notes, without_numbers};
use chitin_tools::redact::Redactor;
use clap::Args;
use escapes::{Styles, harmless, harmless_json};
use serde::Serialize;
use std::error::Error;
use std::fmt;
use std::io::{self, IsTerminal, Write};

/// How many things of an error are listed for a person.
const MOST_ITEMS: usize = 30;

/// How results are shown.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct OutputArgs {
    /// Print the result as JSON.
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Print less: once hides notes, twice hides everything but the exit code.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) quiet: u8,
}

/// Whether secrets are taken out of a result before it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Secrets {
    /// They are.
    #[default]
    Redacted,
    /// They are on a terminal. Exact bytes are what the result is for, so a pipe or a file gets them.
    ExactInPipes,
    /// The user wants to see them.
    Shown,
}

/// The switch for results that exist for their exact bytes.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct ShowSecrets {
    /// Show secrets on a terminal too, in output that is exact in a pipe.
    #[arg(long)]
    show_secrets: bool,
}

impl ShowSecrets {
    /// What becomes of secrets in exact output.
    pub(crate) const fn of_exact(self) -> Secrets {
        if self.show_secrets {
            Secrets::Shown
        } else {
            Secrets::ExactInPipes
        }
    }
}

impl Secrets {
    fn are_redacted(self) -> bool {
        match self {
            Self::Redacted => true,
            Self::ExactInPipes => io::stdout().is_terminal(),
            Self::Shown => false,
        }
    }
}

/// A result that can be shown to a person and to a program.
pub(crate) trait Render: Serialize {
    /// Says what becomes of secrets in it.
    fn secrets(&self) -> Secrets {
        Secrets::Redacted
    }

    /// Writes the result for a person.
    fn text(&self, out: &mut dyn fmt::Write, paint: Paint) -> fmt::Result;

    /// Says whether the text is that of files, to the byte. Then not even colours in it are the program's own.
    fn is_verbatim(&self) -> bool {
        false
    }

    /// Says how the process ends when this is the result.
    fn exit(&self) -> Exit {
        Exit::Success
    }
}

/// Colours, or none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paint {
    colour: bool,
}

impl Paint {
    /// Returns paint with or without colours, whatever the terminal is.
    pub(crate) const fn forced(colour: bool) -> Self {
        Self { colour }
    }

    /// Says whether there are colours.
    pub(crate) const fn is_coloured(self) -> bool {
        self.colour
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.colour {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }

    /// Something that leads the eye.
    pub(crate) fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    /// Something that may be passed over.
    pub(crate) fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }

    /// Something good.
    pub(crate) fn good(self, text: &str) -> String {
        self.wrap("32", text)
    }

    /// Something to look at.
    pub(crate) fn warn(self, text: &str) -> String {
        self.wrap("33", text)
    }

    /// Something bad.
    pub(crate) fn bad(self, text: &str) -> String {
        self.wrap("31", text)
    }
}

/// Knows where output goes and in which form.
#[derive(Debug, Clone)]
pub(crate) struct Printer {
    json: bool,
    quiet: u8,
    out: Paint,
    err: Paint,
    secrets: Redactor,
}

impl Printer {
    pub(crate) fn new(args: OutputArgs, secrets: &Redactor) -> Self {
        Self {
            secrets: secrets.clone(),
            json: args.json,
            quiet: args.quiet,
            out: Paint {
                colour: colours(io::stdout().is_terminal()),
            },
            err: Paint {
                colour: colours(io::stderr().is_terminal()),
            },
        }
    }

    /// Returns where the runtime tells its notes.
    pub(crate) fn notes(&self) -> Notes {
        let printer = self.clone();
        Notes::to(move |text| printer.note(text))
    }

    /// Returns a way to show something piece by piece, while it happens.
    pub(crate) fn stream(&self) -> Stream {
        Stream {
            quiet: self.quiet,
            out: self.out,
            err: self.err,
        }
    }

    /// Says whether the user wants JSON.
    pub(crate) const fn is_json(&self) -> bool {
        self.json
    }

    /// Lets something write bytes as they are: what is copied out of a file must come out as it is in there. Only a terminal gets
    /// neither secrets nor what it would obey.
    pub(crate) fn write_with(
        &self,
        write: impl FnOnce(&mut dyn Write) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        if self.quiet < 2 {
            let mut stdout = io::stdout().lock();
            if stdout.is_terminal() {
                let mut bytes = Vec::new();
                write(&mut bytes)?;
                let text = self.secrets.redact(&String::from_utf8_lossy(&bytes));
                stdout.write_all(harmless(&text, Styles::None).as_bytes())?;
            } else {
                write(&mut stdout)?;
            }
            stdout.flush()?;
        }
        Ok(())
    }

    /// Shows a result and returns the exit code that it asks for.
    pub(crate) fn result<R: Render>(&self, result: &R) -> Result<Exit, CliError> {
        if self.quiet < 2 {
            let mut text = String::new();
            let redacted = result.secrets().are_redacted();
            if self.json {
                let unwritable = |error| {
                    CliError::new(FailureKind::Internal, "Could not write the result as JSON.")
                        .caused_by(error)
                };
                let mut value = serde_json::to_value(result).map_err(unwritable)?;
                if redacted {
                    self.secrets.redact_value(&mut value);
                }
                text = serde_json::to_string_pretty(&value).map_err(unwritable)?;
                text.push('\n');
            } else {
                let _ = result.text(&mut text, self.out);
                if redacted {
                    text = redact_painted(&text, &self.secrets);
                }
            }
            let mut stdout = io::stdout().lock();
            if stdout.is_terminal() {
                let styles = if result.is_verbatim() || !self.out.is_coloured() {
                    Styles::None
                } else {
                    Styles::Kept
                };
                text = if self.json {
                    harmless_json(&text)
                } else {
                    harmless(&text, styles)
                };
            }
            stdout.write_all(text.as_bytes())?;
            stdout.flush()?;
        }
        Ok(result.exit())
    }

    /// Clears a terminal before a result that replaces the last one; elsewhere results follow each other.
    pub(crate) fn begin_screen(&self) -> Result<(), CliError> {
        if !self.json && self.quiet < 2 && io::stdout().is_terminal() {
            let mut stdout = io::stdout().lock();
            stdout.write_all(b"\x1b[H\x1b[2J\x1b[3J")?;
            stdout.flush()?;
        }
        Ok(())
    }

    /// Tells the user something that is not a result.
    pub(crate) fn note(&self, text: &str) {
        if self.quiet == 0 {
            let text = tame(&self.secrets.redact(text));
            let _ = writeln!(io::stderr().lock(), "{}", self.err.dim(&text));
        }
    }

    /// Shows an error with its causes and hints.
    pub(crate) fn error(&self, error: &CliError) {
        if self.quiet >= 2 {
            return;
        }
        let mut stderr = io::stderr().lock();
        if self.json {
            let causes = std::iter::successors(error.source(), |cause| (*cause).source());
            let causes: Vec<String> = causes
                .map(|cause| without_numbers(&cause.to_string()))
                .collect();
            let mut object = serde_json::json!({
                "error": { "message": without_numbers(&error.to_string()), "causes": causes, "hints": error.hints() }
            });
            if let Some(class) = error.class() {
                object["error"]["class"] = class.into();
                object["error"]["about"] = error.items().into();
            }
            self.secrets.redact_value(&mut object);
            let _ = writeln!(stderr, "{object}");
            return;
        }
        let tame = |text: &str| tame(&self.secrets.redact(text));
        let message = tame(&without_numbers(&error.to_string()));
        let _ = writeln!(stderr, "{} {message}", self.err.bad("error:"));
        for item in error.items().iter().take(MOST_ITEMS) {
            let _ = writeln!(stderr, "  {}", tame(item));
        }
        if error.items().len() > MOST_ITEMS {
            let more = error.items().len() - MOST_ITEMS;
            let _ = writeln!(stderr, "  and {more} more; `--json` lists them all");
        }
        let mut said = error.to_string();
        for cause in std::iter::successors(error.source(), |cause| (*cause).source()) {
            let below = without_numbers(&cause.to_string());
            // Some errors repeat the one that they wrap.
            if below.trim_end_matches('.') != said.trim_end_matches('.') {
                let _ = writeln!(stderr, "  caused by: {}", tame(&below));
            }
            said = below;
        }
        for hint in error.hints() {
            let _ = writeln!(stderr, "{} {}", self.err.good("hint:"), tame(hint));
        }
    }
}

/// Shows something piece by piece. Every piece is out before the next one is made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stream {
    quiet: u8,
    out: Paint,
    err: Paint,
}

/// How much a piece beside the result matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    /// It may be left out.
    Note,
    /// It says what went wrong.
    Error,
}

impl Stream {
    /// Returns the colours of results.
    pub(crate) const fn out_paint(self) -> Paint {
        self.out
    }

    /// Returns the colours of everything else.
    pub(crate) const fn err_paint(self) -> Paint {
        self.err
    }

    /// Says whether results go to a terminal.
    pub(crate) fn out_is_terminal() -> bool {
        io::stdout().is_terminal()
    }

    /// Says whether everything else goes to a terminal that may be drawn on.
    pub(crate) fn may_draw(self) -> bool {
        self.quiet == 0 && io::stderr().is_terminal()
    }

    /// Writes a piece of the result.
    pub(crate) fn out(self, text: &str) -> io::Result<()> {
        if self.quiet < 2 && !text.is_empty() {
            let mut stdout = io::stdout().lock();
            stdout.write_all(text.as_bytes())?;
            stdout.flush()?;
        }
        Ok(())
    }

    /// Writes a piece that is no result. It is fit for a terminal already.
    pub(crate) fn aside(self, text: &str, weight: Weight) {
        let least = match weight {
            Weight::Note => 1,
            Weight::Error => 2,
        };
        if self.quiet < least && !text.is_empty() {
            let mut stderr = io::stderr().lock();
            let _ = stderr.write_all(text.as_bytes());
            let _ = stderr.flush();
        }
    }
}

/// Takes secrets out of a text with colours in it: a colour before a key must not hide where the key begins.
fn redact_painted(text: &str, secrets: &Redactor) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\u{1b}[") {
        let end = rest[at..].find('m').map_or(rest.len(), |end| at + end + 1);
        shown.push_str(&secrets.redact(&rest[..at]));
        shown.push_str(&rest[at..end]);
        rest = &rest[end..];
    }
    shown.push_str(&secrets.redact(rest));
    shown
}

#[expect(
    clippy::disallowed_methods,
    reason = "the printer obeys the user's colour variables"
)]
fn colours(terminal: bool) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if set("NO_COLOR") {
        return false;
    }
    set("CLICOLOR_FORCE") || terminal
}

/// Makes a message fit for a terminal: whatever its parts came from, only line ends are obeyed.
pub(crate) fn tame(text: &str) -> String {
    let lines: Vec<String> = text
        .split('\n')
        .map(|line| plain(line, '\u{fffd}'))
        .collect();
    lines.join("\n")
}
