//! What is exported of a session: a directory that can be sent to somebody else (R117, R118).
//!
//! [`build`] is pure: events and transcript in, files out. Secrets are taken out, the workspace becomes `$WORKSPACE_DIR`,
//! home becomes `~`. [`Bundle::write`] puts the directory in place whole or not at all.

mod documents;
mod events;
mod places;
mod transcript;

pub use transcript::Transcript;

use super::compat;
use super::fs;
use super::read::{TraceError, TraceEvent};
use super::redact::JournalRedactor;
use super::run::instant;
use chitin_contract::TraceRules;
use documents::Head;
use places::Places;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// What a bundle is made of.
#[derive(Debug, Clone, Copy)]
pub struct BundleInput<'a> {
    /// The events of the trajectory.
    pub events: &'a [TraceEvent],
    /// The transcript, if there is one.
    pub transcript: Option<&'a Transcript>,
    /// The session's id.
    pub session_id: &'a str,
    /// The session's key.
    pub session_key: &'a str,
    /// The workspace.
    pub workspace: &'a Path,
    /// The user's home.
    pub home: Option<&'a Path>,
    /// Where the transcript is.
    pub session_file: Option<&'a Path>,
    /// Where the trajectory is.
    pub runtime_file: Option<&'a Path>,
    /// The time, in milliseconds since 1970.
    pub now: i64,
    /// The contract's rules.
    pub rules: &'a TraceRules,
    /// Takes secrets out.
    pub redactor: &'a JournalRedactor,
}

/// A directory to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    /// Its files in the order of the manifest, which is the first.
    pub files: Vec<BundleFile>,
    /// How many events there are.
    pub events: usize,
}

/// A file of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleFile {
    /// Its name.
    pub name: &'static str,
    /// Such as `application/json`.
    pub media_type: &'static str,
    /// What it says.
    pub bytes: Vec<u8>,
}

const JSON: &str = "application/json";
const LINES: &str = "application/x-ndjson";
const TEXT: &str = "text/plain; charset=utf-8";

/// Makes a bundle.
pub fn build(input: &BundleInput<'_>) -> Bundle {
    let places = Places::new(input.workspace, input.home);
    let clean = |value: Value| clean(value, input, &places);
    let head = Head::new(input);
    let merged = events::merged(input);
    let transcript_events = merged.len() - input.events.len();
    let mut files = Vec::new();
    let mut supplemental = Vec::new();
    let documents = [
        ("metadata.json", documents::metadata(&head, input)),
        ("artifacts.json", documents::artifacts(&head, input)),
        ("prompts.json", documents::prompts(&head, input)),
    ];
    for (name, document) in documents {
        if let Some(document) = document {
            supplemental.push(name);
            files.push(BundleFile::json(name, &clean(document)));
        }
    }
    let count = merged.len();
    let mut text = String::new();
    for event in merged {
        text.push_str(&clean(event).to_string());
        text.push('\n');
    }
    files.push(BundleFile {
        name: "events.jsonl",
        media_type: LINES,
        bytes: text.into_bytes(),
    });
    if let Some(transcript) = input.transcript {
        let branch = json!({
            "header": transcript.header,
            "leafId": transcript.leaf(),
            "entries": transcript.branch,
        });
        files.push(BundleFile::json("session-branch.json", &clean(branch)));
    }
    let system = documents::system(input).map(|system| clean(json!(system)));
    if let Some(Value::String(system)) = system {
        files.push(BundleFile {
            name: "system-prompt.txt",
            media_type: TEXT,
            bytes: system.into_bytes(),
        });
    }
    if let Some(tools) = documents::tools(input) {
        files.push(BundleFile::json("tools.json", &clean(tools.clone())));
    }
    let manifest = manifest(input, &head, transcript_events, &supplemental, &files);
    files.insert(0, BundleFile::json("manifest.json", &clean(manifest)));
    Bundle {
        files,
        events: count,
    }
}

fn manifest(
    input: &BundleInput<'_>,
    head: &Head,
    transcript_events: usize,
    supplemental: &[&str],
    files: &[BundleFile],
) -> Value {
    let mut manifest = head.fields();
    let mut put = |name: &str, value: Value| manifest.insert(name.to_owned(), value);
    put("workspaceDir", json!(input.workspace.to_string_lossy()));
    put("leafId", json!(input.transcript.and_then(Transcript::leaf)));
    put("eventCount", json!(input.events.len() + transcript_events));
    put("runtimeEventCount", json!(input.events.len()));
    put("transcriptEventCount", json!(transcript_events));
    let mut sources = serde_json::Map::new();
    let named = [
        ("session", input.session_file),
        ("runtime", input.runtime_file),
    ];
    for (name, path) in named {
        if let Some(path) = path {
            sources.insert(name.to_owned(), json!(path.to_string_lossy()));
        }
    }
    put("sourceFiles", Value::Object(sources));
    put("supplementalFiles", json!(supplemental));
    let contents: Vec<Value> = files
        .iter()
        .map(|file| {
            json!({"path": file.name, "mediaType": file.media_type, "bytes": file.bytes.len()})
        })
        .collect();
    put("contents", json!(contents));
    Value::Object(manifest)
}

/// Takes out what nobody else should see, and what the contract's limit leaves out.
fn clean(mut value: Value, input: &BundleInput<'_>, places: &Places) -> Value {
    if let Some(limit) = input.rules.export_values {
        let mut room = limit;
        cut(&mut value, &mut room);
    }
    input.redactor.value(&mut value);
    places.hide(value)
}

/// Leaves out the values of a record that come after so many. Names of fields stay.
fn cut(value: &mut Value, room: &mut usize) {
    if *room == 0 {
        *value = json!(compat::TRUNCATED_MARK);
        return;
    }
    *room -= 1;
    match value {
        Value::Array(items) => {
            let mut at = 0;
            while at < items.len() && *room > 0 {
                cut(&mut items[at], room);
                at += 1;
            }
            if at < items.len() {
                items.truncate(at);
                items.push(json!(compat::TRUNCATED_MARK));
            }
        }
        Value::Object(fields) => {
            for field in fields.values_mut() {
                cut(field, room);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

impl BundleFile {
    fn json(name: &'static str, value: &Value) -> Self {
        let text = serde_json::to_string_pretty(value).unwrap_or_default();
        Self {
            name,
            media_type: JSON,
            bytes: (text + "\n").into_bytes(),
        }
    }
}

impl Bundle {
    /// Puts the directory in place. What is there already is never touched.
    pub fn write(&self, directory: &Path) -> Result<(), TraceError> {
        if fs::is_there(directory) {
            return Err(TraceError::Exists {
                path: directory.to_owned(),
            });
        }
        let files: Vec<(&str, &[u8])> = self
            .files
            .iter()
            .map(|file| (file.name, file.bytes.as_slice()))
            .collect();
        fs::place_directory(directory, &files).map_err(TraceError::io(directory))
    }

    /// Puts the directory where the contract has it below the workspace, and returns where that is. A link on the way is
    /// refused: it could lead anywhere.
    pub fn write_below(
        &self,
        workspace: &Path,
        session_id: &str,
        now: i64,
    ) -> Result<PathBuf, TraceError> {
        let target = default_export_path(workspace, session_id, now);
        let mut above = target.parent();
        while let Some(directory) = above.filter(|directory| *directory != workspace) {
            if fs::is_link(directory) {
                return Err(TraceError::Link {
                    path: directory.to_owned(),
                });
            }
            above = directory.parent();
        }
        self.write(&target)?;
        Ok(target)
    }
}

/// Returns the directory in which bundles of a workspace are put when nobody says where.
pub fn exports_directory(workspace: &Path) -> PathBuf {
    workspace.join(compat::EXPORT_DIRECTORY)
}

/// Returns where a bundle goes unless the user says otherwise.
pub fn default_export_path(workspace: &Path, session_id: &str, now: i64) -> PathBuf {
    let start: String = super::switches::file_name(session_id)
        .chars()
        .take(8)
        .collect();
    let time: String = instant(now)
        .chars()
        .take(19)
        .map(|c| if c == ':' { '-' } else { c })
        .collect();
    exports_directory(workspace).join(format!("{}-{start}-{time}", compat::EXPORT_PREFIX))
}
