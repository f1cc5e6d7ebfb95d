//! Files that a call sends along, and files that it fetches.

use super::arguments::MessageToolRequest;
use crate::surface::{FileLimits, OutgoingFile};
use crate::tools::aside;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chitin_tools::CallContext;
use chitin_tools::files::{Surroundings, Taken, carry_in, carry_out, media_type, safe_name};
use chitin_tools::rights::is_of_the_agent;
use std::path::Path;
use std::sync::Arc;

/// Where files are put that came with messages.
const INBOX: &str = "inbox";
/// The longest MIME type that is passed on.
const LONGEST_TYPE: usize = 120;

/// Reads the files that are to go with a message, within what the surface takes.
pub(super) async fn load(
    limits: Option<FileLimits>,
    ask: &MessageToolRequest,
    context: &CallContext<'_>,
) -> Result<Vec<OutgoingFile>, String> {
    let paths = ask.paths();
    let count = paths.len() + usize::from(ask.buffer.is_some());
    if count == 0 {
        return Ok(Vec::new());
    }
    let limits = limits.ok_or("This surface takes no files.")?;
    if count > limits.count {
        return Err(format!(
            "These are {count} files. At most {} can go with a message.",
            limits.count
        ));
    }
    let given_name = ask.filename.as_deref().filter(|_| count == 1);
    let mut files = Vec::with_capacity(count);
    for path in paths {
        if path.contains("://") || path.starts_with("data:") {
            return Err(format!(
                "`{}` is no file of the workspace. Only these can be sent.",
                path.chars().take(80).collect::<String>()
            ));
        }
        let (workspace, from) = (context.workspace.to_owned(), path.to_owned());
        let around = Surroundings::of(context);
        let most = u64::try_from(limits.bytes).unwrap_or(u64::MAX);
        let read = aside(move || carry_out(&workspace, &around, &from, most)).await;
        let bytes = read.ok_or("The file could not be read.")??;
        files.push(file(given_name.unwrap_or(path), bytes, ask));
    }
    if let Some(buffer) = &ask.buffer {
        let bytes = decoded(buffer, limits.bytes)?;
        files.push(file(given_name.unwrap_or("file"), bytes, ask));
    }
    Ok(files)
}

fn file(name: &str, bytes: Vec<u8>, ask: &MessageToolRequest) -> OutgoingFile {
    let name = safe_name(name);
    let said = ask.content_type.as_deref().map(str::trim);
    let said = said.filter(|said| {
        let plain = |c: char| c.is_ascii_graphic() || c == ' ';
        said.len() <= LONGEST_TYPE && said.contains('/') && said.chars().all(plain)
    });
    OutgoingFile {
        mime: said.map_or_else(|| media_type(&name, &bytes).to_owned(), str::to_owned),
        bytes: Arc::from(bytes),
        name,
    }
}

/// Reads base 64, with or without `data:…;base64,` before it.
fn decoded(buffer: &str, most: usize) -> Result<Vec<u8>, String> {
    let buffer = buffer.trim();
    let buffer = match buffer.strip_prefix("data:") {
        Some(rest) => rest.split_once(',').map_or(rest, |(_, data)| data),
        None => buffer,
    };
    let too_large = || format!("`buffer` is too large to send: the limit is {most} bytes.");
    if buffer.len() / 4 > most / 3 + 1 {
        return Err(too_large());
    }
    let bytes = STANDARD
        .decode(buffer)
        .map_err(|_| "`buffer` is no base 64.".to_owned())?;
    match bytes.len() {
        0 => Err("`buffer` is empty.".to_owned()),
        length if length > most => Err(too_large()),
        _ => Ok(bytes),
    }
}

/// Puts a file that came with a message into the workspace, and returns where it is. What is there stays, unless the call says
/// otherwise; what an agent is made of stays in any case.
pub(super) async fn keep(
    file: &OutgoingFile,
    ask: &MessageToolRequest,
    context: &CallContext<'_>,
) -> Result<String, String> {
    context.may_write(super::NAME).await?;
    let named = ask.path.as_deref().map(str::trim);
    let (path, taken) = match named.filter(|path| !path.is_empty()) {
        Some(path) if ask.overwrite => (path.to_owned(), Taken::Replace),
        Some(path) => (path.to_owned(), Taken::Refuse),
        None => (format!("{INBOX}/{}", safe_name(&file.name)), Taken::Number),
    };
    let (workspace, bytes) = (context.workspace.to_owned(), Arc::clone(&file.bytes));
    let around = Surroundings::of(context);
    let may = |at: &Path| !is_of_the_agent(at);
    let kept = aside(move || carry_in(&workspace, &around, &path, &bytes, taken, may));
    kept.await.ok_or("The file could not be written.")?
}
