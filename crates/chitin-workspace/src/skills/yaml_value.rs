//! YAML values under the YAML 1.2 core schema, printed as ECMAScript prints them.

use std::fmt::Write;

/// A YAML value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Yaml {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Yaml>),
    Map(Vec<(String, Yaml)>),
}

impl Yaml {
    /// Reads a plain scalar by the core schema: `yes` is text, `010` is ten, `0o10` is eight.
    pub(super) fn plain(text: &str) -> Self {
        match text {
            "" | "~" | "null" | "Null" | "NULL" => Self::Null,
            "true" | "True" | "TRUE" => Self::Bool(true),
            "false" | "False" | "FALSE" => Self::Bool(false),
            _ => number(text).map_or_else(|| Self::Text(text.to_owned()), Self::Number),
        }
    }

    /// Reads a scalar that carries a tag of the core schema, such as `!!str`.
    pub(super) fn tagged(text: &str, tag: &str) -> Self {
        match (tag, Self::plain(text)) {
            ("null", Self::Null) => Self::Null,
            ("bool", Self::Bool(value)) => Self::Bool(value),
            ("int" | "float", Self::Number(value)) => Self::Number(value),
            _ => Self::Text(text.to_owned()),
        }
    }

    /// Returns the value as an object key.
    pub(super) fn into_key(self) -> String {
        match self {
            Self::Null => String::new(),
            Self::Bool(value) => value.to_string(),
            Self::Number(value) => js_number(value),
            Self::Text(text) => text,
            Self::List(_) | Self::Map(_) => self.to_json(),
        }
    }

    /// Returns compact JSON text, as `JSON.stringify` gives it.
    pub(super) fn to_json(&self) -> String {
        let mut out = String::new();
        self.write_json(&mut out);
        out
    }

    fn write_json(&self, out: &mut String) {
        match self {
            Self::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Self::Number(value) if value.is_finite() => out.push_str(&js_number(*value)),
            Self::Null | Self::Number(_) => out.push_str("null"),
            Self::Text(text) => write_json_string(out, text),
            Self::List(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    item.write_json(out);
                }
                out.push(']');
            }
            Self::Map(entries) => {
                out.push('{');
                for (at, (key, value)) in in_object_order(entries).into_iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    write_json_string(out, key);
                    out.push(':');
                    value.write_json(out);
                }
                out.push('}');
            }
        }
    }
}

/// Orders entries as an ECMAScript object does: array indexes first by value, then the rest as inserted.
fn in_object_order(entries: &[(String, Yaml)]) -> Vec<(&str, &Yaml)> {
    let mut ordered: Vec<_> = entries
        .iter()
        .map(|(key, value)| (key.as_str(), value))
        .collect();
    ordered.sort_by_key(|(key, _)| array_index(key).map_or((1, 0), |index| (0, index)));
    ordered
}

fn array_index(key: &str) -> Option<u32> {
    let canonical = key == "0" || !key.starts_with('0');
    let digits = !key.is_empty() && key.bytes().all(|b| b.is_ascii_digit());
    (canonical && digits)
        .then(|| key.parse::<u32>().ok())
        .flatten()
        .filter(|&index| index != u32::MAX)
}

/// Writes a JSON string literal with the escapes that `JSON.stringify` uses.
pub(super) fn write_json_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Reads a number of the core schema.
fn number(text: &str) -> Option<f64> {
    match text {
        ".nan" | ".NaN" | ".NAN" => return Some(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return Some(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => return Some(f64::NEG_INFINITY),
        _ => {}
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(digits, 8);
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(digits, 16);
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    is_decimal(unsigned)
        .then(|| text.parse::<f64>().ok())
        .flatten()
}

/// Tells whether the text is `1`, `1.`, `1.5`, `.5`, each with or without an exponent (`1e3`, but not `.e3`).
fn is_decimal(text: &str) -> bool {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    let exponent_fits = exponent.is_none_or(|exponent| {
        let unsigned = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        !unsigned.is_empty() && digits(unsigned)
    });
    digits(whole)
        && fraction.is_none_or(digits)
        && (!whole.is_empty() || fraction.is_some_and(|f| !f.is_empty()))
        && exponent_fits
}

fn radix(digits: &str, radix: u32) -> Option<f64> {
    let fits = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
    fits.then(|| {
        digits
            .chars()
            .filter_map(|c| c.to_digit(radix))
            .fold(0.0, |sum, digit| sum * f64::from(radix) + f64::from(digit))
    })
}

/// Prints a number as ECMAScript does: `1e3` is `1000`, `1.50` is `1.5`, `1e21` stays `1e+21`.
pub(super) fn js_number(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    // Both languages print the shortest digits that read back as the same number; only the layout differs.
    let scientific = format!("{:e}", value.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let point = exponent + 1;
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let at = |n: i32| usize::try_from(n).unwrap_or(0);
    let body = if (count..=21).contains(&point) {
        format!("{digits}{}", "0".repeat(at(point - count)))
    } else if (1..=21).contains(&point) {
        format!("{}.{}", &digits[..at(point)], &digits[at(point)..])
    } else if (-5..=0).contains(&point) {
        format!("0.{}{digits}", "0".repeat(at(-point)))
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        let (first, rest) = digits.split_at(1);
        let dot = if rest.is_empty() { "" } else { "." };
        format!("{first}{dot}{rest}e{sign}{}", exponent.abs())
    };
    if value < 0.0 {
        format!("-{body}")
    } else {
        body
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars_follow_the_core_schema() {
        let shown: Vec<String> = [
            "yes",
            "010",
            "0o10",
            "0x1F",
            "1e3",
            "1.50",
            "-0",
            ".5",
            "1.",
            "~",
            "True",
            ".inf",
            "-.INF",
            ".NaN",
            "0b1",
            "1_000",
            "1e",
            ".",
            "+7",
            "2026-01-01",
        ]
        .into_iter()
        .map(|text| match Yaml::plain(text) {
            Yaml::Number(value) => js_number(value),
            other => format!("{other:?}"),
        })
        .collect();
        insta::assert_snapshot!(shown.join(" | "), @r#"Text("yes") | 10 | 8 | 31 | 1000 | 1.5 | 0 | 0.5 | 1 | Null | Bool(true) | Infinity | -Infinity | NaN | Text("0b1") | Text("1_000") | Text("1e") | Text(".") | 7 | Text("2026-01-01")"#);
    }

    #[test]
    fn numbers_are_laid_out_as_ecmascript_does() {
        let shown: Vec<String> = [
            1e21,
            1e20,
            123_456.789,
            1e-6,
            1.5e-7,
            -2.5,
            9_007_199_254_740_993.0,
            5e-324,
        ]
        .into_iter()
        .map(js_number)
        .collect();
        insta::assert_snapshot!(shown.join(" "), @"1e+21 100000000000000000000 123456.789 0.000001 1.5e-7 -2.5 9007199254740992 5e-324");
    }

    #[test]
    fn json_text_orders_array_indexes_first() {
        let value = Yaml::Map(vec![
            ("b".into(), Yaml::Number(f64::INFINITY)),
            ("10".into(), Yaml::Bool(true)),
            ("2".into(), Yaml::Text("a\u{1}\"".into())),
            ("02".into(), Yaml::List(vec![Yaml::Null])),
        ]);
        assert_eq!(
            value.to_json(),
            r#"{"2":"a\u0001\"","10":true,"b":null,"02":[null]}"#
        );
    }
}
