//! Contracts by name.

use crate::display::plain;
use crate::error::{ErrorKind, RuntimeError};
use chitin_contract::Contract;
use chitin_protocol::nearest::nearest;

/// Finds a built-in contract that the user typed, or says which there are.
pub fn find(name: &str) -> Result<&'static Contract, RuntimeError> {
    find_named_by(name, ErrorKind::Usage)
}

/// Finds a built-in contract; the kind of the error says who named it.
pub(crate) fn find_named_by(
    name: &str,
    kind: ErrorKind,
) -> Result<&'static Contract, RuntimeError> {
    chitin_contract::by_name(name).ok_or_else(|| {
        let names: Vec<&str> = chitin_contract::ALL.iter().map(|c| c.name).collect();
        let shown = plain(name, '\u{fffd}');
        let error = RuntimeError::new(kind, format!("There is no contract called `{shown}`."));
        let error = match nearest(name, names.iter().copied()) {
            Some(near) => error.hint(format!("did you mean `{near}`?")),
            None => error,
        };
        error.hint(format!("the built-in ones are `{}`", names.join("`, `")))
    })
}
