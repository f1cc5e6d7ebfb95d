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

/// Puts a body together again. Nothing, when it was too long to be kept or leans on one that was.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    last: Option<String>,
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
                let end = last.get(last.len().checked_sub(suffix)?..)?;
                Some([last.get(..prefix)?, new, end].concat())
            }),
            (Some(new), None, None) => Some(new.to_owned()),
            (Some(_) | None, _, _) => None,
        };
        self.last = body;
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
