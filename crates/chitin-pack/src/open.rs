//! An artifact as a workspace to look at, without unpacking it into anybody's directories.

use crate::error::{ErrorClass, PackError};
use crate::materialize::{self, Contents, LayoutOptions, UnpackPlan};
use chitin_contract::Contract;
use chitin_guard::{NewMode, Root, Scratch, WriteError};
use chitin_workspace::Workspace;
use chitin_workspace::load::{LoadOptions, load};
use std::path::Path;
use std::sync::Arc;

const PREFIX: &str = "artifact-";
/// How many artifacts one process may hold open at once.
const MAX_OPEN: u32 = 256;

/// A workspace that came out of an artifact. The private copy behind it is removed when this is dropped.
#[derive(Debug)]
pub struct OpenedWorkspace {
    /// What an agent boots from.
    pub workspace: Arc<Workspace>,
    /// What was laid out, with its warnings.
    pub plan: UnpackPlan,
    scratch: Scratch,
}

impl OpenedWorkspace {
    /// Returns the directory of the copy, for skills and other files that are read while it is open.
    pub fn path(&self) -> &Path {
        self.scratch.root().path()
    }
}

/// Lays an agent out in a private directory below `parent`, which belongs to Chitin's own state, and loads it.
pub fn open_workspace<'a>(
    contents: impl Into<Contents<'a>>,
    options: &LayoutOptions,
    parent: &Root,
    contract: &'static Contract,
    load_options: &LoadOptions,
) -> Result<OpenedWorkspace, PackError> {
    let contents = contents.into();
    let plan = materialize::plan(contents, options)?;
    let scratch = make(parent)?;
    for directory in plan.directories() {
        scratch.directory(Path::new(directory)).map_err(unwritten)?;
    }
    materialize::each_file(&plan, contents, |file, content| {
        let mode = if file.executable { 0o700 } else { 0o600 };
        let path = Path::new(&file.path);
        let mut out = scratch
            .begin(path, NewMode::Usual(mode))
            .map_err(unwritten)?;
        materialize::copy(file, content, &mut out)
    })?;
    let workspace = load(scratch.root().path(), contract, load_options).map_err(|error| {
        PackError::new(
            ErrorClass::Io,
            "the workspace in the artifact cannot be loaded",
        )
        .caused_by(error)
    })?;
    Ok(OpenedWorkspace {
        workspace,
        plan,
        scratch,
    })
}

fn make(parent: &Root) -> Result<Scratch, PackError> {
    let made = parent.scratch_of_process(PREFIX, MAX_OPEN);
    made.map_err(unwritten)?.ok_or_else(|| {
        let message = format!("more than {MAX_OPEN} artifacts are open at once");
        PackError::new(ErrorClass::Io, message)
    })
}

fn unwritten(error: WriteError) -> PackError {
    let message = "the artifact cannot be opened in Chitin's own directory";
    PackError::new(ErrorClass::Io, message).caused_by(error)
}
