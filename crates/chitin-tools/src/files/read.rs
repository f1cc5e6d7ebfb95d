//! `read`: a text in pieces, or a picture.

use super::media_type::{MediaType, SNIFFED, kind};
use super::roots::{FileOptions, Problem, RootedPath};
use super::task::with_space;
use crate::output::{Controls, clean};
use crate::schema::spec_on_file;
use crate::tool::{CallContext, ToolConcurrency, ToolOutcome, TypedTool};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chitin_guard::{Oversized, Reader};
use chitin_protocol::message::{Block, ImageBlock};
use chitin_protocol::tool::ToolSpec;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Room for the note at the end.
const NOTE_BYTES: usize = 256;

/// So much of a file is looked through to count its lines.
const MOST_COUNTED: u64 = 256 * 1024 * 1024;

crate::schema_on_file!(Arguments, "read.json");

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// The file, relative to the workspace or absolute.
    #[serde(alias = "file_path")]
    path: String,
    /// The first line to show, counted from 1.
    #[serde(default)]
    offset: Option<u64>,
    /// How many lines to show at most.
    #[serde(default)]
    limit: Option<u64>,
}

/// Reads a file.
#[derive(Debug)]
pub struct ReadTool {
    spec: ToolSpec,
    options: Arc<FileOptions>,
}

impl ReadTool {
    /// Makes the tool.
    pub fn new(options: Arc<FileOptions>) -> Self {
        let description = format!(
            "Reads a text file or an image (PNG, JPEG, GIF, WebP). Returns up to {} lines at a time; a note at \
         the end gives the `offset` to continue with.",
            options.read_lines
        );
        Self {
            spec: spec_on_file("read", &description, PARAMETERS),
            options,
        }
    }
}

impl TypedTool for ReadTool {
    type Arguments = Arguments;
    const CONCURRENCY: ToolConcurrency = ToolConcurrency::Shared;

    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn run(
        &self,
        asked: Arguments,
        context: &CallContext<'_>,
    ) -> Result<ToolOutcome, String> {
        let max_bytes = context.max_output_bytes;
        with_space(context, &self.options, move |space, cancel| {
            let place = space.place(&asked.path)?;
            read(&place, &asked, &space.options, max_bytes, cancel)
        })
        .await
    }
}

fn read(
    place: &RootedPath<'_>,
    asked: &Arguments,
    options: &FileOptions,
    max_bytes: usize,
    cancel: &CancellationToken,
) -> Result<ToolOutcome, Problem> {
    let policy = place.policy(u64::MAX, Oversized::Keep);
    let reader = match place.root.open_reader(&place.relative, &policy) {
        Ok(reader) => reader,
        Err(error) => {
            return Err(match place.problem(error) {
                Problem::Directory { path } => Problem::Other(format!(
                    "`{path}` is a directory.{} Use the directory listing tool to see more.",
                    first_names(place)
                )),
                problem => problem,
            });
        }
    };
    place.shows(&place.relative, &place.shown);
    let size = reader.fingerprint.size;
    let failed = |source| Problem::Read {
        path: asked.path.clone(),
        source,
    };
    let mut reader = BufReader::with_capacity(64 * 1024, reader);
    let head = fill(&mut reader).map_err(failed)?;
    match kind(&head) {
        MediaType::Text => text(&mut reader, &head, asked, options, max_bytes, cancel)
            .map_err(failed)?
            .map_err(Problem::Other),
        MediaType::Image(media_type) => image(reader, head, media_type, size, options, &asked.path),
        MediaType::Binary(what) => Err(Problem::Other(format!(
            "`{}` is not text: it is {what}, {size} bytes.",
            asked.path
        ))),
    }
}

/// Reads the beginning that tells what a file is.
fn fill(reader: &mut BufReader<Reader>) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::new();
    reader.take(SNIFFED as u64).read_to_end(&mut head)?;
    Ok(head)
}

fn first_names(place: &RootedPath<'_>) -> String {
    let Ok(mut entries) = place.root.list(&place.relative, place.links(), 1000) else {
        return String::new();
    };
    entries.sort();
    let shown = entries.iter().take(20);
    let paths: Vec<PathBuf> = shown.clone().map(|entry| (&entry.name).into()).collect();
    place.shows_names(&paths);
    let names: Vec<String> = shown
        .map(|entry| format!("`{}`", clean(entry.name.as_encoded_bytes(), Controls::Show)))
        .collect();
    match (names.is_empty(), entries.len() > names.len()) {
        (true, _) => " It is empty.".to_owned(),
        (false, false) => format!(" It holds {}.", names.join(", ")),
        (false, true) => format!(
            " It holds {} and {} more.",
            names.join(", "),
            entries.len() - names.len()
        ),
    }
}

fn image(
    mut reader: BufReader<Reader>,
    head: Vec<u8>,
    media_type: &str,
    size: u64,
    options: &FileOptions,
    path: &str,
) -> Result<ToolOutcome, Problem> {
    let max = options.max_image_bytes;
    if size > max {
        return Err(Problem::Other(format!(
            "`{path}` is too large: the image has {size} bytes, and the limit is {max}. Make it smaller first."
        )));
    }
    let mut bytes = head;
    // Somebody may be writing to it: the bound holds whatever its size was.
    let rest = (max + 1).saturating_sub(bytes.len() as u64);
    (&mut reader)
        .take(rest)
        .read_to_end(&mut bytes)
        .map_err(|source| Problem::Read {
            path: path.to_owned(),
            source,
        })?;
    if bytes.len() as u64 > max {
        return Err(Problem::Other(format!("`{path}` grew while it was read.")));
    }
    let mut outcome = ToolOutcome::text(format!("`{path}`: {media_type}, {} bytes.", bytes.len()));
    outcome.content.push(Block::Image(ImageBlock {
        data: STANDARD.encode(&bytes),
        mime_type: media_type.to_owned(),
        ..ImageBlock::default()
    }));
    Ok(outcome.with_details(json!({"path": path, "mimeType": media_type, "size": bytes.len()})))
}

/// What was seen of a text.
#[derive(Debug, Default)]
struct Seen {
    /// Lines that were begun.
    lines: u64,
    /// The bytes that are shown.
    shown: Vec<u8>,
    /// The last line that is shown whole or in part.
    last: u64,
    /// Set when the last line is shown only in part: how long it is.
    cut_line: Option<u64>,
    /// Whether the end of the file was seen.
    at_end: bool,
}

fn text(
    reader: &mut BufReader<Reader>,
    head: &[u8],
    asked: &Arguments,
    options: &FileOptions,
    max_bytes: usize,
    cancel: &CancellationToken,
) -> std::io::Result<Result<ToolOutcome, String>> {
    let first = asked.offset.unwrap_or(1).max(1);
    let limit = asked
        .limit
        .unwrap_or(u64::MAX)
        .clamp(1, options.read_lines.max(1) as u64);
    let room = max_bytes.saturating_sub(NOTE_BYTES);
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let mut source = BufReader::new(head.chain(reader));
    let seen = look(&mut source, first, limit, room, cancel)?;
    let path = &asked.path;
    if seen.lines == 0 {
        return Ok(Ok(ToolOutcome::text(format!("`{path}` is empty."))));
    }
    if seen.last == 0 {
        return Ok(Err(format!(
            "`{path}` has only {} lines; there is no line {first}.",
            seen.lines
        )));
    }
    let mut text = clean(&seen.shown, Controls::Show);
    // Control characters become longer when they are shown.
    let mut cut = text.len().min(room);
    while !text.is_char_boundary(cut) {
        cut -= 1;
    }
    let escaped_too_long = cut < text.len();
    text.truncate(cut);
    let note = note(&seen, first, escaped_too_long);
    if let Some(note) = &note {
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(note);
    }
    Ok(Ok(ToolOutcome::text(text).with_details(json!({
        "path": path,
        "firstLine": first,
        "lastLine": seen.last,
        "totalLines": seen.at_end.then_some(seen.lines),
        "isWhole": note.is_none(),
    }))))
}

fn note(seen: &Seen, first: u64, escaped_too_long: bool) -> Option<String> {
    let total = if seen.at_end {
        seen.lines.to_string()
    } else {
        format!("more than {}", seen.lines)
    };
    if let Some(length) = seen.cut_line {
        let is_last = seen.at_end && seen.last == seen.lines;
        let next = if is_last {
            "This is the last line.".to_owned()
        } else {
            format!("Continue with offset {}.", seen.last + 1)
        };
        return Some(format!(
            "[Line {} of {total} has {length} bytes and is truncated. {next}]",
            seen.last
        ));
    }
    if escaped_too_long {
        return Some(format!(
            "[Lines {first} to {} of {total} are truncated. Request fewer lines.]",
            seen.last
        ));
    }
    if seen.last < seen.lines || !seen.at_end {
        let next = seen.last + 1;
        return Some(format!(
            "[Showing lines {first} to {} of {total}. Continue with offset {next}.]",
            seen.last
        ));
    }
    (first > 1).then(|| {
        format!(
            "[Showing lines {first} to {} of {total}. This is the end.]",
            seen.last
        )
    })
}

/// Goes through a text, keeps the lines that are asked for and counts the rest.
fn look(
    source: &mut impl BufRead,
    first: u64,
    limit: u64,
    room: usize,
    cancel: &CancellationToken,
) -> std::io::Result<Seen> {
    let mut seen = Seen::default();
    let mut counted = 0_u64;
    let mut line_length = 0_u64;
    let mut is_full = false;
    let last = first.saturating_add(limit - 1);
    loop {
        let buffer = source.fill_buf()?;
        if buffer.is_empty() {
            seen.at_end = true;
            break;
        }
        if counted > MOST_COUNTED || cancel.is_cancelled() {
            break;
        }
        let (piece, ends_line) = match buffer.iter().position(|byte| *byte == b'\n') {
            Some(at) => (&buffer[..=at], true),
            None => (buffer, false),
        };
        if line_length == 0 {
            seen.lines += 1;
        }
        let line = seen.lines;
        line_length += piece.len() as u64;
        if (first..=last).contains(&line) && !is_full {
            let space = room.saturating_sub(seen.shown.len());
            if piece.len() <= space {
                seen.shown.extend_from_slice(piece);
                seen.last = line;
            } else {
                is_full = true;
                let begun = line_length - piece.len() as u64;
                if seen.last == 0 || (seen.last == line && line == first) {
                    // Nothing else would be shown at all.
                    seen.shown.extend_from_slice(&piece[..space]);
                    seen.last = line;
                    seen.cut_line = Some(0);
                } else if begun > 0 {
                    // The line that does not fit is shown by the next call, from its beginning.
                    let kept = seen.shown.len() - usize::try_from(begun).unwrap_or(0);
                    seen.shown.truncate(kept);
                    seen.last = line - 1;
                }
            }
        }
        if seen.cut_line.is_some() && seen.last == line {
            seen.cut_line = Some(line_length);
        }
        if ends_line {
            line_length = 0;
        }
        counted += piece.len() as u64;
        let used = piece.len();
        source.consume(used);
    }
    Ok(seen)
}
