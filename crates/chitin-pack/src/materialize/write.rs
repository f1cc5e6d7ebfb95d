//! From a plan's names to bytes: every planned file once, streamed, checked against the plan.

use super::contents::Contents;
use super::plan::{PlannedContent, PlannedFile, UnpackPlan};
use crate::archive::broken;
use crate::digest::Hashing;
use crate::error::{ErrorClass, PackError};
use crate::layer::LayerKind;
use std::collections::HashMap;
use std::io::{self, Read, Write};

/// Shows every planned file with its content: documents first, then each archive in its order.
pub(crate) fn each_file<'p>(
    plan: &'p UnpackPlan,
    contents: Contents<'_>,
    mut visit: impl FnMut(&'p PlannedFile, &mut dyn Read) -> Result<(), PackError>,
) -> Result<(), PackError> {
    let mut archived: HashMap<(usize, LayerKind), HashMap<&str, &PlannedFile>> = HashMap::new();
    for file in &plan.files {
        match &file.content {
            PlannedContent::Made(bytes) => visit(file, &mut bytes.as_slice())?,
            PlannedContent::Archived {
                source,
                layer,
                path,
            } => {
                let of_layer = archived.entry((*source, *layer)).or_default();
                of_layer.insert(path, file);
            }
        }
    }
    for (source, artifact) in contents.sources.iter().enumerate() {
        for (kind, _) in artifact.layers() {
            let Some(wanted) = archived.get_mut(&(source, *kind)) else {
                continue;
            };
            artifact.files(*kind, kind.limit(), |entry, content| {
                match wanted.remove(entry.path.as_str()) {
                    Some(file) => visit(file, content),
                    None => Ok(()),
                }
            })?;
        }
    }
    match archived.values().find_map(|left| left.keys().next()) {
        Some(path) => Err(changed(path)),
        None => Ok(()),
    }
}

/// Copies a planned file and checks that it is the one that was planned.
pub(crate) fn copy(
    file: &PlannedFile,
    content: &mut dyn Read,
    out: &mut dyn Write,
) -> Result<(), PackError> {
    let mut hashing = Hashing::new(out);
    let mut buffer = [0; 16 * 1024];
    loop {
        let count = match content.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(broken(error)),
        };
        hashing
            .write_all(&buffer[..count])
            .map_err(|error| unwritten(&file.path, error))?;
    }
    let (_, digest, size) = hashing.finish();
    if (digest, size) == (file.digest, file.size) {
        Ok(())
    } else {
        Err(changed(&file.path))
    }
}

pub(crate) fn unwritten(path: &str, error: io::Error) -> PackError {
    let message = format!("`{}` cannot be written", path.escape_debug());
    PackError::new(ErrorClass::Io, message).caused_by(error)
}

fn changed(path: &str) -> PackError {
    let message = format!(
        "`{}` is not what it was when this was planned",
        path.escape_debug()
    );
    PackError::new(ErrorClass::DigestMismatch, message)
        .hint("the artifact was changed; get it again")
}
