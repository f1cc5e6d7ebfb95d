//! Reads a table of keys: what a release prints about its configuration, as `scripts/config-keys` writes it.
//!
//! A line is a shape, and later lines refer to earlier ones by number; the last shape is the whole configuration and goes over several
//! lines, each further one indented. The signs:
//!
//! | sign | shape |
//! |---|---|
//! | `*` `b` `z` | anything, a flag, `null` |
//! | `s` `s[1,9]` `su` `s/…/` | text: any, of a length, a web address, by a pattern |
//! | `i` `i[1,9]` `n` `n(0,]` | whole numbers and numbers: any, in a range, above a bound |
//! | `'a''b'` `=5` | one of these words, this very value |
//! | `[x]` `[x][1,9]` `[x;y;]` | a list, a list of a length, a list with these members |
//! | `{a:x,b!y,^:k,*:z}` | an object: `!` must be there, `^` judges keys, `*` judges all other values; without `*` it is closed |
//! | `(x\|y)` `<x\|y>` `&(x,y)` | any of these, the one whose constants fit, all of these |
//! | `$7.` | the shape of line 7, counted from nought |
//!
//! A table is read when somebody asks for a verdict, and stays for the rest of the process like the tables that are written in Rust.

use crate::shape::{Field, MOST, Shape, TextRule};
use serde_json::Value;
use std::sync::OnceLock;

/// A table that is read on first use.
pub(super) struct Table {
    text: &'static str,
    read: OnceLock<Shape>,
}

impl Table {
    pub(super) const fn new(text: &'static str) -> Self {
        Self {
            text,
            read: OnceLock::new(),
        }
    }

    /// Returns what the table says of a whole configuration. One that cannot be read says nothing: a test holds that all can.
    pub(super) fn shape(&'static self) -> &'static Shape {
        self.read
            .get_or_init(|| read(self.text).unwrap_or(Shape::Any))
    }
}

fn read(text: &'static str) -> Option<Shape> {
    let mut reader = Reader {
        rest: text,
        shapes: Vec::new(),
    };
    while reader.rest.starts_with('#') {
        reader.rest = reader.rest.split_once('\n')?.1;
    }
    while !reader.rest.is_empty() {
        let shape = reader.shape()?;
        reader.shapes.push(shape);
        reader.rest = reader.rest.strip_prefix('\n')?;
    }
    reader.shapes.pop()
}

struct Reader {
    rest: &'static str,
    shapes: Vec<Shape>,
}

fn kept<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

fn kept_all<T>(values: Vec<T>) -> &'static [T] {
    Vec::leak(values)
}

impl Reader {
    fn take(&mut self, sign: &str) -> bool {
        let Some(rest) = self.rest.strip_prefix(sign) else {
            return false;
        };
        self.rest = rest;
        true
    }

    fn until(&mut self, sign: char) -> Option<&'static str> {
        let (text, rest) = self.rest.split_once(sign)?;
        self.rest = rest;
        Some(text)
    }

    fn shape(&mut self) -> Option<Shape> {
        let sign = self.rest.chars().next()?;
        if sign == '\'' {
            return self.words();
        }
        self.rest = &self.rest[sign.len_utf8()..];
        match sign {
            '*' => Some(Shape::Any),
            'b' => Some(Shape::Flag),
            'z' => Some(Shape::Null),
            's' => self.text(),
            'i' => self.whole(),
            'n' => self.number(),
            '=' => self.value(),
            '[' => self.list(),
            '{' => self.object(),
            '(' => self.several('|', ")").map(Shape::Either),
            '<' => self.several('|', ">").map(Shape::Chosen),
            '&' if self.take("(") => self.several(',', ")").map(Shape::All),
            '$' => {
                let number: usize = self.until('.')?.parse().ok()?;
                self.shapes.get(number).copied()
            }
            _ => None,
        }
    }

    fn several(&mut self, between: char, end: &str) -> Option<&'static [Shape]> {
        let mut shapes = Vec::new();
        loop {
            shapes.push(self.shape()?);
            if self.take(end) {
                return Some(kept_all(shapes));
            }
            self.rest = self.rest.strip_prefix(between)?;
        }
    }

    /// Reads a text in single quotes.
    fn quoted(&mut self) -> Option<&'static str> {
        let inside = self.rest.strip_prefix('\'')?;
        let mut escaped = false;
        let end = inside.find(|c| {
            let ends = c == '\'' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        })?;
        self.rest = &inside[end + 1..];
        let text = &inside[..end];
        Some(if text.contains('\\') {
            String::leak(text.replace("\\'", "'").replace("\\\\", "\\"))
        } else {
            text
        })
    }

    fn words(&mut self) -> Option<Shape> {
        let mut words = Vec::new();
        while self.rest.starts_with('\'') {
            words.push(self.quoted()?);
        }
        Some(Shape::OneOf(kept_all(words)))
    }

    fn text(&mut self) -> Option<Shape> {
        let (least, most) = self.range("[")?;
        let address = self.take("u");
        let pattern = if self.take("/") {
            let mut escaped = false;
            let end = self.rest.find(|c| {
                let ends = c == '/' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            })?;
            let pattern = &self.rest[..end];
            self.rest = &self.rest[end + 1..];
            Some(pattern)
        } else {
            None
        };
        let least: usize = least.map_or(Ok(0), str::parse).ok()?;
        let most: usize = most.map_or(Ok(usize::MAX), str::parse).ok()?;
        Some(match (least, most, address, pattern) {
            (0, usize::MAX, false, None) => Shape::Text,
            (1, usize::MAX, false, None) => Shape::SomeText,
            _ => Shape::TextOf(kept(TextRule {
                least,
                most,
                address,
                pattern,
            })),
        })
    }

    /// Reads `[low,high]`, either of which may be missing, as may be the whole.
    fn range(&mut self, open: &str) -> Option<(Option<&'static str>, Option<&'static str>)> {
        if !self.take(open) {
            return Some((None, None));
        }
        let (low, high) = self.until(']')?.split_once(',')?;
        let said = |text: &'static str| (!text.is_empty()).then_some(text);
        Some((said(low), said(high)))
    }

    fn whole(&mut self) -> Option<Shape> {
        let (least, most) = self.range("[")?;
        let least = least.map_or(Ok(-MOST), str::parse).ok()?;
        Some(Shape::Whole(least, most.map_or(Ok(MOST), str::parse).ok()?))
    }

    fn number(&mut self) -> Option<Shape> {
        if self.rest.starts_with('(') {
            // The only bound of that kind is nought.
            let (least, most) = self.range("(")?;
            let bounded = match most {
                None => Shape::Positive,
                Some(most) => {
                    let most = Shape::Number(f64::MIN, most.parse().ok()?);
                    Shape::All(kept_all(vec![Shape::Positive, most]))
                }
            };
            return (least == Some("0")).then_some(bounded);
        }
        let (least, most) = self.range("[")?;
        let least = least.map_or(Ok(f64::MIN), str::parse).ok()?;
        Some(Shape::Number(
            least,
            most.map_or(Ok(f64::MAX), str::parse).ok()?,
        ))
    }

    fn value(&mut self) -> Option<Shape> {
        let end = self
            .rest
            .find(['|', ')', '>', ',', '}', ']', '\n', ';'])
            .unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(match serde_json::from_str(text).ok()? {
            Value::Bool(flag) => Shape::Only(flag),
            value => Shape::Exactly(kept(value)),
        })
    }

    fn list(&mut self) -> Option<Shape> {
        let first = self.shape()?;
        if self.take("]") {
            let (least, most) = self.range("[")?;
            let least: usize = least.map_or(Ok(0), str::parse).ok()?;
            let most: usize = most.map_or(Ok(usize::MAX), str::parse).ok()?;
            return Some(if (least, most) == (0, usize::MAX) {
                Shape::List(kept(first))
            } else {
                Shape::ListOf(kept(first), least, most)
            });
        }
        let mut members = vec![first];
        while self.take(";") {
            if self.take("]") {
                return Some(Shape::Tuple(kept_all(members)));
            }
            members.push(self.shape()?);
        }
        None
    }

    fn object(&mut self) -> Option<Shape> {
        let (mut fields, mut keys, mut others) = (Vec::<Field>::new(), None, None);
        while !self.take("}") {
            if self.take("^:") {
                keys = Some(self.shape()?);
            } else if self.take("*:") {
                others = Some(self.shape()?);
            } else {
                let name = if self.rest.starts_with('\'') {
                    self.quoted()?
                } else {
                    let end = self.rest.find([':', '!'])?;
                    let (name, rest) = self.rest.split_at(end);
                    self.rest = rest;
                    name
                };
                let needed = self.take("!");
                if !needed && !self.take(":") {
                    return None;
                }
                let shape = self.shape()?;
                fields.push((
                    name,
                    if needed {
                        Shape::Required(kept(shape))
                    } else {
                        shape
                    },
                ));
            }
            // The whole configuration has a key in each line.
            let _ = self.take(",") || self.take("\n ");
        }
        let known = || kept(*kept([kept_all(fields.clone())]));
        let shape = match others {
            None => Shape::Object(known()),
            Some(Shape::Any) => Shape::Open(known()),
            Some(each) if fields.is_empty() => Shape::Map(kept(each)),
            Some(each) => Shape::OpenWith(known(), kept(each)),
        };
        Some(match keys {
            Some(keys) => Shape::Keyed(kept(keys), kept(shape)),
            None => shape,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::{TABLE_4, TABLE_9};

    #[test]
    fn every_table_can_be_read() {
        for table in [&TABLE_4, &TABLE_9] {
            let shape = read(table.text).expect("a table");
            assert!(matches!(shape, Shape::Object(_)), "{shape:?}");
        }
    }

    #[test]
    fn signs_are_read_as_they_are_described() {
        let shape = read("s[1,5]\n{a!$0.,'b c':('x''y'|=5),l:[i[1,]],t:[s;n;],*:b}\n").unwrap();
        let shown = format!("{shape:?}");
        for part in [
            "OpenWith",
            "(\"a\", Required(TextOf(TextRule { least: 1, most: 5",
            "(\"b c\", Either([OneOf([\"x\", \"y\"]), Exactly(Number(5))]))",
            "(\"l\", List(Whole(1, 9007199254740991)))",
            "(\"t\", Tuple([Text, Number(",
            "Flag)",
        ] {
            assert!(shown.contains(part), "{part} in {shown}");
        }
        assert!(read("{a:q}\n").is_none());
        assert!(read("{a:s").is_none());
    }
}
