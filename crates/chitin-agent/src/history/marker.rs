//! The record that marks a turn with the full context.

use chitin_protocol::transcript::{EntryBody, TranscriptEntry};
use chitin_workspace::turn_marker::compat::FULL_CONTEXT;
use serde_json::json;

/// Makes the record that marks a complete turn with the full context. Whether it is due is for
/// [`chitin_workspace::turn_marker`] to say.
pub fn first_turn_marker(timestamp_ms: i64, run_id: &str, session_id: &str) -> EntryBody {
    EntryBody::Custom {
        custom_type: FULL_CONTEXT.to_owned(),
        data: Some(json!({
            "timestamp": timestamp_ms,
            "runId": run_id,
            "sessionId": session_id,
        })),
    }
}

/// Tells whether a branch holds a marker that still counts. A compaction makes it void.
pub fn is_marked(branch: &[TranscriptEntry]) -> bool {
    for entry in branch.iter().rev() {
        match &entry.body {
            EntryBody::Compaction(_) => return false,
            EntryBody::Custom { custom_type, .. } if custom_type == FULL_CONTEXT => return true,
            EntryBody::Custom { .. }
            | EntryBody::Message(_)
            | EntryBody::ModelChange { .. }
            | EntryBody::ThinkingLevelChange { .. }
            | EntryBody::Other(_) => {}
        }
    }
    false
}
