//! Files that a parent gives to a child: in a directory of their own below its workspace, bounded in number and size.

use super::request::{AttachAs, Attachment, AttachmentEncoding, SpawnRefusal};
use base64::Engine as _;
use chitin_guard::{Root, WriteOutcome};
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::path::{Component, Path, PathBuf};

/// The most files, whatever is configured (R30).
const MOST_FILES: usize = 50;
/// The largest file, when nothing is configured.
const USUAL_FILE_BYTES: usize = 1024 * 1024;
/// All files together, when nothing is configured.
const USUAL_TOTAL_BYTES: usize = 5 * 1024 * 1024;
/// All files together, whatever is configured.
const MOST_TOTAL_BYTES: usize = 64 * 1024 * 1024;
/// Where files are put when the parent does not say.
const USUAL_PLACE: &str = ".openclaw/attachments";

/// What may be attached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttachmentLimits {
    /// Whether anything may.
    pub enabled: bool,
    /// How many files.
    pub files: usize,
    /// How large one is.
    pub file_bytes: usize,
    /// How large all are together.
    pub total_bytes: usize,
}

/// Files that are there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AttachedFiles {
    /// How many.
    pub count: usize,
    /// How large they are together.
    pub total_bytes: usize,
    /// Each of them.
    pub files: Vec<AttachedFile>,
    /// Where they are, inside of the child's workspace.
    pub rel_dir: String,
}

/// A file that is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AttachedFile {
    /// Its name.
    pub name: String,
    /// How large it is.
    pub bytes: usize,
    /// Its digest.
    pub sha256: String,
}

impl AttachmentLimits {
    /// Reads `tools.sessions_spawn.attachments`.
    pub fn read(config: &Value) -> Self {
        let said = &config["tools"]["sessions_spawn"]["attachments"];
        let number = |name: &str, usual: usize, most: usize| {
            let number = said[name].as_u64().map(usize::try_from);
            number
                .map_or(usual, |number| number.unwrap_or(most))
                .min(most)
        };
        Self {
            enabled: said["enabled"].as_bool().unwrap_or(true),
            files: number("maxFiles", MOST_FILES, MOST_FILES),
            file_bytes: number("maxFileBytes", USUAL_FILE_BYTES, MOST_TOTAL_BYTES),
            total_bytes: number("maxTotalBytes", USUAL_TOTAL_BYTES, MOST_TOTAL_BYTES),
        }
    }
}

/// Reads what is attached, and refuses what is too much or has no plain name. Nothing is written.
pub fn check(
    attachments: &[Attachment],
    limits: &AttachmentLimits,
) -> Result<Vec<(String, Vec<u8>)>, SpawnRefusal> {
    if attachments.is_empty() {
        return Ok(Vec::new());
    }
    if !limits.enabled {
        return Err(SpawnRefusal::forbidden(
            "Attachments are switched off (`tools.sessions_spawn.attachments.enabled`).",
        ));
    }
    if attachments.len() > limits.files {
        return Err(SpawnRefusal::error(format!(
            "There are {} attachments, and {} are taken.",
            attachments.len(),
            limits.files
        )));
    }
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    let mut total = 0;
    for attachment in attachments {
        let name = plain_name(&attachment.name)?;
        if files.iter().any(|(known, _)| *known == name) {
            return Err(SpawnRefusal::error(format!(
                "Two attachments are called `{name}`."
            )));
        }
        let bytes = match attachment.encoding.unwrap_or(AttachmentEncoding::Utf8) {
            AttachmentEncoding::Utf8 => attachment.content.clone().into_bytes(),
            AttachmentEncoding::Base64 => {
                let letters: String = attachment.content.split_whitespace().collect();
                let engine = base64::engine::general_purpose::STANDARD;
                engine.decode(letters).map_err(|error| {
                    SpawnRefusal::error(format!("`{name}` is not base64: {error}"))
                })?
            }
        };
        total += bytes.len();
        if bytes.len() > limits.file_bytes || total > limits.total_bytes {
            return Err(SpawnRefusal::error(format!(
                "The attachments are too large: a file may have {} bytes, all together {}.",
                limits.file_bytes, limits.total_bytes
            )));
        }
        files.push((name, bytes));
    }
    Ok(files)
}

/// Writes files into a new directory below a workspace. Blocks.
pub fn write(
    workspace: &Path,
    attach_as: Option<&AttachAs>,
    name: &str,
    files: &[(String, Vec<u8>)],
) -> Result<AttachedFiles, SpawnRefusal> {
    let failed = |error: &dyn std::fmt::Display| {
        SpawnRefusal::error(format!("The attachments could not be written: {error}."))
    };
    let place = attach_as.and_then(|attach_as| attach_as.mount_path.as_deref());
    let place = place.map(str::trim).filter(|place| !place.is_empty());
    let place = inside(place.unwrap_or(USUAL_PLACE)).ok_or_else(|| {
        SpawnRefusal::error("`attachAs.mountPath` is a path inside of the child's workspace.")
    })?;
    let root = Root::open(workspace).map_err(|error| failed(&error))?;
    let directory = place.join(name);
    root.make_directories(&directory)
        .map_err(|error| failed(&error))?;
    for (name, bytes) in files {
        match root.write_new(&directory.join(name), bytes) {
            Ok(WriteOutcome::Created) => {}
            Ok(WriteOutcome::AlreadyThere) => {
                return Err(failed(&format!("`{name}` is there already")));
            }
            Err(error) => return Err(failed(&error)),
        }
    }
    Ok(AttachedFiles {
        count: files.len(),
        total_bytes: files.iter().map(|(_, bytes)| bytes.len()).sum(),
        files: files
            .iter()
            .map(|(name, bytes)| AttachedFile {
                name: name.clone(),
                bytes: bytes.len(),
                sha256: hex::encode(Sha256::digest(bytes)),
            })
            .collect(),
        rel_dir: directory.to_string_lossy().into_owned(),
    })
}

/// Returns a path that stays inside of whatever it is put below; nothing for one that does not.
pub fn inside(path: &str) -> Option<PathBuf> {
    let mut kept = PathBuf::new();
    for component in Path::new(path).components() {
        match component {
            Component::Normal(name) => kept.push(name),
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::ParentDir => return None,
        }
    }
    (!kept.as_os_str().is_empty() && !path.contains('\0')).then_some(kept)
}

/// Returns the name of a file: one component, no control characters, not hidden.
fn plain_name(name: &str) -> Result<String, SpawnRefusal> {
    let plain = !name.is_empty()
        && name.len() <= 200
        && !name.starts_with('.')
        && !name.contains(['/', '\\'])
        && !name.chars().any(char::is_control)
        && name.trim() == name;
    if plain {
        return Ok(name.to_owned());
    }
    let shown: String = name.chars().filter(|c| !c.is_control()).take(80).collect();
    Err(SpawnRefusal::error(format!(
        "`{shown}` cannot be the name of an attachment: it is one plain file name, without directories."
    )))
}
