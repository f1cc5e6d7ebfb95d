use super::table::Pending;
use super::*;
use crate::store::SessionEntry;
use serde_json::json;
use std::sync::Arc;

fn index(text: &str) -> Index {
    let directory = tempfile::tempdir().unwrap();
    let directory = Directory::open(directory.path()).unwrap().unwrap();
    let file = directory.file("index", Open::CreateNew).unwrap().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    Index::parse(&Arc::new(file), text.as_bytes(), Keep::InFile).unwrap()
}

fn set(index: &Index, key: &str, entry: &SessionEntry) -> Option<Pending> {
    let slot = slot::Slot::changed(index.old(key).unwrap(), entry)?;
    Some(Pending::from_iter([(Arc::from(key), Some(Arc::new(slot)))]))
}

fn written(index: &Index, changes: &Pending) -> String {
    let directory = tempfile::tempdir().unwrap();
    let directory = Directory::open(directory.path()).unwrap().unwrap();
    let file = directory.file("index", Open::CreateNew).unwrap().unwrap();
    index.write(changes, &file).unwrap();
    String::from_utf8(file.read_all(1 << 20).unwrap()).unwrap()
}

#[test]
fn what_is_not_understood_stays() {
    let text = json!({
        "a": {"sessionId": "1", "updatedAt": 5, "inputTokens": "many", "label": "x", "own": 1e2},
        "b": "odd",
    });
    let index = index(&text.to_string());
    let mut entry = (*index.get("a").unwrap().unwrap()).clone();
    assert_eq!((entry.updated_at, entry.input_tokens), (5, None));
    assert!(set(&index, "a", &entry).is_none());
    entry.updated_at = 6;
    entry.model = Some("m".to_owned());
    let changes = set(&index, "a", &entry).unwrap();
    let expected = json!({
        "a": {"sessionId": "1", "updatedAt": 6, "inputTokens": "many", "label": "x", "own": 1e2, "model": "m"},
        "b": "odd",
    });
    assert_eq!(
        written(&index, &changes),
        serde_json::to_string_pretty(&expected).unwrap() + "\n"
    );
}

#[test]
fn an_entry_that_nobody_changes_is_written_as_it_was_read() {
    let mut index = index("{\"a\" : {\"n\":1.50, \"u\":\"\\u0041\"} }");
    index.insert("b", &SessionEntry::default());
    assert!(written(&index, &Pending::new()).starts_with(
        "{\n  \"a\": {\"n\":1.50, \"u\":\"\\u0041\"},\n  \"b\": {\n    \"sessionId\""
    ));
    index.remove("a");
    index.remove("b");
    assert_eq!(written(&index, &Pending::new()), "{}\n");
}
