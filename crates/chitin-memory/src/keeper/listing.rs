//! What there is to remember, as the disk says now.

use super::setting::Setting;
use super::transcripts::{self, Transcript};
use crate::files::{self, ExtraPath, MemoryFile};
use crate::index::{FileText, JobFile, MAX_FILE_BYTES};
use crate::search::ChunkSource;
use chitin_contract::MemoryFileRules;
use chitin_guard::{Hardlinks, LinkPolicy, Oversized, ReadPolicy, Root};
use std::borrow::Cow;
use std::path::Path;

/// From so many files on, looking at all of them for each search takes too long.
const MANY_FILES: usize = 2_000;

/// What there is to remember.
#[derive(Debug, Default)]
pub struct MemoryListing {
    /// The memory files.
    pub files: Vec<MemoryFile>,
    /// The transcripts of past conversations, where these are searched and were looked at.
    pub(super) transcripts: Option<Vec<Transcript>>,
    /// What people should know.
    pub notes: Vec<String>,
    root: Option<Root>,
}

impl MemoryListing {
    /// Looks at the workspace, and at transcripts if these are asked for.
    pub(super) fn look(setting: &Setting, with_transcripts: bool) -> Self {
        let directory = setting.transcripts.as_deref().filter(|_| with_transcripts);
        if !setting.sources.contains(&ChunkSource::Memory) {
            return Self {
                transcripts: directory.map(transcripts::list),
                ..Self::default()
            };
        }
        Self::of(
            &setting.workspace,
            &setting.extra_paths,
            &setting.rules.files,
            directory,
        )
    }

    /// Looks at a workspace, and at transcripts if a directory of them is named.
    pub fn of(
        workspace: &Path,
        extra_paths: &[String],
        rules: &MemoryFileRules,
        transcripts: Option<&Path>,
    ) -> Self {
        let mut listing = Self {
            transcripts: transcripts.map(transcripts::list),
            ..Self::default()
        };
        match Root::open(workspace) {
            Ok(root) => {
                let extra = ExtraPath::find(&root, extra_paths);
                let found = files::list(&root, &extra, rules);
                listing.files = found.files;
                if found.left_out_count > 0 {
                    let note = left_out(&found.left_out, found.left_out_count);
                    listing.notes.push(note);
                }
                listing.root = Some(root);
            }
            Err(error) => listing.notes.push(error.to_string()),
        }
        listing
    }

    /// Returns how many past conversations there are; nothing where they are not searched.
    pub fn conversations(&self) -> Option<usize> {
        self.transcripts.as_ref().map(Vec::len)
    }

    /// Says whether there is a past conversation besides one.
    pub fn has_conversation_besides(&self, session_id: &str) -> bool {
        let mut transcripts = self.transcripts.iter().flatten();
        transcripts.any(|transcript| !transcript.is_of(session_id))
    }

    pub(super) fn is_large(&self) -> bool {
        self.files.len() >= MANY_FILES
    }

    /// Describes the memory files for the index.
    pub(super) fn jobs(&self) -> impl Iterator<Item = JobFile<'_>> {
        let root = self.root.as_ref();
        let policy = ReadPolicy {
            links: LinkPolicy::Refuse,
            hardlinks: Hardlinks::Allow,
            // One more than is kept, so that it is known that there is more.
            max_bytes: MAX_FILE_BYTES as u64 + 4,
            oversized: Oversized::Keep,
        };
        self.files.iter().map(move |file| {
            let policy = policy.clone();
            JobFile {
                source: ChunkSource::Memory,
                path: file.path.clone(),
                fingerprint: file.fingerprint,
                read: Box::new(move || {
                    let root = root.ok_or("the workspace is not there")?;
                    let read = file
                        .read(root, &policy)
                        .map_err(|error| error.to_string())?;
                    Ok(FileText {
                        bytes: Cow::Owned(read.bytes),
                        lines: None,
                    })
                }),
            }
        })
    }
}

fn left_out(some: &[files::SkippedFile], count: usize) -> String {
    let first = some.first().map_or("", |first| first.path.as_str());
    let why = some.first().map_or("", |first| first.why.words());
    match count {
        1 => format!("`{first}` is not searched: {why}."),
        count => format!("{count} entries are not searched, such as `{first}`: {why}."),
    }
}
