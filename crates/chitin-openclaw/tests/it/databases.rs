//! Databases in use, with logs, of other schemas, damaged.

use crate::home::{HEADER, HELLO, TestHome, assert_same, look, only, said};
use rusqlite::Connection;
use std::fs;

/// One session with two records.
fn talk() -> String {
    format!(
        "INSERT INTO session_nodes VALUES ('agent:main:main', 's1', '{{\"updatedAt\":7}}', 1, 7, NULL, NULL);
         INSERT INTO transcript_events VALUES ('s1', 0, '{HEADER}', NULL);
         INSERT INTO transcript_events VALUES ('s1', 1, '{HELLO}', NULL);"
    )
}

fn begin_log(db: &Connection) {
    let mode: String = db
        .query_row("PRAGMA journal_mode = wal", [], |row| row.get(0))
        .unwrap();
    assert_eq!(mode, "wal");
    db.execute_batch("PRAGMA wal_autocheckpoint = 0").unwrap();
}

#[test]
fn rows_that_are_only_in_the_log_are_read_from_a_copy() {
    let (source, home) = (TestHome::new(), TestHome::new());
    let db = source.database("");
    begin_log(&db);
    db.execute_batch(&talk()).unwrap();
    // As a killed program leaves it when somebody copies its home: the log, without its index.
    for ending in ["", "-wal"] {
        let bytes = fs::read(source.database_file(ending)).unwrap();
        home.file(
            &format!("agents/main/agent/openclaw-agent.sqlite{ending}"),
            bytes,
        );
    }
    let contents = home.read();
    assert_eq!(only(&contents).summary.records, 2);
    assert!(contents.problems.is_empty(), "{}", said(&contents));
}

#[test]
fn an_index_that_a_killed_program_left_stays_as_it_is() {
    let (source, home) = (TestHome::new(), TestHome::new());
    let db = source.database("");
    begin_log(&db);
    db.execute_batch(&talk()).unwrap();
    for ending in ["", "-wal", "-shm"] {
        let bytes = fs::read(source.database_file(ending)).unwrap();
        home.file(
            &format!("agents/main/agent/openclaw-agent.sqlite{ending}"),
            bytes,
        );
    }
    assert_eq!(only(&home.read()).summary.records, 2);
}

#[test]
fn a_database_that_another_program_keeps_for_itself_is_read_all_the_same() {
    let home = TestHome::new();
    let db = home.database(&talk());
    db.execute_batch("PRAGMA locking_mode = exclusive; BEGIN EXCLUSIVE;")
        .unwrap();
    let contents = home.read();
    assert_eq!(only(&contents).summary.records, 2, "{}", said(&contents));
}

#[test]
fn a_newer_schema_is_refused_and_the_rest_of_the_home_is_read() {
    let home = TestHome::new();
    let db = home.database(&talk());
    db.execute_batch("PRAGMA user_version = 24; UPDATE schema_meta SET schema_version = 24")
        .unwrap();
    drop(db);
    home.file(
        "cron/jobs.json",
        r#"{"version":1,"jobs":[{"id":"a","name":"A"}]}"#,
    );
    let contents = home.read();
    assert!(contents.sessions.is_empty());
    assert_eq!(contents.cron.len(), 1);
    assert_eq!(contents.version.agent_schemas, [("main".to_owned(), 24)]);
    assert!(
        said(&contents).contains("newer than the known 23"),
        "{}",
        said(&contents)
    );
}

#[test]
fn two_marks_that_differ_are_refused() {
    let home = TestHome::new();
    drop(home.database(&format!("{} PRAGMA user_version = 20;", talk())));
    let contents = home.read();
    assert!(contents.sessions.is_empty());
    assert!(
        said(&contents).contains("differ (20 and 23)"),
        "{}",
        said(&contents)
    );
}

#[test]
fn files_are_read_where_the_database_cannot_be() {
    for damage in ["truncated", "garbage", "empty"] {
        let home = TestHome::new();
        drop(home.database(&talk()));
        let mut bytes = fs::read(home.database_file("")).unwrap();
        match damage {
            "truncated" => bytes.truncate(3000),
            "garbage" => bytes.fill(0x5a),
            _ => bytes.clear(),
        }
        fs::write(home.database_file(""), bytes).unwrap();
        let index = r#"{"agent:main:main":{"sessionId":"s1","updatedAt":3}}"#;
        home.file("agents/main/sessions/sessions.json", index);
        home.file(
            "agents/main/sessions/s1.jsonl",
            format!("{HEADER}\n{HELLO}\n"),
        );
        let contents = home.read();
        let session = only(&contents);
        assert_eq!(
            (session.summary.records, session.updated_at),
            (2, Some(3)),
            "{damage}"
        );
        // An empty file is a database without tables: nothing is wrong with it.
        assert_eq!(contents.problems.is_empty(), damage == "empty", "{damage}");
    }
}

#[test]
fn each_session_is_in_one_place_and_the_database_is_the_newer_one() {
    let home = TestHome::new();
    drop(home.database(&talk()));
    let index = r#"{"agent:main:main":{"sessionId":"s1","updatedAt":3},"agent:main:other":{"sessionId":"s2"}}"#;
    home.file("agents/main/sessions/sessions.json", index);
    home.file("agents/main/sessions/s1.jsonl", format!("{HEADER}\n"));
    home.file("agents/main/sessions/s2.jsonl", format!("{HEADER}\n"));
    home.file("agents/main/sessions/s3.jsonl", format!("{HEADER}\n"));
    let contents = home.read();
    let found: Vec<_> = contents
        .sessions
        .iter()
        .map(|session| {
            (
                &*session.key,
                session.summary.records,
                session.also_in_files,
            )
        })
        .collect();
    assert_eq!(
        found,
        [("agent:main:main", 2, true), ("agent:main:other", 1, false)]
    );
    let others: Vec<_> = contents
        .other_transcripts
        .iter()
        .map(|other| &*other.name)
        .collect();
    assert_eq!(others, ["s3.jsonl"]);
}

#[test]
fn a_record_that_cannot_be_read_costs_only_itself() {
    let home = TestHome::new();
    let db = home.database(&talk());
    db.execute_batch(
        "INSERT INTO transcript_events VALUES ('s1', 2, NULL, NULL);
         INSERT INTO transcript_events VALUES ('s1', 3, '{torn', NULL);
         INSERT INTO transcript_events VALUES ('s1', 4, NULL, x'28b52ffd00');
         INSERT INTO transcript_events VALUES ('s1', 5, CAST(x'7b22ff' AS TEXT), NULL);
         INSERT INTO transcript_events VALUES ('s1', 6, 42, NULL);",
    )
    .unwrap();
    db.execute(
        "INSERT INTO transcript_events VALUES ('s1', 7, ?1, NULL)",
        [HELLO],
    )
    .unwrap();
    drop(db);
    let contents = home.read();
    let summary = &only(&contents).summary;
    assert_eq!(
        (summary.records, summary.unreadable(), summary.user_messages),
        (8, 5, 2)
    );
    assert!(
        said(&contents).contains("5 unreadable records"),
        "{}",
        said(&contents)
    );
}

#[test]
fn an_entry_that_is_no_json_leaves_its_columns() {
    let home = TestHome::new();
    drop(home.database(
        "INSERT INTO session_nodes VALUES ('agent:main:main', 's1', '{torn', 0, 9, 'Name', 'agent:main:x');",
    ));
    let contents = home.read();
    let session = only(&contents);
    assert_eq!(session.updated_at, Some(9));
    assert_eq!(session.label.as_deref(), Some("Name"));
    assert_eq!(session.spawned_by.as_deref(), Some("agent:main:x"));
}

#[test]
fn copies_that_a_killed_process_left_are_removed() {
    use std::os::unix::fs::PermissionsExt;
    let home = TestHome::new();
    let left = home.scratch().join("chitin-openclaw-99999999-0");
    fs::create_dir(&left).unwrap();
    fs::set_permissions(&left, fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(left.join("copy.sqlite"), "private").unwrap();
    let source = TestHome::new();
    let db = source.database("");
    begin_log(&db);
    db.execute_batch(&talk()).unwrap();
    for ending in ["", "-wal"] {
        let bytes = fs::read(source.database_file(ending)).unwrap();
        home.file(
            &format!("agents/main/agent/openclaw-agent.sqlite{ending}"),
            bytes,
        );
    }
    let before = look(&home.state());
    assert_eq!(only(&home.read()).summary.records, 2);
    assert_same(&before, &look(&home.state()));
}
