//! What people see and type while an agent works. Everything that a model says is a stranger's text: nothing of it is
//! obeyed by the terminal.

pub(crate) mod approval;
pub(crate) mod editor;
pub(crate) mod gate;
pub(crate) mod interrupt;
mod json;
pub(crate) mod markdown;
pub(crate) mod messages;
pub(crate) mod plain;
mod running;
pub(crate) mod screen;
mod sink;
pub(crate) mod slash;
pub(crate) mod surface;
pub(crate) mod tame;
mod thinking;
pub(crate) mod view;

#[cfg(test)]
mod screen_tests;

use crate::printer::Stream;
use chitin_runtime::Host;

/// Terminals that are wider than this do not make text better to read.
const WIDEST: usize = 120;

/// Returns how wide text may be: that of the terminal, within reason; nothing where there is no terminal.
pub(crate) fn width(host: &Host) -> Option<usize> {
    if !Stream::out_is_terminal() {
        return None;
    }
    let said = host.env.get("COLUMNS").and_then(|said| said.parse().ok());
    let said = said.or_else(|| {
        let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
        Some(usize::from(size.ws_col))
    });
    said.filter(|width| *width > 0)
        .map(|width: usize| width.min(WIDEST))
}
