//! (being written)

use crate::error::CliError;
use crate::exit_code::Exit;
use crate::host::Host;
use crate::printer::Printer;

/// (being written)
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

impl Args {
    pub(crate) fn run(&self, host: &Host, printer: &Printer) -> Result<Exit, CliError> {
        let _ = host;
        printer.raw("")?;
        Ok(Exit::Success)
    }
}
