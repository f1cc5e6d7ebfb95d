use super::*;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Packs values after each other, each with its kind, a block for each; returns the lines, and how long they are without compression.
fn packed_as(values: &[(&str, Value)]) -> (Vec<String>, Vec<usize>) {
    let mut packer = Packer::begin(0);
    let mut lengths = Vec::new();
    let lines = values.iter().map(|(kind, value)| {
        assert!(packer.add(kind, value));
        lengths.push(packer.open_text().len());
        packer.seal().unwrap()
    });
    (lines.collect(), lengths)
}

fn packed(values: &[Value]) -> (Vec<String>, Vec<usize>) {
    let values: Vec<(&str, Value)> = values.iter().map(|value| ("x", value.clone())).collect();
    packed_as(&values)
}

fn unpacked(lines: &[String]) -> Vec<Option<Value>> {
    let mut unpacker = Unpacker::default();
    let values = lines.iter().map(|line| {
        let block = Block::read(line.trim_end().as_bytes())?;
        let text = unpacker.open(&block).ok()?;
        let entry = PackedEntry::read(text.trim_ascii_end())?;
        unpacker.take(entry, text.len()).ok().cloned()
    });
    values.collect()
}

/// Makes entries as values of one kind, whatever they say.
fn made(entries: &[String]) -> Vec<Option<Value>> {
    let mut unpacker = Unpacker::default();
    let values = entries.iter().map(|entry| {
        let entry = PackedEntry::read(entry.as_bytes())?;
        unpacker.take(entry, 0).ok().cloned()
    });
    values.collect()
}

fn long(seed: usize) -> String {
    let line = |at: usize| format!("{seed}: line {at} of what somebody said\n");
    (0..60).map(line).collect()
}

#[test]
fn a_conversation_that_grows_is_written_once() {
    let mut messages = Vec::new();
    let mut values = Vec::new();
    for turn in 0..200 {
        messages.push(json!({"role": "user", "content": long(turn)}));
        values.push(json!({"system": long(1000), "messages": messages, "turn": turn}));
    }
    let (lines, lengths) = packed(&values);
    let said = serde_json::to_string(&messages).unwrap().len();
    let written: usize = lengths.iter().sum();
    assert!(written * 2 < said * 3, "{written} of {said}");
    let read: Vec<Value> = unpacked(&lines).into_iter().flatten().collect();
    assert_eq!(json!(read).to_string(), json!(values).to_string());
}

#[test]
fn a_history_that_is_cut_or_changed_in_its_middle_is_written_as_what_is_new() {
    let messages: Vec<Value> = (0..100).map(|n| json!({"text": long(n)})).collect();
    let mut pruned = messages.clone();
    pruned[40] = json!({"text": "shortened"});
    let mut compacted = vec![json!({"text": "a summary"})];
    compacted.extend(pruned[60..].iter().cloned());
    let values = [json!(messages), json!(pruned), json!(compacted)];
    let (lines, lengths) = packed(&values);
    assert!(lengths[1] < 200 && lengths[2] < 200, "{lengths:?}");
    let read: Vec<Value> = unpacked(&lines).into_iter().flatten().collect();
    assert_eq!(read, values);
}

#[test]
fn what_is_said_in_several_kinds_of_entries_is_written_once() {
    let said = long(1).replace('\n', " ");
    let said = &said[..700];
    let message = json!({"role": "user", "content": format!("[Monday] {said}")});
    let values = [
        ("a", json!({"prompt": said})),
        ("b", json!({"messages": [message]})),
        ("c", json!({"messages": [message, {"role": "other"}]})),
    ];
    let (lines, lengths) = packed_as(&values);
    assert!(lengths[1] < 200 && lengths[2] < 200, "{lengths:?}");
    let read: Vec<Value> = unpacked(&lines).into_iter().flatten().collect();
    let values: Vec<Value> = values.into_iter().map(|(_, value)| value).collect();
    assert_eq!(read, values);
}

#[test]
fn a_damaged_block_costs_the_rest_of_its_segment() {
    let values: Vec<Value> = (0..5).map(|n| json!({"n": n, "text": long(n)})).collect();
    let (mut lines, _) = packed(&values);
    lines[2] = lines[2].replacen("\"z\":\"", "\"z\":\"A", 1);
    let found: Vec<bool> = unpacked(&lines).iter().map(Option::is_some).collect();
    assert_eq!(found, [true, true, false, false, false]);
    lines.remove(2);
    let found: Vec<bool> = unpacked(&lines).iter().map(Option::is_some).collect();
    assert_eq!(found, [true, true, false, false], "a line that is missing");
}

#[test]
fn a_segment_whose_beginning_is_gone_is_not_read_as_part_of_the_one_before_it() {
    let (one, _) = packed(&[json!({"a": 1, "b": 1})]);
    let mut other = Packer::begin(500);
    let blocks = [json!({"a": 2, "b": 2}), json!({"a": 3, "b": 2})].map(|value| {
        assert!(other.add("x", &value));
        other.seal().unwrap()
    });
    assert_eq!(unpacked(&[one[0].clone(), blocks[1].clone()])[1], None);
}

#[test]
fn what_asks_for_too_much_is_refused() {
    let mut entries = vec![format!("[0,0,null,\"x\",\"{}\"]", "a".repeat(1000))];
    for line in 1..60 {
        let last = line - 1;
        entries.push(format!(
            "[{line},{line},null,\"x\",{{\"~\":[{last},{last}]}}]"
        ));
    }
    let read = made(&entries);
    assert!(read[10].is_some() && read[59].is_none());
    for odd in [
        r#"{"~":{"l":[{"~":{"r":[0,9]}}]}}"#,
        r#"{"~":{"p":{"gone":1}}}"#,
        r#"{"~":{"e":3}}"#,
        r#"[{"~":{"e":3}}]"#,
        r#"{"~":[[0,18446744073709551615]]}"#,
        r#"{"~":null}"#,
        r#"{"~":77}"#,
        r#"{"~":true}"#,
    ] {
        assert_eq!(made(&[format!("[0,0,null,\"x\",{odd}]")]), [None], "{odd}");
    }
}

fn values() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "[a-c~]{0,3}",
        "[a-b\n]{20,40}",
        "[ab]{0,9}(abababab){9,10}[ab]{0,30}",
        "[a-b]{1020,1030}",
        "([a-b]{30,90}\n){12,40}"
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2_i64..3).prop_map(Value::from),
        prop_oneof![Just(0.0), Just(-0.0), Just(1.5)].prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec(("[a-c~]", inner), 0..4)
                .prop_map(|fields| { Value::Object(fields.into_iter().collect()) }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_value_comes_back_to_the_byte(values in prop::collection::vec(values(), 1..8)) {
        let read: Vec<Value> = unpacked(&packed(&values).0).into_iter().flatten().collect();
        prop_assert_eq!(json!(read).to_string(), json!(values).to_string());
    }
}
