use super::*;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Packs values of one kind after each other, and returns the lines.
fn packed(values: &[Value]) -> Vec<String> {
    let mut packer = Packer::default();
    let mut length = 0;
    let lines = values.iter().map(|value| {
        let line = packer.pack("x", value, length).unwrap();
        length += line.len() as u64;
        line
    });
    lines.collect()
}

fn unpacked(lines: &[String]) -> Vec<Option<Value>> {
    let mut unpacker = Unpacker::default();
    let values = lines.iter().map(|line| {
        let packed = PackedLine::read(line.trim_end().as_bytes())?;
        unpacker.take(packed, line.len()).ok().cloned()
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
    let lines = packed(&values);
    let said = serde_json::to_string(&messages).unwrap().len();
    let written: usize = lines.iter().map(String::len).sum();
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
    let lines = packed(&values);
    assert!(lines[1].len() < 300, "{}", lines[1]);
    assert!(lines[2].len() < 300, "{}", lines[2]);
    let read: Vec<Value> = unpacked(&lines).into_iter().flatten().collect();
    assert_eq!(read, values);
}

#[test]
fn a_damaged_line_costs_what_leans_on_it_and_no_more() {
    let text = |n: usize| format!("a text that is long enough for a number {n}");
    let values: Vec<Value> = (0..3).map(|n| json!({"n": n, "text": text(n)})).collect();
    let mut packer = Packer::default();
    let mut lines = Vec::new();
    for value in &values {
        for kind in ["x", "y"] {
            lines.push(packer.pack(kind, value, 0).unwrap());
        }
    }
    // The second value of the one kind: the third of it leans on it, and so does the other kind for its text.
    lines[2] = lines[2].replace("number 1", "number 7");
    let read = unpacked(&lines);
    let found: Vec<bool> = read.iter().map(Option::is_some).collect();
    assert_eq!(found, [true, true, false, false, false, false]);
    assert_eq!(read[1].as_ref(), Some(&values[0]));
}

#[test]
fn a_segment_whose_beginning_is_gone_is_not_read_as_part_of_the_one_before_it() {
    let mut one = Packer::default();
    let mut other = Packer::default();
    let first = one.pack("x", &json!({"a": 1, "b": 1}), 0).unwrap();
    other.pack("x", &json!({"a": 2, "b": 2}), 500).unwrap();
    let second = other.pack("x", &json!({"a": 3, "b": 2}), 600).unwrap();
    assert_eq!(unpacked(&[first, second])[1], None);
}

#[test]
fn what_asks_for_too_much_is_refused() {
    let sealed = |head: &str| format!("{head},\"sum\":\"{}\"}}\n", sum(head.as_bytes()));
    let mut lines = vec![sealed(&format!(
        "{{\"p1\":[0,0,0,null,\"x\"],\"e\":\"{}\"",
        "a".repeat(1000)
    ))];
    for line in 1..60 {
        let last = line - 1;
        lines.push(sealed(&format!(
            "{{\"p1\":[0,{line},{line},null,\"x\"],\"e\":{{\"~\":[{last},{last}]}}"
        )));
    }
    let read = unpacked(&lines);
    assert!(read[10].is_some() && read[59].is_none());
    for odd in [
        r#"{"~":{"l":[{"~":{"r":[0,9]}}]}}"#,
        r#"{"~":{"p":{"gone":1}}}"#,
        r#"{"~":null}"#,
        r#"{"~":77}"#,
        r#"{"~":true}"#,
    ] {
        let line = sealed(&format!("{{\"p1\":[0,0,0,null,\"x\"],\"e\":{odd}"));
        assert_eq!(unpacked(&[line]), [None], "{odd}");
    }
}

fn values() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "[a-c~]{0,3}",
        "[a-b\n]{20,40}",
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
        let read: Vec<Value> = unpacked(&packed(&values)).into_iter().flatten().collect();
        prop_assert_eq!(json!(read).to_string(), json!(values).to_string());
    }
}
