//! Databases that somebody made to harm whoever reads them.

use crate::home::{TestHome, only, said};
use std::fs;

#[test]
fn a_view_in_the_place_of_a_table_is_not_run() {
    let home = TestHome::new();
    let endless = "DROP TABLE session_nodes;
        CREATE VIEW session_nodes AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
        SELECT 'agent:main:' || i AS session_key, 's' AS current_session_id FROM n;";
    drop(home.database(endless));
    let contents = home.read();
    assert!(contents.sessions.is_empty());
    assert!(
        said(&contents).contains("a view or a virtual table"),
        "{}",
        said(&contents)
    );
}

#[test]
fn a_computed_column_is_not_computed() {
    let home = TestHome::new();
    let computed = "DROP TABLE transcript_events;
        CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT AS (hex(zeroblob(100000000))) VIRTUAL);
        INSERT INTO transcript_events (session_id, seq) VALUES ('s1', 0);
        INSERT INTO session_nodes VALUES ('agent:main:main', 's1', '{}', 1, 1, NULL, NULL);";
    drop(home.database(computed));
    let contents = home.read();
    assert_eq!(only(&contents).summary.records, 0);
    assert!(
        said(&contents).contains("no column `event_json`"),
        "{}",
        said(&contents)
    );
}

#[test]
fn triggers_and_unknown_modules_are_left_alone() {
    let home = TestHome::new();
    let db = home.database(
        "CREATE TABLE trap (x);
         CREATE TRIGGER t AFTER INSERT ON transcript_events BEGIN DELETE FROM session_nodes; END;
         INSERT INTO session_nodes VALUES ('agent:main:main', 's1', '{}', 1, 1, NULL, NULL);",
    );
    db.execute_batch(
        "PRAGMA writable_schema = on;
         INSERT INTO sqlite_schema VALUES ('table', 'chunks_vec', 'chunks_vec', 0, 'CREATE VIRTUAL TABLE chunks_vec USING vec0(x)');",
    )
    .unwrap();
    drop(db);
    let contents = home.read();
    assert_eq!(only(&contents).key, "agent:main:main");
    assert!(contents.problems.is_empty(), "{}", said(&contents));
}

#[test]
fn a_huge_value_costs_only_its_record() {
    let home = TestHome::new();
    drop(home.database(
        "INSERT INTO session_nodes VALUES ('agent:main:main', 's1', '{}', 1, 1, NULL, NULL);
         INSERT INTO transcript_events VALUES ('s1', 0, '{\"type\":\"session\"}', NULL);
         INSERT INTO transcript_events VALUES ('s1', 1, hex(zeroblob(40000000)), NULL);
         INSERT INTO transcript_events VALUES ('s1', 2, NULL, zeroblob(90000000));
         INSERT INTO transcript_events VALUES ('s1', 3, '{\"type\":\"reset\"}', NULL);",
    ));
    let contents = home.read();
    let summary = &only(&contents).summary;
    assert_eq!(
        (summary.records, summary.unreadable()),
        (4, 2),
        "{}",
        said(&contents)
    );
    assert_eq!(summary.kinds["reset"], 1);
}

#[test]
fn a_journal_cannot_have_files_deleted() {
    // A rollback journal may name another file, which SQLite deletes once the change is taken back.
    let home = TestHome::new();
    drop(home.database(
        "INSERT INTO session_nodes VALUES ('agent:main:main', 's1', '{}', 1, 1, NULL, NULL);",
    ));
    let victim = home.state().join("victim");
    fs::write(&victim, "keep me").unwrap();
    let name = victim.to_str().unwrap().as_bytes();
    let mut journal = vec![0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    journal.extend([0; 504]);
    journal.extend(u32::MAX.to_be_bytes());
    journal.extend(name);
    journal.extend(u32::try_from(name.len()).unwrap().to_be_bytes());
    let sum: u32 = name.iter().map(|byte| u32::from(*byte)).sum();
    journal.extend(sum.to_be_bytes());
    journal.extend([0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]);
    fs::write(home.database_file("-journal"), journal).unwrap();
    assert_eq!(only(&home.read()).key, "agent:main:main");
}

#[test]
fn names_in_the_index_lead_nowhere_else() {
    let home = TestHome::new();
    fs::write(
        home.state().join("../secret.jsonl"),
        "{\"type\":\"session\"}\n",
    )
    .unwrap();
    home.file(
        "agents/main/sessions/sessions.json",
        r#"{"agent:main:a":{"sessionId":"s1","sessionFile":".."},
            "agent:main:b":{"sessionId":"../../../../secret"},
            "agent:main:c":{"sessionId":"s3","sessionFile":"/x/../../../../../secret.jsonl"}}"#,
    );
    let contents = home.read();
    let found: Vec<_> = contents
        .sessions
        .iter()
        .map(|session| (&*session.key, session.summary.records))
        .collect();
    assert_eq!(found, [("agent:main:c", 0)]);
}

#[test]
fn a_link_out_of_the_home_is_not_followed() {
    let home = TestHome::new();
    let outside = home.state().join("../outside.jsonl");
    fs::write(&outside, "{\"type\":\"session\"}\n").unwrap();
    home.file(
        "agents/main/sessions/sessions.json",
        r#"{"agent:main:main":{"sessionId":"s1"}}"#,
    );
    let link = home.state().join("agents/main/sessions/s1.jsonl");
    std::os::unix::fs::symlink(&outside, link).unwrap();
    let contents = home.read();
    assert_eq!(only(&contents).summary.records, 0);
    assert!(said(&contents).contains("s1.jsonl"), "{}", said(&contents));
}
