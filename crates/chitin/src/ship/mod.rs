//! What the commands that ship agents share: arguments for the network and for trust, files that the user names, progress. Artifacts are found
//! by `chitin-registry`.

mod find;
mod network;
mod packages;
mod progress;
mod trust;

pub(crate) use find::{Finder, RefreshArgs};
pub(crate) use network::{NetworkArgs, place, read_file, until_interrupted};
pub(crate) use packages::{resolved, with_packages};
pub(crate) use progress::{Bar, Moved};
pub(crate) use trust::TrustArgs;

pub(crate) use crate::commands::{count, size};

use crate::error::{CliError, FailureKind};
use crate::printer::Printer;
use chitin_pack::layer::LayerKind;
use chitin_pack::store::Store;
use chitin_pack::{Digest, PackWarning};
use chitin_runtime::Host;
use chitin_runtime::chitin_home;
use std::path::PathBuf;
use std::sync::Arc;

/// Returns the directory that holds what Chitin itself remembers.
pub(crate) fn state(host: &Host) -> Result<PathBuf, CliError> {
    chitin_home(host).ok_or_else(|| {
        CliError::new(
            FailureKind::User,
            "Could not determine where to store artifacts.",
        )
        .hint("set `CHITIN_HOME` or `HOME`")
    })
}

/// Opens the store, and makes it if it is not there.
pub(crate) fn store(host: &Host) -> Result<Arc<Store>, CliError> {
    let directory = Store::directory_of(&state(host)?);
    Ok(Arc::new(Store::create(&directory)?))
}

/// Shortens a digest for people.
pub(crate) fn short(digest: &Digest) -> String {
    format!("sha256:{}", &digest.hex()[..12])
}

/// Tells the user what they may want to know. With `--json` the result holds the warnings.
pub(crate) fn warn(printer: &Printer, warnings: &[PackWarning]) {
    if !printer.is_json() {
        for warning in warnings {
            printer.note(&format!("warning: {} ({})", warning.message, warning.code));
        }
    }
}

/// Returns what the author knows a file of a layer by: surfaces stand for files of the workspace.
pub(crate) fn known_as(layer: Option<LayerKind>, path: &str) -> String {
    match layer {
        Some(kind @ (LayerKind::Surfaces | LayerKind::AgentsSkills)) => {
            match kind.workspace_path(path) {
                Some(file) => format!("{path} ({file})"),
                None => path.to_owned(),
            }
        }
        Some(_) | None => path.to_owned(),
    }
}
