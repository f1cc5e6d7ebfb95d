//! What a session file says about its first turn.

use chitin_contract::CANONICAL;
use chitin_workspace::turn_marker::has_marker;

const MARKER: &str = r#"{"type":"custom","customType":"openclaw:bootstrap-context:full"}"#;

fn is_marked(lines: &[&str]) -> bool {
    has_marker(lines.join("\n").as_bytes(), true, &CANONICAL)
}

#[test]
fn a_record_counts_whatever_else_other_programs_put_into_it() {
    let deep = format!(
        r#"{{"type":"compaction","tree":{}{}}}"#,
        "[".repeat(1_000),
        "]".repeat(1_000)
    );
    for compaction in [
        // A summary that was cut in the middle of a pair.
        r#"{"type":"compaction","summary":"so far \ud83d"}"#,
        r#"{"type":"compaction","tokens":1e999}"#,
        // The last one of a repeated member holds.
        r#"{"type":"message","type":"compaction"}"#,
        &deep,
    ] {
        assert!(!is_marked(&[MARKER, compaction]), "{compaction}");
        assert!(is_marked(&[compaction, MARKER]), "{compaction}");
    }
}

#[test]
fn what_is_no_record_says_nothing() {
    for line in [
        r#"{"type":"compaction""#,
        r#"["compaction"]"#,
        r#"{"type":["compaction"]}"#,
        "compaction",
    ] {
        assert!(is_marked(&[MARKER, line]), "{line}");
    }
}
