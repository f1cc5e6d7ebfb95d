//! The committed JSON schemas are those of the types. Run with `UPDATE_SCHEMAS=1` to write them anew.
#![expect(
    clippy::disallowed_methods,
    reason = "the test reads and writes the committed schema files"
)]

use chitin_protocol::agent_id::AgentId;
use chitin_protocol::config::ChitinConfig;
use chitin_protocol::event::TurnEvent;
use chitin_protocol::record::{FileRefusal, OversizeFile};
use chitin_protocol::session_key::{
    ChatType, DmScope, GroupScope, KeyConversation, KeyGrammar, KeyShape, ParsedKey, SessionKey,
    ThreadKey, ThreadSplit, ThreadSuffix,
};
use schemars::{Schema, schema_for};
use std::collections::BTreeSet;
use std::path::PathBuf;

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("schemas")
}

fn schemas() -> Vec<(&'static str, Schema)> {
    vec![
        ("agent-id", schema_for!(AgentId)),
        ("chat-type", schema_for!(ChatType)),
        ("chitin-config", schema_for!(ChitinConfig)),
        ("conversation", schema_for!(KeyConversation)),
        ("dm-scope", schema_for!(DmScope)),
        ("group-scope", schema_for!(GroupScope)),
        ("key-grammar", schema_for!(KeyGrammar)),
        ("key-shape", schema_for!(KeyShape)),
        ("oversize", schema_for!(OversizeFile)),
        ("parsed-key", schema_for!(ParsedKey)),
        ("refusal", schema_for!(FileRefusal)),
        ("session-key", schema_for!(SessionKey)),
        ("thread-key", schema_for!(ThreadKey)),
        ("thread-split", schema_for!(ThreadSplit)),
        ("thread-suffix", schema_for!(ThreadSuffix)),
        ("turn-event", schema_for!(TurnEvent)),
    ]
}

#[test]
fn committed_schemas_are_those_of_the_types() {
    let update = std::env::var_os("UPDATE_SCHEMAS").is_some();
    for (name, schema) in schemas() {
        let path = directory().join(format!("{name}.json"));
        let generated = serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n";
        if update {
            std::fs::write(&path, &generated).expect("the schema can be written");
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(
            committed, generated,
            "schemas/{name}.json is out of date; run the tests with UPDATE_SCHEMAS=1"
        );
    }
}

#[test]
fn no_schema_outlives_its_type() {
    let known: BTreeSet<_> = schemas()
        .iter()
        .map(|(name, _)| format!("{name}.json"))
        .collect();
    let committed: BTreeSet<_> = std::fs::read_dir(directory())
        .expect("the directory is there")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    assert_eq!(committed, known);
}
