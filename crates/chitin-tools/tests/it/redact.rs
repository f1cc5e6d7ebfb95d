//! No secret that was handed in ever passes; well-known keys do not pass either; prose does.

use chitin_tools::redact::{MARKER, Redactor};
use proptest::prelude::*;
use serde_json::json;

fn redact(text: &str) -> String {
    Redactor::default().redact(text)
}

fn in_pieces(redactor: &Redactor, text: &str, cuts: &[usize]) -> String {
    let mut stream = redactor.stream();
    let mut out = String::new();
    let mut rest = text;
    for cut in cuts.iter().cycle().take(text.len() + 1) {
        let mut at = (*cut).min(rest.len());
        while !rest.is_char_boundary(at) {
            at += 1;
        }
        out.push_str(&stream.push(&rest[..at]));
        rest = &rest[at..];
    }
    out.push_str(&stream.push(rest));
    out.push_str(&stream.finish());
    out
}

// Put together here, so that no scanner takes this file for a leak.
fn keys() -> Vec<String> {
    let body = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
    vec![
        format!("sk-{body}"),
        format!("sk-ant-api03-{body}_{body}"),
        format!("sk-proj-{body}"),
        format!("sk_live_{body}"),
        format!("ghp_{body}"),
        format!("github_pat_{body}"),
        format!("glpat-{body}"),
        format!("npm_{body}"),
        format!("hf_{body}"),
        format!("xoxb-{}", "123456789012-abcdefghij"),
        format!("AKIA{}", "ABCDEFGH12345678"),
        format!("AIza{}", &body[..35]),
        format!("123456789:AA{}", &body[..33]),
        format!("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.{body}"),
        format!("AGE-SECRET-KEY-1{}", body.to_uppercase()),
    ]
}

#[test]
fn well_known_keys_go_wherever_they_stand() {
    for key in keys() {
        for (text, expected) in [
            (key.clone(), MARKER.to_owned()),
            (format!("key={key}, more"), format!("key={MARKER}, more")),
            (format!("\"{key}\"\n"), format!("\"{MARKER}\"\n")),
        ] {
            assert_eq!(redact(&text), expected, "{text}");
            assert_eq!(
                in_pieces(&Redactor::default(), &text, &[1]),
                expected,
                "{text}"
            );
        }
    }
}

#[test]
fn headers_and_addresses_keep_what_is_no_secret() {
    assert_eq!(
        redact("Authorization: Bearer abc.def-123456789\nnext"),
        "Authorization: Bearer [redacted]\nnext"
    );
    assert_eq!(
        redact("authorization: basic dXNlcjpwYXNzd29yZDE="),
        "authorization: basic [redacted]"
    );
    assert_eq!(
        redact("postgres://app:hunter2@db.example/x"),
        "postgres://app:[redacted]@db.example/x"
    );
}

#[test]
fn blocks_of_private_keys_go_whole() {
    let begin = format!("-----BEGIN {} KEY-----", "OPENSSH PRIVATE");
    let end = format!("-----END {} KEY-----", "OPENSSH PRIVATE");
    let text = format!("before\n  {begin}\nabc\ndef\n{end} after\nlast");
    let expected = "before\n  [redacted] after\nlast";
    assert_eq!(redact(&text), expected);
    assert_eq!(in_pieces(&Redactor::default(), &text, &[1, 5]), expected);
    assert_eq!(
        redact(&format!("{begin}abc{end}{begin}def")),
        "[redacted][redacted]"
    );
    // A beginning without an end hides what follows for a while, not for ever.
    let endless = format!("{begin}\n{}the end\n", "x\n".repeat(1000));
    assert!(redact(&endless).ends_with("the end\n"));
}

#[test]
fn prose_code_and_hashes_are_left_alone() {
    for text in [
        "The task-management-and-planning-module asks the risk-assessment-committee first.",
        "A bearer of good news; the bearer understands-responsibilities fully.",
        "class=\"sk-fading-circle sk-loading-indicator-with-many-parts\"",
        "commit 48c1f4e2d7a90b3c5e6f718293a4b5c6d7e8f901",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "550e8400-e29b-41d4-a716-446655440000",
        "https://example.org/a:b/c?d=e@f and http://[::1]:8080/x and git@github.com:a/b.git",
        "let basic = authorization; // AKIA, ghp_, xoxb- and sk- are prefixes",
        "-----BEGIN PUBLIC KEY-----\nabc\n-----END PUBLIC KEY-----\n",
        "ratio 12345678:90, eyJust.a.word, hf_short, npm_config_registry=x",
        "",
        "\n\n",
    ] {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn a_line_without_end_hides_its_keys_too() {
    let key = keys().swap_remove(0);
    for filler in ["x ", "-", "x"] {
        for before in [16_000, 16_384, 16_390, 40_000] {
            let text = format!("{} {key} {}", filler.repeat(before), filler.repeat(3000));
            let redacted = in_pieces(&Redactor::default(), &text, &[1000]);
            assert!(!redacted.contains(&key[5..]), "{filler} {before}");
            assert_eq!(redacted.len(), text.len() - key.len() + MARKER.len());
        }
    }
    // A key that is longer than any line is held.
    let endless = format!("sk-1{}", "a".repeat(100_000));
    assert_eq!(
        in_pieces(&Redactor::default(), &format!("{endless} b"), &[777]),
        "[redacted] b"
    );
}

#[test]
fn handed_in_values_go_in_every_spelling() {
    let redactor = Redactor::new(["pass\"word\n1".into(), "  trimmed  ".into(), "short".into()]);
    assert_eq!(redactor.redact("a pass\"word\n1 b"), "a [redacted] b");
    assert_eq!(
        redactor.redact(r#"{"k":"pass\"word\n1"}"#),
        r#"{"k":"[redacted]"}"#
    );
    assert_eq!(redactor.redact("trimmed short"), "[redacted] short");
    assert_eq!(format!("{redactor:?}"), "Redactor { exact: 3 secrets }");
    let mut value = json!({"trimmed": ["trimmed", 1, null], "b": {"c": "x trimmed"}});
    redactor.redact_value(&mut value);
    assert_eq!(
        value,
        json!({"[redacted]": ["[redacted]", 1, null], "b": {"c": "x [redacted]"}})
    );
}

#[test]
fn values_that_overlap_leave_no_part() {
    let redactor = Redactor::new(["abcdef".into(), "defghi".into(), "aaaaaa".into()]);
    assert_eq!(redactor.redact("abcdefghi"), MARKER);
    assert_eq!(in_pieces(&redactor, "xabcdefghiy", &[1]), "x[redacted]y");
    assert_eq!(in_pieces(&redactor, "aaaaaaaaab", &[1]), "[redacted]b");
    assert_eq!(
        in_pieces(&redactor, "abcdefghe abcde", &[2]),
        "[redacted]ghe abcde"
    );
}

proptest! {
    #[test]
    fn no_handed_in_secret_survives_any_chunking(
        secrets in prop::collection::vec("[ab\n\"ü]{2}[abc]{4,9}", 1..4),
        filler in prop::collection::vec("[abc\n ü\"]{0,12}", 1..8),
        cuts in prop::collection::vec(0_usize..7, 1..4),
    ) {
        let mut text = String::new();
        for (n, piece) in filler.iter().enumerate() {
            text.push_str(piece);
            text.push_str(&secrets[n % secrets.len()]);
        }
        let redactor = Redactor::new(secrets.iter().map(|secret| secret.as_str().into()));
        let whole = redactor.redact(&text);
        let redacted = in_pieces(&redactor, &text, &cuts);
        for secret in &secrets {
            let secret = secret.trim();
            if secret.len() >= 6 {
                prop_assert!(!redacted.contains(secret), "{redacted:?} holds {secret:?}");
                prop_assert!(!whole.contains(secret), "{whole:?} holds {secret:?}");
            }
        }
        prop_assert_eq!(whole, redacted);
        let mut known = redactor.known_stream();
        let mut shown: String = text.split_inclusive(' ').map(|piece| known.push(piece)).collect();
        shown.push_str(&known.finish());
        prop_assert_eq!(shown, redactor.redact_known(&text));
    }

    #[test]
    fn shapes_do_not_depend_on_the_chunking(
        filler in prop::collection::vec("[a-z =:/@\n-]{0,20}", 1..6),
        cuts in prop::collection::vec(0_usize..60, 1..4),
    ) {
        let keys = keys();
        let mut text = String::new();
        for (n, piece) in filler.iter().enumerate() {
            text.push_str(piece);
            text.push_str(&keys[(n * 7 + piece.len()) % keys.len()]);
        }
        let redactor = Redactor::default();
        prop_assert_eq!(in_pieces(&redactor, &text, &cuts), redactor.redact(&text));
    }
}
