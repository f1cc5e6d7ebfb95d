//! The page for a browser.

use super::Args;
use super::compare::Other;
use crate::error::{CliError, Kind};
use crate::exit_code::Exit;
use crate::host::Host;
use crate::printer::Printer;
use crate::setup::Setup;
use crate::turn::Seen;
use std::path::Path;

pub(super) fn write(
    _args: &Args,
    _host: &Host,
    _setup: &Setup,
    _seen: &Seen,
    _other: Option<&Other>,
    _file: &Path,
    _printer: &Printer,
) -> Result<Exit, CliError> {
    Err(CliError::new(Kind::Internal, "The page is not there yet."))
}
