use super::*;
use proptest::prelude::*;

const TEXT: &str = "// start
{
  session: { /* { */ \"dmScope\": 'per-{peer}', },
  \"bind\\u0069ngs\": [ 1, { agentId: \"x\", }, ],
}
";

fn paths(text: &str) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    walk(text, |path, at| {
        found.push((dotted(path), at));
        ControlFlow::Continue(())
    });
    found
}

#[test]
fn every_value_has_a_place() {
    let at = |needle: &str| TEXT.find(needle).expect("is there");
    assert_eq!(
        paths(TEXT),
        [
            (String::new(), at("{\n")),
            ("session".to_owned(), at("session")),
            ("session.dmScope".to_owned(), at("\"dmScope")),
            ("bindings".to_owned(), at("\"bind")),
            ("bindings.0".to_owned(), at("1,")),
            ("bindings.1".to_owned(), at("{ agentId")),
            ("bindings.1.agentId".to_owned(), at("agentId")),
        ]
    );
}

#[test]
fn brackets_in_strings_and_comments_are_not_nesting() {
    assert_eq!(depth(TEXT), 3);
    assert_eq!(depth("'[[[' // {{{"), 0);
    assert_eq!(depth(&"[".repeat(5000)), 5000);
}

#[test]
fn nothing_hides_brackets_from_the_scanner_that_the_parser_sees() {
    for before in [
        "{é:",
        "/*/ ' */",
        "{a:'\\é',b:",
        "//\r",
        "//\u{2028}",
        "\u{feff}",
        "['\\\r\n',",
    ] {
        let text = format!("{before}{}", "[".repeat(5000));
        assert!(depth(&text) >= 5000, "{before}");
    }
    assert!(depth(&"[']',".repeat(5000)) >= 5000);
}

#[test]
fn the_last_of_equal_keys_is_the_one_that_counts() {
    let text = "{a: 1, a: 2}";
    assert_eq!(locate(text, &[Step::Key("a".to_owned())]), Some(7));
}

proptest! {
    #[test]
    fn no_text_makes_the_scanner_panic_or_hang(text in "[\\[\\]{}:,'\"\\\\/* \\na-z0é]{0,200}") {
        let _ = (depth(&text), paths(&text));
    }

    #[test]
    fn the_parser_never_goes_deeper_than_the_scanner(
        parts in prop::collection::vec(prop::sample::select(vec![
            "[", "]", "{", "}", ",", "é:", "a:", "1", "'x'", "']'", "\"[\\\"\"", "/*/ ' */", "/* ] */", "//[\n", "//]\r", " ", "'\\\n'",
        ]), 0..30)
    ) {
        let text = parts.concat();
        if let Ok(value) = json5::from_str::<serde_json::Value>(&text) {
            prop_assert!(levels(&value) <= depth(&text), "{text}");
        }
    }

    #[test]
    fn every_value_the_parser_sees_is_found(value in json_value()) {
        let text = serde_json::to_string_pretty(&value).expect("json");
        let expected = count(&value);
        prop_assert_eq!(paths(&text).len(), expected);
    }
}

fn json_value() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        any::<i32>().prop_map(serde_json::Value::from),
        any::<bool>().prop_map(serde_json::Value::from),
        "[a-z\"\\\\{}]{0,5}".prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
            prop::collection::btree_map("[a-z\"\\\\:]{1,4}", inner, 0..4)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

fn count(value: &serde_json::Value) -> usize {
    1 + match value {
        serde_json::Value::Array(items) => items.iter().map(count).sum(),
        serde_json::Value::Object(fields) => fields.values().map(count).sum(),
        _ => 0,
    }
}

fn levels(value: &serde_json::Value) -> usize {
    match value {
        serde_json::Value::Array(items) => 1 + items.iter().map(levels).max().unwrap_or(0),
        serde_json::Value::Object(fields) => 1 + fields.values().map(levels).max().unwrap_or(0),
        _ => 0,
    }
}
