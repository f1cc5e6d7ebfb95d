//! The page: a few files that are part of the program. Nothing is read from the disk, and nobody has to log in to get them: there
//! is nothing secret in them.

mod files;

use crate::body::Body;
use bytes::Bytes;
use files::{FILES, File};
use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG,
    HeaderValue, IF_NONE_MATCH, REFERRER_POLICY, VARY,
};
use hyper::{HeaderMap, Response, StatusCode};
use sha2::{Digest, Sha256};
use std::io::Write;
use std::sync::OnceLock;

/// What the page may do: only what comes from here, no scripts or styles inside the document, in no frame of others.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The page.
pub(crate) struct Page {
    ready: Vec<OnceLock<Ready>>,
}

/// What is made of a file once, when it is first asked for.
struct Ready {
    tag: HeaderValue,
    gzip: Bytes,
}

impl Page {
    pub(crate) fn new() -> Self {
        Self {
            ready: FILES.iter().map(|_| OnceLock::new()).collect(),
        }
    }

    /// Tells which file has a path.
    pub(crate) fn find(path: &str) -> Option<usize> {
        FILES.iter().position(|file| file.path == path)
    }

    /// Answers with a file.
    pub(crate) fn answer(&self, at: usize, headers: &HeaderMap) -> Response<Body> {
        let (Some(file), Some(ready)) = (FILES.get(at), self.ready.get(at)) else {
            return not_found();
        };
        let ready = ready.get_or_init(|| Ready::of(file));
        let mut response = Response::new(Body::Whole(None));
        let fresh = listed(headers, &IF_NONE_MATCH)
            .any(|tag| tag == "*" || ready.tag == tag.trim_start_matches("W/").as_bytes());
        let zipped = takes_gzip(headers);
        let fields = response.headers_mut();
        if !fresh {
            fields.insert(CONTENT_TYPE, HeaderValue::from_static(kind(file.path)));
            if zipped {
                fields.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            }
        }
        fields.insert(ETAG, ready.tag.clone());
        fields.insert(VARY, HeaderValue::from_static("accept-encoding"));
        // Asked for again each time, and nearly always answered with "as before".
        fields.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        fields.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
        fields.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        fields.insert(
            "cross-origin-opener-policy",
            HeaderValue::from_static("same-origin"),
        );
        if fresh {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        } else if zipped {
            *response.body_mut() = Body::whole(ready.gzip.clone());
        } else {
            *response.body_mut() = Body::whole(Bytes::from_static(file.bytes));
        }
        response
    }
}

impl Ready {
    fn of(file: &File) -> Self {
        let digest = Sha256::digest(file.bytes);
        let name = hex::encode(&digest[..16]);
        let tag = HeaderValue::try_from(format!("\"{name}\""));
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        let gzip = encoder
            .write_all(file.bytes)
            .and_then(|()| encoder.finish());
        Self {
            tag: tag.unwrap_or_else(|_| HeaderValue::from_static("\"0\"")),
            // Writing to memory does not fail.
            gzip: gzip.unwrap_or_default().into(),
        }
    }
}

fn not_found() -> Response<Body> {
    let mut response = Response::new(Body::Whole(None));
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

/// Returns the items of a header that is a list.
fn listed<'a>(
    headers: &'a HeaderMap,
    name: &hyper::header::HeaderName,
) -> impl Iterator<Item = &'a str> {
    let values = headers.get_all(name).into_iter();
    values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
}

/// Tells whether a client takes gzip.
pub(crate) fn takes_gzip(headers: &HeaderMap) -> bool {
    listed(headers, &ACCEPT_ENCODING).any(is_gzip)
}

fn is_gzip(item: &str) -> bool {
    let (name, weight) = item.split_once(';').unwrap_or((item, ""));
    let refused = weight.trim().trim_start_matches("q=").parse() == Ok(0.0);
    (name.trim().eq_ignore_ascii_case("gzip") || name.trim() == "*") && !refused
}

fn kind(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, end)| end) {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("json" | "webmanifest") => "application/json",
        Some("woff2") => "font/woff2",
        _ => "text/html; charset=utf-8",
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "looks at the built files")]

    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn every_built_file_is_in_the_program_and_no_other() {
        let dist = Path::new(env!("CARGO_MANIFEST_DIR")).join("page/dist");
        let names = |directory: &Path, before: &str| -> BTreeSet<String> {
            let entries = std::fs::read_dir(directory).unwrap().map(Result::unwrap);
            let files = entries.filter(|entry| entry.file_type().unwrap().is_file());
            let name = |entry: std::fs::DirEntry| entry.file_name().into_string().unwrap();
            files
                .map(|entry| format!("{before}{}", name(entry)))
                .collect()
        };
        let mut built = names(&dist, "/");
        assert!(built.remove("/index.html"), "the page has a document");
        built.insert("/".to_owned());
        built.extend(names(&dist.join("assets"), "/assets/"));
        let kept: BTreeSet<String> = FILES.iter().map(|file| file.path.to_owned()).collect();
        assert_eq!(
            kept, built,
            "`src/page/files.rs` lists other files than were built"
        );
    }
}
