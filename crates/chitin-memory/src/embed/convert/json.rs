//! Word vectors as one JSON object, read without ever holding it.

use super::super::compat;
use super::super::layout::MOST_DIMENSIONS;
use super::ConvertError;
use super::kept::Kept;
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use std::fmt;
use std::io::{self, BufRead, Read};

/// In such a file a quote is never further away: what is between two of them is held at once.
const LONGEST_UNQUOTED: usize = 64 * 1024;

/// Reads the vectors. Their order in the file is not their rank: names that are numbers come first.
pub(super) fn read(input: impl BufRead, kept: &mut Kept) -> Result<(), ConvertError> {
    let mut trouble = None;
    let bounded = io::BufReader::with_capacity(1 << 16, Bounded { input, since: 0 });
    let mut json = serde_json::Deserializer::from_reader(bounded);
    let whole = Whole {
        kept,
        trouble: &mut trouble,
    };
    let read = json.deserialize_map(whole);
    match (read, trouble) {
        (Err(_), Some(trouble)) => Err(trouble),
        (Err(error), None) if error.is_io() => Err(ConvertError::Io(error.into())),
        (Err(error), None) => Err(ConvertError::input(
            format!("line {}, column {}", error.line(), error.column()),
            error.to_string(),
        )),
        (Ok(()), _) => Ok(()),
    }
}

/// Refuses input in which the next quote does not come: a text without end would be held in memory.
struct Bounded<R> {
    input: R,
    since: usize,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        let read = buffer.get(..count).unwrap_or_default();
        self.since = match read.iter().rposition(|byte| *byte == b'"') {
            Some(at) => count - at,
            None => self.since + count,
        };
        if self.since > LONGEST_UNQUOTED {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "a text in it is too long",
            ));
        }
        Ok(count)
    }
}

/// The object around everything.
struct Whole<'k> {
    kept: &'k mut Kept,
    trouble: &'k mut Option<ConvertError>,
}

impl<'de> Visitor<'de> for Whole<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with vectors")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut dimensions = None;
        while let Some(name) = map.next_key::<String>()? {
            match name.as_str() {
                compat::DIMENSIONS => dimensions = Some(map.next_value::<usize>()?),
                compat::VECTORS => map.next_value_seed(Vectors {
                    kept: &mut *self.kept,
                    trouble: &mut *self.trouble,
                    dimensions,
                })?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// The object that has a row of numbers for each word.
struct Vectors<'k> {
    kept: &'k mut Kept,
    trouble: &'k mut Option<ConvertError>,
    dimensions: Option<usize>,
}

impl<'de> DeserializeSeed<'de> for Vectors<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Vectors<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of words")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut row = Vec::new();
        while let Some(name) = map.next_key::<String>()? {
            map.next_value_seed(Row(&mut row))?;
            let told = self.dimensions;
            let dimensions = told.unwrap_or_else(|| row.len().saturating_sub(compat::BEHIND));
            let offered = offer(self.kept, &name, &row, dimensions);
            if let Err(trouble) = offered {
                *self.trouble = Some(trouble);
                return Err(A::Error::custom("stopped"));
            }
        }
        Ok(())
    }
}

fn offer(kept: &mut Kept, name: &str, row: &[f64], dimensions: usize) -> Result<(), ConvertError> {
    if kept.dimensions() == 0 {
        kept.set_dimensions(dimensions)?;
    }
    let (vector, behind) = row.split_at(kept.dimensions().min(row.len()));
    #[expect(
        clippy::cast_possible_truncation,
        reason = "vectors are kept in single precision; what does not fit is refused as not finite"
    )]
    let vector: Vec<f32> = vector.iter().map(|number| *number as f32).collect();
    let rank = behind
        .last()
        .filter(|_| behind.len() == compat::BEHIND)
        .and_then(|rank| whole(*rank))
        .ok_or_else(|| {
            ConvertError::input(
                format!("the word `{}`", name.chars().take(40).collect::<String>()),
                "its rank does not follow its vector",
            )
        })?;
    kept.offer(name, rank, &vector)
}

fn whole(number: f64) -> Option<u32> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the line before says that it is a whole number that fits"
    )]
    let rank = ((0.0..=f64::from(u32::MAX)).contains(&number) && number.fract() == 0.0)
        .then_some(number as u32);
    rank
}

/// The numbers of one word, into a place that is used again.
struct Row<'r>(&'r mut Vec<f64>);

impl<'de> DeserializeSeed<'de> for Row<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Row<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a row of numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<(), A::Error> {
        self.0.clear();
        while let Some(number) = numbers.next_element()? {
            if self.0.len() >= MOST_DIMENSIONS + compat::BEHIND {
                return Err(A::Error::custom("a row has too many numbers"));
            }
            self.0.push(number);
        }
        Ok(())
    }
}
