//! Files that are carried out of a workspace and into it: what goes with a message, and what came with one.

use super::change::{created_parents, take_back_parents};
use super::media_type::{MediaType, SNIFFED, kind};
use super::roots::{FileOptions, Problem, Space, Surroundings};
use chitin_guard::{Oversized, ReadError, WriteOutcome};
use chitin_protocol::record::FileRefusal;
use std::path::{Component, Path};
use std::sync::Arc;

/// How many names are tried for a file whose own is taken.
const MOST_NAMES: u32 = 1_000;
/// The longest name of a file, in bytes.
const LONGEST_NAME: usize = 120;

/// What becomes of a file that stands where another is to be put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// It stays, and nothing is written.
    Refuse,
    /// It is replaced.
    Replace,
    /// It stays, and the other gets a name with a number.
    Number,
}

/// Reads a file of a workspace that is to leave it. Blocks. Nothing outside the workspace leaves this way, and nothing hidden: that
/// is where keys and other people's settings are.
///
/// # Errors
///
/// A sentence that says why it stays.
pub fn carry_out(
    workspace: &Path,
    around: &Surroundings,
    path: &str,
    max_bytes: u64,
) -> Result<Vec<u8>, String> {
    let options = Arc::new(FileOptions::default());
    let space = Space::open(workspace, &options, around).map_err(said)?;
    let place = space.place(path).map_err(said)?;
    if is_hidden(&place.relative) {
        return Err(format!("`{path}` is a hidden file, so it is not sent."));
    }
    let policy = place.policy(max_bytes, Oversized::Refuse);
    // Where links lead counts too.
    if let Ok(end) = place.root.walk(&place.relative, place.links())
        && let Ok(inside) = end.path.strip_prefix(place.root.real_path())
        && is_hidden(inside)
    {
        return Err(format!(
            "`{path}` is a link to a hidden file, so it is not sent."
        ));
    }
    match place.root.read(&place.relative, &policy) {
        Ok(read) => Ok(read.bytes),
        Err(ReadError::Refused {
            reason: FileRefusal::TooLarge,
            ..
        }) => Err(format!(
            "`{path}` is too large to send: the limit is {max_bytes} bytes."
        )),
        Err(error) => Err(said(place.problem(error))),
    }
}

/// Writes a file that came from elsewhere into a workspace, where `may` allows it: it is asked about the path beneath the workspace that
/// would be written, behind all links. Blocks. Returns where the file is.
///
/// # Errors
///
/// A sentence that says why it was not written.
pub fn carry_in(
    workspace: &Path,
    around: &Surroundings,
    path: &str,
    bytes: &[u8],
    taken: Taken,
    may: impl Fn(&Path) -> bool,
) -> Result<String, String> {
    let options = Arc::new(FileOptions::default());
    let space = Space::open(workspace, &options, around).map_err(said)?;
    for number in 1..=MOST_NAMES {
        let path = match number {
            1 => path.to_owned(),
            _ => numbered(path, number),
        };
        let place = space.place(&path).map_err(said)?;
        let settled = place.settle().map_err(said)?;
        settled.check_writable().map_err(said)?;
        if is_hidden(&settled.relative) || !may(&settled.relative) {
            return Err(format!(
                "Attachments cannot be saved as `{path}`. Use another `path`."
            ));
        }
        let parents = created_parents(&settled).map_err(said)?;
        let written = match taken {
            Taken::Replace => settled
                .root
                .replace(&settled.relative, bytes)
                .map(|()| WriteOutcome::Created),
            Taken::Refuse | Taken::Number => settled.root.write_new(&settled.relative, bytes),
        };
        match (written, taken) {
            (Ok(WriteOutcome::Created), _) => return Ok(path),
            (Ok(WriteOutcome::AlreadyThere), Taken::Number) => {}
            (Ok(WriteOutcome::AlreadyThere), Taken::Refuse | Taken::Replace) => {
                return Err(format!(
                    "`{path}` already exists. Use another `path`, or set `overwrite`."
                ));
            }
            (Err(error), _) => {
                take_back_parents(&settled, &parents);
                return Err(said(settled.problem(error)));
            }
        }
    }
    Err(format!("There are too many files named like `{path}`."))
}

/// Makes a name that a file can have anywhere: no directory, nothing hidden, nothing that cannot be seen, not too long.
pub fn safe_name(name: &str) -> String {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let seen = |c: char| !c.is_control() && !matches!(c, ':' | '*' | '?' | '"' | '<' | '>' | '|');
    let kept: String = name.chars().filter(|c| seen(*c)).collect();
    let kept = kept.trim().trim_matches('.').trim();
    let (stem, ending) = match kept.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() && ending.len() <= 16 => (stem, Some(ending)),
        _ => (kept, None),
    };
    let room = LONGEST_NAME - ending.map_or(0, |ending| ending.len() + 1);
    // A cut may leave a blank or a dot at the end, which some systems drop.
    let stem = stem[..stem.floor_char_boundary(room)].trim_end_matches([' ', '.']);
    match (stem, ending) {
        ("", _) => "file".to_owned(),
        (stem, Some(ending)) => format!("{stem}.{ending}"),
        (stem, None) => stem.to_owned(),
    }
}

/// Returns the MIME type of a file: by its first bytes where these say it, else by the end of its name.
pub fn media_type(name: &str, bytes: &[u8]) -> &'static str {
    let head = &bytes[..bytes.len().min(SNIFFED)];
    let found = kind(head);
    if let MediaType::Image(media_type) = found {
        return media_type;
    }
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let by_name = match ending.to_ascii_lowercase().as_str() {
        "csv" => "text/csv",
        "css" => "text/css",
        "gz" | "tgz" => "application/gzip",
        "htm" | "html" => "text/html",
        "json" => "application/json",
        "md" | "markdown" => "text/markdown",
        "mp3" => "audio/mpeg",
        "mp4" => "video/mp4",
        "ogg" => "audio/ogg",
        "pdf" => "application/pdf",
        "svg" => "image/svg+xml",
        "wav" => "audio/wav",
        "webm" => "video/webm",
        "xml" => "application/xml",
        "yaml" | "yml" => "application/yaml",
        "zip" => "application/zip",
        _ if found == MediaType::Text => "text/plain",
        _ => "application/octet-stream",
    };
    // What is not text does not become text by its name.
    if by_name.starts_with("text/") && found != MediaType::Text {
        "application/octet-stream"
    } else {
        by_name
    }
}

/// Puts a problem into words. Further roots do not count here.
fn said(problem: Problem) -> String {
    match problem {
        Problem::Outside { path, .. } => {
            format!(
                "`{path}` is outside the workspace. Only files in the workspace can be attached to messages."
            )
        }
        problem => problem.to_string(),
    }
}

fn is_hidden(path: &Path) -> bool {
    path.components().any(|component| {
        matches!(component, Component::Normal(name) if name.as_encoded_bytes().starts_with(b"."))
    })
}

fn numbered(path: &str, number: u32) -> String {
    let name = path.rfind('/').map_or(0, |at| at + 1);
    match path[name..].rfind('.').filter(|at| *at > 0) {
        Some(dot) => {
            let (stem, ending) = path.split_at(name + dot);
            format!("{stem}-{number}{ending}")
        }
        None => format!("{path}-{number}"),
    }
}
