//! Canonical JSON: one text for one value, on every machine (rule P20).

use serde::Serialize;
use serde_json::{Number, Value};
use std::fmt::Write as _;

/// Writes a value: no white space, keys sorted by their bytes, numbers as ECMAScript prints them.
pub fn to_string(value: &Value) -> String {
    let mut text = String::new();
    put(value, &mut text);
    text
}

/// Writes anything that is data. What cannot be JSON becomes `null`, which no type of ours does.
pub fn of(value: &impl Serialize) -> String {
    to_string(&serde_json::to_value(value).unwrap_or(Value::Null))
}

fn put(value: &Value, text: &mut String) {
    match value {
        Value::Null => text.push_str("null"),
        Value::Bool(true) => text.push_str("true"),
        Value::Bool(false) => text.push_str("false"),
        Value::Number(number) => write_number(number, text),
        Value::String(string) => write_string(string, text),
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                put(item, text);
            }
            text.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_unstable_by_key(|(key, _)| key.as_bytes());
            text.push('{');
            for (index, (key, value)) in members.into_iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write_string(key, text);
                text.push(':');
                put(value, text);
            }
            text.push('}');
        }
    }
}

fn write_string(string: &str, text: &mut String) {
    text.push('"');
    for character in string.chars() {
        match character {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\u{8}' => text.push_str("\\b"),
            '\t' => text.push_str("\\t"),
            '\n' => text.push_str("\\n"),
            '\u{c}' => text.push_str("\\f"),
            '\r' => text.push_str("\\r"),
            control if control < ' ' => {
                let _ = write!(text, "\\u{:04x}", u32::from(control));
            }
            other => text.push(other),
        }
    }
    text.push('"');
}

/// ECMAScript knows doubles only, so integers beyond them are rounded as they would be there.
fn write_number(number: &Number, text: &mut String) {
    let value = number.as_f64().unwrap_or_default();
    if value == 0.0 {
        text.push('0');
        return;
    }
    // The shortest digits that give the same double, and where the point stands among them.
    let scientific = format!("{:e}", value.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
    let point = exponent.parse::<i32>().unwrap_or(0) + 1;
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    if value < 0.0 {
        text.push('-');
    }
    let zeros = |n: i32| "0".repeat(usize::try_from(n).unwrap_or(0));
    if count <= point && point <= 21 {
        text.push_str(&digits);
        text.push_str(&zeros(point - count));
    } else if 0 < point && point <= 21 {
        let (whole, rest) = digits.split_at(usize::try_from(point).unwrap_or(0));
        let _ = write!(text, "{whole}.{rest}");
    } else if -6 < point && point <= 0 {
        let _ = write!(text, "0.{}{digits}", zeros(-point));
    } else {
        let (first, rest) = digits.split_at(1);
        text.push_str(first);
        if !rest.is_empty() {
            let _ = write!(text, ".{rest}");
        }
        let sign = if point > 0 { '+' } else { '-' };
        let _ = write!(text, "e{sign}{}", (point - 1).abs());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn numbers_are_those_of_ecmascript() {
        let value = json!([
            0,
            -0.0,
            1.5,
            100.0,
            1e20,
            1e21,
            1.25e-7,
            1e-6,
            123_456_789_012_i64,
            0.1,
            -2.5,
            u64::MAX,
            5e-324,
            1.797_693_134_862_315_7e308
        ]);
        assert_eq!(
            to_string(&value),
            "[0,0,1.5,100,100000000000000000000,1e+21,1.25e-7,0.000001,123456789012,0.1,-2.5,\
             18446744073709552000,5e-324,1.7976931348623157e+308]"
        );
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back_the_same(
            texts in prop::collection::btree_map(any::<String>(), any::<String>(), 0..6),
            number in any::<f64>().prop_filter("JSON has no such number", |n| n.is_finite()),
        ) {
            let value = json!({ "texts": texts, "number": number });
            let written = to_string(&value);
            let read: Value = serde_json::from_str(&written).unwrap();
            prop_assert_eq!(to_string(&read), written);
            prop_assert!(read["number"].as_f64().unwrap().total_cmp(&(number + 0.0)).is_eq());
        }
    }
}
