//! Where text of past conversations comes from: its transcript says that.

use super::AgentMemory;
use chitin_agent::origins::origins_of;
use chitin_agent::source::RecalledPath;
use chitin_guard::{Hardlinks, LinkPolicy, Oversized, ReadPolicy, Root};
use chitin_memory::rank::Hit;
use chitin_memory::search::ChunkSource;
use chitin_protocol::message::Message;
use chitin_protocol::origin::Origin;
use chitin_protocol::transcript::{EntryBody, TranscriptEntry};
use std::path::Path;

/// Of a longer transcript it is not known.
const MOST_BYTES: u64 = 64 << 20;

impl AgentMemory {
    /// Says where results stand.
    pub(super) fn paths_of(&self, hits: &[Hit]) -> Vec<RecalledPath> {
        let paths = hits.iter().map(|hit| {
            let path = hit.piece.path.clone();
            match hit.piece.source {
                ChunkSource::Memory => RecalledPath::Note(path),
                ChunkSource::Sessions => RecalledPath::Conversation {
                    origins: self.origins_of_past(&path, hit.piece.end_line),
                    path,
                },
            }
        });
        paths.collect()
    }

    /// Returns where the text of a conversation comes from up to the end of the turn that holds a line of its transcript. What came
    /// later cannot have been part of it.
    fn origins_of_past(&self, path: &str, line: u32) -> Vec<Origin> {
        let unknown = || vec![Origin::session(path)];
        let name = Path::new(path).file_name();
        let directory = self.transcripts().and_then(|at| Root::open(&at).ok());
        let (Some(name), Some(directory)) = (name, directory) else {
            return unknown();
        };
        let policy = ReadPolicy {
            links: LinkPolicy::Refuse,
            hardlinks: Hardlinks::Allow,
            max_bytes: MOST_BYTES,
            oversized: Oversized::Refuse,
        };
        let Ok(read) = directory.read(Path::new(name), &policy) else {
            return unknown();
        };
        let line = usize::try_from(line).unwrap_or(usize::MAX);
        let mut entries = Vec::new();
        for (text, number) in read.bytes.split(|byte| *byte == b'\n').zip(1..) {
            // The first line is about the transcript itself.
            if text.is_empty() || number == 1 {
                continue;
            }
            let Ok(entry) = serde_json::from_slice::<TranscriptEntry>(text) else {
                return unknown();
            };
            let begins = matches!(entry.body, EntryBody::Message(Message::User(_)));
            if begins && number > line {
                break;
            }
            entries.push(entry);
        }
        origins_of(&entries)
    }
}
