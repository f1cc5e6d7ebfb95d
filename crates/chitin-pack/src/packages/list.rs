//! The packages layer: the references that an artifact builds on, in either of its two shapes (rule P16).

use crate::digest::Digest;
use crate::error::{ErrorClass, ExitKind, PackError};
use crate::reference::Reference;
use serde_json::Value;

/// More direct packages are nobody's.
const MAX_DIRECT: usize = 1024;

/// One reference to a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependency {
    /// The reference, as it was written.
    pub reference: String,
    /// The digest that it must have, where the layer says so.
    pub digest: Option<Digest>,
}

/// Reads a packages layer: an object with a list of references, or a bare list of them.
pub fn read_list(layer: &Value) -> Result<Vec<Dependency>, PackError> {
    let items = match layer {
        Value::Array(items) => items,
        Value::Object(members) => match members.get("packages") {
            Some(Value::Array(items)) => items,
            _ => return Err(wrong("it has no list `packages`")),
        },
        _ => return Err(wrong("it is neither an object nor a list")),
    };
    if items.len() > MAX_DIRECT {
        return Err(wrong("it lists too many packages"));
    }
    items.iter().map(dependency).collect()
}

fn dependency(item: &Value) -> Result<Dependency, PackError> {
    let (reference, digest) = match item {
        Value::String(reference) => (reference, None),
        Value::Object(members) => {
            let kind = members.get("kind").map(Value::as_str);
            if kind.is_some_and(|kind| kind != Some("package")) {
                return Err(wrong("an entry is of a kind other than `package`"));
            }
            let Some(Value::String(reference)) = members.get("ref") else {
                return Err(wrong("an entry has no `ref`"));
            };
            let digest = match members.get("digest") {
                None => None,
                Some(Value::String(digest)) => {
                    let digest = digest.parse::<Digest>();
                    Some(digest.map_err(|error| error.exiting(ExitKind::Resolution))?)
                }
                Some(_) => return Err(wrong("a `digest` is not text")),
            };
            (reference, digest)
        }
        _ => return Err(wrong("an entry is neither text nor an object")),
    };
    checked(reference)?;
    Ok(Dependency {
        reference: reference.clone(),
        digest,
    })
}

/// Refuses what is not a reference.
pub(super) fn checked(reference: &str) -> Result<Reference, PackError> {
    let parsed = reference.parse::<Reference>();
    parsed.map_err(|error| error.exiting(ExitKind::Resolution))
}

fn wrong(what: &str) -> PackError {
    PackError::new(
        ErrorClass::InvalidField,
        format!("the packages layer is not of the form: {what}"),
    )
    .exiting(ExitKind::Resolution)
}
