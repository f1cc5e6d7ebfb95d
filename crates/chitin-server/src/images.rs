//! Pictures that a client sends.

use crate::error::{ApiError, short};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chitin_protocol::message::ImageBlock;

/// The kinds that models take.
const KINDS: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Takes a picture as `data:image/png;base64,…`. Nothing is fetched.
pub(crate) fn from_url(url: &str) -> Result<ImageBlock, ApiError> {
    let Some(rest) = url
        .get(..5)
        .filter(|scheme| scheme.eq_ignore_ascii_case("data:"))
    else {
        return Err(ApiError::bad("An image must be a `data:` URL.")
            .hint("This server does not fetch URLs: send the bytes in base 64."));
    };
    let rest = &url[rest.len()..];
    let Some((head, data)) = rest.split_once(',') else {
        return Err(ApiError::bad("The `data:` URL of an image has no data."));
    };
    let mut words = head.split(';').map(str::trim);
    let kind = words.next().unwrap_or_default();
    if !words.any(|word| word.eq_ignore_ascii_case("base64")) {
        return Err(ApiError::bad("An image must be in base 64."));
    }
    checked(kind, data)
}

/// Takes a picture of a kind that models take, in base 64.
pub(crate) fn checked(kind: &str, data: &str) -> Result<ImageBlock, ApiError> {
    let kind = kind.to_ascii_lowercase();
    let kind = if kind == "image/jpg" {
        "image/jpeg"
    } else {
        kind.as_str()
    };
    if !KINDS.contains(&kind) {
        let message = format!("`{}` is not a supported image type.", short(kind));
        return Err(ApiError::bad(message).hint(format!("Supported are {}.", KINDS.join(", "))));
    }
    if data.is_empty() || STANDARD.decode(data).is_err() {
        return Err(ApiError::bad("An image is not in base 64."));
    }
    Ok(ImageBlock {
        data: data.to_owned(),
        mime_type: kind.to_owned(),
        ..ImageBlock::default()
    })
}
