//! Pictures that go with a message.

use crate::error::{CliError, Kind};
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
    let unusable = |what: &str| CliError::new(Kind::User, format!("`{}` {what}.", path.display()));
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
    let mime_type = match bytes.as_slice() {
        [0x89, b'P', b'N', b'G', ..] => "image/png",
        [0xff, 0xd8, 0xff, ..] => "image/jpeg",
        [b'G', b'I', b'F', b'8', ..] => "image/gif",
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => "image/webp",
        _ => {
            return Err(
                unusable("is no picture that models take").hint("PNG, JPEG, GIF and WebP are")
            );
        }
    };
    Ok(ImageBlock {
        data: STANDARD.encode(&bytes),
        mime_type: mime_type.to_owned(),
        extra: Extra::new(),
    })
}
