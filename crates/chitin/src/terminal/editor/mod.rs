//! Where a user types: line editing at a terminal, plain lines elsewhere. Nothing is set up before the first line is wanted.

mod complete;
mod history;

#[cfg(test)]
mod editor_tests;

pub(crate) use complete::Known;

use crate::error::{CliError, FailureKind};
use crate::printer::{Printer, Weight};
use complete::{Completion, Lines, goes_on};
use reedline::{
    ColumnarMenu, EditCommand, Emacs, KeyCode, KeyModifiers, MenuBuilder, Prompt, PromptEditMode,
    PromptHistorySearch, PromptHistorySearchStatus, Reedline, ReedlineEvent, ReedlineMenu, Signal,
    default_emacs_keybindings,
};
use std::borrow::Cow;
use std::io::{self, BufRead, IsTerminal, Read as _};
use std::path::PathBuf;

/// The longest line that is taken when nobody edits it.
const LONGEST_LINE: u64 = 16 * 1024 * 1024;
/// The name that the editor's menu goes by.
const MENU: &str = "completion";

/// What a user did at the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Typed {
    /// Words, in one line or several.
    Words(String),
    /// The user wants to leave.
    Leave,
}

/// Reads what a user types.
pub(crate) struct Editor {
    history: Option<PathBuf>,
    known: Known,
    /// Made with the first line.
    keyboard: Option<Keyboard>,
}

/// Where lines come from.
enum Keyboard {
    Edited(Box<Reedline>),
    Lines,
}

impl Editor {
    /// Prepares an editor; `history` is the file that remembers lines, `known` what can be completed.
    pub(crate) fn new(history: Option<PathBuf>, known: impl Into<Known>) -> Self {
        Self {
            history,
            known: known.into(),
            keyboard: None,
        }
    }

    /// Reads what the user types next; blocks until it is there. Ctrl-C clears the line; twice, or Ctrl-D, it leaves.
    pub(crate) fn read(&mut self, prompt: &str, printer: &Printer) -> Result<Typed, CliError> {
        if self.keyboard.is_none() {
            self.keyboard = Some(self.keyboard(printer));
        }
        match &mut self.keyboard {
            Some(Keyboard::Edited(editor)) => edited(editor, prompt, printer),
            Some(Keyboard::Lines) | None => {
                let words = read_lines(&mut io::stdin().lock()).map_err(unreadable)?;
                Ok(words.map_or(Typed::Leave, Typed::Words))
            }
        }
    }

    fn keyboard(&self, printer: &Printer) -> Keyboard {
        if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
            return Keyboard::Lines;
        }
        let mut keys = default_emacs_keybindings();
        keys.add_binding(
            KeyModifiers::NONE,
            KeyCode::Tab,
            ReedlineEvent::UntilFound(vec![
                ReedlineEvent::Menu(MENU.to_owned()),
                ReedlineEvent::MenuNext,
            ]),
        );
        keys.add_binding(
            KeyModifiers::ALT,
            KeyCode::Enter,
            ReedlineEvent::Edit(vec![EditCommand::InsertNewline]),
        );
        let mut editor = Reedline::create()
            .use_bracketed_paste(true)
            .with_ansi_colors(printer.stream().err_paint().is_coloured())
            .with_edit_mode(Box::new(Emacs::new(keys)))
            .with_validator(Box::new(Lines))
            .with_completer(Box::new(Completion(self.known.clone())))
            .with_menu(ReedlineMenu::EngineCompleter(Box::new(
                ColumnarMenu::default().with_name(MENU),
            )))
            .with_quick_completions(true);
        if let Some(file) = &self.history {
            match history::open(file) {
                Ok(history) => editor = editor.with_history(Box::new(history)),
                Err(error) => {
                    printer.note(&format!(
                        "input history is not saved: `{}`: {error}",
                        file.display()
                    ));
                }
            }
        }
        Keyboard::Edited(Box::new(editor))
    }
}

fn edited(editor: &mut Reedline, prompt: &str, printer: &Printer) -> Result<Typed, CliError> {
    let mut pressed = false;
    loop {
        match editor.read_line(&Sign(prompt)) {
            Ok(Signal::Success(line)) => {
                // What was typed is remembered even when the process is killed later.
                let _ = editor.sync_history();
                return Ok(Typed::Words(joined(&line)));
            }
            Ok(Signal::CtrlC) if !pressed => {
                pressed = true;
                let hint = printer
                    .stream()
                    .err_paint()
                    .dim("press Ctrl-C again to quit");
                printer.stream().aside(&format!("{hint}\n"), Weight::Note);
            }
            Ok(Signal::CtrlC | Signal::CtrlD) => return Ok(Typed::Leave),
            Ok(_) => {}
            Err(error) => return Err(unreadable(error)),
        }
    }
}

/// Reads a line, and those that it goes on to; none at the end.
fn read_lines(input: &mut dyn BufRead) -> io::Result<Option<String>> {
    let mut text = String::new();
    loop {
        let mut bytes = Vec::new();
        let length = (&mut *input)
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut bytes)?;
        if length == 0 {
            let begun = text.strip_suffix('\n');
            return Ok(begun.map(joined));
        }
        text.push_str(&String::from_utf8_lossy(&bytes));
        let line = text.trim_end_matches(['\r', '\n']);
        if !goes_on(line) || text.len() as u64 > LONGEST_LINE {
            return Ok(Some(joined(line)));
        }
        text.truncate(line.len());
        text.push('\n');
    }
}

/// Takes away the backslashes that only said that a line goes on.
fn joined(text: &str) -> String {
    let lines: Vec<&str> = text.split('\n').collect();
    let last = lines.len() - 1;
    let lines = lines.iter().enumerate().map(|(at, line)| {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if at < last && goes_on(line) {
            &line[..line.len() - 1]
        } else {
            line
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn unreadable(error: io::Error) -> CliError {
    CliError::new(FailureKind::User, "Could not read the terminal.").caused_by(error)
}

/// The prompt.
struct Sign<'a>(&'a str);

impl Prompt for Sign<'_> {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0)
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_indicator(&self, _mode: PromptEditMode) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        Cow::Borrowed("· ")
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        let found = match search.status {
            PromptHistorySearchStatus::Passing => "earlier",
            PromptHistorySearchStatus::Failing => "not found",
        };
        Cow::Owned(format!("({found}: {}) ", search.term))
    }
}
