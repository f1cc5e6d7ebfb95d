//! Requests of a turn as a trajectory keeps them: the first whole, the others by what is new in them.
//!
//! The second request of a turn is the first with a few messages more. Kept whole each time, a turn of fifty calls would
//! hold its conversation fifty times.

use serde_json::{Map, Value, json};

/// Remembers the last request of a turn.
#[derive(Debug, Default)]
pub(super) struct Encoder {
    last: Option<String>,
}

impl Encoder {
    /// Returns the fields that hold a body.
    pub(super) fn encode(&mut self, body: String) -> Map<String, Value> {
        let mut fields = Map::new();
        let (prefix, suffix) = self
            .last
            .as_deref()
            .map_or((0, 0), |last| common(last, &body));
        if prefix + suffix > body.len() / 2 {
            fields.insert("samePrefix".to_owned(), json!(prefix));
            fields.insert("sameSuffix".to_owned(), json!(suffix));
            fields.insert("body".to_owned(), json!(body[prefix..body.len() - suffix]));
        } else {
            fields.insert("body".to_owned(), json!(body));
        }
        self.last = Some(body);
        fields
    }

    /// Forgets what came before: the next body is kept whole.
    pub(super) fn reset(&mut self) {
        self.last = None;
    }
}

/// How much is put together of one turn, in bytes. Each line may copy all that came before it.
const MOST_DECODED: usize = 1 << 30;

/// Puts a body together again. Nothing, when it was too long to be kept or leans on one that was.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    last: Option<String>,
    /// How many bytes were put together.
    total: usize,
}

impl Decoder {
    pub(super) fn decode(&mut self, data: &Value) -> Option<&str> {
        let place = |name: &str| {
            let number = data.get(name).and_then(Value::as_u64);
            number.and_then(|number| usize::try_from(number).ok())
        };
        let new = data.get("body").and_then(Value::as_str);
        let body = match (new, place("samePrefix"), place("sameSuffix")) {
            (Some(new), Some(prefix), Some(suffix)) => self.last.take().and_then(|last| {
                let end = last.len().checked_sub(suffix)?;
                // What is shared twice would double the text with every line of a few bytes.
                (prefix <= end).then_some(())?;
                Some([last.get(..prefix)?, new, last.get(end..)?].concat())
            }),
            (Some(new), None, None) => Some(new.to_owned()),
            (Some(_) | None, _, _) => None,
        };
        self.total += body.as_ref().map_or(0, String::len);
        self.last = body.filter(|_| self.total <= MOST_DECODED);
        self.last.as_deref()
    }
}

/// Returns how many bytes two texts share at their beginning and at their end, never inside a character and never twice.
fn common(before: &str, now: &str) -> (usize, usize) {
    let same = |(one, other): &(u8, u8)| one == other;
    let mut prefix = before.bytes().zip(now.bytes()).take_while(same).count();
    while !now.is_char_boundary(prefix) || !before.is_char_boundary(prefix) {
        prefix -= 1;
    }
    let room = before.len().min(now.len()) - prefix;
    let ends = before.bytes().rev().zip(now.bytes().rev());
    let mut suffix = ends.take(room).take_while(same).count();
    while !now.is_char_boundary(now.len() - suffix)
        || !before.is_char_boundary(before.len() - suffix)
    {
        suffix -= 1;
    }
    (prefix, suffix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_between_two_requests_is_all_that_is_kept_of_the_second() {
        let (mut encoder, mut decoder) = (Encoder::default(), Decoder::default());
        for body in ["{\"messages\":[1]}", "{\"messages\":[1,2]}", "other"] {
            let data = Value::Object(encoder.encode(body.to_owned()));
            assert_eq!(decoder.decode(&data), Some(body));
        }
    }

    #[test]
    fn nothing_is_shared_twice() {
        let mut decoder = Decoder::default();
        assert_eq!(decoder.decode(&json!({"body": "abcd"})), Some("abcd"));
        let twice = json!({"body": "x", "samePrefix": 4, "sameSuffix": 4});
        assert_eq!(decoder.decode(&twice), None);
    }
}
