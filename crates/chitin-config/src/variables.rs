//! `${NAME}` in string values (R101).

use super::scan::{Step, dotted};
use serde_json::Value;
use thiserror::Error;

/// How much text all substitutions together may add: many mentions of one large variable are a bomb.
const MAX_ADDED_BYTES: usize = 16 * 1024 * 1024;

/// A variable that is mentioned and not set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingVariable {
    /// The name.
    pub name: String,
    /// The dotted path of the value that mentions it.
    pub path: String,
    pub(super) steps: Vec<Step>,
}

/// Why variables were not filled in.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum VariableError {
    /// Some are not set, or empty.
    #[error("{} variables are mentioned and not set", .0.len())]
    Missing(Vec<MissingVariable>),
    /// The values together are larger than any configuration.
    #[error("variables add more than {MAX_ADDED_BYTES} bytes to the configuration")]
    TooLarge,
}

/// Fills in variables in every string value; keys stay as they are. `$${NAME}` stands for the text `${NAME}`.
///
/// An unset or empty variable is an error. Values that mention none are left alone, as are all other forms.
pub fn substitute<'a>(
    value: &mut Value,
    get: impl Fn(&str) -> Option<&'a str>,
) -> Result<(), VariableError> {
    let mut work = Work {
        get,
        left: MAX_ADDED_BYTES,
        missing: Vec::new(),
    };
    work.visit(value, &mut Vec::new())?;
    if work.missing.is_empty() {
        Ok(())
    } else {
        Err(VariableError::Missing(work.missing))
    }
}

struct Work<G> {
    get: G,
    left: usize,
    missing: Vec<MissingVariable>,
}

impl<'a, G: Fn(&str) -> Option<&'a str>> Work<G> {
    fn visit(&mut self, value: &mut Value, path: &mut Vec<Step>) -> Result<(), VariableError> {
        match value {
            Value::String(text) => {
                if text.contains('$') {
                    *text = self.expand(text, path)?;
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    path.push(Step::Index(index));
                    self.visit(item, path)?;
                    path.pop();
                }
            }
            Value::Object(fields) => {
                for (key, field) in fields.iter_mut() {
                    path.push(Step::Key(key.clone()));
                    self.visit(field, path)?;
                    path.pop();
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        Ok(())
    }

    fn expand(&mut self, text: &str, path: &[Step]) -> Result<String, VariableError> {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            if let Some(name) = mention(rest.strip_prefix('$').filter(|r| r.starts_with("${"))) {
                // One dollar sign is the price of saying the rest literally.
                let length = name.len() + "${}".len();
                out.push_str(&rest[1..=length]);
                rest = &rest[1 + length..];
            } else if let Some(name) = mention(Some(rest)) {
                if let Some(value) = (self.get)(name).filter(|value| !value.is_empty()) {
                    self.left = self
                        .left
                        .checked_sub(value.len())
                        .ok_or(VariableError::TooLarge)?;
                    out.push_str(value);
                } else {
                    // What cannot be filled in stays readable.
                    out.push_str(&rest[..name.len() + "${}".len()]);
                    self.missing.push(MissingVariable {
                        name: name.to_owned(),
                        path: dotted(path),
                        steps: path.to_vec(),
                    });
                }
                rest = &rest[name.len() + "${}".len()..];
            } else {
                out.push('$');
                rest = &rest[1..];
            }
        }
        out.push_str(rest);
        Ok(out)
    }
}

/// Returns the name when the text starts with `${NAME}`. Looks no further than the name, so a text full of `${` stays cheap.
fn mention(text: Option<&str>) -> Option<&str> {
    let inside = text?.strip_prefix("${")?;
    let end = inside
        .bytes()
        .position(|b| !(b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_'))?;
    let name = &inside[..end];
    let valid = name.starts_with(|c: char| !c.is_ascii_digit()) && inside[end..].starts_with('}');
    valid.then_some(name)
}
