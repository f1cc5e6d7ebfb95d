//! Pictures that go with a message.

use crate::error::{CliError, FailureKind};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chitin_protocol::message::{Extra, ImageBlock};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The largest picture, in bytes.
const LARGEST: u64 = 20 * 1024 * 1024;

/// Reads the pictures that the user names.
pub(super) fn read(paths: &[PathBuf]) -> Result<Vec<ImageBlock>, CliError> {
    paths.iter().map(|path| one(path)).collect()
}

#[expect(
    clippy::disallowed_methods,
    reason = "the user names the file; it need not be in the workspace"
)]
fn one(path: &Path) -> Result<ImageBlock, CliError> {
    let unusable =
        |what: &str| CliError::new(FailureKind::User, format!("`{}` {what}.", path.display()));
    let file =
        std::fs::File::open(path).map_err(|error| unusable("cannot be read").caused_by(error))?;
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return Err(unusable("is no file"));
    }
    let mut bytes = Vec::new();
    file.take(LARGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| unusable("cannot be read").caused_by(error))?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > LARGEST) {
        return Err(unusable("is larger than 20 MiB"));
    }
    let mime_type = chitin_tools::files::picture(&bytes)
        .ok_or_else(|| unusable("is not a supported image").hint("use PNG, JPEG, GIF or WebP"))?;
    Ok(ImageBlock {
        data: STANDARD.encode(&bytes),
        mime_type: mime_type.to_owned(),
        extra: Extra::new(),
    })
}
